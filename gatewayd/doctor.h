/* SPDX-License-Identifier: BSD-2-Clause */
/* What gmcast doctor is told about this host: from the configuration and the machine, whether the
 * daemon runs or not. */
#ifndef GWD_DOCTOR_H
#define GWD_DOCTOR_H

#include <stdio.h>

#include "ctl/findings.h"
#include "gatewayd/conf.h"

/* Whether the file can be read and all that it refers to is right: what `gatewayd -T` says. NULL
 * when nothing can be made of it; else to be freed. */
struct gwd_conf *gwd_doctor_configuration(struct gmc_findings *findings, const char *file);
/* How long the own certificate is good yet. */
void gwd_doctor_certificate(struct gmc_findings *findings, const struct gwd_conf *conf,
                            int64_t seconds_left);
/* The rest of what the configuration refers to: revocation list, storage, memory; and the clock. */
void gwd_doctor_surroundings(struct gmc_findings *findings, const struct gwd_conf *conf);
/* Everything that can be seen while no daemon runs: also whether its port is free. */
void gwd_doctor_without_daemon(struct gmc_findings *findings, const char *file);
/* Each as a JSON object on a line; false when it could not be written. */
bool gwd_doctor_print(const struct gmc_findings *findings, FILE *out);

#endif
