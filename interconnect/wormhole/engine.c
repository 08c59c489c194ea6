/* SPDX-License-Identifier: BSD-2-Clause */
/* The flit engine.
 *
 * A virtual channel is *ready* when a flit stands before it and its buffer has room. Channels with
 * a ready virtual channel are bits of a mask, which one pass goes through from low to high in each
 * cycle. A flit that moves makes room behind it, that is for a channel of a higher number: the pass
 * will still come by. And it may make the channel ahead ready, one of a lower number: the pass has
 * been there, so no flit moves twice.
 */
#include "interconnect/wormhole/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define NONE IC_WH_NONE
/* Of the one before a virtual channel: it is a feed, not a virtual channel; of the one after: the
 * flits leave this part of the network, into a feed, or for good (OUT). */
#define FEED 0x80000000u
#define OUT 0xffffffffu
#define UNKNOWN 0x7fffffffu /* the one after, while the head has no channel */
#define WORD 64u
#define ANY_PORT UINT64_MAX
#define LAST_PORT 63u
#define LINE 64u /* bytes */

struct vc {
    uint32_t before; /* virtual channel or feed that its flits come from */
    uint32_t after;  /* where they go */
    uint16_t left;   /* flits that have yet to cross the channel */
    uint16_t held;   /* flits in the buffer */
    uint32_t order;  /* in which virtual channels were taken */
};

/* What moving flits look at stands together: with three virtual channels it is 64 bytes, a line of
 * most caches. */
struct channel {
    uint32_t ready; /* mask of virtual channels */
    uint8_t last;   /* virtual channel that moved a flit last */
    bool is_in_order;
    uint64_t carried;
    struct vc vcs[];
};

/* The rest of a channel, for heads and tails. */
struct supply {
    uint32_t free; /* mask of virtual channels */
    uint32_t from; /* point */
    uint32_t port; /* its bit among the channels from there; all from the 63rd on have the last */
};

/* Flits of a message that wait before a part of the network, as many as there are. */
struct feed {
    uint32_t message;
    uint32_t available;
    uint32_t to;   /* virtual channel that takes them; NONE while there is none */
    uint32_t link; /* the next that waits, or the next unused one */
};

/* What waits at a point, first come first: virtual channels with a head in their buffer, feeds. */
struct line {
    uint32_t first, last;
};

struct message {
    struct ic_wh_message public;
    uint32_t link; /* the next unused one, or delivered one */
};

/* What falls due after a fixed time, so in the order in which it was put in. */
struct ring {
    struct due {
        uint64_t when;
        uint32_t vc;
    } * dues;
    uint32_t size, first, count;
};

struct ic_wh_engine {
    const struct ic_wh_network *network;
    struct ic_wh_options options;
    struct gmc_prng prng;
    uint64_t now, sent, backlog;
    uint32_t taken;        /* virtual channels so far */
    uint32_t shift;        /* virtual channels of channel c are from c << shift on */
    uint32_t stride_shift; /* a channel has 1 << stride_shift bytes */
    unsigned char *channels;
    struct supply *supplies; /* by channel */
    uint32_t *vc_messages;   /* by virtual channel */
    uint32_t *vc_links;      /* the next that waits */
    uint64_t *vc_ports;      /* those that what waits may take; ANY_PORT: not known yet */
    struct line *lines;      /* by point */
    uint64_t *open;          /* by point: ports that have a free virtual channel */
    uint64_t *active;        /* channels that have a ready virtual channel */
    uint64_t *woken;         /* points where something came or got free */
    uint32_t active_words, woken_words;
    struct ring heads, releases;
    struct feed *feeds;
    struct message *messages;
    uint32_t feed_room, message_room;
    uint32_t unused_feed, unused_message;
    uint32_t delivered; /* list of messages */
    bool is_moving;     /* something happened in the last step */
    bool is_short;      /* of memory */
};

static inline struct channel *channel_at(const struct ic_wh_engine *engine, uint32_t number)
{
    return (void *)(engine->channels + ((size_t)number << engine->stride_shift));
}

static inline struct vc *vc_at(const struct ic_wh_engine *engine, uint32_t vc)
{
    return &channel_at(engine, vc >> engine->shift)->vcs[vc & ((1u << engine->shift) - 1)];
}

