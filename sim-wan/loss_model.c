/* SPDX-License-Identifier: BSD-2-Clause */
/* Loss in bursts; see loss_model.h. */
#include "sim-wan/loss_model.h"

#define PPM UINT64_C(1000000)

/* With p = to_bad and r = to_good, p / (p + r) of all packets find the chain in its bad state. */
uint32_t sim_gilbert_loss_ppm(const struct sim_gilbert *gilbert)
{
    uint64_t p = gilbert->to_bad_ppm, r = gilbert->to_good_ppm;
    if (p == 0)
        return gilbert->good_loss_ppm;
    return (uint32_t)((p * gilbert->bad_loss_ppm + r * gilbert->good_loss_ppm) / (p + r));
}

static void step(const struct sim_gilbert *gilbert, struct sim_gilbert_state *state,
                 struct gmc_prng *prng)
{
    uint64_t p = gilbert->to_bad_ppm, r = gilbert->to_good_ppm;
    uint64_t change = state->is_bad ? r : p;
    if (!state->has_begun)
        change = p > 0 ? p * PPM / (p + r) : 0;
    state->has_begun = true;
    if (gmc_prng_chance_ppm(prng, (uint32_t)change))
        state->is_bad = !state->is_bad;
}

bool sim_gilbert_takes(const struct sim_gilbert *gilbert, struct sim_gilbert_state *state,
                       struct gmc_prng *prng)
{
    step(gilbert, state, prng);
    return gmc_prng_chance_ppm(prng,
                               state->is_bad ? gilbert->bad_loss_ppm : gilbert->good_loss_ppm);
}
