/* SPDX-License-Identifier: BSD-2-Clause */
/* A node is two vertices: of messages that may still go up, and of those that came down. */
#include "interconnect/updown/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "interconnect/flows/spread.h"
#include "interconnect/flows/walk.h"
#include "interconnect/updown/cube.h"

#define ABREAST IC_FLOW_ABREAST
#define DEPTH_USUAL 16u

enum { UP, DOWN, STATES };

/* Arcs of vertices, and the nodes' ports that they are. */
struct vertices {
    uint32_t *first, *to, *input, *first_input, *from, *output;
    uint32_t *port, *input_port; /* by output, by input; counted by node */
};

struct search {
    const struct ic_updown *updown;
    const struct ic_traffic *traffic;
    struct ic_updown_pairs *pairs;
    uint64_t *up_ports; /* by node: ports that lead up */
    struct vertices vertices;
    struct ic_arcs arcs;
    struct ic_flow_sums sums;
    /* Of one block of destinations. */
    uint32_t first, depth, room;
    uint64_t all;      /* bits of destinations */
    uint64_t *layers;  /* by hops and vertex: destinations that are so far */
    uint64_t *reached; /* by vertex */
    double distances;  /* sum over pairs */
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
    const struct vertices *vertices = &search->vertices;
    free(vertices->first);
    free(vertices->to);
    free(vertices->input);
    free(vertices->first_input);
    free(vertices->from);
    free(vertices->output);
    free(vertices->port);
    free(vertices->input_port);
    free(search->up_ports);
    free(search->layers);
    free(search->reached);
    ic_flow_sums_fini(&search->sums);
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

/* ---- vertices ---- */
/* What came down goes on down. */
static void add_outputs(struct search *search, uint32_t at, uint32_t state, uint32_t *count)
{
    const struct ic_updown *updown = search->updown;
    struct vertices *vertices = &search->vertices;
    for (uint32_t p = 0; p < ports_of(updown, at); p++) {
        uint32_t to = search->up_ports[at] >> p & 1 ? UP : DOWN;
        if (to < state)
            continue;
        vertices->port[*count] = p;
        vertices->to[*count] = (uint32_t)place_of(updown->ends[updown->first[at] + p], to);
        vertices->first_input[vertices->to[(*count)++] + 1]++;
    }
    vertices->first[place_of(at, state) + 1] = *count;
}

/* In the order of where they begin. While they are numbered, the next one of a vertex is where the
 * first one of that before it would be. */
static void number_inputs(struct search *search)
{
    const struct ic_updown *updown = search->updown;
    struct vertices *vertices = &search->vertices;
    uint32_t *next = vertices->first_input, count = updown->nodes * STATES;
    for (uint32_t v = 0; v < count; v++)
        next[v + 1] += next[v];
    memmove(next + 1, next, count * sizeof(*next));
    for (uint32_t v = 0; v < count; v++)
        for (uint32_t arc = vertices->first[v]; arc < vertices->first[v + 1]; arc++) {
            uint32_t to = vertices->to[arc], input = next[to + 1]++;
            uint32_t back = search->pairs->reverse[updown->first[v / STATES] + vertices->port[arc]];
            vertices->input[arc] = input;
            vertices->from[input] = v;
            vertices->output[input] = arc;
            vertices->input_port[input] = back - updown->first[to / STATES];
        }
}

static gmc_status make_vertices(struct search *search)
{
    const struct ic_updown *updown = search->updown;
    struct vertices *vertices = &search->vertices;
    size_t nodes = updown->nodes, arcs = (size_t)updown->first[nodes] * STATES + 1;
    uint32_t count = 0;
    *vertices = (struct vertices){
        .first = calloc(nodes * STATES + 1, sizeof(uint32_t)),
        .to = malloc(arcs * sizeof(uint32_t)),
        .input = malloc(arcs * sizeof(uint32_t)),
        .first_input = calloc(nodes * STATES + 1, sizeof(uint32_t)),
        .from = malloc(arcs * sizeof(uint32_t)),
        .output = malloc(arcs * sizeof(uint32_t)),
        .port = malloc(arcs * sizeof(uint32_t)),
        .input_port = malloc(arcs * sizeof(uint32_t)),
    };
    if (vertices->first == NULL || vertices->to == NULL || vertices->input == NULL ||
        vertices->first_input == NULL || vertices->from == NULL || vertices->output == NULL ||
        vertices->port == NULL || vertices->input_port == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t at = 0; at < nodes; at++)
        for (uint32_t state = UP; state < STATES; state++)
            add_outputs(search, at, state, &count);
    number_inputs(search);
    search->arcs = (struct ic_arcs){.vertices = (uint32_t)nodes * STATES,
                                    .first = vertices->first,
                                    .to = vertices->to,
                                    .input = vertices->input,
                                    .first_input = vertices->first_input,
                                    .from = vertices->from,
                                    .output = vertices->output};
    return GMC_OK;
}

static gmc_status prepare(struct search *search)
{
    const struct ic_updown *updown = search->updown;
    struct ic_updown_pairs *pairs = search->pairs;
    size_t nodes = updown->nodes, ports = updown->first[nodes];
    pairs->reverse = calloc(ports + 1, sizeof(uint32_t));
    search->up_ports = calloc(nodes, sizeof(uint64_t));
    search->reached = calloc(nodes * STATES, sizeof(uint64_t));
    pairs->square = calloc(nodes, sizeof(size_t));
    if (pairs->reverse == NULL || search->up_ports == NULL || search->reached == NULL ||
        pairs->square == NULL)
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
    find_ends(search);
    gmc_status status = make_vertices(search);
    if (status != GMC_OK)
        return status;
    return ic_flow_sums_init(&search->sums, &search->arcs, updown->routing == IC_UPDOWN_FIXED,
                             false);
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

/* In a cube one of each number of bits stands for all. */
static uint32_t destination_of(const struct search *search, uint32_t i)
{
    return search->pairs->cube > 0 ? (1u << i) - 1 : search->first + i;
}

/* At the destinations themselves nothing is left to go, whatever came before. */
static void begin(struct search *search)
{
    uint32_t nodes = search->updown->nodes;
    search->all = 0;
    for (uint32_t i = 0; i < ABREAST && destination_of(search, i) < nodes; i++) {
        uint64_t bit = (uint64_t)1 << i;
        search->all |= bit;
        for (uint32_t state = UP; state < STATES; state++)
            search->layers[place_of(destination_of(search, i), state)] = bit;
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
/* One destination after the other, as each stands for others than the next. */
static void add_cube(struct search *search, struct ic_flow_spread *spread, double *each,
                     const struct ic_flow_senders *senders)
{
    uint32_t nodes = search->updown->nodes, dimensions = search->pairs->cube;
    search->distances = 0;
    for (uint32_t i = 0; i <= dimensions; i++) {
        double alike = ic_updown_cube_nodes(dimensions, i);
        const uint64_t *layer = search->layers;
        for (uint32_t at = 0; at < nodes; at++)
            each[place_of(at, UP)] = alike / ((double)nodes - 1);
        ic_flow_spread_add(spread, search->layers, search->depth, (uint64_t)1 << i, senders);
        for (uint32_t hops = 0; hops < search->depth; hops++, layer += (size_t)nodes * STATES)
            for (uint32_t at = 0; at < nodes; at++)
                search->distances += alike * hops * (double)(layer[place_of(at, UP)] >> i & 1);
    }
}

static gmc_status add_uniform(struct search *search)
{
    uint32_t nodes = search->updown->nodes;
    struct ic_flow_spread spread;
    double *each = calloc((size_t)nodes * STATES, sizeof(*each));
    double *local = calloc((size_t)nodes * STATES, sizeof(*local));
    const struct ic_flow_senders senders = {each, local};
    gmc_status status = ic_flow_spread_init(&spread, &search->sums);
    if (each == NULL || local == NULL)
        status = GMC_ERR_NOMEM;
    for (uint32_t at = 0; at < nodes && status == GMC_OK; at++)
        each[place_of(at, UP)] = 1 / ((double)nodes - 1);
    for (; status == GMC_OK && search->first < nodes; search->first += ABREAST) {
        status = find_layers(search);
        if (status == GMC_OK && search->pairs->cube > 0) {
            add_cube(search, &spread, each, &senders);
            break;
        }
        if (status == GMC_OK)
            ic_flow_spread_add(&spread, search->layers, search->depth, search->all, &senders);
    }
    ic_flow_spread_fini(&spread);
    free(each);
    free(local);
    return status;
}

/* A node that would send to itself is silent. */
static gmc_status add_pattern(struct search *search)
{
    uint32_t nodes = search->updown->nodes;
    struct ic_flow_walk walk;
    gmc_status status = ic_flow_walk_init(&walk, &search->sums);
    for (; status == GMC_OK && search->first < nodes; search->first += ABREAST) {
        status = find_layers(search);
        for (uint32_t at = 0; at < nodes && status == GMC_OK; at++) {
            uint32_t to = ic_traffic_partner(search->traffic, at) - search->first;
            if (to < ABREAST && to + search->first != at)
                ic_flow_walk_add(&walk, search->layers, (uint32_t)place_of(at, UP), to);
        }
    }
    ic_flow_walk_fini(&walk);
    return status;
}

/* From the vertices of a node. */
static void sum_up(const struct search *search, uint32_t at, uint32_t state)
{
    const struct vertices *vertices = &search->vertices;
    const struct ic_updown_pairs *pairs = search->pairs;
    uint32_t vertex = (uint32_t)place_of(at, state), width = ports_of(search->updown, at) + 1;
    uint32_t in = ic_arcs_in(&search->arcs, vertex), out = ic_arcs_out(&search->arcs, vertex);
    const uint32_t *port = &vertices->port[vertices->first[vertex]];
    const uint32_t *input_port = &vertices->input_port[vertices->first_input[vertex]];
    for (uint32_t i = 0; i <= in; i++) {
        const double *from = ic_flow_sums_pairs(&search->sums, vertex, i);
        double *to =
            pairs->flows + pairs->square[at] + (size_t)(i < in ? input_port[i] : width - 1) * width;
        for (uint32_t j = 0; j < out; j++)
            to[port[j]] += from[j];
        to[width - 1] += from[out];
    }
    for (uint32_t count = 1; count <= out && count <= search->sums.most; count++) {
        const double *from = ic_flow_sums_choices(&search->sums, vertex, count);
        double *to = pairs->choices + pairs->square[at] + (size_t)(count - 1) * width;
        for (uint32_t j = 0; j < out; j++)
            to[port[j]] += from[j];
    }
}

gmc_status ic_updown_pairs_init(struct ic_updown_pairs *pairs, const struct ic_updown *updown,
                                const struct ic_traffic *traffic)
{
    struct search search = {.updown = updown, .traffic = traffic, .pairs = pairs};
    *pairs = (struct ic_updown_pairs){0};
    if (updown->routing == IC_UPDOWN_ADAPTIVE && traffic->pattern == IC_TRAFFIC_UNIFORM)
        pairs->cube = ic_updown_cube_dimensions(updown);
    gmc_status status = prepare(&search);
    if (status == GMC_OK)
        status =
            traffic->pattern == IC_TRAFFIC_UNIFORM ? add_uniform(&search) : add_pattern(&search);
    for (uint32_t at = 0; at < updown->nodes && status == GMC_OK; at++)
        for (uint32_t state = UP; state < STATES; state++)
            sum_up(&search, at, state);
    if (status == GMC_OK && pairs->cube > 0)
        status = ic_updown_cube_even_out(pairs, updown, pairs->cube);
    pairs->distance = search.distances / ((double)updown->nodes * (updown->nodes - 1));
    release(&search);
    return status;
}
