/* SPDX-License-Identifier: BSD-2-Clause */
/* The topology as a picture: the ground on which other things are drawn. */
#ifndef SIM_PLOT_MAP_H
#define SIM_PLOT_MAP_H

#include "sim-wan/plot/plot.h"
#include "sim-wan/topo/layout.h"
#include "sim-wan/topo/topo.h"

/* Writes the nodes and links as data blocks "links", "routers" and "gateways" of the plot, and the
 * settings of a picture without axes. The caller ends it with a plot command that has
 * sim_map_layers among its layers. */
void sim_map_begin(struct sim_plot *plot, const struct sim_topo *topo,
                   const struct sim_spot *spots);
/* Layers of a plot command, without "plot" and without a comma at the end. */
void sim_map_layers(struct sim_plot *plot, const struct sim_topo *topo);

/* A picture of the topology alone: PREFIX-map. */
GMC_NODISCARD gmc_status sim_map_draw(const char *prefix, const char *title,
                                      const struct sim_topo *topo, char *error);

#endif
