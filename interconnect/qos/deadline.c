/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributions of stretched flits, put together from their tables. */
#include "interconnect/qos/deadline.h"

#include <math.h>

#include "base/assert.h"
#include "interconnect/qos/waves.h"

/* Probability of each set of states that flits were taken in. */
static void share_out(const struct ic_qos *qos, const struct ic_qos_delays *delays,
                      const double *sharing, double *sets)
{
    double share[IC_QOS_STATES] = {0}, with = 0;
    unsigned state = 0;
    for (unsigned busy = 0; busy < 1u << (qos->classes - 1); busy++)
        if (busy >> delays->traffic_class & 1) {
            share[state++] = sharing[busy];
            with += sharing[busy];
        }
    for (unsigned set = 0; set < delays->subsets; set++) {
        sets[set] = 1;
        for (unsigned i = 0; i + delays->first_state < delays->states; i++) {
            double p = share[i + delays->first_state] / with;
            sets[set] *= set >> i & 1 ? p : 1 - p;
        }
    }
}

/* Of channel s; where messages leave it has their own flits too. */
static void mix_channel(const struct ic_qos *qos, const struct ic_qos_solution *solution,
                        const struct ic_qos_delays *delays, uint64_t s, bool is_last,
                        struct ic_qos_mix *mix)
{
    double blocking = solution->latency[delays->traffic_class].blocking[s];
    double sets[IC_QOS_SUBSETS];
    share_out(qos, delays, solution->sharing[s], sets);
    *mix = (struct ic_qos_mix){.at_once = is_last ? 0 : 1 - blocking};
    for (unsigned set = 0; set < delays->subsets; set++) {
        mix->part[is_last ? IC_QOS_PASS_ALL : IC_QOS_PASS_BEFORE][set] =
            blocking / (double)delays->most * sets[set];
        if (is_last)
            mix->part[IC_QOS_PASS_OWN][set] = (1 - blocking) * sets[set];
    }
}

static double router_in_time(const struct ic_qos *qos, const struct ic_qos_solution *solution,
                             const struct ic_qos_delays *delays, uint64_t last)
{
    struct ic_qos_mix mix;
    double sum = 0;
    mix_channel(qos, solution, delays, 0, true, &mix);
    for (int passing = IC_QOS_PASS_OWN; passing <= IC_QOS_PASS_ALL; passing++)
        for (unsigned set = 0; set < delays->subsets; set++)
            sum += mix.part[passing][set] * delays->by[passing][set * delays->width + last];
    return sum;
}

/* ---- cubes ---- */
static double cube_in_time(const struct ic_qos *qos, const struct ic_qos_solution *solution,
                           struct ic_qos_delays *delays, uint64_t hops, uint64_t last)
{
    struct ic_qos_mix mixes[IC_QOS_CHANNELS];
    uint64_t n = qos->dimension;
    double sets = 1;
    for (uint64_t s = 0; s <= n; s++)
        mix_channel(qos, solution, delays, s, s == n, &mixes[s]);
    for (uint64_t h = 0; h < hops; h++)
        sets = sets * (double)(n - h) / (double)(h + 1);
    return ic_qos_waves_in_time(delays, mixes, n, hops, last) / sets;
}

static gmc_status check(const struct ic_qos *qos, uint64_t c, uint64_t hops, uint64_t deadline,
                        char *error)
{
    gmc_status status = ic_check_range("the number of classes, for deadlines,", qos->classes, 2,
                                       IC_QOS_REAL_TIME_MAX + 1, error);
    if (status == GMC_OK)
        status = ic_check_range("the class (best effort has no deadline)", c, 0, qos->classes - 2,
                                error);
    if (status == GMC_OK)
        status =
            ic_check_range("the number of hops", hops, qos->dimension != 0, qos->dimension, error);
    if (status == GMC_OK)
        status =
            ic_check_range("D, the deadline in cycles,", deadline, 0, IC_QOS_DEADLINE_MAX, error);
    return status;
}

/* The cycles that a header takes through all routers. */
static uint64_t pipeline_of(const struct ic_qos *qos, uint64_t hops)
{
    return qos->stages - 1 + qos->stages * hops;
}

/* The cycles that a message's flits have after its header came through all routers, of those that
 * they can take. */
static uint64_t time_for_flits(const struct ic_qos *qos, uint64_t c, uint64_t hops,
                               uint64_t deadline)
{
    uint64_t pipeline = pipeline_of(qos, hops);
    uint64_t left = deadline > pipeline ? deadline - pipeline : 0;
    uint64_t reach = ic_qos_delays_reach(qos, c, hops);
    return left < reach ? left : reach;
}

uint64_t ic_qos_deadline_width(const struct ic_qos *qos, uint64_t traffic_class, uint64_t hops,
                               uint64_t deadline)
{
    return ic_qos_delays_width(time_for_flits(qos, traffic_class, hops, deadline));
}

static double in_time(const struct ic_qos *qos, const struct ic_qos_solution *solution,
                      struct ic_qos_delays *delays, uint64_t hops, uint64_t last)
{
    GMC_ASSERT(last < delays->width);
    double share = qos->dimension == 0 ? router_in_time(qos, solution, delays, last)
                                       : cube_in_time(qos, solution, delays, hops, last);
    return fmin(1, fmax(0, share));
}

gmc_status ic_qos_deadline_miss(const struct ic_qos *qos, const struct ic_qos_solution *solution,
                                struct ic_qos_delays *given, uint64_t traffic_class, uint64_t hops,
                                uint64_t deadline, enum ic_qos_miss kind, double *miss, char *error)
{
    struct ic_qos_delays *own = NULL;
    gmc_status status = check(qos, traffic_class, hops, deadline, error);
    if (status != GMC_OK)
        return status;
    uint64_t last = time_for_flits(qos, traffic_class, hops, deadline);
    bool is_through = deadline >= pipeline_of(qos, hops);
    if (!is_through || (qos->dimension > 0 && last < qos->flits[traffic_class])) {
        *miss = 1;
        return GMC_OK;
    }
    if (given == NULL)
        status = ic_qos_delays_new(qos, traffic_class, kind, hops, ic_qos_delays_width(last), &own);
    if (status == GMC_OK)
        *miss = 1 - in_time(qos, solution, given != NULL ? given : own, hops, last);
    ic_qos_delays_free(own);
    return status;
}
