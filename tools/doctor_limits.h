/* SPDX-License-Identifier: BSD-2-Clause */
/* What limits that which is sent: gmcast doctor looks many times at what the data for each
 * neighbour waits for. */
#ifndef GMC_TOOLS_DOCTOR_LIMITS_H
#define GMC_TOOLS_DOCTOR_LIMITS_H

#include "ctl/findings.h"

#define DOCTOR_WAITS (GMC_CTL_WAIT_PATH + 1)

struct doctor_limits;

struct doctor_limits *doctor_limits_new(void); /* NULL: no memory */
void doctor_limits_free(struct doctor_limits *limits);
/* One look at a neighbour. */
void doctor_limits_look(struct doctor_limits *limits, const struct gmc_ctl_peer *peer);
/* Something was to be sent to somebody in a look so far. */
bool doctor_limits_any(const struct doctor_limits *limits);
/* Of the neighbour, as it is now. */
void doctor_limits_say(const struct doctor_limits *limits, const struct gmc_ctl_peer *peer,
                       struct gmc_findings *findings);

#endif
