/* SPDX-License-Identifier: BSD-2-Clause */
/* Congestion control `model`: judgements on whole rounds of UP, DOWN and CRUISE. */
#include "core/cc_model.h"

static void note_best(struct gmc_ccm *m, gmc_time now, uint64_t sample)
{
    if (now - m->up_best_since > BEST_WINDOW) {
        m->up_best_before = now - m->up_best_since > 2 * BEST_WINDOW ? 0 : m->up_best;
        m->up_best = 0;
        m->up_best_since = now;
    }
    if (sample > m->up_best)
        m->up_best = sample;
}

static uint64_t best(const struct gmc_ccm *m)
{
    return m->up_best > m->up_best_before ? m->up_best : m->up_best_before;
}

/* Base was believed higher than it is, and what samples said with it was too much. */
static void set_lower_base(struct gmc_ccm *m, uint64_t n, uint64_t lost)
{
    gmc_cc_loss_set(&m->base, n, lost);
    m->up_best = m->up_best_before = 0;
}

uint32_t gmc_ccm_chance_permille(const struct gmc_ccm *m, uint64_t n)
{
    uint64_t ppm = gmc_cc_loss_ppm(&m->base);
    uint64_t chance = 3 * gmc_cc_isqrt(ppm * (1000000 - ppm) / (n + 1)) / 1000;

    return (uint32_t)(chance > 100 ? 100 : chance);
}

/* A sample of n packets that is not really less than the best one: within 3 %, and what chance
 * does to base loss. */
static uint32_t as_good_permille(const struct gmc_ccm *m, uint64_t n)
{
    return 970 - gmc_ccm_chance_permille(m, n);
}

/* It never got much shorter than the longest that was seen lately: what is lost did not fit. */
static bool is_full(const struct gmc_ccm *m, const struct gmc_cc_round *round)
{
    gmc_duration room = (gmc_duration)-gmc_cc_min_get(&m->room);

    return room > FULL_LEAST && room > 2 * gmc_duration_of_bytes(m->packet_bytes, m->bw_bps) &&
           round->queue_min >= room / 4 * 3;
}

/* A short queue, in which losses tell of others: those of the path would be taken for them. */
static bool is_short_and_lossless(const struct gmc_ccm *m)
{
    return m->others.is_short && gmc_cc_loss_ppm(&m->base) < LOSSLESS_PPM;
}

bool gmc_ccm_is_shared(const struct gmc_ccm *m)
{
    return is_short_and_lossless(m) && m->others.is_shared && m->long_left > 0;
}

/* Beside others in a short queue to what the path carried, if that is less: who took all of it for
 * its share, because the others began at that moment, would lose half of what it sends for long. */
static void cut(struct gmc_ccm *m, gmc_time now, uint64_t carried_bps)
{
    uint64_t less = gmc_ccm_times(m->bw_bps, YIELD_CUT);

    if (m->others.is_on) {
        gmc_ccm_go_away(m, now);
        return;
    }
    if (m->stubborn || (m->was_cut && now - m->cut_at < gmc_ccm_by_rtt(m, CUT_INTERVAL)))
        return;
    m->bw_bps = gmc_ccm_is_shared(m) && carried_bps > 0 && carried_bps < less ? carried_bps : less;
    m->cut_at = now;
    m->was_cut = true;
}

/* More was lost than base and chance explain. If as much of it is lost at a lower rate, the path
 * has changed and nothing is wrong with the rate; else it was congestion. */
static void begin_test(struct gmc_ccm *m, const struct gmc_cc_round *round)
{
    m->testing = true;
    m->test_bw_bps = m->bw_bps;
    m->test = (struct gmc_ccm_count){round->decided, round->lost};
    m->test_carried_bps = gmc_ccm_sample(m, round, true);
}

/* Two probes in a row that the path took in whole, without a queue: it carries far more than the
 * estimate, and nobody else is there. START finds how much in a few round trips. In a short queue
 * probes are taken in whole between the losses of a window sender too. */
static void look_farther(struct gmc_ccm *m, const struct gmc_cc_round *round, bool whole)
{
    if (m->others.is_on || m->others.is_short || !whole ||
        round->queue_max > gmc_ccm_queue_threshold(m))
        m->whole = 0;
    else if (++m->whole >= WHOLE_PROBES)
        m->start_again = true;
}

/* A probe of gain g on a full path carries r = g / (1 + (g - 1) s) times what share s of the path
 * carried before. */
