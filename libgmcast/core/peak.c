/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the peak of a rate; see peak.h. */
#include "core/peak.h"

#define SPAN GMC_MS(500)
#define ROW 6u

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool is_young(const struct gmc_peak_kept *kept, gmc_time now, gmc_duration age)
{
    return kept->since != 0 && gmc_time_sub(now, kept->since) <= age;
}

/* What was carried before and is not now, though several always could get more, is of another time.
 * (A single receiver's path may just be a slow one.) */
static void forget_more(struct gmc_peak *peak, gmc_time now, uint64_t bps)
{
    if (peak->row == 0 || peak->held != GMC_PEAK_ALL) {
        peak->row = 0;
        peak->row_most = 0;
    }
    peak->row += peak->held == GMC_PEAK_ALL;
    peak->row_most = greater(peak->row_most, bps);
    if (peak->row < ROW)
        return;
    peak->row = 0;
    if (peak->row_most >= greater(peak->now.most_bps, peak->before.most_bps) / 2)
        return;
    peak->before = (struct gmc_peak_kept){0};
    peak->now = (struct gmc_peak_kept){.most_bps = peak->row_most,
                                       .busy_bps = peak->row_most,
                                       .limit_bps = peak->row_most,
                                       .limits = ROW,
                                       .since = now};
}

/* Two spans of half the age each. */
static void keep(struct gmc_peak *peak, gmc_time now, uint64_t bps, gmc_duration age)
{
    struct gmc_peak_kept *kept = &peak->now;

    if (!is_young(kept, now, age / 2)) {
        peak->before = *kept;
        *kept = (struct gmc_peak_kept){.since = now};
    }
    bool busy = peak->held != GMC_PEAK_START && peak->busy >= peak->bytes / 4 * 3;
    forget_more(peak, now, bps);
    if (bps > kept->most_bps)
        kept->most_bps = bps;
    if (busy && bps > kept->busy_bps)
        kept->busy_bps = bps;
    kept->limits += peak->held == GMC_PEAK_ALL;
    if (peak->held == GMC_PEAK_ALL && bps > kept->limit_bps)
        kept->limit_bps = bps;
}

void gmc_peak_add(struct gmc_peak *peak, const struct gmc_peak_ack *ack, gmc_duration age)
{
    gmc_duration span = gmc_time_sub(ack->now, peak->since);

    if (ack->sent > peak->newest)
        peak->newest = ack->sent;
    if (peak->is_open && span >= SPAN) {
        /* After a pause the span was longer, and shows no more than what it carried. */
        gmc_duration longer = greater(span, peak->newest - peak->sent);
        keep(peak, ack->now, peak->bytes * 8 / (longer / GMC_MS(1)) * 1000, age);
        peak->is_open = false;
    }
    if (!peak->is_open) {
        peak->is_open = true;
        peak->held = GMC_PEAK_ALL;
        peak->since = ack->now;
        peak->sent = peak->newest;
        peak->bytes = peak->busy = 0;
    }
    peak->bytes += ack->bytes;
    peak->busy += ack->held > GMC_PEAK_SHORT ? ack->bytes : 0;
    if (ack->held < peak->held)
        peak->held = ack->held;
}

/* What of both spans is not too old. */
static struct gmc_peak_kept best(const struct gmc_peak *peak, gmc_time now, gmc_duration age)
{
    struct gmc_peak_kept a = {0}, b = {0};

    if (is_young(&peak->now, now, age))
        a = peak->now;
    if (is_young(&peak->before, now, age))
        b = peak->before;
    return (struct gmc_peak_kept){.most_bps = greater(a.most_bps, b.most_bps),
                                  .busy_bps = greater(a.busy_bps, b.busy_bps),
                                  .limit_bps = greater(a.limit_bps, b.limit_bps),
                                  .limits = a.limits + b.limits};
}

uint64_t gmc_peak_most(const struct gmc_peak *peak, gmc_time now, gmc_duration age)
{
    return best(peak, now, age).most_bps;
}

uint64_t gmc_peak_busy(const struct gmc_peak *peak, gmc_time now, gmc_duration age)
{
    return best(peak, now, age).busy_bps;
}

uint64_t gmc_peak_limit(const struct gmc_peak *peak, gmc_time now, gmc_duration age)
{
    return best(peak, now, age).limit_bps;
}

bool gmc_peak_is_sure(const struct gmc_peak *peak, gmc_time now, gmc_duration age)
{
    return best(peak, now, age).limits >= ROW;
}
