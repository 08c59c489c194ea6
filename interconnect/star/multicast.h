/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast algorithms around one switch (Myrinet), as schedules over ranks 0..G-1, the root 0.
 *
 *   separate   step i: 0 to i
 *   serial     step i: i - 1 to i
 *   binomial   step t: every x < 2^(t-1) to x + 2^(t-1)
 *   binary     a heap: x to 2x + 1 one step after x received, to 2x + 2 two steps after
 *
 * Source: Oral 2003, chapters 3 and 4.
 */
#ifndef INTERCONNECT_STAR_MULTICAST_H
#define INTERCONNECT_STAR_MULTICAST_H

#include "interconnect/error.h"
#include "interconnect/schedule.h"

enum ic_star_algorithm {
    IC_STAR_BINOMIAL,
    IC_STAR_BINARY,
    IC_STAR_SERIAL,
    IC_STAR_SEPARATE,
    IC_STAR_ALGORITHMS
};

/* "binomial", "binary", "serial", "separate". */
const char *ic_star_algorithm_name(enum ic_star_algorithm algorithm);
/* NOT_FOUND. */
GMC_NODISCARD gmc_status ic_star_algorithm_from_name(const char *name,
                                                     enum ic_star_algorithm *algorithm);

/* The caller ends the schedule with ic_schedule_fini. G 2..2^20. INVALID with words, NOMEM. */
GMC_NODISCARD gmc_status ic_star_multicast(uint64_t group, enum ic_star_algorithm algorithm,
                                           struct ic_schedule *schedule, char *error);

/* Every message visits two links, from its sender to the switch and from there on. */
struct ic_star_links {
    uint64_t visits;
    uint64_t used_cables; /* each with its two directions counted once */
    uint64_t used_directed;
    double concentration_cable; /* visits / used_cables */
    double concentration_directed;
};

void ic_star_measure_links(const struct ic_schedule *schedule, struct ic_star_links *links);

#endif
