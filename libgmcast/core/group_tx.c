/* SPDX-License-Identifier: BSD-2-Clause */
/* What a gateway sends to a group; see group_tx.h. */
#include "core/group_tx.h"

#include "base/assert.h"

#define FIRST_EIGHTHS 7u /* of what was needed lately is sent without having been asked for */

void gmc_group_tx_init(struct gmc_group_tx *tx)
{
    *tx = (struct gmc_group_tx){0};
    gmc_list_init(&tx->open);
}

void gmc_group_tx_open(struct gmc_group_tx *tx, struct gmc_group_out *out, gmc_time now,
                       uint32_t window, uint32_t sources)
{
    GMC_ASSERT(sources >= 1 && sources <= GMC_GROUP_SOURCES_MAX);
    *out = (struct gmc_group_out){.window = window,
                                  .turn = tx->turns++,
                                  .sources = sources,
                                  .sent_at = now};
    out->promised = tx->expected_q4 * FIRST_EIGHTHS / 8 / 16 * sources / GMC_GROUP_SOURCES_MAX;
    gmc_list_init(&out->node);
    gmc_list_push_back(&tx->open, &out->node);
    tx->count++;
}

void gmc_group_tx_close(struct gmc_group_tx *tx, struct gmc_group_out *out)
{
    /* As if the window had been a whole one. */
    uint32_t used_q4 = out->promised * 16 * GMC_GROUP_SOURCES_MAX / out->sources;
    bool is_whole = out->sources > GMC_GROUP_SOURCES_MAX / 2;
    gmc_list_remove(&out->node);
    tx->count--;
    if (!is_whole)
        return;
    /* What nobody asked for may have been too much: it wears off. */
    if (out->asked == 0)
        used_q4 -= used_q4 / 8;
    tx->expected_q4 = (7 * tx->expected_q4 + used_q4) / 8;
}

static uint32_t lowest(const uint64_t *mask)
{
    uint32_t word = 0;
    while (word < GMC_GROUP_MASK_WORDS && mask[word] == 0)
        word++;
    return word < GMC_GROUP_MASK_WORDS ? word * 64 + (uint32_t)__builtin_ctzll(mask[word])
                                       : GMC_GROUP_SOURCES_MAX;
}

static bool next_repair(struct gmc_group_out *out, struct gmc_group_pick *pick)
{
    if (out->sources_sent < out->sources || out->sent >= out->promised)
        return false;
    *pick = (struct gmc_group_pick){out, GMC_GROUP_PARITY, out->sent};
    if (out->sent < GMC_FEC_PARITY_MAX)
        return true;
    pick->piece = GMC_GROUP_SOURCE;
    pick->index = lowest(out->again);
    /* Nobody said which: from the first on. */
    if (pick->index >= out->sources)
        pick->index = (out->sent - GMC_FEC_PARITY_MAX) % out->sources;
    return true;
}

bool gmc_group_tx_next(const struct gmc_group_tx *tx, struct gmc_group_pick *pick)
{
    struct gmc_list *node;
    struct gmc_group_out *fresh = NULL;
    GMC_LIST_FOREACH(node, &tx->open)
    {
        struct gmc_group_out *out = GMC_CONTAINER_OF(node, struct gmc_group_out, node);
        if (next_repair(out, pick))
            return true;
        if (fresh == NULL && out->sources_sent < out->sources)
            fresh = out;
    }
    if (fresh == NULL)
        return false;
    *pick = (struct gmc_group_pick){fresh, GMC_GROUP_SOURCE, fresh->sources_sent};
    return true;
}

void gmc_group_tx_sent(struct gmc_group_tx *tx, gmc_time now, const struct gmc_group_pick *pick)
{
    struct gmc_group_out *out = pick->out;
    (void)tx;
    out->sent_at = now;
    if (out->sources_sent < out->sources) {
        out->sources_sent++;
    } else {
        out->sent++;
        if (pick->piece == GMC_GROUP_SOURCE)
            out->again[pick->index / 64] &= ~(UINT64_C(1) << pick->index % 64);
    }
    out->news = out->news || (out->sources_sent == out->sources && out->sent == out->promised);
}

struct gmc_group_out *gmc_group_tx_find(struct gmc_group_tx *tx, uint32_t window)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &tx->open)
    {
        struct gmc_group_out *out = GMC_CONTAINER_OF(node, struct gmc_group_out, node);
        if (out->window == window)
            return out;
    }
    return NULL;
}

static void add_missing(struct gmc_group_out *out, struct gmc_bytes missing)
{
    for (uint32_t i = 0; i < out->sources && i / 8 < missing.len; i++)
        if ((missing.data[i / 8] >> i % 8 & 1) != 0)
            out->again[i / 64] |= UINT64_C(1) << i % 64;
}

bool gmc_group_tx_need(struct gmc_group_out *out, uint32_t seen, uint32_t need,
                       struct gmc_bytes missing)
{
    uint32_t wanted = seen + need;
    if (seen > out->sent || wanted > GMC_GROUP_REPAIRS_MAX)
        return false;
    if (wanted > GMC_FEC_PARITY_MAX)
        add_missing(out, missing);
    if (wanted <= out->promised)
        return false;
    out->asked += wanted - out->promised;
    out->promised = wanted;
    out->news = true;
    return true;
}

bool gmc_group_tx_has_news(const struct gmc_group_tx *tx)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &tx->open)
    {
        if (GMC_CONTAINER_OF(node, struct gmc_group_out, node)->news)
            return true;
    }
    return false;
}

void gmc_group_tx_state(struct gmc_group_tx *tx, struct gmc_group_state *state)
{
    struct gmc_list *node;
    state->count = 0;
    GMC_LIST_FOREACH(node, &tx->open)
    {
        struct gmc_group_out *out = GMC_CONTAINER_OF(node, struct gmc_group_out, node);
        out->news = false;
        if (out->sources_sent < out->sources || state->count == GMC_GROUP_STATES_MAX)
            continue;
        state->windows[state->count++] =
            (struct gmc_group_window){out->window, (uint16_t)out->promised, (uint16_t)out->sent};
    }
}
