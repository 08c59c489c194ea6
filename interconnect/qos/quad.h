/* SPDX-License-Identifier: BSD-2-Clause */
/* Four numbers that are computed side by side. What is written with them is compiled twice, by
 * inlining it into functions for all processors and for those with wider registers; figures are the
 * same to the bit, as no product is added without being rounded. Internal. */
#ifndef INTERCONNECT_QOS_QUAD_H
#define INTERCONNECT_QOS_QUAD_H

#include <stdbool.h>

#define IC_QUAD_INLINE static inline __attribute__((always_inline))

typedef double ic_quad __attribute__((vector_size(4 * sizeof(double))));
/* Where there are four in an array. */
typedef double ic_quad_at __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double))));

#if defined(__x86_64__)
#define IC_QUAD_WIDE __attribute__((target("avx2")))
IC_QUAD_INLINE bool ic_quad_is_wide(void)
{
    return __builtin_cpu_supports("avx2");
}
#else
#define IC_QUAD_WIDE
IC_QUAD_INLINE bool ic_quad_is_wide(void)
{
    return false;
}
#endif

#endif
