/* SPDX-License-Identifier: BSD-2-Clause */
/* A simulated world; see world.h. */
#include "sim-wan/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "fec/code.h"
#include "sim-wan/host.h"
#include "sim-wan/mem.h"

#define SPARES_KEPT 65536u

/* ---- from the network and the sessions to hosts ---- */
static bool on_arrived(void *ctx, uint32_t id, struct sim_packet *packet)
{
    struct sim_world *world = ctx;
    sim_trace_record(&world->trace, world->engine.now, SIM_TRACE_ARRIVE, id, packet->from,
                     packet->wire_bytes);
    if (packet->proto == SIM_PROTO_TCP)
        return sim_host_on_segment(world->hosts[id], packet);
    if (packet->proto == SIM_PROTO_PLAIN) {
        sim_traffic_arrived(&world->traffic, packet);
        return false;
    }
    sim_trace_word(&world->trace, packet->digest);
    return sim_host_on_packet(world->hosts[id], packet);
}

static void on_wire(void *ctx, uint32_t wire, int direction, enum sim_wire_news news,
                    enum sim_drop drop, const struct sim_packet *packet)
{
    struct sim_world *world = ctx;
    if (news == SIM_WIRE_DROPPED)
        sim_trace_record(&world->trace, world->engine.now, SIM_TRACE_DROP,
                         (uint64_t)wire * 2 + (uint64_t)direction, drop, packet->wire_bytes);
    if (world->on_packet != NULL)
        world->on_packet(world->packet_ctx, wire, direction, news, drop, packet);
}

void sim_world_watch(struct sim_world *world,
                     void (*on_packet)(void *ctx, uint32_t wire, int direction,
                                       enum sim_wire_news news, enum sim_drop drop,
                                       const struct sim_packet *packet),
                     void *ctx)
{
    world->on_packet = on_packet;
    world->packet_ctx = ctx;
    sim_net_watch_drops_only(&world->net, on_packet == NULL);
}

static void on_expected(void *ctx, uint32_t host, gmc_time when)
{
    sim_host_expect(((struct sim_world *)ctx)->hosts[host], when);
}

static bool is_powered(void *ctx, uint32_t host)
{
    return ((struct sim_world *)ctx)->hosts[host]->powered;
}

static bool is_listening(void *ctx, uint32_t id)
{
    const struct sim_host *host = ((struct sim_world *)ctx)->hosts[id];
    return host->gateway != NULL && !host->dial_only;
}

static const char *refusal(void *ctx, uint32_t host, uint32_t peer)
{
    (void)host;
    return ((struct sim_world *)ctx)->hosts[peer]->refused;
}

static struct gmc_bytes spki(void *ctx, uint32_t host)
{
    const struct sim_host *owner = ((struct sim_world *)ctx)->hosts[host];
    return gmc_bytes(owner->spki, owner->spki_len);
}

static void on_up(void *ctx, uint32_t host, uint32_t peer, const struct gmc_session *session)
{
    sim_host_on_session(((struct sim_world *)ctx)->hosts[host], peer, session);
}

static void on_down(void *ctx, uint32_t host, uint32_t peer, enum gmc_peer_event event,
                    const char *reason)
{
    sim_host_on_session_end(((struct sim_world *)ctx)->hosts[host], peer, event, reason);
}

static void on_stream(void *ctx, uint32_t host, uint32_t peer, struct gmc_bytes bytes)
{
    sim_host_on_stream(((struct sim_world *)ctx)->hosts[host], peer, bytes);
}

/* ---- the world ---- */
struct sim_world *sim_world_new(const struct sim_world_config *config)
{
    struct sim_world *world = sim_calloc(1, sizeof(*world));
    struct gmc_prng prng;
    world->config = *config;
    gmc_prng_init(&world->prng, config->seed);
    sim_trace_init(&world->trace);
    sim_engine_init(&world->engine);
    gmc_prng_fork(&world->prng, "shuffle", &prng);
    if (config->shuffle)
        sim_engine_shuffle(&world->engine, &prng);
    gmc_prng_fork(&world->prng, "net", &prng);
    sim_net_init(&world->net, &world->engine,
                 &(struct sim_net_sink){world, on_arrived, on_wire, on_expected}, &prng);
    sim_world_watch(world, NULL, NULL);
    gmc_prng_fork(&world->prng, "sessions", &prng);
    sim_sessions_init(&world->sessions, &world->engine, &world->net,
                      &(struct sim_session_sink){world, is_powered, is_listening, refusal, spki,
                                                 on_up, on_down, on_stream},
                      &prng);
    gmc_prng_fork(&world->prng, "traffic", &prng);
    sim_traffic_init(&world->traffic, &world->engine, &world->net, &prng);
    world->arena = sim_alloc(GMC_GATEWAY_ARENA_BYTES);
    gmc_gateway_shared_init(&world->shared, SPARES_KEPT);
    sim_disk_ops_init(&world->disk_ops, SPARES_KEPT);
    gmc_map_init(&world->names, 0);
    if (config->multicast_bps > 0) {
        world->fec = gmc_fec_code_new();
        GMC_ASSERT(world->fec != NULL);
    }
    sim_oracle_init(&world->oracle, world);
    return world;
}