static void note_share(struct gmc_ccm *m, uint64_t was, uint64_t sample)
{
    uint64_t more = gmc_ccm_up_rate(m, was) - was;
    uint64_t gained = gmc_ccm_minus(sample, was);
    uint32_t share;

    if (more == 0 || gained > more)
        return;
    share = (uint32_t)((more - gained) * 1000 / more * was / (was + gained));
    m->share_permille += share / 4 - m->share_permille / 4;
}

/* A sender that fills its estimate without a queue and has no more to send is alone as well. */
static void note_limited_up(struct gmc_ccm *m, const struct gmc_cc_round *round, bool is_filled)
{
    bool is_calm = round->queue_max <= gmc_ccm_queue_threshold(m);

    /* It has got so long without losses, and nobody else made it so: a shorter one is not full. */
    if (is_calm && round->queue_max > m->up_queue_max)
        m->up_queue_max = round->queue_max;
    m->up_calm = is_filled && is_calm;
    if (m->up_calm && m->without_down) {
        m->calm++;
        m->up_calm = false;
    }
}

/* A probe that began with a queue that was nearly empty has nobody beside it: where hosts are busy
 * it carried less because one of them paused. */
static bool has_stalled(const struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round)
{
    return now < m->late_until && round->queue_min <= gmc_ccm_queue_threshold(m) / 2;
}

/* There a probe is taken in whole while a window sender comes back from a loss, which takes it
 * seconds: where one was seen lately, three quarters of what is free are left to it. */
static uint64_t share_of_gain(const struct gmc_ccm *m, uint64_t was, uint64_t sample)
{
    return gmc_ccm_is_shared(m) && sample > was ? was + (sample - was) / 4 : sample;
}

/* A queue that nobody has filled lately shows no room, but a host that is always late needs it:
 * what one probe took at once the next ones may go beyond. One that lost then shows nothing of the
 * rate, unless others were there lately, whose losses these may be. */
static bool is_burst_lost(struct gmc_ccm *m, gmc_time now, bool excess)
{
    gmc_duration burst = gmc_duration_of_bytes(m->up_burst_bytes, m->bw_bps);
    bool is_alone = !m->others.is_on && gmc_time_sub(now, m->seen_at) > TOOK_ALONE;

    if (m->took_wait > 0)
        m->took_wait--;
    if (!excess) {
        if (m->up_burst_bytes > m->took_bytes)
            m->took_bytes = m->up_burst_bytes;
        return false;
    }
    m->took_bytes = 0;
    m->took_wait = TOOK_WAIT;
    return is_alone && burst > gmc_ccm_room(m) + GMC_MS(1);
}

static void judge_up(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round)
{
    uint64_t was = m->bw_bps;
    bool lossy = gmc_cc_loss_is_excess(&m->base, round->decided, round->lost);
    bool excess = lossy || round->ce > 0;
    uint64_t sample = gmc_ccm_sample(m, round, excess);
    bool is_met = is_short_and_lossless(m) && m->others.met;

    m->up_clean = m->up_calm = m->others.met = false;
    m->others.is_shared = is_met || (m->others.is_shared && m->long_left > 0);
    if (is_burst_lost(m, now, excess))
        return;
    if (round->acks < 2 || gmc_ccm_is_sparse(m, round))
        return;
    if (m->others.is_on && gmc_ccm_background_up(m, now, round, sample))
        return;
    if (gmc_ccm_is_limited(round) && !excess) {
        if (sample > was)
            m->bw_bps = sample;
        /* Less slack may be why it was not filled: who is always late would lack it for good. */
        m->others.is_shared = is_met;
        note_limited_up(m, round, sample >= gmc_ccm_times(was, NEARLY));
        return;
    }
    if (sample < gmc_ccm_times(was, m->stubborn ? 1000 : 850))
        sample = gmc_ccm_times(was, m->stubborn ? 1000 : 850);
    if (sample > gmc_ccm_up_rate(m, was))
        sample = gmc_ccm_up_rate(m, was);
    note_best(m, now, sample);
    m->up_queue_max = round->queue_max;
    m->up_best_again = sample >= gmc_ccm_times(best(m), as_good_permille(m, round->decided));
    if (!excess) {
        if (sample > was || !has_stalled(m, now, round))
            m->bw_bps = share_of_gain(m, was, sample);
        m->up_clean = true;
        m->up_calm = sample < gmc_ccm_times(was, 1060);
        m->up_alone = sample < gmc_ccm_times(was, 1030);
        if (sample > gmc_ccm_times(was, 1100))
            m->calm = 0;
        if (sample >= gmc_ccm_times(was, 1200) && m->long_left == 0 && m->phase == CRUISE)
            m->cruise_until = now;
        look_farther(m, round, sample >= gmc_ccm_times(was, 1200));
        if (m->long_left > 0 && !is_met)
            m->long_left--;
        return;
    }
    if (!m->testing && lossy) {
        begin_test(m, round);
        if (m->without_down && m->phase == CRUISE)
            gmc_ccm_enter(m, now, DOWN);
    }
    note_share(m, was, sample);
    m->calm = 0;
    m->long_left = 2;
    m->seen_at = now;
    if (m->stubborn)
        m->bw_bps = gmc_ccm_times(sample, YIELD_STUBBORN);
    else if (sample >= gmc_ccm_times(best(m), as_good_permille(m, round->decided)) ||
             sample <= gmc_ccm_times(was, 1010))
        m->bw_bps = gmc_ccm_times(sample, gmc_ccm_is_shaken(m) ? YIELD_SHAKEN : YIELD_AS_GOOD);
    else
        m->bw_bps = gmc_ccm_times(sample, YIELD_LESS);
    uint64_t met_bps = gmc_ccm_times(was, now < m->late_until ? YIELD_MAY_MEET : YIELD_MET);
    if (!m->stubborn && is_met && m->bw_bps > met_bps)
        m->bw_bps = met_bps;
}

