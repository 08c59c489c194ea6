/* SPDX-License-Identifier: BSD-2-Clause */
/* Windowed minimum: see the header. */
#include "core/cc_filter.h"

void gmc_cc_min_init(struct gmc_cc_min *filter, gmc_duration window)
{
    *filter = (struct gmc_cc_min){.window = window};
}

void gmc_cc_min_reset(struct gmc_cc_min *filter)
{
    filter->any = false;
}

int64_t gmc_cc_min_get(const struct gmc_cc_min *filter)
{
    return filter->any ? filter->best[0].value : 0;
}

/* The best one is too old, or the others are about to be: samples of the latter parts of the
 * window move up, so that an expiring minimum is followed by one that was true lately. */
static void expire(struct gmc_cc_min *filter, gmc_time now, int64_t value)
{
    uint64_t age = (uint64_t)(now - filter->best[0].at);
    uint64_t window = (uint64_t)filter->window;

    if (age > window) {
        filter->best[0] = filter->best[1];
        filter->best[1] = filter->best[2];
        filter->best[2].at = now;
        filter->best[2].value = value;
        if ((uint64_t)(now - filter->best[0].at) > window) {
            filter->best[0] = filter->best[1];
            filter->best[1] = filter->best[2];
        }
    } else if (filter->best[1].at == filter->best[0].at && age > window / 4) {
        filter->best[1].at = filter->best[2].at = now;
        filter->best[1].value = filter->best[2].value = value;
    } else if (filter->best[2].at == filter->best[1].at && age > window / 2) {
        filter->best[2].at = now;
        filter->best[2].value = value;
    }
}

int64_t gmc_cc_min_add(struct gmc_cc_min *filter, gmc_time now, int64_t value)
{
    int from = 3;

    if (!filter->any || value <= filter->best[0].value ||
        (uint64_t)(now - filter->best[2].at) > (uint64_t)filter->window)
        from = 0;
    else if (value <= filter->best[1].value)
        from = 1;
    else if (value <= filter->best[2].value)
        from = 2;
    for (int i = from; i < 3; i++) {
        filter->best[i].at = now;
        filter->best[i].value = value;
    }
    filter->any = true;
    if (from > 0)
        expire(filter, now, value);
    return filter->best[0].value;
}
