/* SPDX-License-Identifier: BSD-2-Clause */
/* The search. What takes the time is `step`; its inner loops have constant lengths so that
 * compilers make vectors of them. */
#include "interconnect/graph/reach.h"

#include <stdlib.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

gmc_status ic_reach_init(struct ic_reach *reach, uint32_t rows, uint32_t order)
{
    *reach = (struct ic_reach){.rows = rows, .order = order, .fields = 64 / order, .words = 1};
    while (reach->words < IC_REACH_WORDS_MAX && reach->words * reach->fields < rows)
        reach->words *= 2;
    for (uint32_t field = 0; field < reach->fields; field++)
        for (uint32_t shift = 0; shift < order; shift++)
            for (uint32_t bit = 0; bit < order; bit++) {
                uint64_t one = (uint64_t)1 << (field * order + bit);
                reach->above[shift] |= bit >= shift ? one : 0;
                reach->below[shift] |= bit < shift ? one : 0;
            }
    reach->now = calloc((size_t)rows * reach->words, sizeof(*reach->now));
    reach->next = calloc((size_t)rows * reach->words, sizeof(*reach->next));
    if (reach->now != NULL && reach->next != NULL)
        return GMC_OK;
    ic_reach_fini(reach);
    return GMC_ERR_NOMEM;
}

void ic_reach_fini(struct ic_reach *reach)
{
    free(reach->now);
    free(reach->next);
    *reach = (struct ic_reach){0};
}

/* Bits that are set, as two sums of 32 bits each. */
INLINE uint64_t count_halves(uint64_t x)
{
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    x = (x & 0x00ff00ff00ff00ffu) + ((x >> 8) & 0x00ff00ff00ff00ffu);
    return (x & 0x0000ffff0000ffffu) + ((x >> 16) & 0x0000ffff0000ffffu);
}

/* One hop more for all rows; how many bits are set then. Inlined with a constant number of words,
 * of which compilers make vectors. */
INLINE uint64_t step(struct ic_reach *reach, const struct ic_reach_arcs *arcs, const uint32_t words)
{
    uint64_t counts[IC_REACH_WORDS_MAX] = {0};
    uint64_t sum = 0;
    for (uint32_t row = 0; row < reach->rows; row++) {
        uint64_t bits[IC_REACH_WORDS_MAX];
        memcpy(bits, reach->now + (size_t)row * words, words * sizeof(*bits));
        for (uint32_t arc = arcs->first[row]; arc < arcs->first[row + 1]; arc++) {
            const uint64_t *from = reach->now + (size_t)arcs->from[arc] * words;
            const uint32_t up = arcs->shift != NULL ? arcs->shift[arc] : 0;
            if (up == 0) {
                for (uint32_t i = 0; i < words; i++)
                    bits[i] |= from[i];
                continue;
            }
            const uint32_t down = reach->order - up;
            const uint64_t above = reach->above[up], below = reach->below[up];
            for (uint32_t i = 0; i < words; i++)
                bits[i] |= ((from[i] << up) & above) | ((from[i] >> down) & below);
        }
        memcpy(reach->next + (size_t)row * words, bits, words * sizeof(*bits));
        for (uint32_t i = 0; i < words; i++)
            counts[i] += count_halves(bits[i]);
    }
    for (uint32_t i = 0; i < words; i++)
        sum += (counts[i] & UINT32_MAX) + (counts[i] >> 32);
    return sum;
}

static uint64_t hop(struct ic_reach *reach, const struct ic_reach_arcs *arcs)
{
    uint64_t sum = reach->words == 1   ? step(reach, arcs, 1)
                   : reach->words == 2 ? step(reach, arcs, 2)
                   : reach->words == 4 ? step(reach, arcs, 4)
                                       : step(reach, arcs, 8);
    uint64_t *swap = reach->now;
    reach->now = reach->next;
    reach->next = swap;
    return sum;
}

/* The sources and their neighbours, one hop away: what arcs into a source say, turned round. How
 * many pairs that is without the sources themselves. */
static uint64_t begin(struct ic_reach *reach, const struct ic_reach_arcs *arcs, uint32_t source,
                      uint32_t count)
{
    uint64_t neighbours = 0;
    memset(reach->now, 0, (size_t)reach->rows * reach->words * sizeof(*reach->now));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *word = reach->now + i / reach->fields;
        uint32_t field = i % reach->fields * reach->order;
        uint32_t row = source + i;
        word[(size_t)row * reach->words] |= (uint64_t)1 << field;
        for (uint32_t arc = arcs->first[row]; arc < arcs->first[row + 1]; arc++) {
            uint32_t shift = arcs->shift != NULL ? arcs->shift[arc] : 0;
            uint32_t bit = shift > 0 ? reach->order - shift : 0;
            word[(size_t)arcs->from[arc] * reach->words] |= (uint64_t)1 << (field + bit);
        }
        neighbours += arcs->first[row + 1] - arcs->first[row];
    }
    return neighbours;
}

struct ic_reach_sum ic_reach_run(struct ic_reach *reach, const struct ic_reach_arcs *arcs,
                                 uint64_t limit, uint32_t levels_max)
{
    struct ic_reach_sum sum = {.diameter = 1, .is_complete = true};
    uint32_t at_once = reach->fields * reach->words;
    for (uint32_t source = 0; source < reach->rows && sum.is_complete; source += at_once) {
        uint32_t count = reach->rows - source < at_once ? reach->rows - source : at_once;
        uint64_t pairs = (uint64_t)reach->rows * reach->order * count;
        uint64_t unreached = pairs - count - begin(reach, arcs, source, count);
        uint32_t levels = 1;
        sum.distances += pairs - count;
        /* Each pair is counted once for every hop after which it is not yet reached. */
        while (unreached > 0 && sum.distances + unreached <= limit && levels < levels_max) {
            uint64_t left = pairs - hop(reach, arcs);
            sum.distances += unreached;
            levels++;
            if (left == unreached)
                break;
            unreached = left;
        }
        sum.is_complete = unreached == 0;
        sum.diameter = levels > sum.diameter ? levels : sum.diameter;
    }
    return sum;
}
