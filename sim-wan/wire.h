/* SPDX-License-Identifier: BSD-2-Clause */
/* A wire: what happens to packets between two neighbouring hosts. Each direction (a *lane*) has a
 * bounded queue, drop-tail or CoDel, a rate, a delay with jitter, loss, reordering, duplication,
 * ECN marking, and can be down. Lanes know nothing of hosts or routes: what arrives is handed to a
 * sink.
 *
 * Because the queue is first in, first out, a packet's departure and arrival are known when it is
 * offered; the lane keeps its packets sorted by arrival and has one event pending, that of the
 * first. A packet costs one event per hop.
 *
 * CoDel decides when a packet's turn comes, a bound in packets needs to know whose turn has
 * come, and where a fault changes the wire, what waits is sent at the new rate: then packets wait
 * in a list, and the turns up to now are gone through when the next packet is offered or arrives.
 * That needs no event of its own either, because nothing can arrive before the turn of the first
 * that waits and the delay are over. What CoDel drops is therefore reported up to a delay late.
 *
 * Whoever stands at the end of a lane and looks now and then at what came (a host that wakes every
 * so often) may *collect* it: datagrams for it then have no event, and are taken, and reported as
 * delivered, when it looks. What goes further it passes on in batches, each packet as of when it
 * arrived: transit.c.
 *
 * Bytes are conserved and counted: offered + duplicated = delivered + dropped (by reason) + held.
 */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "sim-wan/aqm.h"
#include "sim-wan/engine.h"
#include "sim-wan/loss_model.h"
#include "sim-wan/loss_trace.h"
#include "sim-wan/packet.h"
#include "sim-wan/way.h"

/* What some middleboxes do to the ECN field (RFC 9000, section 13.4.2). */
enum sim_ecn_path {
    SIM_ECN_KEPT,
    SIM_ECN_BLEACHED, /* all become Not-ECT */
    SIM_ECN_FORCED    /* all of capable transports become CE */
};

/* One direction. Losses are drawn after a packet took its place and time on the wire; where several
 * kinds are given, it is lost if any takes it. Without a rate there is no queue and nothing that
 * depends on one. */
struct sim_wire_config {
    uint64_t rate_bps;          /* 0: no limit */
    gmc_duration delay;         /* propagation */
    uint32_t mtu;               /* IP packet; larger ones are dropped; 0: 1500 */
    gmc_duration jitter;        /* added per packet, uniform in [0, jitter]; keeps the order */
    uint32_t loss_ppm;          /* each for itself */
    struct sim_gilbert gilbert; /* in bursts */
    const struct sim_loss_trace *loss_trace; /* as recorded; borrowed; NULL: none */
    uint32_t duplicate_ppm;                  /* arrives twice */
    uint32_t reorder_ppm; /* held back by up to reorder_by, so later ones overtake it */
    gmc_duration reorder_by;
    uint64_t queue_bytes;   /* waiting and in service; 0: no bound */
    uint32_t queue_packets; /* the same, in packets; where both are given both bind */
    struct sim_codel_config codel;
    uint64_t mark_bytes;        /* CE for packets that find more in the queue; 0: never */
    enum sim_ecn_path ecn_path; /* beyond the queue */
    bool may_change; /* while packets wait: then they wait in a list, and get what is new */
};

/* What the config loses in the long run, parts per million, rounded down; a trace of times counts
 * as nothing. */
uint32_t sim_wire_loss_ppm(const struct sim_wire_config *config);

enum sim_drop {
    SIM_DROP_QUEUE, /* no room */
    SIM_DROP_LOSS,
    SIM_DROP_DOWN,
    SIM_DROP_MTU,
    SIM_DROP_CODEL, /* given up by CoDel */
    SIM_DROPS
};
const char *sim_drop_name(enum sim_drop drop);

struct sim_lane_counters {
    uint64_t offered_packets, offered_bytes;
    uint64_t delivered_packets, delivered_bytes;
    uint64_t duplicated_packets, duplicated_bytes;
    uint64_t marked_packets; /* that got CE here */
    uint64_t dropped_packets[SIM_DROPS], dropped_bytes[SIM_DROPS];
};

/* What was counted since `before` was a copy. */
struct sim_lane_counters sim_lane_since(const struct sim_lane_counters *now,
                                        const struct sim_lane_counters *before);
/* Bytes that took their time on the wire, those lost behind the transmitter included. */
uint64_t sim_lane_carried_bytes(const struct sim_lane_counters *count);
/* Packets that the queue dropped: no room, or CoDel. */
uint64_t sim_lane_queue_drops(const struct sim_lane_counters *count);

enum sim_wire_news { SIM_WIRE_OFFERED, SIM_WIRE_DROPPED, SIM_WIRE_DELIVERED };

struct sim_lane;

/* Where packets go, and who watches. deliver takes the packet. watch may be NULL; `drop` counts
 * for DROPPED only. expect tells who collects when the first packet arrives, if nothing was on the
 * way before, or not so early; may be NULL where nobody collects. */
