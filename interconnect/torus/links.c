/* SPDX-License-Identifier: BSD-2-Clause */
/* Routes, and how often they visit which link. */
#include "interconnect/torus/links.h"

#include <stdbool.h>
#include <stdlib.h>

/* The dimension in which two neighbours differ. */
static uint32_t dimension_between(const struct ic_torus *torus, uint32_t a, uint32_t b)
{
    uint32_t dimension = 0;
    while (ic_torus_offset(torus, a, b, dimension) == 0)
        dimension++;
    return dimension;
}

uint32_t ic_torus_step(const struct ic_torus *torus, enum ic_torus_routing routing, uint32_t from,
                       uint32_t to, uint32_t *dimension)
{
    if (routing == IC_TORUS_BY_RANK)
        to = ic_torus_rank_next(torus, from);
    *dimension = dimension_between(torus, from, to);
    return ic_torus_next(torus, from, *dimension);
}

void ic_torus_route(const struct ic_torus *torus, enum ic_torus_routing routing, uint32_t from,
                    uint32_t to, void (*on_hop)(void *ctx, uint32_t node, uint32_t dimension),
                    void *ctx)
{
    while (from != to) {
        uint32_t dimension, next = ic_torus_step(torus, routing, from, to, &dimension);
        on_hop(ctx, from, dimension);
        from = next;
    }
}

struct count {
    const struct ic_torus *torus;
    bool *is_used;
    struct ic_torus_links *links;
};

static void count_hop(void *ctx, uint32_t node, uint32_t dimension)
{
    struct count *count = ctx;
    bool *is_used = &count->is_used[(size_t)node * count->torus->dimensions + dimension];
    count->links->visits++;
    count->links->used += !*is_used;
    *is_used = true;
}

gmc_status ic_torus_measure_links(const struct ic_torus *torus, const struct ic_torus_group *group,
                                  const struct ic_schedule *schedule, enum ic_torus_routing routing,
                                  struct ic_torus_links *links)
{
    struct count count = {torus, calloc((size_t)torus->nodes * torus->dimensions, sizeof(bool)),
                          links};
    *links = (struct ic_torus_links){0};
    if (count.is_used == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < schedule->count; i++)
        ic_torus_route(torus, routing, group->nodes[schedule->sends[i].from],
                       group->nodes[schedule->sends[i].to], count_hop, &count);
    free(count.is_used);
    if (links->used > 0)
        links->concentration = (double)links->visits / (double)links->used;
    return GMC_OK;
}
