/* SPDX-License-Identifier: BSD-2-Clause */
/* Congestion control `model`: estimates what the path carries, and paces at that.
 *
 * bw    the estimate, of bits sent per second that the path takes in: what arrived plus base loss
 * q     queueing delay: one-way delay above its least of MINIMUM_WINDOW, plus what the least round
 *       trip of that window is above the least of LONG_MINIMUM_WINDOW; R the latter
 * base  base loss, see cc_loss.h: more than it and chance is an excess
 * round the packets of about R, sent under one gain; judged when all of them are decided. Its
 *       sample is what it carried over the span of its arrivals at the receiver, so neither base
 *       loss nor lost acknowledgements move it (a rate of delivered bytes would lose a factor of
 *       1-p in each round)
 *
 * START   pace 2 bw; bw the highest sample. Ends when q stands, at losses, or after three round
 *         trips without growth. Where losses end it in its first packets it is tried again.
 * DRAIN   pace bw/2 until the pipe is down to bw R or q is small; at most 3 R.
 * CRUISE  pace bw. Alone ("calm") the gain holds a queue of 1 ms + R/32, so that the link is never
 *         idle; beside others 0.99. Lasts 6 R; alone up to 1 s; after a probe that met losses 3 s.
 * UP      a probe: pace 1.25 bw for R. Clean: bw = sample. Excess: bw is cut, relative to the
 *         sample (a larger share loses more, so siblings converge).
 * DOWN    pace 0.75 bw for R: pays back what the probe queued, and shows things. If q stands even
 *         now, others fill the queue: bw *= YIELD. If losses do not fall with the rate they are
 *         the path's, and base is set at once; if they do it was congestion.
 *
 * A probe of share s under FIFO carries g/(1+(g-1)s) of it; with decay d the share settles at
 * (g d - 1)/(g - 1), whatever law the rival follows: 0.55 here. Constants are from measurements
 * against kernel TCP and from tests/bench/bench_link; docs/CONGESTION.md has the tables.
 */
#include "core/cc.h"
#include "core/cc_filter.h"
#include "core/cc_loss.h"
#include "core/cc_round.h"

enum phase { START, DRAIN, CRUISE, UP, DOWN };

/* Gains, in thousandths of the estimate. */
#define GAIN_START 2000u
#define GAIN_DRAIN 500u
#define GAIN_DOWN 750u
#define GAIN_CRUISE 990u /* beside others; alone the queue decides, see cruise_gain */

/* Estimates kept after an event, in thousandths. */
#define YIELD 910u          /* a queue stands that is not ours */
#define YIELD_STUBBORN 950u /* a probe lost; the rival does not care (BBR in a short queue) */
#define YIELD_AS_GOOD 950u  /* a probe lost, but carried what it always did: a short queue */
#define YIELD_LESS 720u     /* a probe lost, and carried less than before: somebody came */
#define YIELD_CUT 900u      /* cruising lost */

#define RATE_MIN UINT64_C(64000)
#define RATE_MAX UINT64_C(1000000000000)
#define RTT_UNKNOWN GMC_MS(100)
#define RTT_MIN GMC_US(10)
#define RTT_MAX GMC_S(10)
#define QUEUE_MAX GMC_S(10)
#define WINDOW_SLACK GMC_MS(20) /* of bw, beside 3 bw R: hosts that pause, loopback */

#define FIRST_PACKETS 32u  /* of the first round trip */
#define ROUND_PACKETS 16u  /* fewer say nothing */
#define START_PACKETS 256u /* START that ends within so many is tried again */
#define START_TRIES 3u
#define LEARN_PACKETS 128u  /* base is learnt by so many */
#define TEST_PACKETS 64u    /* DOWN tells congestion from the path by so many */
#define SHRUNK_PACKETS 32u  /* a round of fewer does not show that the path has shrunk */
#define UP_PACKETS 4u       /* a probe's least step, per round trip, for small shares */
#define LEAST_PACKETS 2u    /* the least rate, per round trip: TCP's least window */
#define ROUND_MIN GMC_MS(4) /* acknowledgements come every 4 ms at the latest */

