/* SPDX-License-Identifier: BSD-2-Clause */
/* A TCP in the background; see tcp_source.h. */
#include "sim-wan/traffic/tcp_source.h"

#include <stdlib.h>

#include "base/assert.h"
#include "sim-wan/mem.h"

#define RING (2 * SIM_TCP_SOURCE_WINDOW) /* packets between the oldest open one and the next */
#define REORDERING 3u
#define ACK_EVERY 2u
#define ACK_DELAY GMC_MS(40)
#define TIMEOUT_MIN GMC_MS(200)
#define TIMEOUT_SHIFT_MAX 8u
#define BURST_MIN 2u
#define BURST_MAX 43u /* 64 KB of 1500 bytes */
#define BURST_PER_SECOND 1024u
#define DEFER_MAX GMC_MS(1)
#define ACK_FLAG 1u

enum fate { CLOSED, OPEN, LOST };

struct sent_packet {
    gmc_time at;
    enum fate fate;
};

struct sim_tcp_source {
    struct sim_engine *engine;
    struct sim_net *net;
    uint64_t connection;
    struct sim_tcp_source_config config;
    void *law;
    struct sim_traffic_counters *count;
    /* sender */
    struct sim_event wake, timeout;
    struct sent_packet *sent;                  /* ring by number */
    uint64_t next, first_open, inflight, read; /* read: of the receiver's log */
    uint64_t largest;                          /* acknowledged, and one more */
    gmc_time pace_at, burst_at;
    gmc_duration srtt, rttvar;
    uint32_t timeouts;
    /* receiver */
    struct sim_event ack_timer;
    uint32_t *log; /* ring of numbers, their low halves, as they arrived */
    uint64_t logged, acked, newest;
};

/* Of a number near `near`, from its low half. */
static uint64_t widen(uint64_t near, uint32_t low)
{
    return near + (uint64_t)(int64_t)(int32_t)(low - (uint32_t)near);
}

static struct sim_packet *new_packet(struct sim_tcp_source *s, bool ack)
{
    struct sim_packet *packet = sim_packet_new(&s->net->pool, 0);
    packet->from = ack ? s->config.to : s->config.from;
    packet->to = ack ? s->config.from : s->config.to;
    packet->proto = SIM_PROTO_PLAIN;
    packet->wire_bytes = ack ? SIM_TCP_OVERHEAD_BYTES : s->config.packet_bytes;
    sim_packet_segment(packet)->connection = s->connection;
    sim_packet_segment(packet)->flags = ack ? ACK_FLAG : 0;
    return packet;
}

/* ---- sender ---- */
static void arm_timeout(struct sim_tcp_source *s)
{
    gmc_duration wait = s->srtt + (4 * s->rttvar > TIMEOUT_MIN ? 4 * s->rttvar : TIMEOUT_MIN);
    uint32_t shift = s->timeouts > TIMEOUT_SHIFT_MAX ? TIMEOUT_SHIFT_MAX : s->timeouts;
    sim_engine_at(s->engine, &s->timeout,
                  s->inflight == 0 ? GMC_TIME_NEVER : gmc_time_add(s->engine->now, wait << shift));
}

static void send_one(struct sim_tcp_source *s)
{
    struct sim_packet *packet = new_packet(s, false);
    gmc_time now = s->engine->now;
    s->config.law->on_sent(s->law, now, s->next, s->config.packet_bytes, false);
    s->sent[s->next % RING] = (struct sent_packet){now, OPEN};
    sim_packet_segment(packet)->sequence = (uint32_t)s->next++;
    s->count->sent_packets++;
    s->count->sent_bytes += packet->wire_bytes;
    if (s->inflight++ == 0)
        arm_timeout(s);
    sim_net_send(s->net, packet);
}

static uint64_t burst_packets(uint64_t rate_bps, uint32_t packet_bytes)
{
    uint64_t packets = rate_bps / 8 / BURST_PER_SECOND / packet_bytes;
    return packets < BURST_MIN ? BURST_MIN : packets > BURST_MAX ? BURST_MAX : packets;
}

