/* SPDX-License-Identifier: BSD-2-Clause */
/* What gmcast doctor is told about this host: from the configuration and the machine, whether the
 * daemon runs or not. */
#ifndef GWD_DOCTOR_H
#define GWD_DOCTOR_H

#include "gatewayd/conf.h"
#include "gatewayd/findings.h"

/* Whether the file can be read and all that it refers to is right: what `gatewayd -T` says. NULL
 * when nothing can be made of it; else to be freed. */
struct gwd_conf *gwd_doctor_configuration(struct gwd_findings *findings, const char *file,
                                          bool is_node);
/* How long the own certificate is good yet. */
void gwd_doctor_certificate(struct gwd_findings *findings, const struct gwd_conf *conf,
                            int64_t seconds_left);
/* The rest of what the configuration refers to: revocation list, storage, memory; and the clock. */
void gwd_doctor_surroundings(struct gwd_findings *findings, const struct gwd_conf *conf);
/* Everything that can be seen while no daemon runs: also whether its port is free. */
void gwd_doctor_without_daemon(struct gwd_findings *findings, const char *file, bool is_node);

#endif
