/* SPDX-License-Identifier: BSD-2-Clause */
/* Serving one child of one channel: see tx.h. */
#include "core/tx.h"

#include <stdlib.h>

#include "base/assert.h"

/* A hostile child could report every second block; beyond this it is simply sent blocks again. */
#define TAKEN_RANGES_MAX 16384
#define TURN_MASK 0x3ff

struct gmc_tx_block {
    struct gmc_list node;
    struct gmc_list *list; /* the one that node is in, NULL at first */
    uint32_t block;
    uint16_t turn;   /* of tx, when it was opened */
    uint64_t all;    /* mask of all fragments */
    uint64_t unsent; /* to be sent (for the first time, or again) */
    uint64_t lost;   /* subset of unsent: was sent before */
    uint64_t acked;
    uint64_t copies[2]; /* sent again before its fate was known, so often: bits 0 and 1 */
    uint64_t at_hand;
};

void gmc_tx_init(struct gmc_tx *tx, uint64_t blocks, uint32_t window, uint64_t seed)
{
    *tx = (struct gmc_tx){.blocks = blocks, .window = window};
    gmc_interval_init(&tx->taken, TAKEN_RANGES_MAX);
    gmc_map_init(&tx->open, seed);
    gmc_list_init(&tx->repairs);
    gmc_list_init(&tx->fresh);
    gmc_list_init(&tx->waiting);
    gmc_list_init(&tx->resting);
    gmc_list_init(&tx->spares);
}

static void list_free(struct gmc_list *list)
{
    while (!gmc_list_is_empty(list)) {
        struct gmc_tx_block *b = GMC_CONTAINER_OF(list->next, struct gmc_tx_block, node);
        gmc_list_remove(&b->node);
        free(b);
    }
}

void gmc_tx_near(const struct gmc_tx *tx, struct gmc_near *near)
{
    const struct gmc_tx_block *recent = tx->recent;
    gmc_near_add(near, tx->taken.ranges, sizeof(*tx->taken.ranges));
    if (recent == NULL)
        return;
    gmc_near_add(near, recent, sizeof(*recent));
    gmc_map_near(&tx->open, recent->block, near);
    gmc_map_near(&tx->open, recent->block + 1, near);
    if (!gmc_list_is_empty(&tx->resting))
        gmc_near_add(near, gmc_list_first(&tx->resting), sizeof(*recent));
    if (!gmc_list_is_empty(&tx->fresh))
        gmc_near_add(near, gmc_list_first(&tx->fresh), sizeof(*recent));
}

void gmc_tx_fini(struct gmc_tx *tx)
{
    list_free(&tx->repairs);
    list_free(&tx->fresh);
    list_free(&tx->waiting);
    list_free(&tx->resting);
    list_free(&tx->spares);
    gmc_map_fini(&tx->open);
    gmc_interval_fini(&tx->taken);
}

static void set_list(struct gmc_tx *tx, struct gmc_tx_block *b, struct gmc_list *list)
{
    if (b->list == &tx->repairs || b->list == &tx->fresh)
        tx->fresh_count--;
    if (list == &tx->repairs || list == &tx->fresh)
        tx->fresh_count++;
    b->list = list;
}

/* Puts an open block into the list that fits what is to be sent of it; one that is in the right
 * list already keeps its place. */
static void sort_in(struct gmc_tx *tx, struct gmc_tx_block *b)
{
    struct gmc_list *list = &tx->resting;
    if ((b->lost & b->at_hand) != 0)
        list = &tx->repairs;
    else if ((b->unsent & b->at_hand) != 0)
        list = &tx->fresh;
    else if (b->unsent != 0)
        list = &tx->waiting;
    if (list == b->list)
        return;
    set_list(tx, b, list);
    gmc_list_remove(&b->node);
    struct gmc_list *behind = list;
    /* Mostly at the end; at most the backlog at hand is passed by. */
    while ((list == &tx->repairs || list == &tx->fresh) && behind->prev != list &&
           GMC_CONTAINER_OF(behind->prev, struct gmc_tx_block, node)->block > b->block)
        behind = behind->prev;
    gmc_list_insert_before(behind, &b->node);
}

/* The open block; NULL: it is not open. Calls about one block follow each other. */
static struct gmc_tx_block *look_up(const struct gmc_tx *tx, uint64_t block)
{
    if (tx->recent != NULL && tx->recent->block == block)
        return tx->recent;
    return gmc_map_get(&tx->open, block);
}

static struct gmc_tx_block *find(struct gmc_tx *tx, uint64_t block)
{
    return tx->recent = look_up(tx, block);
}

