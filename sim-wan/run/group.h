/* SPDX-License-Identifier: BSD-2-Clause */
/* What several runs of one scenario have in common: how many were complete, and the least, the
 * quantiles and the greatest of their times. */
#ifndef SIM_RUN_GROUP_H
#define SIM_RUN_GROUP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_group_values {
    double *list;
    size_t count, capacity;
};

struct sim_group {
    uint64_t runs, complete, violations, lost;
    struct sim_group_values seconds, ratios; /* of complete runs */
};

void sim_group_fini(struct sim_group *group);
/* A run's summary; NULL: it gave none. */
void sim_group_add(struct sim_group *group, const json_t *summary);
/* Every run was there and complete, and no oracle violated. */
bool sim_group_is_good(const struct sim_group *group);
/* runs, complete, violations, lost, completion_seconds and ratio with min, p05, p25, median, p75,
 * p95, max. Quantile q of n values is number ceil(q * n) of them in order. */
json_t *sim_group_summary(struct sim_group *group);

#endif
