/* SPDX-License-Identifier: BSD-2-Clause */
/* The nodes of this domain all at once: each window of blocks that is here goes out once by
 * multicast, and again in parts, until every node that the group counts on has stored it. Nodes
 * stay children as they are; over its link a node gets what the group has behind it: windows from
 * before it listened, and those that were not waited for on its account. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

#define PACKET_BYTES 1500u        /* of the pace */
#define GATHER_WAIT GMC_MS(500)   /* for the nodes, before the first window */
#define HEAR_WAIT GMC_MS(300)     /* for the first word from a node that was asked to listen */
#define HEARD_LATE GMC_S(2)       /* then it is said that it does not hear */
#define TELL_WAIT GMC_MS(2)       /* between two words to the group, unless nothing else is sent */
#define TELL_AGAIN GMC_MS(20)     /* while something is open */
#define PATIENCE_FULL GMC_MS(100) /* with a window that holds others up */
#define PATIENCE GMC_MS(500)      /* with any */
#define LATE_MAX 8u               /* windows in a row that a node was not waited for */
#define BACKOFF_RTTS 4u           /* RFC 5401: K */
#define BACKOFF_MIN GMC_MS(1)
#define BACKOFF_MAX GMC_MS(100)
#define SHARE_PERCENT 3u /* of the rate, for all nodes that are behind together */
#define LOSS_SHIFT 3     /* of the smoothing: an eighth of each report */
#define LOSS_SAMPLE 500u /* datagrams that a report of loss has at least */
#define APART_PPM 40000u /* of the rate, that the others may lose by the worst one */
#define PPM 1000000u

enum gwlisten {
    GW_ASKED, /* it was told of the group, and has not heard it yet */
    GW_HEARS,
    GW_DEAF /* it does not hear, or has left */
};

struct gwlistener {
    struct gwpeer *peer;
    enum gwlisten state;
    bool lags; /* it loses so much more than others that the group does not wait for it */
    bool deaf_said;
    uint64_t first_turn; /* windows that were opened before are not for it */
    gmc_time asked_at;
    uint64_t received, expected; /* as last reported */
    uint32_t loss_ppm;
    bool loss_known;
    uint32_t late;
    uint64_t room; /* blocks that it can hold unverified */
};

/* A window that is being prepared or sent. */
struct gwwindow {
    struct gmc_list node; /* of the group's prepared ones, or spares */
    struct gmc_group_out out;
    struct gmc_group_shape shape;
    struct gmc_block *blocks[GMC_GROUP_BLOCKS_MAX]; /* sealed and pinned; NULL: not yet */
    const uint8_t *shards[GMC_GROUP_SOURCES_MAX];
    const uint8_t *tags[GMC_GROUP_SOURCES_MAX];
    uint64_t has[GW_LISTENERS_MAX / 64]; /* listeners that have all of it */
    uint8_t *pads; /* short fragments, filled up with zeros: one for each block */
};

struct gwgroup {
    struct gmc_list node;
    struct gwchannel *channel;
    uint32_t number;
    uint8_t key[GMC_KEY_BYTES];
    struct gmc_gate gate;
    uint64_t next_packet;
    struct gmc_group_tx tx;
    struct gmc_list prepared; /* gwwindow.node */
    uint32_t prepared_count;
    struct gmc_list spares;
    struct gmc_interval_set begun;   /* windows that were prepared */
    struct gmc_interval_set retired; /* windows that are over */
    uint64_t windows;
    struct gwlistener *listeners;
    size_t count;
    gmc_time gather_until;
    gmc_time told_at; /* the last word to the group */
    gmc_duration backoff;
};

static struct gwwindow *window_of(struct gmc_group_out *out)
{
    return GMC_CONTAINER_OF(out, struct gwwindow, out);
}

void gw_groups_init(struct gmc_gateway *gw)
{
    gmc_list_init(&gw->groups);
    gw->group_pace.held_since = GMC_TIME_NEVER;
}

static bool is_possible(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    return gw->group_address_len > 0 && gw->config.fec.ops != NULL && !gw->config.virtual_bodies &&
           !ch->group_over && ch->dst->node_count > 1;
}

void gmc_gateway_set_group(struct gmc_gateway *gw, gmc_time now, struct gmc_bytes address,
                           uint64_t rate_bps)
{
    gw_begin_input(gw, now);
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &gw->groups)
    {
        gw_group_free(gw, GMC_CONTAINER_OF(node, struct gwgroup, node)->channel);
    }
    bool usable = address.len <= GMC_GROUP_ADDRESS_MAX && rate_bps > 0;
    gw->group_address_len = usable ? address.len : 0;
    if (gw->group_address_len == 0)
        return;
    memcpy(gw->group_address, address.data, address.len);
    gmc_pace_set(&gw->group_pace, rate_bps, PACKET_BYTES);
}

