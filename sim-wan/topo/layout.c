/* SPDX-License-Identifier: BSD-2-Clause */
/* Where nodes are drawn; see layout.h. */
#include "sim-wan/topo/layout.h"

#include <math.h>
#include <stdlib.h>

#include "sim-wan/mem.h"
#include "sim-wan/topo/graph.h"

#define TURN (2 * 3.14159265358979323846)
#define GOLDEN_ANGLE (TURN * 0.38196601125010515)

/* ---- nodes at one spot ---- */
struct ranked {
    struct sim_spot spot;
    uint32_t node;
};

static int by_spot(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->spot.x != b->spot.x)
        return a->spot.x < b->spot.x ? -1 : 1;
    if (a->spot.y != b->spot.y)
        return a->spot.y < b->spot.y ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* Nodes that would cover an earlier one go onto a spiral around it (Vogel's, Mathematical
 * Biosciences 44, 1979, which fills a disc evenly). */
static void spread(struct sim_spot *spots, size_t count)
{
    struct ranked *list = sim_alloc(count * sizeof(*list));
    struct sim_spot low = spots[0], high = spots[0];
    for (uint32_t i = 0; i < count; i++) {
        list[i] = (struct ranked){spots[i], i};
        low = (struct sim_spot){fmin(low.x, spots[i].x), fmin(low.y, spots[i].y)};
        high = (struct sim_spot){fmax(high.x, spots[i].x), fmax(high.y, spots[i].y)};
    }
    double step = 0.02 * fmax(fmax(high.x - low.x, high.y - low.y), 0.01);
    qsort(list, count, sizeof(*list), by_spot);
    for (size_t i = 1, first = 0; i < count; i++) {
        if (list[i].spot.x != list[first].spot.x || list[i].spot.y != list[first].spot.y)
            first = i;
        double k = (double)(i - first);
        spots[list[i].node].x += step * sqrt(k) * cos(k * GOLDEN_ANGLE);
        spots[list[i].node].y += step * sqrt(k) * sin(k * GOLDEN_ANGLE);
    }
    free(list);
}

/* ---- maps ---- */
static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The longitude east of the widest gap between nodes: where the map begins. */
static double map_edge(const struct sim_topo *topo)
{
    size_t n = topo->node_count;
    double *longitudes = sim_alloc(n * sizeof(*longitudes));
    for (size_t i = 0; i < n; i++)
        longitudes[i] = topo->nodes[i].longitude;
    qsort(longitudes, n, sizeof(*longitudes), by_value);
    double edge = longitudes[0], widest = longitudes[0] + 360 - longitudes[n - 1];
    for (size_t i = 1; i < n; i++)
        if (longitudes[i] - longitudes[i - 1] > widest) {
            widest = longitudes[i] - longitudes[i - 1];
            edge = longitudes[i];
        }
    free(longitudes);
    return edge;
}

static void lay_out_map(const struct sim_topo *topo, struct sim_spot *spots)
{
    double edge = map_edge(topo), low = 90, high = -90;
    for (size_t i = 0; i < topo->node_count; i++) {
        low = fmin(low, topo->nodes[i].latitude);
        high = fmax(high, topo->nodes[i].latitude);
    }
    double shrink = fmax(cos((low + high) / 2 / 360 * TURN), 0.1);
    for (size_t i = 0; i < topo->node_count; i++) {
        double longitude = topo->nodes[i].longitude;
        spots[i].x = (longitude < edge ? longitude + 360 : longitude) * shrink;
        spots[i].y = topo->nodes[i].latitude;
    }
    spread(spots, topo->node_count);
}

/* ---- rings ---- */
/* The middle of the longest of the shortest ways, as two sweeps find it. */
static uint32_t middle_node(const struct sim_graph *graph, uint32_t *hops, uint32_t *order,
                            uint32_t *parents)
{
    uint32_t last = graph->node_count - 1;
    sim_graph_hops(graph, 0, hops, order, parents);
    sim_graph_hops(graph, order[last], hops, order, parents);
    uint32_t at = order[last];
    for (uint32_t up = hops[at] / 2; up > 0; up--)
        at = parents[at];
    return at;
}

static void lay_out_rings(const struct sim_topo *topo, struct sim_spot *spots)
{
    struct sim_graph graph;
    uint32_t n = (uint32_t)topo->node_count;
    uint32_t *hops = sim_alloc(n * sizeof(*hops)), *order = sim_alloc(n * sizeof(*order));
    uint32_t *parents = sim_alloc(n * sizeof(*parents)), *leaves = sim_calloc(n, sizeof(*leaves));
    double *from = sim_calloc(n, sizeof(*from)); /* where the free part of a sector begins */
    sim_graph_init(&graph, topo);
    uint32_t middle = middle_node(&graph, hops, order, parents);
    sim_graph_hops(&graph, middle, hops, order, parents);
    for (uint32_t i = n; i-- > 0;) {
        uint32_t node = order[i];
        leaves[node] += leaves[node] == 0;
        if (node != middle)
            leaves[parents[node]] += leaves[node];
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = order[i];
        double share = TURN * leaves[node] / leaves[middle];
        if (node != middle) {
            from[node] = from[parents[node]];
            from[parents[node]] += share;
        }
        double angle = TURN / 4 - from[node] - share / 2;
        spots[node].x = hops[node] * cos(angle);
        spots[node].y = hops[node] * sin(angle);
    }
    sim_graph_fini(&graph);
    free(hops);
    free(order);
    free(parents);
    free(leaves);
    free(from);
}

bool sim_layout(const struct sim_topo *topo, struct sim_spot *spots)
{
    bool is_map = topo->node_count > 1;
    for (size_t i = 0; i < topo->node_count; i++)
        is_map = is_map && topo->nodes[i].is_placed;
    if (is_map)
        lay_out_map(topo, spots);
    else
        lay_out_rings(topo, spots);
    return is_map;
}
