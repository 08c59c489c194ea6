/* SPDX-License-Identifier: BSD-2-Clause */
/* A node that hears the group of its domain: fragments from there go the way of all others, what
 * was lost is computed from repairs, and the gateway is told what is missing still. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

#define REPORT_EVERY GMC_MS(50)  /* while something arrives; in large groups less often */
#define HAVE_WAIT_EACH GMC_MS(1) /* for each node of the group */
#define HAVE_WAIT_MAX GMC_MS(60)
#define WINDOWS_MAX 128u /* that are not complete */
#define BACKOFF_MAX GMC_S(1)

/* A window of which something is here. */
struct gwheard {
    struct gmc_list node; /* hearing->windows */
    struct gmc_group_in in;
    struct gmc_block *blocks[GMC_GROUP_BLOCKS_MAX]; /* pinned, with sealed bytes; NULL: none yet */
    uint8_t *rows; /* shards of parity, rows_max() of them; NULL: none came yet */
    uint64_t row_mask;
    uint8_t row_index[GMC_FEC_PARITY_MAX]; /* of the shards in `rows` */
};

struct gwhearing {
    struct gwpeer *from; /* who sends it: the gateway, or the relay of this subnet */
    uint32_t number;
    struct gmc_gate gate;
    bool any;
    uint64_t received;  /* datagrams */
    gmc_time report_at; /* NEVER: nothing came since the last one */
    gmc_duration backoff;
    uint32_t members;
    struct gmc_prng prng;
    struct gmc_list windows; /* gwheard.node, in order of coming */
    size_t count;
    struct gmc_list spares;
    uint8_t *scratch; /* recovered shards, and short ones filled up */
};

static size_t shard_room(const struct gwchannel *ch)
{
    return (size_t)ch->object.fragment_bytes + GMC_SEAL_TAG_BYTES;
}

/* Rows that a window can have use for. Where fragments are large they are few. */
static uint32_t rows_max(const struct gwchannel *ch)
{
    uint32_t sources =
        gmc_group_blocks(&ch->object) * gmc_fragment_count(&ch->object, ch->object.block_bytes);
    return sources < GMC_FEC_PARITY_MAX ? sources : GMC_FEC_PARITY_MAX;
}

/* ---- windows ---- */
static void release(struct gmc_gateway *gw, struct gwchannel *ch, struct gwheard *heard)
{
    struct gwhearing *hearing = ch->hearing;
    for (uint32_t i = 0; i < heard->in.shape.blocks; i++)
        if (heard->blocks[i] != NULL)
            gw_block_unpin(gw, ch, heard->blocks[i]);
    memset(heard->blocks, 0, sizeof(heard->blocks));
    gmc_list_remove(&heard->node);
    gmc_list_push_back(&hearing->spares, &heard->node);
    hearing->count--;
}

static struct gwheard *find(const struct gwhearing *hearing, uint32_t window)
{
    /* Mostly the newest. */
    for (struct gmc_list *node = hearing->windows.prev; node != &hearing->windows;
         node = node->prev) {
        struct gwheard *heard = GMC_CONTAINER_OF(node, struct gwheard, node);
        if (heard->in.window == window)
            return heard;
    }
    return NULL;
}

static struct gwheard *heard_new(struct gwhearing *hearing)
{
    struct gwheard *heard;
    uint8_t *rows = NULL;
    if (hearing->count == WINDOWS_MAX)
        return NULL;
    struct gmc_list *node = gmc_list_pop_front(&hearing->spares);
    if (node != NULL) {
        heard = GMC_CONTAINER_OF(node, struct gwheard, node);
        rows = heard->rows;
    } else {
        heard = malloc(sizeof(*heard));
    }
    if (heard == NULL)
        return NULL;
    *heard = (struct gwheard){.rows = rows, .in.speak_at = GMC_TIME_NEVER};
    gmc_list_init(&heard->node);
    return heard;
}

/* A record of the window, and of what is here of it already: blocks may wait for their page. */
static struct gwheard *begin(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t window)
{
    struct gwheard *heard = heard_new(ch->hearing);
    if (heard == NULL)
        return NULL;
    heard->in.window = window;
    gmc_group_shape(&ch->object, window, &heard->in.shape);
    for (uint32_t i = 0; i < heard->in.shape.blocks; i++) {
        struct gmc_block *block = gmc_cache_find(gw->cache, ch->slot, heard->in.shape.first + i);
        if (block == NULL)
            continue;
        gmc_block_pin(gw->cache, block);
        heard->blocks[i] = block;
    }
    gmc_list_push_back(&ch->hearing->windows, &heard->node);
    ch->hearing->count++;
    return heard;
}

