/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader of plain lists of edges: a line for each link, "A B", "A B RATE" or "A B RATE DELAY",
 * as in "paris berlin 10Gbit 6ms". A name alone is a node without links. "#" begins a comment. */
#ifndef SIM_TOPO_EDGES_H
#define SIM_TOPO_EDGES_H

#include "sim-wan/topo/draft.h"

/* The text is changed. */
GMC_NODISCARD gmc_status sim_edges_read(struct sim_draft *draft, char *text);

#endif
