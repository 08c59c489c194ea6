/* SPDX-License-Identifier: BSD-2-Clause */
/* Congestion control `model`: estimates what the path carries, and paces at that.
 *
 * bw    the estimate, of bits sent per second that the path takes in: what arrived plus base loss
 * q     queueing delay: one-way delay above its least of MINIMUM_WINDOW, plus what the least round
 *       trip of that window is above the least of LONG_MINIMUM_WINDOW; R the latter. Less what
 *       clocks drift in a window, as far as the round trip shows it.
 * base  base loss, see cc_loss.h: more than it and chance is an excess
 * round the packets of about R, sent under one gain; judged when all of them are decided. Its
 *       sample is what it carried over the span of its arrivals at the receiver, so neither base
 *       loss nor lost acknowledgements move it (a rate of delivered bytes would lose a factor of
 *       1-p in each round)
 *
 * START   pace 2 bw; bw the highest sample. Ends when q stands, at losses, or after three round
 *         trips without growth. Where losses end it in its first packets it is tried again, and so
 *         it is when two probes in a row were taken in whole without a queue.
 * DRAIN   pace bw/2 until the pipe is down to bw R or q is small; at most 3 R.
 * CRUISE  pace bw. Alone ("calm") the gain holds a queue of 1 ms + R/32, so that the link is never
 *         idle; beside others 0.99. Lasts 6 R; alone up to 1 s; after a probe that met losses 3 s.
 * UP      a probe: pace 1.25 bw for R. Clean: bw = sample. Excess: bw is cut, relative to the
 *         sample (a larger share loses more, so siblings converge); in a short queue that others
 *         were seen in, relative to what it was too, and clean probes raise it by less. A sender
 *         that had too little to send pays back what it queued, which may be nothing.
 * DOWN    pace 0.75 bw for R: pays back what the probe queued, and shows things. If q stands even
 *         now, others fill the queue: bw *= YIELD. If losses do not fall with the rate they are
 *         the path's, and base is set at once; if they do it was congestion.
 *
 * A mark of congestion (ECN) is an excess in the round in which it is told, and never the path's.
 *
 * A probe of share s under FIFO carries g/(1+(g-1)s) of it; with decay d the share settles at
 * (g d - 1)/(g - 1), whatever law the rival follows: 0.55 here. Constants are from measurements
 * against kernel TCP and from tests/bench/bench_link; docs/CONGESTION.md has the tables.
 */
#include "core/cc_model.h"

/* ------------------------------------------------------------------ rate and window */

/* Alone on the path the queue is kept short but not empty, so that the link never idles and an
 * estimate that is a little off heals. Messages wait in it too. */
static gmc_duration cruise_target(const struct gmc_ccm *m)
{
    gmc_duration target = GMC_MS(1) + gmc_ccm_least_rtt(m) / 32;

    if (m->last_sent < m->urgent_until)
        target /= URGENT_PART;
    return target > m->up_queue_max / 4 ? m->up_queue_max / 4 : target;
}

static uint32_t cruise_gain(const struct gmc_ccm *m)
{
    gmc_duration rtt = gmc_ccm_least_rtt(m);
    gmc_duration target = cruise_target(m);
    gmc_duration horizon = 4 * (rtt < GMC_MS(10) ? GMC_MS(10) : rtt);
    uint64_t off;

    if (m->calm == 0)
        return GAIN_CRUISE;
    if (m->cruise_queue < target) {
        off = (target - m->cruise_queue) * 1000 / horizon;
        return 1000 + (uint32_t)(off > 10 ? 10 : off);
    }
    off = (m->cruise_queue - target) * 1000 / horizon;
    return 1000 - (uint32_t)(off > 30 ? 30 : off);
}

static uint32_t gain(const struct gmc_ccm *m)
{
    switch (m->phase) {
    case START:
        return GAIN_START;
    case DRAIN:
        return GAIN_DRAIN;
    case DOWN:
        return m->others.is_on ? GAIN_DOWN_BACKGROUND : GAIN_DOWN;
    case AWAY:
        return 1000;
    case UP: /* up_rate */
    case CRUISE:
        break;
    }
    return cruise_gain(m);
}

