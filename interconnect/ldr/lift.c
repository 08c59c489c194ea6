/* SPDX-License-Identifier: BSD-2-Clause */
/* Orbits of links, and swapping them. */
#include "interconnect/ldr/lift.h"

#include <stdlib.h>

#include "base/assert.h"
#include "interconnect/ldr/generate.h"

#define TRIES_PER_ORBIT 64u
#define TRIES 1000u

/* ---- one orbit ---- */

static uint32_t reverse(const struct ic_lift *lift, uint32_t shift)
{
    return shift == 0 ? 0 : lift->order - shift;
}

/* Each node has one link of it, although both ends are in one row. */
static bool is_half(const struct ic_lift *lift, const struct ic_lift_orbit *orbit)
{
    return orbit->a == orbit->b && 2 * orbit->shift == lift->order;
}

static uint32_t find_arc(const struct ic_lift *lift, uint32_t row, uint32_t from, uint32_t shift,
                         uint32_t end)
{
    uint32_t arc = lift->first[row];
    while (arc < end && (lift->from[arc] != from || lift->shift[arc] != shift))
        arc++;
    return arc;
}

static bool has_arc(const struct ic_lift *lift, uint32_t row, uint32_t from, uint32_t shift)
{
    uint32_t end = lift->first[row + 1];
    return find_arc(lift, row, from, shift, end) < end;
}

/* ---- taking out and putting in: the free places of a row have no source ---- */

static void put_arc(struct ic_lift *lift, uint32_t row, uint32_t from, uint32_t shift)
{
    uint32_t end = lift->first[row + 1];
    uint32_t arc = find_arc(lift, row, IC_GRAPH_NONE, 0, end);
    GMC_ASSERT(arc < end);
    lift->from[arc] = from;
    lift->shift[arc] = (uint8_t)shift;
}

static void take_arc(struct ic_lift *lift, uint32_t row, uint32_t from, uint32_t shift)
{
    uint32_t end = lift->first[row + 1];
    uint32_t arc = find_arc(lift, row, from, shift, end);
    GMC_ASSERT(arc < end);
    lift->from[arc] = IC_GRAPH_NONE;
    lift->shift[arc] = 0;
}

/* False when it is a loop or there already; then nothing has changed. */
static bool put(struct ic_lift *lift, uint32_t at, struct ic_lift_orbit orbit)
{
    if ((orbit.a == orbit.b && orbit.shift == 0) || has_arc(lift, orbit.b, orbit.a, orbit.shift))
        return false;
    put_arc(lift, orbit.b, orbit.a, orbit.shift);
    if (!is_half(lift, &orbit))
        put_arc(lift, orbit.a, orbit.b, reverse(lift, orbit.shift));
    lift->orbits[at] = orbit;
    return true;
}

static void take(struct ic_lift *lift, uint32_t at)
{
    const struct ic_lift_orbit *orbit = &lift->orbits[at];
    take_arc(lift, orbit->b, orbit->a, orbit->shift);
    if (!is_half(lift, orbit))
        take_arc(lift, orbit->a, orbit->b, reverse(lift, orbit->shift));
}

/* ---- making ---- */

static gmc_status make(struct ic_lift *lift, uint32_t rows, uint32_t order, uint32_t degree)
{
    size_t arcs = (size_t)rows * degree;
    *lift = (struct ic_lift){
        .rows = rows,
        .order = order,
        .degree = degree,
        .orbits = calloc(arcs, sizeof(*lift->orbits)),
        .first = calloc((size_t)rows + 1, sizeof(*lift->first)),
        .from = calloc(arcs, sizeof(*lift->from)),
        .shift = calloc(arcs, sizeof(*lift->shift)),
    };
    if (lift->orbits == NULL || lift->first == NULL || lift->from == NULL || lift->shift == NULL) {
        ic_lift_fini(lift);
        return GMC_ERR_NOMEM;
    }
    for (uint32_t i = 0; i <= rows; i++)
        lift->first[i] = i * degree;
    return GMC_OK;
}

void ic_lift_fini(struct ic_lift *lift)
{
    free(lift->orbits);
    free(lift->first);
    free(lift->from);
    free(lift->shift);
    *lift = (struct ic_lift){0};
}