/* ---- keys ---- */
static gmc_status new_key(struct gmc_gateway *gw, struct gwgroup *group)
{
    const struct gmc_crypto *crypto = gw->config.crypto;
    struct gmc_session session = {.remote_id = (uint32_t)gw_random64(gw)};
    crypto->ops->random(crypto->ctx, group->key, GMC_KEY_BYTES);
    memcpy(session.send_secret, group->key, GMC_KEY_BYTES);
    /* Nobody sends to the gateway by multicast. */
    crypto->ops->random(crypto->ctx, session.recv_secret, GMC_KEY_BYTES);
    if (group->channel->group != NULL)
        gmc_gate_fini(&group->gate);
    group->number = session.remote_id;
    group->next_packet = 0;
    return gmc_gate_init(&group->gate, crypto, &session);
}

static void tell_node(struct gmc_gateway *gw, const struct gwgroup *group, struct gwpeer *peer,
                      bool is_over)
{
    struct gmc_msg msg = gw_about(group->channel, GMC_MSG_GROUP);
    msg.epoch = group->channel->epoch;
    msg.group = group->number;
    msg.secret = group->key;
    msg.next = group->next_packet;
    if (!is_over)
        msg.payload = gmc_bytes(gw->group_address, gw->group_address_len);
    gw_send(gw, peer, &msg);
}

/* ---- the group's life ---- */
static struct gwgroup *group_new(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwgroup *group = calloc(1, sizeof(*group));
    if (group == NULL)
        return NULL;
    group->channel = ch;
    if (new_key(gw, group) != GMC_OK) {
        free(group);
        return NULL;
    }
    uint32_t blocks = gmc_group_blocks(&ch->object);
    gmc_group_tx_init(&group->tx);
    gmc_list_init(&group->node);
    gmc_list_init(&group->prepared);
    gmc_list_init(&group->spares);
    gmc_interval_init(&group->begun, GW_HAVE_RANGES_MAX);
    gmc_interval_init(&group->retired, GW_HAVE_RANGES_MAX);
    group->windows = (ch->blocks + blocks - 1) / blocks;
    group->gather_until = gmc_time_add(gw->now, GATHER_WAIT);
    group->backoff = BACKOFF_MIN;
    gmc_list_push_back(&gw->groups, &group->node);
    ch->group = group;
    return group;
}

static void unpin(struct gmc_gateway *gw, struct gwwindow *window)
{
    for (uint32_t i = 0; i < window->shape.blocks; i++)
        if (window->blocks[i] != NULL)
            gmc_block_unpin(gw->cache, window->blocks[i]);
}

static void windows_free(struct gmc_list *list)
{
    struct gmc_list *node;
    while ((node = gmc_list_pop_front(list)) != NULL) {
        struct gwwindow *window = GMC_CONTAINER_OF(node, struct gwwindow, node);
        free(window->pads);
        free(window);
    }
}

void gw_group_free(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwgroup *group = ch->group;
    if (group == NULL)
        return;
    struct gmc_list *node;
    while ((node = gmc_list_pop_front(&group->tx.open)) != NULL) {
        struct gwwindow *window = window_of(GMC_CONTAINER_OF(node, struct gmc_group_out, node));
        gmc_list_push_back(&group->prepared, &window->node);
    }
    GMC_LIST_FOREACH(node, &group->prepared)
    {
        unpin(gw, GMC_CONTAINER_OF(node, struct gwwindow, node));
    }
    windows_free(&group->prepared);
    windows_free(&group->spares);
    for (size_t i = 0; i < group->count; i++)
        if (group->listeners[i].peer->up)
            tell_node(gw, group, group->listeners[i].peer, true);
    gmc_list_remove(&group->node);
    gmc_gate_fini(&group->gate);
    gmc_interval_fini(&group->begun);
    gmc_interval_fini(&group->retired);
    free(group->listeners);
    free(group);
    ch->group = NULL;
    gw_children_touch(gw, ch);
}

/* ---- listeners ---- */
static struct gwlistener *listener_of(const struct gwgroup *group, const struct gwpeer *peer)
{
    for (size_t i = 0; group != NULL && i < group->count; i++)
        if (group->listeners[i].peer == peer)
            return &group->listeners[i];
    return NULL;
}

static bool counts(const struct gwlistener *listener)
{
    return listener->state == GW_HEARS && !listener->lags;
}

static size_t hearing(const struct gwgroup *group)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++)
        count += group->listeners[i].state == GW_HEARS;
    return count;
}

static bool is_busy(const struct gwgroup *group)
{
    return hearing(group) > 0 && !gmc_interval_contains_range(&group->retired, 0, group->windows);
}

static bool has(const struct gwwindow *window, size_t i)
{
    return (window->has[i / 64] >> i % 64 & 1) != 0;
}

static void retire(struct gmc_gateway *gw, struct gwgroup *group, struct gwwindow *window)
{
    uint32_t number = window->out.window;
    gmc_group_tx_close(&group->tx, &window->out);
    unpin(gw, window);
    gmc_list_push_back(&group->spares, &window->node);
    if (gmc_interval_add(&group->retired, number, (uint64_t)number + 1) != GMC_OK)
        group->channel->group_over = true; /* with the next step */
    gw_children_touch(gw, group->channel);
}

