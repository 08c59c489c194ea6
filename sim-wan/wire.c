/* SPDX-License-Identifier: BSD-2-Clause */
/* Wires; see wire.h. */
#include "sim-wan/wire.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/near.h"
#include "sim-wan/mem.h"

#define MTU_DEFAULT 1500u
#define PPM UINT64_C(1000000)
#define FETCHED 4u /* packets, ahead of the one that is taken */

const char *sim_drop_name(enum sim_drop drop)
{
    static const char *const names[SIM_DROPS] = {"queue", "loss", "down", "mtu", "codel"};
    return names[drop];
}

uint32_t sim_wire_loss_ppm(const struct sim_wire_config *config)
{
    uint64_t kept = PPM - config->loss_ppm;
    kept = kept * (PPM - sim_gilbert_loss_ppm(&config->gilbert)) / PPM;
    if (config->loss_trace != NULL)
        kept = kept * (PPM - sim_loss_trace_ppm(config->loss_trace)) / PPM;
    return (uint32_t)(PPM - kept);
}

static void arrive(struct sim_event *event, gmc_time now);
static void ahead_of_arrival(const struct sim_event *event, enum sim_ahead stage);

void sim_lane_init(struct sim_lane *lane, struct sim_engine *engine, struct sim_packet_pool *pool,
                   const struct sim_wire_sink *sink, uint32_t id, uint32_t end,
                   const struct sim_wire_config *config, const struct gmc_prng *prng)
{
    *lane = (struct sim_lane){.engine = engine,
                              .pool = pool,
                              .sink = sink,
                              .id = id,
                              .end = end,
                              .passes_at = GMC_TIME_NEVER,
                              .up = true,
                              .prng = *prng};
    sim_event_init(&lane->event, arrive);
    lane->event.ahead = ahead_of_arrival;
    sim_lane_configure(lane, config);
}

static inline void watch(const struct sim_lane *lane, enum sim_wire_news news, enum sim_drop drop,
                         const struct sim_packet *packet)
{
    const struct sim_wire_sink *sink = lane->sink;
    if (sink->watch != NULL && (!sink->only_drops || news == SIM_WIRE_DROPPED))
        sink->watch(sink->ctx, lane, news, drop, packet);
}

static void drop_packet(struct sim_lane *lane, struct sim_packet *packet, enum sim_drop drop)
{
    lane->count.dropped_packets[drop]++;
    lane->count.dropped_bytes[drop] += packet->wire_bytes;
    watch(lane, SIM_WIRE_DROPPED, drop, packet);
    sim_packet_free(lane->pool, packet);
}

/* Whether it is there for whoever collects, and waits for that. */
static bool is_patient(const struct sim_lane *lane, const struct sim_packet *packet)
{
    return packet->to == lane->end && packet->proto == SIM_PROTO_UDP;
}

/* ---- packets on the way ---- */
/* Who collects at its end passes it on; groups branch, and are passed on at once. */
static bool is_transit(const struct sim_lane *lane, const struct sim_packet *packet)
{
    return lane->is_collected && lane->sink->pass != NULL && packet->to != lane->end &&
           (packet->to & SIM_TO_GROUP) == 0;
}

static void insert(struct sim_lane *lane, struct sim_packet *packet)
{
    if (is_transit(lane, packet)) {
        sim_way_insert(&lane->transit, packet);
        if (packet->arrival < lane->passes_at) {
            lane->passes_at = packet->arrival;
            lane->sink->pass(lane->sink->ctx, lane, packet->arrival);
        }
        return;
    }
    sim_way_insert(&lane->way, packet);
    lane->passing += !is_patient(lane, packet);
}

static struct sim_packet *take_first(struct sim_lane *lane)
{
    struct sim_packet *packet = sim_way_take(&lane->way);
    lane->passing -= !is_patient(lane, packet);
    return packet;
}

