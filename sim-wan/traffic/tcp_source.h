/* SPDX-License-Identifier: BSD-2-Clause */
/* A TCP in the background that always has something to send: what people share a WAN with.
 *
 * Source  RFC 6298 (time-outs, 200 ms at least); loss: three later packets arrived; an
 *         acknowledgement for each second packet, or after 40 ms, tells all that arrived;
 *         Linux (tcp_output.c, tcp_tso_autosize and tcp_tso_should_defer): packets leave in bursts
 *         of what its rate sends in 1/1024 s, 2 packets at least, and wait up to 1 ms for the
 * window to have room for one. A short queue drops bursts, so they decide about shares there. Exact
 * every transmission has a number of its own, as if what was lost were always known (as SACK and
 * RACK know it); connections are there from the beginning.
 *
 * Both ends live in one struct, as in sim-wan/tcp.h: packets carry only numbers.
 */
#ifndef SIM_TRAFFIC_TCP_SOURCE_H
#define SIM_TRAFFIC_TCP_SOURCE_H

#include "core/cc.h"
#include "sim-wan/traffic/traffic.h"

/* Packets under way: what Linux lets a window grow to unless told otherwise (6 MB). */
#define SIM_TCP_SOURCE_WINDOW 4096u

struct sim_tcp_source_config {
    uint32_t from, to; /* hosts */
    const struct gmc_cc_ops *law;
    bool paced;            /* else the window is its only clock, and the rate for bursts alone */
    uint32_t packet_bytes; /* of a data packet on the wire */
    gmc_time start, stop;  /* sends nothing new at or after stop */
};

struct sim_tcp_source;

/* Packets of the source have this number as their segment's connection. Borrows engine, net and
 * count, in which it counts data, for life. It starts by itself. */
struct sim_tcp_source *sim_tcp_source_new(struct sim_engine *engine, struct sim_net *net,
                                          uint64_t connection,
                                          const struct sim_tcp_source_config *config,
                                          struct sim_traffic_counters *count,
                                          struct gmc_prng *prng);
void sim_tcp_source_free(struct sim_tcp_source *source);
/* One of its packets reached its host: data or an acknowledgement. */
void sim_tcp_source_arrived(struct sim_tcp_source *source, const struct sim_packet *packet);

#endif
