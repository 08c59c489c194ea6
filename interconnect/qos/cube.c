/* SPDX-License-Identifier: BSD-2-Clause */
/* The model of an n-cube of routers with e-cube routing, lowest dimension first. The sums over
 * sources and destinations in the source's appendix have the closed forms used here. */
#include <math.h>
#include <stddef.h>

#include "base/assert.h"
#include "interconnect/qos/sharing.h"

/* As in router.c. */
#define STILL 9e-12
/* Real-time classes, which do not notice best effort, have come to where steps are rounded away.
 * Best effort goes on alone then; beyond saturation it does for as many steps as there may be. */
#define AT_REST 1e-16

#define CLASSES IC_QOS_CLASSES_MAX
#define CHANNELS IC_QOS_CHANNELS

/* What depends on the number of dimensions alone. */
struct shape {
    unsigned n;
    double others;                     /* nodes - 1 */
    double one_hop;                    /* P_1, share of neighbours among destinations */
    double part[CHANNELS];             /* g_s, share of messages whose first dimension is s */
    double hops[CHANNELS];             /* h_s, mean hops of these */
    double last[CHANNELS];             /* P_t(s) */
    double weight[CHANNELS][CHANNELS]; /* H(j|s); counts remaining hops, so it exceeds 1 */
};

struct cube {
    const struct ic_qos *qos;
    struct shape shape;
    double longest[CLASSES]; /* mx */
    double exponent[CLASSES];
    double blocking[CLASSES][CHANNELS];
    struct ic_qos_pace paces[CLASSES][CHANNELS];
    /* of one step */
    double entering[CLASSES][CHANNELS]; /* lam'_{c,s}: at sources, by first dimension */
    double ejected[CLASSES];            /* lam'_c */
    double carried[CLASSES];            /* lam_{c,s}, the same for all s */
    double buffered[CLASSES][CHANNELS]; /* I + Bm: waits at a channel and further on */
    double later[CLASSES][CHANNELS];    /* Bm alone */
    double eject[CLASSES];              /* O_c + M */
    double stretch[CLASSES][CHANNELS];
    double latency[CLASSES][CHANNELS]; /* L_{c,s}, and Lej_c */
    double sharing[CHANNELS][IC_QOS_SHARINGS];
    bool is_at_rest; /* real-time traffic */
};

static void shape_init(struct shape *shape, unsigned n)
{
    shape->n = n;
    shape->others = ldexp(1, (int)n) - 1;
    shape->one_hop = n / shape->others;
    for (unsigned s = 0; s < n; s++) {
        unsigned above = n - s - 1;
        shape->part[s] = ldexp(1, (int)above) / shape->others;
        shape->hops[s] = 1 + above / 2.0;
        shape->last[s] = ldexp(1, -(int)above);
        for (unsigned j = s + 1; j < n; j++) {
            unsigned a = n - j - 1;
            shape->weight[j][s] =
                (ldexp(1, (int)a) + a * ldexp(1, (int)a - 1)) / (ldexp(1, (int)above) - 1);
        }
    }
}

/* Rates of one class. */
static void flow(struct cube *cube, uint64_t c)
{
    const struct shape *shape = &cube->shape;
    double sum = 0;
    for (unsigned s = 0; s < shape->n; s++) {
        cube->entering[c][s] = (1 - cube->blocking[c][s]) * shape->part[s] * cube->qos->rate[c];
        sum += cube->entering[c][s];
    }
    cube->ejected[c] = sum;
    cube->carried[c] = sum * (shape->others + 1) / 2 / shape->others;
}

/* Waits of one class behind its own messages: I, Bm, O. */
static void block(struct cube *cube, uint64_t c)
{
    const struct shape *shape = &cube->shape;
    double mx = cube->longest[c], flits = (double)cube->qos->flits[c], delay[CHANNELS];
    for (unsigned s = shape->n; s-- > 0;) {
        double ahead = 0;
        for (unsigned j = s + 1; j < shape->n; j++)
            ahead += cube->blocking[c][j] * (delay[j] + mx) * shape->weight[j][s];
        delay[s] = (mx + flits + (1 - shape->last[s]) * ahead) / 2;
        cube->later[c][s] =
            (1 - shape->one_hop * cube->ejected[c] / (shape->n * cube->entering[c][s])) * ahead;
        cube->buffered[c][s] = cube->blocking[c][s] * mx / 2 + cube->later[c][s];
    }
    cube->eject[c] = cube->blocking[c][shape->n] * (mx + flits) / 2 + flits;
}

