/* SPDX-License-Identifier: BSD-2-Clause */
/* The network: hosts, wires between them, and packets that find their way over several wires on
 * static shortest paths. It carries datagrams and TCP segments alike and knows no gateway.
 *
 * Routes are those of least delay, then fewest hops, then lowest host number; a wire that is down
 * stays on its routes (as a failed circuit does until somebody reroutes). They are computed per
 * destination on first use, so a large topology pays for what it talks to.
 */
#ifndef SIM_NET_H
#define SIM_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/prng.h"
#include "sim-wan/engine.h"
#include "sim-wan/multicast.h"
#include "sim-wan/wire.h"

#define SIM_NO_HOST UINT32_MAX

struct sim_net_host;
struct sim_net_wire;
struct sim_net_approaches;
struct sim_net_access;

/* What the network hands up. Packets are borrowed for the call. */
struct sim_net_sink {
    void *ctx;
    /* True: the packet was taken, and goes back to the pool later. One to a group may not be. */
    bool (*arrived)(void *ctx, uint32_t host, struct sim_packet *packet);
    /* Everything that happens on wires, or drops alone (sim_net_watch_drops_only); may be NULL.
     * wire and direction (0: a to b) say where. */
    void (*watch)(void *ctx, uint32_t wire, int direction, enum sim_wire_news news,
                  enum sim_drop drop, const struct sim_packet *packet);
    /* A host that collects gets a datagram then, and no earlier one; NULL where none does. */
    void (*expect)(void *ctx, uint32_t host, gmc_time when);
};

struct sim_net_counters {
    uint64_t blocked_packets; /* by a firewall that drops UDP */
    uint64_t unroutable_packets;
};

struct sim_net {
    struct sim_engine *engine;
    struct sim_net_sink sink;
    struct sim_wire_sink lanes;
    struct sim_packet_pool pool;
    struct gmc_prng prng;
    struct sim_net_host *hosts;
    size_t host_count, host_capacity;
    struct sim_net_wire **wires; /* each stays where it is: lanes hold events */
    size_t wire_count, wire_capacity;
    uint64_t *blocked; /* sorted pairs between which UDP does not pass */
    size_t blocked_count, blocked_capacity;
    uint16_t **routes; /* by destination: port to take at every host; NULL: not yet computed */
    struct sim_net_access *accesses;       /* with the first route; by destination */
    struct sim_net_approaches *approaches; /* for the search of routes; with the first one */
    struct sim_groups groups;              /* multicast */
    struct sim_net_counters count;
};

void sim_net_init(struct sim_net *net, struct sim_engine *engine, const struct sim_net_sink *sink,
                  const struct gmc_prng *prng);
void sim_net_fini(struct sim_net *net);
/* Which saves time where there are many packets. */
void sim_net_watch_drops_only(struct sim_net *net, bool only_drops);

/* All hosts and wires before the first packet. Returns the number of the host or wire. */
uint32_t sim_net_add_host(struct sim_net *net);
uint32_t sim_net_add_wire(struct sim_net *net, uint32_t a, uint32_t b,
                          const struct sim_wire_config *a_to_b,
                          const struct sim_wire_config *b_to_a);

struct sim_lane *sim_net_lane(struct sim_net *net, uint32_t wire, int direction);
void sim_net_wire_ends(const struct sim_net *net, uint32_t wire, uint32_t *a, uint32_t *b);
/* The wire between two neighbours; UINT32_MAX: none. */
uint32_t sim_net_wire_between(const struct sim_net *net, uint32_t a, uint32_t b);
void sim_net_set_wire_up(struct sim_net *net, uint32_t wire, bool up);
/* Whether a firewall drops UDP between the two, both ways. */
void sim_net_block_udp(struct sim_net *net, uint32_t a, uint32_t b, bool blocked);
bool sim_net_is_udp_blocked(const struct sim_net *net, uint32_t a, uint32_t b);

/* Sends a datagram given in pieces. to: a host, or SIM_TO_GROUP | from: who listens there. */
void sim_net_send_udp(struct sim_net *net, uint32_t from, uint32_t to, enum sim_ecn ecn,
                      const struct gmc_bytes *pieces, size_t piece_count);
/* The same, but of piece gap_in (SIZE_MAX: none) only the first `kept` bytes are carried; the
 * others take their time on the wires, and arrive as a gap of the packet. */
void sim_net_send_virtual(struct sim_net *net, uint32_t from, uint32_t to, enum sim_ecn ecn,
                          const struct gmc_bytes *pieces, size_t piece_count, size_t gap_in,
                          size_t kept);
/* What the host sends from now on arrives at its neighbours as if sent at `when`, or later; see
 * wire.h. */
void sim_net_hold_back(struct sim_net *net, uint32_t host, gmc_time when);
/* A segment to fill in and send; its payload takes wire_bytes more, and is not there. */
struct sim_packet *sim_net_new_segment(struct sim_net *net, uint32_t from, uint32_t to);
/* Takes the packet. */
void sim_net_send(struct sim_net *net, struct sim_packet *packet);

/* Datagrams to the host no longer arrive one by one, but when it asks for those that came; see
 * wire.h. */
void sim_net_collect(struct sim_net *net, uint32_t host, bool collects);
/* All that came arrives. Returns when the next one comes; GMC_TIME_NEVER: none is on the way. */
gmc_time sim_net_take(struct sim_net *net, uint32_t host);
/* What a host that collects will look at to send and to take, and the first packets that it will
 * take. */
void sim_net_near(const struct sim_net *net, uint32_t host, struct gmc_near *near);
void sim_net_warm(const struct sim_net *net, uint32_t host);

/* The largest UDP payload that a wire of the host takes. */
uint32_t sim_net_payload_max(const struct sim_net *net, uint32_t host);

/* Next host on the way to another one; SIM_NO_HOST when there is none. */
uint32_t sim_net_next_hop(struct sim_net *net, uint32_t at, uint32_t to);
/* Sets used[wire * 2 + direction] of all that is on the way from a host that talks (an array of
 * them) to this one. Keeps no routes. */
void sim_net_lanes_to(struct sim_net *net, uint32_t to, const bool *talks, bool *used);
/* Propagation delay of the path; GMC_TIME_NEVER when there is none. */
gmc_duration sim_net_path_delay(struct sim_net *net, uint32_t from, uint32_t to);
/* The largest IP packet that the whole path takes; UINT32_MAX when there is none. */
uint32_t sim_net_path_mtu(struct sim_net *net, uint32_t from, uint32_t to);

/* Whether every wire's counters add up; *wire: the first that does not. */
bool sim_net_is_balanced(const struct sim_net *net, uint32_t *wire);

#endif
