/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the nodes of a topology are drawn. */
#ifndef SIM_TOPO_LAYOUT_H
#define SIM_TOPO_LAYOUT_H

#include "sim-wan/topo/topo.h"

struct sim_spot {
    double x, y;
};

/* Topologies of which all nodes are placed are maps: x and y are degrees, x shrunk as much as a
 * degree of longitude is at the middle latitude, and cut where no node is, so that what lies across
 * the date line stays together; nodes at one place are moved apart. Others are drawn as rings
 * around a node in the middle, one for each hop, each branch of the tree of shortest ways in a
 * sector as wide as it has leaves. spots is an array of node_count. Returns whether it is a map. */
bool sim_layout(const struct sim_topo *topo, struct sim_spot *spots);

#endif
