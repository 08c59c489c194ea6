/* SPDX-License-Identifier: BSD-2-Clause */
/* The trees of a transfer: one for each stripe of the object. */
#ifndef GMC_TOOLS_TREES_H
#define GMC_TOOLS_TREES_H

#include <gmcast/client.h>

static inline size_t trees_count(const struct gmc_ctl_transfer *transfer)
{
    return transfer->member_count > 0 ? 1 + transfer->members[0].more_parent_count : 1;
}

/* Of a member in the tree of a stripe; "" not attached. */
static inline const char *trees_parent(const struct gmc_ctl_member *member, size_t stripe)
{
    if (stripe == 0)
        return member->parent;
    return stripe <= member->more_parent_count ? member->more_parents[stripe - 1] : "";
}

#endif
