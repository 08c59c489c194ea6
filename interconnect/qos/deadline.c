/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributions of stretched flits. */
#include "interconnect/qos/deadline.h"

#include <math.h>
#include <stdlib.h>

#define REAL_TIME_MAX 3u /* more would take the sum over too many X_k */
#define STATES (1u << (REAL_TIME_MAX - 1u))
/* Stretches are ratios of rates: 2.9999999 is a 3. */
#define ROUNDING 1e-9

/* Of the classes beside c at a channel: what part of c's time, how stretched. */
struct states {
    unsigned count;
    double share[STATES], stretch[STATES];
};

/* Where mass goes: at[t], t = 0..last; what is later is lost. */
struct mass {
    double *at;
    uint64_t last;
};

struct flits {
    const struct states *states;
    struct mass mass;
    enum ic_qos_miss kind;
    double total; /* n0 */
};

static void put(const struct mass *mass, double time, double probability)
{
    double slot = ceil(time - ROUNDING);
    if (slot <= (double)mass->last)
        mass->at[(uint64_t)slot] += probability;
}

/* State 0, once the flits of the others are chosen: `chosen` of them take `time`. */
static void put_alone(const struct flits *f, double chosen, double time, double probability)
{
    double share = f->states->share[0], room = (double)f->mass.last - time;
    if (f->kind == IC_QOS_MISS_CONSTRAINED) {
        put(&f->mass, time + fmax(0, f->total - chosen), probability);
        return;
    }
    put(&f->mass, time, probability * (1 - share));
    for (uint64_t x = 1; (double)x <= fmin(f->total, room + ROUNDING); x++)
        put(&f->mass, time + (double)x, probability * share / f->total);
}

/* Chooses X of state k and, within, of the later ones. */
static void put_states(const struct flits *f, unsigned k, double chosen, double time,
                       double probability)
{
    double share, stretch;
    if (k == f->states->count) {
        put_alone(f, chosen, time, probability);
        return;
    }
    share = f->states->share[k];
    stretch = f->states->stretch[k];
    put_states(f, k + 1, chosen, time, probability * (1 - share));
    for (uint64_t x = 1; (double)x <= f->total; x++) {
        double later = time + (double)x * stretch;
        if (later > (double)f->mass.last + ROUNDING)
            break;
        put_states(f, k + 1, chosen + (double)x, later, probability * share / f->total);
    }
}

static void states_of(const struct ic_qos *qos, const double *sharing, uint64_t c,
                      struct states *states)
{
    double with = 0;
    unsigned sets = 1u << (qos->classes - 1);
    states->count = 0;
    /* Sets with c in growing order: bits of the others in growing order too. */
    for (unsigned z = 0; z < sets; z++)
        if (z >> c & 1) {
            states->share[states->count] = sharing[z];
            states->stretch[states->count] = ic_qos_stretch(qos, c, z);
            states->count++;
            with += sharing[z];
        }
    for (unsigned k = 0; k < states->count; k++)
        states->share[k] /= with;
}

/* Distribution of the time at a channel for the flits waited for and `own` more. */
static void channel(const struct ic_qos *qos, const struct ic_qos_solution *solution, uint64_t c,
                    uint64_t s, uint64_t own, enum ic_qos_miss kind, const struct mass *mass)
{
    struct states states = {0};
    uint64_t flits = qos->flits[c];
    uint64_t most = 2 * (qos->buffer_flits > flits ? qos->buffer_flits : flits) + flits;
    double blocking = solution->latency[c].blocking[s];
    states_of(qos, solution->sharing[s], c, &states);
    for (uint64_t t = 0; t <= mass->last; t++)
        mass->at[t] = 0;
    for (uint64_t b = 0; b <= most; b++) {
        struct flits f = {&states, *mass, kind, (double)(b + own)};
        double probability = b == 0 ? 1 - blocking : blocking / (double)most;
        if (b + own == 0)
            put(mass, 0, probability);
        else
            put_states(&f, 1, 0, 0, probability);
    }
}

