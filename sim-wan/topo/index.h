/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes of a topology by name, for who looks up many. */
#ifndef SIM_TOPO_INDEX_H
#define SIM_TOPO_INDEX_H

#include "sim-wan/topo/topo.h"

struct sim_topo_entry {
    const char *name;
    uint32_t node;
};

struct sim_topo_index {
    struct sim_topo_entry *entries; /* by name */
    size_t count;
};

/* Of the nodes that there are now; borrows their names. */
void sim_topo_index_init(struct sim_topo_index *index, const struct sim_topo *topo);
void sim_topo_index_fini(struct sim_topo_index *index);
/* UINT32_MAX: none. */
uint32_t sim_topo_index_find(const struct sim_topo_index *index, const char *name);

#endif
