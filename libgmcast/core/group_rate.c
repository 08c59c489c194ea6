/* SPDX-License-Identifier: BSD-2-Clause */
/* The rate of a group: see group_rate.h. */
#include "core/group_rate.h"

#define PPM 1000000u
#define MORE_PPM 30000u   /* above what is usual, until it is looked into */
#define TRIAL_PPM 800000u /* of a round: five times what a trial costs */
#define BELOW_PERCENT 95u /* of what arrived: the rate of a trial, ... */
#define STEP_PERCENT 85u  /* ... but no more of the rate before: it has to show */
#define BOUND_PERCENT 90u /* of what was sent: the trial's rate was felt */
#define SAME_PERCENT 75u  /* of the loss before, ... */
#define KEPT_PERCENT 115u /* ... and of what was not lost: chance */
#define LEAST_PERCENT 2u  /* of the rate before: no trial goes below */
#define RAISE_PERCENT_MIN 10u
#define RAISE_PERCENT_MAX 40u
#define RAISE_PERCENT_BLIND 100u
#define BLIND_PPM 900000u /* lost before: what little arrived says nothing of what is carried */
#define BLIND_MORE_PPM 100000u /* too much by half loses more than that; chance less */
#define RAISE_WAIT_MIN GMC_MS(500)
#define RAISE_WAIT_MAX GMC_S(10)
#define USELESS_PPM 500000u
#define FLOOR_PART 1000u /* of the configured rate: from less it would not come back in time */
#define USUAL_SHIFT 2    /* of the smoothing */
#define SAMPLE_MAX 1000u
#define SAMPLE_MIN 200u
#define SAMPLE_TIME GMC_MS(100)

void gmc_group_rate_init(struct gmc_group_rate *rate, uint64_t most_bps)
{
    *rate = (struct gmc_group_rate){.most_bps = most_bps,
                                    .bps = most_bps,
                                    .raise_wait = RAISE_WAIT_MIN,
                                    .raise_percent = RAISE_PERCENT_MIN};
}

uint64_t gmc_group_rate_sample(const struct gmc_group_rate *rate, uint32_t packet_bytes)
{
    uint64_t packets = rate->bps / 8 / packet_bytes * (SAMPLE_TIME / GMC_MS(1)) / 1000;
    if (packets > SAMPLE_MAX)
        return SAMPLE_MAX;
    return packets < SAMPLE_MIN ? SAMPLE_MIN : packets;
}

static uint64_t part_of(uint64_t bps, uint64_t part, uint64_t whole)
{
    return bps / whole * part + bps % whole * part / whole;
}

static void set(struct gmc_group_rate *rate, enum gmc_group_trial trial, uint64_t bps)
{
    uint64_t least = rate->most_bps / FLOOR_PART;
    rate->trial = trial;
    rate->bps = bps > rate->most_bps ? rate->most_bps : bps < least ? least : bps;
}

static bool is_more(const struct gmc_group_rate *rate, uint32_t loss_ppm)
{
    return loss_ppm > rate->usual_loss + MORE_PPM;
}

/* The network was full, at that rate or at the one that was tried. */
static void is_full(struct gmc_group_rate *rate, gmc_time now, uint64_t bps)
{
    set(rate, GMC_GROUP_STEADY, bps);
    rate->raise_percent = RAISE_PERCENT_MIN;
    rate->raise_at = gmc_time_add(now, rate->raise_wait);
    rate->raise_wait *= 2;
    if (rate->raise_wait > RAISE_WAIT_MAX)
        rate->raise_wait = RAISE_WAIT_MAX;
}

static void raise(struct gmc_group_rate *rate, uint32_t loss_ppm)
{
    rate->before_bps = rate->bps;
    rate->before_loss = loss_ppm;
    set(rate, GMC_GROUP_RAISED, part_of(rate->bps, 100 + rate->raise_percent, 100));
}

static void lower(struct gmc_group_rate *rate, uint64_t sent_bps, uint32_t loss_ppm)
{
    uint64_t below = part_of(part_of(sent_bps, PPM - loss_ppm, PPM), BELOW_PERCENT, 100);
    uint64_t step = part_of(rate->bps, STEP_PERCENT, 100);
    uint64_t least = part_of(rate->before_bps, LEAST_PERCENT, 100);
    if (below > step)
        below = step;
    set(rate, GMC_GROUP_LOWERED, below > least ? below : least);
}