/* Of the loss rate that is tested, the slower packets show at least so many quarters. */
static bool is_as_lossy(const struct gmc_ccm_count *down, const struct gmc_ccm_count *test,
                        uint32_t quarters)
{
    return down->lost * test->n * 4 >= test->lost * down->n * quarters;
}

/* The queue was (nearly) empty at some moment of the round, measured by how long the last probe
 * made it: losses are the path's. In a short queue that is always full they are not. What a packet
 * of ours takes is no queue: a probe far below the path's rate makes none to compare with. Nor is
 * what full packets take longer on each wire of the way than the small ones of which the least
 * delay is, where longer queues were seen. */
static bool is_clear(const struct gmc_ccm *m, const struct gmc_cc_round *round)
{
    gmc_duration half = (gmc_duration)-gmc_cc_min_get(&m->room) / 2;

    return !is_full(m, round) &&
           (round->queue_min <= gmc_duration_of_bytes(m->packet_bytes, m->bw_bps) ||
            round->queue_min < (half < FULL_LEAST ? half : FULL_LEAST) ||
            round->queue_min < m->up_queue_max / 2);
}

/* Too few packets, or too few of them lost to tell the path from chance: a long cruise at a wrong
 * rate would cost more than some more round trips at a lower one. Not in a queue, and not where
 * nothing is lost: it is others' doing then, and each round trip leaves them more. */
static bool test_goes_on(const struct gmc_ccm *m, bool is_queue_clear)
{
    const struct gmc_ccm_count *down = &m->down;

    if (!m->testing || !is_queue_clear)
        return false;
    if (down->n < TEST_PACKETS)
        return down->n < LOSS_SHOWS_PACKETS || down->lost > 0;
    return down->n < TEST_PACKETS_MAX && is_as_lossy(down, &m->test, 2);
}

static void learn_down(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round)
{
    struct gmc_ccm_count *down = &m->down;

    down->n += round->decided;
    down->lost += round->lost;
    bool is_queue_clear = is_clear(m, round);
    bool is_path = m->testing && is_queue_clear && down->n >= TEST_PACKETS &&
                   gmc_cc_loss_is_excess(&m->base, down->n, down->lost) &&
                   is_as_lossy(down, &m->test, 3);
    if (!is_path && test_goes_on(m, is_queue_clear)) {
        if (m->phase == CRUISE)
            gmc_ccm_enter(m, now, DOWN);
        return;
    }
    if (down->n < TEST_PACKETS && !(m->testing && is_full(m, round)))
        return;
    if (gmc_cc_loss_is_below(&m->base, down->n, down->lost, 3)) {
        set_lower_base(m, down->n, down->lost);
    } else if (is_path) {
        gmc_cc_loss_set(&m->base, down->n + m->test.n, down->lost + m->test.lost);
        m->bw_bps = m->test_bw_bps;
        m->long_left = 0;
        m->testing = false;
        if (m->phase == CRUISE)
            m->cruise_until = now; /* what was taken for somebody else's kept cruises long */
    } else if (is_queue_clear) {
        gmc_cc_loss_learn_clipped(&m->base, down->n, down->lost);
    }
    if (m->testing && m->test_cuts)
        cut(m, now, m->test_carried_bps);
    m->testing = m->test_cuts = false;
    *down = (struct gmc_ccm_count){0, 0};
}

