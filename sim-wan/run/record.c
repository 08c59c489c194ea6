/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of recorders; see record.h. */
#include "sim-wan/run/record.h"

#include "sim-wan/run/recorders.h"

const struct sim_recorder_ops *const sim_recorders[] = {&sim_record_csv, &sim_record_ns,
                                                        &sim_record_pcap, &sim_record_plot, NULL};
