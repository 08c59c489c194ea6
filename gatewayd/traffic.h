/* SPDX-License-Identifier: BSD-2-Clause */
/* What passes on each message channel: a count of what came, what subscribers here were handed, and
 * what was lost on the way or to those that do not read; of each second a rate. */
#ifndef GWD_TRAFFIC_H
#define GWD_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "ctl/ctl.h"

struct gwd_traffic;

/* NULL when out of memory. */
struct gwd_traffic *gwd_traffic_new(void);
void gwd_traffic_free(struct gwd_traffic *traffic);
/* Message `sequence` of channel (source, e) came, or was published here. */
void gwd_traffic_arrived(struct gwd_traffic *traffic, const char *source, uint64_t e,
                         uint64_t sequence);
/* A subscriber was handed so many messages of the channel, or lost them since its queue is full. */
void gwd_traffic_handed(struct gwd_traffic *traffic, const char *source, uint64_t e,
                        uint64_t messages, bool lost);
/* A second has passed. */
void gwd_traffic_tick(struct gwd_traffic *traffic);
/* Zeros for a channel that nothing is known of. */
struct gmc_ctl_traffic gwd_traffic_of(const struct gwd_traffic *traffic, const char *source,
                                      uint64_t e);

#endif
