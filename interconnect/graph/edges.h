/* SPDX-License-Identifier: BSD-2-Clause */
/* Graphs as lists of edges, the form that `sim-wan` reads too: a line "A B" for each link, "A" for
 * a node without links; "#" begins a comment. A rate and a delay may follow a link, as in "paris
 * berlin 10Gbit 6ms"; links of an interconnect are all alike, so both are passed over.
 */
#ifndef INTERCONNECT_GRAPH_EDGES_H
#define INTERCONNECT_GRAPH_EDGES_H

#include "interconnect/graph/graph.h"
#include "interconnect/text.h"

#define IC_EDGES_NAME_MAX 253u
#define IC_EDGES_BYTES_MAX 268435456u

struct ic_edges {
    struct ic_graph graph;
    const char **names; /* by node */
    char *bytes;        /* of the names */
};

/* Reads `length` bytes, which are copied. When all names are the numbers 0 to N-1, that is how
 * nodes are numbered, otherwise in the order in which they come. INVALID with words and the line:
 * a name that is not made of letters, digits, '-', '_' and '.', too many words, no link at all,
 * and what a graph refuses. NOMEM. Ends with fini. */
GMC_NODISCARD gmc_status ic_edges_parse(struct ic_edges *edges, const char *text, size_t length,
                                        char *error);
void ic_edges_fini(struct ic_edges *edges);
/* INVALID names a node of more links than `degree`, or two that no way joins. NOMEM. */
GMC_NODISCARD gmc_status ic_edges_check(const struct ic_edges *edges, uint32_t degree, char *error);

/* Adds the graph's links, and its nodes without links, by their names; NULL: by their numbers. */
void ic_edges_format(const struct ic_graph *graph, const char *const *names, struct ic_text *text);

#endif