/* L = fixed + stretched S, of real-time classes at channels side by side. */
struct abreast {
    double fixed[CLASSES][IC_QOS_ABREAST], stretched[CLASSES][IC_QOS_ABREAST];
};

/* Channels from..to - 1. Their places are filled up with the last one. */
static void share(struct cube *cube, const double *rate, const struct abreast *of, unsigned from,
                  unsigned to)
{
    double sharing[IC_QOS_SHARINGS][IC_QOS_ABREAST], stretch[CLASSES][IC_QOS_ABREAST];
    GMC_ASSERT(cube->qos->classes > 0);
    unsigned real_time = (unsigned)cube->qos->classes - 1;
    ic_qos_share(cube->qos, rate, of->fixed, of->stretched, sharing, stretch);
    for (unsigned s = from; s < to; s++) {
        for (unsigned z = 0; z < 1u << real_time; z++)
            cube->sharing[s][z] = sharing[z][s - from];
        for (unsigned c = 0; c < real_time; c++)
            cube->stretch[c][s] = stretch[c][s - from];
    }
}

static void share_ejection(struct cube *cube)
{
    struct abreast of;
    unsigned n = cube->shape.n;
    double fixed = (double)cube->qos->stages - 1;
    for (uint64_t c = 0; c + 1 < cube->qos->classes; c++)
        for (unsigned i = 0; i < IC_QOS_ABREAST; i++) {
            of.fixed[c][i] = fixed;
            of.stretched[c][i] = cube->eject[c];
        }
    share(cube, cube->ejected, &of, n, n + 1);
    for (uint64_t c = 0; c + 1 < cube->qos->classes; c++)
        cube->latency[c][n] = fixed + cube->eject[c] * cube->stretch[c][n];
}

/* Real-time classes at channels from..to - 1. */
static void share_channels(struct cube *cube, unsigned from, unsigned to)
{
    struct abreast of;
    double header[IC_QOS_ABREAST], stages = (double)cube->qos->stages;
    bool all = cube->qos->variant == IC_QOS_STRETCH_ALL;
    for (unsigned i = 0; i < IC_QOS_ABREAST; i++) {
        unsigned s = from + i < to ? from + i : to - 1;
        header[i] = stages - 1 + stages * cube->shape.hops[s];
        for (uint64_t c = 0; c + 1 < cube->qos->classes; c++) {
            double ejection = cube->eject[c], waits = cube->buffered[c][s];
            of.fixed[c][i] =
                all ? header[i] : header[i] + ejection * cube->stretch[c][cube->shape.n];
            of.stretched[c][i] = all ? ejection + waits : waits;
        }
    }
    share(cube, cube->carried, &of, from, to);
    for (uint64_t c = 0; c + 1 < cube->qos->classes; c++)
        for (unsigned s = from; s < to; s++)
            cube->latency[c][s] = header[s - from] +
                                  cube->eject[c] * cube->stretch[c][cube->shape.n] +
                                  cube->buffered[c][s] * cube->stretch[c][s];
}

/* Mean time that real-time traffic keeps a channel busy, once it does. */
static double busy_period(const struct cube *cube, const double *rate, double empty)
{
    double sum = 0;
    for (uint64_t c = 0; c + 1 < cube->qos->classes; c++)
        sum += rate[c];
    return (1 - empty) / empty / sum;
}

/* Best effort, (13): its flits stretch over the busy periods of real-time traffic, and what comes
 * stretched to the ejection channel is not stretched again while that one is idle. */
static void best_effort(struct cube *cube)
{
    uint64_t be = cube->qos->classes - 1;
    unsigned n = cube->shape.n;
    double flits = (double)cube->qos->flits[be], stages = (double)cube->qos->stages, sum = 0;
    double eject_empty = cube->sharing[n][0];
    double eject_busy = busy_period(cube, cube->ejected, eject_empty);
    for (unsigned s = 0; s < n; s++) {
        double empty = cube->sharing[s][0], busy = busy_period(cube, cube->carried, empty);
        double stretch = (2 - empty) * (flits * empty + (flits + busy) * (1 - empty)) / flits;
        double arriving = (flits - 1) * stretch + 1 - cube->later[be][s];
        arriving = arriving > flits ? arriving : flits;
        double ejection =
            (2 - eject_empty) *
            (arriving * eject_empty + (arriving / 2 + eject_busy + flits / 2) * (1 - eject_empty)) /
            flits;
        cube->stretch[be][s] = stretch;
        cube->latency[be][s] = stages - 1 + stages * cube->shape.hops[s] +
                               cube->eject[be] * ejection + cube->buffered[be][s] * stretch;
        sum += ejection * cube->entering[be][s];
    }
    cube->stretch[be][n] = sum / cube->ejected[be];
    cube->latency[be][n] = stages - 1 + cube->eject[be] * cube->stretch[be][n];
}

