/* SPDX-License-Identifier: BSD-2-Clause */
/* From the farthest vertices to the nearest: what comes to a vertex is known when it is passed on,
 * and what a vertex adds to its sums stays in the processor's caches.
 *
 * To most destinations a vertex sends only what is its own, the same to each. Of these it is
 * counted how many there are for each output and number of outputs to choose from, in words of a
 * bit for each; so what is here is compiled twice, the other time for processors that count bits by
 * one instruction.
 */
#include "interconnect/flows/spread.h"

#include <stdlib.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#if defined(__x86_64__)
#define COUNTING __attribute__((target("popcnt")))
#define CAN_COUNT __builtin_cpu_supports("popcnt")
#else
#define COUNTING
#define CAN_COUNT false
#endif

#define ABREAST IC_FLOW_ABREAST
#define PLANES 7u /* bits of a number of outputs */
#define LINE 8u   /* numbers of a cache's line, as a rule */
#define LINE_BITS UINT64_C(0xff)
#define CHOICES_USUAL 8u /* outputs among which nearly all choose at most */

/* A vertex as destinations that are equally far see it. */
struct visit {
    uint32_t at, in, out, hops;
    double own;                      /* what it sends to each of them itself */
    uint64_t word, mixed;            /* destinations; those of which something comes, too */
    uint64_t coming[IC_ARCS_IN_MAX]; /* by input: those of which something comes by it */
    uint64_t taken[IC_ARCS_OUT_MAX]; /* by output: those to which it leads */
    uint64_t planes[PLANES];         /* how many outputs lead to each: bits of the number */
    /* Of mixed ones, by destination. */
    uint64_t outputs[ABREAST];
    double part[ABREAST]; /* that each output takes */
    double sum[ABREAST];  /* of what comes */
};

gmc_status ic_flow_spread_init(struct ic_flow_spread *spread, struct ic_flow_sums *sums)
{
    size_t vertices = sums->arcs->vertices, outputs = sums->arcs->first[vertices];
    *spread = (struct ic_flow_spread){
        .sums = sums,
        .flow = calloc(vertices * ABREAST, sizeof(*spread->flow)),
        .going = calloc(outputs + 1, sizeof(*spread->going)),
    };
    return spread->flow != NULL && spread->going != NULL ? GMC_OK : GMC_ERR_NOMEM;
}

void ic_flow_spread_fini(struct ic_flow_spread *spread)
{
    free(spread->flow);
    free(spread->going);
}

INLINE uint32_t count_bits(uint64_t word)
{
    return (uint32_t)__builtin_popcountll(word);
}

/* Destinations to which so many outputs lead. */
INLINE uint64_t with_count(const struct visit *visit, uint64_t word, uint32_t count)
{
    for (uint32_t bit = 0; visit->out >> bit != 0; bit++)
        word &= count >> bit & 1 ? visit->planes[bit] : ~visit->planes[bit];
    return word;
}

/* Where something comes from. */
INLINE void find_inputs(const struct ic_flow_spread *spread, struct visit *visit)
{
    const struct ic_arcs *arcs = spread->sums->arcs;
    const uint32_t *output = &arcs->output[arcs->first_input[visit->at]];
    visit->mixed = 0;
    for (uint32_t in = 0; in < visit->in; in++) {
        visit->coming[in] = visit->word & spread->going[output[in]];
        visit->mixed |= visit->coming[in];
    }
}

/* What will be read and written, which takes longer than what is to be done with it. */
INLINE void fetch(const struct ic_flow_spread *spread, const struct visit *visit)
{
    const struct ic_arcs *arcs = spread->sums->arcs;
    const uint32_t *from = &arcs->from[arcs->first_input[visit->at]];
    const double *choices = ic_flow_sums_choices(spread->sums, visit->at, 1);
    for (uint32_t i = 0; i < CHOICES_USUAL * visit->out; i += LINE)
        __builtin_prefetch(&choices[i]);
    __builtin_prefetch(ic_flow_sums_pairs(spread->sums, visit->at, visit->in));
    for (uint32_t in = 0; in < visit->in; in++) {
        const double *coming = &spread->flow[(size_t)from[in] * ABREAST];
        uint64_t left = visit->coming[in];
        if (left != 0)
            __builtin_prefetch(ic_flow_sums_pairs(spread->sums, visit->at, in));
        while (left != 0) {
            uint32_t line = (uint32_t)__builtin_ctzll(left) / LINE * LINE;
            __builtin_prefetch(&coming[line]);
            left &= ~(LINE_BITS << line);
        }
    }
}

