/* SPDX-License-Identifier: BSD-2-Clause */
/* Losses that come in bursts: which packets a wire loses, told packet by packet as they leave the
 * transmitter.
 *
 * Source  Gilbert, Bell System Technical Journal 39 (1960); Elliott, BSTJ 42 (1963): a chain of two
 *         states that steps once per packet, then loses with the probability of the state it is in.
 *         It begins in its stationary distribution.
 */
#ifndef SIM_LOSS_MODEL_H
#define SIM_LOSS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"

/* Parts per million, each 0..1000000. All zero: loses nothing. */
struct sim_gilbert {
    uint32_t to_bad_ppm, to_good_ppm; /* steps out of the good and out of the bad state */
    uint32_t good_loss_ppm, bad_loss_ppm;
};

struct sim_gilbert_state {
    bool has_begun;
    bool is_bad;
};

/* What is lost in the long run, parts per million, rounded down. */
uint32_t sim_gilbert_loss_ppm(const struct sim_gilbert *gilbert);

/* Whether the next packet is lost. The state is zero at the beginning. Two draws. */
bool sim_gilbert_takes(const struct sim_gilbert *gilbert, struct sim_gilbert_state *state,
                       struct gmc_prng *prng);

/* Whether it can lose anything at all. */
static inline bool sim_gilbert_is_set(const struct sim_gilbert *gilbert)
{
    return gilbert->to_bad_ppm > 0 || gilbert->good_loss_ppm > 0;
}

#endif
