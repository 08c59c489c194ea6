/* SPDX-License-Identifier: BSD-2-Clause */
/* Speeds of links as people wrote them into maps, such as those of the Internet Topology Zoo. */
#ifndef SIM_TOPO_SPEED_H
#define SIM_TOPO_SPEED_H

#include <stdbool.h>
#include <stdint.h>

/* "10 Gbps", "155 Mbit/s", "2.5G", "2x10GE", "OC-48", "STM-16", "E3"; words may follow ("10 Gbps
 * Lambda"). Of "<10 Gbps" and its kind the number is taken. False: none of these, such as bare
 * numbers, ranges ("1-10 Gbps") and bytes ("10 MB/s"), or 0, or above SIM_RATE_MAX_BPS.
 *
 * Source  ITU-T G.702 (E1, E3, T1, T3), G.707 (STM-n); Telcordia GR-253 (OC-n) */
bool sim_speed_parse(const char *text, uint64_t *rate_bps);

#endif