/* All outputs that lead nearer to each destination, or the lowest. */
INLINE void find_outputs(struct ic_flow_spread *spread, struct visit *visit, const uint64_t *nearer)
{
    const struct ic_arcs *arcs = spread->sums->arcs;
    uint32_t first = arcs->first[visit->at];
    uint64_t word = visit->word;
    uint32_t bits = 1;
    while (visit->out >> bits != 0)
        bits++;
    memset(visit->planes, 0, sizeof(visit->planes));
    for (uint32_t out = 0; out < visit->out; out++) {
        uint64_t taken = visit->taken[out] = word & nearer[arcs->to[first + out]];
        spread->going[first + out] |= taken;
        if (spread->sums->is_fixed)
            word &= ~taken;
        for (uint32_t bit = 0; bit < bits; bit++) {
            uint64_t both = visit->planes[bit] & taken;
            visit->planes[bit] ^= taken;
            taken = both;
        }
        for (uint64_t left = visit->taken[out] & visit->mixed; left != 0; left &= left - 1)
            visit->outputs[__builtin_ctzll(left)] |= (uint64_t)1 << out;
    }
    for (uint64_t left = visit->mixed; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        visit->part[i] = spread->sums->inverse[count_bits(visit->outputs[i])];
    }
}

/* What the vertex sends itself goes on by all outputs alike. */
INLINE void send(struct ic_flow_spread *spread, struct visit *visit)
{
    struct ic_flow_sums *sums = spread->sums;
    double *pairs = ic_flow_sums_pairs(sums, visit->at, visit->in);
    double *flow = &spread->flow[(size_t)visit->at * ABREAST];
    uint64_t word = visit->own > 0 ? visit->word : 0;
    *ic_flow_sums_used(sums, visit->at, visit->in) |= word != 0;
    for (uint32_t count = 1; word != 0; count++) {
        uint64_t of_count = with_count(visit, word, count);
        double *choices = ic_flow_sums_choices(sums, visit->at, count);
        double share = visit->own * sums->inverse[count];
        if (of_count == 0)
            continue;
        word &= ~of_count;
        sums->most = count > sums->most ? count : sums->most;
        for (uint32_t out = 0; out < visit->out; out++) {
            double all = share * count_bits(visit->taken[out] & of_count);
            pairs[out] += all;
            choices[out] += all;
        }
        for (uint64_t left = of_count & ~visit->mixed; left != 0; left &= left - 1)
            flow[__builtin_ctzll(left)] = share;
    }
}

/* What one input brings, too. */
INLINE void split(struct ic_flow_spread *spread, struct visit *visit, uint32_t in)
{
    const struct ic_arcs *arcs = spread->sums->arcs;
    uint32_t from = arcs->from[arcs->first_input[visit->at] + in];
    const double *coming = &spread->flow[(size_t)from * ABREAST];
    double *pairs = ic_flow_sums_pairs(spread->sums, visit->at, in);
    *ic_flow_sums_used(spread->sums, visit->at, in) |= visit->coming[in] != 0;
    for (uint64_t word = visit->coming[in]; word != 0; word &= word - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(word);
        double each = coming[i] * visit->part[i];
        visit->sum[i] += coming[i];
        for (uint64_t left = visit->outputs[i]; left != 0; left &= left - 1)
            pairs[__builtin_ctzll(left)] += each;
    }
}

