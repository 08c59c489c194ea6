/* SPDX-License-Identifier: BSD-2-Clause */
/* The discrete Fourier transform. Internal. */
#ifndef INTERCONNECT_QOS_TRANSFORM_H
#define INTERCONNECT_QOS_TRANSFORM_H

#include <stdint.h>

/* Of a number of points that is a power of two, 16 or more. */
struct ic_qos_transform {
    uint64_t points;
    double *turns;   /* cos, sin of 2 pi k / points */
    double *re, *im; /* what is transformed, and what comes out */
    double *room_re, *room_im;
};

/* In place: re, im of all points become those of their transform, sum over t of x[t] z^t with
 * z = cos + i sin of 2 pi k / points. Uses the room. */
void ic_qos_transform_run(struct ic_qos_transform *transform);

#endif
