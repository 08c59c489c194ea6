/* SPDX-License-Identifier: BSD-2-Clause */
/* The daemon as a whole: parts wired to one loop and one core. */
#ifndef GWD_GATEWAYD_H
#define GWD_GATEWAYD_H

#include "gatewayd/conf.h"
#include "gatewayd/log.h"

struct gwd;

struct gwd_options {
    const char *file;   /* configuration */
    const char *record; /* NULL: no recording */
    bool batches;       /* SCHED_BATCH is ours to leave (gatewayd/policy.h) */
    bool discard_data;  /* benchmarks: blocks are not hashed, and not stored where they arrive */
};

/* Opens everything, drops privileges; NULL when something failed, which is in the log. Takes
 * conf and log. */
struct gwd *gwd_new(const struct gwd_options *options, struct gwd_conf *conf, struct gwd_log *log);
/* Until SIGTERM or SIGINT; the exit status. */
int gwd_run(struct gwd *gwd);
void gwd_free(struct gwd *gwd);

#endif
