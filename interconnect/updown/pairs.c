/* SPDX-License-Identifier: BSD-2-Clause */
/* The flows to 64 destinations at once, a bit for each, from the farthest nodes to the nearest:
 * what a node adds to its inputs and outputs stays in the processor's caches then. */
#include "interconnect/updown/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define ABREAST 64u
#define DEPTH_USUAL 16u

/* A message at a node may still go up, or it came down. */
enum { UP, DOWN, STATES };

struct search {
    const struct ic_updown *updown;
    const struct ic_traffic *traffic;
    struct ic_updown_pairs *pairs;
    uint64_t *up_ports; /* by node: ports that lead up */
    double each;        /* what a node sends to a destination */
    double inverse[IC_UPDOWN_PORTS_MAX + 1];
    /* Of one block of destinations. */
    uint32_t first, depth, room;
    uint64_t all;      /* bits of destinations */
    uint64_t *layers;  /* by hops, node and state: destinations that are so far */
    uint64_t *reached; /* by node and state */
    uint64_t *brought; /* by node: destinations that it sends to */
    uint64_t *active;  /* by node and state: destinations that something goes to by it */
    uint64_t *going;   /* by port and the state before it: destinations that it goes to */
    double *flow;      /* by node, state and destination: what each port takes */
    double distances;  /* sum over pairs */
};

/* A node and state as destinations that are equally far see it. */
struct visit {
    uint32_t at, state, own, hops; /* own: ports */
    uint64_t word;                 /* destinations */
    double *flows, *choices;       /* of the node */
    /* By destination: ports to it, how many, what comes, and the part that each port takes. */
    uint64_t ports[ABREAST];
    uint32_t count[ABREAST];
    double sum[ABREAST], part[ABREAST];
};

static uint32_t ports_of(const struct ic_updown *updown, uint32_t at)
{
    return updown->first[at + 1] - updown->first[at];
}

static size_t place_of(uint32_t at, uint32_t state)
{
    return (size_t)at * STATES + state;
}

static void release(struct search *search)
{
    free(search->up_ports);
    free(search->layers);
    free(search->reached);
    free(search->brought);
    free(search->active);
    free(search->going);
    free(search->flow);
}

void ic_updown_pairs_fini(struct ic_updown_pairs *pairs)
{
    free(pairs->reverse);
    free(pairs->square);
    free(pairs->flows);
    free(pairs->choices);
    *pairs = (struct ic_updown_pairs){0};
}

static void find_ends(struct search *search)
{
    const struct ic_updown *updown = search->updown;
    for (uint32_t at = 0; at < updown->nodes; at++)
        for (uint32_t p = updown->first[at]; p < updown->first[at + 1]; p++) {
            uint32_t back = updown->first[updown->ends[p]];
            while (updown->ends[back] != at)
                back++;
            search->pairs->reverse[p] = back;
            if (ic_updown_is_up(updown, at, updown->ends[p]))
                search->up_ports[at] |= (uint64_t)1 << (p - updown->first[at]);
        }
}

static gmc_status prepare(struct search *search)
{
    const struct ic_updown *updown = search->updown;
    struct ic_updown_pairs *pairs = search->pairs;
    size_t nodes = updown->nodes, ports = updown->first[nodes];
    pairs->reverse = calloc(ports + 1, sizeof(uint32_t));
    search->up_ports = calloc(nodes, sizeof(uint64_t));
    search->reached = calloc(nodes * STATES, sizeof(uint64_t));
    search->brought = calloc(nodes, sizeof(uint64_t));
    search->active = calloc(nodes * STATES, sizeof(uint64_t));
    search->going = calloc((ports + 1) * STATES, sizeof(uint64_t));
    search->flow = calloc(nodes * STATES * ABREAST, sizeof(double));
    pairs->square = calloc(nodes, sizeof(size_t));
    if (pairs->reverse == NULL || search->up_ports == NULL || search->reached == NULL ||
        search->brought == NULL || search->active == NULL || search->going == NULL ||
        search->flow == NULL || pairs->square == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t at = 0; at < updown->nodes; at++) {
        size_t width = ports_of(updown, at) + 1;
        pairs->square[at] = pairs->squares;
        pairs->squares += width * width;
    }
    pairs->flows = calloc(pairs->squares, sizeof(double));
    pairs->choices = calloc(pairs->squares, sizeof(double));
    if (pairs->flows == NULL || pairs->choices == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t count = 1; count <= IC_UPDOWN_PORTS_MAX; count++)
        search->inverse[count] = 1.0 / count;
    search->each =
        search->traffic->pattern == IC_TRAFFIC_UNIFORM ? 1 / ((double)updown->nodes - 1) : 1;
    find_ends(search);
    return GMC_OK;
}