/* All that is on the way is for whoever collects. */
static bool waits_for_collection(const struct sim_lane *lane)
{
    return lane->is_collected && lane->passing == 0 && !lane->is_lazy;
}

static gmc_duration time_to_send(const struct sim_lane *lane, uint64_t bytes)
{
    return lane->config.rate_bps > 0 ? gmc_duration_of_bytes(bytes, lane->config.rate_bps) : 0;
}

/* The turn of the first packet that waits. */
static gmc_time next_turn(const struct sim_lane *lane)
{
    return gmc_time_max(lane->busy_until, lane->waiting.list.first->arrival);
}

/* Packets that wait arrive after those on the way, save reordered ones, and not before the first
 * of them can: until then no turn has to be looked at. */
static void arm(struct sim_lane *lane)
{
    const struct sim_packet *first = sim_way_at(&lane->way, 0);
    gmc_time when = first != NULL ? first->arrival : GMC_TIME_NEVER;
    if (waits_for_collection(lane)) {
        sim_engine_cancel(lane->engine, &lane->event);
        if (when != GMC_TIME_NEVER)
            lane->sink->expect(lane->sink->ctx, lane, when);
        return;
    }
    if (lane->is_lazy && lane->waiting.list.first != NULL) {
        gmc_time sent =
            gmc_time_add(next_turn(lane), time_to_send(lane, lane->waiting.list.first->wire_bytes));
        when = gmc_time_min(when, gmc_time_add(sent, lane->config.delay));
    }
    sim_engine_at(lane->engine, &lane->event, when);
}

static gmc_time arrival_of(struct sim_lane *lane, gmc_time departure)
{
    const struct sim_wire_config *config = &lane->config;
    gmc_time arrival = gmc_time_add(departure, config->delay);
    if (lane->is_plain)
        return lane->last_arrival = gmc_time_max(arrival, lane->last_arrival);
    if (config->jitter > 0)
        arrival = gmc_time_add(arrival, gmc_prng_below(&lane->prng, config->jitter + 1));
    if (config->reorder_ppm > 0 && gmc_prng_chance_ppm(&lane->prng, config->reorder_ppm))
        return gmc_time_add(arrival, 1 + gmc_prng_below(&lane->prng, config->reorder_by + 1));
    lane->last_arrival = gmc_time_max(arrival, lane->last_arrival);
    return lane->last_arrival;
}

void sim_lane_hold_back(struct sim_lane *lane, gmc_time when)
{
    lane->last_arrival = gmc_time_max(lane->last_arrival, gmc_time_add(when, lane->config.delay));
}

static void duplicate(struct sim_lane *lane, const struct sim_packet *packet)
{
    struct sim_packet *copy = sim_packet_copy(lane->pool, packet);
    copy->arrival = gmc_time_add(packet->arrival, gmc_prng_below(&lane->prng, GMC_MS(1)));
    lane->count.duplicated_packets++;
    lane->count.duplicated_bytes += copy->wire_bytes;
    insert(lane, copy);
}

static bool is_lost(struct sim_lane *lane, gmc_time departure)
{
    const struct sim_wire_config *config = &lane->config;
    bool lost = config->loss_ppm > 0 && gmc_prng_chance_ppm(&lane->prng, config->loss_ppm);
    if (sim_gilbert_is_set(&config->gilbert))
        lost |= sim_gilbert_takes(&config->gilbert, &lane->gilbert, &lane->prng);
    if (config->loss_trace != NULL)
        lost |= sim_loss_trace_takes(config->loss_trace, &lane->loss_trace_at,
                                     gmc_time_sub(departure, lane->loss_trace_zero));
    return lost;
}

static void mark(struct sim_lane *lane, struct sim_packet *packet)
{
    lane->count.marked_packets += packet->ecn != SIM_ECN_CE;
    packet->ecn = SIM_ECN_CE;
}

