/* SPDX-License-Identifier: BSD-2-Clause */
/* Case study 2: a large object to six domains, with and without caches in the relays. What is run;
 * the claims and pictures are in case2_report.c. */
#ifndef EXPERIMENTS_CASE2_H
#define EXPERIMENTS_CASE2_H

#include "experiments/experiment.h"

enum case2_tree { CASE2_FLAT, CASE2_LC, CASE2_NC, CASE2_TREES };
enum case2_link { CASE2_FE, CASE2_GIGE, CASE2_MYRINET, CASE2_SCI, CASE2_LINKS };
/* How many messages a gateway may have open. */
enum case2_window { CASE2_WIDE, CASE2_NARROW, CASE2_WINDOWS };

#define CASE2_HOPS 4 /* 0..3 beyond the first */
#define CASE2_RATES 5

struct case2_point {
    enum case2_tree tree;
    enum case2_link link;
    enum case2_window window;
    unsigned hops;
    unsigned rate; /* index */
};

struct case2_result {
    bool complete;
    uint64_t events;
    double seconds;     /* without the set-up */
    double first_hop;   /* bytes on the source's first wire / object */
    double utilisation; /* of the farthest domain's local link */
    uint64_t repairs;
};

struct case2 {
    uint64_t bytes;
    bool quick;
    struct case2_point *points;
    size_t count;
    struct case2_result *results;
};

extern const double case2_rates[CASE2_RATES]; /* percent of messages; the first is 0 */
extern const char *const case2_tree_names[CASE2_TREES];
extern const char *const case2_link_names[CASE2_LINKS];
extern const char *const case2_window_names[CASE2_WINDOWS];

/* The result of a point; NULL when it was not run. flat has no hops and no rate. */
const struct case2_result *case2_find(const struct case2 *study, enum case2_tree tree,
                                      enum case2_link link, enum case2_window window, unsigned hops,
                                      unsigned rate);
/* Table, claims and pictures. */
void case2_report(const struct case2 *study, struct ex_report *report);

#endif
