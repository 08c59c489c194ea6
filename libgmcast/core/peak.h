/* SPDX-License-Identifier: BSD-2-Clause */
/* The most that was carried in any half second lately: a rate that something is known to carry, and
 * perhaps carries more. Spans in which there was always more to send, at a rate that had been
 * found, are told from others, and of these again those in which it was so for several that share
 * it: what they show is a limit. What is older than an age is forgotten, within half of that, and
 * at once where three seconds that show a limit brought less than half of it. Acknowledgements may
 * stand in a queue and come together: what was sent over a longer time than they came counts as
 * that.
 *
 * Bytes in, bit/s out, times in ns. The structure holds no memory; zeros are a fresh one. */
#ifndef GMC_CORE_PEAK_H
#define GMC_CORE_PEAK_H

#include <stdbool.h>

#include "base/time.h"

/* What held a sender back. */
enum gmc_peak_held {
    GMC_PEAK_START, /* its own congestion control, which has not found yet what the path carries */
    GMC_PEAK_SHORT, /* nothing: it had no more to send, or was not to send more */
    GMC_PEAK_ONE,   /* the path of one receiver, or what is measured */
    GMC_PEAK_ALL    /* what is measured, most likely: several receivers could get more */
};

struct gmc_peak_kept {
    uint64_t most_bps;  /* of all spans */
    uint64_t busy_bps;  /* of those in which there was always more to send */
    uint64_t limit_bps; /* of those in which it was always for several, ... */
    uint32_t limits;    /* ... and how many these were */
    gmc_time since;     /* 0: nothing is kept */
};

struct gmc_peak {
    uint64_t bytes; /* of the present span */
    uint64_t busy;  /* of these, when there was more to send */
    gmc_time since;
    gmc_time sent, newest; /* the youngest packet acknowledged, when it began and now */
    bool is_open;
    enum gmc_peak_held held; /* the least of it */
    struct gmc_peak_kept now, before;
    uint32_t row;      /* spans, one after the other, that show a limit, ... */
    uint64_t row_most; /* ... and the most of them */
};

/* A packet was acknowledged. */
struct gmc_peak_ack {
    gmc_time now, sent;
    uint64_t bytes;
    enum gmc_peak_held held;
};

void gmc_peak_add(struct gmc_peak *peak, const struct gmc_peak_ack *ack, gmc_duration age);
/* 0: nothing is known, or it is too old. */
uint64_t gmc_peak_most(const struct gmc_peak *peak, gmc_time now, gmc_duration age);
uint64_t gmc_peak_busy(const struct gmc_peak *peak, gmc_time now, gmc_duration age);
uint64_t gmc_peak_limit(const struct gmc_peak *peak, gmc_time now, gmc_duration age);
/* The limit was seen for three seconds: it is not what links carried on their way up. */
bool gmc_peak_is_sure(const struct gmc_peak *peak, gmc_time now, gmc_duration age);

#endif
