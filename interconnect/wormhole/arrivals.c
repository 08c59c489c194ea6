/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws of arrivals. */
#include "interconnect/wormhole/arrivals.h"

#include "base/assert.h"
#include "interconnect/random.h"

void ic_wh_arrivals_init(struct ic_wh_arrivals *arrivals, uint32_t nodes, double rate,
                         bool is_bernoulli, const struct gmc_prng *parent)
{
    GMC_ASSERT(rate > 0 && (!is_bernoulli || rate <= 1));
    *arrivals = (struct ic_wh_arrivals){.nodes = nodes, .rate = rate, .is_bernoulli = is_bernoulli};
    gmc_prng_fork(parent, "arrivals", &arrivals->prng);
}

uint64_t ic_wh_arrivals_next(struct ic_wh_arrivals *arrivals, uint32_t *node)
{
    if (!arrivals->is_bernoulli) {
        arrivals->time +=
            ic_random_exponential(&arrivals->prng, 1 / (arrivals->rate * arrivals->nodes));
        *node = (uint32_t)gmc_prng_below(&arrivals->prng, arrivals->nodes);
        return (uint64_t)ceil(arrivals->time);
    }
    double failed = arrivals->rate < 1
                        ? floor(log(ic_random_unit(&arrivals->prng)) / log1p(-arrivals->rate))
                        : 0;
    double trial = arrivals->time + failed;
    arrivals->time = trial + 1;
    *node = (uint32_t)fmod(trial, arrivals->nodes);
    return (uint64_t)(trial / arrivals->nodes);
}
