/* SPDX-License-Identifier: BSD-2-Clause */
/* Links by node; see graph.h. */
#include "sim-wan/topo/graph.h"

#include <stdlib.h>

#include "sim-wan/mem.h"

void sim_graph_init(struct sim_graph *graph, const struct sim_topo *topo)
{
    uint32_t n = (uint32_t)topo->node_count;
    graph->node_count = n;
    graph->first = sim_calloc(n + 2, sizeof(*graph->first));
    graph->arcs = sim_alloc(2 * topo->link_count * sizeof(*graph->arcs));
    /* Counted two places on, so that filling in leaves the beginnings where they belong. */
    for (size_t i = 0; i < topo->link_count; i++) {
        graph->first[topo->links[i].a + 2]++;
        graph->first[topo->links[i].b + 2]++;
    }
    for (uint32_t i = 2; i < n + 2; i++)
        graph->first[i] += graph->first[i - 1];
    for (size_t i = 0; i < topo->link_count; i++) {
        const struct sim_topo_link *link = &topo->links[i];
        graph->arcs[graph->first[link->a + 1]++] =
            (struct sim_graph_arc){link->b, link->a_to_b.delay};
        graph->arcs[graph->first[link->b + 1]++] =
            (struct sim_graph_arc){link->a, link->b_to_a.delay};
    }
}

void sim_graph_fini(struct sim_graph *graph)
{
    free(graph->first);
    free(graph->arcs);
}

void sim_graph_hops(const struct sim_graph *graph, uint32_t from, uint32_t *hops, uint32_t *order,
                    uint32_t *parents)
{
    uint32_t head = 0, tail = 0;
    for (uint32_t i = 0; i < graph->node_count; i++)
        hops[i] = UINT32_MAX;
    hops[from] = 0;
    parents[from] = from;
    order[tail++] = from;
    while (head < tail) {
        uint32_t at = order[head++];
        for (uint32_t i = graph->first[at]; i < graph->first[at + 1]; i++) {
            uint32_t to = graph->arcs[i].to;
            if (hops[to] != UINT32_MAX)
                continue;
            hops[to] = hops[at] + 1;
            parents[to] = at;
            order[tail++] = to;
        }
    }
}

/* ---- Dijkstra's ways, with a binary heap that keeps what was superseded ---- */
struct entry {
    gmc_duration delay;
    uint32_t node;
};

struct heap {
    struct entry *entries;
    size_t count;
};

static void push(struct heap *heap, struct entry entry)
{
    size_t at = heap->count++;
    for (; at > 0 && heap->entries[(at - 1) / 2].delay > entry.delay; at = (at - 1) / 2)
        heap->entries[at] = heap->entries[(at - 1) / 2];
    heap->entries[at] = entry;
}

static struct entry pop(struct heap *heap)
{
    struct entry top = heap->entries[0], last = heap->entries[--heap->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < heap->count && heap->entries[child + 1].delay < heap->entries[child].delay)
            child++;
        if (child >= heap->count || heap->entries[child].delay >= last.delay)
            break;
        heap->entries[at] = heap->entries[child];
        at = child;
    }
    heap->entries[at] = last;
    return top;
}

void sim_graph_delays(const struct sim_graph *graph, uint32_t from, gmc_duration *delays)
{
    /* A node is pushed once for each of its arcs, at most. */
    size_t room = graph->first[graph->node_count] + 1;
    struct heap heap = {sim_alloc(room * sizeof(*heap.entries)), 0};
    for (uint32_t i = 0; i < graph->node_count; i++)
        delays[i] = GMC_TIME_NEVER;
    delays[from] = 0;
    push(&heap, (struct entry){0, from});
    while (heap.count > 0) {
        struct entry at = pop(&heap);
        if (at.delay > delays[at.node])
            continue;
        for (uint32_t i = graph->first[at.node]; i < graph->first[at.node + 1]; i++) {
            const struct sim_graph_arc *arc = &graph->arcs[i];
            gmc_duration delay = gmc_time_add(at.delay, arc->delay);
            if (delay < delays[arc->to]) {
                delays[arc->to] = delay;
                push(&heap, (struct entry){delay, arc->to});
            }
        }
    }
    free(heap.entries);
}
