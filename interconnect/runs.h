/* SPDX-License-Identifier: BSD-2-Clause */
/* A simulation as several runs, each begun anew with random numbers of its own.
 *
 * What one run sees is not independent: queues, and the clocks of VirtualClock all the more, keep
 * what happened for longer than a run of some 60,000 messages can tell. Batches of one run then
 * look alike, and an interval from their means is too narrow (it had the mean of many seeds in 40 %
 * of cases that said 95 %). So batches are runs of their own, and the interval is Student's of
 * their means, which are independent.
 *
 * The first run decides on saturation; the others measure what it has found to be sound.
 *
 * Source: Law, Simulation Modeling and Analysis, replication and deletion.
 */
#ifndef INTERCONNECT_RUNS_H
#define INTERCONNECT_RUNS_H

#include "interconnect/family.h"

#define IC_RUNS 8u /* or as many as there are messages */
/* Where the first has warmed up for IC_RUNS_LONG times as many messages as it then measured, as in
 * large networks that are nearly full; the others measure more. */
#define IC_RUNS_FEW 4u
#define IC_RUNS_LONG 4u

/* What ic_family_simulate does between its checks, for families with `messages`: run->messages, or
 * the usual ones, are divided among the runs. Figures that are the same for all loads and seeds
 * keep a half width of 0. When the first run finds all saturated it is the only one, and what it
 * measured has no interval. Channels are told once, with their mean loads. */
GMC_NODISCARD gmc_status ic_runs_simulate(const struct ic_family *family, const double *values,
                                          const struct ic_setting *setting,
                                          const struct ic_run *run, struct ic_result *result,
                                          char *error);

#endif