/* A block's sealed fragments that can be computed with. */
static uint64_t sealed_of(const struct gwheard *heard, uint32_t i)
{
    const struct gmc_block *block = heard->blocks[i];
    return block != NULL && block->cipher != NULL ? block->sealed : 0;
}

static bool is_whole(const struct gwchannel *ch, const struct gwheard *heard, uint32_t i)
{
    const struct gmc_block *block = heard->blocks[i];
    if (block == NULL)
        return gw_has(ch, heard->in.shape.first + i);
    return block->state != GMC_BLOCK_RECEIVING;
}

/* The builtin calls the compiler's library where no instruction is. Sums of 2, 4 and 8 bits side by
 * side, then of all bytes in the highest. */
static uint32_t bits_in(uint64_t mask)
{
    mask -= mask >> 1 & UINT64_C(0x5555555555555555);
    mask = (mask & UINT64_C(0x3333333333333333)) + (mask >> 2 & UINT64_C(0x3333333333333333));
    mask = (mask + (mask >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(mask * UINT64_C(0x0101010101010101) >> 56);
}

/* Counts what is missing. False: the window is complete. A block that came without its sealed bytes
 * (over the link, before the group was heard) cannot be computed with: nothing is asked for then,
 * and the link brings the rest. */
static bool count(const struct gwchannel *ch, struct gwheard *heard)
{
    bool blind = false, whole = true;
    heard->in.missing = 0;
    for (uint32_t i = 0; i < heard->in.shape.blocks; i++) {
        uint64_t sealed = sealed_of(heard, i);
        uint32_t sources =
            (uint32_t)(heard->in.shape.source_of[i + 1] - heard->in.shape.source_of[i]);
        if (is_whole(ch, heard, i)) {
            blind = blind || heard->blocks[i] == NULL ||
                    sealed != gmc_fragments_all(heard->blocks[i]->fragments);
            continue;
        }
        whole = false;
        blind = blind || (heard->blocks[i] != NULL && (heard->blocks[i]->received & ~sealed) != 0);
        heard->in.missing += sources - bits_in(sealed);
    }
    if (blind) {
        heard->in.speak_at = GMC_TIME_NEVER;
        heard->in.missing = 0;
    }
    return !whole;
}

/* The window's record; NULL: there is no room for it. */
static struct gwheard *heard_of(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t window)
{
    struct gwheard *heard = find(ch->hearing, window);
    return heard != NULL ? heard : begin(gw, ch, window);
}

/* Blocks that windows hold, and that are not stored. */
static size_t unstored(const struct gwhearing *hearing)
{
    size_t blocks = 0;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &hearing->windows)
    {
        const struct gwheard *heard = GMC_CONTAINER_OF(node, struct gwheard, node);
        for (uint32_t i = 0; i < heard->in.shape.blocks; i++)
            blocks += heard->blocks[i] != NULL && heard->blocks[i]->state != GMC_BLOCK_VERIFIED;
    }
    return blocks;
}

/* The group begins as many blocks as the gateway was told, or one window. The link may begin as
 * many as well, so that whatever comes from the group, and is never completed there, cannot keep
 * out the page that all wait for. */
static bool may_begin(const struct gmc_gateway *gw, const struct gwhearing *hearing)
{
    uint32_t most = gw_rx_window(gw);
    return unstored(hearing) < (most < GMC_GROUP_BLOCKS_MAX ? GMC_GROUP_BLOCKS_MAX : most);
}

static bool pin_block(struct gmc_gateway *gw, struct gwchannel *ch, struct gwheard *heard,
                      uint32_t i)
{
    uint32_t number = heard->in.shape.first + i;
    if (heard->blocks[i] != NULL)
        return true;
    struct gmc_block *block = gmc_cache_find(gw->cache, ch->slot, number);
    if (block == NULL && may_begin(gw, ch->hearing))
        block = gw_rx_block(gw, ch, number);
    if (block == NULL)
        return false;
    gmc_block_pin(gw->cache, block);
    heard->blocks[i] = block;
    return true;
}

/* ---- repair ---- */
struct job {
    uint8_t *shards[GMC_GROUP_SOURCES_MAX];
    uint8_t *tags[GMC_GROUP_SOURCES_MAX];
    uint8_t missing[GMC_FEC_PARITY_MAX];
    uint8_t *rows[GMC_FEC_PARITY_MAX];
    uint8_t *row_tags[GMC_FEC_PARITY_MAX];
    uint32_t count; /* missing */
    uint32_t used;  /* shards of scratch */
};

static uint8_t *take_scratch(const struct gwchannel *ch, struct job *job)
{
    return ch->hearing->scratch + shard_room(ch) * job->used++;
}

static void set_job(const struct gwchannel *ch, const struct gwheard *heard, struct job *job,
                    uint32_t i)
{
    const struct gmc_group_shape *shape = &heard->in.shape;
    struct gmc_block *block = heard->blocks[i];
    for (uint32_t f = 0; f < block->fragments; f++) {
        uint32_t source = shape->source_of[i] + f;
        uint32_t len = gmc_fragment_len(&ch->object, block->len, f);
        if ((sealed_of(heard, i) >> f & 1) == 0) {
            job->missing[job->count++] = (uint8_t)source;
            job->shards[source] = take_scratch(ch, job);
            job->tags[source] = job->shards[source] + ch->object.fragment_bytes;
            continue;
        }
        uint8_t *bytes = block->cipher + (size_t)f * ch->object.fragment_bytes;
        job->shards[source] = bytes;
        job->tags[source] = block->tags[f];
        if (len < shape->shard_bytes) {
            job->shards[source] = take_scratch(ch, job);
            memcpy(job->shards[source], bytes, len);
            memset(job->shards[source] + len, 0, shape->shard_bytes - len);
        }
    }
}

/* All blocks pinned, and what is missing in scratch. */
static bool plan(struct gmc_gateway *gw, struct gwchannel *ch, struct gwheard *heard,
                 struct job *job)
{
    for (uint32_t i = 0; i < heard->in.shape.blocks; i++) {
        if (!pin_block(gw, ch, heard, i))
            return false;
        set_job(ch, heard, job, i);
    }
    for (uint32_t i = 0; i < job->count; i++) {
        job->rows[i] = heard->rows + shard_room(ch) * i;
        job->row_tags[i] = job->rows[i] + heard->in.shape.shard_bytes;
    }
    return true;
}

/* What was computed is taken like what was heard. AUTH: it is not what the source sealed. */
static gmc_status take_recovered(struct gmc_gateway *gw, struct gwchannel *ch,
                                 const struct gmc_group_shape *shape, const struct job *job)
{
    for (uint32_t i = 0; i < job->count; i++) {
        struct gmc_link_data data = {.seal_tag = job->tags[job->missing[i]]};
        gmc_group_source(shape, job->missing[i], &data.block, &data.fragment);
        uint32_t len = gmc_block_len(&ch->object, data.block);
        data.body = gmc_bytes(job->shards[job->missing[i]],
                              gmc_fragment_len(&ch->object, len, data.fragment));
        gw->counts.group_recovered++;
        gmc_status status = gw_rx_fragment(gw, ch, NULL, &data);
        if (status == GMC_ERR_AUTH || ch->hearing == NULL)
            return status;
    }
    return GMC_OK;
}

static void recover(struct gmc_gateway *gw, struct gwchannel *ch, struct gwheard *heard)
{
    const struct gmc_fec *fec = &gw->config.fec;
    struct gmc_group_shape shape = heard->in.shape; /* the record may go */
    struct job job = {.count = 0};
    if (!plan(gw, ch, heard, &job))
        return;
    heard->in.repairs = 0; /* used up */
    heard->row_mask = 0;
    if (fec->ops->decode(fec->ctx, shape.sources, job.shards, shape.shard_bytes, job.count,
                         job.missing, heard->row_index, job.rows) != GMC_OK ||
        fec->ops->decode(fec->ctx, shape.sources, job.tags, GMC_SEAL_TAG_BYTES, job.count,
                         job.missing, heard->row_index, job.row_tags) != GMC_OK)
        return;
    if (take_recovered(gw, ch, &shape, &job) == GMC_ERR_AUTH && ch->hearing != NULL)
        gw_hearing_forged(gw, ch, shape.first);
}

/* After something came: computes what can be, and lets go of what is complete. */
static void look(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t window)
{
    struct gwheard *heard = find(ch->hearing, window);
    if (heard == NULL)
        return;
    bool is_open = count(ch, heard);
    if (is_open && heard->in.missing > 0 && heard->in.repairs >= heard->in.missing) {
        recover(gw, ch, heard);
        heard = ch->hearing != NULL ? find(ch->hearing, window) : NULL;
        is_open = heard != NULL && count(ch, heard);
    }
    if (heard != NULL && !is_open)
        release(gw, ch, heard);
}

/* ---- datagrams ---- */
static bool is_complete(const struct gwchannel *ch, uint64_t first, uint64_t end)
{
    return gmc_interval_contains_range(&ch->dst->have.stored, first,
                                       end < ch->blocks ? end : ch->blocks);
}

static gmc_status hear_source(struct gmc_gateway *gw, struct gwchannel *ch,
                              const struct gmc_data_head *head,
                              const struct gmc_gate_packet *packet)
{
    if (head->block >= ch->blocks)
        return GMC_ERR_INVALID;
    if (gw_has(ch, head->block)) {
        gw->counts.dropped_duplicate++;
        return GMC_OK;
    }
    uint32_t window = head->block / gmc_group_blocks(&ch->object);
    struct gwheard *heard = heard_of(gw, ch, window);
    if (heard == NULL || !pin_block(gw, ch, heard, head->block - heard->in.shape.first)) {
        gw->counts.dropped_full++;
        return GMC_ERR_FULL;
    }
    struct gmc_link_data data = {.block = head->block,
                                 .fragment = head->fragment,
                                 .body = packet->content,
                                 .seal_tag = packet->content.data + packet->content.len};
    gw->counts.data_bytes_in += data.body.len;
    gmc_status status = gw_rx_fragment(gw, ch, NULL, &data);
    /* The gateway sends what is verified, and the link tag was right. */
    if (status == GMC_ERR_AUTH && ch->hearing != NULL)
        gw_hearing_forged(gw, ch, head->block);
    if (ch->hearing != NULL)
        look(gw, ch, window);
    return status;
}

static gmc_status hear_repair(struct gmc_gateway *gw, struct gwchannel *ch,
                              const struct gmc_data_head *head,
                              const struct gmc_gate_packet *packet)
{
    uint32_t blocks = gmc_group_blocks(&ch->object);
    uint64_t first = (uint64_t)head->block * blocks;
    if (first >= ch->blocks || head->fragment >= GMC_FEC_PARITY_MAX)
        return GMC_ERR_INVALID;
    if (is_complete(ch, first, first + blocks))
        return GMC_OK;
    struct gwheard *heard = heard_of(gw, ch, head->block);
    if (heard == NULL)
        return GMC_ERR_FULL;
    if (packet->content.len != heard->in.shape.shard_bytes)
        return GMC_ERR_INVALID;
    if (heard->rows == NULL)
        heard->rows = malloc(shard_room(ch) * rows_max(ch));
    uint64_t bit = UINT64_C(1) << head->fragment;
    /* A row that nothing would be computed with is not kept. */
    if (heard->rows == NULL || (heard->row_mask & bit) != 0 || !count(ch, heard) ||
        gmc_group_in_need(&heard->in) == 0)
        return GMC_OK;
    memcpy(heard->rows + shard_room(ch) * heard->in.repairs, packet->content.data,
           packet->content.len + GMC_SEAL_TAG_BYTES);
    heard->row_index[heard->in.repairs++] = (uint8_t)head->fragment;
    heard->row_mask |= bit;
    look(gw, ch, head->block);
    return GMC_OK;
}

static gmc_status hear_state(struct gmc_gateway *gw, struct gwchannel *ch,
                             const struct gmc_gate_packet *packet)
{
    struct gwhearing *hearing = ch->hearing;
    struct gmc_group_state state;
    uint32_t blocks = gmc_group_blocks(&ch->object);
    gmc_status status = gmc_group_state_get(packet->content, &state);
    if (status != GMC_OK)
        return status;
    hearing->members = state.members > 0 ? state.members : 1;
    hearing->backoff = state.backoff_us * GMC_US(1);
    if (hearing->backoff > BACKOFF_MAX)
        hearing->backoff = BACKOFF_MAX;
    for (size_t i = 0; i < state.count; i++) {
        const struct gmc_group_window *told = &state.windows[i];
        uint64_t first = (uint64_t)told->window * blocks;
        if (first >= ch->blocks || is_complete(ch, first, first + blocks))
            continue;
        struct gwheard *heard = heard_of(gw, ch, told->window);
        if (heard == NULL)
            continue;
        if (count(ch, heard))
            gmc_group_in_told(&heard->in, gw->now, told, hearing->backoff, hearing->members,
                              &hearing->prng);
        else
            release(gw, ch, heard);
    }
    return GMC_OK;
}

static void note_arrival(struct gmc_gateway *gw, const struct gwchannel *ch)
{
    struct gwhearing *hearing = ch->hearing;
    if (!hearing->any)
        hearing->report_at = gw->now; /* the gateway waits for this word */
    else if (hearing->report_at == GMC_TIME_NEVER)
        hearing->report_at = gmc_time_add(gw->now, REPORT_EVERY + gw_hearing_have_wait(ch));
    hearing->any = true;
    hearing->received++;
    gw->counts.group_received++;
}

static gmc_status hear_one(struct gmc_gateway *gw, struct gwchannel *ch,
                           const struct gmc_dgram_in *in, uint8_t *plain)
{
    struct gmc_gate_packet packet;
    struct gmc_data_head head;
    gmc_status status = gmc_gate_open(&ch->hearing->gate, in->bytes, plain, &packet);
    if (status != GMC_OK)
        return status;
    note_arrival(gw, ch);
    if (packet.kind == GMC_KIND_GROUP_STATE)
        return hear_state(gw, ch, &packet);
    status = gmc_data_head_get(in->bytes, &head);
    if (status != GMC_OK)
        return status;
    return packet.kind == GMC_KIND_GROUP_DATA ? hear_source(gw, ch, &head, &packet)
                                              : hear_repair(gw, ch, &head, &packet);
}

gmc_status gw_hear(struct gmc_gateway *gw, const struct gmc_dgram_in *in)
{
    uint8_t plain[GMC_GROUP_STATE_BYTES_MAX];
    struct gmc_head head;
    gmc_status status = gmc_head_get(in->bytes, &head);
    if (status != GMC_OK) {
        gw->counts.dropped_malformed++;
        return status;
    }
    struct gwchannel *ch = gmc_map_get(&gw->hearings, head.session);
    if (ch == NULL || in->path != GMC_PATH_GROUP) {
        gw->counts.dropped_session++;
        return GMC_ERR_UNKNOWN;
    }
    if (head.kind == GMC_KIND_GROUP_STATE &&
        in->bytes.len > GMC_GROUP_STATE_BYTES_MAX + GMC_GATE_OVERHEAD)
        status = GMC_ERR_INVALID;
    else
        status = hear_one(gw, ch, in, plain);
    gw->counts.group_dropped += status != GMC_OK;
    return status;
}

/* ---- the group's life ---- */
static void set_gate(struct gmc_gateway *gw, struct gwchannel *ch, const struct gmc_msg *msg,
                     bool is_new)
{
    struct gwhearing *hearing = ch->hearing;
    struct gmc_session session = {.local_id = msg->group};
    struct gmc_gate gate;
    memcpy(session.recv_secret, msg->secret, GMC_KEY_BYTES);
    if (gmc_gate_init(&gate, gw->config.crypto, &session) != GMC_OK)
        return; /* as if it were not heard */
    if (!is_new) {
        gmc_gate_fini(&hearing->gate);
        gmc_map_remove(&gw->hearings, hearing->number);
    }
    hearing->gate = gate;
    hearing->gate.replay.next = msg->next;
    hearing->number = msg->group;
    hearing->any = false;
    hearing->report_at = GMC_TIME_NEVER;
    hearing->received = 0;
    gmc_status status = gmc_map_put(&gw->hearings, msg->group, ch);
    (void)status; /* without memory it is not heard, and the link carries all */
}

static struct gwhearing *hearing_new(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwhearing *hearing = calloc(1, sizeof(*hearing));
    size_t shards = GMC_FEC_PARITY_MAX + GMC_GROUP_BLOCKS_MAX;
    if (hearing != NULL)
        hearing->scratch = malloc(shard_room(ch) * shards);
    if (hearing == NULL || hearing->scratch == NULL) {
        free(hearing);
        return NULL;
    }
    hearing->report_at = GMC_TIME_NEVER;
    hearing->members = 1;
    gmc_list_init(&hearing->windows);
    gmc_list_init(&hearing->spares);
    gmc_prng_fork_nth(&gw->prng, "group", ch->slot, &hearing->prng);
    return hearing;
}

static void hear_address(struct gmc_gateway *gw, struct gmc_bytes address)
{
    struct gwout *out = gw_out(gw, GMC_OUT_GROUP, GMC_PEER_NONE);
    out->owned = gw_copy(address);
    out->output.bytes = gmc_bytes(out->owned, address.len);
}

/* A node that lost its relay asks the next one and the gateway: whichever answers last, the relay
 * is the one that it can hear. */
static bool hears_relay(const struct gwchannel *ch, const struct gwpeer *peer)
{
    return ch->hearing != NULL && ch->hearing->from != peer &&
           ch->hearing->from->number == ch->dst->tree_parent;
}

void gw_hear_group(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                   const struct gmc_msg *msg)
{
    bool is_above = gw->config.node_of != NULL && ch->dst != NULL &&
                    (peer == ch->source_peer || peer->number == ch->dst->tree_parent);
    if (!is_above || gw->config.fec.ops == NULL || gw->config.virtual_bodies) {
        gw->counts.messages_refused++;
        return;
    }
    if (msg->payload.len == 0) {
        if (ch->hearing != NULL && ch->hearing->number == msg->group)
            gw_hearing_free(gw, ch);
        return;
    }
    const struct gwchannel *other = gmc_map_get(&gw->hearings, msg->group);
    if (msg->epoch != ch->epoch || !ch->object_known || (other != NULL && other != ch) ||
        hears_relay(ch, peer))
        return;
    bool is_new = ch->hearing == NULL;
    if (is_new)
        ch->hearing = hearing_new(gw, ch);
    if (ch->hearing == NULL)
        return;
    ch->hearing->from = peer;
    hear_address(gw, msg->payload);
    if (is_new || ch->hearing->number != msg->group)
        set_gate(gw, ch, msg, is_new);
}

void gw_hearing_forget(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwhearing *hearing = ch->hearing;
    struct gmc_list *node;
    while (hearing != NULL && (node = gmc_list_first(&hearing->windows)) != NULL)
        release(gw, ch, GMC_CONTAINER_OF(node, struct gwheard, node));
}

static bool let_go(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (ch->hearing == NULL || ch->hearing->count == 0)
        return false;
    release(gw, ch, GMC_CONTAINER_OF(gmc_list_first(&ch->hearing->windows), struct gwheard, node));
    return true;
}

bool gw_hearing_makes_room(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gmc_list *node;
    bool done = let_go(gw, ch);
    for (node = gmc_list_first(&gw->channels); !done && node != NULL;
         node = node->next != &gw->channels ? node->next : NULL)
        done = let_go(gw, GMC_CONTAINER_OF(node, struct gwchannel, node));
    return done;
}

void gw_hearing_free(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwhearing *hearing = ch->hearing;
    struct gmc_list *node;
    if (hearing == NULL)
        return;
    gw_hearing_forget(gw, ch);
    while ((node = gmc_list_pop_front(&hearing->spares)) != NULL) {
        struct gwheard *heard = GMC_CONTAINER_OF(node, struct gwheard, node);
        free(heard->rows);
        free(heard);
    }
    gmc_map_remove(&gw->hearings, hearing->number);
    gmc_gate_fini(&hearing->gate);
    free(hearing->scratch);
    free(hearing);
    ch->hearing = NULL;
    if (gmc_map_count(&gw->hearings) == 0)
        hear_address(gw, gmc_bytes(NULL, 0));
}

void gw_hearing_parent_changed(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (ch->hearing != NULL && ch->hearing->from != ch->source_peer &&
        ch->hearing->from->number != ch->dst->tree_parent)
        gw_hearing_free(gw, ch);
}

void gw_hearing_stored(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number)
{
    if (ch->hearing != NULL)
        look(gw, ch, number / gmc_group_blocks(&ch->object));
}

void gw_hearing_forged(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number)
{
    char text[64];
    gw->counts.group_forged++;
    gw_text(text, sizeof(text), "block %u, which is not the source's", number);
    struct gmc_msg msg = gw_about(ch, GMC_MSG_GROUP_REPORT);
    msg.group = ch->hearing->number;
    msg.status = GMC_ERR_MISMATCH;
    msg.text = text;
    gw_send(gw, ch->hearing->from, &msg);
    gw_hearing_free(gw, ch);
}

/* ---- telling ---- */
static size_t needs_of(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_msg_need *needs,
                       uint8_t (*masks)[GMC_GROUP_SOURCES_MAX / 8])
{
    struct gwhearing *hearing = ch->hearing;
    size_t n = 0;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &hearing->windows)
    {
        struct gwheard *heard = GMC_CONTAINER_OF(node, struct gwheard, node);
        if (n == GMC_GROUP_NEEDS_MAX)
            break;
        if (heard->in.speak_at > gw->now)
            continue;
        if (!count(ch, heard))
            heard->in.speak_at = GMC_TIME_NEVER;
        if (!gmc_group_in_speaks(&heard->in, gw->now, hearing->backoff))
            continue;
        struct gmc_msg_need *need = &needs[n];
        *need = (struct gmc_msg_need){.window = heard->in.window,
                                      .seen = heard->in.sent,
                                      .need = gmc_group_in_need(&heard->in)};
        if (need->seen + need->need > GMC_FEC_PARITY_MAX) {
            memset(masks[n], 0, sizeof(masks[n]));
            for (uint32_t s = 0; s < heard->in.shape.sources; s++) {
                uint32_t block;
                uint16_t fragment;
                gmc_group_source(&heard->in.shape, s, &block, &fragment);
                uint64_t sealed = sealed_of(heard, block - heard->in.shape.first);
                if ((sealed >> fragment & 1) == 0)
                    masks[n][s / 8] |= (uint8_t)(1u << s % 8);
            }
            need->missing = gmc_bytes(masks[n], sizeof(masks[n]));
        }
        n++;
    }
    return n;
}