/* Has everybody whom the group counts on all of it? */
static bool is_settled(const struct gwgroup *group, const struct gwwindow *window)
{
    for (size_t i = 0; i < group->count; i++)
        if (counts(&group->listeners[i]) && group->listeners[i].first_turn <= window->out.turn &&
            !has(window, i))
            return false;
    return true;
}

/* Whom the group counts on has changed. */
static void look_again(struct gmc_gateway *gw, struct gwgroup *group)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &group->tx.open)
    {
        struct gwwindow *window = window_of(GMC_CONTAINER_OF(node, struct gmc_group_out, node));
        if (is_settled(group, window))
            retire(gw, group, window);
    }
}

static struct gwlistener *listener_add(struct gwgroup *group, struct gwpeer *peer)
{
    if (group->count == GW_LISTENERS_MAX)
        return NULL;
    struct gwlistener *grown = realloc(group->listeners, sizeof(*grown) * (group->count + 1));
    if (grown == NULL)
        return NULL;
    group->listeners = grown;
    grown[group->count] = (struct gwlistener){.peer = peer};
    return &grown[group->count++];
}

static void take_room(struct gwchannel *ch, struct gwlistener *listener)
{
    const struct gwchild *child = gw_child_find(ch, listener->peer, 0);
    if (child != NULL)
        listener->room = (uint64_t)child->tx.window * ch->stripe_count;
}

void gw_group_attached(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *peer)
{
    if (!is_possible(gw, ch))
        return;
    struct gwgroup *group = ch->group != NULL ? ch->group : group_new(gw, ch);
    struct gwlistener *listener = listener_of(group, peer);
    if (listener == NULL && group != NULL)
        listener = listener_add(group, peer);
    if (listener == NULL || listener->state == GW_HEARS)
        return; /* without memory: by unicast */
    take_room(ch, listener);
    listener->state = GW_ASKED;
    listener->deaf_said = false;
    listener->asked_at = gw->now;
    tell_node(gw, group, peer, false);
}

void gw_group_left(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwpeer *peer,
                   bool is_no_node)
{
    struct gwgroup *group = ch->group;
    struct gwlistener *listener = listener_of(group, peer);
    if (listener == NULL)
        return;
    listener->state = GW_DEAF;
    listener->deaf_said = true;
    listener->received = listener->expected = 0;
    look_again(gw, group);
    if (!is_no_node)
        return;
    /* It knows the key: the others go on with another. */
    if (new_key(gw, group) != GMC_OK) {
        ch->group_over = true;
        return;
    }
    for (size_t i = 0; i < group->count; i++)
        if (group->listeners[i].state != GW_DEAF)
            tell_node(gw, group, group->listeners[i].peer, false);
}

static bool has_blocks(struct gwchannel *ch, const struct gwpeer *peer,
                       const struct gmc_group_shape *shape)
{
    for (uint32_t i = 0; i < shape->blocks; i++) {
        uint32_t number = shape->first + i;
        const struct gwchild *child =
            gw_child_find(ch, peer, gmc_stripe_of(ch->stripe_count, number));
        uint32_t index = child != NULL ? gw_child_index(child, number) : 0;
        if (child == NULL || gmc_tx_is_open(&child->tx, index) ||
            !gmc_interval_contains(&child->tx.taken, index))
            return false;
    }
    return true;
}

void gw_group_had(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwpeer *peer)
{
    struct gwgroup *group = ch->group;
    struct gwlistener *listener = listener_of(group, peer);
    if (listener == NULL)
        return;
    take_room(ch, listener);
    size_t i = (size_t)(listener - group->listeners);
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &group->tx.open)
    {
        struct gwwindow *window = window_of(GMC_CONTAINER_OF(node, struct gmc_group_out, node));
        if (has(window, i) || !has_blocks(ch, peer, &window->shape))
            continue;
        window->has[i / 64] |= UINT64_C(1) << i % 64;
        listener->late = 0;
        if (is_settled(group, window))
            retire(gw, group, window);
    }
}

/* ---- loss ---- */
/* The rate that whoever loses so much leaves to all. */
static uint32_t kept_ppm(uint32_t loss_ppm)
{
    return PPM - loss_ppm;
}

/* One that loses far more than those behind it is not waited for. Each of the worst ones in turn,
 * as long as most remain. */
