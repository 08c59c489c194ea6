/* SPDX-License-Identifier: BSD-2-Clause */
/* How this domain's nodes feed each other where multicast does not reach them: the configuration's
 * network and schedule, as the shape that the core asks for. The schedules and the choice between
 * them are those of the interconnect models. */
#ifndef GWD_TREE_H
#define GWD_TREE_H

#include "core/gateway.h"
#include "gatewayd/conf.h"
#include "gatewayd/log.h"

struct gwd_tree;

/* Borrows log for life; NULL: nothing is said. NULL with the option that is wrong and
 * a reason that names it; "" and a reason when out of memory. */
struct gwd_tree *gwd_tree_new(const struct gwd_conf *conf, struct gwd_log *log, const char **option,
                              char *reason, size_t size);
void gwd_tree_free(struct gwd_tree *tree);
/* For gmc_gateway_set_inside_tree, with the tree as its ctx. */
gmc_status gwd_tree_shape(void *ctx, const char *const *names, size_t count, uint64_t bytes,
                          uint32_t *parent, const char **name);
/* Does the gateway send to every node itself, whatever the network is? */
bool gwd_tree_is_flat(const struct gwd_conf *conf);

#endif