uint64_t gmc_ccm_packets_per(const struct gmc_ccm *m, uint32_t packets, gmc_duration rtt)
{
    return gmc_cc_rate_bps((uint64_t)packets * m->packet_bytes, rtt < ROUND_MIN ? ROUND_MIN : rtt);
}

/* A probe goes a quarter up, or some packets in a round trip, so that a small share is not stuck
 * in small steps. */
uint64_t gmc_ccm_up_rate(const struct gmc_ccm *m, uint64_t bps)
{
    uint64_t more = gmc_ccm_packets_per(m, UP_PACKETS, gmc_ccm_least_rtt(m));

    return bps + (bps / 4 > more ? bps / 4 : more < bps / 2 ? more : bps / 2);
}

static void update_outputs(struct gmc_ccm *m)
{
    gmc_duration rtt = m->srtt < LEAST_RTT ? LEAST_RTT : m->srtt;
    uint64_t least = gmc_ccm_packets_per(m, LEAST_PACKETS, rtt) / (m->phase == AWAY ? 8 : 1);
    uint64_t rate, slack;

    if (m->bw_bps < least)
        m->bw_bps = least;
    if (m->bw_bps < RATE_MIN)
        m->bw_bps = RATE_MIN;
    if (m->bw_bps > RATE_MAX)
        m->bw_bps = RATE_MAX;
    rate = m->phase == UP ? gmc_ccm_up_rate(m, m->bw_bps) : gmc_ccm_times(m->bw_bps, gain(m));
    if (m->look_bps > 0 && rate > m->look_bps)
        rate = m->look_bps;
    m->rate_bps = rate < RATE_MIN ? RATE_MIN : rate;
    slack = gmc_ccm_bytes_in(m->bw_bps, WINDOW_SLACK);
    m->window_bytes = gmc_ccm_bytes_in(m->bw_bps, 3 * gmc_ccm_least_rtt(m)) +
                      (slack < WINDOW_SLACK_BYTES ? slack : WINDOW_SLACK_BYTES) +
                      (uint64_t)2 * FIRST_PACKETS * m->packet_bytes;
}

/* ------------------------------------------------------------------ phases */

/* The time in which a round's packets bring acknowledgements enough to see what it carried: one
 * comes each 4 ms, or after 32 packets. */
static gmc_duration told_in(const struct gmc_ccm *m, uint64_t rate_bps, uint32_t acks)
{
    uint64_t bytes = (uint64_t)ACK_PACKETS * m->packet_bytes;
    gmc_duration each = gmc_duration_of_bytes(bytes, rate_bps);

    return acks * (each < ROUND_MIN ? each : ROUND_MIN);
}

static void open_round(struct gmc_ccm *m, gmc_time now)
{
    gmc_duration span = gmc_ccm_least_rtt(m);
    gmc_duration least =
        gmc_duration_of_bytes((uint64_t)ROUND_PACKETS * m->packet_bytes, m->bw_bps);
    gmc_duration most = 4 * span > ROUND_LONG ? 4 * span : ROUND_LONG;
    gmc_duration told;

    update_outputs(m);
    if (m->phase == START)
        span /= 2; /* to notice the end early */
    else if (span < least)
        span = least < most ? least : most;
    told = told_in(m, m->rate_bps, m->phase == START ? START_ACKS : ROUND_ACKS);
    if (span < told)
        span = told;
    if (span < ROUND_MIN)
        span = ROUND_MIN;
    m->round_since = now;
    m->round_until = gmc_time_add(now, span);
    gmc_cc_rounds_open(&m->rounds, m->phase, m->epoch, m->rate_bps);
}

void gmc_ccm_enter(struct gmc_ccm *m, gmc_time now, enum gmc_ccm_phase phase)
{
    if (phase == UP)
        m->up_burst_bytes = 0;
    if (phase != DOWN)
        m->look_bps = 0;
    m->phase = phase;
    open_round(m, now);
}

