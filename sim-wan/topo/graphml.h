/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader of GraphML (Brandes, Eiglsperger, Herman, Himsolt, Marshall: GraphML progress report,
 * Graph Drawing 2001), with expat: one graph, its nodes and edges, and their data by the names of
 * the keys. Ports, hyperedges and nested graphs are refused; the Zoo has its hyperedges as nodes.
 */
#ifndef SIM_TOPO_GRAPHML_H
#define SIM_TOPO_GRAPHML_H

#include "sim-wan/topo/draft.h"

GMC_NODISCARD gmc_status sim_graphml_read(struct sim_draft *draft, const char *text, size_t len);

#endif
