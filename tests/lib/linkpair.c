/* SPDX-License-Identifier: BSD-2-Clause */
/* The pair of links, its wires and its virtual clock. */
#include "tests/lib/linkpair.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/heap.h"
#include "base/map.h"
#include "tests/lib/testcrypto.h"

#define DATAGRAM_MAX 40000
#define HEADS 28
#define SPIN_MAX 100000 /* turns at one instant */

struct flight {
    struct gmc_heap_node node;
    enum gmc_path path;
    struct gmc_addr from, to;
    enum gmc_ecn_mark ecn;
    size_t len;
    uint8_t bytes[];
};

struct side {
    struct gmc_link *link;
    struct linkpair_stats stats;
    struct linkpair_wire wire;
    struct gmc_prng prng;
    struct gmc_heap flying; /* towards the other side */
    uint64_t flight_seq;
    gmc_time busy_until;
    struct gmc_addr addr;
    bool refuse;
    bool disguise;
    /* data source */
    uint64_t to_send;
    size_t body_bytes;
    uint64_t next_seq;
    uint64_t *again; /* lost, to be sent again */
    size_t again_count, again_capacity;
    /* data sink: sequence numbers seen here */
    uint8_t *seen;
    size_t seen_capacity;
    uint64_t messages_sent;
    uint8_t last[DATAGRAM_MAX];
    size_t last_len;
};

struct linkpair {
    struct testcrypto crypto;
    gmc_time now;
    gmc_time start[2];
    struct linkpair_config config;
    struct gmc_prng prng;
    struct side sides[2];
    uint8_t body[DATAGRAM_MAX];
    uint8_t buffer[DATAGRAM_MAX];
};

static struct gmc_addr make_addr(int side, int generation)
{
    return (struct gmc_addr){.len = 2, .bytes = {(uint8_t)side, (uint8_t)generation}};
}

static void make_link(struct linkpair *pair, int i)
{
    struct gmc_session session = {
        .peer = (gmc_peer)(1 - i),
        .initiator = i == 0,
        .local_id = (uint32_t)(10 + i),
        .remote_id = (uint32_t)(11 - i),
        .transport = pair->config.transport,
        .udp_payload_max = pair->config.udp_payload_max,
    };
    uint64_t back_bps = pair->config.fixed_back_bps;
    struct gmc_link_config config = {
        .crypto = &pair->crypto.crypto,
        .session = &session,
        .cc = pair->config.cc != NULL ? pair->config.cc : &gmc_cc_fixed,
        .fixed_rate_bps = i == 1 && back_bps != 0 ? back_bps : pair->config.fixed_rate_bps,
        .silent_after = pair->config.silent_after,
    };

    memset(session.send_secret, 7 + i, GMC_KEY_BYTES);
    memset(session.recv_secret, 8 - i, GMC_KEY_BYTES);
    gmc_prng_fork_nth(&pair->prng, "link", (uint64_t)i, &config.prng);
    pair->sides[i].link = gmc_link_new(&config, pair->now);
    GMC_ASSERT(pair->sides[i].link != NULL);
}

struct linkpair *linkpair_new(const struct linkpair_config *config)
{
    struct linkpair *pair = calloc(1, sizeof *pair);

    GMC_ASSERT(pair != NULL);
    pair->config = *config;
    pair->now = LINKPAIR_START;
    gmc_prng_init(&pair->prng, config->seed);
    testcrypto_init(&pair->crypto, config->seed);
    for (size_t i = 0; i < sizeof pair->body; i++)
        pair->body[i] = (uint8_t)(i * 7);
    for (int i = 0; i < 2; i++) {
        struct side *side = &pair->sides[i];
        side->wire = config->wires[i];
        side->addr = make_addr(i, 0);
        side->stats.up = side->stats.settled = GMC_TIME_NEVER;
        gmc_heap_init(&side->flying);
        gmc_prng_fork_nth(&pair->prng, "wire", (uint64_t)i, &side->prng);
        pair->start[i] = gmc_time_add(pair->now, i == 1 ? config->late : 0);
        if (pair->start[i] == pair->now)
            make_link(pair, i);
    }
    return pair;
}

