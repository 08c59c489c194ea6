/* SPDX-License-Identifier: BSD-2-Clause */
/* Adding up tables. Internal. */
#ifndef INTERCONNECT_QOS_SCALED_H
#define INTERCONNECT_QOS_SCALED_H

#include <stdint.h>

/* sum[i] += weight * of[i], i below length; the arrays do not overlap. */
void ic_qos_add_scaled(double *restrict sum, double weight, const double *restrict of,
                       uint64_t length);

#endif
