/* SPDX-License-Identifier: BSD-2-Clause */
/* Congestion control `background`: uses a path that nobody else uses, and leaves it when somebody
 * comes.
 *
 * It is the law of `model`, which finds out what a path carries, with other conclusions. What makes
 * `model` yield a tenth makes this one go AWAY: a queue that stands although we send less, losses
 * that fall with the rate, marks. So does a probe that gains a part of what it asks for, because
 * alone on a path it gains all (there is room) or nothing (the path is full of us):
 *
 *     a probe of gain g beside a rival's rate y on a full path of rate C and our rate x = C - y
 *     carries C g x / (g x + y): between x and g x
 *
 * The last probe before a path is full gains a part too; the next one then gains nothing. So one
 * part is nothing, two are somebody, and so is gaining anything where the last probe gained
 * nothing.
 *
 * A queue so short that losses come before a delay is seen (ten packets, say) hides window senders
 * that fill it now and then. There, and where samples are steady enough to tell, cruises count in
 * which the queue gets half as long as our own probe made it. `model` knows a rival by that too.
 *
 * AWAY    a packet in four round trips, for 6 s; twice as long each time that somebody is still
 *         there, up to 24 s. Then START, from two packets in a round trip.
 *
 * A delay target as in LEDBAT (RFC 6817) was not taken: in a queue of ten packets there is no delay
 * to see, and in a long one the late comer's least delay holds the queue of the others.
 * docs/CONGESTION.md has what was measured.
 */
#include "core/cc_model.h"

#define AWAY_LONGEST GMC_S(24)
#define NOISE_MAX 20 /* permille; with more, parts and shakes are not told from chance */
#define PARTS_MAX 2u
#define NOTHINGS_CLEAR 3u /* probes in a row that gained nothing: nobody else is there */
#define MET_PACKETS 3u    /* what so many of ours take is no queue of others */
#define SHAKEN_LEAST GMC_US(500)
#define SHAKEN_MAX 6u
#define SHAKEN_BOUND 12u /* it is forgotten after so many cruises */

void gmc_ccm_go_away(struct gmc_ccm *m, gmc_time now)
{
    struct gmc_ccm_background *others = &m->others;
    gmc_duration span = others->away_next;

    others->away_next = span * 2 < AWAY_LONGEST ? span * 2 : AWAY_LONGEST;
    span = gmc_duration_scale(span, (uint32_t)(800 + gmc_prng_below(&m->prng, 401)), 1000);
    others->away_until = gmc_time_add(now, span);
    others->nothings = others->parts = others->shaken = others->standing = 0;
    m->epoch++;    /* what is under way says nothing about it */
    m->bw_bps = 0; /* the least */
    m->calm = m->busy = m->shrunk = m->long_left = 0;
    m->testing = m->test_cuts = false;
    gmc_ccm_enter(m, now, AWAY);
}

void gmc_ccm_note_queue(struct gmc_ccm *m, const struct gmc_cc_round *round)
{
    bool lossy = gmc_cc_loss_is_excess(&m->base, round->decided, round->lost);

    if (round->queue_max > 2 * gmc_ccm_queue_threshold(m))
        m->others.is_short = false;
    else if (lossy && round->acks > 1 && round->queue_max < gmc_ccm_queue_threshold(m))
        m->others.is_short = true;
}

/* How far samples stray when nothing is asked for: packets take another time to arrive than they
 * took to be sent, by jitter or by the rhythm of acknowledgements. */
static void learn_noise(struct gmc_ccm *m, const struct gmc_cc_round *round)
{
    uint64_t sent = gmc_ccm_minus(round->to.sent, round->from.sent);
    uint64_t came = gmc_ccm_minus(round->to.arrival_ns, round->from.arrival_ns);
    uint64_t off = sent > came ? sent - came : came - sent;

    if (off > sent)
        off = sent;
    if (sent > 0)
        m->others.noise_permille += ((int32_t)(off * 1000 / sent) - m->others.noise_permille) / 8;
}

void gmc_ccm_note_cruise(struct gmc_ccm *m, const struct gmc_cc_round *round)
{
    struct gmc_ccm_background *others = &m->others;
    gmc_duration most = m->up_queue_max / 2 > SHAKEN_LEAST ? m->up_queue_max / 2 : SHAKEN_LEAST;
    gmc_duration own = gmc_duration_of_bytes((uint64_t)MET_PACKETS * m->packet_bytes, m->bw_bps);
    bool is_long = round->queue_max > most;

    learn_noise(m, round);
    others->met = others->met || (is_long && round->queue_max > own);
    if (is_long)
        others->shaken += others->shaken < SHAKEN_BOUND ? 2 : 0;
    else if (others->shaken > 0)
        others->shaken--;
}

bool gmc_ccm_is_shaken(const struct gmc_ccm *m)
{
    const struct gmc_ccm_background *others = &m->others;

    return others->is_short && others->noise_permille <= NOISE_MAX && others->shaken >= SHAKEN_MAX;
}

/* A queue that stands may be our own, if the estimate is too high: it is drained once. */
bool gmc_ccm_background_cruise(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round)
{
    /* On a slow path a few packets of our own are a long queue. */
    gmc_duration own = gmc_duration_of_bytes((uint64_t)4 * m->packet_bytes, m->bw_bps);
    struct gmc_ccm_background *others = &m->others;

    others->standing =
        round->queue_min > gmc_ccm_queue_threshold(m) + own ? others->standing + 1 : 0;
    if (others->standing == 0)
        others->drained = false;
    if (gmc_ccm_is_shaken(m) || (others->standing >= 2 && others->drained)) {
        gmc_ccm_go_away(m, now);
        return true;
    }
    if (others->standing < 2)
        return false;
    others->drained = true;
    others->standing = 0;
    m->bw_bps = gmc_ccm_times(m->bw_bps, YIELD);
    gmc_ccm_begin_drain(m, now);
    return true;
}

bool gmc_ccm_background_up(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round,
                           uint64_t sample_bps)
{
    struct gmc_ccm_background *others = &m->others;
    uint32_t nothing = 1060 + gmc_ccm_chance_permille(m, round->decided);
    uint64_t whole = gmc_ccm_times(gmc_ccm_up_rate(m, m->bw_bps), 950);

    if (gmc_ccm_is_limited(round) || others->noise_permille > NOISE_MAX)
        return false;
    if (sample_bps < gmc_ccm_times(m->bw_bps, nothing)) {
        if (++others->nothings > NOTHINGS_CLEAR) {
            others->parts = 0;
            others->away_next = AWAY_FIRST;
        }
        return false;
    }
    others->parts += sample_bps < whole || others->nothings > 0;
    others->nothings = 0;
    if (others->parts < PARTS_MAX)
        return false;
    gmc_ccm_go_away(m, now);
    return true;
}
