/* SPDX-License-Identifier: BSD-2-Clause */
/* Background traffic: sources of packets at hosts, which go over the wires as everything else does
 * and end, counted, at the host that they are for. No gateway sees them. Open-loop sources are
 * UDP; TCP sources (tcp_source.h) send what the path lets them.
 *
 * Sources have one event pending each and random streams of their own: a source more does not move
 * the others.
 */
#ifndef SIM_TRAFFIC_H
#define SIM_TRAFFIC_H

#include <stddef.h>

#include "base/status.h"
#include "sim-wan/net.h"

#define SIM_TRAFFIC_ERROR_MAX 200u
#define SIM_TRAFFIC_SPELL_MIN GMC_US(1)

enum sim_traffic_kind {
    SIM_TRAFFIC_CBR,     /* packets at equal distances */
    SIM_TRAFFIC_POISSON, /* at exponential ones */
    SIM_TRAFFIC_ONOFF,   /* CBR in spells, with pauses; both exponential */
    SIM_TRAFFIC_PARETO,  /* the same, both Pareto: many of these are self-similar (Willinger,
                            Taqqu, Sherman, Wilson: IEEE/ACM ToN 5(1), 1997) */
    SIM_TRAFFIC_CUBIC,   /* TCP that always has something to send */
    SIM_TRAFFIC_BBR,
    SIM_TRAFFIC_KINDS
};

struct sim_traffic_config {
    uint32_t from, to; /* hosts */
    enum sim_traffic_kind kind;
    uint64_t rate_bps;     /* on the wire, heads included; of on/off kinds: while on; of TCP: 0 */
    uint32_t packet_bytes; /* on the wire, heads included: SIM_UDP_OVERHEAD_BYTES + 1 ... 65535 */
    gmc_time start;
    gmc_time stop;               /* no packet at or after it; GMC_TIME_NEVER */
    gmc_duration on, off;        /* on/off kinds: means, SIM_TRAFFIC_SPELL_MIN and up */
    uint32_t pareto_shape_milli; /* Pareto only: thousandths, 1001 ... 100000; 1500 is usual */
    enum sim_ecn ecn;            /* of TCP: none */
};

/* Of TCP without acknowledgements. */
struct sim_traffic_counters {
    uint64_t sent_packets, sent_bytes; /* bytes as packet_bytes counts them */
    uint64_t received_packets, received_bytes;
};

struct sim_flow;

struct sim_traffic {
    struct sim_engine *engine;
    struct sim_net *net;
    struct gmc_prng prng;
    struct sim_flow **flows;
    size_t count, capacity;
};

/* Borrows engine and net for life. */
void sim_traffic_init(struct sim_traffic *traffic, struct sim_engine *engine, struct sim_net *net,
                      const struct gmc_prng *prng);
void sim_traffic_fini(struct sim_traffic *traffic);

/* GMC_ERR_LIMIT with words in error (SIM_TRAFFIC_ERROR_MAX bytes) for what sim_traffic_add does
 * not take. */
GMC_NODISCARD gmc_status sim_traffic_check(const struct sim_traffic_config *config, char *error);
/* A checked source between hosts of the net; returns its number, from 0. It starts by itself. */
size_t sim_traffic_add(struct sim_traffic *traffic, const struct sim_traffic_config *config);
const struct sim_traffic_counters *sim_traffic_counters(const struct sim_traffic *traffic,
                                                        size_t flow);
/* A packet of SIM_PROTO_PLAIN reached its host. */
void sim_traffic_arrived(struct sim_traffic *traffic, const struct sim_packet *packet);

#endif