/* Packets that the window lets go. */
static uint64_t room_of(const struct sim_tcp_source *s, uint64_t window)
{
    uint64_t spread = s->next - s->first_open;
    uint64_t room = window > s->inflight ? window - s->inflight : 0;
    return room < RING - spread ? room : RING - spread;
}

static void try_send(struct sim_tcp_source *s)
{
    const struct gmc_cc_ops *law = s->config.law;
    uint32_t bytes = s->config.packet_bytes;
    gmc_time now = s->engine->now;
    while (now >= s->config.start && now < s->config.stop) {
        uint64_t rate = law->rate_bps(s->law);
        uint64_t window = law->window_bytes(s->law) / bytes;
        if (window > SIM_TCP_SOURCE_WINDOW)
            window = SIM_TCP_SOURCE_WINDOW;
        uint64_t room = room_of(s, window), burst = burst_packets(rate, bytes);
        gmc_time go = s->config.paced ? s->pace_at : 0;
        if (room < burst && room < window / 3 && s->inflight > 0)
            go = gmc_time_max(go, s->burst_at + DEFER_MAX);
        if (room == 0 || now < go) {
            sim_engine_at(s->engine, &s->wake, room == 0 ? GMC_TIME_NEVER : go);
            return;
        }
        if (burst > room)
            burst = room;
        s->burst_at = now;
        s->pace_at =
            gmc_time_add(gmc_time_max(s->pace_at, now), gmc_duration_of_bytes(burst * bytes, rate));
        while (burst-- > 0)
            send_one(s);
    }
}

static void on_wake(struct sim_event *event, gmc_time now)
{
    (void)now;
    try_send(SIM_OWNER(event, struct sim_tcp_source, wake));
}

static void lose(struct sim_tcp_source *s, uint64_t number)
{
    struct sent_packet *packet = &s->sent[number % RING];
    if (packet->fate != OPEN)
        return;
    packet->fate = LOST;
    s->inflight--;
    s->config.law->on_lost(s->law, s->engine->now, number, s->config.packet_bytes, packet->at);
}

static void on_timeout(struct sim_event *event, gmc_time now)
{
    struct sim_tcp_source *s = SIM_OWNER(event, struct sim_tcp_source, timeout);
    s->timeouts++;
    while (s->first_open < s->next)
        lose(s, s->first_open++);
    s->config.law->on_timeout(s->law, now, s->timeouts);
    try_send(s);
}

static void take(struct sim_tcp_source *s, uint64_t number)
{
    struct sent_packet *packet = &s->sent[number % RING];
    const struct gmc_cc_ops *law = s->config.law;
    if (s->next - number > RING)
        return; /* its place is another's by now */
    if (packet->fate == OPEN) {
        s->inflight--;
        law->on_acked(s->law, s->engine->now, number, s->config.packet_bytes, packet->at);
    } else if (packet->fate == LOST) {
        law->on_spurious(s->law, s->engine->now, number, s->config.packet_bytes);
    }
    packet->fate = CLOSED;
}

static void sample_rtt(struct sim_tcp_source *s, gmc_duration rtt)
{
    gmc_duration off = rtt > s->srtt ? rtt - s->srtt : s->srtt - rtt;
    s->rttvar = s->rttvar - s->rttvar / 4 + off / 4;
    s->srtt = s->srtt - s->srtt / 8 + rtt / 8;
}

static void on_ack(struct sim_tcp_source *s, const struct sim_segment *segment)
{
    uint64_t newest = widen(s->next, segment->sequence);
    uint64_t end = widen(s->read, segment->ack);
    struct gmc_cc_ack ack = {.now = s->engine->now, .largest = newest};
    if (end <= s->read || end > s->logged || newest >= s->next)
        return; /* overtaken by a later one */
    while (s->read < end)
        take(s, widen(s->next, s->log[s->read++ % RING]));
    if (newest < s->largest || s->next - newest > RING) {
        try_send(s);
        return;
    }
    s->largest = newest + 1;
    while (s->first_open + REORDERING <= newest)
        lose(s, s->first_open++);
    ack.largest_sent = s->sent[newest % RING].at;
    ack.rtt = ack.now - ack.largest_sent;
    ack.largest_arrival_ns = ack.now;
    ack.inflight_bytes = s->inflight * s->config.packet_bytes;
    sample_rtt(s, ack.rtt);
    s->timeouts = 0;
    s->config.law->on_ack(s->law, &ack);
    arm_timeout(s);
    try_send(s);
}

