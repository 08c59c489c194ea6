/* SPDX-License-Identifier: BSD-2-Clause */
/* TARGET[,TARGET...] of a command line. */
#ifndef GMC_TOOLS_TARGETS_H
#define GMC_TOOLS_TARGETS_H

#include <gmcast/control.h>

struct targets {
    struct gmc_ctl_target *list; /* strings owned */
    size_t count;
};

/* Adds what text names; an exit status, after a message when it is not 0. */
int targets_parse(struct targets *targets, const char *text, const char *command);
/* Gives targets without a path this directory (NULL: none). False when out of memory. */
bool targets_set_directory(struct targets *targets, const char *path);
void targets_free(struct targets *targets);

#endif
