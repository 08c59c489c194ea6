/* SPDX-License-Identifier: BSD-2-Clause */
/* Four numbers at once. */
#include "interconnect/qos/scaled.h"

#include "interconnect/qos/quad.h"

IC_QUAD_INLINE void add_scaled(double *restrict sum, double weight, const double *restrict of,
                               uint64_t length)
{
    uint64_t i = 0;
    for (; i + 4 <= length; i += 4)
        *(ic_quad_at *)&sum[i] += weight * *(const ic_quad_at *)&of[i];
    for (; i < length; i++)
        sum[i] += weight * of[i];
}

IC_QUAD_WIDE static void add_wide(double *restrict sum, double weight, const double *restrict of,
                                  uint64_t length)
{
    add_scaled(sum, weight, of, length);
}

void ic_qos_add_scaled(double *restrict sum, double weight, const double *restrict of,
                       uint64_t length)
{
    if (ic_quad_is_wide())
        add_wide(sum, weight, of, length);
    else
        add_scaled(sum, weight, of, length);
}
