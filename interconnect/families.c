/* SPDX-License-Identifier: BSD-2-Clause */
/* The families and the reference tables that there are. */
#include "interconnect/families.h"

const struct ic_family *const ic_families[] = {
    &ic_family_torus,
    &ic_family_star,
};
const size_t ic_family_count = sizeof(ic_families) / sizeof(ic_families[0]);

const struct ic_golden *const ic_goldens[] = {
    &ic_golden_sci_latency,   &ic_golden_sci_schedule,    &ic_golden_sci_schedule_nd,
    &ic_golden_star_schedule, &ic_golden_myrinet_latency,
};
const size_t ic_golden_count = sizeof(ic_goldens) / sizeof(ic_goldens[0]);
