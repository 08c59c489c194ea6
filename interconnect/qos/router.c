/* SPDX-License-Identifier: BSD-2-Clause */
/* The model of one router. Traffic is uniform, so rates into and out of a port are equal and the
 * number of ports does not matter. */
#include <math.h>
#include <stddef.h>

#include "base/assert.h"
#include "interconnect/qos/sharing.h"

/* The iteration stops as P moves less than this in a step. The published rule, 1e-11 before
 * damping, would be 1e-12; the reference tables stand a few steps beyond that, for no printed
 * reason, and P of light loads is small enough for a step to show in its fifth digit. Any value
 * from 7.6e-13 to 8.08e-13 stops at the same step in all of their rows where that can be seen.
 * Latencies do not notice. */
#define STILL 8e-13

struct router {
    const struct ic_qos *qos;
    double longest[IC_QOS_CLASSES_MAX]; /* mx */
    double exponent[IC_QOS_CLASSES_MAX];
    double blocking[IC_QOS_CLASSES_MAX];
    struct ic_qos_pace paces[IC_QOS_CLASSES_MAX];
    double latency[IC_QOS_CLASSES_MAX], stretch[IC_QOS_CLASSES_MAX];
    double sharing[IC_QOS_SHARINGS];
};

/* The router is alone: all that are computed abreast are it. */
static void share(struct router *r, const double *rate, const double *fixed,
                  const double *stretched)
{
    double all_fixed[IC_QOS_CLASSES_MAX][IC_QOS_ABREAST];
    double all_stretched[IC_QOS_CLASSES_MAX][IC_QOS_ABREAST];
    double sharing[IC_QOS_SHARINGS][IC_QOS_ABREAST], stretch[IC_QOS_CLASSES_MAX][IC_QOS_ABREAST];
    for (uint64_t c = 0; c + 1 < r->qos->classes; c++)
        for (unsigned i = 0; i < IC_QOS_ABREAST; i++) {
            all_fixed[c][i] = fixed[c];
            all_stretched[c][i] = stretched[c];
        }
    ic_qos_share(r->qos, rate, all_fixed, all_stretched, sharing, stretch);
    for (unsigned z = 0; z < 1u << (r->qos->classes - 1); z++)
        r->sharing[z] = sharing[z][0];
    for (uint64_t c = 0; c + 1 < r->qos->classes; c++)
        r->stretch[c] = stretch[c][0];
}

static void evaluate(struct router *r)
{
    uint64_t be = r->qos->classes - 1;
    double rate[IC_QOS_CLASSES_MAX], fixed[IC_QOS_CLASSES_MAX], stretched[IC_QOS_CLASSES_MAX];
    for (uint64_t c = 0; c <= be; c++) {
        double flits = (double)r->qos->flits[c];
        rate[c] = (1 - r->blocking[c]) * r->qos->rate[c];
        fixed[c] = (double)r->qos->stages - 1;
        stretched[c] = flits + r->blocking[c] * (r->longest[c] + flits / 2);
    }
    share(r, rate, fixed, stretched);
    double idle = r->sharing[0];
    r->stretch[be] = (1 + idle) / (2 * idle * idle);
    for (uint64_t c = 0; c <= be; c++)
        r->latency[c] = fixed[c] + stretched[c] * r->stretch[c];
}

/* Step i of the iteration: the largest change. */
static double step(struct router *r, int i, double *change)
{
    double largest = 0;
    for (uint64_t c = 0; c < r->qos->classes; c++) {
        double rate = (1 - r->blocking[c]) * r->qos->rate[c];
        double wanted = ic_qos_blocking(rate, r->latency[c], r->exponent[c]);
        change[c] = ic_qos_approach(&r->blocking[c], wanted, i, &r->paces[c]);
        largest = fmax(largest, change[c]);
    }
    return largest;
}

void ic_qos_solve_router(const struct ic_qos *qos, struct ic_qos_watch *watch, double *change,
                         struct ic_qos_solution *solution)
{
    struct router r = {.qos = qos};
    GMC_ASSERT(qos->classes > 0);
    const unsigned sets = 1u << (qos->classes - 1);
    for (uint64_t c = 0; c < qos->classes; c++) {
        r.longest[c] = fmax((double)qos->buffer_flits, (double)qos->flits[c]);
        r.exponent[c] = ic_qos_exponent(qos, c);
    }
    for (int i = 0; i < IC_QOS_STEPS; i++) {
        evaluate(&r);
        bool is_still = step(&r, i, change) < STILL;
        if (is_still || ic_qos_is_lost(qos, change) ||
            (watch != NULL && i % IC_QOS_WATCH_STEPS == 0 &&
             ic_qos_watch(watch, qos, r.latency, change)))
            break;
    }
    for (uint64_t c = 0; c < qos->classes; c++) {
        struct ic_qos_latency *out = &solution->latency[c];
        out->network = r.latency[c];
        out->blocking[0] = r.blocking[c];
        out->stretch[0] = r.stretch[c];
        out->wait = ic_qos_source_wait(qos->rate[c], r.latency[c], ic_qos_empty_latency(qos, c),
                                       r.stretch[c]);
    }
    for (unsigned z = 0; z < sets; z++)
        solution->sharing[0][z] = r.sharing[z];
}