static void judge(struct gmc_gateway *gw, struct gwgroup *group)
{
    size_t known = 0, left = 0;
    for (size_t i = 0; i < group->count; i++)
        known += group->listeners[i].state == GW_HEARS && group->listeners[i].loss_known;
    bool changed = false;
    uint32_t above = PPM;
    for (size_t place = 0; place < known / 4 + (known > 1 && known < 4); place++) {
        uint32_t worst = 0, next = 0;
        struct gwlistener *at = NULL;
        for (size_t i = 0; i < group->count; i++) {
            struct gwlistener *listener = &group->listeners[i];
            if (listener->state != GW_HEARS || !listener->loss_known || listener->loss_ppm >= above)
                continue;
            if (at == NULL || listener->loss_ppm > worst) {
                next = worst;
                worst = listener->loss_ppm;
                at = listener;
            } else if (listener->loss_ppm > next) {
                next = listener->loss_ppm;
            }
        }
        if (at == NULL || kept_ppm(next) - kept_ppm(worst) < APART_PPM)
            break;
        left = place + 1;
        above = worst;
    }
    for (size_t i = 0; i < group->count; i++) {
        struct gwlistener *listener = &group->listeners[i];
        bool lags = left > 0 && listener->loss_known && listener->loss_ppm >= above;
        if (listener->state != GW_HEARS || listener->late >= LATE_MAX || listener->lags == lags)
            continue;
        listener->lags = lags;
        changed = true;
        gw_event(gw, GMC_EVENT_LINK, NULL, listener->peer->number, GMC_OK,
                 lags ? "node %s loses %u %% of the group: the others do not wait for it"
                      : "node %s is waited for again, it loses %u %%",
                 listener->peer->name, listener->loss_ppm / 10000);
    }
    if (!changed)
        return;
    group->tx.expected_q4 = 0; /* it was the worst one's */
    look_again(gw, group);
}

static void take_loss(struct gmc_gateway *gw, struct gwgroup *group, struct gwlistener *listener,
                      const struct gmc_msg *msg)
{
    if (msg->expected < listener->expected || msg->received < listener->received) {
        listener->expected = msg->expected; /* it began anew */
        listener->received = msg->received;
        return;
    }
    uint64_t expected = msg->expected - listener->expected;
    uint64_t received = msg->received - listener->received;
    if (expected < LOSS_SAMPLE)
        return;
    uint32_t loss = received < expected ? (uint32_t)((expected - received) * PPM / expected) : 0;
    if (!listener->loss_known)
        listener->loss_ppm = loss;
    else
        listener->loss_ppm =
            (uint32_t)((int64_t)listener->loss_ppm +
                       ((int64_t)loss - (int64_t)listener->loss_ppm) / (1 << LOSS_SHIFT));
    listener->loss_known = true;
    listener->expected = msg->expected;
    listener->received = msg->received;
    judge(gw, group);
}

static bool next_window(const struct gwgroup *group, uint64_t *window);

/* ---- what nodes say ---- */
static void end_group(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                      const char *reason)
{
    ch->group_over = true;
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, status,
             "%s; the nodes are served by unicast from here on", reason);
    gw_group_free(gw, ch);
}

static void leaves(struct gmc_gateway *gw, struct gwchannel *ch, struct gwlistener *listener,
                   const struct gmc_msg *msg)
{
    if (msg->status == GMC_ERR_MISMATCH) {
        char text[GMC_REASON_BYTES_MAX];
        gw->counts.group_forged++;
        gw_text(text, sizeof(text), "somebody forges in the group of this domain: node %s found %s",
                listener->peer->name, msg->text);
        end_group(gw, ch, GMC_ERR_MISMATCH, text);
        return;
    }
    listener->state = GW_DEAF;
    listener->deaf_said = true;
    gw_event(gw, GMC_EVENT_LINK, NULL, listener->peer->number, msg->status,
             "node %s left the group: %s; it is served by unicast", listener->peer->name,
             msg->text);
    look_again(gw, ch->group);
    gw_children_touch(gw, ch);
}

/* Who listens from the middle on can store nothing without the page that came before. */
static void give_page(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *peer)
{
    uint64_t window;
    if (!next_window(ch->group, &window))
        return;
    uint64_t first = window * gmc_group_blocks(&ch->object);
    uint32_t page = gmc_block_of_page(gmc_block_page((uint32_t)first));
    struct gwchild *child = gw_child_find(ch, peer, gmc_stripe_of(ch->stripe_count, page));
    if (child != NULL && page < first)
        gw_child_hurry(gw, child, page);
}

void gw_group_report(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                     const struct gmc_msg *msg)
{
    struct gwgroup *group = ch->group;
    struct gwlistener *listener = listener_of(group, peer);
    if (listener == NULL || msg->group != group->number)
        return; /* of a group that is over, or under the key before */
    if (msg->status != GMC_OK) {
        leaves(gw, ch, listener, msg);
        return;
    }
    if (listener->state != GW_HEARS) {
        listener->state = GW_HEARS;
        listener->first_turn = group->tx.turns;
        listener->late = 0;
        give_page(gw, ch, peer);
        gw_children_touch(gw, ch);
    }
    take_loss(gw, group, listener, msg);
    for (size_t i = 0; i < msg->need_count && counts(listener); i++) {
        const struct gmc_msg_need *need = &msg->needs[i];
        struct gmc_group_out *out = gmc_group_tx_find(&group->tx, need->window);
        if (out != NULL && out->turn >= listener->first_turn)
            gmc_group_tx_need(out, need->seen, need->need, need->missing);
    }
}