/* Whoever has heard nothing yet under the key that is valid does not speak: the word would say that
 * the group arrives. */
static gmc_time next_word(const struct gwhearing *hearing)
{
    gmc_time when = hearing->report_at;
    struct gmc_list *node;
    if (!hearing->any)
        return GMC_TIME_NEVER;
    GMC_LIST_FOREACH(node, &hearing->windows)
    {
        when = gmc_time_min(when, GMC_CONTAINER_OF(node, struct gwheard, node)->in.speak_at);
    }
    return when;
}

static void speak(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwhearing *hearing = ch->hearing;
    struct gmc_msg_need needs[GMC_GROUP_NEEDS_MAX];
    uint8_t masks[GMC_GROUP_NEEDS_MAX][GMC_GROUP_SOURCES_MAX / 8];
    if (next_word(hearing) > gw->now)
        return;
    struct gmc_msg msg = gw_about(ch, GMC_MSG_GROUP_REPORT);
    msg.group = hearing->number;
    msg.needs = needs;
    msg.need_count = needs_of(gw, ch, needs, masks);
    if (msg.need_count == 0 && hearing->report_at > gw->now)
        return;
    msg.received = hearing->received;
    msg.next = hearing->any ? hearing->gate.replay.next : 0;
    hearing->report_at = GMC_TIME_NEVER;
    gw_send(gw, hearing->from, &msg);
}

