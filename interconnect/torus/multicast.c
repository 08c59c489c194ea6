/* SPDX-License-Identifier: BSD-2-Clause */
/* The torus algorithms. All work on `order`, the group's positions in the order that the algorithm
 * wants, the root first. */
#include "interconnect/torus/multicast.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

static const char *const names[IC_TORUS_ALGORITHMS] = {
    [IC_TORUS_SEPARATE] = "separate", [IC_TORUS_U] = "U-torus",   [IC_TORUS_S] = "S-torus",
    [IC_TORUS_MD] = "Md-torus",       [IC_TORUS_MU] = "Mu-torus",
};

const char *ic_torus_algorithm_name(enum ic_torus_algorithm algorithm)
{
    GMC_ASSERT(algorithm < IC_TORUS_ALGORITHMS);
    return names[algorithm];
}

gmc_status ic_torus_algorithm_from_name(const char *name, enum ic_torus_algorithm *algorithm)
{
    for (int i = 0; i < IC_TORUS_ALGORITHMS; i++)
        if (strcmp(names[i], name) == 0) {
            *algorithm = (enum ic_torus_algorithm)i;
            return GMC_OK;
        }
    return GMC_ERR_NOT_FOUND;
}

/* What a member is sorted by. */
struct place {
    uint64_t key;
    uint32_t position;
};

struct work {
    const struct ic_torus *torus;
    const struct ic_torus_group *group;
    struct ic_schedule *schedule;
    uint32_t *order;
    struct place *places;
    bool joins; /* what is left over joins the last run */
};

static int by_key(const void *left, const void *right)
{
    uint64_t a = ((const struct place *)left)->key, b = ((const struct place *)right)->key;
    return (a > b) - (a < b);
}

static void sort_places(struct work *work, uint32_t *order, uint32_t count)
{
    qsort(work->places, count, sizeof(*work->places), by_key);
    for (uint32_t i = 0; i < count; i++)
        order[i] = work->places[i].position;
}

static void order_by_dimension(struct work *work)
{
    for (uint32_t i = 0; i < work->group->count; i++)
        work->order[i] = (work->group->root + i) % work->group->count;
}

static void order_by_rank(struct work *work)
{
    const struct ic_torus_group *group = work->group;
    uint32_t first = ic_torus_rank(work->torus, group->nodes[group->root]);
    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t rank = ic_torus_rank(work->torus, group->nodes[i]);
        work->places[i] =
            (struct place){rank >= first ? rank - first : rank - first + work->torus->nodes, i};
    }
    sort_places(work, work->order, group->count);
}

static void send(struct work *work, uint32_t step, uint32_t from, uint32_t to)
{
    ic_schedule_add(work->schedule, step, work->order[from], work->order[to]);
}

static void separate(struct work *work)
{
    order_by_dimension(work);
    for (uint32_t i = 1; i < work->group->count; i++)
        send(work, i, 0, i);
}

/* The holder at left serves left..right from this step on. */
static void halve(struct work *work, uint32_t left, uint32_t right, uint32_t step)
{
    for (; right > left; step++) {
        uint32_t center = left + (right - left + 2) / 2; /* (2-1) */
        send(work, step, left, center);
        halve(work, center, right, step + 1);
        right = center - 1;
    }
}

/* From first to last along the order. */
static void chain(struct work *work, uint32_t first, uint32_t last, uint32_t step)
{
    for (uint32_t i = first; i < last; i++)
        send(work, step++, i, i + 1);
}

/* Where the run that begins at head ends. */
static uint32_t end_of_run(const struct work *work, uint32_t head, uint32_t r)
{
    uint32_t left = work->group->count - head;
    bool is_last = left <= r || (work->joins && left - r < r);
    return is_last ? work->group->count - 1 : head + r - 1;
}

/* Runs of r, the heads of the others before the own one. */
static void cut(struct work *work, uint32_t r)
{
    uint32_t own_end = end_of_run(work, 0, r), step = 1;
    for (uint32_t head = own_end + 1; head < work->group->count;) {
        uint32_t end = end_of_run(work, head, r);
        send(work, step++, 0, head);
        chain(work, head, end, step);
        head = end + 1;
    }
    chain(work, 0, own_end, step);
}

/* Sorts first..last by the positive ring offsets from the holder at first, x_(level+1) before
 * x_(level+2) and so on: groups come in ring order, each with its head first. */
