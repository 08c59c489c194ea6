/* SPDX-License-Identifier: BSD-2-Clause */
/* The ring of sent packets, and RFC 9002's loss detection over it. */
#include "core/loss.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define CAPACITY_MIN 64
#define CAPACITY_MAX ((size_t)1 << 24)
#define GRANULARITY GMC_MS(1)
#define REORDER_PACKETS_MAX (GMC_ACK_WINDOW / 2) /* what is older, ACKs may not tell any more */
#define REORDER_MEMORY GMC_S(10)
/* Probe timeouts before the back-off begins: at 20 % loss in each direction every third probe
 * fails for no reason that waiting could cure. */
#define FIRM_PROBES 2
/* Back-off ends here. A neighbour is given up after two seconds of silence, and behind three wires
 * that lose one packet in five only a quarter of the probes is answered: it takes twenty of them
 * to tell that path from a dead one. Two small packets in 250 ms congest nobody. */
#define BACKOFF_MAX GMC_MS(250)
#define NEAR_PACKETS 8u

static struct gmc_sent *at(const struct gmc_loss *loss, uint64_t number)
{
    return &loss->ring[number & (loss->capacity - 1)];
}

gmc_status gmc_loss_init(struct gmc_loss *loss)
{
    memset(loss, 0, sizeof *loss);
    loss->ring = calloc(CAPACITY_MIN, sizeof *loss->ring);
    if (loss->ring == NULL)
        return GMC_ERR_NOMEM;
    loss->capacity = CAPACITY_MIN;
    loss->loss_time = GMC_TIME_NEVER;
    loss->reorder_packets = GMC_LOSS_PACKETS;
    loss->rtt.min = GMC_TIME_NEVER;
    return GMC_OK;
}

void gmc_loss_fini(struct gmc_loss *loss)
{
    free(loss->ring);
    loss->ring = NULL;
}

void gmc_loss_near(const struct gmc_loss *loss, struct gmc_near *near)
{
    gmc_near_add(near, at(loss, loss->next), NEAR_PACKETS * sizeof(struct gmc_sent));
    gmc_near_add(near, at(loss, loss->first_pending), NEAR_PACKETS * sizeof(struct gmc_sent));
}

/* ---- the ring ---- */

static bool resize(struct gmc_loss *loss, size_t capacity)
{
    struct gmc_sent *ring = calloc(capacity, sizeof *ring);
    if (ring == NULL)
        return false;
    for (uint64_t n = loss->base; n < loss->next; n++)
        ring[n & (capacity - 1)] = *at(loss, n);
    free(loss->ring);
    loss->ring = ring;
    loss->capacity = capacity;
    return true;
}

gmc_status gmc_loss_reserve(struct gmc_loss *loss, size_t count)
{
    /* Decided packets stay as long as there is room, so that a late acknowledgement is
     * recognised; growing from one half keeps as many of them as are pending. */
    size_t open = (size_t)(loss->next - loss->first_pending) + count;
    while (open > loss->capacity / 2 && loss->capacity < CAPACITY_MAX) {
        if (!resize(loss, loss->capacity * 2))
            break;
    }
    if (open > loss->capacity)
        return GMC_ERR_NOMEM;
    if (loss->next + count > loss->base + loss->capacity)
        loss->base = loss->next + count - loss->capacity;
    return GMC_OK;
}

static void advance_pending(struct gmc_loss *loss)
{
    while (loss->first_pending < loss->next &&
           at(loss, loss->first_pending)->state != GMC_SENT_PENDING)
        loss->first_pending++;
}

void gmc_loss_on_sent(struct gmc_loss *loss, const struct gmc_sent *packet)
{
    GMC_ASSERT(loss->next < loss->base + loss->capacity);
    *at(loss, loss->next++) = *packet;
    if (packet->state == GMC_SENT_PENDING) {
        loss->pending++;
        loss->inflight_bytes += packet->bytes;
        loss->last_sent = packet->sent;
    }
    advance_pending(loss);
}

void gmc_loss_on_skipped(struct gmc_loss *loss)
{
    loss->skipped[loss->skipped_count++ % GMC_LOSS_SKIPPED_MAX] = loss->next;
    gmc_loss_on_sent(loss, &(struct gmc_sent){.state = GMC_SENT_UNTRACKED});
}

const struct gmc_sent *gmc_loss_find(const struct gmc_loss *loss, uint64_t number)
{
    return number >= loss->base && number < loss->next ? at(loss, number) : NULL;
}

void gmc_loss_trim(struct gmc_loss *loss)
{
    if (loss->pending > 0 || loss->capacity == CAPACITY_MIN)
        return;
    loss->base = loss->next; /* nobody waits for late news from before the pause */
    resize(loss, CAPACITY_MIN);
}

/* ---- round-trip time, RFC 9002, 5 ---- */

