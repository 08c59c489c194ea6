/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of a gateway as a receiver share: gateway_target.c (its steps),
 * gateway_target_record.c, gateway_target_parent.c, gateway_target_store.c, gateway_target_tell.c
 * (to the source). */
#ifndef GMC_CORE_GATEWAY_TARGET_IMPL_H
#define GMC_CORE_GATEWAY_TARGET_IMPL_H

#include "core/gateway_impl.h"

/* gateway_target_parent.c */
/* Whom the stripe's tree puts above this gateway, behind dst->tree_parent. */
void gw_target_set_ancestors(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe,
                             const struct gmc_ancestors *tree);
void gw_target_find_parents(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_step_parents(struct gmc_gateway *gw, struct gwchannel *ch);
/* Parents believe to be here what was forgotten: they learn anew what is missing. */
void gw_target_attach_again(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_on_attached(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                           const struct gmc_msg *msg);
void gw_target_on_redirect(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                           const struct gmc_msg *msg);

/* gateway_target_store.c */
/* All of it is in the store, and gets its final names. */
void gw_target_finish(struct gmc_gateway *gw, struct gwchannel *ch);

/* gateway_target_tell.c */
void gw_target_say_status(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_say_complete(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch);
/* It is here, and some of the nodes lack it. */
void gw_target_say_lacking(struct gmc_gateway *gw, const struct gwchannel *ch, const char *text);
/* What it was not told yet: that this gateway takes part, that all is here. */
void gw_target_tell_source(struct gmc_gateway *gw, struct gwchannel *ch);

#endif
