/* SPDX-License-Identifier: BSD-2-Clause */
/* A wire: what happens to packets between two neighbouring hosts. Each direction (a *lane*) has a
 * bounded drop-tail queue, a rate, a delay with jitter, loss, reordering, duplication, and can be
 * down. Lanes know nothing of hosts or routes: what arrives is handed to a sink.
 *
 * Because the queue is first in, first out, a packet's departure and arrival are known when it is
 * offered; the lane keeps its packets sorted by arrival and has one event pending, that of the
 * first. A packet costs one event per hop.
 *
 * Bytes are conserved and counted: offered + duplicated = delivered + dropped (by reason) + held.
 */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "sim-wan/engine.h"
#include "sim-wan/packet.h"

struct sim_wire_config {
    uint64_t rate_bps;      /* 0: no limit, no queue */
    gmc_duration delay;     /* propagation */
    gmc_duration jitter;    /* added per packet, uniform in [0, jitter]; keeps the order */
    uint32_t loss_ppm;      /* lost after it took its place and time on the wire */
    uint32_t duplicate_ppm; /* arrives twice */
    uint32_t reorder_ppm;   /* held back by up to reorder_by, so later ones overtake it */
    gmc_duration reorder_by;
    uint64_t queue_bytes; /* waiting and in service; 0: no bound */
    uint32_t mtu;         /* IP packet; larger ones are dropped; 0: 1500 */
};

enum sim_drop { SIM_DROP_QUEUE, SIM_DROP_LOSS, SIM_DROP_DOWN, SIM_DROP_MTU, SIM_DROPS };
const char *sim_drop_name(enum sim_drop drop);

struct sim_lane_counters {
    uint64_t offered_packets, offered_bytes;
    uint64_t duplicated_packets, duplicated_bytes;
    uint64_t delivered_packets, delivered_bytes;
    uint64_t dropped_packets[SIM_DROPS], dropped_bytes[SIM_DROPS];
};

enum sim_wire_news { SIM_WIRE_OFFERED, SIM_WIRE_DROPPED, SIM_WIRE_DELIVERED };

struct sim_lane;

/* Where packets go, and who watches. deliver takes the packet. watch may be NULL; `drop` counts
 * for DROPPED only. */
struct sim_wire_sink {
    void *ctx;
    void (*deliver)(void *ctx, struct sim_lane *lane, struct sim_packet *packet);
    void (*watch)(void *ctx, const struct sim_lane *lane, enum sim_wire_news news,
                  enum sim_drop drop, const struct sim_packet *packet);
};

struct sim_lane {
    struct sim_engine *engine;
    struct sim_packet_pool *pool;
    const struct sim_wire_sink *sink;
    uint32_t id; /* given by the owner */
    bool up;
    struct sim_wire_config config;
    struct sim_event event;  /* arrival of the first packet */
    gmc_duration queue_time; /* that a full queue takes to send */
    gmc_time busy_until;     /* the transmitter */
    gmc_time last_arrival;   /* of packets that keep the order */
    struct sim_packet *first, *last;
    struct gmc_prng prng;
    struct sim_lane_counters count;
};

/* Borrows engine, pool and sink for the lane's life. */
void sim_lane_init(struct sim_lane *lane, struct sim_engine *engine, struct sim_packet_pool *pool,
                   const struct sim_wire_sink *sink, uint32_t id,
                   const struct sim_wire_config *config, const struct gmc_prng *prng);
void sim_lane_fini(struct sim_lane *lane);

/* Offers a packet; takes it. */
void sim_lane_send(struct sim_lane *lane, struct sim_packet *packet);
/* A lane that goes down loses what it holds. */
void sim_lane_set_up(struct sim_lane *lane, bool up);
/* For packets to come; those on the way keep their time. */
void sim_lane_configure(struct sim_lane *lane, const struct sim_wire_config *config);

/* Bytes on the way, counted packet by packet. */
uint64_t sim_lane_held_bytes(const struct sim_lane *lane);
/* Time until a packet offered now would begin to be sent. */
gmc_duration sim_lane_backlog(const struct sim_lane *lane);
/* Whether the counters add up. */
bool sim_lane_is_balanced(const struct sim_lane *lane);

#endif
