/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader of GML (Himsolt: GML, a portable graph file format, University of Passau, 1997), as
 * far as maps need it: graph, node, edge and their keys; everything else has to be well-formed and
 * is passed over. */
#ifndef SIM_TOPO_GML_H
#define SIM_TOPO_GML_H

#include "sim-wan/topo/draft.h"

/* The text is changed. */
GMC_NODISCARD gmc_status sim_gml_read(struct sim_draft *draft, char *text);

#endif
