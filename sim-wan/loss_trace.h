/* SPDX-License-Identifier: BSD-2-Clause */
/* Losses from a file, repeated when its end is reached. Two forms; white space separates, and `#`
 * begins a comment that ends with its line:
 *
 *     0001000110 0 1              packet by packet: 1 is lost
 *
 *     times 60                    a period in seconds, then growing times in it, in seconds with
 *     0.25 0.2615 17.9            up to nine decimals: the first packet that leaves at or after
 *                                 each is lost
 *
 * Of times between which no packet leaves, all but one have no effect.
 */
#ifndef SIM_LOSS_TRACE_H
#define SIM_LOSS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/time.h"

#define SIM_LOSS_TRACE_MAX 10000000u /* packets or times in one file */
#define SIM_LOSS_TRACE_PERIOD_MAX GMC_S(1000000)
#define SIM_LOSS_TRACE_ERROR_MAX 512u

struct sim_loss_trace;

/* Reads a file. GMC_ERR_IO when it cannot be read, GMC_ERR_INVALID when it is none: error (of
 * SIM_LOSS_TRACE_ERROR_MAX bytes) then says file, line, what is wrong and what would be right. */
GMC_NODISCARD gmc_status sim_loss_trace_read(const char *path, struct sim_loss_trace **trace,
                                             char *error);
void sim_loss_trace_free(struct sim_loss_trace *trace);

/* Entries: packets, or times. */
size_t sim_loss_trace_count(const struct sim_loss_trace *trace);
/* Lost of all packets, parts per million; 0 for a trace of times. */
uint32_t sim_loss_trace_ppm(const struct sim_loss_trace *trace);

/* Whether the packet that leaves at `departure` is lost. `at` is the place in the trace: 0 at the
 * beginning, and a wire's own. */
bool sim_loss_trace_takes(const struct sim_loss_trace *trace, uint64_t *at, gmc_time departure);

#endif
