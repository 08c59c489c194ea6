/* SPDX-License-Identifier: BSD-2-Clause */
/* model --golden, and the tables that need more than the library of interconnects. */
#ifndef INTERCONNECT_COMMAND_GOLDEN_H
#define INTERCONNECT_COMMAND_GOLDEN_H

#include "interconnect/command/options.h"
#include "interconnect/golden.h"

/* Reads the file of options->golden, computes its table again and writes it to standard output, as
 * CSV or JSON; rows that are simulated go over processes. The exit status. */
int ic_golden_command(const struct ic_options *options);

/* wan.c: multicast across a wide area network (Oral 2003, chapter 5). */
extern const struct ic_golden *const ic_wan_goldens[];
extern const size_t ic_wan_golden_count;

#endif
