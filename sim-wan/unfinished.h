/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that are not to stay when a signal ends the process that writes them. */
#ifndef SIM_UNFINISHED_H
#define SIM_UNFINISHED_H

struct sim_unfinished;

/* To call before the file is made: from then on a signal that ends this process (SIGINT, SIGTERM
 * and their kind, not SIGKILL) removes it first. The process ends by the signal all the same, so
 * that a shell is told; a signal that was ignored or caught before stays so. Processes that were
 * forked remove what they made themselves. For programs of one thread. */
struct sim_unfinished *sim_unfinished_add(const char *path);
/* The file is in its place, or gone. NULL: nothing happens. */
void sim_unfinished_drop(struct sim_unfinished *file);

#endif
