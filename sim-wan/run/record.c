/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of recorders; see record.h. */
#include "sim-wan/run/record.h"

const struct sim_recorder_ops *const sim_recorders[] = {NULL};