/* ---- windows ---- */
static uint64_t end_of(const struct gwchannel *ch, uint64_t window)
{
    uint64_t end = (window + 1) * gmc_group_blocks(&ch->object);
    return end < ch->blocks ? end : ch->blocks;
}

/* The next window that nobody was sent and all of which is here. */
static bool next_window(const struct gwgroup *group, uint64_t *window)
{
    struct gwchannel *ch = group->channel;
    const struct gmc_interval_set *stored = &ch->dst->have.stored;
    uint32_t blocks = gmc_group_blocks(&ch->object);
    uint64_t from = 0, at;
    while (gmc_interval_first_missing(&group->begun, from, group->windows, window)) {
        uint64_t first = *window * blocks, end = end_of(ch, *window);
        if (!gmc_interval_first_missing(stored, first, end, &at))
            return true;
        if (!gmc_interval_first_present(stored, at, ch->blocks, &at))
            return false;
        from = at / blocks > *window ? at / blocks : *window + 1;
    }
    return false;
}

static uint32_t most_blocks(const struct gmc_gateway *gw, const struct gwgroup *group)
{
    /* As many as each node has room for, and a quarter of the cache. */
    uint64_t most = gmc_cache_bodies(gw->cache) / 4;
    for (size_t i = 0; i < group->count; i++) {
        const struct gwlistener *listener = &group->listeners[i];
        if (counts(listener) && listener->room < most)
            most = listener->room;
    }
    return (uint32_t)most;
}

static bool is_full(const struct gmc_gateway *gw, const struct gwgroup *group)
{
    uint32_t blocks = gmc_group_blocks(&group->channel->object);
    return group->tx.count >= GW_GROUP_OPEN_MAX ||
           (group->tx.count + 1) * blocks > most_blocks(gw, group);
}

static struct gwwindow *window_new(struct gwgroup *group)
{
    struct gmc_list *node = gmc_list_pop_front(&group->spares);
    if (node != NULL)
        return GMC_CONTAINER_OF(node, struct gwwindow, node);
    struct gwwindow *window = calloc(1, sizeof(*window));
    if (window == NULL)
        return NULL;
    window->pads = malloc((size_t)GMC_GROUP_BLOCKS_MAX * group->channel->object.fragment_bytes);
    if (window->pads == NULL) {
        free(window);
        return NULL;
    }
    gmc_list_init(&window->node);
    return window;
}

static void begin_window(struct gwgroup *group, uint64_t number)
{
    struct gwwindow *window = window_new(group);
    if (window == NULL)
        return;
    if (gmc_interval_add(&group->begun, number, number + 1) != GMC_OK) {
        gmc_list_push_back(&group->spares, &window->node);
        return;
    }
    gmc_group_shape(&group->channel->object, (uint32_t)number, &window->shape);
    window->out.window = (uint32_t)number;
    memset(window->blocks, 0, sizeof(window->blocks));
    memset(window->has, 0, sizeof(window->has));
    gmc_list_push_back(&group->prepared, &window->node);
    group->prepared_count++;
}

static void set_shards(const struct gwgroup *group, struct gwwindow *window, uint32_t i)
{
    const struct gmc_object *object = &group->channel->object;
    const struct gmc_block *block = window->blocks[i];
    for (uint32_t f = 0; f < block->fragments; f++) {
        uint32_t source = window->shape.source_of[i] + f;
        const uint8_t *bytes = block->cipher + (size_t)f * object->fragment_bytes;
        uint32_t len = gmc_fragment_len(object, block->len, f);
        if (len < window->shape.shard_bytes) {
            uint8_t *pad = window->pads + (size_t)i * object->fragment_bytes;
            memcpy(pad, bytes, len);
            memset(pad + len, 0, window->shape.shard_bytes - len);
            bytes = pad;
        }
        window->shards[source] = bytes;
        window->tags[source] = block->tags[f];
    }
}

/* Is a block here and sealed? Else it is read, if that has not begun. */
static bool prepare_block(struct gmc_gateway *gw, struct gwgroup *group, struct gwwindow *window,
                          uint32_t i)
{
    struct gwchannel *ch = group->channel;
    uint32_t number = window->shape.first + i;
    struct gmc_block *block = gmc_cache_find(gw->cache, ch->slot, number);
    if (block == NULL) {
        gw_block_read(gw, ch, number, false);
        return false;
    }
    if (block->state != GMC_BLOCK_VERIFIED)
        return false;
    if (gw_block_seal(gw, ch, block) != GMC_OK) {
        /* Sealed in part, and the plain bytes gone: once more from the store. */
        if (block->pins == 0) {
            gmc_block_pin(gw->cache, block);
            gmc_cache_remove(gw->cache, block);
        }
        return false;
    }
    gmc_block_pin(gw->cache, block);
    window->blocks[i] = block;
    set_shards(group, window, i);
    return true;
}