/* ---- life ---- */
static gmc_status ring_init(struct ring *ring, uint32_t size)
{
    ring->dues = calloc(size, sizeof(*ring->dues));
    ring->size = size;
    return ring->dues != NULL ? GMC_OK : GMC_ERR_NOMEM;
}

static void ring_put(struct ring *ring, uint64_t when, uint32_t vc)
{
    uint32_t at = ring->first + ring->count++;
    GMC_ASSERT(ring->count <= ring->size);
    ring->dues[at < ring->size ? at : at - ring->size] = (struct due){when, vc};
}

static bool ring_take(struct ring *ring, uint64_t now, uint32_t *vc)
{
    if (ring->count == 0 || ring->dues[ring->first].when > now)
        return false;
    *vc = ring->dues[ring->first].vc;
    ring->first = ring->first + 1 < ring->size ? ring->first + 1 : 0;
    ring->count--;
    return true;
}

static gmc_status allocate(struct ic_wh_engine *engine)
{
    const struct ic_wh_network *network = engine->network;
    size_t vcs = (size_t)network->channels << engine->shift;
    engine->active_words = (network->channels + WORD - 1) / WORD;
    engine->woken_words = (network->points + WORD - 1) / WORD;
    while (1u << engine->stride_shift <
           sizeof(struct channel) + engine->options.vcs * sizeof(struct vc))
        engine->stride_shift++;
    size_t bytes = (((size_t)network->channels << engine->stride_shift) + LINE - 1) / LINE * LINE;
    engine->channels = aligned_alloc(LINE, bytes);
    engine->supplies = calloc(network->channels, sizeof(*engine->supplies));
    engine->vc_messages = calloc(vcs, sizeof(*engine->vc_messages));
    engine->vc_links = calloc(vcs, sizeof(*engine->vc_links));
    engine->vc_ports = calloc(vcs, sizeof(*engine->vc_ports));
    engine->lines = calloc(network->points, sizeof(*engine->lines));
    engine->open = calloc(network->points, sizeof(*engine->open));
    engine->active = calloc(engine->active_words, sizeof(*engine->active));
    engine->woken = calloc(engine->woken_words, sizeof(*engine->woken));
    if (engine->channels == NULL || engine->supplies == NULL || engine->vc_messages == NULL ||
        engine->vc_links == NULL || engine->vc_ports == NULL || engine->lines == NULL ||
        engine->open == NULL || engine->active == NULL || engine->woken == NULL)
        return GMC_ERR_NOMEM;
    memset(engine->channels, 0, bytes);
    uint32_t used = network->channels * engine->options.vcs;
    gmc_status status = GMC_OK;
    if (engine->options.hop_delay > 0)
        status = ring_init(&engine->heads, used);
    if (status == GMC_OK && engine->options.release_delay > 0)
        status = ring_init(&engine->releases, used);
    return status;
}

gmc_status ic_wh_engine_new(const struct ic_wh_network *network,
                            const struct ic_wh_options *options, uint64_t seed,
                            struct ic_wh_engine **out)
{
    GMC_ASSERT(options->vcs >= 1 && options->vcs <= IC_WH_VCS_MAX);
    GMC_ASSERT(options->flits >= 1 && options->flits <= IC_WH_FLITS_MAX);
    GMC_ASSERT(options->depth >= 1 && options->depth <= IC_WH_DEPTH_MAX);
    GMC_ASSERT(network->channels >= 1 && network->channels < 1u << 24);
    struct ic_wh_engine *engine = calloc(1, sizeof(*engine));
    if (engine == NULL)
        return GMC_ERR_NOMEM;
    engine->network = network;
    engine->options = *options;
    while (1u << engine->shift < options->vcs)
        engine->shift++;
    engine->unused_feed = engine->unused_message = engine->delivered = NONE;
    gmc_prng_init(&engine->prng, seed);
    gmc_status status = allocate(engine);
    if (status != GMC_OK) {
        ic_wh_engine_free(engine);
        return status;
    }
    for (uint32_t c = 0; c < network->channels; c++) {
        bool is_end = network->from[c] < network->queues || network->to[c] == NONE;
        struct channel *channel = channel_at(engine, c);
        channel->last = (uint8_t)(options->vcs - 1);
        channel->is_in_order = is_end ? options->ends_in_order : options->links_in_order;
        uint64_t *open = &engine->open[network->from[c]];
        uint32_t port = (uint32_t)__builtin_popcountll(*open);
        engine->supplies[c] = (struct supply){.free = (uint32_t)((UINT64_C(1) << options->vcs) - 1),
                                              .from = network->from[c],
                                              .port = port < LAST_PORT ? port : LAST_PORT};
        *open |= UINT64_C(1) << engine->supplies[c].port;
    }
    for (uint32_t p = 0; p < network->points; p++)
        engine->lines[p] = (struct line){NONE, NONE};
    *out = engine;
    return GMC_OK;
}

