/* SPDX-License-Identifier: BSD-2-Clause */
/* What the sub-commands of gmcast have in common: exit codes, messages, options. */
#ifndef GMC_TOOLS_GMCAST_H
#define GMC_TOOLS_GMCAST_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit status, as the manual lists it. */
enum {
    EXIT_COMPLETE = 0, /* done; stage: complete everywhere */
    EXIT_REFUSED = 1,  /* could not start: bad arguments, no gateway, refused */
    EXIT_PARTIAL = 2,  /* complete at some; pub: some of the files */
    EXIT_CANCELLED = 3,
    EXIT_DETACHED = 4, /* this command was interrupted; the transfer goes on */
    EXIT_UNWELL = 5    /* doctor: something does not work */
};

/* What stands before the sub-command. */
struct gmcast_globals {
    const char *gateway; /* endpoint of the local gateway */
};

struct gmcast_command {
    const char *name;
    const char *summary; /* one line */
    int (*run)(const struct gmcast_globals *globals, int argc, char **argv);
};

/* One per file. argv[0] is the sub-command. */
int gmcast_add(const struct gmcast_globals *globals, int argc, char **argv);
int gmcast_ca(const struct gmcast_globals *globals, int argc, char **argv);
int gmcast_cancel(const struct gmcast_globals *globals, int argc, char **argv);
int gmcast_doctor(const struct gmcast_globals *globals, int argc, char **argv);
int gmcast_node(const struct gmcast_globals *globals, int argc, char **argv);
int gmcast_peers(const struct gmcast_globals *globals, int argc, char **argv);
int gmcast_pub(const struct gmcast_globals *globals, int argc, char **argv);
int gmcast_resume(const struct gmcast_globals *globals, int argc, char **argv);
int gmcast_stage(const struct gmcast_globals *globals, int argc, char **argv);
int gmcast_status(const struct gmcast_globals *globals, int argc, char **argv);
int gmcast_sub(const struct gmcast_globals *globals, int argc, char **argv);
int gmcast_tree(const struct gmcast_globals *globals, int argc, char **argv);
int gmcast_watch(const struct gmcast_globals *globals, int argc, char **argv);

/* "gmcast: ..." on standard error; returns EXIT_REFUSED. */
int gmcast_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for a wrong command line: adds where the help is. */
int gmcast_usage_error(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What one of these said last, without "gmcast: ". */
const char *gmcast_last_error(void);
/* What getopt_long found wrong (its own messages are switched off by a leading ':'). */
int gmcast_option_error(const char *command, int found, char **argv);

/* A whole number between min and max. */
bool gmcast_number(const char *text, long min, long max, long *value);

#endif
