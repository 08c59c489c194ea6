/* SPDX-License-Identifier: BSD-2-Clause */
/* When sources generate messages: one stream per source and class, Poisson or ON/OFF.
 *
 * While a stream is on, messages follow each other at the peak rate p, exponentially; after N_on of
 * them on average it is off for I on average: 1/a = I/N_on + 1/p for a mean rate of a. With p = a
 * it is never off, which is Poisson.
 *
 * Source: Kim, Yum, Das 2005 (the ON/OFF source); exponential parts are ours.
 */
#ifndef INTERCONNECT_QOS_TRAFFIC_H
#define INTERCONNECT_QOS_TRAFFIC_H

#include <stdint.h>

#include "base/heap.h"
#include "base/prng.h"

struct ic_qos_rate {
    double mean;  /* a, messages per cycle, more than 0 */
    double peak;  /* p, at least a */
    double burst; /* N_on, at least 1 */
};

struct ic_qos_arrival {
    double time; /* cycles */
    uint32_t source, traffic_class;
};

struct ic_qos_stream;

struct ic_qos_traffic {
    struct ic_qos_stream *streams;
    struct gmc_heap heap; /* by time */
    const struct ic_qos_rate *rates;
    uint32_t classes;
};

/* NOMEM. The rates, one per class, are borrowed. */
GMC_NODISCARD gmc_status ic_qos_traffic_init(struct ic_qos_traffic *traffic, uint32_t sources,
                                             uint32_t classes, const struct ic_qos_rate *rates,
                                             uint64_t seed);
void ic_qos_traffic_fini(struct ic_qos_traffic *traffic);

/* Time of the next message. */
double ic_qos_traffic_due(const struct ic_qos_traffic *traffic);
/* Takes it, and draws uniformly who else among `sources` it is for. */
struct ic_qos_arrival ic_qos_traffic_next(struct ic_qos_traffic *traffic, uint32_t sources,
                                          uint32_t *to);

#endif
