/* SPDX-License-Identifier: BSD-2-Clause */
/* The recorders there are; each says in its file what it writes. */
#ifndef SIM_RUN_RECORDERS_H
#define SIM_RUN_RECORDERS_H

#include "sim-wan/run/record.h"

extern const struct sim_recorder_ops sim_record_csv;
extern const struct sim_recorder_ops sim_record_ns;
extern const struct sim_recorder_ops sim_record_pcap;
extern const struct sim_recorder_ops sim_record_plot;

#endif
