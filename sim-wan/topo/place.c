/* SPDX-License-Identifier: BSD-2-Clause */
/* Delays from places; see place.h. */
#include "sim-wan/topo/place.h"

#include <math.h>
#include <stdlib.h>

#include "sim-wan/mem.h"

#define EARTH_RADIUS_KM 6371.0088
#define FIBRE_KM_PER_US (299792.458e-6 * 2 / 3)
#define RADIANS (3.14159265358979323846 / 180)
/* Places of estimated nodes are rounded as the Zoo's are: to about a metre. */
#define DEGREE_STEPS 1e5
/* How far from a known place a node may be, in links, to be put beside it. */
#define ESTIMATE_STEPS 8

gmc_duration sim_place_delay(const struct sim_topo_node *a, const struct sim_topo_node *b)
{
    double up = sin((b->latitude - a->latitude) * RADIANS / 2);
    double across = sin((b->longitude - a->longitude) * RADIANS / 2);
    double h = up * up + cos(a->latitude * RADIANS) * cos(b->latitude * RADIANS) * across * across;
    double km = 2 * EARTH_RADIUS_KM * asin(sqrt(h < 1 ? h : 1));
    return gmc_time_max(GMC_US(llround(km / FIBRE_KM_PER_US)), SIM_PLACE_DELAY_MIN);
}

/* The sum of neighbours' places, as vectors from the middle of the earth: longitudes cannot be
 * averaged across the date line. */
struct vector {
    double x, y, z;
};

static void add_place(struct vector *sum, const struct sim_topo_node *node)
{
    double longitude = node->longitude * RADIANS, latitude = node->latitude * RADIANS;
    sum->x += cos(latitude) * cos(longitude);
    sum->y += cos(latitude) * sin(longitude);
    sum->z += sin(latitude);
}

static double round_degrees(double radians)
{
    return round(radians / RADIANS * DEGREE_STEPS) / DEGREE_STEPS;
}

static bool place_at(struct sim_topo_node *node, const struct vector *sum)
{
    double flat = sqrt(sum->x * sum->x + sum->y * sum->y);
    if (flat < 1e-6 && fabs(sum->z) < 1e-6)
        return false; /* no neighbour, or they are all around the globe */
    node->longitude = round_degrees(atan2(sum->y, sum->x));
    node->latitude = round_degrees(atan2(sum->z, flat));
    node->is_placed = true;
    return true;
}

/* One step from those that are placed now. */
static uint32_t estimate_step(struct sim_topo *topo, struct vector *sums)
{
    uint32_t placed = 0;
    for (size_t i = 0; i < topo->node_count; i++)
        sums[i] = (struct vector){0};
    for (size_t i = 0; i < topo->link_count; i++) {
        const struct sim_topo_link *link = &topo->links[i];
        if (topo->nodes[link->a].is_placed)
            add_place(&sums[link->b], &topo->nodes[link->a]);
        if (topo->nodes[link->b].is_placed)
            add_place(&sums[link->a], &topo->nodes[link->b]);
    }
    for (size_t i = 0; i < topo->node_count; i++)
        if (!topo->nodes[i].is_placed && place_at(&topo->nodes[i], &sums[i]))
            placed++;
    return placed;
}

uint32_t sim_place_estimate(struct sim_topo *topo, uint32_t *unplaced)
{
    struct vector *sums = sim_alloc(topo->node_count * sizeof(*sums));
    uint32_t all = 0, step = 1;
    for (int i = 0; i < ESTIMATE_STEPS && step > 0; i++) {
        step = estimate_step(topo, sums);
        all += step;
    }
    free(sums);
    *unplaced = 0;
    for (size_t i = 0; i < topo->node_count; i++)
        *unplaced += !topo->nodes[i].is_placed;
    return all;
}
