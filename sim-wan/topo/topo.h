/* SPDX-License-Identifier: BSD-2-Clause */
/* A topology as data: named nodes, perhaps on the map, and the links between them. Readers and
 * generators make it, the simulator and the emulator build hosts and wires from it. */
#ifndef SIM_TOPO_TOPO_H
#define SIM_TOPO_TOPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "sim-wan/wire.h"

#define SIM_TOPO_NODES_MAX 100000u
#define SIM_TOPO_LINKS_MAX 1000000u
#define SIM_TOPO_ERROR_MAX 256u

struct sim_topo_node {
    char *name;                 /* unique; the domain where a gateway stands here */
    bool has_gateway;           /* false: a router, that only passes packets on */
    bool is_placed;             /* the coordinates are known */
    double longitude, latitude; /* degrees */
    int line;                   /* of a file; 0: not known */
};

struct sim_topo_link {
    uint32_t a, b; /* nodes; a != b */
    struct sim_wire_config a_to_b, b_to_a;
    int line; /* as of nodes */
};

/* A loss trace that wires of a topology borrow. */
struct sim_topo_trace {
    char *path;
    struct sim_loss_trace *trace;
};

struct sim_topo {
    struct sim_topo_node *nodes;
    size_t node_count, node_capacity;
    struct sim_topo_link *links;
    size_t link_count, link_capacity;
    struct sim_topo_trace *traces;
    size_t trace_count, trace_capacity;
};

void sim_topo_init(struct sim_topo *topo);
void sim_topo_fini(struct sim_topo *topo);

/* Returns the node's or link's number. The name is copied. */
uint32_t sim_topo_add_node(struct sim_topo *topo, const char *name);
uint32_t sim_topo_add_link(struct sim_topo *topo, uint32_t a, uint32_t b,
                           const struct sim_wire_config *a_to_b,
                           const struct sim_wire_config *b_to_a);
/* By name; UINT32_MAX: none. */
uint32_t sim_topo_find(const struct sim_topo *topo, const char *name);

/* The trace in a file, read on first use and kept as long as the topology. Errors and words (error:
 * SIM_LOSS_TRACE_ERROR_MAX bytes) as of sim_loss_trace_read. */
GMC_NODISCARD gmc_status sim_topo_trace(struct sim_topo *topo, const char *path,
                                        const struct sim_loss_trace **trace, char *error);

/* What all wires of a node carry together, outwards and inwards; 0 where one has no limit. Time
 * grows with the links. */
void sim_topo_rates(const struct sim_topo *topo, uint32_t node, uint64_t *out_bps,
                    uint64_t *in_bps);

/* The parts that no path joins, numbered from 0 by their lowest nodes: part_of[node], an array of
 * node_count. Returns how many there are. */
uint32_t sim_topo_parts(const struct sim_topo *topo, uint32_t *part_of);

/* What no reader may let through: no node, too many, a name that no host may have, two of one name,
 * a link to itself, two links between the same nodes, a part that nothing joins to the rest.
 * GMC_ERR_INVALID with words in error (SIM_TOPO_ERROR_MAX bytes) and the line of the node or link
 * in *line, which may be NULL. */
GMC_NODISCARD gmc_status sim_topo_check(const struct sim_topo *topo, int *line, char *error);

#endif
