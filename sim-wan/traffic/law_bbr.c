/* SPDX-License-Identifier: BSD-2-Clause */
/* A TCP BBR sender, version 1, to share with: Cardwell et al., BBR: Congestion-Based Congestion
 * Control, ACM Queue 14(5), 2016, with the Linux constants. */
#include "sim-wan/traffic/law.h"

#define SNAPSHOTS (1u << 13)
#define BW_ROUNDS 10u

enum mode { STARTUP, DRAIN, PROBE_BW, PROBE_RTT };

struct snapshot {
    uint64_t delivered;
    gmc_time delivered_at, first_sent;
    gmc_time sent;
};

struct bbr {
    struct gmc_prng prng;
    enum mode mode;
    uint32_t bytes;
    struct snapshot snaps[SNAPSHOTS];
    uint64_t delivered;
    gmc_time delivered_at, first_sent;
    uint64_t bw[BW_ROUNDS]; /* maximum of each round */
    uint64_t round, next_round_delivered;
    uint64_t full_bw;
    uint32_t full_rounds, cycle;
    gmc_time cycle_at, rtt_at, probe_done;
    gmc_duration rtt_min;
    uint64_t inflight;
    uint64_t best_sample;
    bool filled;
};

static const uint32_t cycle_gain[8] = {1250, 750, 1000, 1000, 1000, 1000, 1000, 1000};

static uint64_t max_bw(const struct bbr *b)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < BW_ROUNDS; i++)
        most = b->bw[i] > most ? b->bw[i] : most;
    return most;
}

static uint64_t bdp(const struct bbr *b)
{
    return (uint64_t)((double)max_bw(b) * (double)b->rtt_min / 8e9);
}

static void bbr_init(void *state, const struct gmc_cc_params *params, struct gmc_prng *prng,
                     gmc_time now)
{
    struct bbr *b = state;

    *b = (struct bbr){.bytes = params->packet_bytes,
                      .rtt_min = params->initial_rtt,
                      .rtt_at = now,
                      .delivered_at = now,
                      .first_sent = now};
    gmc_prng_fork(prng, "bbr", &b->prng);
    b->bw[0] = (uint64_t)(10.0 * b->bytes * 8e9 / (double)(params->initial_rtt + 1));
}

static void bbr_on_sent(void *state, gmc_time now, uint64_t packet, uint32_t bytes,
                        bool app_limited)
{
    struct bbr *b = state;

    (void)app_limited;
    if (b->inflight == 0)
        b->first_sent = b->delivered_at = now;
    b->inflight += bytes;
    b->snaps[packet % SNAPSHOTS] = (struct snapshot){.delivered = b->delivered,
                                                     .delivered_at = b->delivered_at,
                                                     .first_sent = b->first_sent,
                                                     .sent = now};
}

static void bbr_on_acked(void *state, gmc_time now, uint64_t packet, uint32_t bytes, gmc_time sent)
{
    struct bbr *b = state;
    const struct snapshot *snap = &b->snaps[packet % SNAPSHOTS];
    gmc_duration acked, span;
    uint64_t sample;

    b->inflight -= bytes;
    b->delivered += bytes;
    b->delivered_at = now;
    b->first_sent = sent;
    acked = now - snap->delivered_at;
    span = sent - snap->first_sent;
    span = acked > span ? acked : span;
    if (span < b->rtt_min)
        return;
    sample = (uint64_t)((double)(b->delivered - snap->delivered) * 8e9 / (double)span);
    if (snap->delivered >= b->next_round_delivered) {
        b->next_round_delivered = b->delivered;
        b->round++;
        b->bw[b->round % BW_ROUNDS] = 0;
        if (!b->filled) {
            if (max_bw(b) > b->full_bw + b->full_bw / 4) {
                b->full_bw = max_bw(b);
                b->full_rounds = 0;
            } else if (++b->full_rounds >= 3) {
                b->filled = true;
            }
        }
    }
    if (sample > b->bw[b->round % BW_ROUNDS])
        b->bw[b->round % BW_ROUNDS] = sample;
}

