/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command is told about the hosts, in environment variables:
 *
 *   SIM_WAN_HOSTS, SIM_WAN_ADDRESSES, SIM_WAN_ADDRESSES6, SIM_WAN_NAMESPACES
 *                       names, IPv4 and IPv6 addresses and network namespaces of all hosts, in the
 *                       topology's order, with a blank between them
 *   SIM_WAN_HOST        the name of the command's own
 *   SIM_WAN_DIRECTORY   the work directory
 *   GMCAST_GATEWAY      where gmcast finds the gateway, when there is one here
 */
#ifndef SIM_EMULATE_TELL_H
#define SIM_EMULATE_TELL_H

#include "sim-wan/emulate/emulate.h"

#define EMU_VARIABLES_MAX 12

/* NAME=value, malloc'ed, NULL at the end. */
void emu_tell(const struct emu_run *run, char *out[EMU_VARIABLES_MAX]);

#endif
