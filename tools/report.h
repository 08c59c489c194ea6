/* SPDX-License-Identifier: BSD-2-Clause */
/* What gmcast says to programs: JSON objects, one per line. Their fields stand in the manual. */
#ifndef GMC_TOOLS_REPORT_H
#define GMC_TOOLS_REPORT_H

#include <stdio.h>

#include <gmcast/client.h>
#include <jansson.h>

#include "ctl/findings.h"

/* A string; bytes that are not UTF-8 are written as \xNN. */
json_t *report_text(const char *bytes);

/* "started", "progress" and "result" lines of stage and watch. */
json_t *report_started(const char *channel);
json_t *report_progress(const struct gmc_ctl_transfer *transfer);
json_t *report_result(const struct gmc_ctl_transfer *transfer);
/* A result without a transfer: it could not start. */
json_t *report_failure(const char *reason);

/* One transfer of status; with members when it has some. */
json_t *report_transfer(const struct gmc_ctl_transfer *transfer);
/* child -> parent, in the tree of a stripe (0: the first). */
json_t *report_tree(const struct gmc_ctl_transfer *transfer, size_t stripe);
json_t *report_peers(const struct gmc_ctl_reply *reply);
json_t *report_counters(const struct gmc_ctl_reply *reply);
json_t *report_findings(const struct gmc_findings *findings);

/* Writes one line and frees it; false when it could not be written. */
bool report_line(json_t *object, FILE *out);

#endif