static void begin_trial(struct gmc_group_rate *rate, uint64_t sent_bps, uint32_t loss_ppm)
{
    rate->before_bps = rate->bps;
    rate->before_sent = sent_bps;
    rate->before_loss = rate->usual_loss + rate->excess / rate->rounds;
    rate->is_blind = loss_ppm >= BLIND_PPM;
    rate->excess = rate->rounds = 0;
    lower(rate, sent_bps, loss_ppm);
}

static bool is_same(const struct gmc_group_rate *rate, uint32_t loss_ppm)
{
    uint64_t kept = PPM - loss_ppm, kept_before = PPM - rate->before_loss;
    return loss_ppm > part_of(rate->before_loss, SAME_PERCENT, 100) &&
           kept <= part_of(kept_before, KEPT_PERCENT, 100);
}

static void judge_lowered(struct gmc_group_rate *rate, gmc_time now, uint64_t sent_bps,
                          uint32_t loss_ppm)
{
    uint32_t above =
        rate->before_loss > rate->usual_loss ? rate->before_loss - rate->usual_loss : 0;
    bool is_least = rate->bps <= part_of(rate->before_bps, LEAST_PERCENT, 100);
    bool same = is_same(rate, loss_ppm);
    if (is_least && loss_ppm > USELESS_PPM)
        rate->is_useless = true;
    if (loss_ppm <= rate->usual_loss + above / 2 || (is_least && !same)) {
        if (loss_ppm <= rate->usual_loss + above / 2)
            rate->usual_loss = loss_ppm; /* what is left of it is the path's own */
        is_full(rate, now, rate->bps);
        if (rate->is_blind) { /* a wire that was down for a moment, perhaps */
            rate->raise_percent = RAISE_PERCENT_BLIND;
            raise(rate, loss_ppm);
        }
        return;
    }
    bool felt = sent_bps < part_of(rate->before_sent, BOUND_PERCENT, 100);
    if (same && (felt || is_least)) {
        rate->usual_loss = (rate->before_loss + loss_ppm) / 2;
        set(rate, GMC_GROUP_STEADY, rate->before_bps);
        return;
    }
    lower(rate, sent_bps, loss_ppm);
}

static void judge_raised(struct gmc_group_rate *rate, gmc_time now, uint32_t loss_ppm)
{
    bool is_blind = rate->raise_percent == RAISE_PERCENT_BLIND;
    uint32_t usual = is_blind ? rate->before_loss + BLIND_MORE_PPM : rate->before_loss + MORE_PPM;
    if (loss_ppm > usual || (!is_blind && is_more(rate, loss_ppm))) {
        is_full(rate, now, rate->before_bps);
        return;
    }
    rate->trial = GMC_GROUP_STEADY;
    if (rate->bps == rate->most_bps)
        rate->raise_wait = RAISE_WAIT_MIN;
    else if (is_blind)
        raise(rate, loss_ppm);
    if (rate->raise_percent < RAISE_PERCENT_MAX)
        rate->raise_percent *= 2;
}

static void judge_steady(struct gmc_group_rate *rate, gmc_time now, uint64_t sent_bps,
                         uint32_t loss_ppm)
{
    if (is_more(rate, loss_ppm)) {
        rate->excess += loss_ppm - rate->usual_loss;
        rate->rounds++;
        if (rate->excess >= TRIAL_PPM)
            begin_trial(rate, sent_bps, loss_ppm);
        return;
    }
    rate->excess = rate->rounds = 0; /* somebody was busy for a moment */
    if (loss_ppm < rate->usual_loss)
        rate->usual_loss -= (rate->usual_loss - loss_ppm) >> USUAL_SHIFT;
    if (rate->bps == rate->most_bps || now < rate->raise_at)
        return;
    raise(rate, loss_ppm);
}

void gmc_group_rate_round(struct gmc_group_rate *rate, gmc_time now, uint64_t sent_bps,
                          uint32_t loss_ppm)
{
    if (loss_ppm > PPM)
        loss_ppm = PPM;
    if (rate->trial == GMC_GROUP_LOWERED)
        judge_lowered(rate, now, sent_bps, loss_ppm);
    else if (rate->trial == GMC_GROUP_RAISED)
        judge_raised(rate, now, loss_ppm);
    else
        judge_steady(rate, now, sent_bps, loss_ppm);
}
