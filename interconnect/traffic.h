/* SPDX-License-Identifier: BSD-2-Clause */
/* Who sends to whom: patterns of traffic between hosts 0 to N-1, whose numbers have b = log2 N bits
 * in the patterns of bits.
 *
 *   uniform     any other host
 *   shift       (i + k) mod N
 *   ring        (i + 1) mod N
 *   transpose   bit i of the destination is bit (i + b/2) mod b of the source
 *   reversal    bit i of the destination is bit b-1-i of the source
 *   complement  all bits turned
 *
 * A host whose destination would be itself does not send. Source: Mehta 2005, chapter 6.
 */
#ifndef INTERCONNECT_TRAFFIC_H
#define INTERCONNECT_TRAFFIC_H

#include "base/prng.h"
#include "interconnect/error.h"

enum ic_traffic_pattern {
    IC_TRAFFIC_UNIFORM,
    IC_TRAFFIC_SHIFT,
    IC_TRAFFIC_RING,
    IC_TRAFFIC_TRANSPOSE,
    IC_TRAFFIC_REVERSAL,
    IC_TRAFFIC_COMPLEMENT,
    IC_TRAFFIC_PATTERNS
};

/* By pattern, ended by NULL. */
extern const char *const ic_traffic_names[IC_TRAFFIC_PATTERNS + 1];

struct ic_traffic {
    enum ic_traffic_pattern pattern;
    uint32_t hosts, shift, bits;
};

/* hosts 2 or more, a power of two for the patterns of bits; shift 1 to hosts - 1, for `shift` only.
 * INVALID with words. */
GMC_NODISCARD gmc_status ic_traffic_init(struct ic_traffic *traffic,
                                         enum ic_traffic_pattern pattern, uint32_t hosts,
                                         uint64_t shift, char *error);
/* INVALID with words when no host would send. */
GMC_NODISCARD gmc_status ic_traffic_check_senders(const struct ic_traffic *traffic, char *error);
/* Where a host of a pattern other than uniform sends; itself where it does not send. */
uint32_t ic_traffic_partner(const struct ic_traffic *traffic, uint32_t from);
/* The next destination; one draw for uniform traffic, none for others. */
static inline uint32_t ic_traffic_draw(const struct ic_traffic *traffic, uint32_t from,
                                       struct gmc_prng *prng)
{
    if (traffic->pattern != IC_TRAFFIC_UNIFORM)
        return ic_traffic_partner(traffic, from);
    uint32_t to = (uint32_t)gmc_prng_below(prng, traffic->hosts - 1);
    return to + (to >= from);
}

#endif
