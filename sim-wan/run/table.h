/* SPDX-License-Identifier: BSD-2-Clause */
/* Summaries as tables for people. */
#ifndef SIM_RUN_TABLE_H
#define SIM_RUN_TABLE_H

#include <jansson.h>
#include <stdio.h>

/* The summary of one run, with its command and CPU seconds. */
void sim_table_print(FILE *out, const json_t *summary);
/* That of several seeds, as group.h makes it. */
void sim_table_print_group(FILE *out, const json_t *group);

#endif
