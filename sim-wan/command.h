/* SPDX-License-Identifier: BSD-2-Clause */
/* The sub-commands of sim-wan. Each gets the arguments from its own name on and gives the exit
 * status of the program. */
#ifndef SIM_COMMAND_H
#define SIM_COMMAND_H

int sim_command_emulate(int argc, char **argv);
int sim_command_run(int argc, char **argv);
int sim_command_topology(int argc, char **argv);

#endif
