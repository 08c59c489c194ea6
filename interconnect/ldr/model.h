/* SPDX-License-Identifier: BSD-2-Clause */
/* The mean latency of packets with output buffers, as a sum of waits.
 *
 *   flows    every host's packets follow the shortest ways, split as the routing does: fixed to the
 *            lowest port, otherwise evenly over the ports of every switch (adaptive too)
 *   waits    an output of load r whose inputs bring r_1 + r_2 + ... = r makes a packet wait
 *                (r - sum r_i^2 / r) / (2 (1 - r))   serial times:
 *            packets of one input come one after the other and do not wait for each other. For N
 *            equal inputs that is ((N-1)/N) r / (2 (1 - r)): Karol, Hluchyj, Morgan, Input Versus
 *            Output Queueing on a Space-Division Packet Switch, IEEE Trans. Comm. 35(12), 1987
 *   choice   adaptive routing among k ports waits only where all of them are taken: r^(k-1) of it,
 *            so that of the sum over outputs
 *                (1 - r^(k-1)) / (1 - r) = 1 + r + ... + r^(k-2)
 *            is spared: a polynomial in the load of hosts, the same for a whole curve
 *   source   r / (2 (1 - r)) serial times for Poisson arrivals (M/D/1), none for deterministic ones
 *
 * The rest is the latency at zero load (ldr/timing.h). It saturates with the most loaded link.
 * The composition is ours; tests/unit/test_ic_packets.c holds it to the simulator.
 */
#ifndef INTERCONNECT_LDR_MODEL_H
#define INTERCONNECT_LDR_MODEL_H

#include "interconnect/ldr/flows.h"
#include "interconnect/ldr/packets.h"

struct ic_packets_model {
    double latency, network; /* ns, with and without the wait in the source; not if saturated */
    double zero_load;        /* ns */
    double mean_hops;        /* between switches, of this traffic */
    double saturation;       /* load of a host's link at which the first link is full, at most 1 */
    struct ic_channel_record fullest; /* its load at the given one */
    bool is_saturated;
};

/* Of flows of the same network, routing and traffic (fixed, or one of the others: their flows are
 * the same), at the configuration's load. Buffers and broadcasts are not looked at. INVALID. */
GMC_NODISCARD gmc_status ic_packet_flows_model(const struct ic_packet_flows *flows,
                                               const struct ic_packets_config *config,
                                               struct ic_packets_model *model, char *error);
/* Both in one. INVALID, NOMEM. */
GMC_NODISCARD gmc_status ic_packets_model(const struct ic_packets_config *config,
                                          struct ic_packets_model *model, char *error);

#endif