/* Of the classes that are not at rest. */
static uint64_t first_class(const struct cube *cube)
{
    return cube->is_at_rest ? cube->qos->classes - 1 : 0;
}

static void evaluate(struct cube *cube)
{
    for (uint64_t c = first_class(cube); c < cube->qos->classes; c++) {
        flow(cube, c);
        block(cube, c);
    }
    if (!cube->is_at_rest) {
        unsigned n = cube->shape.n;
        share_ejection(cube);
        for (unsigned s = 0; s < n; s += IC_QOS_ABREAST)
            share_channels(cube, s, s + IC_QOS_ABREAST < n ? s + IC_QOS_ABREAST : n);
    }
    best_effort(cube);
}

/* Step i of the iteration: the largest change. */
static double step(struct cube *cube, int i, double *change)
{
    unsigned n = cube->shape.n;
    double largest = 0;
    for (uint64_t c = first_class(cube); c < cube->qos->classes; c++) {
        change[c] = 0;
        for (unsigned s = 0; s <= n; s++) {
            double rate = s < n ? cube->carried[c] : cube->ejected[c];
            double wanted = ic_qos_blocking(rate, cube->latency[c][s], cube->exponent[c]);
            double moved = ic_qos_approach(&cube->blocking[c][s], wanted, i, &cube->paces[c][s]);
            change[c] = moved > change[c] ? moved : change[c];
        }
        if (c + 1 == cube->qos->classes)
            cube->is_at_rest |= largest < AT_REST;
        largest = fmax(largest, change[c]);
    }
    return largest;
}

/* Mean over the first dimensions, (14). */
static double network_latency(const struct cube *cube, uint64_t c)
{
    double latency = 0;
    for (unsigned s = 0; s < cube->shape.n; s++)
        latency += cube->latency[c][s] * cube->entering[c][s];
    return latency / cube->ejected[c];
}

/* Nothing that comes changes what has a solution. */
static bool is_over(const struct cube *cube, const double *change)
{
    return ic_qos_is_lost(cube->qos, change) ||
           (cube->is_at_rest && !isfinite(change[cube->qos->classes - 1]));
}

static bool is_decided(const struct cube *cube, struct ic_qos_watch *watch, const double *change)
{
    double latency[CLASSES];
    for (uint64_t c = 0; c < cube->qos->classes; c++)
        latency[c] = network_latency(cube, c);
    return ic_qos_watch(watch, cube->qos, latency, change);
}

/* Means over the first dimensions, (14). */
static void describe(const struct cube *cube, struct ic_qos_solution *solution)
{
    GMC_ASSERT(cube->qos->classes > 0);
    for (uint64_t c = 0; c < cube->qos->classes; c++) {
        struct ic_qos_latency *out = &solution->latency[c];
        double stretch = 0;
        for (unsigned s = 0; s <= cube->shape.n; s++) {
            out->blocking[s] = cube->blocking[c][s];
            out->stretch[s] = cube->stretch[c][s];
            if (s == cube->shape.n)
                break;
            stretch += cube->stretch[c][s] * cube->entering[c][s];
        }
        out->network = network_latency(cube, c);
        out->wait =
            ic_qos_source_wait(cube->qos->rate[c], out->network, ic_qos_empty_latency(cube->qos, c),
                               stretch / cube->ejected[c]);
    }
    for (unsigned s = 0; s <= cube->shape.n; s++)
        for (unsigned z = 0; z < 1u << (cube->qos->classes - 1); z++)
            solution->sharing[s][z] = cube->sharing[s][z];
}

void ic_qos_solve_cube(const struct ic_qos *qos, struct ic_qos_watch *watch, double *change,
                       struct ic_qos_solution *solution)
{
    struct cube cube = {.qos = qos};
    shape_init(&cube.shape, (unsigned)qos->dimension);
    for (uint64_t c = 0; c < qos->classes; c++) {
        cube.longest[c] = fmax((double)qos->buffer_flits, (double)qos->flits[c]);
        cube.exponent[c] = ic_qos_exponent(qos, c);
    }
    for (int i = 0; i < IC_QOS_STEPS; i++) {
        evaluate(&cube);
        bool is_still = step(&cube, i, change) < STILL;
        if (is_still || is_over(&cube, change) ||
            (watch != NULL && i % IC_QOS_WATCH_STEPS == 0 && is_decided(&cube, watch, change)))
            break;
    }
    describe(&cube, solution);
}
