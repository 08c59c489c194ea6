/* SPDX-License-Identifier: BSD-2-Clause */
/* When and where to dial: addresses from the configuration or from DNS, never from what another
 * peer says; back-off with jitter. */
#include <stdio.h>
#include <string.h>

#include "gatewayd/peer_int.h"
#include "gatewayd/text.h"

#define RETRY_FIRST_MS 100u
#define RETRY_MAX_MS 2000u
#define RETRY_SLOW_MS 30000u /* after many failures: the neighbour is away for longer */
#define FAILURES_SLOW 150u
#define WAIT_TOLD_MS 2000u

static void arm(struct gwd_neighbour *neighbour, uint32_t ms)
{
    struct timeval wait = {.tv_sec = ms / 1000u, .tv_usec = (suseconds_t)(ms % 1000u) * 1000};
    (void)evtimer_add(neighbour->retry, &wait);
}

/* Doubles from 100 ms to 2 s; half of it is drawn, so that neighbours that lost the same gateway
 * do not come back together. */
void gwd_dial_later(struct gwd_neighbour *neighbour)
{
    struct gwd_peers *peers = neighbour->peers;
    uint32_t ms = RETRY_MAX_MS;
    if (peers->stopping || !neighbour->wanted || neighbour->refused || neighbour->conf == NULL)
        return;
    if (neighbour->failures < 5)
        ms = RETRY_FIRST_MS << neighbour->failures;
    else if (neighbour->failures > FAILURES_SLOW)
        ms = RETRY_SLOW_MS;
    if (ms > RETRY_MAX_MS && neighbour->failures <= FAILURES_SLOW)
        ms = RETRY_MAX_MS;
    neighbour->failures++;
    arm(neighbour, ms / 2 + gwd_peers_random(ms / 2 + 1));
}

static void failed(struct gwd_neighbour *neighbour, const char *reason)
{
    struct gwd_peers *peers = neighbour->peers;
    gwd_log_refusal(peers->config.log, gwd_peers_now(), "peer.unreachable",
                    GWD_STR("peer", neighbour->name), GWD_STR("reason", reason));
    gwd_neighbour_tell(neighbour, GMC_PEER_UNREACHABLE, reason);
    gwd_dial_later(neighbour);
}

static void dial_next(struct gwd_neighbour *neighbour)
{
    struct gwd_peers *peers = neighbour->peers;
    const struct gwd_sockaddr *to = &neighbour->addresses[neighbour->next_address];
    neighbour->next_address = (neighbour->next_address + 1) % neighbour->address_count;
    gwd_addr_to_core((const struct sockaddr *)&to->storage, &neighbour->udp);
    neighbour->dial = gwd_conn_dial(peers, neighbour, to);
    if (neighbour->dial == NULL)
        failed(neighbour, "no memory or descriptors for a connection");
    else
        peers->stats.dialled++;
}

static void resolve(struct gwd_neighbour *neighbour)
{
    struct gwd_peers *peers = neighbour->peers;
    const char *address = neighbour->conf->address;
    char host[256];
    uint16_t port = 0;
    gwd_text(host, sizeof host, "%s", neighbour->name);
    if (address[0] != '\0' && !gwd_addr_split(address, host, sizeof host, &port)) {
        failed(neighbour, "its configured address cannot be read");
        return;
    }
    if (port != 0 && gwd_addr_numeric(host, port, &neighbour->addresses[0])) {
        neighbour->address_count = 1;
        neighbour->next_address = 0;
        dial_next(neighbour);
        return;
    }
    neighbour->question = ++peers->questions;
    neighbour->resolving = gwd_resolver_ask(peers->resolver, neighbour->question, host, port);
    if (!neighbour->resolving)
        failed(neighbour, "too many names wait for an answer from DNS");
}

void gwd_dial_resolved(void *ctx, const struct gwd_resolved *resolved)
{
    struct gwd_peers *peers = ctx;
    struct gwd_neighbour *neighbour = NULL;
    for (size_t i = 0; i < peers->count; i++) {
        if (peers->list[i]->resolving && peers->list[i]->question == resolved->id)
            neighbour = peers->list[i];
    }
    if (neighbour == NULL)
        return;
    neighbour->resolving = false;
    if (resolved->count == 0) {
        failed(neighbour, resolved->reason);
        return;
    }
    memcpy(neighbour->addresses, resolved->addresses, sizeof neighbour->addresses);
    neighbour->address_count = resolved->count;
    neighbour->next_address = 0;
    if (neighbour->session == NULL && neighbour->dial == NULL && neighbour->wanted &&
        neighbour->conf != NULL && !peers->stopping)
        dial_next(neighbour);
}

static void wait_for_it(struct gwd_neighbour *neighbour)
{
    char reason[400];
    if (neighbour->waiting_told) {
        gwd_text(reason, sizeof reason,
                 "waiting for %s to connect (connect = in; it needs connect = out or both)",
                 neighbour->name);
        gwd_neighbour_tell(neighbour, GMC_PEER_UNREACHABLE, reason);
        return;
    }
    neighbour->waiting_told = true;
    arm(neighbour, WAIT_TOLD_MS);
}

void gwd_dial(struct gwd_neighbour *neighbour)
{
    struct gwd_peers *peers = neighbour->peers;
    if (peers->stopping || neighbour->conf == NULL || neighbour->session != NULL ||
        neighbour->dial != NULL || neighbour->resolving || !neighbour->wanted || neighbour->refused)
        return;
    if (neighbour->conf->connect == GWD_CONNECT_IN) {
        wait_for_it(neighbour);
        return;
    }
    /* Names are looked up again for each round through their addresses. */
    if (neighbour->address_count == 0 || neighbour->next_address == 0)
        resolve(neighbour);
    else
        dial_next(neighbour);
}

void gwd_dial_retry(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    gwd_dial(ctx);
}