void ic_wh_engine_free(struct ic_wh_engine *engine)
{
    if (engine == NULL)
        return;
    free(engine->channels);
    free(engine->supplies);
    free(engine->vc_messages);
    free(engine->vc_links);
    free(engine->vc_ports);
    free(engine->lines);
    free(engine->open);
    free(engine->active);
    free(engine->woken);
    free(engine->heads.dues);
    free(engine->releases.dues);
    free(engine->feeds);
    free(engine->messages);
    free(engine);
}

/* ---- pools ---- */
static bool grow_feeds(struct ic_wh_engine *engine)
{
    uint32_t room = engine->feed_room > 0 ? 2 * engine->feed_room : 256;
    struct feed *feeds = realloc(engine->feeds, room * sizeof(*feeds));
    if (feeds == NULL)
        return false;
    for (uint32_t i = engine->feed_room; i < room; i++)
        feeds[i].link = i + 1 < room ? i + 1 : NONE;
    engine->unused_feed = engine->feed_room;
    engine->feeds = feeds;
    engine->feed_room = room;
    return true;
}

static bool grow_messages(struct ic_wh_engine *engine)
{
    uint32_t room = engine->message_room > 0 ? 2 * engine->message_room : 256;
    struct message *messages = realloc(engine->messages, room * sizeof(*messages));
    if (messages == NULL)
        return false;
    for (uint32_t i = engine->message_room; i < room; i++)
        messages[i].link = i + 1 < room ? i + 1 : NONE;
    engine->unused_message = engine->message_room;
    engine->messages = messages;
    engine->message_room = room;
    return true;
}

/* ---- waiting ---- */
static uint32_t *link_of(struct ic_wh_engine *engine, uint32_t waiter)
{
    return waiter & FEED ? &engine->feeds[waiter & ~FEED].link : &engine->vc_links[waiter];
}

static void wake(struct ic_wh_engine *engine, uint32_t point)
{
    engine->woken[point / WORD] |= UINT64_C(1) << point % WORD;
}

static void wait_at(struct ic_wh_engine *engine, uint32_t point, uint32_t waiter)
{
    struct line *line = &engine->lines[point];
    *link_of(engine, waiter) = NONE;
    if ((waiter & FEED) == 0)
        engine->vc_ports[waiter] = ANY_PORT;
    if (line->first == NONE)
        line->first = waiter;
    else
        *link_of(engine, line->last) = waiter;
    line->last = waiter;
    wake(engine, point);
}

/* `available` flits of a message wait at a point, maybe with more to come. */
static uint32_t feed_new(struct ic_wh_engine *engine, uint32_t message, uint32_t point,
                         uint32_t available)
{
    if (engine->unused_feed == NONE && !grow_feeds(engine)) {
        engine->is_short = true;
        return NONE;
    }
    uint32_t index = engine->unused_feed;
    struct feed *feed = &engine->feeds[index];
    engine->unused_feed = feed->link;
    *feed = (struct feed){.message = message, .available = available, .to = NONE};
    wait_at(engine, point, FEED | index);
    return index;
}

static void feed_free(struct ic_wh_engine *engine, uint32_t index)
{
    engine->feeds[index].link = engine->unused_feed;
    engine->unused_feed = index;
}

gmc_status ic_wh_engine_send(struct ic_wh_engine *engine, uint32_t from, uint32_t to)
{
    if (engine->unused_message == NONE && !grow_messages(engine))
        return GMC_ERR_NOMEM;
    uint32_t index = engine->unused_message;
    struct message *message = &engine->messages[index];
    uint32_t next = message->link;
    message->public = (struct ic_wh_message){
        .flow = {.from = from, .to = to, .draw = (uint32_t)gmc_prng_u64(&engine->prng)},
        .number = engine->sent,
        .created = engine->now};
    uint32_t point = engine->network->enter(engine->network->ctx, &message->public.flow);
    if (feed_new(engine, index, point, engine->options.flits) == NONE)
        return GMC_ERR_NOMEM;
    engine->unused_message = next;
    engine->sent++;
    engine->backlog++;
    engine->is_moving = true;
    return GMC_OK;
}

