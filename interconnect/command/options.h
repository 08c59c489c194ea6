/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of model, simulate and compare: a family, its parameters as options, and what
 * is wanted of the results. */
#ifndef INTERCONNECT_COMMAND_OPTIONS_H
#define INTERCONNECT_COMMAND_OPTIONS_H

#include "interconnect/command/topology.h"
#include "interconnect/sweep.h"

struct ic_options {
    const char *command; /* "model" */
    unsigned what;       /* IC_MODEL, IC_SIMULATOR, IC_BOTH */
    const char *golden;  /* a reference table instead of a family */
    struct ic_sweep sweep;
    struct ic_topologies topologies; /* that are files */
    bool is_json;
    const char *plot;     /* FILE or NULL */
    size_t plot_output;   /* what is drawn */
    const char *channels; /* FILE of the load of every channel, or NULL */
    const char *log;      /* FILE of every message, or NULL */
    uint64_t seed, messages;
    size_t jobs; /* 0: one per core */
    bool finds_saturation;
    bool is_quiet;
};

/* What to do after reading. */
enum ic_options_outcome { IC_OPTIONS_GO, IC_OPTIONS_HELPED, IC_OPTIONS_BAD };

/* Words are on standard error when bad. Borrows argv; ends with fini in every case. */
enum ic_options_outcome ic_options_read(struct ic_options *options, const char *command,
                                        unsigned what, int argc, char **argv);
void ic_options_fini(struct ic_options *options);

#endif
