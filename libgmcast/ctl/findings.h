/* SPDX-License-Identifier: BSD-2-Clause */
/* A list of findings, as the daemon makes it of itself and gmcast doctor of links. */
#ifndef GMC_CTL_FINDINGS_H
#define GMC_CTL_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gmcast/control.h"

/* Strings are owned. */
struct gmc_findings {
    struct gmc_ctl_finding *list;
    size_t count, room;
};

/* Adds one; format says in words what was found. Without memory it is left out, and so is what the
 * next two functions would add to it. */
void gmc_findings_add(struct gmc_findings *findings, enum gmc_ctl_level level, const char *check,
                      const char *subject, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Of the last one: its figure, and what to do. */
void gmc_findings_value(struct gmc_findings *findings, int64_t value, const char *unit);
void gmc_findings_advise(struct gmc_findings *findings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds one that comes from elsewhere. */
void gmc_findings_copy(struct gmc_findings *findings, const struct gmc_ctl_finding *from);
/* The worst of all; OK of none. */
enum gmc_ctl_level gmc_findings_worst(const struct gmc_findings *findings);
/* "ok", "warn", "fail": for machines. */
const char *gmc_findings_level_name(enum gmc_ctl_level level);
void gmc_findings_clear(struct gmc_findings *findings);

#endif
