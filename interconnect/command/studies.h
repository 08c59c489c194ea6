/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of the studies that studies_*.c define and studies.c lists. */
#ifndef INTERCONNECT_COMMAND_STUDIES_H
#define INTERCONNECT_COMMAND_STUDIES_H

#include "interconnect/command/study.h"

extern const struct ic_study ic_study_sci_small, ic_study_sci_large, ic_study_sci_large_tori,
    ic_study_sci_links;                                               /* studies_torus.c */
extern const struct ic_study ic_study_myrinet, ic_study_head_to_head; /* studies_star.c */
extern const struct ic_study ic_study_wan;                            /* studies_wan.c */
extern const struct ic_study ic_study_clusters;                       /* studies_clusters.c */
extern const struct ic_study ic_study_cubes, ic_study_cube_rates;     /* studies_cubes.c */
extern const struct ic_study ic_study_qos_router, ic_study_qos_cube;  /* studies_qos.c */
extern const struct ic_study ic_study_ldr, ic_study_ldr_hybrids;      /* studies_ldr.c */

#endif
