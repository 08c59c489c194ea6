/* SPDX-License-Identifier: BSD-2-Clause */
/* Delays from places on the map. */
#ifndef SIM_TOPO_PLACE_H
#define SIM_TOPO_PLACE_H

#include "base/time.h"
#include "sim-wan/topo/topo.h"

/* No fibre is shorter: 20 km, for places at the two ends of one town. */
#define SIM_PLACE_DELAY_MIN GMC_US(100)

/* The great circle's propagation delay at two thirds of the speed of light, as in glass, rounded
 * to microseconds (so that the last bits of libm decide nothing), at least SIM_PLACE_DELAY_MIN.
 * Both nodes are placed.
 *
 *   haversine: Sinnott, Virtues of the Haversine, Sky and Telescope 68(2), 1984
 *   mean radius 6371.0088 km: Moritz, Geodetic Reference System 1980, J. Geodesy 74, 2000
 */
gmc_duration sim_place_delay(const struct sim_topo_node *a, const struct sim_topo_node *b);

/* Puts nodes without a place amid their placed neighbours, and those beside these next, a few
 * steps far; *unplaced is what then has none. Returns how many were placed. */
uint32_t sim_place_estimate(struct sim_topo *topo, uint32_t *unplaced);

#endif