static void clear(struct ic_lift *lift)
{
    for (uint32_t i = 0; i < lift->first[lift->rows]; i++) {
        lift->from[i] = IC_GRAPH_NONE;
        lift->shift[i] = 0;
    }
    lift->count = 0;
}

static void shuffle(uint32_t *ends, uint32_t count, struct gmc_prng *prng)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = (uint32_t)gmc_prng_below(prng, i);
        uint32_t swap = ends[i - 1];
        ends[i - 1] = ends[j];
        ends[j] = swap;
    }
}

/* An orbit between two rows, with any shift that is free. */
static bool join(struct ic_lift *lift, uint32_t a, uint32_t b, struct gmc_prng *prng)
{
    for (uint32_t i = 0; i < TRIES_PER_ORBIT; i++) {
        struct ic_lift_orbit orbit = {a, b, (uint32_t)gmc_prng_below(prng, lift->order)};
        if (is_half(lift, &orbit) || !put(lift, lift->count, orbit))
            continue;
        lift->count++;
        return true;
    }
    return false;
}

/* Pairs the ends that rows have left, as they come after shuffling. */
static bool fill(struct ic_lift *lift, uint32_t *ends, struct gmc_prng *prng)
{
    uint32_t count = lift->rows * lift->degree;
    clear(lift);
    for (uint32_t i = 0; i < count; i++)
        ends[i] = i / lift->degree;
    shuffle(ends, count, prng);
    /* An odd number of ends leaves one, which takes the orbit of half the order. */
    if (count % 2 == 1) {
        struct ic_lift_orbit half = {ends[count - 1], ends[count - 1], lift->order / 2};
        if (!put(lift, lift->count++, half))
            return false;
    }
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        /* An end that fits nowhere is tried with another one. */
        for (uint32_t j = 0; !join(lift, ends[i], ends[i + 1], prng); j++) {
            if (i + 2 >= count - count % 2 || j >= TRIES_PER_ORBIT)
                return false;
            uint32_t other = i + 2 + (uint32_t)gmc_prng_below(prng, count - count % 2 - i - 2);
            uint32_t swap = ends[i + 1];
            ends[i + 1] = ends[other];
            ends[other] = swap;
        }
    }
    return true;
}

static gmc_status check(uint64_t nodes, uint64_t degree, uint64_t order, char *error)
{
    gmc_status status = ic_ldr_check(nodes, degree, error);
    if (status == GMC_OK)
        status = ic_check_range("the order of the rotation", order, 1, IC_REACH_ORDER_MAX, error);
    if (status == GMC_OK && nodes % order != 0)
        status = ic_refuse(error, "the order of the rotation, %u, is no divisor of %u nodes",
                           (uint32_t)order, (uint32_t)nodes);
    return status;
}

gmc_status ic_lift_random(struct ic_lift *lift, uint64_t nodes, uint64_t degree, uint64_t order,
                          struct gmc_prng *prng, char *error)
{
    gmc_status status = check(nodes, degree, order, error);
    if (status == GMC_OK)
        status = make(lift, (uint32_t)(nodes / order), (uint32_t)order, (uint32_t)degree);
    if (status != GMC_OK)
        return status;
    uint32_t *ends = calloc((size_t)lift->rows * lift->degree, sizeof(*ends));
    bool is_found = false;
    for (uint32_t i = 0; ends != NULL && i < TRIES && !is_found; i++)
        is_found = fill(lift, ends, prng);
    if (ends == NULL)
        status = GMC_ERR_NOMEM;
    else if (!is_found)
        status = ic_refuse(error,
                           "no graph of %u nodes and degree %u was found that a rotation of "
                           "order %u maps onto itself; try a smaller order",
                           (uint32_t)nodes, (uint32_t)degree, (uint32_t)order);
    free(ends);
    if (status != GMC_OK)
        ic_lift_fini(lift);
    return status;
}

gmc_status ic_lift_of_graph(struct ic_lift *lift, const struct ic_graph *graph, char *error)
{
    uint32_t least, most;
    ic_graph_degrees(graph, &least, &most);
    if (least != most)
        return ic_refuse(error, "the graph is not regular: nodes have %u to %u links", least, most);
    gmc_status status = check(graph->nodes, most, 1, error);
    if (status == GMC_OK)
        status = make(lift, graph->nodes, 1, most);
    if (status != GMC_OK)
        return status;
    clear(lift);
    for (uint32_t a = 0; a < graph->nodes; a++)
        for (uint32_t i = graph->first[a]; i < graph->first[a + 1]; i++)
            if (a < graph->neighbours[i]) {
                bool is_put =
                    put(lift, lift->count++, (struct ic_lift_orbit){a, graph->neighbours[i], 0});
                GMC_ASSERT(is_put);
            }
    return GMC_OK;
}

