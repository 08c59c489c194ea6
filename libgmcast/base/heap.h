/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the intrusive binary min-heap: timers, pacing times, event queues.
 *
 * Members are ordered by key, then by seq; with distinct seqs the order is total and does not
 * depend on how the heap was filled. A member knows its place, so that it can be moved or removed.
 */
#ifndef GMC_BASE_HEAP_H
#define GMC_BASE_HEAP_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Embedded in the member; 0-initialised it is in no heap. */
struct gmc_heap_node {
    uint64_t key; /* mostly a time */
    uint64_t seq; /* breaks ties among equal keys */
    size_t place; /* index in the heap plus 1, 0 if in none */
};

struct gmc_heap {
    struct gmc_heap_node **nodes; /* borrowed members */
    size_t count;
    size_t capacity;
};

void gmc_heap_init(struct gmc_heap *heap);

/* Release the array. Members are left alone and must not be used with a heap again before they
 * are 0-initialised.
 */
void gmc_heap_fini(struct gmc_heap *heap);

/* Make room for count members in all, so that no push up to there allocates or fails. */
GMC_NODISCARD gmc_status gmc_heap_reserve(struct gmc_heap *heap, size_t count);

/* Add node, which is in no heap (asserted) and stays borrowed until it leaves. NOMEM: unchanged. */
GMC_NODISCARD gmc_status gmc_heap_push(struct gmc_heap *heap, struct gmc_heap_node *node,
                                       uint64_t key, uint64_t seq);

/* The smallest member, NULL if there is none. */
struct gmc_heap_node *gmc_heap_peek(const struct gmc_heap *heap);

/* Take out and return the smallest member, NULL if there is none. */
struct gmc_heap_node *gmc_heap_pop(struct gmc_heap *heap);

/* Take out node, if it is in this heap (in another: undefined). */
void gmc_heap_remove(struct gmc_heap *heap, struct gmc_heap_node *node);

/* Change key and seq of node, which is in this heap (asserted). */
void gmc_heap_update(struct gmc_heap *heap, struct gmc_heap_node *node, uint64_t key, uint64_t seq);

static inline bool gmc_heap_node_is_queued(const struct gmc_heap_node *node)
{
    return node->place != 0;
}

#endif