static bool prepare(struct gmc_gateway *gw, struct gwgroup *group, struct gwwindow *window)
{
    bool ready = true;
    for (uint32_t i = 0; i < window->shape.blocks; i++)
        if (window->blocks[i] == NULL)
            ready = prepare_block(gw, group, window, i) && ready;
    return ready;
}

static void open_ready(struct gmc_gateway *gw, struct gwgroup *group)
{
    uint64_t number;
    while (group->prepared_count < GW_GROUP_PREPARED_MAX && next_window(group, &number)) {
        uint32_t before = group->prepared_count;
        begin_window(group, number);
        if (group->prepared_count == before)
            break; /* no memory now */
    }
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &group->prepared)
    {
        struct gwwindow *window = GMC_CONTAINER_OF(node, struct gwwindow, node);
        if (!prepare(gw, group, window))
            continue;
        gmc_list_remove(node);
        group->prepared_count--;
        gmc_group_tx_open(&group->tx, &window->out, gw->now, window->out.window,
                          window->shape.sources);
        return;
    }
}

/* Has everybody answered who is expected to? */
static bool is_gathered(const struct gmc_gateway *gw, const struct gwgroup *group)
{
    const struct gwtarget *dst = group->channel->dst;
    if (hearing(group) == 0)
        return false;
    if (gw->now >= group->gather_until || group->tx.turns > 0)
        return true;
    for (size_t i = 0; i < dst->node_count; i++) {
        const struct gwlistener *listener = listener_of(group, dst->nodes[i].peer);
        if (dst->nodes[i].peer->up && (listener == NULL || listener->state == GW_ASKED))
            return false;
    }
    return true;
}

/* ---- what goes over links ---- */
bool gw_group_leaves(const struct gmc_gateway *gw, const struct gwchild *child, uint64_t number,
                     uint64_t *free_number)
{
    const struct gwgroup *group = child->channel->group;
    const struct gwlistener *listener = listener_of(group, child->peer);
    *free_number = number;
    if (listener == NULL || listener->state == GW_DEAF)
        return true;
    if (listener->state == GW_ASKED)
        return gw->now >= gmc_time_add(listener->asked_at, HEAR_WAIT);
    uint32_t blocks = gmc_group_blocks(&child->channel->object);
    uint64_t window = number / blocks, at;
    bool any = gmc_interval_first_present(&group->retired, window, group->windows, &at);
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &group->tx.open)
    {
        const struct gmc_group_out *out = GMC_CONTAINER_OF(node, struct gmc_group_out, node);
        if (out->turn >= listener->first_turn)
            break;
        if (out->window >= window && (!any || out->window < at)) {
            at = out->window;
            any = true;
        }
    }
    if (any && at > window)
        *free_number = at * blocks;
    return any;
}

uint64_t gw_group_share(const struct gmc_gateway *gw, const struct gwchild *child)
{
    const struct gwgroup *group = child->channel->group;
    if (group == NULL || !child->peer->is_node || !is_busy(group))
        return 0;
    uint64_t behind = 0;
    for (size_t i = 0; i < group->count; i++)
        behind += !counts(&group->listeners[i]);
    uint64_t share = gw->group_pace.rate_bps * SHARE_PERCENT / 100;
    return behind > 1 ? share / behind : share;
}

void gw_group_pay(struct gmc_gateway *gw, size_t udp_payload)
{
    if (!gmc_list_is_empty(&gw->groups))
        gmc_pace_pay(&gw->group_pace, gw->now, udp_payload + GMC_LINK_WIRE_BYTES);
}

/* ---- sending ---- */
static struct gmc_dgram_out *begin_dgram(struct gmc_output *out)
{
    memset(&out->u.dgram, 0, sizeof(out->u.dgram));
    out->kind = GMC_OUT_DATAGRAM;
    out->peer = GMC_PEER_NONE;
    out->u.dgram.path = GMC_PATH_GROUP;
    out->u.dgram.peer = GMC_PEER_NONE;
    return &out->u.dgram;
}

static bool send_source(struct gmc_gateway *gw, struct gwgroup *group,
                        const struct gmc_group_pick *pick, struct gmc_dgram_out *out)
{
    struct gwchannel *ch = group->channel;
    struct gwwindow *window = window_of(pick->out);
    struct gmc_data_head head = {0};
    if (!gw_has_room(gw, GMC_LINK_PACKET_MAX))
        return false;
    gmc_group_source(&window->shape, pick->index, &head.block, &head.fragment);
    struct gmc_block *block = window->blocks[head.block - window->shape.first];
    uint32_t len = gmc_fragment_len(&ch->object, block->len, head.fragment);
    if (gmc_gate_head(&group->gate, GMC_KIND_GROUP_DATA, group->next_packet, &head,
                      block->tags[head.fragment], out->head) != GMC_OK)
        return false;
    out->head_len = GMC_DATA_HEAD_BYTES;
    out->body = gmc_bytes(block->cipher + (size_t)head.fragment * ch->object.fragment_bytes, len);
    out->tail = gmc_bytes(block->tags[head.fragment], GMC_SEAL_TAG_BYTES);
    gw_lend(gw, block);
    gw->counts.data_bytes_out += len;
    return true;
}

