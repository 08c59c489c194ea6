/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be found out while no gateway answers: gatewayd looks, without starting. */
#ifndef GMC_TOOLS_DOCTOR_OFFLINE_H
#define GMC_TOOLS_DOCTOR_OFFLINE_H

#include "ctl/findings.h"

/* Adds what `gatewayd --doctor` says of this configuration; NULL: its default. gatewayd is looked
 * for in PATH, then as `installed`. */
void doctor_offline(struct gmc_findings *findings, const char *installed, const char *config);
/* One line of what it says; false when it is none. */
bool doctor_offline_line(struct gmc_findings *findings, const char *line);

#endif
