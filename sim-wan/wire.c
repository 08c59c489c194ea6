/* SPDX-License-Identifier: BSD-2-Clause */
/* Wires; see wire.h. */
#include "sim-wan/wire.h"

#include "base/assert.h"
#include "sim-wan/mem.h"

#define MTU_DEFAULT 1500u

const char *sim_drop_name(enum sim_drop drop)
{
    static const char *const names[SIM_DROPS] = {"queue", "loss", "down", "mtu"};
    return names[drop];
}

static void arrive(struct sim_event *event, gmc_time now);

void sim_lane_init(struct sim_lane *lane, struct sim_engine *engine, struct sim_packet_pool *pool,
                   const struct sim_wire_sink *sink, uint32_t id,
                   const struct sim_wire_config *config, const struct gmc_prng *prng)
{
    *lane = (struct sim_lane){
        .engine = engine, .pool = pool, .sink = sink, .id = id, .up = true, .prng = *prng};
    sim_event_init(&lane->event, arrive);
    sim_lane_configure(lane, config);
}

void sim_lane_configure(struct sim_lane *lane, const struct sim_wire_config *config)
{
    lane->config = *config;
    if (lane->config.mtu == 0)
        lane->config.mtu = MTU_DEFAULT;
    lane->queue_time = GMC_TIME_NEVER;
    if (config->queue_bytes > 0 && config->rate_bps > 0)
        lane->queue_time = gmc_duration_of_bytes(config->queue_bytes, config->rate_bps);
}

static void watch(const struct sim_lane *lane, enum sim_wire_news news, enum sim_drop drop,
                  const struct sim_packet *packet)
{
    if (lane->sink->watch != NULL)
        lane->sink->watch(lane->sink->ctx, lane, news, drop, packet);
}

static void drop_packet(struct sim_lane *lane, struct sim_packet *packet, enum sim_drop drop)
{
    lane->count.dropped_packets[drop]++;
    lane->count.dropped_bytes[drop] += packet->wire_bytes;
    watch(lane, SIM_WIRE_DROPPED, drop, packet);
    sim_packet_free(lane->pool, packet);
}

/* Keeps the list sorted by arrival, equal times in order of insertion. Only packets that a
 * reordered one is ahead of walk back, and by as many places as they overtake. */
static void insert(struct sim_lane *lane, struct sim_packet *packet)
{
    struct sim_packet *after = lane->last;
    while (after != NULL && after->arrival > packet->arrival)
        after = after->prev;
    packet->prev = after;
    packet->next = after != NULL ? after->next : lane->first;
    if (packet->next != NULL)
        packet->next->prev = packet;
    else
        lane->last = packet;
    if (after != NULL)
        after->next = packet;
    else
        lane->first = packet;
}

static struct sim_packet *take_first(struct sim_lane *lane)
{
    struct sim_packet *packet = lane->first;
    lane->first = packet->next;
    if (lane->first != NULL)
        lane->first->prev = NULL;
    else
        lane->last = NULL;
    packet->next = packet->prev = NULL;
    return packet;
}

static void arm(struct sim_lane *lane)
{
    sim_engine_at(lane->engine, &lane->event,
                  lane->first != NULL ? lane->first->arrival : GMC_TIME_NEVER);
}

static void deliver_first(struct sim_lane *lane)
{
    struct sim_packet *packet = take_first(lane);
    lane->count.delivered_packets++;
    lane->count.delivered_bytes += packet->wire_bytes;
    watch(lane, SIM_WIRE_DELIVERED, SIM_DROPS, packet);
    lane->sink->deliver(lane->sink->ctx, lane, packet);
}

static void arrive(struct sim_event *event, gmc_time now)
{
    struct sim_lane *lane = SIM_OWNER(event, struct sim_lane, event);
    /* The sink may take the lane down or send on it. */
    while (lane->first != NULL && lane->first->arrival <= now)
        deliver_first(lane);
    arm(lane);
}

