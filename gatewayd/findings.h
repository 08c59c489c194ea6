/* SPDX-License-Identifier: BSD-2-Clause */
/* A list of what was found out about this gateway, for gmcast doctor. */
#ifndef GWD_FINDINGS_H
#define GWD_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ctl/ctl.h"

/* Strings are owned, but for check and unit. */
struct gwd_findings {
    struct gmc_ctl_finding *list;
    size_t count, room;
};

/* Adds one; format says in words what was found. Without memory it is left out, and so is what the
 * next two functions would add to it. */
void gwd_findings_add(struct gwd_findings *findings, enum gmc_ctl_level level, const char *check,
                      const char *subject, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Of the last one: its figure, and what to do. */
void gwd_findings_value(struct gwd_findings *findings, int64_t value, const char *unit);
void gwd_findings_advise(struct gwd_findings *findings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void gwd_findings_clear(struct gwd_findings *findings);
/* Each as a JSON object on a line; false when it could not be written. */
bool gwd_findings_print(const struct gwd_findings *findings, FILE *out);

#endif
