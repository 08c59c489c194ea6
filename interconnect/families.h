/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of the tables that the folders define and families.c lists. Others find them there by
 * name. */
#ifndef INTERCONNECT_FAMILIES_H
#define INTERCONNECT_FAMILIES_H

#include "interconnect/family.h"
#include "interconnect/golden.h"

extern const struct ic_family ic_family_torus; /* torus/family.c */
extern const struct ic_family ic_family_star;  /* star/family.c */

extern const struct ic_golden ic_golden_sci_latency; /* torus/golden.c */
extern const struct ic_golden ic_golden_sci_schedule;
extern const struct ic_golden ic_golden_sci_schedule_nd;
extern const struct ic_golden ic_golden_star_schedule; /* star/golden.c */
extern const struct ic_golden ic_golden_myrinet_latency;

#endif
