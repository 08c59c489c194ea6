/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of the tables that the folders define and families.c lists. Others find them there by
 * name. */
#ifndef INTERCONNECT_FAMILIES_H
#define INTERCONNECT_FAMILIES_H

#include "interconnect/family.h"
#include "interconnect/golden.h"

extern const struct ic_family ic_family_torus;   /* torus/family.c */
extern const struct ic_family ic_family_star;    /* star/family.c */
extern const struct ic_family ic_family_qos;     /* qos/family.c */
extern const struct ic_family ic_family_ldr;     /* ldr/family.c */
extern const struct ic_family ic_family_fattree; /* fattree/family.c */
extern const struct ic_family ic_family_multicluster;
extern const struct ic_family ic_family_hypercube; /* hypercube/family.c */
extern const struct ic_family ic_family_updown;    /* updown/family.c */
extern const struct ic_family ic_family_wan_pair;  /* wan/family.c */
extern const struct ic_family ic_family_wan_relays;

extern const struct ic_golden ic_golden_sci_latency; /* torus/golden.c */
extern const struct ic_golden ic_golden_sci_schedule;
extern const struct ic_golden ic_golden_sci_schedule_nd;
extern const struct ic_golden ic_golden_star_schedule; /* star/golden.c */
extern const struct ic_golden ic_golden_myrinet_latency;
extern const struct ic_golden ic_golden_javadi_structure; /* fattree/golden.c */
extern const struct ic_golden ic_golden_javadi_latency;
extern const struct ic_golden ic_golden_javadi_saturation;
extern const struct ic_golden ic_golden_javadi_single_cluster;
extern const struct ic_golden ic_golden_sim_fattree;
extern const struct ic_golden ic_golden_sim_multicluster;
extern const struct ic_golden ic_golden_pcube_rates; /* hypercube/golden.c */
extern const struct ic_golden ic_golden_pcube_latency;
extern const struct ic_golden ic_golden_pcube_saturation;
extern const struct ic_golden ic_golden_sim_whcube;
extern const struct ic_golden ic_golden_qos_single; /* qos/golden.c */
extern const struct ic_golden ic_golden_qos_cube;
extern const struct ic_golden ic_golden_qos_three_realtime;
extern const struct ic_golden ic_golden_qos_be_64_flits;
extern const struct ic_golden ic_golden_qos_dmp_single;
extern const struct ic_golden ic_golden_qos_dmp_cube;
extern const struct ic_golden ic_golden_sim_qos;
extern const struct ic_golden ic_golden_wan_case1; /* wan/golden.c */
extern const struct ic_golden ic_golden_wan_case2;
extern const struct ic_golden ic_golden_wan_case2_impact;
extern const struct ic_golden ic_golden_ldr_hypercube_moore; /* ldr/golden.c */
extern const struct ic_golden ic_golden_ldr_generated;
extern const struct ic_golden ic_golden_ldr_enclosing_subcube;
extern const struct ic_golden ic_golden_ldr_zero_load;
extern const struct ic_golden ic_golden_sim_ldr;

#endif