void sim_world_free(struct sim_world *world)
{
    sim_oracle_fini(&world->oracle);
    for (size_t i = 0; i < world->host_count; i++)
        sim_host_free(world->hosts[i]);
    free(world->hosts);
    sim_traffic_fini(&world->traffic);
    free(world->arena);
    gmc_gateway_shared_fini(&world->shared);
    gmc_pool_trim(&world->disk_ops);
    gmc_fec_code_free(world->fec);
    free(world->unpacked);
    sim_sessions_fini(&world->sessions);
    sim_net_fini(&world->net);
    sim_objects_fini(&world->objects);
    gmc_map_fini(&world->names);
    sim_engine_fini(&world->engine);
    free(world);
}

/* FNV-1a, with a probe count: names that collide take the next. */
static uint64_t name_key(const char *name, uint64_t probe)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(1099511628211);
    return hash + probe;
}

struct sim_host *sim_world_find(const struct sim_world *world, const char *name)
{
    struct sim_host *host;
    uint64_t probe = 0;
    do {
        host = gmc_map_get(&world->names, name_key(name, probe++));
    } while (host != NULL && strcmp(host->name, name) != 0);
    return host;
}

struct sim_host *sim_world_add(struct sim_world *world, const char *name)
{
    uint64_t probe = 0;
    uint32_t id = sim_net_add_host(&world->net);
    GMC_ASSERT(id == world->host_count && sim_world_find(world, name) == NULL);
    struct sim_host *host = sim_host_new(world, id, name);
    world->hosts = sim_reserve(world->hosts, world->host_count, &world->host_capacity,
                               sizeof(struct sim_host *));
    world->hosts[world->host_count++] = host;
    while (gmc_map_get(&world->names, name_key(name, probe)) != NULL)
        probe++;
    gmc_status status = gmc_map_put(&world->names, name_key(name, probe), host);
    GMC_ASSERT(status == GMC_OK);
    return host;
}

struct sim_host *sim_world_add_router(struct sim_world *world, const char *name)
{
    struct sim_host *host = sim_world_add(world, name);
    host->is_router = true;
    return host;
}

struct sim_host *sim_world_add_node(struct sim_world *world, const struct sim_host *gateway,
                                    const char *name)
{
    struct sim_host *host = sim_world_add(world, name);
    host->node_of = gateway;
    return host;
}

uint32_t sim_world_join(struct sim_world *world, struct sim_host *a, struct sim_host *b,
                        const struct sim_wire_config *config)
{
    return sim_net_add_wire(&world->net, a->id, b->id, config, config);
}

void sim_world_start(struct sim_world *world)
{
    for (size_t i = 0; i < world->host_count; i++)
        sim_host_start(world->hosts[i]);
    sim_oracle_start(&world->oracle);
}

gmc_time sim_world_now(const struct sim_world *world)
{
    return world->engine.now;
}

void sim_world_run(struct sim_world *world, gmc_duration duration)
{
    sim_engine_run(&world->engine, gmc_time_add(world->engine.now, duration));
}

bool sim_world_run_until(struct sim_world *world, gmc_duration every, gmc_duration limit,
                         bool (*question)(void *ctx), void *ctx)
{
    gmc_time end = gmc_time_add(world->engine.now, limit);
    while (!question(ctx)) {
        if (world->engine.now >= end)
            return false;
        sim_engine_run(&world->engine, gmc_time_min(gmc_time_add(world->engine.now, every), end));
    }
    return true;
}

void sim_world_note(struct sim_world *world, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    sim_trace_text(&world->trace, world->engine.now, SIM_TRACE_FAULT, 0, "world", "%s", text);
}
