/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributions of stretched flits, put together from their tables. */
#include "interconnect/qos/deadline.h"

#include <math.h>

#include "base/assert.h"

/* A channel's distribution: the weight of each table in it. */
struct mix {
    double at_once; /* probability of no delay at all */
    double part[IC_QOS_PASSINGS][IC_QOS_SUBSETS];
};

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
                        struct mix *mix)
{
    double blocking = solution->latency[delays->traffic_class].blocking[s];
    double sets[IC_QOS_SUBSETS];
    share_out(qos, delays, solution->sharing[s], sets);
    *mix = (struct mix){.at_once = is_last ? 0 : 1 - blocking};
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
    struct mix mix;
    double sum = 0;
    mix_channel(qos, solution, delays, 0, true, &mix);
    for (int passing = IC_QOS_PASS_OWN; passing <= IC_QOS_PASS_ALL; passing++)
        for (unsigned set = 0; set < delays->subsets; set++)
            sum += mix.part[passing][set] * delays->by[passing][set * delays->width + last];
    return sum;
}

/* ---- cubes ---- */
/* Complex numbers at points of the circle that stand side by side. */
struct numbers {
    double re[IC_QOS_WAVE_BLOCK], im[IC_QOS_WAVE_BLOCK];
};

static void multiply_add(struct numbers *sum, const struct numbers *a, const struct numbers *b)
{
    for (unsigned i = 0; i < IC_QOS_WAVE_BLOCK; i++) {
        sum->re[i] += a->re[i] * b->re[i] - a->im[i] * b->im[i];
        sum->im[i] += a->re[i] * b->im[i] + a->im[i] * b->re[i];
    }
}

/* Real or imaginary parts of four points: sums that have names stay in registers. */
static void add_four(const double *parts, unsigned count, const double *waves, uint64_t stride,
                     double *sum)
{
    double a = sum[0], b = sum[1], c = sum[2], d = sum[3];
    for (unsigned set = 0; set < count; set++, waves += stride) {
        a += parts[set] * waves[0];
        b += parts[set] * waves[1];
        c += parts[set] * waves[2];
        d += parts[set] * waves[3];
    }
    sum[0] = a;
    sum[1] = b;
    sum[2] = c;
    sum[3] = d;
}

static void add_tables(const struct ic_qos_delays *delays, const struct mix *mix,
                       enum ic_qos_passing passing, uint64_t from, struct numbers *sum)
{
    const double *waves = &delays->waves[passing][from], *parts = mix->part[passing];
    uint64_t stride = 2 * delays->wave_points;
    for (unsigned i = 0; i < IC_QOS_WAVE_BLOCK; i += 4) {
        add_four(parts, delays->subsets, waves + i, stride, &sum->re[i]);
        add_four(parts, delays->subsets, waves + delays->wave_points + i, stride, &sum->im[i]);
    }
}

/* Generating function, from point `from` on, of the delays of a way: the sum over all sets of so
 * many of n channels, and the last one. sums[h] is that of h among the channels seen so far. */
static void at_points(const struct ic_qos_delays *delays, const struct mix *mixes, uint64_t n,
                      uint64_t hops, uint64_t from, struct numbers *value)
{
    struct numbers sums[IC_QOS_CHANNELS] = {{{0}, {0}}}, last = {{0}, {0}};
    for (unsigned i = 0; i < IC_QOS_WAVE_BLOCK; i++)
        sums[0].re[i] = 1;
    for (uint64_t s = 0; s < n; s++) {
        struct numbers channel = {{0}, {0}};
        for (unsigned i = 0; i < IC_QOS_WAVE_BLOCK; i++)
            channel.re[i] = mixes[s].at_once;
        add_tables(delays, &mixes[s], IC_QOS_PASS_BEFORE, from, &channel);
        for (uint64_t h = hops < s + 1 ? hops : s + 1; h > 0 && h + n > hops + s; h--)
            multiply_add(&sums[h], &sums[h - 1], &channel);
    }
    add_tables(delays, &mixes[n], IC_QOS_PASS_OWN, from, &last);
    add_tables(delays, &mixes[n], IC_QOS_PASS_ALL, from, &last);
    *value = (struct numbers){{0}, {0}};
    multiply_add(value, &sums[hops], &last);
}

/* What turns a value at z into its part of the sum of coefficients 0..last:
 * 1 + 1 / z + ... + 1 / z^last. far: radius^-(last + 1). The part is real with its conjugate's. */
static double real_part(const struct ic_qos_delays *delays, uint64_t k, uint64_t last, double far,
                        double re, double im)
{
    if (k == 0 && delays->radius == 1)
        return re * ((double)last + 1);
    const double *all = &delays->turns[2 * (k * (last + 1) & (delays->points - 1))];
    const double *series = &delays->series[2 * k];
    double above_re = 1 - far * all[0], above_im = far * all[1];
    double product_re = re * above_re - im * above_im, product_im = re * above_im + im * above_re;
    return product_re * series[0] - product_im * series[1];
}

static double cube_in_time(const struct ic_qos *qos, const struct ic_qos_solution *solution,
                           const struct ic_qos_delays *delays, uint64_t hops, uint64_t last)
{
    struct mix mixes[IC_QOS_CHANNELS];
    struct numbers value = {{0}, {0}};
    uint64_t n = qos->dimension, half = delays->points / 2;
    double sum = 0, sets = 1, far = pow(delays->radius, -(double)(last + 1));
    for (uint64_t s = 0; s <= n; s++)
        mix_channel(qos, solution, delays, s, s == n, &mixes[s]);
    for (uint64_t k = 0; k <= half; k++) {
        unsigned at = k % IC_QOS_WAVE_BLOCK;
        if (at == 0)
            at_points(delays, mixes, n, hops, k, &value);
        double part = real_part(delays, k, last, far, value.re[at], value.im[at]);
        sum += k != 0 && k != half ? 2 * part : part; /* with its conjugate */
    }
    for (uint64_t h = 0; h < hops; h++)
        sets = sets * (double)(n - h) / (double)(h + 1);
    return sum / (double)delays->points / sets;
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
                      const struct ic_qos_delays *delays, uint64_t hops, uint64_t last)
{
    GMC_ASSERT(last < delays->width);
    double share = qos->dimension == 0 ? router_in_time(qos, solution, delays, last)
                                       : cube_in_time(qos, solution, delays, hops, last);
    return fmin(1, fmax(0, share));
}

gmc_status ic_qos_deadline_miss(const struct ic_qos *qos, const struct ic_qos_solution *solution,
                                const struct ic_qos_delays *given, uint64_t traffic_class,
                                uint64_t hops, uint64_t deadline, enum ic_qos_miss kind,
                                double *miss, char *error)
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