static void order_by_offset(struct work *work, uint32_t first, uint32_t last, uint32_t level)
{
    const struct ic_torus *torus = work->torus;
    uint32_t holder = work->group->nodes[work->order[first]];
    for (uint32_t i = first; i <= last; i++) {
        uint32_t node = work->group->nodes[work->order[i]];
        uint64_t key = 0;
        for (uint32_t d = level; d < torus->dimensions; d++)
            key = key * torus->k + ic_torus_offset(torus, holder, node, d);
        work->places[i - first] = (struct place){key, work->order[i]};
    }
    sort_places(work, work->order + first, last - first + 1);
}

/* The end of the group that begins at first: those of one coordinate at this level. */
static uint32_t end_of_group(const struct work *work, uint32_t first, uint32_t last, uint32_t level)
{
    const uint32_t *nodes = work->group->nodes;
    uint32_t digit = ic_torus_digit(work->torus, nodes[work->order[first]], level);
    uint32_t end = first;
    while (end < last && ic_torus_digit(work->torus, nodes[work->order[end + 1]], level) == digit)
        end++;
    return end;
}

/* The holder at first serves first..last, which agree in all coordinates above this level. */
static void by_rings(struct work *work, uint32_t first, uint32_t last, uint32_t level,
                     uint32_t step)
{
    order_by_offset(work, first, last, level);
    if (level + 1 == work->torus->dimensions) {
        chain(work, first, last, step);
        return;
    }
    uint32_t own_end = end_of_group(work, first, last, level);
    for (uint32_t head = own_end + 1; head <= last;) {
        uint32_t end = end_of_group(work, head, last, level);
        send(work, step++, first, head);
        by_rings(work, head, end, level + 1, step);
        head = end + 1;
    }
    by_rings(work, first, own_end, level + 1, step);
}

static void run(struct work *work, enum ic_torus_algorithm algorithm, uint32_t r)
{
    uint32_t last = work->group->count - 1;
    switch (algorithm) {
    case IC_TORUS_SEPARATE:
        separate(work);
        break;
    case IC_TORUS_U:
        order_by_dimension(work);
        halve(work, 0, last, 1);
        break;
    case IC_TORUS_S:
        order_by_rank(work);
        chain(work, 0, last, 1);
        break;
    case IC_TORUS_MU:
        order_by_rank(work);
        cut(work, r);
        break;
    default:
        GMC_ASSERT(algorithm == IC_TORUS_MD);
        /* by_rings wants the holder at the first place. */
        order_by_dimension(work);
        by_rings(work, 0, last, 0, 1);
        break;
    }
}

static gmc_status build(const struct ic_torus *torus, const struct ic_torus_group *group,
                        enum ic_torus_algorithm algorithm, uint32_t r, bool joins,
                        struct ic_schedule *schedule, char *error)
{
    gmc_status status = ic_torus_check_group(torus, group, error);
    if (status == GMC_OK && algorithm == IC_TORUS_MU)
        status = ic_check_range("r, the partition length,", r, 1, IC_GROUP_MAX, error);
    if (status != GMC_OK)
        return status;
    struct work work = {torus, group, schedule, NULL, NULL, joins};
    status = ic_schedule_init(schedule, group->count, group->root);
    work.order = calloc(group->count, sizeof(*work.order));
    work.places = malloc(group->count * sizeof(*work.places));
    if (work.order == NULL || work.places == NULL)
        status = GMC_ERR_NOMEM;
    if (status == GMC_OK) {
        run(&work, algorithm, r);
        ic_schedule_sort(schedule);
    } else {
        ic_schedule_fini(schedule);
    }
    free(work.order);
    free(work.places);
    return status;
}

gmc_status ic_torus_multicast(const struct ic_torus *torus, const struct ic_torus_group *group,
                              enum ic_torus_algorithm algorithm, uint32_t r,
                              struct ic_schedule *schedule, char *error)
{
    return build(torus, group, algorithm, r, false, schedule, error);
}

gmc_status ic_torus_multicast_joined(const struct ic_torus *torus,
                                     const struct ic_torus_group *group,
                                     enum ic_torus_algorithm algorithm, uint32_t r,
                                     struct ic_schedule *schedule, char *error)
{
    return build(torus, group, algorithm, r, true, schedule, error);
}