/* ---- heads take channels ---- */
static inline void set_ready(struct ic_wh_engine *engine, uint32_t vc)
{
    uint32_t channel = vc >> engine->shift;
    channel_at(engine, channel)->ready |= 1u << (vc - (channel << engine->shift));
    engine->active[channel / WORD] |= UINT64_C(1) << channel % WORD;
}

/* One of the candidates that has a free virtual channel, each as likely; NONE. */
static uint32_t choose(struct ic_wh_engine *engine, const uint32_t *candidates, uint32_t count)
{
    uint32_t free[IC_WH_CANDIDATES_MAX], free_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (engine->supplies[candidates[i] & ~IC_WH_LAST].free != 0)
            free[free_count++] = candidates[i];
    if (free_count < 2)
        return free_count == 0 ? NONE : free[0];
    return free[gmc_prng_below(&engine->prng, free_count)];
}

static void take(struct ic_wh_engine *engine, uint32_t waiter, uint32_t message, uint32_t chosen)
{
    uint32_t number = chosen & ~IC_WH_LAST;
    struct supply *supply = &engine->supplies[number];
    uint32_t lane = (uint32_t)__builtin_ctz(supply->free);
    uint32_t vc = (number << engine->shift) + lane;
    supply->free &= supply->free - 1;
    if (supply->free == 0 && supply->port < LAST_PORT)
        engine->open[supply->from] &= ~(UINT64_C(1) << supply->port);
    engine->vc_messages[vc] = message;
    *vc_at(engine, vc) = (struct vc){.before = waiter,
                                     .after = chosen & IC_WH_LAST ? OUT : UNKNOWN,
                                     .left = (uint16_t)engine->options.flits,
                                     .order = engine->taken++};
    engine->messages[message].public.hops++;
    if (waiter & FEED) {
        engine->feeds[waiter & ~FEED].to = vc;
    } else {
        GMC_ASSERT(number < waiter >> engine->shift);
        vc_at(engine, waiter)->after = vc;
    }
    set_ready(engine, vc);
}

static uint64_t ports_of(const struct ic_wh_engine *engine, const uint32_t *candidates,
                         uint32_t count)
{
    uint64_t ports = 0;
    for (uint32_t i = 0; i < count; i++)
        ports |= UINT64_C(1) << engine->supplies[candidates[i] & ~IC_WH_LAST].port;
    return ports;
}

static bool try(struct ic_wh_engine *engine, uint32_t point, uint32_t waiter)
{
    uint32_t candidates[IC_WH_CANDIDATES_MAX];
    const struct ic_wh_network *network = engine->network;
    uint32_t message =
        waiter & FEED ? engine->feeds[waiter & ~FEED].message : engine->vc_messages[waiter];
    uint32_t came = waiter & FEED ? NONE : waiter >> engine->shift;
    uint32_t count = network->route(network->ctx, point, came,
                                    &engine->messages[message].public.flow, candidates);
    uint32_t chosen = choose(engine, candidates, count);
    if (chosen == NONE) {
        if ((waiter & FEED) == 0)
            engine->vc_ports[waiter] = ports_of(engine, candidates, count);
        return false;
    }
    take(engine, waiter, message, chosen);
    return true;
}

/* No channel that it may take has a virtual channel: most that wait in a crowded router need not
 * ask for their ways again. */
static bool is_shut_out(const struct ic_wh_engine *engine, uint32_t point, uint32_t waiter)
{
    return (waiter & FEED) == 0 && (engine->vc_ports[waiter] & engine->open[point]) == 0;
}

/* All that wait at a router, in their order; at a queue up to the first that has to stay. */
static void serve(struct ic_wh_engine *engine, uint32_t point)
{
    struct line *line = &engine->lines[point];
    uint32_t before = NONE;
    for (uint32_t waiter = line->first; waiter != NONE;) {
        uint32_t next = *link_of(engine, waiter);
        if (is_shut_out(engine, point, waiter) || !try(engine, point, waiter)) {
            if (point < engine->network->queues)
                return;
            before = waiter;
        } else {
            if (before == NONE)
                line->first = next;
            else
                *link_of(engine, before) = next;
            if (next == NONE)
                line->last = before;
        }
        waiter = next;
    }
}