/* It is in the map no more. */
static void put_away(struct gmc_tx *tx, struct gmc_tx_block *b)
{
    tx->recent = NULL;
    set_list(tx, b, &tx->spares);
    gmc_list_remove(&b->node);
    gmc_list_push_back(&tx->spares, &b->node);
    tx->open_count--;
}

static void close_block(struct gmc_tx *tx, struct gmc_tx_block *b)
{
    gmc_map_remove(&tx->open, b->block);
    put_away(tx, b);
}

static void close_range(struct gmc_tx *tx, struct gmc_list *list, uint64_t first, uint64_t last)
{
    struct gmc_list *at = list->next;
    while (at != list) {
        struct gmc_tx_block *b = GMC_CONTAINER_OF(at, struct gmc_tx_block, node);
        at = at->next;
        if (b->block >= first && b->block <= last)
            close_block(tx, b);
    }
}

void gmc_tx_have(struct gmc_tx *tx, uint64_t first, uint64_t last)
{
    if (first >= tx->blocks || first > last)
        return;
    if (last >= tx->blocks)
        last = tx->blocks - 1;
    if (last - first < 64) {
        for (uint64_t n = first; n <= last; n++) {
            struct gmc_tx_block *b = gmc_map_remove(&tx->open, n);
            if (b != NULL)
                put_away(tx, b);
        }
    } else {
        close_range(tx, &tx->repairs, first, last);
        close_range(tx, &tx->fresh, first, last);
        close_range(tx, &tx->waiting, first, last);
        close_range(tx, &tx->resting, first, last);
    }
    /* Full: the blocks stay missing here and are sent again, which costs only time. */
    gmc_status status = gmc_interval_add(&tx->taken, first, last + 1);
    (void)status;
}

void gmc_tx_want(struct gmc_tx *tx, uint32_t block)
{
    struct gmc_tx_block *b = find(tx, block);
    if (b != NULL)
        close_block(tx, b);
    tx->turn = (tx->turn + 1) & TURN_MASK;
    gmc_status status = gmc_interval_remove(&tx->taken, block, (uint64_t)block + 1);
    (void)status;
}

bool gmc_tx_is_complete(const struct gmc_tx *tx)
{
    return tx->open_count == 0 && gmc_tx_is_all_taken(tx);
}

bool gmc_tx_may_open(const struct gmc_tx *tx)
{
    return tx->open_count < tx->window;
}

bool gmc_tx_next_missing(const struct gmc_tx *tx, uint64_t from, uint32_t *block)
{
    uint64_t found;
    if (from >= tx->blocks || !gmc_interval_first_missing(&tx->taken, from, tx->blocks, &found))
        return false;
    *block = (uint32_t)found;
    return true;
}

gmc_status gmc_tx_open(struct gmc_tx *tx, uint32_t block, uint32_t fragments)
{
    GMC_ASSERT(fragments >= 1 && fragments <= 64);
    gmc_status status = gmc_interval_add(&tx->taken, block, (uint64_t)block + 1);
    if (status != GMC_OK)
        return status;
    struct gmc_tx_block *b;
    if (!gmc_list_is_empty(&tx->spares)) {
        b = GMC_CONTAINER_OF(tx->spares.next, struct gmc_tx_block, node);
        gmc_list_remove(&b->node);
    } else {
        b = calloc(1, sizeof(*b));
        if (b == NULL)
            goto undo_taken;
    }
    uint64_t all = fragments == 64 ? UINT64_MAX : ((uint64_t)1 << fragments) - 1;
    *b = (struct gmc_tx_block){.block = block, .turn = tx->turn, .all = all, .unsent = all};
    gmc_list_init(&b->node);
    if (gmc_map_put(&tx->open, block, b) != GMC_OK) {
        gmc_list_push_back(&tx->spares, &b->node);
        goto undo_taken;
    }
    tx->recent = b;
    sort_in(tx, b);
    tx->open_count++;
    tx->copied = 0;
    return GMC_OK;

undo_taken:
    status = gmc_interval_remove(&tx->taken, block, (uint64_t)block + 1);
    (void)status;
    return GMC_ERR_NOMEM;
}

bool gmc_tx_is_open(const struct gmc_tx *tx, uint32_t block)
{
    return look_up(tx, block) != NULL;
}

void gmc_tx_at_hand(struct gmc_tx *tx, uint32_t block, uint64_t mask)
{
    struct gmc_tx_block *b = find(tx, block);
    if (b == NULL)
        return;
    b->at_hand |= mask & b->all;
    sort_in(tx, b);
}

