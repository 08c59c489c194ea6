/* SPDX-License-Identifier: BSD-2-Clause */
/* The shell of a simulated gateway: start and end, inputs, timer. Outputs are in host_out.c. */
#include "sim-wan/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "crypto/cheap.h"
#include "crypto/openssl.h"
#include "fec/code.h"
#include "sim-wan/host_internal.h"
#include "sim-wan/mem.h"
#include "wire/control.h"

/* Calls of the timer at one instant, without an output, that a sound core never needs. */
#define IDLE_TIMERS_MAX 64u
/* Clocks start within the first hour and drift by up to 50 ppm, as quartz does. */
#define OFFSET_MAX GMC_S(3600)
#define DRIFT_MAX_PPB 50000u
#define UNPACKED_BYTES 131072u /* more than any datagram has */

/* ---- cryptography ---- */
static void fill_random(const struct gmc_prng *parent, const char *label, uint64_t index,
                        uint8_t out[32])
{
    struct gmc_prng prng;
    gmc_prng_fork_nth(parent, label, index, &prng);
    for (size_t i = 0; i < 32; i += 8)
        gmc_put64(out + i, gmc_prng_u64(&prng));
}

static void crypto_open(struct sim_host *host)
{
    uint8_t seed[32];
    gmc_status status;
    fill_random(&host->prng, "entropy", host->incarnation, seed);
    host->spki_len = sizeof(host->spki);
    if (host->world->config.crypto == SIM_CRYPTO_CHEAP) {
        host->cheap = gmc_crypto_cheap_new(host->name, seed);
        GMC_ASSERT(host->cheap != NULL);
        gmc_crypto_cheap_table(host->cheap, &host->crypto);
        status = gmc_crypto_cheap_spki(host->name, host->spki, &host->spki_len);
    } else {
        host->openssl = gmc_crypto_openssl_new_ed25519(host->key, seed);
        GMC_ASSERT(host->openssl != NULL);
        gmc_crypto_openssl_table(host->openssl, &host->crypto);
        status = gmc_crypto_openssl_spki(host->openssl, host->spki, &host->spki_len);
    }
    GMC_ASSERT(status == GMC_OK);
}

static void crypto_close(struct sim_host *host)
{
    if (host->cheap != NULL)
        gmc_crypto_cheap_free(host->cheap);
    if (host->openssl != NULL)
        gmc_crypto_openssl_free(host->openssl);
    host->cheap = NULL;
    host->openssl = NULL;
}

/* ---- what the core and the disk report ---- */
static void on_core_trace(void *ctx, const struct gmc_trace_record *record)
{
    struct sim_host *host = ctx;
    struct sim_trace *trace = &host->world->trace;
    sim_trace_record(trace, record->time, SIM_TRACE_CORE, (uint64_t)host->id << 16 ^ record->event,
                     record->a, record->b);
    if (record->text != NULL)
        sim_trace_bytes(trace, gmc_bytes_of_text(record->text));
}

static void on_answered(void *ctx, const struct gmc_store_result *result)
{
    struct sim_host *host = ctx;
    sim_trace_record(&host->world->trace, host->world->engine.now, SIM_TRACE_STORE, host->id,
                     result->ticket, (uint64_t)(int64_t)result->status);
    if (host->gateway == NULL)
        return;
    gmc_gateway_on_stored(host->gateway, sim_host_now(host), result);
    sim_host_drain(host);
}

static void on_disk_due(void *ctx)
{
    struct sim_host *host = ctx;
    if (sim_host_is_moderated(host) && host->gateway != NULL)
        sim_host_wake(host);
    else
        sim_disk_answer(&host->disk, 1);
}

static void on_violated(void *ctx, const char *what)
{
    struct sim_host *host = ctx;
    sim_oracle_violated(&host->world->oracle, "%s: %s", host->name, what);
}

