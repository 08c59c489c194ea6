/* SPDX-License-Identifier: BSD-2-Clause */
/* What packets put on every output of every switch when all senders' links are full: shortest ways,
 * to the lowest port (fixed) or evenly over all ports (any other routing). */
#ifndef INTERCONNECT_LDR_FLOWS_H
#define INTERCONNECT_LDR_FLOWS_H

#include "interconnect/ldr/ways.h"
#include "interconnect/traffic.h"

/* At full load: all links that it stands for together, one of them, and that less the sum of
 * squares of what its inputs bring over it: what packets of others bring. */
struct ic_packet_output {
    uint32_t at, to; /* switches; the same: ejection */
    uint32_t ports;  /* between how many a packet chooses, at most */
    double flow, load, others;
    const double *shares; /* of its packets, by the ports they choose from, 1 and more */
};

/* In loads of a host's link. */
struct ic_packet_flows {
    struct ic_packet_output *outputs; /* that carry something */
    size_t count, choice_count;
    double *choices; /* all shares */
    double total, mean_hops;
    double distance; /* mean over pairs of different hosts, whatever the traffic */
    uint32_t diameter;
};

/* The traffic's hosts are the network's. INVALID: nobody sends, not connected; NOMEM. Nothing is
 * borrowed. Ends with free. */
GMC_NODISCARD gmc_status ic_packet_flows_new(struct ic_ways *ways, bool is_fixed,
                                             const struct ic_traffic *traffic,
                                             struct ic_packet_flows **flows, char *error);
void ic_packet_flows_free(struct ic_packet_flows *flows);
/* Of memory. */
size_t ic_packet_flows_bytes(const struct ic_packet_flows *flows);

#endif
