/* SPDX-License-Identifier: BSD-2-Clause */
/* What the families on the flit engine have in common: parameters that only simulations have, their
 * figures, and one function from the ones to the others. */
#ifndef INTERCONNECT_WORMHOLE_OPTIONS_H
#define INTERCONNECT_WORMHOLE_OPTIONS_H

#include "interconnect/wormhole/run.h"

/* Places in a family's parameters, after its own. */
enum {
    IC_WH_PARAM_PATTERN,
    IC_WH_PARAM_SHIFT,
    IC_WH_PARAM_OWN,
    IC_WH_PARAM_ARRIVALS,
    IC_WH_PARAM_DEPTH,
    IC_WH_PARAM_HOP_DELAY,
    IC_WH_PARAM_RELEASE_DELAY,
    IC_WH_PARAM_LINKS,
    IC_WH_PARAM_ENDS,
    IC_WH_PARAMS
};

extern const char *const ic_wh_yes_names[];     /* no, yes */
extern const char *const ic_wh_arrival_names[]; /* poisson, bernoulli */
extern const char *const ic_wh_order_names[];   /* turns, order */

/* Rows of a table of parameters; `traffic` says whose the traffic and the orders of worms are.
 * Defaults are those of the reference simulations. */
/* clang-format off */
#define IC_WH_PARAM_ROWS(first, traffic)                                                           \
    [(first) + IC_WH_PARAM_PATTERN] = {"traffic", "", "who sends to whom",                         \
        IC_CHOICE, 0, 0, IC_TRAFFIC_UNIFORM, ic_traffic_names, traffic},                           \
    [(first) + IC_WH_PARAM_SHIFT] = {"shift", "nodes", "of shift traffic",                         \
        IC_COUNT, 0, 1048576, 1, NULL, traffic},                                                   \
    [(first) + IC_WH_PARAM_OWN] = {"own", "", "traffic to oneself too",                            \
        IC_CHOICE, 0, 0, 0, ic_wh_yes_names, IC_SIMULATOR},                                        \
    [(first) + IC_WH_PARAM_ARRIVALS] = {"arrivals", "", "process of the sources",                  \
        IC_CHOICE, 0, 0, 0, ic_wh_arrival_names, IC_SIMULATOR},                                    \
    [(first) + IC_WH_PARAM_DEPTH] = {"buffer", "flits", "buffer of a virtual channel",             \
        IC_COUNT, 1, IC_WH_DEPTH_MAX, 1, NULL, IC_SIMULATOR},                                      \
    [(first) + IC_WH_PARAM_HOP_DELAY] = {"hop_delay", "cycles",                                    \
        "of a head in each router, beside those on channels",                                      \
        IC_COUNT, 0, IC_WH_DELAY_MAX, 0, NULL, IC_SIMULATOR},                                      \
    [(first) + IC_WH_PARAM_RELEASE_DELAY] = {"release_delay", "cycles",                            \
        "until a virtual channel is free after its tail",                                          \
        IC_COUNT, 0, IC_WH_DELAY_MAX, 0, NULL, IC_SIMULATOR},                                      \
    [(first) + IC_WH_PARAM_LINKS] = {"links", "",                                                  \
        "worms share a link in turns, or in order of coming",                                      \
        IC_CHOICE, 0, 0, 1, ic_wh_order_names, traffic},                                           \
    [(first) + IC_WH_PARAM_ENDS] = {"ends", "", "the same for injection and ejection",             \
        IC_CHOICE, 0, 0, 0, ic_wh_order_names, traffic}
/* clang-format on */

/* Places in a family's figures. */
enum {
    IC_WH_OUTPUT_HOPS,
    IC_WH_OUTPUT_OFFERED,
    IC_WH_OUTPUT_ACCEPTED,
    IC_WH_OUTPUT_WARMUP,
    IC_WH_OUTPUTS
};

#define IC_WH_OUTPUT_ROWS(first, load_unit)                                                        \
    [(first) + IC_WH_OUTPUT_HOPS] = {"hops", "channels", "mean length of a way, its ends counted", \
                                     IC_SIMULATOR},                                                \
               [(first) + IC_WH_OUTPUT_OFFERED] = {"offered", load_unit, "messages generated",     \
                                                   IC_SIMULATOR},                                  \
               [(first) + IC_WH_OUTPUT_ACCEPTED] = {"accepted", load_unit, "messages delivered",   \
                                                    IC_SIMULATOR},                                 \
               [(first) + IC_WH_OUTPUT_WARMUP] = {"warmup", "messages",                            \
                                                  "delivered before measuring began",              \
                                                  IC_SIMULATOR}

/* Where a family has the figures that all have, and what it counts them in. */
struct ic_wh_layout {
    size_t params;  /* of IC_WH_PARAM_ROWS */
    size_t latency; /* outputs: with the source queue, in the network, the wait between them */
    size_t network, wait;
    size_t outputs;   /* of IC_WH_OUTPUT_ROWS */
    double cycle;     /* in the family's unit of time */
    double uncounted; /* cycles that it leaves out of latencies */
};

/* Messages per node and cycle that the node's own channel can take; told in messages of the
 * family's unit of time, of which a cycle has so much. INVALID with words. */
GMC_NODISCARD gmc_status ic_wh_check_load(double load, uint32_t flits, double cycle, char *error);
/* Simulates and fills the result; load in messages per node and cycle. vcs and flits are the
 * family's own parameters. INVALID and STATE with words, NOMEM. */
GMC_NODISCARD gmc_status ic_wh_simulate(const struct ic_wh_network *network,
                                        const struct ic_wh_layout *layout, const double *values,
                                        double load, uint32_t vcs, uint32_t flits,
                                        const struct ic_run *run, struct ic_result *result,
                                        char *error);

#endif
