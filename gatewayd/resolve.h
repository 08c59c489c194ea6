/* SPDX-License-Identifier: BSD-2-Clause */
/* Names to addresses, and SRV records, in a thread of its own: name servers may be slow. */
#ifndef GWD_RESOLVE_H
#define GWD_RESOLVE_H

#include <event2/event.h>

#include "gatewayd/addr.h"

#define GWD_RESOLVE_MAX 8 /* addresses of one answer, best first */

struct gwd_resolver;

struct gwd_resolved {
    uint64_t id;
    size_t count; /* 0: failed, see reason */
    struct gwd_sockaddr addresses[GWD_RESOLVE_MAX];
    char reason[256];
};
typedef void (*gwd_resolve_done)(void *ctx, const struct gwd_resolved *resolved);

/* The thread starts with the first question. done is called by the loop. NULL: no memory. */
struct gwd_resolver *gwd_resolver_new(struct event_base *base, gwd_resolve_done done, void *ctx);
/* Does not wait for a question that is under way. */
void gwd_resolver_free(struct gwd_resolver *resolver);
/* host and port, or (port 0) the service _gmcast._tcp.host. False when too many wait. */
bool gwd_resolver_ask(struct gwd_resolver *resolver, uint64_t id, const char *host, uint16_t port);

/* Parses an SRV answer into targets in order of priority, then weight (for tests and fuzzing). */
struct gwd_srv {
    uint16_t priority, weight, port;
    char target[256];
};
size_t gwd_srv_parse(const uint8_t *answer, size_t len, struct gwd_srv *out, size_t max);

#endif