#define MINIMUM_WINDOW GMC_S(20)       /* 100 ppm of clock drift are 2 ms in it */
#define LONG_MINIMUM_WINDOW GMC_S(600) /* of the round trip, which does not drift */
#define STILL_MAX 4u                   /* probes until a longer path is believed */
#define BEST_WINDOW GMC_S(15)
#define CUT_INTERVAL GMC_MS(1500)
#define STUBBORN_WINDOW GMC_S(3)
#define STUBBORN_EXCESS 4u /* rounds of it */
#define LONG_CRUISE GMC_S(3)
#define CALM_CRUISE GMC_S(1)
#define IDLE_LONG GMC_S(10)
#define DOUBT_AFTER GMC_S(3) /* without a round in which the queue was empty */
#define DOUBT_EACH GMC_MS(500)
#define LATE_MEMORY GMC_S(10) /* of a packet that had been called lost too early */
#define LATE_LEAST GMC_MS(6)
#define MARKS 32u
#define RECENT 4u

/* Packets decided, and those of them that were lost. */
struct count {
    uint64_t n, lost;
};

struct model {
    struct gmc_prng prng;
    uint32_t packet_bytes;

    uint64_t bw_bps; /* the estimate */
    uint64_t rate_bps, window_bytes;
    struct gmc_cc_loss base;
    struct gmc_cc_min delay_min, rtt_recent, rtt_min;
    gmc_duration srtt;
    struct gmc_cc_rounds rounds;
    gmc_time round_until;
    gmc_time last_sent;
    uint64_t largest; /* acknowledged */
    bool largest_any;

    enum phase phase;
    gmc_time cruise_until, drain_until;
    uint32_t epoch; /* rounds of an older one do not speak about the estimate of now */

    struct gmc_cc_mark marks[MARKS]; /* START looks back some ms */
    uint32_t mark_count;
    gmc_duration recent_queue[RECENT];
    uint32_t recent_count;
    uint64_t start_best;
    uint32_t start_flat, start_tries;
    uint64_t start_packets; /* decided before it */
    bool start_again;       /* it met losses before it had got anywhere */

    uint64_t up_best, up_best_before; /* of this BEST_WINDOW, and of the one before */
    gmc_time up_best_since;
    bool up_clean, up_calm, up_best_again;
    uint32_t still;            /* probes in a row after which a standing queue did not move */
    gmc_duration up_queue_max; /* how deep the last probe's queue got */
    gmc_duration cruise_queue; /* least of the last cruise round */
    uint32_t calm;             /* probes in a row that found nobody else */
    uint32_t long_left;        /* clean probes until cruises are short again */
    bool stubborn;             /* the rival does not yield either */
    uint32_t window_excess;
    gmc_time window_since;
    gmc_time cut_at;
    bool was_cut;
    uint32_t shrunk, busy;
    gmc_time late_at; /* the last spurious loss */
    bool late_any;
    gmc_time clear_at; /* a round with an empty queue */
    bool testing, test_cuts;
    uint64_t test_bw_bps; /* before the reaction to what is tested */
    struct count test, down, cruise;
    uint64_t shrunk_bps;
};

static gmc_duration least_rtt(const struct model *m)
{
    gmc_duration rtt = (gmc_duration)gmc_cc_min_get(&m->rtt_min);

    return rtt < RTT_MIN ? RTT_MIN : rtt > RTT_MAX ? RTT_MAX : rtt;
}

/* More than this is a standing queue and not jitter. */
static gmc_duration queue_threshold(const struct model *m)
{
    return least_rtt(m) / 8 + GMC_MS(1);
}

static uint64_t times(uint64_t bps, uint32_t permille)
{
    return bps / 1000 * permille + bps % 1000 * permille / 1000;
}

/* ------------------------------------------------------------------ rate and window */

/* Alone on the path the queue is kept short but not empty, so that the link never idles and an
 * estimate that is a little off heals. */
static gmc_duration cruise_target(const struct model *m)
{
    gmc_duration target = GMC_MS(1) + least_rtt(m) / 32;

    return target > m->up_queue_max / 4 ? m->up_queue_max / 4 : target;
}

