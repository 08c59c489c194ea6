/* SPDX-License-Identifier: BSD-2-Clause */
/* What gmcast doctor says of a neighbour: its session, UDP in each direction, path, losses,
 * multicast. */
#ifndef GMC_TOOLS_DOCTOR_LINKS_H
#define GMC_TOOLS_DOCTOR_LINKS_H

#include "ctl/findings.h"

/* Everything that a test of this link is to show is known; waited: so many seconds since it
 * began. */
bool doctor_link_is_known(const struct gmc_ctl_peer *peer, double waited);
void doctor_link(struct gmc_findings *findings, const struct gmc_ctl_peer *peer);

#endif
