/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the law of an uplink that links share; see uplink.h. */
#include "core/uplink.h"

#define PERIOD GMC_MS(200)
#define QUEUE GMC_MS(2)
#define PACKETS 4u
#define DRAIN_TIME GMC_MS(500)
#define FREE_FIRST GMC_S(2)
#define FREE_MOST GMC_S(80)
#define UNUSED 10u
#define STALE GMC_S(60) /* without a word of it: others may have come, or gone */
#define RAISE_FIRST 6u  /* powers of two of the parts by which it is raised */
#define RAISE_MOST 2u

static gmc_duration period_of(const struct gmc_uplink *u)
{
    return 2 * u->most > PERIOD ? 2 * u->most : PERIOD;
}

static gmc_duration standing(const struct gmc_uplink *u)
{
    gmc_duration doubt = u->limit_bps != 0 ? 0 : u->least / 8;

    return QUEUE + doubt + gmc_duration_of_bytes(PACKETS * 1500, u->known_bps);
}

static void open_period(struct gmc_uplink *u, gmc_time now)
{
    u->since = now;
    u->bytes = 0;
    u->late = 0;
    u->several = false;
    u->held = true;
    u->queue = GMC_TIME_NEVER;
    u->least = GMC_TIME_NEVER;
    u->most = 0;
}

static void pace(struct gmc_uplink *u, uint64_t bps)
{
    u->phase = GMC_UPLINK_PACED;
    u->known_bps = u->rate_bps = bps;
    u->raised = 0;
}

static void set_free(struct gmc_uplink *u, gmc_time now, gmc_duration span)
{
    u->phase = GMC_UPLINK_FREE;
    u->rate_bps = u->limit_bps;
    u->before_bps = 0;
    u->until = gmc_time_add(now, span);
}

static bool is_same(uint64_t a, uint64_t b)
{
    return a <= b + b / 16 && b <= a + a / 16;
}

static void learn(struct gmc_uplink *u, uint64_t bps)
{
    u->learnt_bps = bps;
    pace(u, bps);
}

static void judge_free(struct gmc_uplink *u, gmc_time now, uint64_t carried)
{
    uint64_t before = u->before_bps;

    if (u->limit_bps != 0) {
        if (now >= u->until)
            learn(u, u->limit_bps);
        return;
    }
    u->before_bps = u->held && u->several ? carried : 0;
    if (u->before_bps != 0 && is_same(before, carried) && now >= u->until)
        learn(u, carried > before ? carried : before);
}

/* Of the period, in thousandths: the host was late, and nothing went though there was more. */
static uint64_t late_part(const struct gmc_uplink *u, gmc_time now)
{
    uint64_t part = 1000 * u->late / (now - u->since);

    return part < 1000 ? part : 1000;
}

/* What it is raised to for a host that is late is not what it was seen to carry, or the first queue
 * would look like less than that. */
static void raise(struct gmc_uplink *u, uint64_t late, bool is_seen)
{
    uint64_t step;

    u->unused = 0;
    if (u->queue != GMC_TIME_NEVER && u->queue > standing(u) / 2)
        u->raised = 0;
    step = u->known_bps >> (RAISE_FIRST - u->raised);
    if (step < u->known_bps / 1000 * late)
        step = u->known_bps / 1000 * late;
    u->known_bps += step;
    if (u->limit_bps != 0 && u->known_bps > u->limit_bps)
        u->known_bps = u->limit_bps;
    u->rate_bps = u->known_bps;
    if (is_seen && u->known_bps > u->learnt_bps)
        u->learnt_bps = u->known_bps;
    if (u->raised < RAISE_FIRST - RAISE_MOST)
        u->raised++;
}

static void judge_paced(struct gmc_uplink *u, gmc_time now, uint64_t carried)
{
    uint64_t late = late_part(u, now);
    uint64_t used = u->known_bps - u->known_bps / 16;

    if (u->queue == GMC_TIME_NEVER || u->queue <= standing(u)) {
        if (carried + u->known_bps / 1000 * late >= used)
            raise(u, late, carried >= used);
        else if (u->held && u->several && ++u->unused >= UNUSED)
            u->is_shared = false;
        return;
    }
    if (carried < u->known_bps)
        u->known_bps = carried;
    if (u->known_bps < u->learnt_bps - u->learnt_bps / 8) {
        set_free(u, now, 0);
        return;
    }
    u->phase = GMC_UPLINK_DRAIN;
    u->rate_bps = u->known_bps / 4 * 3;
    u->until = gmc_time_add(now, DRAIN_TIME + 2 * u->most);
}

static void drain(struct gmc_uplink *u, gmc_time now, gmc_duration queue)
{
    if (queue < standing(u) / 2) {
        u->free_for = 0;
        u->is_shared = true;
        u->unused = 0;
        pace(u, u->limit_bps != 0 ? u->known_bps : u->known_bps / 50 * 49);
        open_period(u, now);
    } else if (now >= u->until) {
        u->free_for = u->free_for == 0 ? FREE_FIRST : 2 * u->free_for;
        if (u->free_for > FREE_MOST)
            u->free_for = FREE_MOST;
        set_free(u, now, u->free_for);
        open_period(u, now);
    }
}

static void end_period(struct gmc_uplink *u, gmc_time now)
{
    uint64_t carried = u->bytes * 8 * 1000000 / ((now - u->since) / GMC_US(1));

    if (u->phase == GMC_UPLINK_FREE)
        judge_free(u, now, carried);
    else if (u->phase == GMC_UPLINK_PACED)
        judge_paced(u, now, carried);
    open_period(u, now);
}

bool gmc_uplink_on_ack(struct gmc_uplink *u, const struct gmc_uplink_ack *ack)
{
    uint64_t rate = u->rate_bps;
    gmc_duration pause = gmc_time_sub(ack->now, u->last);

    if (u->last == 0 || pause > STALE) {
        set_free(u, ack->now, 0);
        u->is_shared = false;
        if (u->limit_bps == 0 && u->hint_bps > 0)
            learn(u, u->hint_bps);
    }
    if (u->last == 0 || pause > PERIOD)
        open_period(u, ack->now);
    u->last = ack->now;
    if (u->bytes == 0)
        u->link = ack->link;
    u->several = u->several || ack->link != u->link;
    u->bytes += ack->bytes;
    u->late += ack->late;
    u->held = u->held && ack->held;
    u->least = ack->rtt < u->least ? ack->rtt : u->least;
    u->most = ack->rtt > u->most ? ack->rtt : u->most;
    if (ack->now - u->since >= period_of(u) / 2 && ack->queue < u->queue)
        u->queue = ack->queue;
    if (u->phase == GMC_UPLINK_DRAIN)
        drain(u, ack->now, ack->queue);
    else if (ack->now - u->since >= period_of(u))
        end_period(u, ack->now);
    return u->rate_bps != rate;
}
