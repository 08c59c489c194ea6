/* SPDX-License-Identifier: BSD-2-Clause */
/* Making graphs, and searching them. */
#include "interconnect/graph/graph.h"

#include <stdlib.h>
#include <string.h>

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static gmc_status check_links(uint64_t nodes, const struct ic_graph_link *links, size_t count,
                              char *error)
{
    gmc_status status = ic_check_range("the number of nodes", nodes, 2, IC_GRAPH_NODES_MAX, error);
    if (status == GMC_OK)
        status = ic_check_range("the number of links", count, 0, IC_GRAPH_LINKS_MAX, error);
    for (size_t i = 0; i < count && status == GMC_OK; i++) {
        uint32_t a = links[i].a, b = links[i].b;
        if (a >= nodes || b >= nodes)
            status = ic_refuse(error, "a link joins %u and %u; nodes are 0 to %u", a, b,
                               (uint32_t)nodes - 1);
        else if (a == b)
            status = ic_refuse(error, "a link joins node %u to itself", a);
    }
    return status;
}

static void fill(struct ic_graph *graph, const struct ic_graph_link *links, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        graph->first[links[i].a + 1]++;
        graph->first[links[i].b + 1]++;
    }
    for (uint32_t i = 0; i < graph->nodes; i++)
        graph->first[i + 1] += graph->first[i];
    for (size_t i = 0; i < count; i++) {
        graph->neighbours[graph->first[links[i].a]++] = links[i].b;
        graph->neighbours[graph->first[links[i].b]++] = links[i].a;
    }
    memmove(graph->first + 1, graph->first, graph->nodes * sizeof(*graph->first));
    graph->first[0] = 0;
    for (uint32_t i = 0; i < graph->nodes; i++)
        qsort(graph->neighbours + graph->first[i], ic_graph_degree(graph, i),
              sizeof(*graph->neighbours), by_number);
}

static gmc_status check_double(const struct ic_graph *graph, char *error)
{
    for (uint32_t i = 0; i < graph->nodes; i++)
        for (uint32_t j = graph->first[i] + 1; j < graph->first[i + 1]; j++)
            if (graph->neighbours[j] == graph->neighbours[j - 1])
                return ic_refuse(error, "nodes %u and %u are joined twice", i,
                                 graph->neighbours[j]);
    return GMC_OK;
}

gmc_status ic_graph_init(struct ic_graph *graph, uint64_t nodes, const struct ic_graph_link *links,
                         size_t count, char *error)
{
    gmc_status status = check_links(nodes, links, count, error);
    if (status != GMC_OK)
        return status;
    *graph = (struct ic_graph){
        .nodes = (uint32_t)nodes,
        .links = count,
        .first = calloc((size_t)nodes + 2, sizeof(*graph->first)),
        .neighbours = calloc(2 * count + 1, sizeof(*graph->neighbours)),
    };
    if (graph->first == NULL || graph->neighbours == NULL)
        status = GMC_ERR_NOMEM;
    if (status == GMC_OK) {
        fill(graph, links, count);
        status = check_double(graph, error);
    }
    if (status != GMC_OK)
        ic_graph_fini(graph);
    return status;
}

void ic_graph_fini(struct ic_graph *graph)
{
    free(graph->first);
    free(graph->neighbours);
    *graph = (struct ic_graph){0};
}

gmc_status ic_graph_copy(const struct ic_graph *graph, struct ic_graph *copy)
{
    size_t starts = ((size_t)graph->nodes + 1) * sizeof(*copy->first);
    size_t ends = 2 * graph->links * sizeof(*copy->neighbours);
    *copy = (struct ic_graph){.nodes = graph->nodes,
                              .links = graph->links,
                              .first = malloc(starts),
                              .neighbours = malloc(ends + 1)};
    if (copy->first == NULL || copy->neighbours == NULL) {
        ic_graph_fini(copy);
        return GMC_ERR_NOMEM;
    }
    memcpy(copy->first, graph->first, starts);
    memcpy(copy->neighbours, graph->neighbours, ends);
    return GMC_OK;
}

gmc_status ic_graph_hypercube(struct ic_graph *graph, uint64_t dimensions, char *error)
{
    gmc_status status = ic_check_range("n, dimensions of the hypercube,", dimensions, 1, 16, error);
    if (status != GMC_OK)
        return status;
    uint32_t nodes = 1u << dimensions;
    size_t count = 0;
    struct ic_graph_link *links = calloc((size_t)nodes / 2 * (size_t)dimensions, sizeof(*links));
    if (links == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t i = 0; i < nodes; i++)
        for (uint32_t bit = 1; bit < nodes; bit <<= 1)
            if ((i & bit) == 0)
                links[count++] = (struct ic_graph_link){i, i | bit};
    status = ic_graph_init(graph, nodes, links, count, error);
    free(links);
    return status;
}

void ic_graph_degrees(const struct ic_graph *graph, uint32_t *least, uint32_t *most)
{
    *least = graph->nodes > 0 ? UINT32_MAX : 0;
    *most = 0;
    for (uint32_t i = 0; i < graph->nodes; i++) {
        uint32_t degree = ic_graph_degree(graph, i);
        *least = degree < *least ? degree : *least;
        *most = degree > *most ? degree : *most;
    }
}

uint32_t ic_graph_port(const struct ic_graph *graph, uint32_t from, uint32_t to)
{
    const uint32_t *ports = graph->neighbours + graph->first[from];
    const uint32_t *found =
        bsearch(&to, ports, ic_graph_degree(graph, from), sizeof(*ports), by_number);
    return found != NULL ? (uint32_t)(found - ports) : IC_GRAPH_NONE;
}

uint32_t ic_graph_search(const struct ic_graph *graph, uint32_t from, uint32_t *hops,
                         uint32_t *parents, uint32_t *order)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < graph->nodes; i++)
        hops[i] = IC_GRAPH_NONE;
    hops[from] = 0;
    if (parents != NULL)
        parents[from] = from;
    order[found++] = from;
    for (uint32_t i = 0; i < found; i++) {
        uint32_t node = order[i];
        for (uint32_t j = graph->first[node]; j < graph->first[node + 1]; j++) {
            uint32_t next = graph->neighbours[j];
            if (hops[next] != IC_GRAPH_NONE)
                continue;
            hops[next] = hops[node] + 1;
            if (parents != NULL)
                parents[next] = node;
            order[found++] = next;
        }
    }
    return found;
}
