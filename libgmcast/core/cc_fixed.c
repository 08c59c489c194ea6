/* SPDX-License-Identifier: BSD-2-Clause */
/* Congestion control `fixed`: the rate of a provisioned circuit, whatever happens. The window
 * only bounds what is in flight when acknowledgements stay away. */
#include "core/cc.h"
#include "core/cc_loss.h"

#define RATE_MIN UINT64_C(64000)
#define SLACK GMC_MS(100)

struct fixed {
    uint64_t rate_bps;
    uint32_t packet_bytes;
    gmc_duration srtt;
    struct gmc_cc_loss loss;
};

static void fixed_init(void *state, const struct gmc_cc_params *params, struct gmc_prng *prng,
                       gmc_time now)
{
    struct fixed *f = state;

    (void)prng;
    (void)now;
    *f = (struct fixed){.rate_bps = params->fixed_rate_bps,
                        .packet_bytes = params->packet_bytes == 0 ? 1500 : params->packet_bytes,
                        .srtt = params->initial_rtt};
    if (f->rate_bps < RATE_MIN)
        f->rate_bps = RATE_MIN;
    gmc_cc_loss_init(&f->loss);
}

static void fixed_on_sent(void *state, gmc_time now, uint64_t packet, uint32_t bytes,
                          bool app_limited)
{
    (void)state;
    (void)now;
    (void)packet;
    (void)bytes;
    (void)app_limited;
}

static void fixed_on_acked(void *state, gmc_time now, uint64_t packet, uint32_t bytes,
                           gmc_time sent)
{
    (void)now;
    (void)packet;
    (void)bytes;
    (void)sent;
    gmc_cc_loss_learn(&((struct fixed *)state)->loss, 1, 0);
}

static void fixed_on_lost(void *state, gmc_time now, uint64_t packet, uint32_t bytes, gmc_time sent)
{
    (void)now;
    (void)packet;
    (void)bytes;
    (void)sent;
    gmc_cc_loss_learn(&((struct fixed *)state)->loss, 1, 1);
}

static void fixed_on_spurious(void *state, gmc_time now, uint64_t packet, uint32_t bytes)
{
    (void)now;
    (void)packet;
    (void)bytes;
    gmc_cc_loss_undo(&((struct fixed *)state)->loss);
}

static void fixed_on_ack(void *state, const struct gmc_cc_ack *ack)
{
    struct fixed *f = state;

    if (ack->rtt != 0)
        f->srtt = f->srtt - f->srtt / 8 + ack->rtt / 8;
}

static void fixed_on_timeout(void *state, gmc_time now, uint32_t count)
{
    (void)state;
    (void)now;
    (void)count;
}

static uint64_t fixed_rate_bps(const void *state)
{
    return ((const struct fixed *)state)->rate_bps;
}

static uint64_t fixed_window_bytes(const void *state)
{
    const struct fixed *f = state;

    return f->rate_bps / 8000 * (2 * (f->srtt / 1000) + SLACK / 1000) / 1000 +
           64 * (uint64_t)f->packet_bytes;
}

static uint32_t fixed_loss_ppm(const void *state)
{
    return gmc_cc_loss_ppm(&((const struct fixed *)state)->loss);
}

const struct gmc_cc_ops gmc_cc_fixed = {
    .name = "fixed",
    .state_size = sizeof(struct fixed),
    .init = fixed_init,
    .on_sent = fixed_on_sent,
    .on_acked = fixed_on_acked,
    .on_lost = fixed_on_lost,
    .on_spurious = fixed_on_spurious,
    .on_ack = fixed_on_ack,
    .on_timeout = fixed_on_timeout,
    .rate_bps = fixed_rate_bps,
    .window_bytes = fixed_window_bytes,
    .loss_ppm = fixed_loss_ppm,
};
