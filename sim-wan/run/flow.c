/* SPDX-License-Identifier: BSD-2-Clause */
/* Greatest flows; see flow.h. */
#include "sim-wan/run/flow.h"

#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"

#define NO_ARC UINT32_MAX

struct sim_flow_arc {
    uint32_t tail;
    uint64_t capacity;
    uint64_t left; /* that the flow has not used */
};

void sim_flow_init(struct sim_flow *flow, uint32_t nodes)
{
    *flow = (struct sim_flow){.node_count = nodes};
    flow->first = sim_calloc(nodes + 1, sizeof(*flow->first));
    flow->level = sim_calloc(nodes, sizeof(*flow->level));
    flow->next = sim_calloc(nodes, sizeof(*flow->next));
    flow->came_by = sim_calloc(nodes, sizeof(*flow->came_by));
    flow->queue = sim_calloc(nodes, sizeof(*flow->queue));
}

void sim_flow_fini(struct sim_flow *flow)
{
    free(flow->arcs);
    free(flow->first);
    free(flow->by_tail);
    free(flow->level);
    free(flow->next);
    free(flow->came_by);
    free(flow->queue);
}

static void add_arc(struct sim_flow *flow, uint32_t tail, uint64_t capacity)
{
    flow->arcs = sim_reserve(flow->arcs, flow->arc_count, &flow->arc_capacity, sizeof(*flow->arcs));
    flow->arcs[flow->arc_count++] = (struct sim_flow_arc){.tail = tail, .capacity = capacity};
}

uint32_t sim_flow_add(struct sim_flow *flow, uint32_t from, uint32_t to, uint64_t there,
                      uint64_t back)
{
    uint32_t arc = (uint32_t)flow->arc_count;
    add_arc(flow, from, there);
    add_arc(flow, to, back);
    return arc;
}

void sim_flow_set(struct sim_flow *flow, uint32_t arc, uint64_t capacity)
{
    flow->arcs[arc].capacity = capacity;
}

static void sort_arcs(struct sim_flow *flow)
{
    flow->by_tail = sim_calloc(flow->arc_count, sizeof(*flow->by_tail));
    for (size_t arc = 0; arc < flow->arc_count; arc++)
        flow->first[flow->arcs[arc].tail + 1]++;
    for (size_t i = 0; i < flow->node_count; i++)
        flow->first[i + 1] += flow->first[i];
    memcpy(flow->next, flow->first, flow->node_count * sizeof(*flow->next));
    for (uint32_t arc = 0; arc < flow->arc_count; arc++)
        flow->by_tail[flow->next[flow->arcs[arc].tail]++] = arc;
}

static uint32_t head_of(const struct sim_flow *flow, uint32_t arc)
{
    return flow->arcs[arc ^ 1].tail;
}

/* How many arcs on which something is left it takes to each node; whether one way leads to `to`. */
static bool search(struct sim_flow *flow, uint32_t from, uint32_t to)
{
    size_t head = 0, tail = 0;
    memset(flow->level, 0xff, flow->node_count * sizeof(*flow->level));
    flow->level[from] = 0;
    flow->queue[tail++] = from;
    while (head < tail && flow->level[to] == NO_ARC) {
        uint32_t node = flow->queue[head++];
        for (uint32_t i = flow->first[node]; i < flow->first[node + 1]; i++) {
            uint32_t arc = flow->by_tail[i], next = head_of(flow, arc);
            if (flow->arcs[arc].left == 0 || flow->level[next] != NO_ARC)
                continue;
            flow->level[next] = flow->level[node] + 1;
            flow->queue[tail++] = next;
        }
    }
    return flow->level[to] != NO_ARC;
}

/* Sends what the path that was found can take. */
static uint64_t push(struct sim_flow *flow, uint32_t from, uint32_t to)
{
    uint64_t amount = SIM_FLOW_UNBOUNDED;
    for (uint32_t node = to; node != from; node = flow->arcs[flow->came_by[node]].tail) {
        uint64_t left = flow->arcs[flow->came_by[node]].left;
        amount = left < amount ? left : amount;
    }
    for (uint32_t node = to; node != from; node = flow->arcs[flow->came_by[node]].tail) {
        uint32_t arc = flow->came_by[node];
        flow->arcs[arc].left -= amount;
        flow->arcs[arc ^ 1].left += amount;
    }
    return amount;
}

/* An arc by which a shortest path may go on; NO_ARC: none. */
static uint32_t step(struct sim_flow *flow, uint32_t node)
{
    for (uint32_t *i = &flow->next[node]; *i < flow->first[node + 1]; ++*i) {
        uint32_t arc = flow->by_tail[*i];
        if (flow->arcs[arc].left > 0 && flow->level[head_of(flow, arc)] == flow->level[node] + 1)
            return arc;
    }
    return NO_ARC;
}

/* Fills the shortest paths, until each of them is full or `enough` has gone. */
static uint64_t fill(struct sim_flow *flow, uint32_t from, uint32_t to, uint64_t enough)
{
    uint64_t sent = 0;
    uint32_t node = from;
    memcpy(flow->next, flow->first, flow->node_count * sizeof(*flow->next));
    while (sent < enough) {
        uint32_t arc = step(flow, node);
        if (arc != NO_ARC) {
            node = head_of(flow, arc);
            flow->came_by[node] = arc;
        } else if (node == from) {
            break;
        } else { /* nothing gets on from here */
            node = flow->arcs[flow->came_by[node]].tail;
            flow->next[node]++;
        }
        if (node == to) {
            sent += push(flow, from, to);
            node = from;
        }
    }
    return sent;
}

/* Dense networks of hundreds of nodes have as many paths between two of them: those of one length
 * are filled in one go. */
uint64_t sim_flow_max(struct sim_flow *flow, uint32_t from, uint32_t to, uint64_t enough)
{
    uint64_t sent = 0;
    if (flow->by_tail == NULL)
        sort_arcs(flow);
    for (size_t arc = 0; arc < flow->arc_count; arc++)
        flow->arcs[arc].left = flow->arcs[arc].capacity;
    while (sent < enough && search(flow, from, to))
        sent += fill(flow, from, to, enough - sent);
    return sent < enough ? sent : enough;
}

bool sim_flow_is_before_cut(const struct sim_flow *flow, uint32_t node)
{
    return flow->level[node] != NO_ARC;
}
