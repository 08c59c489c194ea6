/* SPDX-License-Identifier: BSD-2-Clause */
/* What a node lacks of one window, and when it says so. It learns from the gateway how many repairs
 * were promised and sent; when all that was promised was sent, and it is not enough, the node draws
 * a wait (core/backoff.h), and speaks when nothing more was promised meanwhile: the gateway tells
 * all what it promised one of them. */
#ifndef GMC_CORE_GROUP_RX_H
#define GMC_CORE_GROUP_RX_H

#include "core/backoff.h"
#include "core/group.h"
#include "wire/group.h"

struct gmc_group_in {
    uint32_t window;
    struct gmc_group_shape shape;
    uint32_t missing;        /* sources that are not here */
    uint32_t repairs;        /* rows of parity that are here */
    uint32_t promised, sent; /* as the gateway said */
    bool known;              /* it said something */
    gmc_time speak_at;       /* NEVER: there is nothing to say */
    uint32_t spoken;         /* repairs that were asked for at last: seen + need; 0: never */
};

/* Shards that it takes still. */
static inline uint32_t gmc_group_in_need(const struct gmc_group_in *in)
{
    return in->missing > in->repairs ? in->missing - in->repairs : 0;
}

/* The gateway said how far it is. backoff: the longest wait; members: nodes that may speak. */
void gmc_group_in_told(struct gmc_group_in *in, gmc_time now, const struct gmc_group_window *told,
                       gmc_duration backoff, uint32_t members, struct gmc_prng *prng);
/* Is it time to speak? The wait begins anew then, for when this is lost. */
bool gmc_group_in_speaks(struct gmc_group_in *in, gmc_time now, gmc_duration backoff);

#endif