/* ---- the timer ---- */
static void on_timer(struct sim_event *event, gmc_time now)
{
    struct sim_host *host = SIM_OWNER(event, struct sim_host, timer);
    uint64_t before = host->count.datagrams_out + host->count.events;
    host->wakes_at = GMC_TIME_NEVER;
    if (sim_host_is_moderated(host)) {
        sim_host_look(host);
    } else {
        host->count.timers++;
        gmc_gateway_on_timer(host->gateway, sim_host_now(host));
        sim_host_drain(host);
    }
    bool idle = before == host->count.datagrams_out + host->count.events;
    host->timer_idle = idle && host->timer_at == now ? host->timer_idle + 1 : 0;
    host->timer_at = now;
    if (host->timer_idle == IDLE_TIMERS_MAX)
        sim_oracle_violated(&host->world->oracle, "%s: its timer spins at one instant", host->name);
}

/* Packets and gateways of large worlds are far; see engine.c. */
static void ahead_of_timer(const struct sim_event *event, enum sim_ahead stage)
{
    const struct sim_host *host = SIM_OWNER(event, struct sim_host, timer);
    switch (stage) {
    case SIM_AHEAD_FIRST:
        for (size_t i = 0; i < sizeof(*host); i += GMC_NEAR_LINE)
            gmc_near_fetch_line((const char *)host + i);
        break;
    case SIM_AHEAD_SECOND:
        gmc_near_fetch(&host->near);
        break;
    case SIM_AHEAD_THIRD:
        break;
    case SIM_AHEAD_LAST:
        sim_net_warm(&host->world->net, host->id);
        break;
    }
}

void sim_host_arm(struct sim_host *host)
{
    gmc_time when = GMC_TIME_NEVER;
    if (host->gateway != NULL && !host->frozen)
        when = sim_clock_when(&host->clock, gmc_gateway_deadline(host->gateway));
    if (when < host->cpu_busy_until)
        when = host->cpu_busy_until;
    if (sim_host_is_moderated(host) && !host->frozen) {
        if (host->socket.first != NULL || host->disk.is_due)
            when = host->world->engine.now;
        when = gmc_time_min(when, host->arrives_at);
        if (when < host->rests_until)
            when = host->rests_until;
    }
    /* A spinning timer is reported; let the clock go on nevertheless. */
    if (host->timer_idle > IDLE_TIMERS_MAX && when <= host->timer_at)
        when = host->timer_at + GMC_MS(1);
    host->wakes_at = when;
    sim_engine_at(&host->world->engine, &host->timer, when);
}

static void on_pulse(struct sim_event *event, gmc_time now)
{
    struct sim_host *host = SIM_OWNER(event, struct sim_host, pulse);
    (void)now;
    while (host->gateway != NULL && host->unknown_count > 0) {
        struct gmc_peer_change change = {.peer = host->unknown_peers[--host->unknown_count],
                                         .event = GMC_PEER_REFUSED,
                                         .reason = "not configured here"};
        gmc_gateway_on_peer(host->gateway, sim_host_now(host), &change);
        sim_host_drain(host);
    }
}

/* ---- a host's life ---- */
struct sim_host *sim_host_new(struct sim_world *world, uint32_t id, const char *name)
{
    struct sim_host *host = sim_calloc(1, sizeof(*host));
    struct gmc_prng prng;
    host->world = world;
    host->id = id;
    host->name = sim_strdup(name);
    host->powered = true;
    gmc_prng_fork_nth(&world->prng, "host", id, &host->prng);
    gmc_prng_fork(&host->prng, "clock", &prng);
    if (!world->config.exact_clocks) {
        host->clock.offset = gmc_prng_below(&prng, OFFSET_MAX);
        host->clock.drift_ppb =
            (int32_t)gmc_prng_below(&prng, 2 * DRIFT_MAX_PPB + 1) - (int32_t)DRIFT_MAX_PPB;
    }
    fill_random(&host->prng, "key", 0, host->key);
    gmc_map_init(&host->host_peers, 0);
    sim_event_init(&host->timer, on_timer);
    host->timer.ahead = ahead_of_timer;
    sim_event_init(&host->pulse, on_pulse);
    sim_host_init_cpu(host);
    host->sink = (struct gmc_trace_sink){on_core_trace, host, GMC_LEVEL_DEBUG};
    crypto_open(host);
    gmc_prng_fork(&host->prng, "disk", &prng);
    host->disk_config = world->config.disk;
    sim_disk_init(&host->disk, &world->engine, &world->objects, &world->disk_ops, &host->crypto,
                  &(struct sim_disk_sink){host, on_answered, on_violated, on_disk_due},
                  &world->config.disk, &prng);
    host->disk.virtual_bodies = world->config.virtual_bodies;
    return host;
}

