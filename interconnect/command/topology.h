/* SPDX-License-Identifier: BSD-2-Clause */
/* Graphs from files: lists of edges that --topology names beside a family's own networks. */
#ifndef INTERCONNECT_COMMAND_TOPOLOGY_H
#define INTERCONNECT_COMMAND_TOPOLOGY_H

#include "interconnect/family.h"
#include "interconnect/graph/edges.h"

/* A list of edges, which ends with ic_edges_fini; IC_BAD after words with file and line. */
int ic_read_edges(const char *command, const char *file, struct ic_edges *edges);

/* A family with files among the choices of its IC_FAMILY_GRAPHS. */
struct ic_topologies {
    struct ic_family family;
    struct ic_param *params;
    const char **choices; /* the family's own, then files, then NULL */
    size_t own, files;
    char *text;             /* of the files' names */
    struct ic_edges *edges; /* by file */
};

/* Reads what stands in a list "ldr,map.txt,b.txt" beside the family's own words. IC_BAD after
 * words: no such file or word, a list of edges that is wrong, not connected, or with nodes of too
 * many links. Ends with fini in every case. */
int ic_topologies_read(struct ic_topologies *topologies, const char *command,
                       const struct ic_family *family, const char *list);
void ic_topologies_fini(struct ic_topologies *topologies);

#endif