/* What each output takes, for those that come after; what the next visit finds is nothing again. */
INLINE void pass_on(struct ic_flow_spread *spread, struct visit *visit)
{
    struct ic_flow_sums *sums = spread->sums;
    double *flow = &spread->flow[(size_t)visit->at * ABREAST];
    for (uint64_t word = visit->mixed; word != 0; word &= word - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(word), count = count_bits(visit->outputs[i]);
        double *choices = ic_flow_sums_choices(sums, visit->at, count);
        double share = visit->sum[i] * visit->part[i];
        sums->most = count > sums->most ? count : sums->most;
        flow[i] = share + visit->own * visit->part[i];
        for (uint64_t left = visit->outputs[i]; left != 0; left &= left - 1)
            choices[__builtin_ctzll(left)] += share;
        visit->sum[i] = 0;
        visit->outputs[i] = 0;
    }
}

/* To who is at the vertex itself. */
INLINE void arrive(struct ic_flow_spread *spread, const struct visit *visit)
{
    const struct ic_arcs *arcs = spread->sums->arcs;
    for (uint32_t in = 0; in < visit->in; in++) {
        uint32_t from = arcs->from[arcs->first_input[visit->at] + in];
        const double *coming = &spread->flow[(size_t)from * ABREAST];
        double sum = 0;
        for (uint64_t word = visit->coming[in]; word != 0; word &= word - 1)
            sum += coming[__builtin_ctzll(word)];
        *ic_flow_sums_used(spread->sums, visit->at, in) |= sum > 0;
        ic_flow_sums_pairs(spread->sums, visit->at, in)[visit->out] += sum;
    }
    *ic_flow_sums_used(spread->sums, visit->at, visit->in) |= visit->own > 0;
    ic_flow_sums_pairs(spread->sums, visit->at, visit->in)[visit->out] +=
        visit->own * count_bits(visit->word);
}

INLINE void pass(struct ic_flow_spread *spread, const uint64_t *layers, struct visit *visit)
{
    size_t vertices = spread->sums->arcs->vertices;
    double sent = visit->own * count_bits(visit->word);
    spread->sums->total += sent;
    spread->sums->hop_sum += sent * visit->hops;
    fetch(spread, visit);
    if (visit->hops == 0) {
        arrive(spread, visit);
        return;
    }
    find_outputs(spread, visit, layers + (visit->hops - 1) * vertices);
    send(spread, visit);
    for (uint32_t in = 0; in < visit->in && visit->mixed != 0; in++)
        split(spread, visit, in);
    pass_on(spread, visit);
}

INLINE void pass_all(struct ic_flow_spread *spread, const uint64_t *layers, uint32_t depth,
                     uint64_t all, const struct ic_flow_senders *senders)
{
    const struct ic_arcs *arcs = spread->sums->arcs;
    struct visit visit = {0};
    for (uint32_t hops = depth; hops-- > 0;)
        for (uint32_t at = 0; at < arcs->vertices; at++) {
            visit.word = layers[(size_t)hops * arcs->vertices + at] & all;
            if (visit.word == 0)
                continue;
            visit.at = at;
            visit.in = ic_arcs_in(arcs, at);
            visit.out = ic_arcs_out(arcs, at);
            visit.hops = hops;
            visit.own = hops > 0 ? senders->each[at] : senders->local[at];
            find_inputs(spread, &visit);
            if (visit.own == 0)
                visit.word = visit.mixed;
            if (visit.word != 0)
                pass(spread, layers, &visit);
        }
}

COUNTING static void pass_counting(struct ic_flow_spread *spread, const uint64_t *layers,
                                   uint32_t depth, uint64_t all,
                                   const struct ic_flow_senders *senders)
{
    pass_all(spread, layers, depth, all, senders);
}

void ic_flow_spread_add(struct ic_flow_spread *spread, const uint64_t *layers, uint32_t depth,
                        uint64_t all, const struct ic_flow_senders *senders)
{
    const struct ic_arcs *arcs = spread->sums->arcs;
    memset(spread->going, 0, arcs->first[arcs->vertices] * sizeof(*spread->going));
    if (CAN_COUNT)
        pass_counting(spread, layers, depth, all, senders);
    else
        pass_all(spread, layers, depth, all, senders);
}
