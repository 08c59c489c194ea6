/* SPDX-License-Identifier: BSD-2-Clause */
/* The sub-commands of gmcast-interconnect. Each gets the arguments from its own name on and gives
 * the exit status of the program. */
#ifndef INTERCONNECT_COMMAND_COMMAND_H
#define INTERCONNECT_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses. */
enum { IC_DONE = 0, IC_BAD = 1 };

int ic_command_advise(int argc, char **argv);
int ic_command_graph(int argc, char **argv);
int ic_command_list(int argc, char **argv);
int ic_command_model(int argc, char **argv);
int ic_command_simulate(int argc, char **argv);
int ic_command_compare(int argc, char **argv);
int ic_command_reproduce(int argc, char **argv);
int ic_command_schedule(int argc, char **argv);

/* Says what is wrong, after the name of the command, on standard error; gives IC_BAD. */
int ic_bad(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Whether all that was written to standard output got there; words otherwise. */
int ic_finish_output(const char *command);
/* The number that was given to --NAME. IC_BAD after words. */
int ic_read_count(const char *command, const char *name, const char *text, uint64_t least,
                  uint64_t *value);

#endif
