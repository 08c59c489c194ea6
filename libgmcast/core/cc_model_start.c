/* SPDX-License-Identifier: BSD-2-Clause */
/* Congestion control `model`: what a stretch of packets says of the path, and START and DRAIN,
 * which act on single acknowledgements. */
#include "core/cc_model.h"

#define FLAT 6u
#define FLAT_PACKETS 64u /* fewer cannot show growth: look_back takes 24 to see any */
#define FLAT_LIMITED 32u
#define UNPROVEN_PART 4u /* of an estimate that nothing speaks for */

/* ------------------------------------------------------------------ samples */

static uint64_t arrived_bytes(const struct gmc_cc_mark *from, const struct gmc_cc_mark *to)
{
    uint64_t n = to->packets - from->packets;

    return n == 0 ? 0
                  : (to->bytes - from->bytes) / n *
                        gmc_ccm_minus(n, gmc_ccm_minus(to->lost, from->lost));
}

/* What the path carried between two marks. Base losses count as carried; when there are more,
 * only what arrived counts, scaled by base loss. */
static uint64_t carried_bytes(const struct gmc_ccm *m, const struct gmc_cc_mark *from,
                              const struct gmc_cc_mark *to, bool excess)
{
    uint64_t bytes = to->bytes - from->bytes;
    uint64_t n = to->packets - from->packets;
    uint64_t lost = gmc_ccm_minus(to->lost, from->lost);
    uint64_t allow = gmc_cc_loss_allow_milli(&m->base, n) / 1000;

    if (n == 0)
        return 0;
    if (excess)
        return arrived_bytes(from, to) * 1000 / (1000 - gmc_cc_loss_ppm(&m->base) / 1000);
    return bytes - bytes / n * gmc_ccm_minus(lost, allow);
}

uint64_t gmc_ccm_sample(const struct gmc_ccm *m, const struct gmc_cc_round *round, bool excess)
{
    return gmc_cc_rate_bps(carried_bytes(m, &round->from, &round->to, excess),
                           gmc_ccm_minus(round->to.arrival_ns, round->from.arrival_ns));
}

/* The sender did not send what it was allowed: such a round says what it sent, and not what the
 * path carries. Held back by the window it is the path that limits. */
bool gmc_ccm_is_limited(const struct gmc_cc_round *round)
{
    return !round->windowed && gmc_ccm_sent_bps(round) < gmc_ccm_times(round->rate_bps, 930);
}

bool gmc_ccm_is_small(const struct gmc_ccm *m)
{
    return m->bw_bps <= gmc_ccm_packets_per(m, 2 * FIRST_PACKETS, gmc_ccm_least_rtt(m));
}

/* So little, beside what START begins with, that neither losses nor a queue come from it. */
static bool is_little(uint64_t bytes, uint64_t rate_bps, const struct gmc_cc_mark *from,
                      const struct gmc_cc_mark *to)
{
    return gmc_cc_rate_bps(bytes, gmc_ccm_minus(to->sent, from->sent)) < rate_bps / 3;
}

bool gmc_ccm_is_sparse(const struct gmc_ccm *m, const struct gmc_cc_round *round)
{
    return !round->windowed && round->ce == 0 && gmc_ccm_is_small(m) &&
           is_little(round->to.bytes - round->from.bytes, round->rate_bps, &round->from,
                     &round->to);
}

/* ------------------------------------------------------------------ START */

/* A path carries nothing faster than it was sent. A receiver whose host paused finds all packets at
 * once, as if they had come so, and START would believe it. */
static gmc_duration span_of(const struct gmc_cc_mark *from, const struct gmc_cc_mark *to)
{
    gmc_duration arrived = gmc_ccm_minus(to->arrival_ns, from->arrival_ns);
    gmc_duration sent = gmc_ccm_minus(to->sent, from->sent);

    return arrived > sent ? arrived : sent;
}

static uint64_t start_sample(const struct gmc_ccm *m, const struct gmc_cc_round *round, bool excess)
{
    return gmc_cc_rate_bps(carried_bytes(m, &round->from, &round->to, excess),
                           span_of(&round->from, &round->to));
}

static void end_start(struct gmc_ccm *m, gmc_time now, uint64_t bw_bps)
{
    if (bw_bps != 0)
        m->bw_bps = bw_bps;
    gmc_ccm_begin_drain(m, now);
}

/* What was sent, a few messages perhaps, is no estimate of the path: once there is more, START goes
 * on. */
static void leave_start(struct gmc_ccm *m, gmc_time now)
{
    m->unproven = true;
    end_start(m, now, 0);
}

/* The mark to measure from: at least 24 packets and a quarter round trip back. */
static const struct gmc_cc_mark *look_back(const struct gmc_ccm *m)
{
    const struct gmc_cc_mark *now = &m->rounds.total;
    gmc_duration span = gmc_ccm_least_rtt(m) / 4;

    if (span < GMC_US(3500))
        span = GMC_US(3500);
    for (uint32_t i = 1; i <= MARKS && i <= m->mark_count; i++) {
        const struct gmc_cc_mark *mark = &m->marks[(m->mark_count - i) % MARKS];

        if (now->packets - mark->packets >= 24 &&
            gmc_ccm_minus(now->arrival_ns, mark->arrival_ns) >= span)
            return mark;
    }
    return 0;
}