gmc_status ic_lift_graph(const struct ic_lift *lift, struct ic_graph *graph, char *error)
{
    uint32_t order = lift->order;
    size_t count = 0;
    GMC_ASSERT(order > 0);
    struct ic_graph_link *links = calloc((size_t)lift->count * order, sizeof(*links));
    if (links == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t i = 0; i < lift->count; i++) {
        const struct ic_lift_orbit *orbit = &lift->orbits[i];
        uint32_t positions = is_half(lift, orbit) ? order / 2 : order;
        for (uint32_t j = 0; j < positions; j++)
            links[count++] = (struct ic_graph_link){orbit->a * order + j,
                                                    orbit->b * order + (j + orbit->shift) % order};
    }
    gmc_status status = ic_graph_init(graph, (uint64_t)lift->rows * order, links, count, error);
    free(links);
    return status;
}

/* ---- swapping ---- */

static struct ic_lift_orbit turned(const struct ic_lift *lift, struct ic_lift_orbit orbit)
{
    return (struct ic_lift_orbit){orbit.b, orbit.a, reverse(lift, orbit.shift)};
}

/* Takes the old orbits out and puts these in; if that cannot be, as it was. */
static bool replace(struct ic_lift *lift, struct ic_lift_swap *swap, const struct ic_lift_orbit *by)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < swap->count; i++) {
        swap->old[i] = lift->orbits[swap->at[i]];
        take(lift, swap->at[i]);
    }
    while (done < swap->count && put(lift, swap->at[done], by[done]))
        done++;
    if (done == swap->count)
        return true;
    for (uint32_t i = 0; i < done; i++)
        take(lift, swap->at[i]);
    for (uint32_t i = 0; i < swap->count; i++) {
        bool is_back = put(lift, swap->at[i], swap->old[i]);
        GMC_ASSERT(is_back);
    }
    return false;
}

/* An orbit of the same kind between the same rows. */
static bool shift_anew(struct ic_lift *lift, struct gmc_prng *prng, struct ic_lift_swap *swap)
{
    struct ic_lift_orbit by = lift->orbits[swap->at[0]];
    bool was_half = is_half(lift, &by);
    uint32_t old = by.shift;
    swap->count = 1;
    by.shift = (uint32_t)gmc_prng_below(prng, lift->order);
    if (was_half || is_half(lift, &by) || by.shift == old)
        return false;
    return replace(lift, swap, &by);
}

bool ic_lift_swap(struct ic_lift *lift, struct gmc_prng *prng, struct ic_lift_swap *swap)
{
    for (uint32_t i = 0; i < 2; i++)
        swap->at[i] = (uint32_t)gmc_prng_below(prng, lift->count);
    uint64_t draw = gmc_prng_u64(prng);
    if (swap->at[0] == swap->at[1])
        return shift_anew(lift, prng, swap);
    struct ic_lift_orbit x = lift->orbits[swap->at[0]], y = lift->orbits[swap->at[1]];
    uint32_t order = lift->order, turn = (uint32_t)(draw >> 1) % order;
    /* The orbit of half the order, if there is one, stays: it has half the links of others. */
    if (is_half(lift, &x) || is_half(lift, &y))
        return false;
    if (draw & 1)
        y = turned(lift, y);
    const struct ic_lift_orbit by[2] = {
        {x.a, y.b, (turn + y.shift) % order},
        {y.a, x.b, (order - turn + x.shift) % order},
    };
    if (is_half(lift, &by[0]) || is_half(lift, &by[1]))
        return false;
    swap->count = 2;
    return replace(lift, swap, by);
}

void ic_lift_undo(struct ic_lift *lift, const struct ic_lift_swap *swap)
{
    for (uint32_t i = 0; i < swap->count; i++)
        take(lift, swap->at[i]);
    for (uint32_t i = 0; i < swap->count; i++) {
        bool is_back = put(lift, swap->at[i], swap->old[i]);
        GMC_ASSERT(is_back);
    }
}
