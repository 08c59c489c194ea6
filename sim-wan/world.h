/* SPDX-License-Identifier: BSD-2-Clause */
/* A simulated world: the clock, the network, the sessions, and hosts with a gateway and a disk
 * each. Everything that is random follows from one seed. Build it, start it, do things to it
 * between runs of the clock, ask it. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "core/gateway.h"
#include "sim-wan/cpu.h"
#include "sim-wan/disk.h"
#include "sim-wan/engine.h"
#include "sim-wan/net.h"
#include "sim-wan/object.h"
#include "sim-wan/oracle.h"
#include "sim-wan/session.h"
#include "sim-wan/trace.h"
#include "sim-wan/traffic/traffic.h"

enum sim_crypto { SIM_CRYPTO_CHEAP, SIM_CRYPTO_OPENSSL };

struct sim_host;

struct sim_world_config {
    uint64_t seed;
    enum sim_crypto crypto;
    bool shuffle;                /* events of one instant in random order */
    bool exact_clocks;           /* hosts' clocks show the virtual time */
    bool virtual_bodies;         /* blocks are their first bytes; see core/gateway.h */
    uint32_t block_bytes;        /* with virtual bodies; 0: 64 KiB */
    struct sim_disk_config disk; /* of every host that is given no other */
    struct sim_cpu_config cpu;
    /* for every gateway; 0: the core's defaults */
    size_t cache_bytes;
    uint32_t children_max;
    gmc_duration patience;
    uint64_t fixed_rate_bps;
    bool pass_repairs;
    struct gmc_inside_tree inside_tree; /* of every domain's nodes; shape NULL: none */
    uint64_t multicast_bps; /* at which gateways reach their nodes all at once; 0: by unicast */
};

struct sim_world {
    struct sim_world_config config;
    struct gmc_prng prng;
    struct sim_engine engine;
    struct sim_net net;
    struct sim_sessions sessions;
    struct sim_traffic traffic; /* in the background; add to it before or while it runs */
    struct sim_objects objects;
    struct sim_trace trace;
    struct sim_oracle oracle;
    struct sim_host **hosts;
    size_t host_count, host_capacity;
    uint8_t *arena; /* of all gateways: outputs are taken from one after the other */
    struct gmc_gateway_shared shared; /* of all gateways, too */
    struct gmc_pool disk_ops;         /* of all disks */
    uint8_t *unpacked;                /* the packet that is being handed over, its gap in place */
    struct gmc_fec_code *fec;         /* NULL: nobody is reached by multicast */
    struct gmc_map names;             /* of domains, hashed, -> struct sim_host */
    /* Every event of every gateway; may be NULL. */
    void (*on_event)(void *ctx, struct sim_host *host, const struct gmc_event *event);
    void *event_ctx;
    /* Messages of channels, and room for more; not to call gateways. May be NULL. */
    void (*on_message)(void *ctx, struct sim_host *host, const struct gmc_output *out);
    void *message_ctx;
    /* Set by sim_world_watch alone: wires tell of more than drops only when they know of it. */
    void (*on_packet)(void *ctx, uint32_t wire, int direction, enum sim_wire_news news,
                      enum sim_drop drop, const struct sim_packet *packet);
    void *packet_ctx;
};

struct sim_world *sim_world_new(const struct sim_world_config *config);
void sim_world_free(struct sim_world *world);

/* Everything that happens on wires, as in sim_net_sink; NULL: nobody watches. */
void sim_world_watch(struct sim_world *world,
                     void (*on_packet)(void *ctx, uint32_t wire, int direction,
                                       enum sim_wire_news news, enum sim_drop drop,
                                       const struct sim_packet *packet),
                     void *ctx);

/* Topology, before the start. Names are domains. */
struct sim_host *sim_world_add(struct sim_world *world, const char *name);
/* A host without a gateway, which only passes packets on. */
struct sim_host *sim_world_add_router(struct sim_world *world, const char *name);
/* A node in the domain of a gateway. */
struct sim_host *sim_world_add_node(struct sim_world *world, const struct sim_host *gateway,
                                    const char *name);
uint32_t sim_world_join(struct sim_world *world, struct sim_host *a, struct sim_host *b,
                        const struct sim_wire_config *config);
/* Starts all gateways. */
void sim_world_start(struct sim_world *world);

struct sim_host *sim_world_find(const struct sim_world *world, const char *name);
gmc_time sim_world_now(const struct sim_world *world);
void sim_world_run(struct sim_world *world, gmc_duration duration);
/* Runs until the question is answered with yes, for at most `limit`; whether it was. It is asked
 * every `every`. */
bool sim_world_run_until(struct sim_world *world, gmc_duration every, gmc_duration limit,
                         bool (*question)(void *ctx), void *ctx);

/* A line in the trace about what is done to the world. */
void sim_world_note(struct sim_world *world, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
