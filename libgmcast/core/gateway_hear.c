/* SPDX-License-Identifier: BSD-2-Clause */
/* What a node hears of its domain's group: fragments from there go the way of all others, and what
 * was lost is computed from repairs. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_hear_impl.h"

#define REPORT_EVERY GMC_MS(50) /* while something arrives; in large groups less often */
#define BACKOFF_MAX GMC_S(1)

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
    return ch->hearing->scratch + gw_shard_room(ch) * job->used++;
}

static void set_job(const struct gwchannel *ch, const struct gwheard *heard, struct job *job,
                    uint32_t i)
{
    const struct gmc_group_shape *shape = &heard->in.shape;
    struct gmc_block *block = heard->blocks[i];
    for (uint32_t f = 0; f < block->fragments; f++) {
        uint32_t source = shape->source_of[i] + f;
        uint32_t len = gmc_fragment_len(&ch->object, block->len, f);
        if ((gw_heard_sealed(heard, i) >> f & 1) == 0) {
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
        if (!gw_heard_pin(gw, ch, heard, i))
            return false;
        set_job(ch, heard, job, i);
    }
    for (uint32_t i = 0; i < job->count; i++) {
        job->rows[i] = heard->rows + gw_shard_room(ch) * i;
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
        gw_hearing_forged(gw, ch, shape.first, NULL);
}

/* After something came: computes what can be, and lets go of what is complete. */
static void look(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t window)
{
    struct gwheard *heard = gw_heard_find(ch->hearing, window);
    if (heard == NULL)
        return;
    bool is_open = gw_heard_count(ch, heard);
    if (is_open && heard->in.missing > 0 && heard->in.repairs >= heard->in.missing) {
        recover(gw, ch, heard);
        heard = ch->hearing != NULL ? gw_heard_find(ch->hearing, window) : NULL;
        is_open = heard != NULL && gw_heard_count(ch, heard);
    }
    if (heard != NULL && !is_open)
        gw_heard_release(gw, ch, heard);
}

/* ---- datagrams ---- */
/* Rows that a window can have use for. Where fragments are large they are few. */
static uint32_t rows_max(const struct gwchannel *ch)
{
    uint32_t sources =
        gmc_group_blocks(&ch->object) * gmc_fragment_count(&ch->object, ch->object.block_bytes);
    return sources < GMC_FEC_PARITY_MAX ? sources : GMC_FEC_PARITY_MAX;
}

static bool is_complete(const struct gwchannel *ch, uint64_t first, uint64_t end)
{
    return gmc_interval_contains_range(&ch->dst->have.stored, first,
                                       end < ch->blocks ? end : ch->blocks);
}

static gmc_status hear_source(struct gmc_gateway *gw, struct gwchannel *ch,
                              const struct gmc_data_head *head,
                              const struct gmc_gate_packet *packet, const struct gmc_addr *from)
{
    if (head->block >= ch->blocks)
        return GMC_ERR_INVALID;
    if (gw_has(ch, head->block)) {
        gw->counts.dropped_duplicate++;
        return GMC_OK;
    }
    uint32_t window = head->block / gmc_group_blocks(&ch->object);
    struct gwheard *heard = gw_heard_of(gw, ch, window);
    if (heard == NULL || !gw_heard_pin(gw, ch, heard, head->block - heard->in.shape.first)) {
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
        gw_hearing_forged(gw, ch, head->block, from);
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
    struct gwheard *heard = gw_heard_of(gw, ch, head->block);
    if (heard == NULL)
        return GMC_ERR_FULL;
    if (packet->content.len != heard->in.shape.shard_bytes)
        return GMC_ERR_INVALID;
    if (heard->rows == NULL)
        heard->rows = malloc(gw_shard_room(ch) * rows_max(ch));
    uint64_t bit = UINT64_C(1) << head->fragment;
    /* A row that nothing would be computed with is not kept. */
    if (heard->rows == NULL || (heard->row_mask & bit) != 0 || !gw_heard_count(ch, heard) ||
        gmc_group_in_need(&heard->in) == 0)
        return GMC_OK;
    memcpy(heard->rows + gw_shard_room(ch) * heard->in.repairs, packet->content.data,
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
        struct gwheard *heard = gw_heard_of(gw, ch, told->window);
        if (heard == NULL)
            continue;
        if (gw_heard_count(ch, heard))
            gmc_group_in_told(&heard->in, gw->now, told, hearing->backoff, hearing->members,
                              &hearing->prng);
        else
            gw_heard_release(gw, ch, heard);
    }
    return GMC_OK;
}

static bool is_same(const struct gmc_addr *a, const struct gmc_addr *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

static void note_arrival(struct gmc_gateway *gw, const struct gwchannel *ch,
                         const struct gmc_addr *from)
{
    struct gwhearing *hearing = ch->hearing;
    if (hearing->sender.len == 0)
        hearing->sender = *from;
    else if (!is_same(from, &hearing->sender))
        hearing->other = *from;
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
    note_arrival(gw, ch, &in->from);
    if (packet.kind == GMC_KIND_GROUP_STATE)
        return hear_state(gw, ch, &packet);
    status = gmc_data_head_get(in->bytes, &head);
    if (status != GMC_OK)
        return status;
    return packet.kind == GMC_KIND_GROUP_DATA ? hear_source(gw, ch, &head, &packet, &in->from)
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

void gw_hearing_stored(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number)
{
    if (ch->hearing != NULL)
        look(gw, ch, number / gmc_group_blocks(&ch->object));
}