/* ---- distances ---- */
static gmc_status add_layer(struct search *search)
{
    size_t layer = (size_t)search->updown->nodes * STATES;
    GMC_ASSERT(layer > 0);
    if (search->depth == search->room) {
        uint32_t room = search->room > 0 ? 2 * search->room : DEPTH_USUAL;
        uint64_t *layers = realloc(search->layers, room * layer * sizeof(*layers));
        if (layers == NULL)
            return GMC_ERR_NOMEM;
        search->layers = layers;
        search->room = room;
    }
    memset(search->layers + search->depth * layer, 0, layer * sizeof(*search->layers));
    search->depth++;
    return GMC_OK;
}

/* At the destinations themselves nothing is left to go, whatever came before. */
static void begin(struct search *search)
{
    uint32_t nodes = search->updown->nodes;
    search->all = 0;
    for (uint32_t i = 0; i < ABREAST && search->first + i < nodes; i++) {
        uint64_t bit = (uint64_t)1 << i;
        search->all |= bit;
        for (uint32_t state = UP; state < STATES; state++)
            search->layers[place_of(search->first + i, state)] = bit;
    }
    memcpy(search->reached, search->layers, nodes * STATES * sizeof(*search->reached));
}

/* The last layer from the one before; true: nodes are left that it does not reach. */
static bool fill_layer(struct search *search)
{
    const struct ic_updown *updown = search->updown;
    uint64_t *next = search->layers + (search->depth - 1) * (size_t)updown->nodes * STATES;
    const uint64_t *last = next - (size_t)updown->nodes * STATES;
    uint64_t missing = 0;
    for (uint32_t at = 0; at < updown->nodes; at++) {
        uint64_t up = 0, down = 0, *reached = &search->reached[place_of(at, UP)];
        uint32_t p = updown->first[at];
        if ((reached[UP] & reached[DOWN]) == search->all)
            continue;
        for (uint64_t ports = search->up_ports[at]; p < updown->first[at + 1]; p++, ports >>= 1)
            if (ports & 1)
                up |= last[place_of(updown->ends[p], UP)];
            else
                down |= last[place_of(updown->ends[p], DOWN)];
        next[place_of(at, UP)] = (up | down) & ~reached[UP];
        next[place_of(at, DOWN)] = down & ~reached[DOWN];
        reached[UP] |= up | down;
        reached[DOWN] |= down;
        missing |= search->all & ~reached[UP];
        search->distances +=
            (double)(search->depth - 1) * __builtin_popcountll(next[place_of(at, UP)]);
    }
    return missing != 0;
}

static gmc_status find_layers(struct search *search)
{
    bool is_missing = search->updown->nodes > 1;
    search->depth = 0;
    gmc_status status = add_layer(search);
    if (status == GMC_OK)
        begin(search);
    while (status == GMC_OK && is_missing) {
        status = add_layer(search);
        if (status == GMC_OK)
            is_missing = fill_layer(search);
    }
    if (search->depth - 1 > search->pairs->longest)
        search->pairs->longest = search->depth - 1;
    return status;
}

/* ---- flows ---- */
static void enter(struct search *search)
{
    const struct ic_updown *updown = search->updown;
    bool is_uniform = search->traffic->pattern == IC_TRAFFIC_UNIFORM;
    for (uint32_t at = 0; at < updown->nodes; at++) {
        uint32_t partner = is_uniform ? at : ic_traffic_partner(search->traffic, at);
        uint32_t own = at - search->first, to = partner - search->first;
        uint64_t bits = is_uniform ? search->all : 0;
        if (to < ABREAST && !is_uniform)
            bits = (uint64_t)1 << to;
        if (own < ABREAST)
            bits &= ~((uint64_t)1 << own);
        search->brought[at] = bits;
        search->active[place_of(at, UP)] = bits;
        search->active[place_of(at, DOWN)] = 0;
    }
    memset(search->going, 0,
           (size_t)updown->first[updown->nodes] * STATES * sizeof(*search->going));
}

/* All ports by which ways to each destination go on, or the lowest. */
static void find_ports(struct search *search, struct visit *visit)
{
    const struct ic_updown *updown = search->updown;
    const uint64_t *nearer = search->layers + (visit->hops - 1) * (size_t)updown->nodes * STATES;
    uint64_t word = visit->word;
    for (uint64_t left = word; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        visit->ports[i] = 0;
        visit->count[i] = 0;
    }
    for (uint32_t p = 0; p < visit->own && word != 0; p++) {
        uint32_t port = updown->first[visit->at] + p;
        uint32_t state = search->up_ports[visit->at] >> p & 1 ? UP : DOWN;
        size_t next = place_of(updown->ends[port], state);
        uint64_t taken = word & nearer[next];
        if (taken == 0 || state < visit->state)
            continue;
        search->going[place_of(port, visit->state)] |= taken;
        search->active[next] |= taken;
        if (updown->routing == IC_UPDOWN_FIXED)
            word &= ~taken;
        for (; taken != 0; taken &= taken - 1) {
            uint32_t i = (uint32_t)__builtin_ctzll(taken);
            visit->ports[i] |= (uint64_t)1 << p;
            visit->count[i]++;
        }
    }
    for (uint64_t left = visit->word; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        visit->part[i] = search->inverse[visit->count[i]];
    }
}

