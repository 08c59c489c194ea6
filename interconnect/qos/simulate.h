/* SPDX-License-Identifier: BSD-2-Clause */
/* A simulation of the QoS router or cube: uniform traffic of all classes over the flit engine, what
 * the classes' messages need, and how many miss a deadline.
 *
 * Times are cycles. A message that is generated within a cycle can enter with the next; the half
 * cycle that this takes on average is part of its wait. A class whose queues at the sources grew
 * during the measurement by more than 2 % of what was generated, and by more than 4 messages per
 * node, is saturated; its network latency then is that of full buffers.
 */
#ifndef INTERCONNECT_QOS_SIMULATE_H
#define INTERCONNECT_QOS_SIMULATE_H

#include "interconnect/family.h"
#include "interconnect/qos/engine.h"

#define IC_QOS_MESSAGES 60000u /* when nobody says how many */
#define IC_QOS_MESSAGES_MAX 1000000000u
#define IC_QOS_PEAK_MAX 1000.0 /* times the mean rate */
#define IC_QOS_BURST_MAX 1e6
#define IC_QOS_SIMULATED_LEAST 1e-7 /* rate of a class */

struct ic_qos_simulation {
    struct ic_qos qos;
    uint64_t ports; /* of one router, 2..32 */
    enum ic_qos_scheduler scheduler;
    enum ic_qos_ejection ejection;
    double peak;  /* of real-time sources while they are on, over their mean rate; 1: Poisson */
    double burst; /* messages per time that they are on, on average; from 1 */
    uint64_t deadline; /* cycles in the network; 0: none is looked at */
    uint64_t hops;     /* of the messages in a cube whose deadline is looked at */
};

struct ic_qos_simulated {
    struct {
        double network, wait; /* means; NAN: of no message */
        double miss;          /* share of real-time messages after the deadline; the same */
        bool is_saturated;
    } classes[IC_QOS_CLASSES_MAX];
    uint64_t warmup; /* messages before the measurement */
    uint64_t cycles; /* of the measurement */
    uint64_t flit_hops;
};

/* run->messages are measured, of all classes together. INVALID with words, NOMEM; STATE with words
 * when run->on_progress ended it. */
GMC_NODISCARD gmc_status ic_qos_simulate(const struct ic_qos_simulation *simulation,
                                         const struct ic_run *run, struct ic_qos_simulated *out,
                                         char *error);

#endif
