/* SPDX-License-Identifier: BSD-2-Clause */
/* A daemon's command line: gatewayd's and gmcast-noded's differ in name, file and role. */
#ifndef GWD_PROGRAM_H
#define GWD_PROGRAM_H

#include <stdbool.h>

struct gwd_program {
    const char *name;
    const char *text; /* what it is, one line */
    const char *file; /* configuration, unless another is named */
    bool is_node;     /* the configuration has to say of which domain, or must not */
};

/* The exit status. */
int gwd_program_main(const struct gwd_program *program, int argc, char **argv);

#endif