static void pass_middlebox(struct sim_lane *lane, struct sim_packet *packet)
{
    if (lane->config.ecn_path == SIM_ECN_BLEACHED)
        packet->ecn = SIM_ECN_NOT_ECT;
    else if (lane->config.ecn_path == SIM_ECN_FORCED && packet->ecn != SIM_ECN_NOT_ECT)
        mark(lane, packet);
}

/* The transmitter has sent the packet at `departure`: puts it on its way, or loses it. */
static void depart(struct sim_lane *lane, struct sim_packet *packet, gmc_time departure)
{
    const struct sim_wire_config *config = &lane->config;
    if (!lane->is_plain && is_lost(lane, departure)) {
        drop_packet(lane, packet, SIM_DROP_LOSS);
        return;
    }
    if (!lane->is_plain)
        pass_middlebox(lane, packet);
    packet->arrival = arrival_of(lane, departure);
    insert(lane, packet);
    if (lane->is_plain)
        return;
    if (config->duplicate_ppm > 0 && gmc_prng_chance_ppm(&lane->prng, config->duplicate_ppm))
        duplicate(lane, packet);
}

/* ---- packets that wait ---- */
static void wait(struct sim_lane *lane, struct sim_packet *packet)
{
    struct sim_waiting *waiting = &lane->waiting;
    packet->arrival = lane->engine->now;
    sim_packet_push(&waiting->list, packet);
    waiting->packets++;
    waiting->bytes += packet->wire_bytes;
}

static struct sim_packet *take_waiting(struct sim_lane *lane)
{
    struct sim_waiting *waiting = &lane->waiting;
    struct sim_packet *packet = sim_packet_shift(&waiting->list);
    waiting->packets--;
    waiting->bytes -= packet->wire_bytes;
    packet->next = NULL;
    return packet;
}

static void take_turn(struct sim_lane *lane)
{
    gmc_time now = next_turn(lane);
    struct sim_packet *packet = take_waiting(lane);
    enum sim_verdict verdict = SIM_PASS;
    if (lane->config.codel.target > 0) {
        struct sim_codel_head head = {.sojourn = now - packet->arrival,
                                      .is_alone = lane->waiting.bytes <= lane->config.mtu,
                                      .is_capable = packet->ecn != SIM_ECN_NOT_ECT};
        verdict = sim_codel_judge(&lane->codel, &lane->config.codel, now, &head);
    }
    if (verdict == SIM_DROP) {
        drop_packet(lane, packet, SIM_DROP_CODEL);
        return;
    }
    if (verdict == SIM_MARK)
        mark(lane, packet);
    lane->busy_until = gmc_time_add(now, time_to_send(lane, packet->wire_bytes));
    depart(lane, packet, lane->busy_until);
}

/* Goes through the turns up to `until`. */
static void take_turns(struct sim_lane *lane, gmc_time until)
{
    while (lane->waiting.list.first != NULL && next_turn(lane) <= until)
        take_turn(lane);
    if (lane->waiting.list.first == NULL && lane->busy_until <= until)
        sim_codel_on_empty(&lane->codel);
}

/* ---- arrivals ---- */
static struct sim_packet *count_delivered(struct sim_lane *lane, struct sim_packet *packet)
{
    lane->count.delivered_packets++;
    lane->count.delivered_bytes += packet->wire_bytes;
    watch(lane, SIM_WIRE_DELIVERED, SIM_DROPS, packet);
    return packet;
}

static struct sim_packet *take_arrived(struct sim_lane *lane)
{
    return count_delivered(lane, take_first(lane));
}

/* The sink may take the lane down or send on it. */
static void deliver_arrived(struct sim_lane *lane)
{
    const struct sim_packet *first;
    while ((first = sim_way_at(&lane->way, 0)) != NULL && first->arrival <= lane->engine->now)
        lane->sink->deliver(lane->sink->ctx, lane, take_arrived(lane));
}

static void arrive(struct sim_event *event, gmc_time now)
{
    struct sim_lane *lane = SIM_OWNER(event, struct sim_lane, event);
    if (lane->is_lazy)
        take_turns(lane, now);
    deliver_arrived(lane);
    arm(lane);
}