void gmc_ccm_cruise_for(struct gmc_ccm *m, gmc_time now, gmc_duration span)
{
    m->cruise_until = gmc_time_add(now, span);
    gmc_ccm_enter(m, now, CRUISE);
}

/* Cruises last 0.8 to 1.2 times the mean, or two senders would keep in step. */
static gmc_duration cruise_span(struct gmc_ccm *m)
{
    gmc_duration mean = 6 * m->srtt;

    if (mean < 6 * ROUND_MIN)
        mean = 6 * ROUND_MIN;
    if (m->long_left > 0 && !m->stubborn)
        mean = LONG_CRUISE;
    else if (m->calm > 0 && mean < CALM_CRUISE)
        mean = m->calm > 3 || mean << m->calm > CALM_CRUISE ? CALM_CRUISE : mean << m->calm;
    return gmc_duration_scale(mean, (uint32_t)(800 + gmc_prng_below(&m->prng, 401)), 1000);
}

void gmc_ccm_begin_drain(struct gmc_ccm *m, gmc_time now)
{
    m->epoch++;
    m->drain_until = gmc_time_add(now, 3 * gmc_ccm_least_rtt(m) + ROUND_MIN);
    gmc_ccm_enter(m, now, DRAIN);
}

static void begin_start(struct gmc_ccm *m, gmc_time now)
{
    /* Tried again, it is not to end at the same losses if they are the path's: then the cruise lost
     * about as much. Others in a short queue make it lose less. */
    if (m->start_again && m->cruise.n >= LOSS_SHOWS_PACKETS &&
        m->cruise.lost * START_EXCESS_PART * 2 >= m->cruise.n)
        gmc_ccm_learn_cruise(m);
    m->epoch++;
    m->mark_count = m->recent_count = 0;
    m->start_best = m->start_arrived = 0;
    m->start_from = m->bw_bps;
    m->start_flat = 0;
    m->start_packets = m->start_flat_from = m->rounds.total.packets;
    m->start_again = m->unproven = m->is_said = false;
    m->whole = 0;
    m->start_tries++;
    gmc_ccm_enter(m, now, START);
}

/* How long DOWN has to be, to pay back what UP queued: R, but less where the sender had too little
 * to send. A relay that pays back more falls behind its parent for good, since it cannot send
 * faster later. Others who fill the queue want R. */
static gmc_duration debt(struct gmc_ccm *m, gmc_time now)
{
    const struct gmc_cc_round *up = gmc_cc_rounds_current(&m->rounds);
    gmc_duration span = now - m->round_since;
    uint64_t most = gmc_ccm_minus(gmc_ccm_up_rate(m, m->bw_bps), m->bw_bps);
    uint64_t sent = gmc_cc_rate_bps(up->sent_bytes, span);
    uint64_t more = gmc_ccm_minus(sent, m->bw_bps);

    if (up->windowed || m->queue > gmc_ccm_queue_threshold(m) || more >= most / 4 * 3)
        return span;
    return gmc_duration_scale(span, (uint32_t)(more / (most / 1000 + 1)), 1000);
}

static void end_up(struct gmc_ccm *m, gmc_time now)
{
    gmc_duration owed = debt(m, now), span = now - m->round_since;

    m->without_down = owed < span / LEAST_DEBT;
    if (m->without_down) {
        gmc_ccm_cruise_for(m, now, cruise_span(m));
        return;
    }
    gmc_ccm_enter(m, now, DOWN);
    if (owed < span && m->round_until > gmc_time_add(now, owed))
        m->round_until = gmc_time_add(now, owed);
}

/* The round is over: what comes next. */
static void advance(struct gmc_ccm *m, gmc_time now)
{
    if (now < m->round_until)
        return;
    switch (m->phase) {
    case UP:
        end_up(m, now);
        return;
    case DOWN:
        gmc_ccm_cruise_for(m, now, cruise_span(m));
        return;
    case CRUISE:
        if (now >= m->cruise_until && m->start_again)
            begin_start(m, now);
        else
            gmc_ccm_enter(m, now, now >= m->cruise_until ? UP : CRUISE);
        return;
    case AWAY:
        if (now >= m->others.away_until)
            begin_start(m, now);
        else
            open_round(m, now);
        return;
    case START:
    case DRAIN:
        open_round(m, now);
        return;
    }
}

