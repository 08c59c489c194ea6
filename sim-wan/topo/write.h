/* SPDX-License-Identifier: BSD-2-Clause */
/* Topologies as text: our own format, which sim_topo_read takes back, and Graphviz. */
#ifndef SIM_TOPO_WRITE_H
#define SIM_TOPO_WRITE_H

#include <stdio.h>

#include "sim-wan/topo/topo.h"

/* All of it; loss traces stay the files that they are. */
void sim_topo_write_conf(const struct sim_topo *topo, FILE *out);

/* An undirected graph for neato -n (places are in points) or, without places, any other program of
 * Graphviz. */
void sim_topo_write_dot(const struct sim_topo *topo, FILE *out);

#endif
