/* SPDX-License-Identifier: BSD-2-Clause */
/* Rates, times and plain numbers in topologies: with the units of scenarios (conf.h). */
#ifndef SIM_TOPO_UNITS_H
#define SIM_TOPO_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

#define SIM_RATE_MAX_BPS UINT64_C(1000000000000000) /* 1 Pbit/s */
#define SIM_DELAY_MAX GMC_S(3600)

/* "100Mbit", "2.5 Gbps", "10Gbit/s". False: none, 0, or above SIM_RATE_MAX_BPS. */
bool sim_parse_rate(const char *text, uint64_t *rate_bps);

/* "15ms", "0.3 s", "250us", "900ns", "0". False: none, negative, or above SIM_DELAY_MAX. */
bool sim_parse_delay(const char *text, gmc_duration *delay);

/* The same two, as text that reads back to the same value: "2.5Gbit", "15ms". */
#define SIM_UNITS_TEXT_MAX 32
const char *sim_format_rate(uint64_t rate_bps, char out[SIM_UNITS_TEXT_MAX]);
const char *sim_format_delay(gmc_duration delay, char out[SIM_UNITS_TEXT_MAX]);

/* A whole number without sign, at most max, and nothing behind it. */
bool sim_parse_count(const char *text, uint64_t max, uint64_t *count);

/* "13.4", "-0.5"; finite. */
bool sim_parse_real(const char *text, double *value);

#endif