void gmc_loss_rtt_sample(struct gmc_loss *loss, gmc_duration sample)
{
    struct gmc_rtt *rtt = &loss->rtt;

    if (sample == 0)
        sample = 1;
    rtt->latest = sample;
    if (sample < rtt->min)
        rtt->min = sample;
    if (rtt->smoothed == 0) {
        rtt->smoothed = sample;
        rtt->variance = sample / 4;
        return;
    }
    gmc_duration off = sample > rtt->smoothed ? sample - rtt->smoothed : rtt->smoothed - sample;
    rtt->variance = (3 * rtt->variance + off) / 4;
    rtt->smoothed = (7 * rtt->smoothed + sample) / 8;
    if (rtt->smoothed == 0)
        rtt->smoothed = 1;
}

void gmc_loss_rtt_restart(struct gmc_loss *loss, gmc_duration sample)
{
    loss->rtt = (struct gmc_rtt){.min = GMC_TIME_NEVER};
    loss->rtt_first = loss->next;
    gmc_loss_rtt_sample(loss, sample);
}

/* The sample of an acknowledgement whose largest packet was sent at `sent`. */
static gmc_duration ack_sample(const struct gmc_loss *loss, gmc_time now, gmc_time sent,
                               uint64_t delay_us)
{
    gmc_duration sample = gmc_time_sub(now, sent);
    gmc_duration delay =
        delay_us < GMC_LOSS_ACK_DELAY / 1000 ? GMC_US(delay_us) : GMC_LOSS_ACK_DELAY;

    /* A delay that would take the sample below the minimum is not believed. */
    if (loss->rtt.smoothed != 0 && sample < gmc_time_add(loss->rtt.min, delay))
        return sample > loss->rtt.min ? loss->rtt.min : sample > 0 ? sample : 1;
    return sample > delay ? sample - delay : 1;
}

static gmc_duration base_delay(const struct gmc_loss *loss)
{
    gmc_duration rtt =
        loss->rtt.latest > loss->rtt.smoothed ? loss->rtt.latest : loss->rtt.smoothed;
    gmc_duration delay = gmc_duration_scale(rtt, 9, 8);
    return delay > GRANULARITY ? delay : GRANULARITY;
}

gmc_duration gmc_loss_pto(const struct gmc_loss *loss)
{
    gmc_duration spread = 4 * loss->rtt.variance;
    if (spread < GRANULARITY)
        spread = GRANULARITY;
    gmc_duration pto = loss->rtt.smoothed + spread + GMC_LOSS_ACK_DELAY;
    return pto < GMC_LOSS_PTO_MAX ? pto : GMC_LOSS_PTO_MAX;
}

gmc_time gmc_loss_pto_time(const struct gmc_loss *loss, bool tail)
{
    if (loss->pending == 0)
        return GMC_TIME_NEVER;
    gmc_duration wait = gmc_loss_pto(loss);
    if (tail && loss->pto_count < FIRM_PROBES) {
        gmc_duration early = gmc_duration_scale(loss->rtt.smoothed, 5, 4) + GMC_LOSS_ACK_DELAY;
        if (early < wait)
            wait = early;
    }
    gmc_duration most = wait > BACKOFF_MAX ? wait : BACKOFF_MAX;
    for (uint32_t i = FIRM_PROBES - 1; i < loss->pto_count && wait < most; i++)
        wait *= 2;
    return gmc_time_add(loss->last_sent, wait < most ? wait : most);
}

/* ---- passes ---- */

static bool ack_names(const struct gmc_ack *ack, uint64_t number)
{
    for (size_t i = 0; i < ack->count && ack->ranges[i].last >= number; i++) {
        if (ack->ranges[i].first <= number)
            return true;
    }
    return false;
}

static bool is_made_up(const struct gmc_loss *loss, const struct gmc_ack *ack)
{
    size_t known =
        loss->skipped_count < GMC_LOSS_SKIPPED_MAX ? loss->skipped_count : GMC_LOSS_SKIPPED_MAX;
    if (ack->largest >= loss->next)
        return true;
    for (size_t i = 0; i < known; i++) {
        if (ack_names(ack, loss->skipped[i]))
            return true;
    }
    return false;
}

static void open_pass(struct gmc_loss *loss, gmc_time now, const struct gmc_ack *ack)
{
    loss->ack = ack;
    loss->pass_now = now;
    loss->pass_at = loss->first_pending;
    loss->pass_end = loss->largest_acked + 1;
    loss->pass_range = 0;
    loss->loss_time = GMC_TIME_NEVER;
    if (ack == NULL)
        return;
    /* Packets given up long ago may have come after all. */
    loss->pass_range = ack->count;
    uint64_t lowest = ack->ranges[ack->count - 1].first;
    if (lowest < loss->pass_at && lowest < loss->lost_end)
        loss->pass_at = lowest > loss->base ? lowest : loss->base;
}