/* sum += a (*) b, both over 0..last. */
static void convolve_add(const double *a, const double *b, uint64_t last, double *sum)
{
    for (uint64_t i = 0; i <= last; i++)
        for (uint64_t j = 0; a[i] != 0 && j <= last - i; j++)
            sum[i + j] += a[i] * b[j];
}

static double sum_of(const struct mass *mass)
{
    double sum = 0;
    for (uint64_t t = 0; t <= mass->last; t++)
        sum += mass->at[t];
    return sum;
}

/* The tail does not leave before M flits did. */
static void not_below(const struct mass *mass, uint64_t flits)
{
    for (uint64_t t = 0; t < flits; t++) {
        mass->at[flits] += mass->at[t];
        mass->at[t] = 0;
    }
}

/* In time for M <= last. chosen[h] is the sum over all sets of h dimensions among those seen so
 * far; at the end it is divided by their number. */
static gmc_status cube_in_time(const struct ic_qos *qos, const struct ic_qos_solution *solution,
                               uint64_t c, uint64_t hops, uint64_t last, enum ic_qos_miss kind,
                               double *in_time)
{
    uint64_t n = qos->dimension, width = last + 1;
    double *rows = calloc((hops + 3) * width, sizeof(*rows)), sets = 1;
    if (rows == NULL)
        return GMC_ERR_NOMEM;
    struct mass one = {rows + (hops + 1) * width, last}, all = {rows + (hops + 2) * width, last};
    rows[0] = 1;
    for (uint64_t s = 0; s < n; s++) {
        channel(qos, solution, c, s, 0, kind, &one);
        for (uint64_t h = hops; h > 0; h--)
            convolve_add(rows + (h - 1) * width, one.at, last, rows + h * width);
    }
    channel(qos, solution, c, n, qos->flits[c], kind, &one);
    not_below(&one, qos->flits[c]);
    convolve_add(rows + hops * width, one.at, last, all.at);
    for (uint64_t h = 0; h < hops; h++)
        sets = sets * (double)(n - h) / (double)(h + 1);
    *in_time = sum_of(&all) / sets;
    free(rows);
    return GMC_OK;
}

static gmc_status router_in_time(const struct ic_qos *qos, const struct ic_qos_solution *solution,
                                 uint64_t c, uint64_t last, enum ic_qos_miss kind, double *in_time)
{
    struct mass mass = {calloc(last + 1, sizeof(*mass.at)), last};
    if (mass.at == NULL)
        return GMC_ERR_NOMEM;
    channel(qos, solution, c, 0, qos->flits[c], kind, &mass);
    *in_time = sum_of(&mass);
    free(mass.at);
    return GMC_OK;
}

static gmc_status check(const struct ic_qos *qos, uint64_t c, uint64_t hops, uint64_t deadline,
                        char *error)
{
    gmc_status status = ic_check_range("the number of classes, for deadlines,", qos->classes, 2,
                                       REAL_TIME_MAX + 1, error);
    if (status == GMC_OK)
        status = ic_check_range("the class (best effort has no deadline)", c, 0, qos->classes - 2,
                                error);
    if (status == GMC_OK)
        status =
            ic_check_range("the number of hops", hops, qos->dimension != 0, qos->dimension, error);
    if (status == GMC_OK)
        status =
            ic_check_range("D, the deadline in cycles,", deadline, 1, IC_QOS_DEADLINE_MAX, error);
    return status;
}

gmc_status ic_qos_deadline_miss(const struct ic_qos *qos, const struct ic_qos_solution *solution,
                                uint64_t traffic_class, uint64_t hops, uint64_t deadline,
                                enum ic_qos_miss kind, double *miss, char *error)
{
    uint64_t pipeline = qos->stages - 1 + qos->stages * hops;
    double in_time = 0;
    gmc_status status = check(qos, traffic_class, hops, deadline, error);
    if (status == GMC_OK && deadline >= pipeline + qos->flits[traffic_class])
        status = qos->dimension == 0 ? router_in_time(qos, solution, traffic_class,
                                                      deadline - pipeline, kind, &in_time)
                                     : cube_in_time(qos, solution, traffic_class, hops,
                                                    deadline - pipeline, kind, &in_time);
    if (status == GMC_OK)
        *miss = 1 - in_time;
    return status;
}