static bool send_parity(struct gmc_gateway *gw, struct gwgroup *group,
                        const struct gmc_group_pick *pick, struct gmc_dgram_out *out)
{
    const struct gmc_fec *fec = &gw->config.fec;
    struct gwwindow *window = window_of(pick->out);
    uint32_t shard = window->shape.shard_bytes;
    size_t len = GMC_DATA_OVERHEAD_BYTES + shard;
    struct gmc_data_head head = {.block = window->out.window, .fragment = (uint16_t)pick->index};
    if (!gw_has_room(gw, len > GMC_LINK_PACKET_MAX ? len : GMC_LINK_PACKET_MAX))
        return false;
    uint8_t *buffer = gw->arena + gw->arena_used;
    uint8_t *parity = buffer + GMC_DATA_HEAD_BYTES;
    if (fec->ops->encode(fec->ctx, window->shape.sources, pick->index, window->shards, shard,
                         parity) != GMC_OK ||
        fec->ops->encode(fec->ctx, window->shape.sources, pick->index, window->tags,
                         GMC_SEAL_TAG_BYTES, parity + shard) != GMC_OK ||
        gmc_gate_repair(&group->gate, group->next_packet, &head, buffer,
                        shard + GMC_SEAL_TAG_BYTES) != GMC_OK)
        return false;
    gw->arena_used += len;
    out->body = gmc_bytes(buffer, len);
    return true;
}

static bool send_state(struct gmc_gateway *gw, struct gwgroup *group, struct gmc_dgram_out *out)
{
    struct gmc_group_state state = {.members = (uint16_t)hearing(group),
                                    .backoff_us = (uint32_t)(group->backoff / GMC_US(1))};
    if (!gw_has_room(gw, GMC_LINK_PACKET_MAX))
        return false;
    gmc_group_tx_state(&group->tx, &state);
    uint8_t *buffer = gw->arena + gw->arena_used;
    size_t len = gmc_group_state_put(&state, buffer + GMC_HEAD_BYTES);
    if (gmc_gate_seal(&group->gate, GMC_KIND_GROUP_STATE, group->next_packet, buffer, len) !=
        GMC_OK)
        return false;
    out->body = gmc_bytes(buffer, len + GMC_GATE_OVERHEAD);
    gw->arena_used += out->body.len;
    group->told_at = gw->now;
    return true;
}

/* When the group is to hear how far it is; NEVER. */
static gmc_time tell_time(const struct gwgroup *group)
{
    bool asked = false;
    for (size_t i = 0; i < group->count; i++)
        asked = asked || (group->listeners[i].state == GW_ASKED && !group->listeners[i].deaf_said);
    if (gmc_group_tx_has_news(&group->tx))
        return gmc_time_add(group->told_at, TELL_WAIT);
    if (asked || group->tx.count > 0)
        return gmc_time_add(group->told_at, TELL_AGAIN);
    return GMC_TIME_NEVER;
}

static bool send_one(struct gmc_gateway *gw, struct gwgroup *group, struct gmc_dgram_out *out)
{
    struct gmc_group_pick pick;
    if (gw->now >= tell_time(group))
        return send_state(gw, group, out);
    if (!gmc_group_tx_next(&group->tx, &pick)) {
        if (!is_gathered(gw, group) || is_full(gw, group))
            return false;
        open_ready(gw, group);
        if (!gmc_group_tx_next(&group->tx, &pick))
            return false;
    }
    bool is_repair = pick.out->sources_sent == pick.out->sources;
    bool sent = pick.piece == GMC_GROUP_SOURCE ? send_source(gw, group, &pick, out)
                                               : send_parity(gw, group, &pick, out);
    if (!sent)
        return false;
    gmc_group_tx_sent(&group->tx, gw->now, &pick);
    gw->counts.group_repairs += is_repair;
    return true;
}

bool gw_groups_send(struct gmc_gateway *gw, struct gmc_output *out)
{
    struct gmc_list *node, *after;
    if (gw->arena_full || gw->group_pace.paid_until > gw->now)
        return false;
    GMC_LIST_FOREACH_SAFE(node, after, &gw->groups)
    {
        struct gwgroup *group = GMC_CONTAINER_OF(node, struct gwgroup, node);
        struct gmc_dgram_out *dgram = begin_dgram(out);
        if (!send_one(gw, group, dgram))
            continue;
        group->next_packet++;
        gw->counts.group_sent++;
        gmc_pace_pay(&gw->group_pace, gw->now, gmc_dgram_out_len(dgram) + GMC_LINK_WIRE_BYTES);
        gmc_list_remove(node);
        gmc_list_push_back(&gw->groups, node);
        return true;
    }
    return false;
}

