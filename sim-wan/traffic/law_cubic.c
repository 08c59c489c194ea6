/* SPDX-License-Identifier: BSD-2-Clause */
/* A TCP CUBIC sender to share with: RFC 9438, its window in thousandths of a packet. Slow start
 * ends by loss or by delay (HyStart's); recovery is a cut once per round trip. */
#include "sim-wan/traffic/law.h"

struct cubic {
    uint64_t cwnd; /* thousandths of a packet */
    uint64_t ssthresh, w_max, origin, w_est;
    gmc_time epoch;
    bool in_epoch;
    double k_s;
    uint64_t recover; /* packets below it belong to the last cut */
    uint64_t next;
    gmc_duration srtt, rtt_min;
    uint32_t bytes, acked;
};

static void cubic_init(void *state, const struct gmc_cc_params *params, struct gmc_prng *prng,
                       gmc_time now)
{
    (void)prng;
    (void)now;
    *(struct cubic *)state = (struct cubic){.cwnd = 10000,
                                            .ssthresh = UINT64_MAX,
                                            .srtt = params->initial_rtt,
                                            .rtt_min = GMC_TIME_NEVER,
                                            .bytes = params->packet_bytes};
}

static void cubic_on_sent(void *state, gmc_time now, uint64_t packet, uint32_t bytes,
                          bool app_limited)
{
    (void)now;
    (void)bytes;
    (void)app_limited;
    ((struct cubic *)state)->next = packet + 1;
}

static double cube_root(double x)
{
    double root = x > 1 ? x : 1;

    for (int i = 0; i < 60; i++)
        root = (2 * root + x / (root * root)) / 3;
    return x <= 0 ? 0 : root;
}

static void grow(struct cubic *c, gmc_time now)
{
    double t, target;

    if (c->cwnd < c->ssthresh) {
        c->cwnd += 1000;
        return;
    }
    if (!c->in_epoch) {
        c->in_epoch = true;
        c->epoch = now;
        c->w_est = c->cwnd;
        c->k_s = c->w_max > c->cwnd ? cube_root((double)(c->w_max - c->cwnd) / 1000 / 0.4) : 0;
        c->origin = c->w_max > c->cwnd ? c->w_max : c->cwnd;
    }
    t = (double)(now - c->epoch + c->srtt) / 1e9 - c->k_s;
    target = (double)c->origin + 1000 * 0.4 * t * t * t;
    if (target > 1.5 * (double)c->cwnd)
        target = 1.5 * (double)c->cwnd;
    if (target > (double)c->cwnd)
        c->cwnd += (uint64_t)((target - (double)c->cwnd) * 1000 / (double)c->cwnd);
    c->w_est += 529 * 1000 / c->cwnd; /* alpha = 3 (1 - beta) / (1 + beta) */
    if (c->cwnd < c->w_est)
        c->cwnd = c->w_est;
}

static void cubic_on_acked(void *state, gmc_time now, uint64_t packet, uint32_t bytes,
                           gmc_time sent)
{
    (void)packet;
    (void)bytes;
    (void)sent;
    grow(state, now);
}

static void cubic_on_lost(void *state, gmc_time now, uint64_t packet, uint32_t bytes, gmc_time sent)
{
    struct cubic *c = state;

    (void)now;
    (void)bytes;
    (void)sent;
    if (packet < c->recover)
        return;
    c->recover = c->next;
    c->w_max = c->cwnd < c->w_max ? c->cwnd * 850 / 1000 : c->cwnd;
    c->cwnd = c->cwnd * 700 / 1000;
    if (c->cwnd < 2000)
        c->cwnd = 2000;
    c->ssthresh = c->cwnd;
    c->in_epoch = false;
}

static void cubic_on_spurious(void *state, gmc_time now, uint64_t packet, uint32_t bytes)
{
    (void)state;
    (void)now;
    (void)packet;
    (void)bytes;
}

static void cubic_on_ack(void *state, const struct gmc_cc_ack *ack)
{
    struct cubic *c = state;

    if (ack->rtt == 0)
        return;
    c->srtt = c->srtt - c->srtt / 8 + ack->rtt / 8;
    if (ack->rtt < c->rtt_min)
        c->rtt_min = ack->rtt;
    if (c->cwnd < c->ssthresh && c->cwnd > 16000 &&
        c->srtt > c->rtt_min + c->rtt_min / 8 + GMC_MS(2))
        c->ssthresh = c->cwnd;
}

static void cubic_on_timeout(void *state, gmc_time now, uint32_t count)
{
    struct cubic *c = state;

    (void)now;
    (void)count;
    c->ssthresh = c->cwnd * 700 / 1000;
    c->cwnd = 2000;
    c->recover = c->next;
    c->in_epoch = false;
}

static uint64_t cubic_rate_bps(const void *state)
{
    const struct cubic *c = state;
    uint64_t factor = c->cwnd < c->ssthresh / 2 ? 200 : 120;

    return c->cwnd * c->bytes / 1000 * 8 * factor / 100 * 1000 / (c->srtt / 1000 + 1) * 1000;
}

static uint64_t cubic_window_bytes(const void *state)
{
    const struct cubic *c = state;

    return c->cwnd / 1000 * c->bytes;
}

static uint32_t cubic_loss_ppm(const void *state)
{
    (void)state;
    return 0;
}

const struct gmc_cc_ops sim_law_cubic = {
    .name = "cubic",
    .state_size = sizeof(struct cubic),
    .init = cubic_init,
    .on_sent = cubic_on_sent,
    .on_acked = cubic_on_acked,
    .on_lost = cubic_on_lost,
    .on_spurious = cubic_on_spurious,
    .on_ack = cubic_on_ack,
    .on_timeout = cubic_on_timeout,
    .rate_bps = cubic_rate_bps,
    .window_bytes = cubic_window_bytes,
    .loss_ppm = cubic_loss_ppm,
};
