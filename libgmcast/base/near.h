/* SPDX-License-Identifier: BSD-2-Clause */
/* Pieces of memory that will be looked at soon: who works for many gateways in turn fetches those
 * of the next one while it works for this one, all at once and not one after the other. Only
 * addresses are kept: what stood there may be gone by then, and to fetch that does no harm. */
#ifndef GMC_BASE_NEAR_H
#define GMC_BASE_NEAR_H

#include <stddef.h>
#include <stdint.h>

#define GMC_NEAR_MAX 128u
#define GMC_NEAR_LINE 64u /* bytes; also how many lines a piece is shorter than */

/* Fetches the line of the processor's cache in which this stands. Compilers take a function that
 * does nothing else for one that does nothing, and leave its calls out: the empty statement is to
 * be seen as doing something. */
static inline void gmc_near_fetch_line(const void *at)
{
    __builtin_prefetch(at, 1);
    __asm__ volatile("" : : "r"(at));
}

struct gmc_near {
    size_t count;
    uintptr_t pieces[GMC_NEAR_MAX]; /* where one begins, and how many lines it has */
};

/* What does not fit is left out, and so is what is nowhere. */
static inline void gmc_near_add(struct gmc_near *near, const void *from, size_t bytes)
{
    uintptr_t first = (uintptr_t)from / GMC_NEAR_LINE;
    uintptr_t lines = ((uintptr_t)from + bytes - 1) / GMC_NEAR_LINE - first + 1;
    if (from != NULL && near->count < GMC_NEAR_MAX && lines < GMC_NEAR_LINE)
        near->pieces[near->count++] = first * GMC_NEAR_LINE + lines;
}

/* From the one member of an object up to another, which stands behind it. A statement. */
#define GMC_NEAR_ADD(near, object, from, to)                                                       \
    do {                                                                                           \
        _Static_assert(offsetof(__typeof__(*(object)), from) <                                     \
                           offsetof(__typeof__(*(object)), to),                                    \
                       #to " stands before " #from);                                               \
        gmc_near_add((near), &(object)->from,                                                      \
                     offsetof(__typeof__(*(object)), to) - offsetof(__typeof__(*(object)), from)); \
    } while (0)

static inline void gmc_near_fetch(const struct gmc_near *near)
{
    for (size_t i = 0; i < near->count; i++) {
        uintptr_t lines = near->pieces[i] % GMC_NEAR_LINE;
        uintptr_t first = near->pieces[i] - lines;
        for (uintptr_t k = 0; k < lines; k++)
            gmc_near_fetch_line((const void *)(first + k * GMC_NEAR_LINE));
    }
}

#endif
