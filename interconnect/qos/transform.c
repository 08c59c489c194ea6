/* SPDX-License-Identifier: BSD-2-Clause */
/* Stockham's algorithm: each step goes from one array to the other and leaves nothing to be
 * reordered.
 *
 * Source: Cochran et al., What is the Fast Fourier Transform?, Proc. IEEE 55(10), 1967.
 */
#include "interconnect/qos/transform.h"

#include "interconnect/qos/quad.h"

struct step {
    const double *re, *im;
    double *to_re, *to_im;
    const double *turns;
    uint64_t half, stride; /* of what is left to be split; how many are computed alike */
};

/* One step for numbers that are alone or two side by side. */
IC_QUAD_INLINE void few(const struct step *s)
{
    uint64_t far = s->half * s->stride;
    for (uint64_t p = 0; p < s->half; p++) {
        double re = s->turns[2 * p * s->stride], im = s->turns[2 * p * s->stride + 1];
        for (uint64_t q = 0; q < s->stride; q++) {
            uint64_t from = q + s->stride * p, to = q + 2 * s->stride * p;
            double a = s->re[from], b = s->im[from], c = s->re[from + far], d = s->im[from + far];
            s->to_re[to] = a + c;
            s->to_im[to] = b + d;
            s->to_re[to + s->stride] = (a - c) * re - (b - d) * im;
            s->to_im[to + s->stride] = (a - c) * im + (b - d) * re;
        }
    }
}

IC_QUAD_INLINE void many(const struct step *s)
{
    uint64_t far = s->half * s->stride;
    for (uint64_t p = 0; p < s->half; p++) {
        double re = s->turns[2 * p * s->stride], im = s->turns[2 * p * s->stride + 1];
        for (uint64_t q = 0; q < s->stride; q += 4) {
            uint64_t from = q + s->stride * p, to = q + 2 * s->stride * p;
            const ic_quad a = *(const ic_quad_at *)&s->re[from];
            const ic_quad b = *(const ic_quad_at *)&s->im[from];
            const ic_quad c = *(const ic_quad_at *)&s->re[from + far];
            const ic_quad d = *(const ic_quad_at *)&s->im[from + far];
            const ic_quad x = a - c, y = b - d;
            *(ic_quad_at *)&s->to_re[to] = a + c;
            *(ic_quad_at *)&s->to_im[to] = b + d;
            *(ic_quad_at *)&s->to_re[to + s->stride] = x * re - y * im;
            *(ic_quad_at *)&s->to_im[to + s->stride] = x * im + y * re;
        }
    }
}

IC_QUAD_INLINE void run(struct ic_qos_transform *t)
{
    for (uint64_t half = t->points / 2, stride = 1; half > 0; half /= 2, stride *= 2) {
        struct step step = {t->re, t->im, t->room_re, t->room_im, t->turns, half, stride};
        if (stride < 4)
            few(&step);
        else
            many(&step);
        t->room_re = t->re;
        t->room_im = t->im;
        t->re = step.to_re;
        t->im = step.to_im;
    }
}

IC_QUAD_WIDE static void run_wide(struct ic_qos_transform *t)
{
    run(t);
}

void ic_qos_transform_run(struct ic_qos_transform *t)
{
    if (ic_quad_is_wide())
        run_wide(t);
    else
        run(t);
}
