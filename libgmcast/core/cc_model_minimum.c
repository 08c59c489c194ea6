/* SPDX-License-Identifier: BSD-2-Clause */
/* Congestion control `model`: whether the least delay is still the path's. On a longer route, or
 * after a delay that was measured too short, a queue seems to stand that nobody made. */
#include "core/cc_model.h"

#define STILL_MAX 4u /* probes until a longer path is believed, ... */
/* ... or such a time, in which our rate has moved by a fifth and the delay has not; after so long
 * without an empty queue it is moved for that */
#define FLAT_AFTER GMC_S(1)
#define FLAT_RATES 800u
#define FLAT_LOOK_AFTER GMC_S(2)

/* What delays of one path differ by. */
static gmc_duration noise_of(const struct gmc_ccm *m)
{
    return gmc_ccm_least_rtt(m) / 64 + GMC_US(300);
}

static void learn_anew(struct gmc_ccm *m, gmc_time now)
{
    m->still = 0;
    m->flat = (struct gmc_ccm_flat){0};
    gmc_cc_min_reset(&m->delay_min);
    gmc_cc_min_reset(&m->rtt_recent);
    gmc_cc_min_reset(&m->rtt_min);
    (void)gmc_cc_min_add(&m->rtt_min, now, (int64_t)m->srtt);
}

/* A queue that others fill falls when we send a quarter less. If the delay rises with a probe but
 * never falls below where it was, time after time, and the path carries what it did, then no queue
 * stands there: the path has become longer, and the least delay has to be learnt anew. */
void gmc_ccm_check_minimum(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *down)
{
    bool still = down->queue_min + noise_of(m) >= m->cruise_queue &&
                 m->up_queue_max >= m->cruise_queue + gmc_ccm_least_rtt(m) / 12;

    m->still = still && m->up_best_again ? m->still + 1 : 0;
    if (m->still >= STILL_MAX)
        learn_anew(m, now);
}

static bool is_flat(const struct gmc_ccm *m, gmc_time now)
{
    return m->flat.probes > 0 && m->flat.least > gmc_ccm_queue_threshold(m) &&
           now - m->flat.since >= gmc_ccm_by_rtt(m, FLAT_AFTER);
}

/* Who has less to send than it might, as a relay, fills no probe, and so raises no delay. But a
 * queue is what was sent too much: it moves when our rate does, unless it is full, and then those
 * who fill it are not short of data, or it loses. */
void gmc_ccm_note_flat(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round)
{
    struct gmc_ccm_flat *flat = &m->flat;
    bool is_probe = round->phase == UP, is_limited = gmc_ccm_is_limited(round);
    uint64_t sent_bps = gmc_ccm_sent_bps(round);

    if ((is_probe && !is_limited) || round->windowed || round->ce > 0 ||
        gmc_cc_loss_is_excess(&m->base, round->decided, round->lost)) {
        *flat = (struct gmc_ccm_flat){0};
        return;
    }
    if (round->acks < 2 || round->decided < ROUND_PACKETS)
        return;
    gmc_duration least = gmc_time_min(flat->least, round->queue_min);
    gmc_duration most = gmc_time_max(flat->most, round->queue_max);
    if (flat->since == 0 || most - least > noise_of(m))
        *flat =
            (struct gmc_ccm_flat){now, round->queue_min, round->queue_max, sent_bps, sent_bps, 0};
    else
        *flat = (struct gmc_ccm_flat){flat->since,
                                      least,
                                      most,
                                      sent_bps < flat->least_bps ? sent_bps : flat->least_bps,
                                      sent_bps > flat->most_bps ? sent_bps : flat->most_bps,
                                      flat->probes};
    flat->probes += is_probe;
    if (is_flat(m, now) && flat->least_bps <= gmc_ccm_times(flat->most_bps, FLAT_RATES))
        learn_anew(m, now);
}

/* Who cannot send more, and has no reason to send less, never moves its rate. Before it doubts what
 * the path loses it looks: once, in a round that is a quarter slower. */
void gmc_ccm_look(struct gmc_ccm *m, gmc_time now)
{
    gmc_duration span = gmc_ccm_by_rtt(m, FLAT_LOOK_AFTER);

    if (m->phase != CRUISE || m->testing || now - m->clear_at < span ||
        gmc_time_sub(now, m->flat_looked_at) < span || !is_flat(m, now))
        return;
    m->flat_looked_at = now;
    m->look_bps = gmc_ccm_times(m->flat.most_bps, GAIN_DOWN);
    gmc_ccm_enter(m, now, DOWN);
}