void linkpair_free(struct linkpair *pair)
{
    if (pair == NULL)
        return;
    for (int i = 0; i < 2; i++) {
        struct side *side = &pair->sides[i];
        struct gmc_heap_node *node;
        while ((node = gmc_heap_pop(&side->flying)) != NULL)
            free(node); /* the first member of a flight */
        gmc_heap_fini(&side->flying);
        gmc_link_free(side->link);
        free(side->again);
        free(side->seen);
    }
    free(pair);
}

struct gmc_link *linkpair_link(struct linkpair *pair, int side)
{
    return pair->sides[side].link;
}

const struct linkpair_stats *linkpair_stats(const struct linkpair *pair, int side)
{
    return &pair->sides[side].stats;
}

gmc_time linkpair_now(const struct linkpair *pair)
{
    return pair->now;
}

struct linkpair_wire *linkpair_wire(struct linkpair *pair, int side)
{
    return &pair->sides[side].wire;
}

void linkpair_move(struct linkpair *pair, int side)
{
    pair->sides[side].addr.bytes[1]++;
}

void linkpair_disguise(struct linkpair *pair, int side, bool disguise)
{
    pair->sides[side].disguise = disguise;
}

void linkpair_refuse(struct linkpair *pair, int side, bool refuse)
{
    pair->sides[side].refuse = refuse;
}

void linkpair_supply(struct linkpair *pair, int side, uint64_t packets, size_t body_bytes)
{
    struct side *s = &pair->sides[side];

    s->to_send = packets == UINT64_MAX ? UINT64_MAX : s->to_send + packets;
    s->body_bytes = body_bytes;
}

/* ---- messages: byte i of message n is n * 31 + i * 7 ---- */

gmc_status linkpair_message(struct linkpair *pair, int side, size_t len)
{
    struct side *s = &pair->sides[side];
    uint8_t *bytes = malloc(len + 1);

    GMC_ASSERT(bytes != NULL);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)(s->messages_sent * 31 + i * 7);
    gmc_status status = gmc_link_send_message(s->link, pair->now, gmc_bytes(bytes, len));
    if (status == GMC_OK)
        s->messages_sent++;
    free(bytes);
    return status;
}

static void take_messages(struct linkpair *pair, struct side *side)
{
    struct gmc_bytes message;

    while (gmc_link_next_message(side->link, &message)) {
        for (size_t i = 0; i < message.len; i++)
            GMC_ASSERT(message.data[i] == (uint8_t)(side->stats.messages * 31 + i * 7));
        side->stats.messages++;
        side->stats.last_message = pair->now;
    }
}

/* ---- the wire ---- */

static bool wire_drops(const struct linkpair *pair, struct side *side, size_t len)
{
    const struct linkpair_wire *wire = &side->wire;
    bool lost = gmc_prng_chance_ppm(&side->prng, wire->loss_ppm);

    if (wire->udp_blocked || (wire->mtu != 0 && len > wire->mtu))
        return true;
    if (wire->rate_bps != 0 && wire->queue_bytes != 0) {
        gmc_duration backlog = gmc_time_sub(side->busy_until, pair->now);
        if (backlog / 1000 * (wire->rate_bps / 1000) / 8000 + len + HEADS > wire->queue_bytes)
            return true;
    }
    if (wire->rate_bps != 0)
        side->busy_until = gmc_time_add(gmc_time_max(side->busy_until, pair->now),
                                        gmc_duration_of_bytes(len + HEADS, wire->rate_bps));
    return lost;
}

/* The mark with which a datagram arrives. */
static enum gmc_ecn_mark wire_marks(const struct linkpair *pair, struct side *side,
                                    enum gmc_ecn_mark ecn)
{
    const struct linkpair_wire *wire = &side->wire;
    bool marks =
        wire->mark_bytes > 0 && gmc_time_sub(side->busy_until, pair->now) >
                                    gmc_duration_of_bytes(wire->mark_bytes, wire->rate_bps);