static void serve_woken(struct ic_wh_engine *engine)
{
    for (uint32_t word = 0; word < engine->woken_words; word++) {
        uint64_t bits = engine->woken[word];
        engine->woken[word] = 0;
        for (; bits != 0; bits &= bits - 1)
            serve(engine, word * WORD + (uint32_t)__builtin_ctzll(bits));
    }
}

/* ---- flits move ---- */
static void free_vc(struct ic_wh_engine *engine, uint32_t vc)
{
    struct supply *supply = &engine->supplies[vc >> engine->shift];
    supply->free |= 1u << (vc & ((1u << engine->shift) - 1));
    engine->open[supply->from] |= UINT64_C(1) << supply->port;
    wake(engine, supply->from);
}

static void release(struct ic_wh_engine *engine, uint32_t vc)
{
    if (engine->options.release_delay == 0)
        free_vc(engine, vc);
    else
        ring_put(&engine->releases, engine->now + 1 + engine->options.release_delay, vc);
}

static bool has_flit(const struct ic_wh_engine *engine, uint32_t before)
{
    return before & FEED ? engine->feeds[before & ~FEED].available > 0
                         : vc_at(engine, before)->held > 0;
}

static bool has_room(const struct ic_wh_engine *engine, const struct vc *vc)
{
    return vc->held < engine->options.depth;
}

/* A flit leaves the buffer of a virtual channel. */
static inline void leave_buffer(struct ic_wh_engine *engine, uint32_t index)
{
    struct vc *vc = vc_at(engine, index);
    vc->held--;
    if (vc->left > 0) {
        if (has_flit(engine, vc->before))
            set_ready(engine, index);
    } else if (vc->held == 0) {
        release(engine, index);
    }
}

static void leave_feed(struct ic_wh_engine *engine, const struct vc *vc)
{
    uint32_t index = vc->before & ~FEED;
    struct feed *feed = &engine->feeds[index];
    feed->available--;
    if (vc->left == engine->options.flits - 1) {
        struct ic_wh_message *message = &engine->messages[feed->message].public;
        if (message->flow.stage == 0)
            message->entered = engine->now;
    }
    if (vc->left == 0)
        feed_free(engine, index);
}

/* The head is in its buffer and needs a channel. */
static void head_came(struct ic_wh_engine *engine, uint32_t index)
{
    if (engine->options.hop_delay == 0)
        wait_at(engine, engine->network->to[index >> engine->shift], index);
    else
        ring_put(&engine->heads, engine->now + 1 + engine->options.hop_delay, index);
}

static void deliver(struct ic_wh_engine *engine, uint32_t index)
{
    struct message *message = &engine->messages[index];
    message->public.delivered = engine->now + 1;
    message->link = engine->delivered;
    engine->delivered = index;
    engine->backlog--;
}

/* A flit leaves the network, or this part of it. */
static void leave_network(struct ic_wh_engine *engine, struct vc *vc, uint32_t index)
{
    if (vc->left == engine->options.flits - 1) {
        uint32_t message = engine->vc_messages[index];
        struct ic_wh_flow *flow = &engine->messages[message].public.flow;
        flow->stage++;
        uint32_t point = engine->network->enter(engine->network->ctx, flow);
        if (point != NONE) {
            uint32_t feed = feed_new(engine, message, point, 0);
            if (feed == NONE)
                return;
            vc->after = FEED | feed;
        }
    }
    if (vc->after != OUT) {
        struct feed *feed = &engine->feeds[vc->after & ~FEED];
        feed->available++;
        if (feed->to != NONE && has_room(engine, vc_at(engine, feed->to)))
            set_ready(engine, feed->to);
    } else if (vc->left == 0) {
        deliver(engine, engine->vc_messages[index]);
    }
    if (vc->left == 0)
        release(engine, index);
}

static inline void enter_buffer(struct ic_wh_engine *engine, struct vc *vc, uint32_t index)
{
    vc->held++;
    if (vc->after != UNKNOWN) {
        if (has_room(engine, vc_at(engine, vc->after)))
            set_ready(engine, vc->after);
    } else if (vc->left == engine->options.flits - 1) {
        head_came(engine, index);
    }
}

