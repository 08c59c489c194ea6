/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of results. Each takes its place when all of it is written: until then it is called
 * PATH.tmp, so that a run that fails or is killed leaves what an earlier one wrote; and that is
 * gone when a signal ends the process (unfinished.h). Devices, pipes and links are written to where
 * they are; to put a file in their place would take them away. */
#ifndef SIM_OUT_FILE_H
#define SIM_OUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct sim_out_file {
    FILE *file; /* NULL: none is open */
    char *path, *before;
    struct sim_unfinished *unfinished; /* NULL: no file of its own */
};

/* "-" is standard output. False: errno says why, and nothing is open. */
bool sim_out_open(struct sim_out_file *out, const char *path);
/* Puts the file in its place; without `keep`, or when anything was not written, removes it. False:
 * errno says why. Where none is open nothing happens. */
bool sim_out_close(struct sim_out_file *out, bool keep);
/* Whether all that went to standard output arrived there. False: errno says why. */
bool sim_out_flush(void);
/* Whether a file could be written there; none is left. False: errno says why. */
bool sim_out_check(const char *path);

#endif