/* What one input brings of one destination goes on by all ports alike, or to the node. */
static inline void split(struct visit *visit, double *row, uint32_t i, double flow)
{
    visit->sum[i] += flow;
    if (visit->hops == 0) {
        row[visit->own] += flow;
        return;
    }
    double each = flow * visit->part[i];
    for (uint64_t left = visit->ports[i]; left != 0; left &= left - 1)
        row[__builtin_ctzll(left)] += each;
}

/* By one port, from a state of the node at its other end. */
static void take_port(struct search *search, struct visit *visit, uint32_t in, uint32_t state)
{
    uint32_t port = search->updown->first[visit->at] + in;
    const double *coming = &search->flow[place_of(search->updown->ends[port], state) * ABREAST];
    double *row = &visit->flows[(size_t)in * (visit->own + 1)];
    uint64_t word = visit->word & search->going[place_of(search->pairs->reverse[port], state)];
    for (; word != 0; word &= word - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(word);
        split(visit, row, i, coming[i]);
    }
}

/* What came up, and what the node sends; or what came down, which went up or down before. */
static void take(struct search *search, struct visit *visit)
{
    uint64_t up = search->up_ports[visit->at];
    for (uint64_t left = visit->word; left != 0; left &= left - 1)
        visit->sum[__builtin_ctzll(left)] = 0;
    for (uint32_t in = 0; in < visit->own; in++, up >>= 1) {
        bool came_down = up & 1;
        if (came_down != (visit->state == DOWN))
            continue;
        take_port(search, visit, in, UP);
        if (came_down)
            take_port(search, visit, in, DOWN);
    }
    if (visit->state == DOWN)
        return;
    double *row = &visit->flows[(size_t)visit->own * (visit->own + 1)];
    for (uint64_t left = visit->word & search->brought[visit->at]; left != 0; left &= left - 1)
        split(visit, row, (uint32_t)__builtin_ctzll(left), search->each);
}

/* What each port takes, for those that come after. */
static void pass_on(struct search *search, const struct visit *visit)
{
    double *flow = &search->flow[place_of(visit->at, visit->state) * ABREAST];
    size_t width = visit->own + 1;
    for (uint64_t word = visit->word; word != 0; word &= word - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(word);
        double *choices = visit->choices + (visit->count[i] - 1) * width;
        flow[i] = visit->sum[i] * visit->part[i];
        for (uint64_t left = visit->ports[i]; left != 0; left &= left - 1)
            choices[(uint32_t)__builtin_ctzll(left)] += flow[i];
    }
}

static void pass(struct search *search, struct visit *visit)
{
    size_t square = search->pairs->square[visit->at];
    visit->own = ports_of(search->updown, visit->at);
    visit->flows = search->pairs->flows + square;
    visit->choices = search->pairs->choices + square;
    if (visit->hops > 0)
        find_ports(search, visit);
    take(search, visit);
    if (visit->hops > 0)
        pass_on(search, visit);
}

/* Farthest first: what comes to a node is known when it is passed on. */
static void pass_all(struct search *search)
{
    uint32_t nodes = search->updown->nodes;
    struct visit visit;
    for (visit.hops = search->depth; visit.hops-- > 0;)
        for (visit.at = 0; visit.at < nodes; visit.at++)
            for (visit.state = UP; visit.state < STATES; visit.state++) {
                size_t place = place_of(visit.at, visit.state);
                visit.word = search->layers[visit.hops * (size_t)nodes * STATES + place] &
                             search->active[place];
                if (visit.word != 0)
                    pass(search, &visit);
            }
}

gmc_status ic_updown_pairs_init(struct ic_updown_pairs *pairs, const struct ic_updown *updown,
                                const struct ic_traffic *traffic)
{
    struct search search = {.updown = updown, .traffic = traffic, .pairs = pairs};
    *pairs = (struct ic_updown_pairs){0};
    gmc_status status = prepare(&search);
    for (; status == GMC_OK && search.first < updown->nodes; search.first += ABREAST) {
        status = find_layers(&search);
        if (status != GMC_OK)
            break;
        enter(&search);
        pass_all(&search);
    }
    pairs->distance = search.distances / ((double)updown->nodes * (updown->nodes - 1));
    release(&search);
    return status;
}