    if (ecn == GMC_NOT_ECT || wire->ecn == LINKPAIR_BLEACHES)
        return GMC_NOT_ECT;
    marks = marks || wire->ecn == LINKPAIR_FORCES;
    side->stats.marked += marks;
    return marks ? GMC_CE : ecn;
}

static void transmit(struct linkpair *pair, int i, const struct gmc_dgram_out *out)
{
    struct side *side = &pair->sides[i];
    size_t len = gmc_dgram_out_len(out);
    gmc_time arrival;

    GMC_ASSERT(len >= GMC_HEAD_BYTES && len <= DATAGRAM_MAX);
    side->stats.datagrams++;
    side->stats.bytes += len + HEADS;
    side->stats.kinds[(out->head_len > 0 ? out->head[0] : out->body.data[0]) & 0x3f]++;
    if (side->wire.down ||
        (out->to.len == 0 && i == 1 && pair->config.unconfigured && out->path == GMC_PATH_UDP)) {
        side->stats.dropped++;
        return;
    }
    if (out->path == GMC_PATH_STREAM) {
        arrival = gmc_time_add(pair->now, side->wire.delay);
    } else {
        side->stats.capable += out->ecn != GMC_NOT_ECT;
        if (wire_drops(pair, side, len) ||
            (side->wire.ecn == LINKPAIR_DROPS && out->ecn != GMC_NOT_ECT)) {
            side->stats.dropped++;
            return;
        }
        arrival = gmc_time_add(gmc_time_max(side->busy_until, pair->now), side->wire.delay);
        arrival += gmc_prng_below(&side->prng, side->wire.jitter + 1);
    }
    struct flight *flight = malloc(sizeof *flight + len);
    GMC_ASSERT(flight != NULL);
    *flight = (struct flight){.path = out->path, .from = side->addr, .to = out->to, .len = len};
    flight->ecn = wire_marks(pair, side, (enum gmc_ecn_mark)out->ecn);
    if (side->disguise)
        flight->from = make_addr(100, (int)(side->stats.datagrams & 0xff));
    memcpy(flight->bytes, out->head, out->head_len);
    if (out->body.len > 0)
        memcpy(flight->bytes + out->head_len, out->body.data, out->body.len);
    if (out->tail.len > 0)
        memcpy(flight->bytes + out->head_len + out->body.len, out->tail.data, out->tail.len);
    GMC_ASSERT(gmc_heap_push(&side->flying, &flight->node, arrival, side->flight_seq++) == GMC_OK);
}

/* ---- data ---- */

static void mark_seen(struct side *side, uint32_t seq)
{
    size_t need = seq / 8 + 1;

    if (need > side->seen_capacity) {
        size_t capacity = side->seen_capacity > 0 ? side->seen_capacity : 1024;
        while (capacity < need)
            capacity *= 2;
        side->seen = realloc(side->seen, capacity);
        GMC_ASSERT(side->seen != NULL);
        memset(side->seen + side->seen_capacity, 0, capacity - side->seen_capacity);
        side->seen_capacity = capacity;
    }
    if (side->seen[seq / 8] >> (seq % 8) & 1)
        side->stats.duplicates++;
    else
        side->stats.delivered++;
    side->seen[seq / 8] |= (uint8_t)(1u << (seq % 8));
}

static bool has_data(const struct side *side)
{
    return side->again_count > 0 || side->to_send > 0;
}

static void send_one(struct linkpair *pair, int i)
{
    struct side *side = &pair->sides[i];
    uint64_t seq;
    struct gmc_dgram_out out;

    if (side->again_count > 0) {
        seq = side->again[--side->again_count];
    } else {
        seq = side->next_seq++;
        side->to_send -= side->to_send != UINT64_MAX;
        side->stats.queued++;
    }
    struct gmc_data_head head = {.handle = 5, .block = (uint32_t)seq, .fragment = 9};
    gmc_status status =
        gmc_link_send_data(side->link, pair->now, &head, gmc_bytes(pair->body, side->body_bytes),
                           pair->body + 100, seq, &out);
    GMC_ASSERT(status == GMC_OK);
    transmit(pair, i, &out);
}