static void bbr_on_lost(void *state, gmc_time now, uint64_t packet, uint32_t bytes, gmc_time sent)
{
    struct bbr *b = state;

    (void)now;
    (void)packet;
    (void)sent;
    b->inflight -= bytes;
}

static void bbr_on_spurious(void *state, gmc_time now, uint64_t packet, uint32_t bytes)
{
    (void)now;
    (void)packet;
    ((struct bbr *)state)->delivered += bytes;
}

static void probe_bw(struct bbr *b, gmc_time now, const struct gmc_cc_ack *ack)
{
    bool over = now - b->cycle_at > b->rtt_min;

    if (cycle_gain[b->cycle] > 1000)
        over = over && ack->inflight_bytes >= bdp(b) * 5 / 4;
    else if (cycle_gain[b->cycle] < 1000)
        over = over || ack->inflight_bytes <= bdp(b);
    if (now - b->cycle_at > 4 * b->rtt_min)
        over = true; /* losses keep the window from being filled */
    if (!over)
        return;
    b->cycle = (b->cycle + 1) % 8;
    b->cycle_at = now;
}

static void bbr_on_ack(void *state, const struct gmc_cc_ack *ack)
{
    struct bbr *b = state;
    gmc_time now = ack->now;
    bool expired = now - b->rtt_at > GMC_S(10);

    if (ack->rtt != 0 && (ack->rtt <= b->rtt_min || expired)) {
        b->rtt_min = ack->rtt;
        b->rtt_at = now;
    }
    if (expired && b->mode != PROBE_RTT) {
        b->mode = PROBE_RTT;
        b->probe_done = now + GMC_MS(200) + b->rtt_min;
        b->rtt_min = ack->rtt;
    }
    if (b->mode == STARTUP && b->filled)
        b->mode = DRAIN;
    if ((b->mode == DRAIN && ack->inflight_bytes <= bdp(b)) ||
        (b->mode == PROBE_RTT && now > b->probe_done)) {
        b->mode = b->filled ? PROBE_BW : STARTUP;
        b->rtt_at = now;
        b->cycle = (uint32_t)(2 + gmc_prng_below(&b->prng, 6));
        b->cycle_at = now;
    }
    if (b->mode == PROBE_BW)
        probe_bw(b, now, ack);
}

static void bbr_on_timeout(void *state, gmc_time now, uint32_t count)
{
    (void)state;
    (void)now;
    (void)count;
}

static uint64_t bbr_rate_bps(const void *state)
{
    const struct bbr *b = state;
    uint64_t gain = b->mode == STARTUP    ? 2885
                    : b->mode == DRAIN    ? 347
                    : b->mode == PROBE_BW ? cycle_gain[b->cycle]
                                          : 1000;
    uint64_t rate = max_bw(b) / 1000 * gain;

    return rate < 10000 ? 10000 : rate;
}

static uint64_t bbr_window_bytes(const void *state)
{
    const struct bbr *b = state;
    uint64_t window = bdp(b) * (b->mode == PROBE_BW ? 2000 : 2885) / 1000 + 3 * b->bytes;

    if (b->mode == PROBE_RTT)
        return 4 * (uint64_t)b->bytes;
    return window < 10 * (uint64_t)b->bytes ? 10 * (uint64_t)b->bytes : window;
}

static uint32_t bbr_loss_ppm(const void *state)
{
    (void)state;
    return 0;
}

const struct gmc_cc_ops sim_law_bbr = {
    .name = "bbr",
    .state_size = sizeof(struct bbr),
    .init = bbr_init,
    .on_sent = bbr_on_sent,
    .on_acked = bbr_on_acked,
    .on_lost = bbr_on_lost,
    .on_spurious = bbr_on_spurious,
    .on_ack = bbr_on_ack,
    .on_timeout = bbr_on_timeout,
    .rate_bps = bbr_rate_bps,
    .window_bytes = bbr_window_bytes,
    .loss_ppm = bbr_loss_ppm,
};
