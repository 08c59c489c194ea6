/* SPDX-License-Identifier: BSD-2-Clause */
/* What `schedule` was asked for, and what has a file of its own among what it answers. */
#ifndef INTERCONNECT_COMMAND_SCHEDULE_H
#define INTERCONNECT_COMMAND_SCHEDULE_H

#include <stdint.h>

#include "interconnect/command/outcome.h"
#include "interconnect/error.h"
#include "interconnect/ldr/params.h"

struct ic_schedule_options {
    bool is_json, is_all, joins;
    const char *algorithm;
    uint64_t k, dimensions, r, group, seed;
    const char *members, *root;       /* as they were typed; NULL: drawn */
    const char *graph[IC_LDR_PARAMS]; /* likewise, of the family ldr; NULL: as usual */
};

/* The most that any network has. */
#define IC_OUTCOMES_MAX 5u

/* "no algorithm of a SHAPE is called ...". */
void ic_schedule_refuse(const char *asked, const char *shape, const char *const names[],
                        size_t count, char *error);

/* Multicast trees of graphs, as many as were asked for. IC_BAD after words. */
int ic_ldr_outcomes(const struct ic_schedule_options *options, struct ic_outcome *outcomes,
                    size_t *count);

#endif