/* ---- receiver ---- */
static void send_ack(struct sim_tcp_source *s)
{
    struct sim_packet *packet = new_packet(s, true);
    sim_packet_segment(packet)->sequence = (uint32_t)s->newest;
    sim_packet_segment(packet)->ack = (uint32_t)s->logged;
    s->acked = s->logged;
    sim_engine_cancel(s->engine, &s->ack_timer);
    sim_net_send(s->net, packet);
}

static void on_ack_timer(struct sim_event *event, gmc_time now)
{
    (void)now;
    send_ack(SIM_OWNER(event, struct sim_tcp_source, ack_timer));
}

static void on_data(struct sim_tcp_source *s, const struct sim_segment *segment)
{
    uint64_t number = widen(s->next, segment->sequence);
    if (s->logged - s->read == RING)
        return; /* no acknowledgement came through for long */
    if (number > s->newest)
        s->newest = number;
    s->log[s->logged++ % RING] = segment->sequence;
    if (s->logged - s->acked >= ACK_EVERY)
        send_ack(s);
    else
        sim_engine_at(s->engine, &s->ack_timer, gmc_time_add(s->engine->now, ACK_DELAY));
}

/* ---- both ---- */
void sim_tcp_source_arrived(struct sim_tcp_source *s, const struct sim_packet *packet)
{
    if ((sim_packet_segment_of(packet)->flags & ACK_FLAG) != 0) {
        on_ack(s, sim_packet_segment_of(packet));
    } else {
        s->count->received_packets++;
        s->count->received_bytes += packet->wire_bytes;
        on_data(s, sim_packet_segment_of(packet));
    }
}

static gmc_duration first_rtt(struct sim_net *net, const struct sim_tcp_source_config *config)
{
    gmc_duration there = sim_net_path_delay(net, config->from, config->to);
    gmc_duration back = sim_net_path_delay(net, config->to, config->from);
    return there == GMC_TIME_NEVER || back == GMC_TIME_NEVER ? GMC_S(1) : there + back + GMC_US(1);
}

struct sim_tcp_source *sim_tcp_source_new(struct sim_engine *engine, struct sim_net *net,
                                          uint64_t connection,
                                          const struct sim_tcp_source_config *config,
                                          struct sim_traffic_counters *count, struct gmc_prng *prng)
{
    struct sim_tcp_source *s = sim_calloc(1, sizeof(*s));
    s->engine = engine;
    s->net = net;
    s->connection = connection;
    s->config = *config;
    s->count = count;
    s->srtt = first_rtt(net, config);
    s->rttvar = s->srtt / 2;
    s->sent = sim_calloc(RING, sizeof(*s->sent));
    s->log = sim_calloc(RING, sizeof(*s->log));
    s->law = sim_calloc(1, config->law->state_size);
    struct gmc_cc_params params = {.packet_bytes = config->packet_bytes, .initial_rtt = s->srtt};
    config->law->init(s->law, &params, prng, config->start);
    sim_event_init(&s->wake, on_wake);
    sim_event_init(&s->timeout, on_timeout);
    sim_event_init(&s->ack_timer, on_ack_timer);
    sim_engine_at(engine, &s->wake, config->start);
    return s;
}

void sim_tcp_source_free(struct sim_tcp_source *s)
{
    sim_engine_cancel(s->engine, &s->wake);
    sim_engine_cancel(s->engine, &s->timeout);
    sim_engine_cancel(s->engine, &s->ack_timer);
    free(s->sent);
    free(s->log);
    free(s->law);
    free(s);
}
