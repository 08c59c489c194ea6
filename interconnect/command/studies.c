/* SPDX-License-Identifier: BSD-2-Clause */
/* The studies that there are. */
#include "interconnect/command/studies.h"

/* clang-format off */
const struct ic_study *const ic_studies[] = {
    &ic_study_sci_small,
    &ic_study_sci_large,
    &ic_study_sci_large_tori,
    &ic_study_sci_links,
    &ic_study_myrinet,
    &ic_study_head_to_head,
    &ic_study_wan,
    &ic_study_clusters,
    &ic_study_cubes,
    &ic_study_cube_rates,
    &ic_study_qos_router,
    &ic_study_qos_cube,
    &ic_study_ldr,
    &ic_study_ldr_hybrids,
};
/* clang-format on */
const size_t ic_study_count = sizeof(ic_studies) / sizeof(ic_studies[0]);
