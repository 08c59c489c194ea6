/* SPDX-License-Identifier: BSD-2-Clause */
/* Waxman's random maps; see family.h. */
#include <math.h>
#include <stdlib.h>

#include "sim-wan/mem.h"
#include "sim-wan/topo/family_internal.h"

/* Every two of its nodes are looked at. */
#define WAXMAN_NODES_MAX 10000u
#define SIDE_MICRODEGREES 20000000u
#define RADIANS (3.14159265358979323846 / 180)
/* Places as vectors of whole numbers, so that distances are compared exactly. The radius is
 * 2^30: the square of the longest chord stays below 2^63. */
#define RADIUS 1073741824.0

struct place {
    int64_t x, y, z;
};

static void draw_place(struct sim_family *family, struct sim_draft_node *node, struct place *place)
{
    uint64_t east = gmc_prng_below(&family->links, SIDE_MICRODEGREES);
    uint64_t north = gmc_prng_below(&family->links, SIDE_MICRODEGREES);
    node->longitude = ((double)east - SIDE_MICRODEGREES / 2.0) / 1e6;
    node->latitude = ((double)north - SIDE_MICRODEGREES / 2.0) / 1e6;
    node->has_longitude = node->has_latitude = true;
    double longitude = node->longitude * RADIANS, latitude = node->latitude * RADIANS;
    place->x = llround(RADIUS * cos(latitude) * cos(longitude));
    place->y = llround(RADIUS * cos(latitude) * sin(longitude));
    place->z = llround(RADIUS * sin(latitude));
}

static int64_t squared_chord(const struct place *a, const struct place *b)
{
    int64_t x = a->x - b->x, y = a->y - b->y, z = a->z - b->z;
    return x * x + y * y + z * z;
}

/* The great circle in radii of the earth. */
static double distance(int64_t squared)
{
    return 2 * asin(sqrt((double)squared) / (2 * RADIUS));
}

static gmc_status draw_links(struct sim_family *family, const struct place *places)
{
    gmc_status status = GMC_OK;
    uint64_t n = family->size;
    int64_t longest = 1;
    for (uint64_t a = 0; a < n; a++)
        for (uint64_t b = a + 1; b < n; b++)
            if (squared_chord(&places[a], &places[b]) > longest)
                longest = squared_chord(&places[a], &places[b]);
    double scale = distance(longest) * family->alpha;
    for (uint64_t a = 0; a < n; a++)
        for (uint64_t b = a + 1; b < n && status == GMC_OK; b++) {
            double d = distance(squared_chord(&places[a], &places[b]));
            uint32_t ppm = (uint32_t)lround(1e6 * family->beta * exp(-d / scale));
            if (gmc_prng_chance_ppm(&family->links, ppm))
                status = sim_family_join(family, a, b);
        }
    return status;
}

/* ---- parts ---- */
static uint32_t root_of(uint32_t *parents, uint32_t node)
{
    while (parents[node] != node) {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    return node;
}

/* Joins a part to what is nearest to it and not yet joined to it. first is its lowest node, home
 * says for each node which part it was in at first. */
static gmc_status join_part(struct sim_family *family, const struct place *places,
                            uint32_t *parents, const uint32_t *home, uint32_t first)
{
    int64_t best = INT64_MAX;
    uint32_t from = first, to = first;
    for (uint32_t a = first; a < family->size; a++) {
        if (home[a] != first)
            continue;
        for (uint32_t b = 0; b < family->size; b++) {
            int64_t squared = squared_chord(&places[a], &places[b]);
            if (squared < best && root_of(parents, b) != root_of(parents, first)) {
                best = squared;
                from = a;
                to = b;
            }
        }
    }
    parents[root_of(parents, from)] = root_of(parents, to);
    return sim_family_join(family, from, to);
}

/* Each part but the first takes one link, and each of them joins two sets: all are one then. */
static gmc_status join_parts(struct sim_family *family, const struct place *places)
{
    gmc_status status = GMC_OK;
    const struct sim_draft *draft = family->draft;
    uint32_t n = (uint32_t)family->size;
    uint32_t *parents = sim_alloc(n * sizeof(*parents));
    uint32_t *home = sim_alloc(n * sizeof(*home));
    for (uint32_t i = 0; i < n; i++)
        parents[i] = i;
    for (size_t i = 0; i < draft->link_count; i++) {
        uint32_t a = root_of(parents, draft->links[i].a), b = root_of(parents, draft->links[i].b);
        parents[a > b ? a : b] = a < b ? a : b; /* the root is the lowest */
    }
    for (uint32_t i = 0; i < n; i++)
        home[i] = root_of(parents, i);
    for (uint32_t i = 1; i < n && status == GMC_OK; i++)
        if (home[i] == i)
            status = join_part(family, places, parents, home, i);
    free(home);
    free(parents);
    return status;
}

gmc_status sim_family_waxman(struct sim_family *family)
{
    if (family->size > WAXMAN_NODES_MAX)
        return sim_draft_fail(family->draft, 0, "waxman has at most %u nodes", WAXMAN_NODES_MAX);
    gmc_status status = sim_family_add_nodes(family, family->size);
    if (status != GMC_OK)
        return status;
    struct place *places = sim_alloc(family->size * sizeof(*places));
    for (uint64_t i = 0; i < family->size; i++)
        draw_place(family, &family->draft->nodes[i], &places[i]);
    status = draw_links(family, places);
    if (status == GMC_OK)
        status = join_parts(family, places);
    free(places);
    return status;
}