/* ------------------------------------------------------------------ operations */

static void model_init(void *state, const struct gmc_cc_params *params, struct gmc_prng *prng,
                       gmc_time now)
{
    struct gmc_ccm *m = state;
    gmc_duration rtt = params->initial_rtt == 0 ? RTT_UNKNOWN : params->initial_rtt;

    *m = (struct gmc_ccm){.packet_bytes = params->packet_bytes == 0 ? 1500 : params->packet_bytes};
    gmc_prng_fork(prng, "cc", &m->prng);
    gmc_cc_loss_init(&m->base);
    gmc_cc_min_init(&m->delay_min, MINIMUM_WINDOW);
    gmc_cc_min_init(&m->rtt_recent, MINIMUM_WINDOW);
    gmc_cc_min_init(&m->rtt_min, LONG_MINIMUM_WINDOW);
    gmc_cc_min_init(&m->room, MINIMUM_WINDOW);
    gmc_cc_min_init(&m->slow, MINIMUM_WINDOW);
    gmc_cc_rounds_init(&m->rounds);
    (void)gmc_cc_min_add(&m->rtt_min, now, (int64_t)rtt);
    m->srtt = rtt;
    m->bw_bps = gmc_cc_rate_bps((uint64_t)FIRST_PACKETS * m->packet_bytes, 2 * rtt);
    m->up_best_since = m->window_since = m->last_sent = m->last_used = m->clear_at = now;
    begin_start(m, now);
}

static void background_init(void *state, const struct gmc_cc_params *params, struct gmc_prng *prng,
                            gmc_time now)
{
    struct gmc_ccm *m = state;

    model_init(state, params, prng, now);
    m->others.is_on = true;
    m->others.away_next = AWAY_FIRST;
}

/* START paces at twice the estimate, and so at this rate first. */
static void model_expect(void *state, gmc_time now, uint64_t rate_bps)
{
    struct gmc_ccm *m = state;
    bool is_idle = now - m->last_filled > 2 * gmc_ccm_least_rtt(m) + GMC_MS(100);

    if ((m->phase != START && !is_idle && !m->unproven) || m->bw_bps >= rate_bps / 2)
        return;
    m->bw_bps = rate_bps / 2;
    begin_start(m, now);
    m->is_said = true;
}

static void model_on_urgent(void *state, gmc_time now)
{
    struct gmc_ccm *m = state;

    m->urgent_until = gmc_time_add(now, URGENT_MEMORY);
}

static void model_on_sent(void *state, gmc_time now, uint64_t packet, uint32_t bytes,
                          bool app_limited)
{
    struct gmc_ccm *m = state;

    if (!app_limited) /* of a round its pace shows that, see is_limited */
        m->last_filled = now;
    if (now - m->last_sent > IDLE_LONG && m->phase != START) {
        m->bw_bps /= 2; /* the path may have got other users: sends at bw, and looks */
        begin_start(m, now);
    } else if (now - m->last_sent > 2 * gmc_ccm_least_rtt(m) + GMC_MS(100) && m->phase != START &&
               m->phase != AWAY) {
        gmc_ccm_cruise_for(m, now, 2 * gmc_ccm_least_rtt(m));
    } else {
        advance(m, now);
    }
    if (now - m->last_sent > LATE_GAP + 4 * gmc_duration_of_bytes(bytes, m->bw_bps))
        m->late_until = now + LATE_FOR;
    m->burst_bytes = now == m->last_sent ? m->burst_bytes + bytes : bytes;
    if (m->phase == UP && m->burst_bytes > m->up_burst_bytes)
        m->up_burst_bytes = m->burst_bytes;
    m->last_sent = now;
    gmc_cc_rounds_sent(&m->rounds, packet, bytes);
}