/* ---- time ---- */
static void set_backoff(struct gwgroup *group)
{
    gmc_duration longest = 0;
    for (size_t i = 0; i < group->count; i++) {
        struct gmc_link_info info;
        if (group->listeners[i].peer->link == NULL)
            continue;
        gmc_link_info(group->listeners[i].peer->link, &info);
        longest = info.min_rtt > longest ? info.min_rtt : longest;
    }
    group->backoff = BACKOFF_RTTS * longest;
    if (group->backoff < BACKOFF_MIN)
        group->backoff = BACKOFF_MIN;
    if (group->backoff > BACKOFF_MAX)
        group->backoff = BACKOFF_MAX;
}

static bool is_spent(const struct gmc_group_out *out)
{
    return out->promised + GMC_GROUP_SOURCES_MAX / 4 > GMC_GROUP_REPAIRS_MAX;
}

/* Windows that somebody does not complete although all was sent are left to his link. */
static gmc_time patience_ends(const struct gmc_group_out *out, bool full)
{
    if (out->sources_sent < out->sources || out->sent < out->promised)
        return GMC_TIME_NEVER;
    if (is_spent(out))
        return out->sent_at;
    return gmc_time_add(out->sent_at, full ? PATIENCE_FULL : PATIENCE);
}

static void give_up(struct gmc_gateway *gw, struct gwgroup *group, struct gwwindow *window)
{
    for (size_t i = 0; i < group->count; i++) {
        struct gwlistener *listener = &group->listeners[i];
        if (!counts(listener) || has(window, i) || listener->first_turn > window->out.turn ||
            ++listener->late < LATE_MAX)
            continue;
        listener->lags = true;
        gw_event(gw, GMC_EVENT_LINK, NULL, listener->peer->number, GMC_ERR_TIMEOUT,
                 "node %s does not follow the group: the others do not wait for it",
                 listener->peer->name);
    }
    retire(gw, group, window);
}

static void say_deaf(struct gmc_gateway *gw, struct gwlistener *listener)
{
    if (listener->state != GW_ASKED || listener->deaf_said)
        return;
    if (gw->now < gmc_time_add(listener->asked_at, HEAR_WAIT))
        return;
    gw_touch(gw, listener->peer); /* its link carries all, meanwhile */
    if (gw->now < gmc_time_add(listener->asked_at, HEARD_LATE))
        return;
    listener->deaf_said = true;
    gw_event(gw, GMC_EVENT_LINK, NULL, listener->peer->number, GMC_ERR_TIMEOUT,
             "multicast to %.*s does not arrive at node %s: it is served by unicast; see that "
             "switches and firewalls pass it",
             (int)gw->group_address_len, (const char *)gw->group_address, listener->peer->name);
}

static void step(struct gmc_gateway *gw, struct gwgroup *group)
{
    struct gmc_list *node, *after;
    bool full = is_full(gw, group);
    set_backoff(group);
    for (size_t i = 0; i < group->count; i++)
        say_deaf(gw, &group->listeners[i]);
    GMC_LIST_FOREACH_SAFE(node, after, &group->tx.open)
    {
        struct gmc_group_out *out = GMC_CONTAINER_OF(node, struct gmc_group_out, node);
        if (gw->now >= patience_ends(out, full))
            give_up(gw, group, window_of(out));
    }
    if (group->channel->group_over)
        end_group(gw, group->channel, GMC_ERR_NOMEM, "the group cannot be kept");
}

void gw_groups_step(struct gmc_gateway *gw)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &gw->groups)
    {
        step(gw, GMC_CONTAINER_OF(node, struct gwgroup, node));
    }
}

static gmc_time deadline(const struct gmc_gateway *gw, const struct gwgroup *group)
{
    struct gmc_group_pick pick;
    uint64_t window;
    gmc_time when = tell_time(group);
    bool gathered = is_gathered(gw, group), full = is_full(gw, group);
    if (gmc_group_tx_next(&group->tx, &pick))
        when = gw->now;
    else if (gathered && !full && group->prepared_count == 0 && next_window(group, &window))
        when = gw->now;
    when = gmc_time_max(when, gmc_pace_batch_time(&gw->group_pace));
    for (size_t i = 0; i < group->count; i++) {
        const struct gwlistener *listener = &group->listeners[i];
        if (listener->state == GW_ASKED && !listener->deaf_said)
            when = gmc_time_min(when, gmc_time_max(gmc_time_add(listener->asked_at, HEAR_WAIT),
                                                   gmc_time_add(gw->now, TELL_AGAIN)));
    }
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &group->tx.open)
    {
        when = gmc_time_min(when, patience_ends(GMC_CONTAINER_OF(node, struct gmc_group_out, node),
                                                full));
    }
    return !gathered && hearing(group) > 0 ? gmc_time_min(when, group->gather_until) : when;
}

gmc_time gw_groups_deadline(const struct gmc_gateway *gw)
{
    gmc_time when = GMC_TIME_NEVER;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->groups)
    {
        when = gmc_time_min(when, deadline(gw, GMC_CONTAINER_OF(node, struct gwgroup, node)));
    }
    return when;
}