gmc_status gmc_loss_on_ack(struct gmc_loss *loss, gmc_time now, const struct gmc_ack *ack,
                           gmc_duration *rtt)
{
    if (is_made_up(loss, ack))
        return GMC_ERR_INVALID;
    *rtt = 0;
    if (!loss->any_acked || ack->largest > loss->largest_acked) {
        loss->any_acked = true;
        loss->largest_acked = ack->largest;
        if (ack->largest >= loss->base) {
            const struct gmc_sent *packet = at(loss, ack->largest);
            loss->largest_sent = packet->sent;
            if (packet->state == GMC_SENT_PENDING && ack->largest >= loss->rtt_first) {
                *rtt = ack_sample(loss, now, packet->sent, ack->delay_us);
                gmc_loss_rtt_sample(loss, *rtt);
            }
        }
    }
    if (gmc_time_sub(now, loss->reorder_seen) > REORDER_MEMORY) {
        loss->reorder_packets = GMC_LOSS_PACKETS;
        loss->reorder_time = 0;
    }
    open_pass(loss, now, ack);
    return GMC_OK;
}

void gmc_loss_on_timer(struct gmc_loss *loss, gmc_time now)
{
    loss->ack = NULL;
    loss->pass_at = loss->pass_end = 0;
    if (loss->loss_time <= now)
        open_pass(loss, now, NULL);
}

/* Whether the pass's acknowledgement names number; numbers come in growing order. */
static bool pass_names(struct gmc_loss *loss, uint64_t number)
{
    if (loss->ack == NULL)
        return false;
    while (loss->pass_range > 0 && loss->ack->ranges[loss->pass_range - 1].last < number)
        loss->pass_range--;
    return loss->pass_range > 0 && loss->ack->ranges[loss->pass_range - 1].first <= number;
}

/* Whether a packet below the largest acknowledged one is lost by now; if not, when it will be. */
static bool is_lost(struct gmc_loss *loss, uint64_t number, const struct gmc_sent *packet)
{
    if (number >= loss->largest_acked)
        return false;
    if (loss->largest_acked - number >= loss->reorder_packets)
        return true;
    gmc_time due = gmc_time_add(gmc_time_add(packet->sent, base_delay(loss)), loss->reorder_time);
    if (due <= loss->pass_now)
        return true;
    loss->loss_time = gmc_time_min(loss->loss_time, due);
    return false;
}

/* A packet that was taken for lost was late: wait longer from now on. */
static void learn_reordering(struct gmc_loss *loss, uint64_t number, const struct gmc_sent *packet)
{
    uint64_t distance = loss->largest_acked - number + 1;
    gmc_duration took = gmc_time_sub(loss->pass_now, packet->sent);
    gmc_duration late = gmc_time_sub(took, base_delay(loss));

    loss->reorder_seen = loss->pass_now;
    if (distance > REORDER_PACKETS_MAX)
        distance = REORDER_PACKETS_MAX;
    if (distance > loss->reorder_packets)
        loss->reorder_packets = distance;
    if (late > loss->rtt.smoothed)
        late = loss->rtt.smoothed;
    if (late > loss->reorder_time)
        loss->reorder_time = late;
}

static void decide(struct gmc_loss *loss, uint64_t number, enum gmc_loss_fate fate,
                   struct gmc_loss_decision *decision)
{
    struct gmc_sent *packet = at(loss, number);

    *decision = (struct gmc_loss_decision){fate, number, *packet};
    packet->state = fate == GMC_FATE_LOST ? GMC_SENT_LOST : GMC_SENT_ACKED;
    if (fate == GMC_FATE_SPURIOUS) {
        learn_reordering(loss, number, packet);
        return;
    }
    loss->pending--;
    loss->inflight_bytes -= packet->bytes;
    if (fate == GMC_FATE_ACKED)
        loss->pto_count = 0;
    else
        loss->lost_end = number + 1 > loss->lost_end ? number + 1 : loss->lost_end;
    advance_pending(loss);
}

bool gmc_loss_next(struct gmc_loss *loss, struct gmc_loss_decision *decision)
{
    while (loss->pass_at < loss->pass_end) {
        uint64_t number = loss->pass_at++;
        const struct gmc_sent *packet = at(loss, number);

        if (packet->state == GMC_SENT_LOST && pass_names(loss, number)) {
            decide(loss, number, GMC_FATE_SPURIOUS, decision);
            return true;
        }
        if (packet->state != GMC_SENT_PENDING)
            continue;
        if (pass_names(loss, number)) {
            decide(loss, number, GMC_FATE_ACKED, decision);
            return true;
        }
        if (is_lost(loss, number, packet)) {
            decide(loss, number, GMC_FATE_LOST, decision);
            return true;
        }
    }
    loss->ack = NULL;
    return false;
}
