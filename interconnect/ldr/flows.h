/* SPDX-License-Identifier: BSD-2-Clause */
/* What packets put on every output of every switch when all senders' links are full: shortest ways,
 * to the lowest port (fixed) or evenly over all ports (any other routing). */
#ifndef INTERCONNECT_LDR_FLOWS_H
#define INTERCONNECT_LDR_FLOWS_H

#include "interconnect/family.h"
#include "interconnect/ldr/ways.h"
#include "interconnect/traffic.h"

/* In loads of a host's link, at full load. Outputs are those where packets of others are in the
 * way: what their links carry each, and that less the sum of squares of what inputs bring over it,
 * which is what others bring, times all flow. */
struct ic_packet_flows {
    double *loads, *weights; /* by output */
    size_t count;
    /* What adaptive routing spares of the wait in all outputs, by power of the load (model.h). */
    double spared[IC_NETWORK_PORTS_MAX];
    struct ic_channel_record fullest;
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
