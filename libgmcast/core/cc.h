/* SPDX-License-Identifier: BSD-2-Clause */
/* Congestion control of one link, as a table of functions over an opaque state. It sees what
 * became of packets and never a queue; it answers with a pacing rate and a window. */
#ifndef GMC_CORE_CC_H
#define GMC_CORE_CC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/near.h"
#include "base/prng.h"
#include "base/time.h"

struct gmc_cc_params {
    uint32_t packet_bytes;    /* a full packet on the wire, IP and UDP heads included */
    uint64_t fixed_rate_bps;  /* `fixed` only */
    gmc_duration initial_rtt; /* from path validation */
};

/* End of one acknowledgement: all fates of its packets have been reported. */
struct gmc_cc_ack {
    gmc_time now;
    uint64_t largest; /* packet number */
    gmc_time largest_sent;
    uint64_t largest_arrival_ns; /* the receiver's clock, offset unknown; monotonic */
    gmc_duration rtt;            /* ack delay removed; 0: no sample */
    uint64_t inflight_bytes;     /* after the fates */
    bool app_limited;            /* the sender had nothing to send since the packet before */
    uint32_t ce; /* packets newly reported with a mark of congestion; which ones is not told */
};

struct gmc_cc_ops {
    const char *name;
    bool takes_ecn; /* a mark slows it down as a loss does: packets may say that they are capable */
    size_t state_size;
    void (*init)(void *state, const struct gmc_cc_params *params, struct gmc_prng *prng,
                 gmc_time now);
    /* The path is said to carry so much, and data is to come. What was measured lately counts more.
     * NULL: it does not matter. */
    void (*expect)(void *state, gmc_time now, uint64_t rate_bps);
    /* What goes out now is urgent, and so is what follows for a while: our own queue on the way is
     * to be as short as the use of the path allows. NULL: it does not matter. */
    void (*on_urgent)(void *state, gmc_time now);
    /* A packet goes out; numbers grow by at least 1. */
    void (*on_sent)(void *state, gmc_time now, uint64_t packet, uint32_t bytes, bool app_limited);
    /* A packet is decided. In growing order of number within one acknowledgement as far as known;
     * a late arrival after on_lost is reported by on_spurious. */
    void (*on_acked)(void *state, gmc_time now, uint64_t packet, uint32_t bytes, gmc_time sent);
    void (*on_lost)(void *state, gmc_time now, uint64_t packet, uint32_t bytes, gmc_time sent);
    void (*on_spurious)(void *state, gmc_time now, uint64_t packet, uint32_t bytes);
    void (*on_ack)(void *state, const struct gmc_cc_ack *ack);
    /* No acknowledgement for a probe timeout: `count` in a row. */
    void (*on_timeout)(void *state, gmc_time now, uint32_t count);
    uint64_t (*rate_bps)(const void *state);     /* pacing, bits on the wire per second; > 0 */
    uint64_t (*window_bytes)(const void *state); /* bound on bytes in flight */
    uint32_t (*loss_ppm)(const void *state);     /* base loss as estimated */
    /* The time that what was acknowledged last stood in queues. NULL: not known. */
    gmc_duration (*queue)(const void *state);
    /* The rate was found to be what the path carries, and is not on its way there from the first
     * packets. NULL: always. */
    bool (*is_found)(const void *state);
    /* Of the pacing: how much of it may go at once where the host was late. NULL: no more than the
     * least. */
    gmc_duration (*slack)(const void *state);
    /* Of the state, what the next packets and acknowledgements look at. NULL: it is small. */
    void (*near)(const void *state, struct gmc_near *near);
};

extern const struct gmc_cc_ops gmc_cc_model;
extern const struct gmc_cc_ops gmc_cc_background; /* yields to everyone else */
extern const struct gmc_cc_ops gmc_cc_fixed;

#endif