static void ahead_of_arrival(const struct sim_event *event, enum sim_ahead stage)
{
    const struct sim_lane *lane = SIM_OWNER(event, struct sim_lane, event);
    const struct sim_packet *first = NULL;
    if (stage == SIM_AHEAD_FIRST)
        sim_lane_fetch(lane);
    if (stage == SIM_AHEAD_FIRST || lane->way.count == 0)
        return;
    if (stage == SIM_AHEAD_SECOND)
        gmc_near_fetch_line(sim_way_place(&lane->way, 0));
    else if (stage == SIM_AHEAD_THIRD)
        for (uint32_t i = 0; i < 2; i++) /* the second one's time is that of the next event */
            sim_way_warm(&lane->way, i);
    else
        first = sim_way_at(&lane->way, 0);
    if (lane->sink->ahead != NULL)
        lane->sink->ahead(lane->sink->ctx, lane, first, stage);
}

struct sim_packet *sim_lane_take(struct sim_lane *lane)
{
    if (sim_lane_expected(lane) > lane->engine->now)
        return NULL;
    sim_way_warm(&lane->way, FETCHED);
    return take_arrived(lane);
}

struct sim_packet *sim_lane_pass(struct sim_lane *lane)
{
    struct sim_packet *packet = sim_way_take(&lane->transit);
    const struct sim_packet *next = sim_way_at(&lane->transit, 0);
    lane->passes_at = next != NULL ? next->arrival : GMC_TIME_NEVER;
    sim_way_warm_head(&lane->transit, FETCHED);
    return count_delivered(lane, packet);
}

gmc_time sim_lane_expected(const struct sim_lane *lane)
{
    bool is_known = waits_for_collection(lane) && lane->way.count > 0;
    return is_known ? sim_way_at(&lane->way, 0)->arrival : GMC_TIME_NEVER;
}

void sim_lane_near(const struct sim_lane *lane, struct gmc_near *near)
{
    gmc_near_add(near, lane, offsetof(struct sim_lane, config) + GMC_NEAR_LINE);
    sim_way_near(&lane->way, near);
    sim_way_near(&lane->transit, near);
}

void sim_lane_fetch(const struct sim_lane *lane)
{
    for (size_t i = 0; i <= offsetof(struct sim_lane, config); i += GMC_NEAR_LINE)
        gmc_near_fetch_line((const char *)lane + i);
}

void sim_lane_warm(const struct sim_lane *lane)
{
    for (uint32_t i = 0; i < FETCHED; i++)
        sim_way_warm(&lane->way, i);
}

void sim_lane_warm_transit(const struct sim_lane *lane)
{
    for (uint32_t i = 0; i < FETCHED; i++)
        sim_way_warm_head(&lane->transit, i);
}

void sim_lane_collect(struct sim_lane *lane, bool is_collected)
{
    if (lane->is_collected == is_collected)
        return;
    lane->is_collected = is_collected;
    lane->passes_at = GMC_TIME_NEVER;
    while (lane->transit.count > 0)
        insert(lane, sim_way_take(&lane->transit));
    if (!is_collected)
        deliver_arrived(lane);
    arm(lane);
}

/* ---- offers ---- */
/* Whether there is room behind what takes until `start` to send; `end` is when it is sent. An idle
 * transmitter takes any packet, however small the queue. Marks at the threshold. */
static bool has_room(struct sim_lane *lane, struct sim_packet *packet, gmc_time now, gmc_time start,
                     gmc_time end)
{
    if (start > now && end - now > lane->queue_time)
        return false;
    if (start - now > lane->mark_time && packet->ecn != SIM_ECN_NOT_ECT)
        mark(lane, packet);
    return true;
}