void gmc_tx_out_of_hand(struct gmc_tx *tx, uint32_t block)
{
    struct gmc_tx_block *b = find(tx, block);
    if (b == NULL)
        return;
    b->at_hand = 0;
    sort_in(tx, b);
}

bool gmc_tx_next_waiting(struct gmc_tx *tx, uint32_t *block)
{
    struct gmc_list *node = gmc_list_pop_front(&tx->waiting);
    if (node == NULL)
        return false;
    gmc_list_push_back(&tx->waiting, node);
    *block = GMC_CONTAINER_OF(node, struct gmc_tx_block, node)->block;
    return true;
}

static uint16_t lowest(uint64_t mask)
{
    return (uint16_t)__builtin_ctzll(mask);
}

bool gmc_tx_next(struct gmc_tx *tx, uint32_t *block, uint16_t *fragment)
{
    struct gmc_tx_block *b;
    if (!gmc_list_is_empty(&tx->repairs)) {
        b = GMC_CONTAINER_OF(tx->repairs.next, struct gmc_tx_block, node);
        *fragment = lowest(b->lost & b->at_hand);
    } else if (!gmc_list_is_empty(&tx->fresh)) {
        b = GMC_CONTAINER_OF(tx->fresh.next, struct gmc_tx_block, node);
        *fragment = lowest(b->unsent & b->at_hand);
    } else {
        return false;
    }
    tx->recent = b;
    *block = b->block;
    return true;
}

/* Fragments that were copied at most so often. */
static uint64_t copied_at_most(const struct gmc_tx_block *b, unsigned count)
{
    switch (count) {
    case 0:
        return ~(b->copies[0] | b->copies[1]);
    case 1:
        return ~b->copies[1];
    default:
        return ~(b->copies[0] & b->copies[1]);
    }
}

bool gmc_tx_next_copy(struct gmc_tx *tx, unsigned copies, uint32_t *block, uint16_t *fragment)
{
    if (!gmc_list_is_empty(&tx->waiting) || !gmc_tx_is_all_taken(tx))
        return false;
    for (; tx->copied + 1u < copies; tx->copied++) {
        for (uint32_t left = tx->open_count; left > 0; left--) {
            struct gmc_list *newest = tx->resting.prev;
            if (newest == &tx->resting)
                return false;
            const struct gmc_tx_block *b = GMC_CONTAINER_OF(newest, struct gmc_tx_block, node);
            uint64_t mask = b->all & b->at_hand & ~b->acked & copied_at_most(b, tx->copied);
            if (mask != 0) {
                *block = b->block;
                *fragment = (uint16_t)(63 - __builtin_clzll(mask));
                return true;
            }
            gmc_list_remove(newest);
            gmc_list_insert_before(tx->resting.next, newest);
        }
    }
    return false;
}

void gmc_tx_sent(struct gmc_tx *tx, uint32_t block, uint16_t fragment)
{
    struct gmc_tx_block *b = find(tx, block);
    GMC_ASSERT(b != NULL);
    uint64_t bit = (uint64_t)1 << fragment;
    tx->fragments_sent++;
    if ((b->lost & bit) != 0 || (b->unsent & bit) == 0)
        tx->repairs_sent++;
    if ((b->unsent & bit) == 0) {
        b->copies[1] ^= b->copies[0] & bit;
        b->copies[0] ^= bit;
    }
    b->unsent &= ~bit;
    b->lost &= ~bit;
    sort_in(tx, b);
}

uint16_t gmc_tx_mark(const struct gmc_tx *tx, uint32_t block, uint16_t fragment)
{
    const struct gmc_tx_block *b = look_up(tx, block);
    GMC_ASSERT(b != NULL && fragment < 64);
    return (uint16_t)(b->turn << 6 | fragment);
}

void gmc_tx_fate(struct gmc_tx *tx, uint32_t block, uint16_t mark, bool acked)
{
    struct gmc_tx_block *b = find(tx, block);
    uint64_t bit = (uint64_t)1 << (mark & 63);
    if (b == NULL || b->turn != mark >> 6 || (b->all & bit) == 0 || (b->acked & bit) != 0)
        return;
    if (acked) {
        b->acked |= bit;
        b->unsent &= ~bit;
        b->lost &= ~bit;
    } else {
        b->unsent |= bit;
        b->lost |= bit;
        b->copies[0] &= ~bit;
        b->copies[1] &= ~bit;
        tx->copied = 0;
    }
    sort_in(tx, b);
}