gmc_duration gw_hearing_have_wait(const struct gwchannel *ch)
{
    const struct gwhearing *hearing = ch->hearing;
    gmc_duration wait = hearing != NULL ? hearing->members * HAVE_WAIT_EACH : 0;
    if (wait > HAVE_WAIT_MAX)
        wait = HAVE_WAIT_MAX;
    return wait > GW_HAVE_WAIT ? wait : GW_HAVE_WAIT;
}

void gw_hearing_company(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwhearing *hearing = ch->hearing;
    if (hearing == NULL || hearing->report_at == GMC_TIME_NEVER)
        return;
    hearing->report_at = gw->now;
    speak(gw, ch);
}

void gw_hearing_step(struct gmc_gateway *gw)
{
    struct gmc_list *node;
    for (node = gmc_list_first(&gw->channels); gmc_map_count(&gw->hearings) > 0 && node != NULL;
         node = node->next != &gw->channels ? node->next : NULL) {
        struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (ch->hearing != NULL)
            speak(gw, ch);
    }
}

gmc_time gw_hearing_deadline(const struct gmc_gateway *gw)
{
    gmc_time when = GMC_TIME_NEVER;
    struct gmc_list *node;
    if (gmc_map_count(&gw->hearings) == 0)
        return when;
    GMC_LIST_FOREACH(node, &gw->channels)
    {
        const struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (ch->hearing != NULL)
            when = gmc_time_min(when, next_word(ch->hearing));
    }
    return when;
}