/* Sending a quarter less for a time lets a queue fall by our part of a quarter of that time. What
 * falls by nearly all of it is fed by nobody else: it is our own, of a host that was woken late and
 * made up for it, twice perhaps: a probe that gained nothing has all of the path. (More is not: a
 * sibling may be in DOWN as well.) */
static bool is_own_queue(const struct gmc_ccm *m, const struct gmc_cc_round *down)
{
    gmc_duration most = m->up_alone ? 2 * SLACK_MAX : SLACK_MAX;
    gmc_duration time = gmc_ccm_minus(down->to.sent, down->from.sent);
    gmc_duration fall = gmc_ccm_minus(down->from.queue, down->to.queue);
    gmc_duration own = time / 1000 * (1000 - GAIN_DOWN); /* if it is ours alone */

    return own > 0 && down->queue_min <= most && fall >= own / 1000 * OWN_QUEUE &&
           fall <= own / 1000 * (2000 - OWN_QUEUE);
}

static void judge_down(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round)
{
    bool stands = round->ce > 0 || (round->queue_min != GMC_TIME_NEVER &&
                                    round->queue_min > gmc_ccm_queue_threshold(m));
    bool is_own = round->ce == 0 && now < m->late_until && is_own_queue(m, round);

    learn_down(m, now, round);
    if (m->others.is_on && round->ce > 0) {
        gmc_ccm_go_away(m, now);
        return;
    }
    if (stands && m->up_clean) {
        if (!is_own)
            m->bw_bps = gmc_ccm_times(m->bw_bps, m->stubborn ? YIELD_STUBBORN : YIELD);
        gmc_ccm_check_minimum(m, now, round);
    }
    if (stands)
        m->calm = 0;
    else if (m->up_calm)
        m->calm++;
    m->up_clean = m->up_calm = false;
}

/* The path carries much less than it did: two rounds in a row, with a queue that shows it. */
static bool has_shrunk(struct gmc_ccm *m, const struct gmc_cc_round *round, uint64_t sample)
{
    if (round->decided < SHRUNK_PACKETS || m->stubborn)
        return false;
    if (sample == 0 || sample > gmc_ccm_times(m->bw_bps, 850) ||
        round->queue_min < gmc_ccm_queue_threshold(m)) {
        m->shrunk = 0;
        return false;
    }
    if (m->shrunk == 0 || sample > m->shrunk_bps)
        m->shrunk_bps = sample;
    return ++m->shrunk >= 2;
}

static void count_excess(struct gmc_ccm *m, gmc_time now, bool excess)
{
    if (now - m->window_since > STUBBORN_WINDOW) {
        m->stubborn = !m->others.is_on && m->window_excess >= STUBBORN_EXCESS &&
                      m->share_permille <= STUBBORN_SHARE;
        m->window_excess = 0;
        m->window_since = now;
    }
    m->window_excess += excess;
}

void gmc_ccm_learn_cruise(struct gmc_ccm *m)
{
    gmc_cc_loss_learn_clipped(&m->base, m->cruise.n, m->cruise.lost);
    m->cruise = (struct gmc_ccm_count){0, 0};
}

/* The queue that the path holds, as far as was seen; whoever began in one that stood sees how long
 * it was by the round trip, once it has gone. */
static gmc_duration room_of(const struct gmc_ccm *m)
{
    gmc_duration queue = (gmc_duration)-gmc_cc_min_get(&m->room);
    gmc_duration slow = (gmc_duration)-gmc_cc_min_get(&m->slow);
    gmc_duration longer = gmc_ccm_minus(slow, gmc_ccm_least_rtt(m));

    return queue > longer ? queue : longer;
}

/* Cruises are long beside others, who come back from a loss slower than we do. Where the path
 * queues for half a round trip or more, what a window sender keeps of its window after a loss,
 * seven tenths, still fills the path and a part of the queue: one that is empty for long says they
 * left. */
static void note_others(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round,
                        bool excess)
{
    if (excess || room_of(m) < gmc_ccm_least_rtt(m) / 2 ||
        round->queue_max > gmc_ccm_queue_threshold(m)) {
        m->seen_at = now;
    } else if (m->long_left > 0 && now - m->seen_at > GONE_AFTER + 4 * gmc_ccm_least_rtt(m)) {
        m->long_left = 0;
        m->cruise_until = now;
    }
}