static void forget_peers(struct sim_host *host)
{
    gmc_map_fini(&host->host_peers);
    gmc_map_init(&host->host_peers, 0);
    host->peer_count = 0;
    host->unknown_count = 0;
}

void sim_host_free(struct sim_host *host)
{
    sim_engine_cancel(&host->world->engine, &host->timer);
    sim_engine_cancel(&host->world->engine, &host->pulse);
    sim_host_empty_socket(host);
    if (host->gateway != NULL)
        gmc_gateway_free(host->gateway);
    sim_disk_fini(&host->disk);
    crypto_close(host);
    gmc_map_fini(&host->host_peers);
    free(host->unknown_peers);
    free(host->news);
    free(host->peer_hosts);
    free(host->name);
    free(host);
}

static void hand_back_state(struct sim_host *host)
{
    size_t count = sim_disk_saved_count(&host->disk);
    for (size_t i = 0; i < count; i++) {
        struct gmc_saved saved;
        sim_disk_saved(&host->disk, i, &saved);
        gmc_status status = gmc_gateway_on_saved(host->gateway, sim_host_now(host), &saved);
        if (status != GMC_OK)
            sim_oracle_violated(&host->world->oracle, "%s: saved state '%s' was refused: %s",
                                host->name, saved.name, gmc_status_text(status));
    }
}

static void join_subnet(struct sim_host *host)
{
    char word[GMC_GROUP_ADDRESS_MAX];
    if (host->subnet == NULL)
        return;
    (void)snprintf(word, sizeof(word), "lan of %s", host->name);
    if (host->multicast_bps > 0)
        gmc_gateway_set_group(host->gateway, sim_host_now(host), gmc_bytes_of_text(word),
                              host->multicast_bps,
                              sim_net_payload_max(&host->world->net, host->id));
    gmc_gateway_set_subnet(host->gateway, sim_host_now(host), host->subnet);
}

static void addr_text(const struct gmc_addr *addr, char *out, size_t size)
{
    snprintf(out, size, "host %u", gmc_get32(addr->bytes));
}

void sim_host_start(struct sim_host *host)
{
    const struct sim_world_config *world = &host->world->config;
    struct gmc_prng prng;
    if (host->gateway != NULL || host->is_router)
        return;
    host->powered = true;
    crypto_close(host);
    host->incarnation++;
    crypto_open(host);
    gmc_prng_fork_nth(&host->prng, "gateway", host->incarnation, &prng);
    struct gmc_gateway_config config = {
        .domain = host->name,
        .node_of = host->node_of != NULL ? host->node_of->name : NULL,
        .crypto = &host->crypto,
        .spki = gmc_bytes(host->spki, host->spki_len),
        .seed = gmc_prng_u64(&prng),
        .incarnation = host->incarnation,
        .trace = &host->sink,
        .cache_bytes = world->cache_bytes,
        .children_max = world->children_max,
        .patience = world->patience,
        .fixed_rate_bps = world->fixed_rate_bps,
        .pass_repairs = world->pass_repairs,
        .addr_text = addr_text,
        .virtual_bodies = world->virtual_bodies,
        .block_bytes = world->block_bytes,
        .arena = host->world->arena,
        .shared = &host->world->shared,
        .fec = host->world->fec != NULL ? gmc_fec_code_table(host->world->fec)
                                        : (struct gmc_fec){.ops = NULL},
        .uplink_bps = host->uplink_bps,
        .downlink_bps = host->downlink_bps,
    };
    host->gateway = gmc_gateway_new(&config, sim_host_now(host));
    GMC_ASSERT(host->gateway != NULL);
    host->count.starts++;
    sim_trace_text(&host->world->trace, host->world->engine.now, SIM_TRACE_HOST, host->id,
                   host->name, "starts");
    for (uint32_t i = 0; i < host->world->host_count; i++)
        if (host->world->hosts[i]->node_of == host)
            gmc_gateway_set_node(host->gateway, sim_host_now(host), sim_host_peer(host, i), true);
    if (host->node_of == NULL && world->inside_tree.shape != NULL)
        gmc_gateway_set_inside_tree(host->gateway, sim_host_now(host), &world->inside_tree);
    if (world->multicast_bps > 0 && host->node_of == NULL)
        gmc_gateway_set_group(host->gateway, sim_host_now(host), gmc_bytes_of_text("lan"),
                              world->multicast_bps,
                              sim_net_payload_max(&host->world->net, host->id));
    join_subnet(host);
    hand_back_state(host);
    gmc_gateway_start(host->gateway, sim_host_now(host));
    sim_host_drain(host);
    sim_host_review_collection(host);
}

