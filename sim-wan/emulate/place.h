/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run has outside of its own process, so that it can be taken away again, by the run or,
 * where that was killed, by `sim-wan emulate --clean`:
 *
 *   /run/sim-wan/PID          locked while the run lives; holds the work directory's name
 *   the work directory        configurations, certificates, state and logs of gateways
 *   /run/netns/simwan-PID-*   network namespaces, with what runs and lies in them
 *   /etc/netns/simwan-PID-*   their hosts files
 */
#ifndef SIM_EMULATE_PLACE_H
#define SIM_EMULATE_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim-wan/emulate/hosts.h"
#include "sim-wan/emulate/netns.h"

struct emu_place {
    char *mark; /* /run/sim-wan/PID */
    int lock;
    char *work;
    bool stays;   /* the work directory is the user's */
    char **netns; /* names by host */
    size_t count;
};

/* work: an empty or new directory that stays, NULL: a temporary one below $TMPDIR.
 * -1 with words in error; the place can be closed in any case. */
int emu_place_open(struct emu_place *place, const struct emu_hosts *hosts, const char *work,
                   char *error);
/* Kills what still runs in the namespaces and removes everything. */
void emu_place_close(struct emu_place *place);

/* Makes /etc/netns/NAME/hosts for all. */
int emu_place_write_hosts(const struct emu_place *place, const struct emu_hosts *hosts,
                          char *error);

/* WORK/a/b; b may be NULL. Malloc'ed. */
char *emu_place_path(const struct emu_place *place, const char *a, const char *b);

/* Removes what dead runs left. How many runs, or -1 with words in error. */
int emu_place_clean(char *error);

#endif
