/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of lists of edges: what was read has a name for each node, comes out the same
 * when it is written and read again, and becomes a network of worms when it is connected.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "interconnect/graph/edges.h"
#include "interconnect/updown/network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_graph(const struct ic_graph *graph)
{
    GMC_ASSERT(graph->nodes >= 2 && graph->first[graph->nodes] == 2 * graph->links);
    for (uint32_t i = 0; i < graph->nodes; i++)
        for (uint32_t j = graph->first[i]; j < graph->first[i + 1]; j++)
            GMC_ASSERT(graph->neighbours[j] != i &&
                       ic_graph_port(graph, graph->neighbours[j], i) != IC_GRAPH_NONE);
}

static bool is_same(const struct ic_graph *a, const struct ic_graph *b)
{
    return a->nodes == b->nodes && a->links == b->links &&
           memcmp(a->first, b->first, (a->nodes + 1) * sizeof(*a->first)) == 0 &&
           memcmp(a->neighbours, b->neighbours, 2 * a->links * sizeof(*a->neighbours)) == 0;
}

/* Small ones only, for speed. */
static void check_network(const struct ic_edges *edges)
{
    struct ic_wh_network network;
    char error[IC_ERROR_MAX] = "";
    bool is_fine = ic_edges_check(edges, IC_UPDOWN_PORTS_MAX, error) == GMC_OK;
    GMC_ASSERT(is_fine || error[0] != '\0');
    if (edges->graph.nodes > 100)
        return;
    gmc_status status = ic_updown_network(&edges->graph, IC_UPDOWN_ADAPTIVE, &network, error);
    GMC_ASSERT((status == GMC_OK) == is_fine);
    if (status != GMC_OK)
        return;
    const struct ic_updown *updown = network.ctx;
    GMC_ASSERT(updown->most_hops >= 1 && updown->most_hops < edges->graph.nodes);
    ic_wh_network_fini(&network);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ic_edges edges, again;
    struct ic_text text = {0};
    char error[IC_ERROR_MAX] = "";
    gmc_status status = ic_edges_parse(&edges, (const char *)data, size, error);
    GMC_ASSERT(status == GMC_OK || error[0] != '\0');
    if (status != GMC_OK)
        return 0;
    check_graph(&edges.graph);
    for (uint32_t i = 0; i < edges.graph.nodes; i++)
        GMC_ASSERT(edges.names[i][0] != '\0');
    check_network(&edges);
    ic_edges_format(&edges.graph, NULL, &text);
    status = ic_edges_parse(&again, text.bytes, text.length, error);
    GMC_ASSERT(status == GMC_OK && is_same(&edges.graph, &again.graph));
    ic_edges_fini(&again);
    ic_text_clear(&text);
    /* By names the nodes may come in another order. */
    ic_edges_format(&edges.graph, edges.names, &text);
    status = ic_edges_parse(&again, text.bytes, text.length, error);
    GMC_ASSERT(status == GMC_OK && again.graph.nodes == edges.graph.nodes &&
               again.graph.links == edges.graph.links);
    ic_edges_fini(&again);
    ic_text_fini(&text);
    ic_edges_fini(&edges);
    return 0;
}