void sim_host_crash(struct sim_host *host, enum sim_crash crash)
{
    if (host->gateway == NULL)
        return;
    host->frozen = false;
    host->news_count = 0;
    sim_host_empty_socket(host);
    sim_disk_stall(&host->disk, host->disk_stalled);
    bool kill = crash == SIM_CRASH_KILL;
    sim_trace_text(&host->world->trace, host->world->engine.now, SIM_TRACE_HOST, host->id,
                   host->name, kill ? "is killed" : "loses power");
    sim_disk_crash(&host->disk, crash);
    gmc_gateway_free(host->gateway);
    host->gateway = NULL;
    sim_host_review_collection(host);
    host->wakes_at = GMC_TIME_NEVER;
    host->rests_until = 0;
    host->powered = kill;
    forget_peers(host);
    sim_engine_cancel(&host->world->engine, &host->timer);
    sim_sessions_crash(&host->world->sessions, host->id, kill);
    sim_oracle_on_crash(&host->world->oracle, host);
}

gmc_time sim_host_now(const struct sim_host *host)
{
    return sim_clock_read(&host->clock, host->world->engine.now);
}

/* ---- inputs ---- */
/* The packet's bytes in one piece. What stands in a gap is never looked at. */
static struct gmc_bytes unpack(struct sim_world *world, const struct sim_packet *packet)
{
    if (packet->gap == 0)
        return gmc_bytes(packet->data, packet->len);
    size_t len = (size_t)packet->len + packet->gap;
    if (world->unpacked == NULL)
        world->unpacked = sim_calloc(1, UNPACKED_BYTES);
    GMC_ASSERT(len <= UNPACKED_BYTES);
    memcpy(world->unpacked, packet->data, packet->gap_at);
    memcpy(world->unpacked + packet->gap_at + packet->gap, packet->data + packet->gap_at,
           packet->len - packet->gap_at);
    return gmc_bytes(world->unpacked, len);
}

bool sim_host_on_packet(struct sim_host *host, struct sim_packet *packet)
{
    if (host->gateway == NULL) {
        host->count.lost_while_down++;
        return false;
    }
    bool is_busy = sim_host_has_cpu_cost(host) || sim_host_is_moderated(host);
    if (host->frozen || (is_busy && !host->is_looking))
        return sim_host_wait_in_socket(host, packet);
    if (host->is_looking) {
        if (!sim_host_has_room(host, packet))
            return false;
        host->socket_bytes += packet->len;
    }
    sim_host_hear(host, packet);
    return false;
}

void sim_host_hear(struct sim_host *host, const struct sim_packet *packet)
{
    bool is_group = (packet->to & SIM_TO_GROUP) != 0;
    struct gmc_dgram_in in = {.path = is_group ? GMC_PATH_GROUP : GMC_PATH_UDP,
                              .peer = GMC_PEER_NONE,
                              .from = sim_host_addr(packet->from),
                              .ecn = (enum gmc_ecn_mark)packet->ecn,
                              .bytes = unpack(host->world, packet)};
    gmc_time now = sim_host_now(host);
    /* As the time stamps of a socket show it. */
    in.waited = gmc_time_sub(now, sim_clock_read(&host->clock, packet->arrival));
    host->count.datagrams_in++;
    if (gmc_gateway_on_datagram(host->gateway, now, &in) != GMC_OK)
        host->count.datagrams_refused++;
    sim_host_drain(host);
}

