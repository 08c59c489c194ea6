/* SPDX-License-Identifier: BSD-2-Clause */
/* What `schedule` says of one algorithm: who sends to whom in which step, and its metrics. */
#ifndef INTERCONNECT_COMMAND_OUTCOME_H
#define INTERCONNECT_COMMAND_OUTCOME_H

#include <stdbool.h>

#include "interconnect/text.h"

#define IC_OUTCOME_METRICS_MAX 10u

struct ic_metric {
    const char *name;
    double value;
};

struct ic_outcome {
    const char *algorithm;
    struct ic_text sends; /* "STEP:FROM>TO STEP:FROM>TO", steps in growing order */
    struct ic_metric metrics[IC_OUTCOME_METRICS_MAX];
    size_t metric_count;
};

void ic_outcome_add(struct ic_outcome *outcome, const char *name, double value);
/* All of them to standard output, a line per step or as JSON. */
void ic_outcomes_print(const struct ic_outcome *outcomes, size_t count, bool is_json);
void ic_outcome_fini(struct ic_outcome *outcome);

#endif
