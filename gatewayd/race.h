/* SPDX-License-Identifier: BSD-2-Clause */
/* TCP connects to one address. A lost SYN is sent again by the kernel after 1, 3 and 7 s, so while
 * none is answered further ones join after RFC 8305's quarter of a second, and when there are four
 * one each second in the place of the oldest: a path that comes back is noticed within a second.
 * The first that is connected counts, the others are closed. */
#ifndef GWD_RACE_H
#define GWD_RACE_H

#include <event2/event.h>

#include "gatewayd/addr.h"

struct gwd_race;

/* Called once: a connected socket (owned by the callee), or -1 and errno when all have failed. The
 * race may be freed in it. */
typedef void (*gwd_race_done)(void *ctx, int fd, int error);

/* NULL: no memory or descriptors. `done` comes from the loop, never from this call. */
struct gwd_race *gwd_race_start(struct event_base *base, const struct gwd_sockaddr *to,
                                gwd_race_done done, void *ctx);
/* Closes what is on its way; NULL is allowed. */
void gwd_race_free(struct gwd_race *race);

#endif
