/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the order inside the binary heap.
 */
#include "base/heap.h"

#include "base/assert.h"

#include <stdlib.h>

#define FIRST_CAPACITY 16

void gmc_heap_init(struct gmc_heap *heap)
{
    *heap = (struct gmc_heap){0};
}

void gmc_heap_fini(struct gmc_heap *heap)
{
    free(heap->nodes);
    gmc_heap_init(heap);
}

gmc_status gmc_heap_reserve(struct gmc_heap *heap, size_t count)
{
    struct gmc_heap_node **nodes;

    if (count <= heap->capacity)
        return GMC_OK;
    if (count > SIZE_MAX / sizeof *nodes)
        return GMC_ERR_NOMEM;
    nodes = realloc(heap->nodes, count * sizeof *nodes);
    if (nodes == NULL)
        return GMC_ERR_NOMEM;
    heap->nodes = nodes;
    heap->capacity = count;
    return GMC_OK;
}

static bool is_before(const struct gmc_heap_node *a, const struct gmc_heap_node *b)
{
    return a->key < b->key || (a->key == b->key && a->seq < b->seq);
}

static void set_place(struct gmc_heap *heap, size_t index, struct gmc_heap_node *node)
{
    heap->nodes[index] = node;
    node->place = index + 1;
}

/* Put node, for which index is free, at index or above. */
static void sift_up(struct gmc_heap *heap, size_t index, struct gmc_heap_node *node)
{
    while (index > 0) {
        size_t parent = (index - 1) / 2;

        if (!is_before(node, heap->nodes[parent]))
            break;
        set_place(heap, index, heap->nodes[parent]);
        index = parent;
    }
    set_place(heap, index, node);
}

/* Put node, for which index is free, at index or below. */
static void sift_down(struct gmc_heap *heap, size_t index, struct gmc_heap_node *node)
{
    for (;;) {
        size_t child = 2 * index + 1;

        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && is_before(heap->nodes[child + 1], heap->nodes[child]))
            child++;
        if (!is_before(heap->nodes[child], node))
            break;
        set_place(heap, index, heap->nodes[child]);
        index = child;
    }
    set_place(heap, index, node);
}

static void sift(struct gmc_heap *heap, size_t index, struct gmc_heap_node *node)
{
    if (index > 0 && is_before(node, heap->nodes[(index - 1) / 2]))
        sift_up(heap, index, node);
    else
        sift_down(heap, index, node);
}

gmc_status gmc_heap_push(struct gmc_heap *heap, struct gmc_heap_node *node, uint64_t key,
                         uint64_t seq)
{
    GMC_ASSERT(!gmc_heap_node_is_queued(node));
    if (heap->count == heap->capacity) {
        size_t more = heap->capacity == 0 ? FIRST_CAPACITY : heap->capacity * 2;
        gmc_status status = gmc_heap_reserve(heap, more);

        if (status != GMC_OK)
            return status;
    }
    node->key = key;
    node->seq = seq;
    sift_up(heap, heap->count++, node);
    return GMC_OK;
}

struct gmc_heap_node *gmc_heap_peek(const struct gmc_heap *heap)
{
    return heap->count > 0 ? heap->nodes[0] : NULL;
}

struct gmc_heap_node *gmc_heap_pop(struct gmc_heap *heap)
{
    struct gmc_heap_node *node = gmc_heap_peek(heap);

    if (node != NULL)
        gmc_heap_remove(heap, node);
    return node;
}

void gmc_heap_remove(struct gmc_heap *heap, struct gmc_heap_node *node)
{
    size_t index = node->place - 1;
    struct gmc_heap_node *last;

    if (!gmc_heap_node_is_queued(node))
        return;
    GMC_ASSERT(index < heap->count && heap->nodes[index] == node);
    last = heap->nodes[--heap->count];
    node->place = 0;
    if (last != node)
        sift(heap, index, last);
}

void gmc_heap_update(struct gmc_heap *heap, struct gmc_heap_node *node, uint64_t key, uint64_t seq)
{
    size_t index = node->place - 1;

    GMC_ASSERT(index < heap->count && heap->nodes[index] == node);
    node->key = key;
    node->seq = seq;
    sift(heap, index, node);
}
