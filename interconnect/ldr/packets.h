/* SPDX-License-Identifier: BSD-2-Clause */
/* The packet simulator: hosts inject packets into a network of switches, event by event.
 *
 * A host's packets wait for its injection link; the NIC needs send_ns for each, pipelined. A switch
 * decides switch_ns after it has a packet (its head or its tail, ldr/timing.h); a packet occupies a
 * link for its serial time. Switches are
 *
 *   output  a packet goes to the queue of its output at once; every output has a queue of its own
 *   input   a packet stays in the queue of its input until it is first there and its output is
 *           free; it asks for one output and waits there, first come, first served
 *
 * Queues have no limit, or buffer_packets for each number of hops at the end of each link
 * (packets_credit.c), which hold back what comes before them; those of hosts have none: beyond
 * saturation they grow, which is said. Adaptive routing takes, among
 * the ports on shortest ways, the one with the least backlog, which is the time until it is free
 * (output) or the packets that wait for it (input); of several a random one.
 *
 * A link is saturated when more comes to it than it can carry, and not by chance: where that cannot
 * be told from what was measured, the run goes on for up to 16 times as long as is asked to be
 * watched, and packets under way decide at the end. Where queues are at inputs, or have bounds,
 * links are never asked for more than they carry; there packets under way must grow nearly as much
 * as time does.
 *
 * A broadcast, when asked for, is one message of some packets at a time from a random host along
 * the tree of ldr/multicast.h, copied in the switches, beside the other traffic; output-buffered
 * direct networks only. A multicast is the same to a random group, anew for each; in a hypercube it
 * goes to all switches of the group's subcube.
 *
 * Times are in ns, counted in ps. Source: Mehta 2005, chapters 5 and 6.
 */
#ifndef INTERCONNECT_LDR_PACKETS_H
#define INTERCONNECT_LDR_PACKETS_H

#include "interconnect/family.h"
#include "interconnect/ldr/routes.h"
#include "interconnect/ldr/timing.h"
#include "interconnect/traffic.h"

enum ic_buffering { IC_OUTPUT_BUFFERED, IC_INPUT_BUFFERED, IC_BUFFERINGS };
enum ic_arrivals { IC_POISSON, IC_DETERMINISTIC, IC_ARRIVALS };

#define IC_PACKETS_LOAD_MAX 0.999
#define IC_PACKETS_MESSAGES 60000u /* where nobody says how many */
#define IC_BROADCAST_PACKETS_MAX 10000u
#define IC_BUFFER_PACKETS_MAX 65535u

struct ic_packets_config {
    const struct ic_routes *routes; /* and their network */
    const struct ic_graph *graph;   /* for broadcasts; else NULL */
    struct ic_packet_timing timing;
    enum ic_switching switching;
    enum ic_packet_routing routing;
    enum ic_buffering buffering;
    enum ic_arrivals arrivals;
    struct ic_traffic traffic;
    double load;                /* of each injection link, above 0 to LOAD_MAX */
    uint32_t broadcast_packets; /* 0: no broadcasts */
    uint32_t broadcast_hosts;   /* that it goes to, the root among them; 0: all */
    uint32_t cube_dimensions;   /* of a hypercube, for its subcubes; else 0 */
    uint32_t buffer_packets;    /* of a virtual channel of a link; 0: no bound */
};

struct ic_packets_result {
    double latency;    /* mean, ns, from a packet's creation */
    double network;    /* mean, ns, from its entry into the injection link */
    double broadcast;  /* mean, ns, from creation to the last packet at its last host */
    double mean_hops;  /* between switches */
    double throughput; /* load of injection links that is delivered */
    uint64_t events;   /* packets at switches, in all phases */
    uint64_t warmup;   /* packets before those measured */
    bool is_saturated;
};

/* INVALID names what is out of range. */
GMC_NODISCARD gmc_status ic_packets_check(const struct ic_packets_config *config, char *error);

/* INVALID with words; NOMEM; STATE: ended by on_progress. */
GMC_NODISCARD gmc_status ic_packets_simulate(const struct ic_packets_config *config,
                                             const struct ic_run *run,
                                             struct ic_packets_result *result, char *error);

#endif
