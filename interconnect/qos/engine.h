/* SPDX-License-Identifier: BSD-2-Clause */
/* Pipelined wormhole routers with a virtual channel per class, flit by flit and cycle by cycle: one
 * router whose ports all have a node, or an n-cube of routers with a node each and e-cube routing,
 * lowest dimension first.
 *
 * A link carries one flit per cycle. Its scheduler chooses among the classes that have one to send:
 * a flit that has been in the router for its stages, with room behind the link. A class of a link
 * belongs to one message from header to tail; headers are served in the order in which they were
 * ready. What leaves the network is consumed at once. Messages wait at their source in a queue per
 * class; the link into the router is scheduled as others are. A header that meets nobody and M
 * flits need P - 1 + P h + M cycles over h links between routers.
 *
 * A buffer of b flits holds also those that are in the router's stages, as stages are what they
 * move through; of at least P + 1, without which no message would stream.
 *
 * Schedulers, weights being the classes' rates in flits:
 *   virtual clock   a flit for a link is stamped as it comes to the router (at a source: as it can
 *                   go) with max(now, last stamp of its class there) + 1/weight; the smallest
 *                   stamp goes first, best effort when no real-time flit can
 *   fair queueing   the same with the stamp of the flit served last in place of the time, best
 *                   effort with its weight (self-clocked)
 *   weighted round robin, round robin   in turn, as many flits as the weight says, or one
 *
 * Source: Kim, Yum, Das 2005; Zhang 1990 (VirtualClock); Golestani 1994 (self-clocked fair
 * queueing).
 */
#ifndef INTERCONNECT_QOS_ENGINE_H
#define INTERCONNECT_QOS_ENGINE_H

#include "interconnect/qos/model.h"

#define IC_QOS_PORTS_MAX 32u

enum ic_qos_scheduler {
    IC_QOS_VIRTUAL_CLOCK,
    IC_QOS_FAIR_QUEUEING,
    IC_QOS_WEIGHTED_ROUND_ROBIN,
    IC_QOS_ROUND_ROBIN,
};

/* What a class of a link to a node does while its message's next flit has not come. */
enum ic_qos_ejection {
    IC_QOS_EJECTION_YIELD, /* serves another message, as the node tells them apart */
    IC_QOS_EJECTION_HOLD,  /* waits, as links between routers do */
};

struct ic_qos_engine_options {
    const struct ic_qos *qos; /* borrowed while the engine is made; rates are weights here */
    uint32_t ports;           /* of one router, 2..32; of a cube they follow from its dimension */
    enum ic_qos_scheduler scheduler;
    enum ic_qos_ejection ejection;
};

/* A message that was delivered. */
struct ic_qos_message {
    uint64_t number; /* in the order of generation, from 0 */
    uint32_t from, to, traffic_class, hops;
    double created;     /* cycles */
    uint64_t entered;   /* the cycle in which its header entered the first router */
    uint64_t delivered; /* the end of the cycle in which its tail was consumed */
};

struct ic_qos_engine;

/* Options are checked already. NOMEM. */
GMC_NODISCARD gmc_status ic_qos_engine_new(const struct ic_qos_engine_options *options,
                                           struct ic_qos_engine **engine);
void ic_qos_engine_free(struct ic_qos_engine *engine);

/* Nodes that send and receive. */
uint32_t ic_qos_engine_nodes(const struct ic_qos_engine *engine);

/* A message generated at a time that is not after now; from and to differ. NOMEM; FULL: 2^24 are
 * there. */
GMC_NODISCARD gmc_status ic_qos_engine_send(struct ic_qos_engine *engine, uint32_t traffic_class,
                                            uint32_t from, uint32_t to, double created);
/* One cycle. What was delivered in it can be taken until the next. */
void ic_qos_engine_step(struct ic_qos_engine *engine);
/* False: no more. */
bool ic_qos_engine_next(struct ic_qos_engine *engine, struct ic_qos_message *message);

/* The cycle that the next step makes. */
uint64_t ic_qos_engine_now(const struct ic_qos_engine *engine);
/* Nothing is in the network nor at sources: cycles until the next message may be left out. */
bool ic_qos_engine_is_idle(const struct ic_qos_engine *engine);
void ic_qos_engine_skip(struct ic_qos_engine *engine, uint64_t now);

/* Messages of a class that were sent and have not yet entered. */
uint64_t ic_qos_engine_waiting(const struct ic_qos_engine *engine, uint32_t traffic_class);
/* Flits that went over links out of routers. */
uint64_t ic_qos_engine_flit_hops(const struct ic_qos_engine *engine);

/* Links out of routers, then those into them: ends and flits since the last clear. A node's number
 * is that of its router, or of its port. */
struct ic_qos_link_record {
    uint32_t from, to;
    const char *what; /* "link", "injection", "ejection" */
    uint64_t flits;
};
uint32_t ic_qos_engine_links(const struct ic_qos_engine *engine);
void ic_qos_engine_link(const struct ic_qos_engine *engine, uint32_t index,
                        struct ic_qos_link_record *record);
void ic_qos_engine_clear(struct ic_qos_engine *engine);

#endif