static void take_fates(struct side *side)
{
    struct gmc_link_fate fate;

    while (gmc_link_next_fate(side->link, &fate)) {
        if (fate.acked) {
            side->stats.acked++;
            continue;
        }
        side->stats.lost++;
        if (side->again_count == side->again_capacity) {
            side->again_capacity = side->again_capacity > 0 ? side->again_capacity * 2 : 256;
            side->again = realloc(side->again, side->again_capacity * sizeof *side->again);
            GMC_ASSERT(side->again != NULL);
        }
        side->again[side->again_count++] = fate.cookie;
    }
}

/* ---- the clock ---- */

static void note_state(struct linkpair *pair, struct side *side)
{
    struct gmc_link_info info;

    if (side->stats.settled != GMC_TIME_NEVER)
        return;
    if (side->stats.up == GMC_TIME_NEVER && gmc_link_state(side->link) == GMC_LINK_UP)
        side->stats.up = pair->now;
    gmc_link_info(side->link, &info);
    if (info.mtu_settled)
        side->stats.settled = pair->now;
}

static void drain(struct linkpair *pair, int i)
{
    struct side *side = &pair->sides[i];
    struct gmc_dgram_out out;
    size_t payload = side->body_bytes + GMC_DATA_OVERHEAD_BYTES;

    if (side->link == NULL)
        return;
    take_messages(pair, side);
    take_fates(side);
    while (gmc_link_next_packet(side->link, pair->now, pair->buffer, sizeof pair->buffer, &out))
        transmit(pair, i, &out);
    while (has_data(side) && gmc_link_ready(side->link, pair->now, payload))
        send_one(pair, i);
    if (!has_data(side))
        gmc_link_set_idle(side->link, pair->now);
    note_state(pair, side);
}

/* Data that does not wake the link leaves it nothing to do before its deadline of before. */
static void accept(struct linkpair *pair, struct side *side, gmc_time deadline)
{
    gmc_link_accept_data(side->link, pair->now);
    bool wakes = gmc_link_wakes(side->link);
    side->stats.wakes += wakes;
    GMC_ASSERT(wakes || gmc_link_deadline(side->link, false) >= deadline);
    GMC_ASSERT(!gmc_link_wakes(side->link));
}

static gmc_status deliver(struct linkpair *pair, int i, const struct gmc_dgram_in *in)
{
    struct side *side = &pair->sides[i];
    struct gmc_link_data data;
    bool is_data = false;
    gmc_time deadline = gmc_link_deadline(side->link, false);

    (void)gmc_link_wakes(side->link);
    gmc_status status = gmc_link_receive(side->link, pair->now, in, &data, &is_data);
    if (status != GMC_OK) {
        side->stats.errors++;
        return status;
    }
    if (is_data && !side->refuse) {
        GMC_ASSERT(data.handle == 5 && data.fragment == 9);
        GMC_ASSERT(memcmp(data.body.data, pair->body, data.body.len) == 0);
        GMC_ASSERT(memcmp(data.seal_tag, pair->body + 100, GMC_SEAL_TAG_BYTES) == 0);
        mark_seen(side, data.block);
        accept(pair, side, deadline);
    }
    return status;
}

static void arrive(struct linkpair *pair, int to, struct flight *flight)
{
    struct side *side = &pair->sides[to];
    struct gmc_addr configured = make_addr(to, 0);
    const struct gmc_addr *want = flight->to.len == 0 ? &configured : &flight->to;
    struct gmc_dgram_in in = {
        .path = flight->path,
        .peer = flight->path == GMC_PATH_STREAM ? (gmc_peer)(1 - to) : GMC_PEER_NONE,
        .from = flight->from,
        .bytes = gmc_bytes(flight->bytes, flight->len),
        .waited = pair->config.waited,
        .ecn = flight->ecn,
    };
    bool here = flight->path == GMC_PATH_STREAM || memcmp(want, &side->addr, sizeof *want) == 0;

    if (here && side->link != NULL) {
        memcpy(side->last, flight->bytes, flight->len);
        side->last_len = flight->len;
        deliver(pair, to, &in);
        drain(pair, to);
    }
    free(flight);
}

