/* SPDX-License-Identifier: BSD-2-Clause */
/* Rounds: see the header. */
#include "core/cc_round.h"

#define NS_PER_S UINT64_C(1000000000)
/* A round is judged without the packets that are still open when this many later ones are in. */
#define OVERDUE 256u

void gmc_cc_rounds_init(struct gmc_cc_rounds *rounds)
{
    *rounds = (struct gmc_cc_rounds){0};
}

static struct gmc_cc_round *nth(struct gmc_cc_rounds *rounds, uint32_t i)
{
    return &rounds->ring[(rounds->oldest + i) % GMC_CC_ROUNDS];
}

void gmc_cc_rounds_near(const struct gmc_cc_rounds *rounds, struct gmc_near *near)
{
    const struct gmc_cc_round *ring = rounds->ring;
    uint32_t newest = rounds->oldest + (rounds->count > 0 ? rounds->count - 1 : 0);

    gmc_near_add(near, &ring[rounds->oldest], sizeof(ring[0]));
    gmc_near_add(near, &ring[newest % GMC_CC_ROUNDS], sizeof(ring[0]));
}

struct gmc_cc_round *gmc_cc_rounds_current(struct gmc_cc_rounds *rounds)
{
    return rounds->count == 0 ? 0 : nth(rounds, rounds->count - 1);
}

void gmc_cc_rounds_open(struct gmc_cc_rounds *rounds, uint32_t phase, uint32_t epoch,
                        uint64_t rate_bps)
{
    struct gmc_cc_round *round = gmc_cc_rounds_current(rounds);

    if (round != 0 && !round->any) {
        rounds->count--; /* nothing went out in it */
    } else if (round != 0) {
        round->closed = true;
        if (rounds->count == GMC_CC_ROUNDS) {
            rounds->oldest = (rounds->oldest + 1) % GMC_CC_ROUNDS;
            rounds->count--;
        }
    }
    rounds->count++;
    round = gmc_cc_rounds_current(rounds);
    *round = (struct gmc_cc_round){.phase = phase,
                                   .epoch = epoch,
                                   .rate_bps = rate_bps,
                                   .queue_min = GMC_TIME_NEVER};
}

void gmc_cc_rounds_sent(struct gmc_cc_rounds *rounds, uint64_t packet, uint32_t bytes)
{
    struct gmc_cc_round *round = gmc_cc_rounds_current(rounds);

    if (round == 0)
        return;
    if (!round->any)
        round->first = packet;
    round->any = true;
    round->last = packet;
    round->sent++;
    round->sent_bytes += bytes;
}

static struct gmc_cc_round *find(struct gmc_cc_rounds *rounds, uint64_t packet)
{
    for (uint32_t i = 0; i < rounds->count; i++) {
        struct gmc_cc_round *round = nth(rounds, i);

        if (round->any && packet >= round->first && packet <= round->last)
            return round;
    }
    return 0;
}

void gmc_cc_rounds_decided(struct gmc_cc_rounds *rounds, uint64_t packet, uint32_t bytes, bool lost)
{
    struct gmc_cc_round *round = find(rounds, packet);

    rounds->total.bytes += bytes;
    rounds->total.packets++;
    rounds->total.lost += lost;
    if (round == 0)
        return;
    round->decided++;
    round->lost += lost;
}

bool gmc_cc_rounds_spurious(struct gmc_cc_rounds *rounds, uint64_t packet)
{
    struct gmc_cc_round *round = find(rounds, packet);

    if (rounds->total.lost > 0)
        rounds->total.lost--;
    if (round != 0 && round->lost > 0)
        round->lost--;
    return round != 0;
}

void gmc_cc_rounds_ack(struct gmc_cc_rounds *rounds, const struct gmc_cc_ack *ack,
                       gmc_duration queue)
{
    struct gmc_cc_round *round = find(rounds, ack->largest);

    rounds->total.arrival_ns = ack->largest_arrival_ns;
    rounds->total.sent = ack->largest_sent;
    rounds->total.queue = queue;
    if (round == 0)
        return;
    if (round->acks++ == 0)
        round->from = rounds->total;
    round->to = rounds->total;
    round->ce += ack->ce;
    if (queue < round->queue_min)
        round->queue_min = queue;
    if (queue > round->queue_max)
        round->queue_max = queue;
}

/* Each as soon as it is: the one before may wait for late packets meanwhile. */
static void note_decided(struct gmc_cc_rounds *rounds, gmc_time now, uint64_t largest)
{
    for (uint32_t i = 0; i < rounds->count; i++) {
        struct gmc_cc_round *round = nth(rounds, i);

        if (round->is_decided || !round->closed ||
            (round->decided < round->sent && largest < round->last + OVERDUE))
            continue;
        round->is_decided = true;
        round->decided_at = now;
    }
}

bool gmc_cc_rounds_next(struct gmc_cc_rounds *rounds, gmc_time now, gmc_duration hold,
                        uint64_t largest, struct gmc_cc_round *out)
{
    struct gmc_cc_round *round = nth(rounds, 0);

    note_decided(rounds, now, largest);
    if (rounds->count == 0 || !round->is_decided || gmc_time_sub(now, round->decided_at) < hold)
        return false;
    *out = *round;
    rounds->oldest = (rounds->oldest + 1) % GMC_CC_ROUNDS;
    rounds->count--;
    return true;
}

uint64_t gmc_cc_rate_bps(uint64_t bytes, gmc_duration span)
{
    while (bytes >= UINT64_C(1) << 31) {
        bytes >>= 1;
        span >>= 1;
    }
    return span == 0 ? 0 : bytes * 8 * NS_PER_S / span;
}