static void judge_cruise(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round)
{
    bool lossy = gmc_cc_loss_is_excess(&m->base, round->decided, round->lost);
    bool excess = lossy || round->ce > 0;

    /* Of a path of which little is known, what is lost beyond chance is tested first: others that
     * begin make a short queue lose as much. */
    if (is_clear(m, round) && (!lossy || m->stubborn || m->base.decided >= KNOWN_PACKETS)) {
        m->cruise.n += round->decided;
        m->cruise.lost += round->lost;
    }
    if (m->cruise.n >= LEARN_PACKETS)
        gmc_ccm_learn_cruise(m);
    if (round->acks < 2 || (gmc_ccm_is_limited(round) && !excess) || gmc_ccm_is_sparse(m, round))
        return;
    count_excess(m, now, lossy && round->queue_min < gmc_ccm_least_rtt(m));
    note_others(m, now, round, excess);
    m->cruise_queue = round->queue_min;
    m->busy = round->queue_min > gmc_ccm_queue_threshold(m) ? m->busy + 1 : 0;
    if (m->busy >= 2 || excess)
        m->calm = 0;
    gmc_ccm_note_cruise(m, round);
    if (m->others.is_on && gmc_ccm_background_cruise(m, now, round))
        return;
    uint64_t sample = gmc_ccm_sample(m, round, excess);
    if (has_shrunk(m, round, sample)) {
        m->shrunk = 0;
        m->bw_bps = m->shrunk_bps;
        if (m->others.is_on)
            gmc_ccm_go_away(m, now);
        else
            gmc_ccm_begin_drain(m, now);
        return;
    }
    if (!excess || m->stubborn || m->testing)
        return;
    if (!lossy || round->queue_min > gmc_ccm_queue_threshold(m)) {
        cut(m, now, sample);
        return;
    }
    begin_test(m, round);
    m->test_cuts = round->queue_max > m->up_queue_max / 4;
    if (m->phase == CRUISE)
        gmc_ccm_enter(m, now, DOWN);
}

/* Base loss that no round with an empty queue has confirmed for long may have been congestion:
 * believe less and less in it. Whoever yields too much by that empties the queue, and relearns. */
static void doubt_base(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round)
{
    if (is_clear(m, round))
        m->clear_at = now;
    gmc_ccm_look(m, now);
    if (now - m->clear_at < gmc_ccm_by_rtt(m, DOUBT_AFTER))
        return;
    m->clear_at += gmc_ccm_by_rtt(m, DOUBT_EACH);
    m->base.lost -= (m->base.lost + 7) / 8;
}

/* A sender that could not show in START what the path carries has enough to send now. Not while
 * somebody else fills the path: then it waits, unless it has got on by its probes meanwhile. */
static void prove(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round)
{
    if (!m->unproven || round->acks < 2 || gmc_ccm_is_limited(round))
        return;
    if (m->others.is_on || round->ce > 0 || round->queue_max > gmc_ccm_queue_threshold(m) ||
        gmc_cc_loss_is_excess(&m->base, round->decided, round->lost)) {
        m->unproven = !m->others.is_on && gmc_ccm_is_small(m);
        return;
    }
    m->unproven = false;
    m->start_again = true;
    m->cruise_until = now;
}

/* Who comes back to a path that it has hardly used for long knows no more of it than who was idle:
 * others may have left it. */
static void note_use(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round)
{
    gmc_duration span = gmc_ccm_minus(round->to.sent, round->from.sent);

    if (span < gmc_ccm_least_rtt(m))
        span = gmc_ccm_least_rtt(m);
    if (round->sent_bytes < gmc_ccm_bytes_in(m->bw_bps / USED_PART, span))
        return;
    m->unproven = m->unproven || now - m->last_used > IDLE_LONG;
    m->last_used = now;
}

void gmc_ccm_judge(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round)
{
    if (round->epoch != m->epoch || round->decided == 0)
        return;
    if (round->phase == CRUISE || round->phase == UP || round->phase == DOWN)
        gmc_ccm_note_flat(m, now, round);
    note_use(m, now, round);
    doubt_base(m, now, round);
    gmc_ccm_note_queue(m, round);
    if (gmc_cc_loss_is_below(&m->base, round->decided, round->lost, 4))
        set_lower_base(m, round->decided, round->lost);
    switch ((enum gmc_ccm_phase)round->phase) {
    case START:
        gmc_ccm_judge_start(m, now, round);
        return;
    case UP:
        prove(m, now, round);
        judge_up(m, now, round);
        return;
    case DOWN:
        judge_down(m, now, round);
        return;
    case CRUISE:
        prove(m, now, round);
        judge_cruise(m, now, round);
        return;
    case DRAIN:
    case AWAY:
        return;
    }
}
