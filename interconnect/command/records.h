/* SPDX-License-Identifier: BSD-2-Clause */
/* What a simulation writes besides its figures: every message, every channel. */
#ifndef INTERCONNECT_COMMAND_RECORDS_H
#define INTERCONNECT_COMMAND_RECORDS_H

#include "interconnect/family.h"
#include "sim-wan/out_file.h"

struct ic_records {
    struct sim_out_file messages, channels;
    const char *message_file, *channel_file;
};

/* Opens the files that are not NULL and makes the run write to them; `unit` is that of times.
 * IC_BAD after words; what was opened is to be ended all the same. */
int ic_records_begin(struct ic_records *records, const char *command, const char *unit,
                     const char *messages, const char *channels, struct ic_run *run);
/* Files of a run that was not done (`keep` false) do not take the place of earlier ones. */
int ic_records_end(struct ic_records *records, const char *command, bool keep);

#endif