/* The departure is known at once. */
static void send_eager(struct sim_lane *lane, struct sim_packet *packet, gmc_time now)
{
    gmc_time start = gmc_time_max(lane->busy_until, now);
    gmc_time end = gmc_time_add(start, time_to_send(lane, packet->wire_bytes));
    if (!has_room(lane, packet, now, start, end)) {
        drop_packet(lane, packet, SIM_DROP_QUEUE);
        return;
    }
    lane->busy_until = end;
    depart(lane, packet, end);
}

static void send_lazy(struct sim_lane *lane, struct sim_packet *packet)
{
    gmc_time now = lane->engine->now;
    take_turns(lane, now);
    uint64_t held = lane->waiting.packets + (lane->busy_until > now);
    bool is_full = lane->config.queue_packets > 0 && held > 0 && held >= lane->config.queue_packets;
    gmc_time start = now + sim_lane_backlog(lane);
    gmc_time end = gmc_time_add(start, time_to_send(lane, packet->wire_bytes));
    if (is_full || !has_room(lane, packet, now, start, end)) {
        drop_packet(lane, packet, SIM_DROP_QUEUE);
        return;
    }
    wait(lane, packet);
    take_turns(lane, now);
}

void sim_lane_send(struct sim_lane *lane, struct sim_packet *packet)
{
    sim_lane_send_as_of(lane, packet, lane->engine->now);
}

void sim_lane_send_as_of(struct sim_lane *lane, struct sim_packet *packet, gmc_time when)
{
    lane->count.offered_packets++;
    lane->count.offered_bytes += packet->wire_bytes;
    watch(lane, SIM_WIRE_OFFERED, SIM_DROPS, packet);
    if (!lane->up) {
        drop_packet(lane, packet, SIM_DROP_DOWN);
        return;
    }
    if (packet->wire_bytes > lane->config.mtu) {
        drop_packet(lane, packet, SIM_DROP_MTU);
        return;
    }
    bool goes_on = is_transit(lane, packet);
    if (lane->is_lazy)
        send_lazy(lane, packet);
    else
        send_eager(lane, packet, when);
    /* Behind another one it changes nothing, unless that may wait and this may not; nor does what
     * whoever collects passes on. */
    bool is_behind = !lane->is_lazy && (goes_on || (lane->is_plain && lane->way.count > 1));
    if (!is_behind || (lane->is_collected && lane->passing > 0))
        arm(lane);
}

gmc_duration sim_lane_lookahead(const struct sim_lane *lane)
{
    return lane->is_lazy ? 0 : lane->config.delay;
}

/* ---- the lane ---- */
static gmc_duration time_of(uint64_t bytes, uint64_t rate_bps)
{
    return bytes > 0 && rate_bps > 0 ? gmc_duration_of_bytes(bytes, rate_bps) : GMC_TIME_NEVER;
}

static bool is_plain(const struct sim_wire_config *config)
{
    return config->jitter == 0 && config->loss_ppm == 0 && !sim_gilbert_is_set(&config->gilbert) &&
           config->loss_trace == NULL && config->duplicate_ppm == 0 && config->reorder_ppm == 0 &&
           config->ecn_path == SIM_ECN_KEPT;
}

static void settle(struct sim_lane *lane)
{
    if (lane->sink->settle != NULL)
        lane->sink->settle(lane->sink->ctx, lane);
}

void sim_lane_configure(struct sim_lane *lane, const struct sim_wire_config *config)
{
    settle(lane);
    take_turns(lane, lane->engine->now);
    lane->config = *config;
    if (lane->config.mtu == 0)
        lane->config.mtu = MTU_DEFAULT;
    lane->queue_time = time_of(config->queue_bytes, config->rate_bps);
    lane->mark_time = time_of(config->mark_bytes, config->rate_bps);
    lane->is_lazy = config->rate_bps > 0 &&
                    (config->codel.target > 0 || config->queue_packets > 0 || config->may_change);
    lane->is_plain = is_plain(config);
    if (!lane->is_lazy)
        take_turns(lane, GMC_TIME_NEVER);
    arm(lane);
}

