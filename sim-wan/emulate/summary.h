/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run says of itself: a JSON file, and words when it could not keep real time. */
#ifndef SIM_EMULATE_SUMMARY_H
#define SIM_EMULATE_SUMMARY_H

#include <stdint.h>

#include "sim-wan/emulate/emulate.h"

/* Whether packets were on time: late by at most 0.5 ms in the mean and 5 ms in 99 of 100, and none
 * lost before it came to a wire. */
bool emu_kept_time(const struct emu_run *run, uint64_t overflows);

/* Whether a summary can be written there, before the run; else -1 with words in error. */
int emu_summary_check(const char *path, char *error);
/* Replaces the file; "-" is standard output. -1 with words in error. */
int emu_summary_write(struct emu_run *run, const char *path, char *error);

/* On standard error, when time was not kept. */
void emu_summary_warn(const struct emu_run *run);

#endif
