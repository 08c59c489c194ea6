/* SPDX-License-Identifier: BSD-2-Clause */
/* How likely the delays of ways through a cube are not more than a time, by generating functions at
 * the points of a circle: tables of delays.h weighed, added up and multiplied, and the sum of the
 * first coefficients of what comes out. Nearly all the time that curves with deadlines take is
 * spent here. */
#ifndef INTERCONNECT_QOS_WAVES_H
#define INTERCONNECT_QOS_WAVES_H

#include "interconnect/qos/delays.h"

/* The sum over all sets of so many (hops) of the n channels of mixes[0..n - 1] of the probability
 * that the delays of these and of mixes[n], where messages leave, are not more than `last`
 * together; last < width. Of what was asked last, products stay in the delays. */
double ic_qos_waves_in_time(struct ic_qos_delays *delays, const struct ic_qos_mix *mixes,
                            uint64_t n, uint64_t hops, uint64_t last);

#endif