void sim_lane_restart_trace(struct sim_lane *lane)
{
    lane->loss_trace_at = 0;
    lane->loss_trace_zero = lane->engine->now;
}

static void lose_all(struct sim_lane *lane)
{
    if (lane->is_collected)
        deliver_arrived(lane);
    take_turns(lane, lane->engine->now);
    while (lane->way.count > 0)
        drop_packet(lane, take_first(lane), SIM_DROP_DOWN);
    while (lane->transit.count > 0)
        drop_packet(lane, sim_way_take(&lane->transit), SIM_DROP_DOWN);
    lane->passes_at = GMC_TIME_NEVER;
    while (lane->waiting.list.first != NULL)
        drop_packet(lane, take_waiting(lane), SIM_DROP_DOWN);
    lane->busy_until = lane->last_arrival = lane->engine->now;
    arm(lane);
}

void sim_lane_set_up(struct sim_lane *lane, bool up)
{
    settle(lane);
    if (lane->up && !up)
        lose_all(lane);
    lane->up = up;
}

void sim_lane_fini(struct sim_lane *lane)
{
    sim_engine_cancel(lane->engine, &lane->event);
    while (lane->way.count > 0)
        sim_packet_free(lane->pool, take_first(lane));
    while (lane->transit.count > 0)
        sim_packet_free(lane->pool, sim_way_take(&lane->transit));
    sim_way_fini(&lane->way);
    sim_way_fini(&lane->transit);
    while (lane->waiting.list.first != NULL)
        sim_packet_free(lane->pool, take_waiting(lane));
}

static uint64_t bytes_of(const struct sim_way *way)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < way->count; i++)
        bytes += (*sim_way_place(way, i))->wire_bytes;
    return bytes;
}

uint64_t sim_lane_held_bytes(const struct sim_lane *lane)
{
    return lane->waiting.bytes + bytes_of(&lane->way) + bytes_of(&lane->transit);
}

gmc_duration sim_lane_backlog(const struct sim_lane *lane)
{
    gmc_time end = lane->busy_until;
    if (lane->waiting.list.first != NULL)
        end = gmc_time_add(next_turn(lane), time_to_send(lane, lane->waiting.bytes));
    return gmc_time_sub(end, lane->engine->now);
}

struct sim_lane_counters sim_lane_since(const struct sim_lane_counters *now,
                                        const struct sim_lane_counters *before)
{
    struct sim_lane_counters count = *now;
    count.offered_packets -= before->offered_packets;
    count.offered_bytes -= before->offered_bytes;
    count.duplicated_packets -= before->duplicated_packets;
    count.duplicated_bytes -= before->duplicated_bytes;
    count.delivered_packets -= before->delivered_packets;
    count.delivered_bytes -= before->delivered_bytes;
    count.marked_packets -= before->marked_packets;
    for (int drop = 0; drop < SIM_DROPS; drop++) {
        count.dropped_packets[drop] -= before->dropped_packets[drop];
        count.dropped_bytes[drop] -= before->dropped_bytes[drop];
    }
    return count;
}

uint64_t sim_lane_carried_bytes(const struct sim_lane_counters *count)
{
    uint64_t bytes = count->delivered_bytes + count->dropped_bytes[SIM_DROP_LOSS];
    /* Copies take no time on it, and some may be on their way. */
    return bytes > count->duplicated_bytes ? bytes - count->duplicated_bytes : 0;
}

uint64_t sim_lane_queue_drops(const struct sim_lane_counters *count)
{
    return count->dropped_packets[SIM_DROP_QUEUE] + count->dropped_packets[SIM_DROP_CODEL];
}

bool sim_lane_is_balanced(const struct sim_lane *lane)
{
    uint64_t out = lane->count.delivered_bytes + sim_lane_held_bytes(lane);
    for (int drop = 0; drop < SIM_DROPS; drop++)
        out += lane->count.dropped_bytes[drop];
    return lane->count.offered_bytes + lane->count.duplicated_bytes == out;
}
