/* SPDX-License-Identifier: BSD-2-Clause */
/* Measures of a topology, for people who look at it. */
#ifndef SIM_TOPO_MEASURE_H
#define SIM_TOPO_MEASURE_H

#include "sim-wan/topo/topo.h"

/* The least, the middle (of an even number the upper one) and the greatest. */
struct sim_topo_range {
    uint64_t least, median, greatest;
};

struct sim_topo_measures {
    uint32_t gateways;
    struct sim_topo_range degree;   /* links of a node */
    struct sim_topo_range rate_bps; /* of directions; 0 is no limit */
    struct sim_topo_range delay;    /* of directions, ns */
    uint32_t diameter_hops;         /* the longest of the ways with the fewest links */
    gmc_duration diameter_delay;    /* the longest of the fastest ways */
    /* All nodes were starting points. Otherwise, for large topologies, the diameters are those seen
     * from a few that lie far out: true lower bounds, and exact for trees. */
    bool is_exact;
};

/* Of a topology that sim_topo_check passed. */
void sim_topo_measure(const struct sim_topo *topo, struct sim_topo_measures *measures);

#endif
