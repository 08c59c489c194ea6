/* SPDX-License-Identifier: BSD-2-Clause */
/* The domain's own interconnect under the links of its gateway and nodes: what would leave by UDP
 * for somebody whose endpoint of the fabric is known leaves there, and what comes there is handed
 * to the core as if it had come by UDP. The core notices nothing; sockets carry all until an
 * endpoint is known, and again when the fabric fails.
 *
 * Endpoints are told over the sessions (frames FABRIC and WHERE, gatewayd/frame.h): gateway and
 * node tell each other when one is made. A node asks its gateway for that of another node when it
 * first sends to it, and the gateway then tells each of the two of the other. */
#ifndef GWD_FABRIC_H
#define GWD_FABRIC_H

#include <event2/event.h>

#include "core/io.h"
#include "gatewayd/conf.h"
#include "gatewayd/frame.h"
#include "gatewayd/log.h"

struct gwd_fabric;

struct gwd_fabric_config {
    struct event_base *base;
    struct gwd_log *log;
    const struct gwd_conf *conf; /* borrowed for the call of gwd_fabric_new */
    void *ctx;
    gmc_time (*now)(void);
    /* The name of a neighbour; NULL behind the last. */
    const char *(*name_of)(void *ctx, gmc_peer peer);
    /* Of this domain: at a gateway its nodes, at a node its gateway. */
    bool (*is_ours)(void *ctx, const char *name);
    /* Where its UDP is, as the session shows. */
    bool (*address)(void *ctx, gmc_peer peer, struct gmc_addr *address);
    void (*tell)(void *ctx, const char *name, struct gmc_bytes frame);
    void (*take)(void *ctx, gmc_time now, const struct gmc_dgram_in *in);
    /* Datagrams were taken, or there is room again. */
    void (*taken)(void *ctx);
};

/* NULL: out of memory or descriptors. That the fabric cannot be used now is logged; it is tried
 * again. */
struct gwd_fabric *gwd_fabric_new(const struct gwd_fabric_config *config);
void gwd_fabric_free(struct gwd_fabric *g);
/* False with a reason when the configuration names what is not there. */
bool gwd_fabric_check(const struct gwd_conf *conf, char *reason, size_t size);

/* Whether it takes this datagram; else a socket has to. */
bool gwd_fabric_put(struct gwd_fabric *g, const struct gmc_dgram_out *out);
bool gwd_fabric_has_room(const struct gwd_fabric *g);
void gwd_fabric_flush(struct gwd_fabric *g);

/* A neighbour's session came or went; a frame came on it. */
void gwd_fabric_on_session(struct gwd_fabric *g, const char *name, bool up);
void gwd_fabric_on_frame(struct gwd_fabric *g, const char *from, enum gwd_frame_type type,
                         struct gmc_bytes body);
/* Every few seconds: tries again what failed. */
void gwd_fabric_tick(struct gwd_fabric *g);

struct gwd_fabric_stats {
    uint64_t peers; /* that it reaches now */
    uint64_t sent, received, busy, dropped, failed, unknown;
    uint64_t lost; /* times that it went back to sockets */
};
struct gwd_fabric_stats gwd_fabric_stats(const struct gwd_fabric *g);
/* What went to and came from a neighbour by it; name: of the provider in use for it, NULL none. */
struct gwd_fabric_use {
    const char *name;
    uint64_t bytes_sent, bytes_received; /* datagrams */
};
struct gwd_fabric_use gwd_fabric_use(const struct gwd_fabric *g, const char *name);

#endif
