/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric.c (the fabric: opened, watched, and what goes by it) and fabric_place.c (who is to be
 * reached by it) share. Nobody else includes it. */
#ifndef GWD_FABRIC_INT_H
#define GWD_FABRIC_INT_H

#include "base/list.h"
#include "base/map.h"
#include "fabric/fabric.h"
#include "gatewayd/fabric.h"

/* Somebody of this domain. */
struct gwd_place {
    struct gmc_list node;
    char name[GMC_DOMAIN_NAME_MAX + 1];
    gmc_peer number;         /* NONE: the core has not named it */
    bool has_session;        /* its word comes from itself */
    struct gwd_endpoint end; /* address_len 0: not known */
    struct fab_peer *peer;   /* NULL: sockets carry what is for it */
    bool is_used;            /* both ways were tried: it carries data */
    bool is_heard;           /* something came from it since it is peer */
    gmc_time again;          /* before that nothing is tried */
    struct gmc_addr udp;     /* where the core sends to it; len 0: as its session shows */
    bool has_least;
    uint64_t least; /* from its clock to ours, for the fastest message of late; modulo 2^64 */
    gmc_time least_at;
    gmc_duration waited; /* what comes now did so, as the message's time tells */
    gmc_time unanswered; /* the first that was sent since something came; NEVER */
    gmc_time sent_at;    /* the last */
    uint64_t bytes_sent, bytes_received;
};

struct gwd_fabric {
    struct gwd_fabric_config config;
    char domain[GMC_DOMAIN_NAME_MAX + 1];
    char gateway[GMC_DOMAIN_NAME_MAX + 1]; /* "": this is it */
    char provider[GWD_FABRIC_NAME_MAX + 1], of_provider[GWD_FABRIC_NAME_MAX + 1];
    char machine_name[32]; /* ours, on this machine */
    bool may_share_memory;
    uint64_t id;
    struct fab *fab; /* NULL: it cannot be used now */
    gmc_time reopen; /* if so, when it is tried again */
    struct gmc_list places;
    struct gmc_map by_id;
    struct gwd_place **by_number; /* NULL: not looked up yet; &nobody: none of ours */
    size_t numbers;
    struct gwd_place nobody;
    struct event *fd_event, *timer_event;
    int timer_fd;
    gmc_time armed;
    gmc_time alive; /* the last sign of life */
    bool is_fresh;  /* something was put since the last flush */
    bool was_full;
    uint64_t took; /* datagrams, in this turn */
    uint64_t unknown, lost;
    struct fab_stats before; /* of earlier openings */
};

static inline bool gwd_fabric_is_gateway(const struct gwd_fabric *g)
{
    return g->gateway[0] == '\0';
}

/* ---- fabric.c ---- */
/* A look at the fabric so long from now, or before. */
void gwd_fabric_arm(struct gwd_fabric *g, gmc_duration after);

/* ---- fabric_place.c ---- */
struct gwd_place *gwd_place_find(const struct gwd_fabric *g, const char *name);
/* Who a neighbour of the core is. */
struct gwd_place *gwd_place_of(struct gwd_fabric *g, gmc_peer peer);
/* How the core calls it. */
void gwd_place_number(struct gwd_fabric *g, struct gwd_place *place);
/* Says to somebody with a session where this daemon is. */
void gwd_fabric_tell_own(struct gwd_fabric *g, const char *to);
/* Asks the gateway where a node is. */
void gwd_place_ask(struct gwd_fabric *g, struct gwd_place *place, gmc_time now);
/* By the endpoint that is known, if there is one. */
void gwd_place_attach(struct gwd_fabric *g, struct gwd_place *place);
void gwd_place_detach(struct gwd_place *place);
/* Back to sockets, for a while. */
void gwd_place_lose(struct gwd_fabric *g, struct gwd_place *place, const char *reason);
/* Of struct fab_owner. */
void gwd_place_on_reached(void *ctx, void *peer);
void gwd_place_on_heard(void *ctx, uint64_t id, gmc_time begun);
void gwd_place_on_lost(void *ctx, void *peer, const char *reason);

#endif