static void model_on_acked(void *state, gmc_time now, uint64_t packet, uint32_t bytes,
                           gmc_time sent)
{
    struct gmc_ccm *m = state;

    (void)now;
    (void)sent;
    if (bytes > m->packet_bytes) /* the path takes larger ones than was known when it began */
        m->packet_bytes = bytes;
    gmc_cc_rounds_decided(&m->rounds, packet, bytes, false);
}

static void model_on_lost(void *state, gmc_time now, uint64_t packet, uint32_t bytes, gmc_time sent)
{
    struct gmc_ccm *m = state;

    (void)now;
    (void)sent;
    gmc_cc_rounds_decided(&m->rounds, packet, bytes, true);
}

static void model_on_spurious(void *state, gmc_time now, uint64_t packet, uint32_t bytes)
{
    struct gmc_ccm *m = state;

    (void)bytes;
    m->late_at = now;
    m->late_any = true;
    if (!gmc_cc_rounds_spurious(&m->rounds, packet))
        gmc_cc_loss_undo(&m->base);
}

/* One-way delay above its least of some seconds, and what the round trip of these seconds has been
 * above its least of minutes: a queue that never drains. A clock that drifts looks like a queue
 * that grows, but round trips do not drift, and have the queue in them. */
static gmc_duration queue_of(struct gmc_ccm *m, const struct gmc_cc_ack *ack)
{
    uint64_t delay = ack->largest_arrival_ns - ack->largest_sent; /* clocks differ: any value */
    uint64_t queue = delay - (uint64_t)gmc_cc_min_add(&m->delay_min, ack->now, (int64_t)delay);
    uint64_t least = (uint64_t)gmc_cc_min_get(&m->rtt_min);
    uint64_t longer = gmc_ccm_minus(ack->rtt, least);

    if (queue > QUEUE_MAX)
        queue = QUEUE_MAX;
    queue += gmc_ccm_minus((uint64_t)gmc_cc_min_get(&m->rtt_recent), least);
    if (ack->rtt == 0 || queue <= longer)
        return queue;
    return longer > gmc_ccm_minus(queue, DRIFT) ? longer : gmc_ccm_minus(queue, DRIFT);
}

/* Where packets overtake each other, judgement waits for those that only seem lost. */
static gmc_duration hold_of(const struct gmc_ccm *m, gmc_time now)
{
    gmc_duration hold = gmc_ccm_least_rtt(m) / 4;

    if (!m->late_any || now - m->late_at > LATE_MEMORY)
        return 0;
    return hold < LATE_LEAST ? LATE_LEAST : hold;
}

static void model_on_ack(void *state, const struct gmc_cc_ack *ack)
{
    struct gmc_ccm *m = state;
    gmc_duration queue = m->queue = queue_of(m, ack);
    struct gmc_cc_round round;
    struct gmc_cc_round *current = gmc_cc_rounds_current(&m->rounds);

    if (ack->rtt != 0) {
        (void)gmc_cc_min_add(&m->rtt_min, ack->now, (int64_t)ack->rtt);
        (void)gmc_cc_min_add(&m->rtt_recent, ack->now, (int64_t)ack->rtt);
        m->srtt = m->srtt - m->srtt / 8 + ack->rtt / 8;
        if (m->phase != START)
            (void)gmc_cc_min_add(&m->slow, ack->now, -(int64_t)m->srtt);
    }
    if (current != 0 && ack->inflight_bytes >= m->window_bytes / 10 * 8)
        current->windowed = true;
    if (m->largest_any && ack->largest <= m->largest) {
        advance(m, ack->now); /* an older acknowledgement that was overtaken marks nothing */
        update_outputs(m);
        return;
    }
    m->largest = ack->largest;
    m->largest_any = true;
    (void)gmc_cc_min_add(&m->room, ack->now, -(int64_t)queue);
    gmc_cc_rounds_ack(&m->rounds, ack, queue);
    if (m->phase == START)
        gmc_ccm_start_ack(m, ack->now, queue);
    else if (m->phase == DRAIN)
        gmc_ccm_drain_ack(m, ack->now, ack, queue);
    while (gmc_cc_rounds_next(&m->rounds, ack->now, hold_of(m, ack->now), ack->largest, &round))
        gmc_ccm_judge(m, ack->now, &round);
    advance(m, ack->now);
    update_outputs(m);
}

