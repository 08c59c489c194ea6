/* SPDX-License-Identifier: BSD-2-Clause */
/* What router and cube share: checks, blocking, the source's queue. */
#include "interconnect/qos/model.h"

#include <math.h>
#include <stddef.h>

#include "base/assert.h"

#define DAMPING 0.1
/* A class that still moves more than this after the last step has no solution. */
#define SETTLED 1e-9

const char *ic_qos_rate_words(const struct ic_qos *qos, uint64_t traffic_class)
{
    static const char *const words[IC_QOS_CLASSES_MAX] = {
        "the rate of R1, in messages per cycle and node,",
        "the rate of R2, in messages per cycle and node,",
        "the rate of R3, in messages per cycle and node,",
        "the rate of R4, in messages per cycle and node,",
        "the rate of R5, in messages per cycle and node,",
        "the rate of best effort, in messages per cycle and node,",
    };
    return words[traffic_class + 1 < qos->classes ? traffic_class : IC_QOS_CLASSES_MAX - 1];
}

/* is_carried: the sources' channels carry the rates. */
static gmc_status check(const struct ic_qos *qos, bool is_carried, char *error)
{
    gmc_status status = GMC_OK;
    if (qos->dimension != 0)
        status = ic_check_range("n, the cube's dimensions (0: one router),", qos->dimension, 2,
                                IC_QOS_DIMENSION_MAX, error);
    if (status == GMC_OK)
        status =
            ic_check_range("the number of classes", qos->classes, 2, IC_QOS_CLASSES_MAX, error);
    if (status == GMC_OK)
        status =
            ic_check_range("P, the router's stages,", qos->stages, 1, IC_QOS_STAGES_MAX, error);
    if (status == GMC_OK)
        status = ic_check_range("b, the flits of a buffer,", qos->buffer_flits, 1, IC_QOS_FLITS_MAX,
                                error);
    for (uint64_t c = 0; status == GMC_OK && c < qos->classes; c++) {
        status =
            ic_check_range("M, the flits of a message,", qos->flits[c], 1, IC_QOS_FLITS_MAX, error);
        if (status == GMC_OK)
            status = ic_check_number(ic_qos_rate_words(qos, c), qos->rate[c], IC_QOS_RATE_LEAST,
                                     is_carried ? 1 / (double)qos->flits[c] : 1, error);
    }
    return status;
}

gmc_status ic_qos_check(const struct ic_qos *qos, char *error)
{
    return check(qos, true, error);
}

double ic_qos_mean_hops(uint64_t dimension)
{
    double nodes = (double)(UINT64_C(1) << dimension);
    return (double)dimension * nodes / 2 / (nodes - 1);
}

double ic_qos_empty_latency(const struct ic_qos *qos, uint64_t traffic_class)
{
    double stages = (double)qos->stages;
    double hops = qos->dimension == 0 ? 0 : ic_qos_mean_hops(qos->dimension);
    return stages - 1 + stages * hops + (double)qos->flits[traffic_class];
}

double ic_qos_stretch(const struct ic_qos *qos, uint64_t traffic_class, unsigned busy)
{
    double sum = 0;
    for (uint64_t c = 0; c + 1 < qos->classes; c++)
        if (busy >> c & 1)
            sum += qos->rate[c] * (double)qos->flits[c];
    return sum / (qos->rate[traffic_class] * (double)qos->flits[traffic_class]);
}

double ic_qos_exponent(const struct ic_qos *qos, uint64_t traffic_class)
{
    double flits = (double)qos->flits[traffic_class];
    return 1 + 2 * fmax((double)qos->buffer_flits, flits) / flits;
}

double ic_qos_blocking(double rate, double latency, double exponent)
{
    double used = rate * latency;
    used = used < 1 ? used : 1;
    return exponent == 3 ? used * used * used : pow(used, exponent);
}

double ic_qos_source_wait(double rate, double latency, double empty, double stretch)
{
    double used = rate * latency, over = latency - empty;
    if (used >= 1)
        return INFINITY;
    return rate * (latency * latency + over * over) / (2 * (1 - used)) + stretch;
}

double ic_qos_approach(double *blocking, double wanted, int step, struct ic_qos_pace *pace)
{
    double gap = wanted - *blocking;
    if (step >= IC_QOS_STEPS_USUAL) {
        double part = 1 - pace->shortened;
        pace->shortened = 1 - (gap * pace->gap < 0 ? part / 2 : fmin(1, part * 1.1));
    }
    pace->gap = gap;
    *blocking += DAMPING * (1 - pace->shortened) * gap;
    return isfinite(gap) ? DAMPING * fabs(gap) : INFINITY;
}

bool ic_qos_is_lost(const struct ic_qos *qos, const double *change)
{
    for (uint64_t c = 0; c + 1 < qos->classes; c++)
        if (!isfinite(change[c]))
            return true;
    return false;
}

/* What did not settle, or is none of a Markov chain's probabilities, is no solution. */
static bool has_settled(const struct ic_qos_latency *latency, double change)
{
    return change < SETTLED && isfinite(latency->network) && latency->network > 0;
}

bool ic_qos_are_probabilities(const struct ic_qos *qos, const struct ic_qos_solution *solution)
{
    GMC_ASSERT(qos->classes > 0);
    for (uint64_t s = 0; s < solution->channels; s++)
        for (unsigned z = 0; z < 1u << (qos->classes - 1); z++)
            if (!(solution->sharing[s][z] >= 0))
                return false;
    return true;
}

static void refuse(struct ic_qos_latency *latency)
{
    latency->network = latency->wait = INFINITY;
    for (uint64_t s = 0; s < IC_QOS_CHANNELS; s++)
        latency->blocking[s] = latency->stretch[s] = INFINITY;
}

void ic_qos_judge(const struct ic_qos *qos, const double *change, struct ic_qos_solution *solution)
{
    uint64_t be = qos->classes - 1;
    solution->has_solution = ic_qos_are_probabilities(qos, solution);
    for (uint64_t c = 0; c < be; c++)
        if (!has_settled(&solution->latency[c], change[c]))
            solution->has_solution = false;
    for (uint64_t c = 0; c <= be; c++)
        if (!solution->has_solution || !has_settled(&solution->latency[c], change[c]))
            refuse(&solution->latency[c]);
}

void ic_qos_solve(const struct ic_qos *qos, struct ic_qos_watch *watch, double *change,
                  struct ic_qos_solution *solution)
{
    *solution = (struct ic_qos_solution){.channels = qos->dimension + 1};
    if (qos->dimension == 0)
        ic_qos_solve_router(qos, watch, change, solution);
    else
        ic_qos_solve_cube(qos, watch, change, solution);
}

gmc_status ic_qos_model(const struct ic_qos *qos, struct ic_qos_solution *solution, char *error)
{
    double change[IC_QOS_CLASSES_MAX];
    gmc_status status = check(qos, false, error);
    if (status != GMC_OK)
        return status;
    ic_qos_solve(qos, NULL, change, solution);
    ic_qos_judge(qos, change, solution);
    return GMC_OK;
}
