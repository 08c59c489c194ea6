/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of a gateway as a source share: gateway_source.c (its steps),
 * gateway_source_call.c (what its user asks for), gateway_source_setup.c, gateway_source_member.c.
 */
#ifndef GMC_CORE_GATEWAY_SOURCE_IMPL_H
#define GMC_CORE_GATEWAY_SOURCE_IMPL_H

#include "core/gateway_impl.h"

/* In large groups steps are so far apart for each member, which needs some 50 ns of one. */
#define GW_STEP_EVERY GMC_US(1)

/* Sessions with all that are to receive. */
void gw_source_want_members(struct gmc_gateway *gw, struct gwchannel *ch);
/* Waits for members' links and their latencies; then the trees, the record, and the run. */
void gw_source_gather(struct gmc_gateway *gw, struct gwchannel *ch);

#endif
