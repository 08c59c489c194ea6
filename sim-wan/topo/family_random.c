/* SPDX-License-Identifier: BSD-2-Clause */
/* Families in which links are drawn by numbers alone; see family.h. */
#include <stdlib.h>

#include "base/assert.h"
#include "base/map.h"
#include "sim-wan/mem.h"
#include "sim-wan/topo/family_internal.h"

/* Notes the pair; false when it was there before. */
static bool note_pair(struct gmc_map *pairs, uint64_t a, uint64_t b)
{
    uint64_t key = a < b ? a << 32 | b : b << 32 | a;
    if (gmc_map_get(pairs, key) != NULL)
        return false;
    gmc_status status = gmc_map_put(pairs, key, pairs);
    GMC_ASSERT(status == GMC_OK); /* reserved before */
    return true;
}

static gmc_status add_tree(struct sim_family *family, struct gmc_map *pairs)
{
    gmc_status status = GMC_OK;
    for (uint64_t i = 1; i < family->size && status == GMC_OK; i++) {
        uint64_t parent = gmc_prng_below(&family->links, i);
        note_pair(pairs, parent, i);
        status = sim_family_join(family, parent, i);
    }
    return status;
}

/* Pairs that are joined already are drawn again. There are enough others. */
static gmc_status add_extra(struct sim_family *family, struct gmc_map *pairs)
{
    gmc_status status = GMC_OK;
    for (uint64_t left = family->extra; left > 0 && status == GMC_OK;) {
        uint64_t a = gmc_prng_below(&family->links, family->size);
        uint64_t b = gmc_prng_below(&family->links, family->size);
        if (a == b || !note_pair(pairs, a, b))
            continue;
        left--;
        status = sim_family_join(family, a, b);
    }
    return status;
}

gmc_status sim_family_random(struct sim_family *family)
{
    uint64_t n = family->size;
    struct gmc_map pairs;
    if (!family->has_extra)
        family->extra = n > 3 ? n / 2 : 0;
    gmc_status status = sim_family_add_nodes(family, n);
    if (status != GMC_OK)
        return status;
    if (family->extra > n * (n - 1) / 2 - (n - 1) || family->extra + n > SIM_TOPO_LINKS_MAX)
        return sim_draft_fail(family->draft, 0, "no room for that many extra links");
    gmc_map_init(&pairs, 0);
    status = gmc_map_reserve(&pairs, (size_t)(n + family->extra));
    if (status == GMC_OK)
        status = add_tree(family, &pairs);
    if (status == GMC_OK)
        status = add_extra(family, &pairs);
    gmc_map_fini(&pairs);
    return status;
}

/* ---- Barabasi and Albert ---- */
/* Every link puts both its ends on the list: a draw from it is proportional to the degree. */
struct ends {
    uint32_t *nodes;
    size_t count;
};

static gmc_status join_and_list(struct sim_family *family, struct ends *ends, uint64_t a,
                                uint64_t b)
{
    ends->nodes[ends->count++] = (uint32_t)a;
    ends->nodes[ends->count++] = (uint32_t)b;
    return sim_family_join(family, a, b);
}

/* m different nodes among those before; taken_by[node] is the last that took it. */
static gmc_status attach(struct sim_family *family, struct ends *ends, uint32_t *taken_by,
                         uint32_t node)
{
    gmc_status status = GMC_OK;
    size_t before = ends->count;
    for (uint64_t left = family->m; left > 0 && status == GMC_OK;) {
        uint32_t to = ends->nodes[gmc_prng_below(&family->links, before)];
        if (taken_by[to] == node)
            continue;
        taken_by[to] = node;
        left--;
        status = join_and_list(family, ends, to, node);
    }
    return status;
}

gmc_status sim_family_ba(struct sim_family *family)
{
    uint64_t n = family->size, m = family->m;
    gmc_status status = sim_family_add_nodes(family, n);
    if (status != GMC_OK)
        return status;
    if (n <= m)
        return sim_draft_fail(family->draft, 0, "ba needs more nodes than m");
    if (m * n > SIM_TOPO_LINKS_MAX)
        return sim_draft_fail(family->draft, 0, "more than %u links", SIM_TOPO_LINKS_MAX);
    struct ends ends = {sim_alloc(2 * m * n * sizeof(*ends.nodes)), 0};
    uint32_t *taken_by = sim_calloc(n, sizeof(*taken_by));
    for (uint64_t a = 0; a <= m && status == GMC_OK; a++)
        for (uint64_t b = a + 1; b <= m && status == GMC_OK; b++)
            status = join_and_list(family, &ends, a, b);
    for (uint64_t i = m + 1; i < n && status == GMC_OK; i++)
        status = attach(family, &ends, taken_by, (uint32_t)i);
    free(ends.nodes);
    free(taken_by);
    return status;
}