static uint32_t first_taken(const struct vc *vcs, uint32_t ready)
{
    uint32_t first = (uint32_t)__builtin_ctz(ready);
    for (ready &= ready - 1; ready != 0; ready &= ready - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(ready);
        if ((int32_t)(vcs[lane].order - vcs[first].order) < 0)
            first = lane;
    }
    return first;
}

/* Which of the ready virtual channels has the channel in this cycle. */
static inline uint32_t arbitrate(const struct channel *channel)
{
    if (channel->is_in_order)
        return first_taken(channel->vcs, channel->ready);
    uint32_t later = channel->ready & (uint32_t)(UINT64_MAX << (channel->last + 1));
    return (uint32_t)__builtin_ctz(later != 0 ? later : channel->ready);
}

/* One flit crosses a channel that has a ready virtual channel. */
static inline void move(struct ic_wh_engine *engine, uint32_t number)
{
    struct channel *channel = channel_at(engine, number);
    uint32_t lane = arbitrate(channel);
    uint32_t index = (number << engine->shift) + lane;
    struct vc *vc = &channel->vcs[lane];
    channel->last = (uint8_t)lane;
    channel->carried++;
    vc->left--;
    if (vc->before & FEED)
        leave_feed(engine, vc);
    else
        leave_buffer(engine, vc->before);
    if (vc->after & FEED)
        leave_network(engine, vc, index);
    else
        enter_buffer(engine, vc, index);
    if (vc->left == 0 || !has_room(engine, vc) || !has_flit(engine, vc->before))
        channel->ready &= ~(1u << lane);
    if (channel->ready == 0)
        engine->active[number / WORD] &= ~(UINT64_C(1) << number % WORD);
}

static bool move_all(struct ic_wh_engine *engine)
{
    bool has_moved = false;
    for (uint32_t word = 0; word < engine->active_words; word++) {
        uint64_t bits = engine->active[word];
        has_moved |= bits != 0;
        while (bits != 0) {
            uint32_t bit = (uint32_t)__builtin_ctzll(bits);
            move(engine, word * WORD + bit);
            /* What got room by this move may be later in the same word. */
            bits = engine->active[word] & (bit == WORD - 1 ? 0 : UINT64_MAX << (bit + 1));
        }
    }
    return has_moved;
}

static void take_back_delivered(struct ic_wh_engine *engine)
{
    struct ic_wh_message message;
    while (ic_wh_engine_next(engine, &message))
        ;
}

gmc_status ic_wh_engine_step(struct ic_wh_engine *engine)
{
    uint32_t vc;
    take_back_delivered(engine);
    while (ring_take(&engine->releases, engine->now, &vc))
        free_vc(engine, vc);
    while (ring_take(&engine->heads, engine->now, &vc))
        wait_at(engine, engine->network->to[vc >> engine->shift], vc);
    serve_woken(engine);
    engine->is_moving = move_all(engine) || engine->releases.count > 0 || engine->heads.count > 0;
    engine->now++;
    return engine->is_short ? GMC_ERR_NOMEM : GMC_OK;
}

bool ic_wh_engine_next(struct ic_wh_engine *engine, struct ic_wh_message *message)
{
    uint32_t index = engine->delivered;
    if (index == NONE)
        return false;
    engine->delivered = engine->messages[index].link;
    engine->messages[index].link = engine->unused_message;
    engine->unused_message = index;
    *message = engine->messages[index].public;
    return true;
}

/* ---- what it says ---- */
uint64_t ic_wh_engine_now(const struct ic_wh_engine *engine)
{
    return engine->now;
}

bool ic_wh_engine_is_idle(const struct ic_wh_engine *engine)
{
    return !engine->is_moving;
}

void ic_wh_engine_skip(struct ic_wh_engine *engine, uint64_t now)
{
    GMC_ASSERT(now >= engine->now && !engine->is_moving);
    engine->now = now;
}

uint64_t ic_wh_engine_backlog(const struct ic_wh_engine *engine)
{
    return engine->backlog;
}

uint64_t ic_wh_engine_carried(const struct ic_wh_engine *engine, uint32_t channel)
{
    return channel_at(engine, channel)->carried;
}

void ic_wh_engine_clear_carried(struct ic_wh_engine *engine)
{
    for (uint32_t c = 0; c < engine->network->channels; c++)
        channel_at(engine, c)->carried = 0;
}
