/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of a report's folder: whole or not at all (sim-wan/out_file.h), and what goes wrong is said
 * on standard error with the path. */
#ifndef EXPERIMENTS_FILE_H
#define EXPERIMENTS_FILE_H

#include <stdbool.h>

#include "sim-wan/out_file.h"

/* The rest is the file's name, as for printf. */
bool ex_file_open(struct sim_out_file *out, const char *folder, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts the file in its place. Where none is open nothing happens. */
bool ex_file_close(struct sim_out_file *out);

#endif
