/* SPDX-License-Identifier: BSD-2-Clause */
/* What the families that take any graph have in common: parameters that name one, or a file's. */
#ifndef INTERCONNECT_LDR_PARAMS_H
#define INTERCONNECT_LDR_PARAMS_H

#include "interconnect/family.h"
#include "interconnect/graph/edges.h"
#include "interconnect/ldr/build.h"

/* Places in a family's parameters, one after the other. */
enum {
    IC_LDR_PARAM_TOPOLOGY,
    IC_LDR_PARAM_NODES,
    IC_LDR_PARAM_DEGREE,
    IC_LDR_PARAM_SAMPLES,
    IC_LDR_PARAM_STEPS,
    IC_LDR_PARAM_SEED,
    IC_LDR_PARAMS
};

/* Rows of a table of parameters; `words` are the topologies that are no files, the first of those
 * of enum ic_ldr_topology. */
/* clang-format off */
#define IC_LDR_PARAM_ROWS(first, words, nodes_unit, nodes_most, degree_most)                       \
    [(first) + IC_LDR_PARAM_TOPOLOGY] = {IC_FAMILY_GRAPHS, "",                                     \
        "network; or the FILE of a list of edges",                                                 \
        IC_CHOICE, 0, 0, IC_LDR_GENERATED, words, IC_BOTH},                                        \
    [(first) + IC_LDR_PARAM_NODES] = {"nodes", nodes_unit, "all together",                         \
        IC_COUNT, 2, nodes_most, 64, NULL, IC_BOTH},                                               \
    [(first) + IC_LDR_PARAM_DEGREE] = {"degree", "links",                                          \
        "of a graph's node; 0: that of the hypercube",                                             \
        IC_COUNT, 0, degree_most, 0, NULL, IC_BOTH},                                               \
    [(first) + IC_LDR_PARAM_SAMPLES] = {"samples", "graphs",                                       \
        "generated, of which the best is taken",                                                   \
        IC_COUNT, 1, 100000, 1, NULL, IC_BOTH},                                                    \
    [(first) + IC_LDR_PARAM_STEPS] = {"steps", "swaps",                                            \
        "of links to improve a graph; 0: as many as are good",                                     \
        IC_COUNT, 0, 1e9, 20000, NULL, IC_BOTH},                                                   \
    [(first) + IC_LDR_PARAM_SEED] = {"graph-seed", "", "of generated and improved graphs",         \
        IC_COUNT, 0, 1e15, 1, NULL, IC_BOTH}
/* clang-format on */

/* Of values from the first of these parameters on, in a family of so many words. What they ask to
 * be made, when it is no file's. */
struct ic_ldr_spec ic_ldr_params_spec(const double *params);
/* The graph of the file that they name, which stays the setting's; NULL: it is to be made. */
const struct ic_graph *ic_ldr_params_graph(const double *params, size_t words,
                                           const struct ic_setting *setting);
/* As settle of a family: a file's graph says its nodes and degree. */
void ic_ldr_params_settle(double *params, size_t words, const struct ic_setting *setting);

#endif
