/* SPDX-License-Identifier: BSD-2-Clause */
/* How many real-time messages take longer through the network than a deadline, by the model.
 *
 * A message waits for B flits of its own class, B being 0 with 1 - P_c and else uniform on
 * 1..2 mx + M (18). The n0 = B + M flits that pass meanwhile are stretched: while the other
 * real-time channels are in state k, X_k of them, 0 with 1 - P_c(k) and else uniform on 1..n0 (19),
 * P_c(k) being the share of k in c's time. The message is late when sum X_k S_c(k) > D - (P - 1).
 * As printed the X_k need not add up to n0: one router then has messages in time before M flits can
 * have come; constrained they do.
 *
 * On the way through a cube each hop adds the flits that it waits for (n0 = B), ejection those and
 * the message's own (not less than M); the hops' distributions are convolved, the mean is over all
 * sets of dimensions with that many (20)-(23); both by generating functions (delays.h).
 *
 * Source: Kim, Yum, Das 2005.
 */
#ifndef INTERCONNECT_QOS_DEADLINE_H
#define INTERCONNECT_QOS_DEADLINE_H

#include "interconnect/qos/delays.h"

#define IC_QOS_DEADLINE_MAX 4096u /* cycles */

/* The width of delays (delays.h) that serve this deadline of a class, and shorter ones. */
uint64_t ic_qos_deadline_width(const struct ic_qos *qos, uint64_t traffic_class, uint64_t hops,
                               uint64_t deadline);

/* Probability that a message of a real-time class takes longer than `deadline` cycles in the
 * network, over `hops` hops of a cube (1..n; 0 for one router); in a cube to 1e-9 of itself and
 * 1e-10. Of a solution of this qos that there is. `delays` are those of the class, kind and hops,
 * of this qos with any loads in the same relation; NULL: they are made for this one call. NOMEM;
 * INVALID with words: best effort (which has no deadline), hops, deadline, more than 3 real-time
 * classes. */
GMC_NODISCARD gmc_status ic_qos_deadline_miss(const struct ic_qos *qos,
                                              const struct ic_qos_solution *solution,
                                              struct ic_qos_delays *delays, uint64_t traffic_class,
                                              uint64_t hops, uint64_t deadline,
                                              enum ic_qos_miss kind, double *miss, char *error);

#endif