static uint32_t cruise_gain(const struct model *m)
{
    gmc_duration rtt = least_rtt(m);
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

static uint32_t gain(const struct model *m)
{
    switch (m->phase) {
    case START:
        return GAIN_START;
    case DRAIN:
        return GAIN_DRAIN;
    case DOWN:
        return GAIN_DOWN;
    case UP: /* up_rate */
    case CRUISE:
        break;
    }
    return cruise_gain(m);
}

static uint64_t bytes_in(uint64_t bps, gmc_duration span)
{
    return bps / 8 / 1000 * (span / 1000) / 1000;
}

/* So many packets in a round trip, as a rate. */
static uint64_t packets_per(const struct model *m, uint32_t packets, gmc_duration rtt)
{
    return gmc_cc_rate_bps((uint64_t)packets * m->packet_bytes, rtt < ROUND_MIN ? ROUND_MIN : rtt);
}

/* A probe goes a quarter up, or some packets in a round trip, so that a small share is not stuck
 * in small steps. */
static uint64_t up_rate(const struct model *m, uint64_t bps)
{
    uint64_t more = packets_per(m, UP_PACKETS, least_rtt(m));

    return bps + (bps / 4 > more ? bps / 4 : more < bps / 2 ? more : bps / 2);
}

static void update_outputs(struct model *m)
{
    uint64_t least = packets_per(m, LEAST_PACKETS, m->srtt);
    uint64_t rate;

    if (m->bw_bps < least)
        m->bw_bps = least;
    if (m->bw_bps < RATE_MIN)
        m->bw_bps = RATE_MIN;
    if (m->bw_bps > RATE_MAX)
        m->bw_bps = RATE_MAX;
    rate = m->phase == UP ? up_rate(m, m->bw_bps) : times(m->bw_bps, gain(m));
    m->rate_bps = rate < RATE_MIN ? RATE_MIN : rate;
    m->window_bytes = bytes_in(m->bw_bps, 3 * least_rtt(m) + WINDOW_SLACK) +
                      (uint64_t)2 * FIRST_PACKETS * m->packet_bytes;
}

/* ------------------------------------------------------------------ phases */

static void open_round(struct model *m, gmc_time now)
{
    gmc_duration span = least_rtt(m);
    gmc_duration least =
        gmc_duration_of_bytes((uint64_t)ROUND_PACKETS * m->packet_bytes, m->bw_bps);

    update_outputs(m);
    if (m->phase == START)
        span /= 2; /* to notice the end early */
    else if (span < least)
        span = least < 4 * span ? least : 4 * span;
    if (span < ROUND_MIN)
        span = ROUND_MIN;
    m->round_until = gmc_time_add(now, span);
    gmc_cc_rounds_open(&m->rounds, m->phase, m->epoch, m->rate_bps);
}

static void enter(struct model *m, gmc_time now, enum phase phase)
{
    m->phase = phase;
    open_round(m, now);
}

static void cruise_for(struct model *m, gmc_time now, gmc_duration span)
{
    m->cruise_until = gmc_time_add(now, span);
    enter(m, now, CRUISE);
}

/* Cruises last 0.8 to 1.2 times the mean, or two senders would keep in step. */
static gmc_duration cruise_span(struct model *m)
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

static void begin_drain(struct model *m, gmc_time now)
{
    m->epoch++;
    m->drain_until = gmc_time_add(now, 3 * least_rtt(m) + ROUND_MIN);
    enter(m, now, DRAIN);
}

static void begin_start(struct model *m, gmc_time now)
{
    m->epoch++;
    m->mark_count = m->recent_count = 0;
    m->start_best = 0;
    m->start_flat = 0;
    m->start_packets = m->rounds.total.packets;
    m->start_again = false;
    m->start_tries++;
    enter(m, now, START);
}

/* The round is over: what comes next. */
static void advance(struct model *m, gmc_time now)
{
    if (now < m->round_until)
        return;
    switch (m->phase) {
    case UP:
        enter(m, now, DOWN);
        return;
    case DOWN:
        cruise_for(m, now, cruise_span(m));
        return;
    case CRUISE:
        if (now >= m->cruise_until && m->start_again)
            begin_start(m, now);
        else
            enter(m, now, now >= m->cruise_until ? UP : CRUISE);
        return;
    case START:
    case DRAIN:
        open_round(m, now);
        return;
    }
}

/* ------------------------------------------------------------------ samples */

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* What the path carried between two marks. Base losses count as carried; when there are more,
 * only what arrived counts, scaled by base loss. */
static uint64_t carried_bytes(const struct model *m, const struct gmc_cc_mark *from,
                              const struct gmc_cc_mark *to, bool excess)
{
    uint64_t bytes = to->bytes - from->bytes;
    uint64_t n = to->packets - from->packets;
    uint64_t lost = minus(to->lost, from->lost);
    uint64_t allow = gmc_cc_loss_allow_milli(&m->base, n) / 1000;

    if (n == 0)
        return 0;
    if (excess) {
        uint64_t arrived = bytes / n * minus(n, lost);

        return arrived * 1000 / (1000 - gmc_cc_loss_ppm(&m->base) / 1000);
    }
    return bytes - bytes / n * minus(lost, allow);
}

static uint64_t sample_of(const struct model *m, const struct gmc_cc_round *round, bool excess)
{
    return gmc_cc_rate_bps(carried_bytes(m, &round->from, &round->to, excess),
                           minus(round->to.arrival_ns, round->from.arrival_ns));
}

/* The sender did not send what it was allowed: such a round says what it sent, and not what the
 * path carries. Held back by the window it is the path that limits. */
static bool is_limited(const struct gmc_cc_round *round)
{
    uint64_t sent = gmc_cc_rate_bps(round->to.bytes - round->from.bytes,
                                    minus(round->to.sent, round->from.sent));

    return !round->windowed && sent < times(round->rate_bps, 930);
}

static void note_best(struct model *m, gmc_time now, uint64_t sample)
{
    if (now - m->up_best_since > BEST_WINDOW) {
        m->up_best_before = now - m->up_best_since > 2 * BEST_WINDOW ? 0 : m->up_best;
        m->up_best = 0;
        m->up_best_since = now;
    }
    if (sample > m->up_best)
        m->up_best = sample;
}

static uint64_t best(const struct model *m)
{
    return m->up_best > m->up_best_before ? m->up_best : m->up_best_before;
}

/* ------------------------------------------------------------------ START */

static void end_start(struct model *m, gmc_time now, uint64_t bw_bps)
{
    if (bw_bps != 0)
        m->bw_bps = bw_bps;
    begin_drain(m, now);
}

/* The mark to measure from: at least 24 packets and a quarter round trip back. */
static const struct gmc_cc_mark *look_back(const struct model *m)
{
    const struct gmc_cc_mark *now = &m->rounds.total;
    gmc_duration span = least_rtt(m) / 4;

    if (span < GMC_US(3500))
        span = GMC_US(3500);
    for (uint32_t i = 1; i <= MARKS && i <= m->mark_count; i++) {
        const struct gmc_cc_mark *mark = &m->marks[(m->mark_count - i) % MARKS];

        if (now->packets - mark->packets >= 24 && minus(now->arrival_ns, mark->arrival_ns) >= span)
            return mark;
    }
    return 0;
}

static bool stands_in_start(const struct model *m)
{
    gmc_duration least = GMC_TIME_NEVER;

    if (m->recent_count < RECENT)
        return false;
    for (uint32_t i = 0; i < RECENT; i++) {
        if (m->recent_queue[i] < least)
            least = m->recent_queue[i];
    }
    return least > queue_threshold(m) + GMC_MS(1);
}

static void start_ack(struct model *m, gmc_time now, gmc_duration queue)
{
    const struct gmc_cc_mark *total = &m->rounds.total;
    const struct gmc_cc_mark *mark = look_back(m);
    const struct gmc_cc_mark *newest = &m->marks[(m->mark_count + MARKS - 1) % MARKS];
    uint64_t carried, arrived, span;

    m->recent_queue[m->recent_count++ % RECENT] = queue;
    if (m->mark_count == 0 || total->arrival_ns - newest->arrival_ns >= GMC_US(300))
        m->marks[m->mark_count++ % MARKS] = *total;
    if (mark == 0)
        return;
    carried = carried_bytes(m, mark, total, false);
    span = minus(total->arrival_ns, mark->arrival_ns);
    arrived = gmc_cc_rate_bps(carried, span);
    if (stands_in_start(m)) {
        end_start(m, now, arrived);
        return;
    }
    if (span < minus(total->sent, mark->sent))
        span = minus(total->sent, mark->sent);
    carried = gmc_cc_rate_bps(carried, span);
    if (carried > m->bw_bps)
        m->bw_bps = carried;
}

/* Loss far beyond the base, or six rounds (three round trips) that carried no more than the ones
 * before. */
static void judge_start(struct model *m, gmc_time now, const struct gmc_cc_round *round)
{
    uint64_t n = round->decided, lost = round->lost;
    uint64_t sample = sample_of(m, round, true);

    if (n >= 16 && gmc_cc_loss_is_excess(&m->base, n, minus(lost, n / 8))) {
        if (m->rounds.total.packets - m->start_packets < START_PACKETS &&
            m->start_tries < START_TRIES)
            m->start_again = true;
        end_start(m, now, sample);
        return;
    }
    if (round->acks > 0 && round->queue_min / 2 + round->queue_max / 2 < queue_threshold(m))
        gmc_cc_loss_learn(&m->base, n, lost);
    if (round->acks < 2 || is_limited(round))
        return;
    if (sample > m->start_best + m->start_best / 4) {
        m->start_best = sample;
        m->start_flat = 0;
    } else if (++m->start_flat >= 6) {
        end_start(m, now, m->start_best > sample ? m->start_best : sample);
    }
}

static void drain_ack(struct model *m, gmc_time now, const struct gmc_cc_ack *ack,
                      gmc_duration queue)
{
    uint64_t pipe = bytes_in(m->bw_bps, least_rtt(m)) + (uint64_t)FIRST_PACKETS * m->packet_bytes;

    if (queue < least_rtt(m) / 16 + GMC_US(500) || ack->inflight_bytes < pipe ||
        now >= m->drain_until)
        cruise_for(m, now, 2 * least_rtt(m));
}

/* ------------------------------------------------------------------ judgements */

/* A sample of n packets that is not really less than the best one: within 3 %, and what chance
 * does to base loss. */
static uint32_t as_good_permille(const struct model *m, uint64_t n)
{
    uint64_t ppm = gmc_cc_loss_ppm(&m->base);
    uint64_t chance = 3 * gmc_cc_isqrt(ppm * (1000000 - ppm) / (n + 1)) / 1000;

    return 970 - (uint32_t)(chance > 100 ? 100 : chance);
}

/* More was lost than base and chance explain. If as much of it is lost at a lower rate, the path
 * has changed and nothing is wrong with the rate; else it was congestion. */
static void begin_test(struct model *m, const struct gmc_cc_round *round)
{
    m->testing = true;
    m->test_bw_bps = m->bw_bps;
    m->test = (struct count){round->decided, round->lost};
}

static void judge_up(struct model *m, gmc_time now, const struct gmc_cc_round *round)
{
    uint64_t was = m->bw_bps;
    bool excess = gmc_cc_loss_is_excess(&m->base, round->decided, round->lost);
    uint64_t sample = sample_of(m, round, excess);

    m->up_clean = m->up_calm = false;
    if (round->acks < 2)
        return;
    if (is_limited(round)) {
        if (sample > was && !excess)
            m->bw_bps = sample;
        return;
    }
    if (sample < times(was, m->stubborn ? 1000 : 850))
        sample = times(was, m->stubborn ? 1000 : 850);
    if (sample > up_rate(m, was))
        sample = up_rate(m, was);
    note_best(m, now, sample);
    m->up_queue_max = round->queue_max;
    m->up_best_again = sample >= times(best(m), as_good_permille(m, round->decided));
    if (!excess) {
        m->bw_bps = sample;
        m->up_clean = true;
        m->up_calm = sample < times(was, 1060);
        if (sample > times(was, 1100))
            m->calm = 0;
        if (sample >= times(was, 1200) && m->long_left == 0 && m->phase == CRUISE)
            m->cruise_until = now;
        if (m->long_left > 0)
            m->long_left--;
        return;
    }
    if (!m->testing)
        begin_test(m, round);
    m->calm = 0;
    m->long_left = 2;
    if (m->stubborn)
        m->bw_bps = times(sample, YIELD_STUBBORN);
    else if (sample >= times(best(m), as_good_permille(m, round->decided)) ||
             sample <= times(was, 1010))
        m->bw_bps = times(sample, YIELD_AS_GOOD);
    else
        m->bw_bps = times(sample, YIELD_LESS);
}

static bool is_as_lossy(const struct count *down, const struct count *test)
{
    return down->n >= TEST_PACKETS && down->lost * test->n * 4 >= test->lost * down->n * 3;
}

static void cut(struct model *m, gmc_time now)
{
    if (m->stubborn || (m->was_cut && now - m->cut_at < CUT_INTERVAL))
        return;
    m->bw_bps = times(m->bw_bps, YIELD_CUT);
    m->cut_at = now;
    m->was_cut = true;
}

/* The queue was (nearly) empty at some moment of the round, measured by how long the last probe
 * made it: losses are the path's. In a short queue that is always full they are not. */
static bool is_clear(const struct model *m, const struct gmc_cc_round *round)
{
    return m->up_queue_max == 0 || round->queue_min < m->up_queue_max / 2;
}

static void learn_down(struct model *m, gmc_time now, const struct gmc_cc_round *round)
{
    struct count *down = &m->down;

    down->n += round->decided;
    down->lost += round->lost;
    if (down->n < TEST_PACKETS)
        return;
    if (gmc_cc_loss_is_below(&m->base, down->n, down->lost, 3)) {
        gmc_cc_loss_set(&m->base, down->n, down->lost);
    } else if (m->testing && gmc_cc_loss_is_excess(&m->base, down->n, down->lost) &&
               is_clear(m, round) && is_as_lossy(down, &m->test)) {
        gmc_cc_loss_set(&m->base, down->n + m->test.n, down->lost + m->test.lost);
        m->bw_bps = m->test_bw_bps;
        m->long_left = 0;
        m->testing = false;
    } else if (is_clear(m, round)) {
        gmc_cc_loss_learn_clipped(&m->base, down->n, down->lost);
    }
    if (m->testing && m->test_cuts)
        cut(m, now);
    m->testing = m->test_cuts = false;
    *down = (struct count){0, 0};
}

/* A queue that others fill falls when we send a quarter less. If the delay rises with a probe but
 * never falls below where it was, time after time, and the path carries what it did, then no queue
 * stands there: the path has become longer, and the least delay has to be learnt anew. */
static void check_minimum(struct model *m, gmc_time now, const struct gmc_cc_round *down)
{
    bool still = down->queue_min + least_rtt(m) / 64 + GMC_US(300) >= m->cruise_queue &&
                 m->up_queue_max >= m->cruise_queue + least_rtt(m) / 12;

    m->still = still && m->up_best_again ? m->still + 1 : 0;
    if (m->still < STILL_MAX)
        return;
    m->still = 0;
    gmc_cc_min_reset(&m->delay_min);
    gmc_cc_min_reset(&m->rtt_recent);
    gmc_cc_min_reset(&m->rtt_min);
    (void)gmc_cc_min_add(&m->rtt_min, now, (int64_t)m->srtt);
}

static void judge_down(struct model *m, gmc_time now, const struct gmc_cc_round *round)
{
    bool stands = round->queue_min != GMC_TIME_NEVER && round->queue_min > queue_threshold(m);

    learn_down(m, now, round);
    if (stands && m->up_clean) {
        m->bw_bps = times(m->bw_bps, YIELD);
        check_minimum(m, now, round);
    }
    if (stands)
        m->calm = 0;
    else if (m->up_calm)
        m->calm++;
    m->up_clean = m->up_calm = false;
}

/* The path carries much less than it did: two rounds in a row, with a queue that shows it. */
static bool has_shrunk(struct model *m, const struct gmc_cc_round *round, uint64_t sample)
{
    if (round->decided < SHRUNK_PACKETS)
        return false;
    if (sample == 0 || sample > times(m->bw_bps, 850) || round->queue_min < queue_threshold(m)) {
        m->shrunk = 0;
        return false;
    }
    if (m->shrunk == 0 || sample > m->shrunk_bps)
        m->shrunk_bps = sample;
    return ++m->shrunk >= 2;
}

static void count_excess(struct model *m, gmc_time now, bool excess)
{
    if (now - m->window_since > STUBBORN_WINDOW) {
        m->stubborn = m->window_excess >= STUBBORN_EXCESS;
        m->window_excess = 0;
        m->window_since = now;
    }
    m->window_excess += excess;
}

static void learn_cruise(struct model *m, const struct gmc_cc_round *round)
{
    struct count *cruise = &m->cruise;

    cruise->n += round->decided;
    cruise->lost += round->lost;
    if (cruise->n < LEARN_PACKETS)
        return;
    gmc_cc_loss_learn_clipped(&m->base, cruise->n, cruise->lost);
    *cruise = (struct count){0, 0};
}

static void judge_cruise(struct model *m, gmc_time now, const struct gmc_cc_round *round)
{
    bool excess = gmc_cc_loss_is_excess(&m->base, round->decided, round->lost);

    if (is_clear(m, round))
        learn_cruise(m, round);
    if (round->acks < 2 || is_limited(round))
        return;
    count_excess(m, now, excess && round->queue_min < least_rtt(m));
    m->cruise_queue = round->queue_min;
    m->busy = round->queue_min > queue_threshold(m) ? m->busy + 1 : 0;
    if (m->busy >= 2 || excess)
        m->calm = 0;
    if (has_shrunk(m, round, sample_of(m, round, excess))) {
        m->shrunk = 0;
        m->bw_bps = m->shrunk_bps;
        begin_drain(m, now);
        return;
    }
    if (!excess || m->stubborn || m->testing)
        return;
    if (round->queue_min > queue_threshold(m)) {
        cut(m, now);
        return;
    }
    begin_test(m, round);
    m->test_cuts = round->queue_max > m->up_queue_max / 4;
    if (m->phase == CRUISE)
        enter(m, now, DOWN);
}

/* Base loss that no round with an empty queue has confirmed for long may have been congestion:
 * believe less and less in it. Whoever yields too much by that empties the queue, and relearns. */
static void doubt_base(struct model *m, gmc_time now, const struct gmc_cc_round *round)
{
    if (is_clear(m, round))
        m->clear_at = now;
    if (now - m->clear_at < DOUBT_AFTER)
        return;
    m->clear_at += DOUBT_EACH;
    m->base.lost -= (m->base.lost + 7) / 8;
}

static void judge(struct model *m, gmc_time now, const struct gmc_cc_round *round)
{
    if (round->epoch != m->epoch || round->decided == 0)
        return;
    doubt_base(m, now, round);
    if (gmc_cc_loss_is_below(&m->base, round->decided, round->lost, 4))
        gmc_cc_loss_set(&m->base, round->decided, round->lost);
    switch ((enum phase)round->phase) {
    case START:
        judge_start(m, now, round);
        return;
    case UP:
        judge_up(m, now, round);
        return;
    case DOWN:
        judge_down(m, now, round);
        return;
    case CRUISE:
        judge_cruise(m, now, round);
        return;
    case DRAIN:
        return;
    }
}

/* ------------------------------------------------------------------ operations */

static void model_init(void *state, const struct gmc_cc_params *params, struct gmc_prng *prng,
                       gmc_time now)
{
    struct model *m = state;
    gmc_duration rtt = params->initial_rtt == 0 ? RTT_UNKNOWN : params->initial_rtt;

    *m = (struct model){.packet_bytes = params->packet_bytes == 0 ? 1500 : params->packet_bytes};
    gmc_prng_fork(prng, "cc", &m->prng);
    gmc_cc_loss_init(&m->base);
    gmc_cc_min_init(&m->delay_min, MINIMUM_WINDOW);
    gmc_cc_min_init(&m->rtt_recent, MINIMUM_WINDOW);
    gmc_cc_min_init(&m->rtt_min, LONG_MINIMUM_WINDOW);
    gmc_cc_rounds_init(&m->rounds);
    (void)gmc_cc_min_add(&m->rtt_min, now, (int64_t)rtt);
    m->srtt = rtt;
    m->bw_bps = gmc_cc_rate_bps((uint64_t)FIRST_PACKETS * m->packet_bytes, 2 * rtt);
    m->up_best_since = m->window_since = m->last_sent = m->clear_at = now;
    begin_start(m, now);
}

static void model_on_sent(void *state, gmc_time now, uint64_t packet, uint32_t bytes,
                          bool app_limited)
{
    struct model *m = state;

    (void)bytes;
    (void)app_limited; /* the pace of a round shows it, see is_limited */
    if (now - m->last_sent > IDLE_LONG && m->phase != START) {
        m->bw_bps /= 2; /* the path may have got other users: sends at bw, and looks */
        begin_start(m, now);
    } else if (now - m->last_sent > 2 * least_rtt(m) + GMC_MS(100) && m->phase != START) {
        cruise_for(m, now, 2 * least_rtt(m));
    } else {
        advance(m, now);
    }
    m->last_sent = now;
    gmc_cc_rounds_sent(&m->rounds, packet);
}

static void model_on_acked(void *state, gmc_time now, uint64_t packet, uint32_t bytes,
                           gmc_time sent)
{
    struct model *m = state;

    (void)now;
    (void)sent;
    gmc_cc_rounds_decided(&m->rounds, packet, bytes, false);
}

static void model_on_lost(void *state, gmc_time now, uint64_t packet, uint32_t bytes, gmc_time sent)
{
    struct model *m = state;

    (void)now;
    (void)sent;
    gmc_cc_rounds_decided(&m->rounds, packet, bytes, true);
}

static void model_on_spurious(void *state, gmc_time now, uint64_t packet, uint32_t bytes)
{
    struct model *m = state;

    (void)bytes;
    m->late_at = now;
    m->late_any = true;
    if (!gmc_cc_rounds_spurious(&m->rounds, packet))
        gmc_cc_loss_undo(&m->base);
}

/* One-way delay above its least of some seconds (clocks drift, so not of longer), and what the
 * round trip of these seconds has been above its least of minutes: a queue that never drains. */
static gmc_duration queue_of(struct model *m, const struct gmc_cc_ack *ack)
{
    uint64_t delay = ack->largest_arrival_ns - ack->largest_sent; /* clocks differ: any value */
    uint64_t queue = delay - (uint64_t)gmc_cc_min_add(&m->delay_min, ack->now, (int64_t)delay);
    int64_t standing = gmc_cc_min_get(&m->rtt_recent) - gmc_cc_min_get(&m->rtt_min);

    if (queue > QUEUE_MAX)
        queue = QUEUE_MAX;
    return standing > 0 ? queue + (gmc_duration)standing : queue;
}

/* Where packets overtake each other, judgement waits for those that only seem lost. */
static gmc_duration hold_of(const struct model *m, gmc_time now)
{
    gmc_duration hold = least_rtt(m) / 4;

    if (!m->late_any || now - m->late_at > LATE_MEMORY)
        return 0;
    return hold < LATE_LEAST ? LATE_LEAST : hold;
}

static void model_on_ack(void *state, const struct gmc_cc_ack *ack)
{
    struct model *m = state;
    gmc_duration queue = queue_of(m, ack);
    struct gmc_cc_round round;
    struct gmc_cc_round *current = gmc_cc_rounds_current(&m->rounds);

    if (ack->rtt != 0) {
        (void)gmc_cc_min_add(&m->rtt_min, ack->now, (int64_t)ack->rtt);
        (void)gmc_cc_min_add(&m->rtt_recent, ack->now, (int64_t)ack->rtt);
        m->srtt = m->srtt - m->srtt / 8 + ack->rtt / 8;
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
    gmc_cc_rounds_ack(&m->rounds, ack->largest, ack->largest_sent, ack->largest_arrival_ns, queue);
    if (m->phase == START)
        start_ack(m, ack->now, queue);
    else if (m->phase == DRAIN)
        drain_ack(m, ack->now, ack, queue);
    while (gmc_cc_rounds_next(&m->rounds, ack->now, hold_of(m, ack->now), ack->largest, &round))
        judge(m, ack->now, &round);
    advance(m, ack->now);
    update_outputs(m);
}

static void model_on_timeout(void *state, gmc_time now, uint32_t count)
{
    struct model *m = state;

    if (count < 3)
        return;
    m->bw_bps /= 2;
    begin_start(m, now);
}

static uint64_t model_rate_bps(const void *state)
{
    return ((const struct model *)state)->rate_bps;
}

static uint64_t model_window_bytes(const void *state)
{
    return ((const struct model *)state)->window_bytes;
}

static uint32_t model_loss_ppm(const void *state)
{
    return gmc_cc_loss_ppm(&((const struct model *)state)->base);
}

const struct gmc_cc_ops gmc_cc_model = {
    .name = "model",
    .state_size = sizeof(struct model),
    .init = model_init,
    .on_sent = model_on_sent,
    .on_acked = model_on_acked,
    .on_lost = model_on_lost,
    .on_spurious = model_on_spurious,
    .on_ack = model_on_ack,
    .on_timeout = model_on_timeout,
    .rate_bps = model_rate_bps,
    .window_bytes = model_window_bytes,
    .loss_ppm = model_loss_ppm,
};