static gmc_time arrival_of(struct sim_lane *lane, gmc_time departure)
{
    const struct sim_wire_config *config = &lane->config;
    gmc_time arrival = gmc_time_add(departure, config->delay);
    if (config->jitter > 0)
        arrival = gmc_time_add(arrival, gmc_prng_below(&lane->prng, config->jitter + 1));
    if (config->reorder_ppm > 0 && gmc_prng_chance_ppm(&lane->prng, config->reorder_ppm))
        return gmc_time_add(arrival, 1 + gmc_prng_below(&lane->prng, config->reorder_by + 1));
    lane->last_arrival = gmc_time_max(arrival, lane->last_arrival);
    return lane->last_arrival;
}

/* Books the packet's time on the transmitter; false when the queue has no room. An idle
 * transmitter takes any packet, however small the queue. */
static bool transmit(struct sim_lane *lane, uint32_t bytes, gmc_time *departure)
{
    gmc_time now = lane->engine->now;
    gmc_time start = gmc_time_max(lane->busy_until, now);
    gmc_time end = start;
    if (lane->config.rate_bps > 0)
        end = gmc_time_add(start, gmc_duration_of_bytes(bytes, lane->config.rate_bps));
    if (start > now && end - now > lane->queue_time)
        return false;
    lane->busy_until = end;
    *departure = end;
    return true;
}

static void duplicate(struct sim_lane *lane, const struct sim_packet *packet)
{
    struct sim_packet *copy = sim_packet_copy(lane->pool, packet);
    copy->arrival = gmc_time_add(packet->arrival, gmc_prng_below(&lane->prng, GMC_MS(1)));
    lane->count.duplicated_packets++;
    lane->count.duplicated_bytes += copy->wire_bytes;
    insert(lane, copy);
}

void sim_lane_send(struct sim_lane *lane, struct sim_packet *packet)
{
    const struct sim_wire_config *config = &lane->config;
    lane->count.offered_packets++;
    lane->count.offered_bytes += packet->wire_bytes;
    watch(lane, SIM_WIRE_OFFERED, SIM_DROPS, packet);
    gmc_time departure = 0;
    if (!lane->up) {
        drop_packet(lane, packet, SIM_DROP_DOWN);
    } else if (packet->wire_bytes > config->mtu) {
        drop_packet(lane, packet, SIM_DROP_MTU);
    } else if (!transmit(lane, packet->wire_bytes, &departure)) {
        drop_packet(lane, packet, SIM_DROP_QUEUE);
    } else if (config->loss_ppm > 0 && gmc_prng_chance_ppm(&lane->prng, config->loss_ppm)) {
        drop_packet(lane, packet, SIM_DROP_LOSS);
    } else {
        packet->arrival = arrival_of(lane, departure);
        insert(lane, packet);
        if (config->duplicate_ppm > 0 && gmc_prng_chance_ppm(&lane->prng, config->duplicate_ppm))
            duplicate(lane, packet);
        arm(lane);
    }
}

static void lose_all(struct sim_lane *lane)
{
    while (lane->first != NULL)
        drop_packet(lane, take_first(lane), SIM_DROP_DOWN);
    lane->busy_until = lane->last_arrival = lane->engine->now;
    arm(lane);
}

void sim_lane_set_up(struct sim_lane *lane, bool up)
{
    if (lane->up && !up)
        lose_all(lane);
    lane->up = up;
}

void sim_lane_fini(struct sim_lane *lane)
{
    sim_engine_cancel(lane->engine, &lane->event);
    while (lane->first != NULL)
        sim_packet_free(lane->pool, take_first(lane));
}

uint64_t sim_lane_held_bytes(const struct sim_lane *lane)
{
    uint64_t bytes = 0;
    for (const struct sim_packet *p = lane->first; p != NULL; p = p->next)
        bytes += p->wire_bytes;
    return bytes;
}

gmc_duration sim_lane_backlog(const struct sim_lane *lane)
{
    return gmc_time_sub(lane->busy_until, lane->engine->now);
}

bool sim_lane_is_balanced(const struct sim_lane *lane)
{
    uint64_t out = lane->count.delivered_bytes + sim_lane_held_bytes(lane);
    for (int drop = 0; drop < SIM_DROPS; drop++)
        out += lane->count.dropped_bytes[drop];
    return lane->count.offered_bytes + lane->count.duplicated_bytes == out;
}
