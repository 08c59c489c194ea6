/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the arithmetic on durations that does not fit into one instruction.
 */
#include "base/time.h"

#include "base/assert.h"

gmc_duration gmc_duration_scale(gmc_duration wait, uint32_t num, uint32_t den)
{
    uint64_t whole, rest;

    GMC_ASSERT(den > 0);
    /* wait = whole * den + rest, so the quotient is whole * num + rest * num / den; rest and num
     * are 32 bits wide and their product cannot overflow.
     */
    whole = wait / den;
    rest = (wait % den) * num / den;
    if (num != 0 && whole > (GMC_TIME_NEVER - rest) / num)
        return GMC_TIME_NEVER;
    return whole * num + rest;
}

gmc_duration gmc_duration_of_bytes(uint64_t bytes, uint64_t rate_bps)
{
    const uint64_t ns_per_byte_at_1bps = 8u * GMC_S(1);
    uint64_t whole, rest, step;

    if (rate_bps == 0)
        return GMC_TIME_NEVER;
    if (bytes <= UINT64_MAX / ns_per_byte_at_1bps) {
        uint64_t product = bytes * ns_per_byte_at_1bps;
        return product / rate_bps + (product % rate_bps != 0);
    }
    /* More than 2.3 GB: count in chunks of 1 GiB, whose product with 8e9 still fits. The rounding
     * up of one chunk is repeated in each, below one ns per GiB.
     */
    step = UINT64_C(1) << 30;
    whole = bytes / step;
    rest = gmc_duration_of_bytes(bytes % step, rate_bps);
    step = gmc_duration_of_bytes(step, rate_bps);
    if (whole > (GMC_TIME_NEVER - rest) / step)
        return GMC_TIME_NEVER;
    return whole * step + rest;
}
