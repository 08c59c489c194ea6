/* SPDX-License-Identifier: BSD-2-Clause */
/* A simulation on the flit engine: arrivals, warm-up, measuring, saturation. */
#ifndef INTERCONNECT_WORMHOLE_RUN_H
#define INTERCONNECT_WORMHOLE_RUN_H

#include "interconnect/family.h"
#include "interconnect/stats.h"
#include "interconnect/traffic.h"
#include "interconnect/wormhole/arrivals.h"
#include "interconnect/wormhole/engine.h"

#define IC_WH_MESSAGES 60000u /* measured when nobody says how many */

struct ic_wh_load {
    double rate; /* messages per node and cycle, above 0 */
    bool is_bernoulli;
    struct ic_traffic traffic; /* its hosts are the nodes of the network */
    bool has_own;              /* messages to oneself are sent too */
    double cycle; /* in the unit that messages are recorded in; 0: they are in cycles */
};

/* Latencies in cycles, from the first edge of a cycle after the message was generated. */
struct ic_wh_figures {
    bool is_saturated;        /* the sources' queues grow: latencies are those of this run only */
    double latency;           /* mean, with the source's queue */
    double network;           /* mean, from the cycle in which the first flit left */
    double hops;              /* mean, all channels counted */
    double offered, accepted; /* messages per node and cycle, generated and delivered */
    uint64_t warmup;          /* messages before measuring */
    uint64_t cycles;          /* of measuring */
    uint64_t flit_hops;       /* flits over channels, in all cycles */
};

/* Warms up until ic_warmup sees no trend, and for 20 message lengths at least; then measures
 * run->messages deliveries, and says saturated when what was sent and not delivered grew by more
 * than 1.5 % of what was sent meanwhile (and 4 standard deviations of what was there). Stops early
 * when more than 64 messages per node wait, which is all that a run that only measures looks at.
 * Records go to the run's callbacks: messages and channel
 * loads of the measured time. INVALID with words, NOMEM, STATE with words: ended by on_progress. */
GMC_NODISCARD gmc_status ic_wh_run(const struct ic_wh_network *network,
                                   const struct ic_wh_options *options,
                                   const struct ic_wh_load *load, const struct ic_run *run,
                                   struct ic_wh_figures *figures, char *error);

#endif
