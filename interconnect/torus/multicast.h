/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast algorithms on the unidirectional torus, as schedules.
 *
 *   separate   the root sends to everybody, in dimension order from itself
 *   U-torus    dimension order from the root; who holds a range of it sends to the range's center,
 *              which takes over the upper part: ceil(log2 G) steps
 *   S-torus    a chain along the ranks, from the root
 *   Md-torus   one partition per ring: the root sends to the nearest member of every other ring,
 *              then each goes along its ring as a chain. In N dimensions by recursion, x_1 first
 *   Mu-torus   the chain of S-torus cut into runs of r, otherwise as Md-torus
 *
 * Source: Oral 2003, chapter 2 with (2-1), (2-2). The figure with the paths of Md and Mu is lost:
 * that runs begin at the root, that rings are taken from the root's on, and that a holder serves
 * other partitions before its own, are conventions.
 */
#ifndef INTERCONNECT_TORUS_MULTICAST_H
#define INTERCONNECT_TORUS_MULTICAST_H

#include "interconnect/schedule.h"
#include "interconnect/torus/torus.h"

enum ic_torus_algorithm {
    IC_TORUS_SEPARATE,
    IC_TORUS_U,
    IC_TORUS_S,
    IC_TORUS_MD,
    IC_TORUS_MU,
    IC_TORUS_ALGORITHMS
};

/* "separate", "U-torus", "S-torus", "Md-torus", "Mu-torus". */
const char *ic_torus_algorithm_name(enum ic_torus_algorithm algorithm);
/* NOT_FOUND. */
GMC_NODISCARD gmc_status ic_torus_algorithm_from_name(const char *name,
                                                      enum ic_torus_algorithm *algorithm);

/* Schedule over the positions of the group; the caller ends it with ic_schedule_fini. r (Mu-torus
 * only) is 1 to k^N; from G on there is one run. INVALID with words, NOMEM. */
GMC_NODISCARD gmc_status ic_torus_multicast(const struct ic_torus *torus,
                                            const struct ic_torus_group *group,
                                            enum ic_torus_algorithm algorithm, uint32_t r,
                                            struct ic_schedule *schedule, char *error);
/* The same, but members that are left over when Mu-torus is cut into runs of r join the last full
 * run instead of being one of their own: so (2-12) counts. */
GMC_NODISCARD gmc_status ic_torus_multicast_joined(const struct ic_torus *torus,
                                                   const struct ic_torus_group *group,
                                                   enum ic_torus_algorithm algorithm, uint32_t r,
                                                   struct ic_schedule *schedule, char *error);

#endif