static gmc_time next_time(const struct linkpair *pair)
{
    gmc_time next = GMC_TIME_NEVER;

    for (int i = 0; i < 2; i++) {
        const struct side *side = &pair->sides[i];
        const struct gmc_heap_node *node = gmc_heap_peek(&side->flying);
        if (node != NULL)
            next = gmc_time_min(next, node->key);
        if (side->link != NULL)
            next = gmc_time_min(next, gmc_link_deadline(side->link, has_data(side)));
        else
            next = gmc_time_min(next, pair->start[i]);
    }
    return next;
}

static void turn(struct linkpair *pair)
{
    for (int i = 0; i < 2; i++) {
        struct side *side = &pair->sides[i];
        struct gmc_heap_node *node;

        if (side->link == NULL && pair->start[i] <= pair->now)
            make_link(pair, i);
        while ((node = gmc_heap_peek(&side->flying)) != NULL && node->key <= pair->now)
            arrive(pair, 1 - i, (struct flight *)(void *)gmc_heap_pop(&side->flying));
        if (side->link != NULL && gmc_link_deadline(side->link, has_data(side)) <= pair->now) {
            side->stats.turns++;
            gmc_link_on_timer(side->link, pair->now);
            drain(pair, i);
        }
    }
}

/* One step of the clock; false when the next one is after `until`. */
static bool step(struct linkpair *pair, gmc_time until, unsigned *spins)
{
    gmc_time next = next_time(pair);

    if (next > until) {
        pair->now = gmc_time_max(pair->now, until);
        return false;
    }
    if (next > pair->now) {
        pair->now = next;
        *spins = 0;
    }
    GMC_ASSERT((*spins)++ < SPIN_MAX);
    turn(pair);
    return true;
}

static void drain_both(struct linkpair *pair)
{
    drain(pair, 0);
    drain(pair, 1);
}

void linkpair_run_until(struct linkpair *pair, gmc_time until)
{
    unsigned spins = 0;

    drain_both(pair);
    while (step(pair, until, &spins))
        ;
}

bool linkpair_run_up(struct linkpair *pair, int side, gmc_time limit)
{
    unsigned spins = 0;

    drain_both(pair);
    while (pair->sides[side].stats.up == GMC_TIME_NEVER) {
        if (!step(pair, limit, &spins))
            return false;
    }
    return true;
}

bool linkpair_run_delivered(struct linkpair *pair, int side, gmc_time limit)
{
    const struct side *from = &pair->sides[side];
    const struct side *to = &pair->sides[1 - side];
    unsigned spins = 0;

    drain_both(pair);
    while (from->to_send > 0 || to->stats.delivered < from->stats.queued) {
        if (!step(pair, limit, &spins))
            return false;
    }
    return true;
}

bool linkpair_run_messages(struct linkpair *pair, int side, uint64_t count, gmc_time limit)
{
    unsigned spins = 0;

    drain_both(pair);
    while (pair->sides[side].stats.messages < count) {
        if (!step(pair, limit, &spins))
            return false;
    }
    return true;
}

gmc_status linkpair_inject(struct linkpair *pair, int side, struct gmc_bytes bytes)
{
    struct gmc_dgram_in in = {.path = GMC_PATH_UDP,
                              .peer = GMC_PEER_NONE,
                              .from = pair->sides[1 - side].addr,
                              .bytes = bytes};
    return deliver(pair, side, &in);
}

struct gmc_bytes linkpair_last(const struct linkpair *pair, int side)
{
    return gmc_bytes(pair->sides[side].last, pair->sides[side].last_len);
}
