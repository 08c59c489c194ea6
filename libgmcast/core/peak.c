/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the peak of a rate; see peak.h. */
#include "core/peak.h"

#define SECOND GMC_S(1)

static bool is_young(const struct gmc_peak_kept *kept, gmc_time now, gmc_duration age)
{
    return kept->since != 0 && gmc_time_sub(now, kept->since) <= age;
}

/* Two spans of half the age each. */
static void keep(struct gmc_peak *peak, gmc_time now, uint64_t bps, gmc_duration age)
{
    struct gmc_peak_kept *kept = &peak->now;

    if (!is_young(kept, now, age / 2)) {
        peak->before = *kept;
        *kept = (struct gmc_peak_kept){.since = now};
    }
    if (bps > kept->most_bps)
        kept->most_bps = bps;
    if (peak->held_back && bps > kept->limit_bps)
        kept->limit_bps = bps;
}

void gmc_peak_add(struct gmc_peak *peak, gmc_time now, uint64_t bytes, bool held_back,
                  gmc_duration age)
{
    gmc_duration span = gmc_time_sub(now, peak->since);

    if (peak->is_open && span >= SECOND) {
        /* After a pause the second was longer, and shows no more than what it carried. */
        keep(peak, now, peak->bytes * 8 / (span / GMC_MS(1)) * 1000, age);
        peak->is_open = false;
    }
    if (!peak->is_open) {
        peak->is_open = peak->held_back = true;
        peak->since = now;
        peak->bytes = 0;
    }
    peak->bytes += bytes;
    peak->held_back = peak->held_back && held_back;
}

uint64_t gmc_peak_most(const struct gmc_peak *peak, gmc_time now, gmc_duration age)
{
    uint64_t bps = is_young(&peak->now, now, age) ? peak->now.most_bps : 0;

    return is_young(&peak->before, now, age) && peak->before.most_bps > bps ? peak->before.most_bps
                                                                            : bps;
}

uint64_t gmc_peak_limit(const struct gmc_peak *peak, gmc_time now, gmc_duration age)
{
    uint64_t bps = is_young(&peak->now, now, age) ? peak->now.limit_bps : 0;

    return is_young(&peak->before, now, age) && peak->before.limit_bps > bps
               ? peak->before.limit_bps
               : bps;
}
