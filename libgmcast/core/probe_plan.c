/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the choice of pairs that are measured in large groups; see probe_plan.h. */
#include "core/probe_plan.h"

#include <stdbool.h>
#include <stdlib.h>

#include "core/tree.h"

struct candidate {
    uint64_t bound; /* of the latency, from below */
    int32_t v;
};

static uint64_t from_source(const struct gmc_probe_marks *marks, int32_t u)
{
    return marks->latency[(size_t)u * marks->columns];
}

/* Nearer to the source; those that do not hear it last. A strict order. */
static bool comes_before(const struct gmc_probe_marks *marks, int32_t a, int32_t b)
{
    uint64_t far_a = from_source(marks, a), far_b = from_source(marks, b);

    return far_a != far_b ? far_a < far_b : a < b;
}

static void sift_down(const struct gmc_probe_marks *marks, int32_t *heap, size_t at, size_t count)
{
    int32_t moving = heap[at];

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= count)
            break;
        if (child + 1 < count && comes_before(marks, heap[child], heap[child + 1]))
            child++;
        if (!comes_before(marks, moving, heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

static void sort_by_distance(const struct gmc_probe_marks *marks, int32_t *items, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift_down(marks, items, i, count);
    for (size_t last = count; last-- > 1;) {
        int32_t farthest = items[0];

        items[0] = items[last];
        items[last] = farthest;
        sift_down(marks, items, 0, last);
    }
}

/* The best lower bound of the latency between two, or anything above `enough`. */
static uint64_t bound_of(const struct gmc_probe_marks *marks, int32_t u, int32_t v, uint64_t enough)
{
    const uint64_t *a = &marks->latency[(size_t)u * marks->columns];
    const uint64_t *b = &marks->latency[(size_t)v * marks->columns];
    uint64_t bound = 0;

    for (size_t i = 0; i < marks->columns && bound <= enough; i++) {
        uint64_t apart = a[i] < b[i] ? b[i] - a[i] : a[i] - b[i];

        if (a[i] != GMC_LATENCY_UNKNOWN && b[i] != GMC_LATENCY_UNKNOWN && apart > bound)
            bound = apart;
    }
    return bound;
}

/* Keeps the list sorted; returns its new length. */
static size_t take(struct candidate *list, size_t held, size_t max, struct candidate fresh)
{
    size_t at = held;

    while (at > 0 && (fresh.bound < list[at - 1].bound ||
                      (fresh.bound == list[at - 1].bound && fresh.v < list[at - 1].v)))
        at--;
    if (at == max)
        return held;
    if (held < max)
        held++;
    for (size_t i = held - 1; i > at; i--)
        list[i] = list[i - 1];
    list[at] = fresh;
    return held;
}

/* Those before `rank` that look nearest, from the closest in distance from the source on: further
 * up that distance alone is more than the bounds of all that are held. */
static size_t nearest(const struct gmc_probe_marks *marks, const int32_t *order, size_t rank,
                      size_t max, struct candidate *list)
{
    int32_t u = order[rank];
    size_t held = 0;

    for (size_t i = rank; i-- > 1;) {
        int32_t v = order[i];
        uint64_t worst = held == max ? list[held - 1].bound : GMC_LATENCY_UNKNOWN;

        if (from_source(marks, u) != GMC_LATENCY_UNKNOWN &&
            from_source(marks, u) - from_source(marks, v) > worst)
            break;
        struct candidate fresh = {bound_of(marks, u, v, worst), v};
        if (held < max || fresh.bound <= worst)
            held = take(list, held, max, fresh);
    }
    return held;
}

gmc_status gmc_probe_plan(const struct gmc_probe_marks *marks, size_t count, int32_t *near)
{
    struct candidate *list;
    int32_t *order;

    if (marks->n == 0 || marks->n > INT32_MAX || marks->columns == 0)
        return GMC_ERR_INVALID;
    list = malloc((count + 1) * sizeof(*list));
    order = malloc(marks->n * sizeof(*order));
    if (list == NULL || order == NULL) {
        free(list);
        free(order);
        return GMC_ERR_NOMEM;
    }
    for (size_t i = 0; i < marks->n; i++)
        order[i] = (int32_t)i;
    for (size_t i = 0; i < marks->n * count; i++)
        near[i] = -1;
    sort_by_distance(marks, order + 1, marks->n - 1);
    for (size_t rank = 2; rank < marks->n && count > 0; rank++) {
        size_t held = nearest(marks, order, rank, count, list);

        for (size_t i = 0; i < held; i++)
            near[(size_t)order[rank] * count + i] = list[i].v;
    }
    free(list);
    free(order);
    return GMC_OK;
}