static bool stands_in_start(const struct gmc_ccm *m)
{
    gmc_duration least = GMC_TIME_NEVER;

    if (m->recent_count < RECENT)
        return false;
    for (uint32_t i = 0; i < RECENT; i++) {
        if (m->recent_queue[i] < least)
            least = m->recent_queue[i];
    }
    return least > gmc_ccm_queue_threshold(m) + GMC_MS(1);
}

void gmc_ccm_start_ack(struct gmc_ccm *m, gmc_time now, gmc_duration queue)
{
    const struct gmc_cc_mark *total = &m->rounds.total;
    const struct gmc_cc_mark *mark = look_back(m);
    const struct gmc_cc_mark *newest = &m->marks[(m->mark_count + MARKS - 1) % MARKS];
    uint64_t carried, least;

    m->recent_queue[m->recent_count++ % RECENT] = queue;
    if (m->mark_count == 0 || total->arrival_ns - newest->arrival_ns >= GMC_US(300))
        m->marks[m->mark_count++ % MARKS] = *total;
    if (mark == 0)
        return;
    carried = carried_bytes(m, mark, total, false);
    uint64_t carried_bps = gmc_cc_rate_bps(carried, span_of(mark, total));
    if (stands_in_start(m)) {
        bool is_said = m->is_said && m->bw_bps == m->start_from;
        m->unproven = (is_said || gmc_ccm_is_small(m)) &&
                      is_little(carried, m->start_from, mark, total); /* the queue is others' */
        least = m->unproven ? m->bw_bps / UNPROVEN_PART : 0;
        end_start(m, now, carried_bps > least ? carried_bps : least);
        return;
    }
    if (carried_bps > m->bw_bps)
        m->bw_bps = carried_bps;
}

/* Of a path that is full no more arrives, however much is sent, and what it loses is not its base
 * loss, though its queue be too short to be seen. */
static bool is_more_arriving(struct gmc_ccm *m, const struct gmc_cc_round *round)
{
    uint64_t arrived =
        gmc_cc_rate_bps(arrived_bytes(&round->from, &round->to), span_of(&round->from, &round->to));

    if (arrived <= m->start_arrived + m->start_arrived / 8)
        return false;
    m->start_arrived = arrived;
    return true;
}

/* A mark, loss far beyond the base, or rounds (of half a round trip) that carried no more than the
 * ones before. A sender that has no more to send, or may not, may soon again, and is given longer;
 * but not for ever, because START looks for losses of its own making only. */
void gmc_ccm_judge_start(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round)
{
    uint64_t n = round->decided, lost = round->lost;
    uint64_t sample = start_sample(m, round, true);
    uint64_t most = start_sample(m, round, false);

    /* base loss learnt from a few packets may make more of what arrived than was sent */
    if (sample > most)
        sample = most;
    if (n >= 16 &&
        (round->ce > 0 ||
         gmc_cc_loss_is_excess(&m->base, n, gmc_ccm_minus(lost, n / START_EXCESS_PART)))) {
        if (m->rounds.total.packets - m->start_packets < START_PACKETS &&
            m->start_tries < START_TRIES)
            m->start_again = true;
        if (gmc_ccm_is_sparse(m, round))
            leave_start(m, now);
        else
            end_start(m, now, sample);
        return;
    }
    if (is_more_arriving(m, round) &&
        round->queue_min / 2 + round->queue_max / 2 < gmc_ccm_queue_threshold(m))
        gmc_cc_loss_learn(&m->base, n, lost);
    if (round->acks < 2)
        return;
    if (sample > m->start_best + m->start_best / 4) {
        m->start_best = sample;
        m->start_flat = 0;
        m->start_flat_from = m->rounds.total.packets;
    } else if (!gmc_ccm_is_limited(round) && ++m->start_flat >= FLAT &&
               (m->others.is_on || m->rounds.total.packets - m->start_flat_from >= FLAT_PACKETS)) {
        end_start(m, now, m->start_best > sample ? m->start_best : sample);
    } else if (gmc_ccm_is_limited(round) && ++m->start_flat >= FLAT_LIMITED) {
        leave_start(m, now);
    }
}

void gmc_ccm_drain_ack(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_ack *ack,
                       gmc_duration queue)
{
    uint64_t pipe = gmc_ccm_bytes_in(m->bw_bps, gmc_ccm_least_rtt(m)) +
                    (uint64_t)FIRST_PACKETS * m->packet_bytes;

    if (queue < gmc_ccm_least_rtt(m) / 16 + GMC_US(500) || ack->inflight_bytes < pipe ||
        now >= m->drain_until)
        gmc_ccm_cruise_for(m, now, 2 * gmc_ccm_least_rtt(m));
}
