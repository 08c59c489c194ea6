/* SPDX-License-Identifier: BSD-2-Clause */
/* Stops of as many hops to the destination, then those of one less. */
#include "interconnect/flows/walk.h"

#include <stdlib.h>

#define WORDS (IC_ARCS_IN_MAX / 64)

/* A stop while it is passed. */
struct visit {
    uint32_t at, out;
    uint64_t outputs;
    double part, sum; /* that each of the outputs takes; all that comes */
};

gmc_status ic_flow_walk_init(struct ic_flow_walk *walk, struct ic_flow_sums *sums)
{
    size_t vertices = sums->arcs->vertices;
    *walk = (struct ic_flow_walk){
        .sums = sums,
        .leaving = malloc(vertices * sizeof(*walk->leaving)),
        .place = calloc(vertices, sizeof(*walk->place)),
        .stops = malloc(vertices * sizeof(*walk->stops)),
        .next = malloc(vertices * sizeof(*walk->next)),
    };
    if (walk->leaving == NULL || walk->place == NULL || walk->stops == NULL || walk->next == NULL)
        return GMC_ERR_NOMEM;
    return GMC_OK;
}

void ic_flow_walk_fini(struct ic_flow_walk *walk)
{
    free(walk->leaving);
    free(walk->place);
    free(walk->stops);
    free(walk->next);
}

/* All outputs that lead nearer to the destination, or the lowest. */
static void find_outputs(const struct ic_flow_sums *sums, struct visit *visit,
                         const uint64_t *nearer, uint32_t destination)
{
    const uint32_t *to = &sums->arcs->to[sums->arcs->first[visit->at]];
    uint64_t outputs = 0;
    for (uint32_t i = 0; i < visit->out; i++)
        outputs |= (nearer[to[i]] >> destination & 1) << i;
    visit->outputs = sums->is_fixed ? outputs & (~outputs + 1) : outputs;
}

/* What one input brings goes on by all outputs alike. */
static void split(const struct ic_flow_sums *sums, struct visit *visit, uint32_t input,
                  double coming)
{
    double *row = ic_flow_sums_pairs(sums, visit->at, input), each = coming * visit->part;
    *ic_flow_sums_used(sums, visit->at, input) = true;
    visit->sum += coming;
    for (uint64_t left = visit->outputs; left != 0; left &= left - 1)
        row[__builtin_ctzll(left)] += each;
}

/* By an output to its end, which may be a stop already. */
static void enter(struct ic_flow_walk *walk, uint32_t output)
{
    const struct ic_arcs *arcs = walk->sums->arcs;
    uint32_t to = arcs->to[output], place = walk->place[to];
    uint32_t input = arcs->input[output] - arcs->first_input[to];
    if (place >= walk->next_count || walk->next[place].at != to) {
        place = walk->place[to] = walk->next_count++;
        walk->next[place] = (struct ic_flow_stop){.at = to};
    }
    walk->next[place].inputs[input / 64] |= (uint64_t)1 << input % 64;
}

static void pass_on(struct ic_flow_walk *walk, const struct visit *visit, uint32_t count)
{
    double *choices = ic_flow_sums_choices(walk->sums, visit->at, count);
    double share = walk->leaving[visit->at] = visit->sum * visit->part;
    for (uint64_t left = visit->outputs; left != 0; left &= left - 1) {
        uint32_t output = (uint32_t)__builtin_ctzll(left);
        choices[output] += share;
        enter(walk, walk->sums->arcs->first[visit->at] + output);
    }
}

static void pass(struct ic_flow_walk *walk, const struct ic_flow_stop *stop, bool is_first,
                 const uint64_t *nearer, uint32_t destination)
{
    struct ic_flow_sums *sums = walk->sums;
    const uint32_t *from = &sums->arcs->from[sums->arcs->first_input[stop->at]];
    struct visit visit = {.at = stop->at, .out = ic_arcs_out(sums->arcs, stop->at)};
    find_outputs(sums, &visit, nearer, destination);
    uint32_t count = 0;
    for (uint64_t left = visit.outputs; left != 0; left &= left - 1)
        count++;
    visit.part = sums->inverse[count];
    sums->most = count > sums->most ? count : sums->most;
    if (is_first)
        split(sums, &visit, ic_arcs_in(sums->arcs, stop->at), 1);
    for (uint32_t word = 0; word < WORDS; word++)
        for (uint64_t left = stop->inputs[word]; left != 0; left &= left - 1) {
            uint32_t input = 64 * word + (uint32_t)__builtin_ctzll(left);
            split(sums, &visit, input, walk->leaving[from[input]]);
        }
    pass_on(walk, &visit, count);
}

static void end(const struct ic_flow_sums *sums, uint32_t at, uint32_t input, double coming)
{
    *ic_flow_sums_used(sums, at, input) = true;
    ic_flow_sums_pairs(sums, at, input)[ic_arcs_out(sums->arcs, at)] += coming;
}

static void arrive(struct ic_flow_walk *walk, const struct ic_flow_stop *stop, bool is_first)
{
    const struct ic_flow_sums *sums = walk->sums;
    const uint32_t *from = &sums->arcs->from[sums->arcs->first_input[stop->at]];
    if (is_first)
        end(sums, stop->at, ic_arcs_in(sums->arcs, stop->at), 1);
    for (uint32_t word = 0; word < WORDS; word++)
        for (uint64_t left = stop->inputs[word]; left != 0; left &= left - 1) {
            uint32_t input = 64 * word + (uint32_t)__builtin_ctzll(left);
            end(sums, stop->at, input, walk->leaving[from[input]]);
        }
}

void ic_flow_walk_add(struct ic_flow_walk *walk, const uint64_t *layers, uint32_t from,
                      uint32_t destination)
{
    size_t vertices = walk->sums->arcs->vertices;
    uint32_t hops = 0, count = 1;
    bool is_first = true;
    while ((layers[hops * vertices + from] >> destination & 1) == 0)
        hops++;
    walk->sums->total += 1;
    walk->sums->hop_sum += hops;
    walk->stops[0] = (struct ic_flow_stop){.at = from};
    for (; hops > 0; hops--, is_first = false) {
        walk->next_count = 0;
        for (uint32_t i = 0; i < count; i++)
            pass(walk, &walk->stops[i], is_first, layers + (hops - 1) * vertices, destination);
        struct ic_flow_stop *passed = walk->stops;
        walk->stops = walk->next;
        walk->next = passed;
        count = walk->next_count;
    }
    /* A destination may be reached at more than one vertex. */
    for (uint32_t i = 0; i < count; i++)
        arrive(walk, &walk->stops[i], is_first);
}
