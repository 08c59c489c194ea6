/* SPDX-License-Identifier: BSD-2-Clause */
/* The families and the reference tables that there are. */
#include "interconnect/families.h"

/* A line for each, by folder. */
/* clang-format off */
const struct ic_family *const ic_families[] = {
    &ic_family_torus,
    &ic_family_star,
    &ic_family_fattree,
    &ic_family_multicluster,
    &ic_family_hypercube,
    &ic_family_updown,
    &ic_family_qos,
    &ic_family_ldr,
    &ic_family_wan_pair,
    &ic_family_wan_relays,
};
const size_t ic_family_count = sizeof(ic_families) / sizeof(ic_families[0]);

const struct ic_golden *const ic_goldens[] = {
    &ic_golden_sci_latency, /* torus */
    &ic_golden_sci_schedule,
    &ic_golden_sci_schedule_nd,
    &ic_golden_star_schedule, /* star */
    &ic_golden_myrinet_latency,
    &ic_golden_javadi_structure, /* fattree */
    &ic_golden_javadi_latency,
    &ic_golden_javadi_saturation,
    &ic_golden_javadi_single_cluster,
    &ic_golden_sim_fattree,
    &ic_golden_sim_multicluster,
    &ic_golden_pcube_rates, /* hypercube */
    &ic_golden_pcube_latency,
    &ic_golden_pcube_saturation,
    &ic_golden_sim_whcube,
    &ic_golden_qos_single, /* qos */
    &ic_golden_qos_cube,
    &ic_golden_qos_three_realtime,
    &ic_golden_qos_be_64_flits,
    &ic_golden_qos_dmp_single,
    &ic_golden_qos_dmp_cube,
    &ic_golden_sim_qos,
    &ic_golden_wan_case1, /* wan */
    &ic_golden_wan_case2,
    &ic_golden_wan_case2_impact,
    &ic_golden_ldr_hypercube_moore, /* ldr */
    &ic_golden_ldr_generated,
    &ic_golden_ldr_enclosing_subcube,
    &ic_golden_ldr_zero_load,
    &ic_golden_sim_ldr,
};
/* clang-format on */
const size_t ic_golden_count = sizeof(ic_goldens) / sizeof(ic_goldens[0]);