struct sim_wire_sink {
    void *ctx;
    void (*deliver)(void *ctx, struct sim_lane *lane, struct sim_packet *packet);
    void (*watch)(void *ctx, const struct sim_lane *lane, enum sim_wire_news news,
                  enum sim_drop drop, const struct sim_packet *packet);
    void (*expect)(void *ctx, const struct sim_lane *lane, gmc_time when);
    /* A packet that goes further arrives then, before any that was told of, at the end of a lane
     * that is collected: sim_lane_pass. NULL: it comes at its time, as to those who do not collect.
     */
    void (*pass)(void *ctx, struct sim_lane *lane, gmc_time when);
    /* The lane is about to change: what was passed on late until now has to be on it. May be NULL.
     */
    void (*settle)(void *ctx, struct sim_lane *lane);
    /* Fetches what delivering the lane's first packet will look at (NULL at first: it is not here
     * yet); see engine.h. May be NULL. */
    void (*ahead)(void *ctx, const struct sim_lane *lane, const struct sim_packet *first,
                  enum sim_ahead stage);
    bool only_drops; /* are told to watch: where packets are many, a call for each counts */
};

/* Packets whose turn to be sent has not come; `arrival` says since when. */
struct sim_waiting {
    struct sim_packet_list list;
    uint32_t packets;
    uint64_t bytes;
};

/* What every packet touches comes first: large networks have more lanes than fit into the
 * processor's cache. */
struct sim_lane {
    struct sim_event event; /* arrival of the first packet */
    struct sim_engine *engine;
    const struct sim_wire_sink *sink;
    struct sim_way way;
    struct sim_way transit; /* those that whoever collects passes on */
    gmc_time passes_at;     /* arrival of the first of these; NEVER: there is none */
    gmc_time busy_until;    /* the transmitter, with all that left the list */
    gmc_time last_arrival;  /* of packets that keep the order */
    uint32_t id, end;       /* given by the owner; end: whom it leads to */
    bool up;
    bool is_lazy;            /* packets wait in a list, see above */
    bool is_plain;           /* they are neither lost behind the queue nor changed, nor overtake */
    bool is_collected;       /* see sim_lane_collect */
    uint32_t passing;        /* packets on the way that do not wait for that */
    gmc_duration queue_time; /* that a full queue takes to send */
    gmc_duration mark_time;  /* the same of mark_bytes */
    struct sim_lane_counters count;
    struct sim_wire_config config;
    struct sim_packet_pool *pool;
    struct sim_waiting waiting;
    struct sim_codel codel;
    struct sim_gilbert_state gilbert;
    uint64_t loss_trace_at;
    gmc_time loss_trace_zero; /* from when its times count */
    struct gmc_prng prng;
};

/* Borrows engine, pool and sink for the lane's life. */
void sim_lane_init(struct sim_lane *lane, struct sim_engine *engine, struct sim_packet_pool *pool,
                   const struct sim_wire_sink *sink, uint32_t id, uint32_t end,
                   const struct sim_wire_config *config, const struct gmc_prng *prng);
void sim_lane_fini(struct sim_lane *lane);

/* Offers a packet; takes it. */
void sim_lane_send(struct sim_lane *lane, struct sim_packet *packet);
/* The same of a packet that came here before now, later than all that were sent, within
 * sim_lane_lookahead. What becomes of it is reported now. */
void sim_lane_send_as_of(struct sim_lane *lane, struct sim_packet *packet, gmc_time when);
/* For so long nobody beyond can see that it was sent late. 0: it has to be sent in time. */
gmc_duration sim_lane_lookahead(const struct sim_lane *lane);
/* Packets to come arrive as if they had been offered at `when`, or later; on the wire they take
 * their place as of now all the same. */
void sim_lane_hold_back(struct sim_lane *lane, gmc_time when);
/* A lane that goes down loses what it holds. */
void sim_lane_set_up(struct sim_lane *lane, bool up);
/* For packets to come and those that wait in a list; those on the way keep their time. */
void sim_lane_configure(struct sim_lane *lane, const struct sim_wire_config *config);

/* Datagrams for whom the lane leads to come no longer by themselves: sim_lane_take takes them, and
 * sim_lane_pass those that go further. Others, and segments, still come at their time, and what is
 * before them; so do all datagrams for the end where packets wait in a list. What has arrived when
 * this ends comes at once. */
void sim_lane_collect(struct sim_lane *lane, bool is_collected);
/* The next packet that has arrived, to be delivered by whoever collects; NULL: there is none. */
struct sim_packet *sim_lane_take(struct sim_lane *lane);
/* What will be looked at when the next packet is taken, or offered. */
void sim_lane_near(const struct sim_lane *lane, struct gmc_near *near);
/* Fetches the same of the lane itself into the processor's cache. */
void sim_lane_fetch(const struct sim_lane *lane);
/* Fetches the first ones into the processor's cache. */
void sim_lane_warm(const struct sim_lane *lane);
/* When the next one arrives that can be taken; NEVER: none is on the way. */
gmc_time sim_lane_expected(const struct sim_lane *lane);
/* The packet that goes further and arrives at lane->passes_at, which is not NEVER: delivered, to be
 * passed on by whoever collects. */
struct sim_packet *sim_lane_pass(struct sim_lane *lane);
/* Fetches the first ones of these into the processor's cache. */
void sim_lane_warm_transit(const struct sim_lane *lane);

/* The loss trace begins now. */
void sim_lane_restart_trace(struct sim_lane *lane);

/* Bytes on the way, counted packet by packet. */
uint64_t sim_lane_held_bytes(const struct sim_lane *lane);
/* Time until a packet offered now would begin to be sent (if CoDel drops nothing before it). */
gmc_duration sim_lane_backlog(const struct sim_lane *lane);
/* Whether the counters add up. */
bool sim_lane_is_balanced(const struct sim_lane *lane);

#endif