void sim_host_on_stream(struct sim_host *host, uint32_t peer, struct gmc_bytes bytes)
{
    if (host->gateway == NULL || host->frozen)
        return;
    struct gmc_dgram_in in = {.path = GMC_PATH_STREAM,
                              .peer = sim_host_peer(host, peer),
                              .bytes = bytes};
    sim_host_charge(host, bytes.len);
    host->count.datagrams_in++;
    if (gmc_gateway_on_datagram(host->gateway, sim_host_now(host), &in) != GMC_OK)
        host->count.datagrams_refused++;
    sim_host_drain(host);
}

/* News of a session that waits for a frozen process. */
struct sim_host_news {
    uint32_t peer;
    struct gmc_peer_change change;
    char reason[128];
};

static void hold_back(struct sim_host *host, uint32_t peer, const struct gmc_peer_change *change)
{
    host->news =
        sim_reserve(host->news, host->news_count, &host->news_capacity, sizeof(*host->news));
    struct sim_host_news *news = &host->news[host->news_count++];
    *news = (struct sim_host_news){.peer = peer, .change = *change};
    if (change->reason != NULL)
        strncpy(news->reason, change->reason, sizeof(news->reason) - 1);
}

static void on_peer(struct sim_host *host, uint32_t peer, struct gmc_peer_change *change)
{
    if (host->frozen) {
        hold_back(host, peer, change);
        return;
    }
    static const char *const words[] = {"up", "down", "not reached", "refused",
                                        "ended, it is being stopped"};
    sim_trace_text(&host->world->trace, host->world->engine.now, SIM_TRACE_SESSION, host->id,
                   host->name, "session with %s %s%s%s", host->world->hosts[peer]->name,
                   words[change->event], change->reason != NULL ? ": " : "",
                   change->reason != NULL ? change->reason : "");
    if (host->gateway == NULL)
        return;
    change->peer = sim_host_peer(host, peer);
    change->session.peer = change->peer;
    gmc_gateway_on_peer(host->gateway, sim_host_now(host), change);
    sim_host_drain(host);
}

void sim_host_on_session(struct sim_host *host, uint32_t peer, const struct gmc_session *session)
{
    struct gmc_peer_change change = {.event = GMC_PEER_SESSION_UP, .session = *session};
    on_peer(host, peer, &change);
}

void sim_host_on_session_end(struct sim_host *host, uint32_t peer, enum gmc_peer_event event,
                             const char *reason)
{
    struct gmc_peer_change change = {.event = event, .reason = reason};
    on_peer(host, peer, &change);
}

void sim_host_freeze(struct sim_host *host, bool frozen)
{
    if (host->gateway == NULL || host->frozen == frozen)
        return;
    sim_trace_text(&host->world->trace, host->world->engine.now, SIM_TRACE_HOST, host->id,
                   host->name, frozen ? "is stopped" : "is continued");
    host->frozen = frozen;
    sim_host_review_collection(host);
    sim_disk_stall(&host->disk, frozen || host->disk_stalled);
    sim_host_arm(host);
    if (frozen)
        return;
    for (size_t i = 0; i < host->news_count; i++) {
        struct sim_host_news *news = &host->news[i];
        news->change.reason = news->change.reason != NULL ? news->reason : NULL;
        on_peer(host, news->peer, &news->change);
    }
    host->news_count = 0;
    sim_host_read_segments(host);
    sim_host_read_socket(host);
}

void sim_host_stall_disk(struct sim_host *host, bool stalled)
{
    host->disk_stalled = stalled;
    sim_disk_stall(&host->disk, host->frozen || stalled);
}

void sim_host_set_clock(struct sim_host *host, const struct sim_clock *clock)
{
    GMC_ASSERT(host->gateway == NULL && clock->drift_ppb <= SIM_DRIFT_PPB_MAX &&
               clock->drift_ppb >= -SIM_DRIFT_PPB_MAX);
    host->clock = *clock;
}

void sim_host_set_disk(struct sim_host *host, const struct sim_disk_config *config)
{
    host->disk_config = *config;
    sim_disk_configure(&host->disk, config);
}