static void model_on_timeout(void *state, gmc_time now, uint32_t count)
{
    struct gmc_ccm *m = state;

    if (count < 3)
        return;
    if (m->others.is_on) {
        gmc_ccm_go_away(m, now);
        return;
    }
    m->bw_bps /= 2;
    begin_start(m, now);
}

static uint64_t model_rate_bps(const void *state)
{
    return ((const struct gmc_ccm *)state)->rate_bps;
}

static uint64_t model_window_bytes(const void *state)
{
    return ((const struct gmc_ccm *)state)->window_bytes;
}

/* A busy host wakes us late. What then goes at once must fit into the queue, next to what is there.
 * Before a queue was seen that is not known: START, which doubles what goes at once with its rate,
 * finds out; a host that is always late would never come beyond a few packets each time. Where
 * others use a short queue all of its room at once would be their loss. */
static gmc_duration model_slack(const void *state)
{
    const struct gmc_ccm *m = state;
    gmc_duration slack, took, shared;

    if (m->phase == START)
        return SLACK_MAX;
    slack = gmc_ccm_room(m);
    took = gmc_duration_of_bytes(m->took_bytes, m->bw_bps);
    if (!m->others.is_on) {
        if (slack < took)
            slack = took;
        if (m->phase == UP && m->took_wait == 0)
            slack *= 2;
    }
    if (gmc_ccm_is_shared(m)) {
        shared = gmc_duration_of_bytes((uint64_t)SHARED_PACKETS * m->packet_bytes, m->bw_bps);
        slack = slack < shared ? slack : shared;
    }
    return slack < SLACK_MAX ? slack : SLACK_MAX;
}

static uint32_t model_loss_ppm(const void *state)
{
    return gmc_cc_loss_ppm(&((const struct gmc_ccm *)state)->base);
}

static gmc_duration model_queue(const void *state)
{
    return ((const struct gmc_ccm *)state)->queue;
}

static bool model_is_found(const void *state)
{
    const struct gmc_ccm *m = state;

    return m->phase != START && m->phase != DRAIN && !m->unproven;
}

static void model_near(const void *state, struct gmc_near *near)
{
    const struct gmc_ccm *m = state;

    GMC_NEAR_ADD(near, m, packet_bytes, rounds);
    gmc_cc_rounds_near(&m->rounds, near);
    gmc_near_add(near, &m->rounds.oldest,
                 offsetof(struct gmc_ccm, marks) - offsetof(struct gmc_ccm, rounds.oldest));
    GMC_NEAR_ADD(near, m, mark_count, up_best);
}

/* They begin differently; what `background` concludes otherwise it asks its state for. */
#define OPERATIONS(NAME, INIT, EXPECT)                                                             \
    {                                                                                              \
        .name = (NAME), .takes_ecn = true, .state_size = sizeof(struct gmc_ccm), .init = (INIT),   \
        .expect = (EXPECT), .on_urgent = model_on_urgent, .on_sent = model_on_sent,                \
        .on_acked = model_on_acked, .on_lost = model_on_lost, .on_spurious = model_on_spurious,    \
        .on_ack = model_on_ack, .on_timeout = model_on_timeout, .rate_bps = model_rate_bps,        \
        .window_bytes = model_window_bytes, .loss_ppm = model_loss_ppm, .slack = model_slack,      \
        .queue = model_queue, .is_found = model_is_found, .near = model_near                       \
    }

const struct gmc_cc_ops gmc_cc_model = OPERATIONS("model", model_init, model_expect);
const struct gmc_cc_ops gmc_cc_background = OPERATIONS("background", background_init, NULL);
