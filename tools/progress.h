/* SPDX-License-Identifier: BSD-2-Clause */
/* The progress display of a transfer, as text: what is drawn depends on the statuses that were
 * shown to it and on the screen's size only. */
#ifndef GMC_TOOLS_PROGRESS_H
#define GMC_TOOLS_PROGRESS_H

#include <stdio.h>

#include <gmcast/client.h>

struct progress;

struct progress_screen {
    size_t columns;
    size_t lines; /* at most this many are drawn */
    bool colour;
};

struct progress *progress_new(void);
void progress_free(struct progress *progress);

/* A new status, at `seconds` of any clock that goes forward: rates are measured between them. */
void progress_update(struct progress *progress, const struct gmc_ctl_transfer *transfer,
                     double seconds);
/* Draws the last status as lines, each ended by a newline; returns their number. */
size_t progress_draw(const struct progress *progress, const struct gmc_ctl_transfer *transfer,
                     const struct progress_screen *screen, FILE *out);

/* The table of domains that stands at the end: state, bytes, time, rate, repairs, digest, and for
 * those that failed the reason. */
void progress_table(const struct gmc_ctl_transfer *transfer, FILE *out);

#endif
