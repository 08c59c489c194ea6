/* SPDX-License-Identifier: BSD-2-Clause */
/* The model by classes of channels and kinds of pairs: n^3/6 kinds, 2n classes. */
#include "interconnect/hypercube/pcube.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"

#define BITS (IC_PCUBE_N_MAX + 1)
/* C(n + 3, 4) kinds of pairs through the classes of one direction. */
#define TERMS (2 * 1365)

/* A kind of pair that uses a class, with its share of the class's mean. */
struct term {
    uint32_t pair; /* place of its S */
    double weight;
};

struct channel_class {
    double rate;
    double wait;           /* w */
    double busy;           /* P_V */
    double share;          /* Vbar */
    double blocking[BITS]; /* by alternatives: P_V^alternatives w */
};

struct model {
    uint32_t n, channels;
    double flits, load, ejection;
    double binomial[BITS][BITS], factorial[BITS];
    struct term terms[TERMS];
    uint32_t first[2 * IC_PCUBE_N_MAX + 1]; /* terms of a class: first[c] to first[c + 1] - 1 */
    struct channel_class classes[2 * IC_PCUBE_N_MAX]; /* negative z = 0..n-1, then positive */
    double s[BITS * BITS * BITS];                     /* by hn, hp, c11 */
};

static inline uint32_t pair_of(uint32_t clear, uint32_t set, uint32_t ones)
{
    return (clear * BITS + set) * BITS + ones;
}

static void fill_binomials(double binomial[BITS][BITS])
{
    memset(binomial, 0, sizeof(double) * BITS * BITS);
    for (uint32_t a = 0; a < BITS; a++) {
        binomial[a][0] = 1;
        for (uint32_t b = 1; b <= a; b++)
            binomial[a][b] = binomial[a - 1][b - 1] + (b < a ? binomial[a - 1][b] : 0);
    }
}

static double rate_of(double binomial[BITS][BITS], uint32_t n, uint32_t z)
{
    double sum = 0;
    for (uint32_t i = 0; i <= n - 1 - z; i++)
        for (uint32_t j = 0; j <= z; j++)
            sum += binomial[n - 1 - z][i] * binomial[z][j] * ldexp(1, (int)(z - j)) /
                   ((i + j + 1) * binomial[i + j][i]);
    return sum / (ldexp(1, (int)n) - 1);
}

gmc_status ic_pcube_rate(uint64_t n, uint64_t z, double *rate, char *error)
{
    double binomial[BITS][BITS];
    gmc_status status = ic_check_range("n, dimensions,", n, 1, IC_PCUBE_N_MAX, error);
    if (status == GMC_OK)
        status = ic_check_range("z, zeros among the other bits,", z, 0, n - 1, error);
    if (status != GMC_OK)
        return status;
    fill_binomials(binomial);
    *rate = rate_of(binomial, (uint32_t)n, (uint32_t)z);
    return GMC_OK;
}

/* A pair's hop through a channel comes after `before` hops of its phase and before `after` others;
 * `other` hops are of the other phase. Of the n - 1 bits that the channel does not change, `made`
 * have the value that the phase makes, and `left` the one that it changes. */
static void add_terms(struct model *m, bool is_negative, uint32_t z, uint32_t *count)
{
    uint32_t made = is_negative ? z : m->n - 1 - z;
    uint32_t left = m->n - 1 - made;
    uint32_t first = *count;
    double sum = 0;
    for (uint32_t before = 0; before <= made; before++)
        for (uint32_t after = 0; after <= left; after++) {
            /* What the positive phase sets was zero before, and is none of what was cleared. */
            uint32_t free = is_negative ? made - before : left - after;
            for (uint32_t other = 0; other <= free; other++) {
                struct term term;
                uint32_t phase = before + after + 1;
                term.pair = pair_of(is_negative ? phase : other, is_negative ? other : phase,
                                    is_negative ? left - after : made - before);
                term.weight = m->binomial[made][before] * m->binomial[left][after] *
                              m->binomial[free][other] * m->factorial[before] *
                              m->factorial[after] * m->factorial[other];
                sum += term.weight;
                GMC_ASSERT(*count < TERMS);
                m->terms[(*count)++] = term;
            }
        }
    for (uint32_t t = first; t < *count; t++)
        m->terms[t].weight /= sum;
}

static void setup(struct model *m, const struct ic_pcube *cube, double load)
{
    uint32_t count = 0, n = cube->n;
    *m = (struct model){.n = n, .channels = cube->channels, .flits = cube->flits, .load = load};
    m->ejection = m->flits * m->flits * load / (2 * (1 - m->flits * load));
    fill_binomials(m->binomial);
    m->factorial[0] = 1;
    for (uint32_t i = 1; i < BITS; i++)
        m->factorial[i] = m->factorial[i - 1] * i;
    for (uint32_t c = 0; c < 2 * n; c++) {
        m->classes[c].rate = load * rate_of(m->binomial, n, c % n);
        m->first[c] = count;
        add_terms(m, c < n, c % n, &count);
    }
    m->first[2 * n] = count;
    for (uint32_t clear = 0; clear <= n; clear++)
        for (uint32_t set = 0; set + clear <= n; set++)
            for (uint32_t ones = 0; ones + set + clear <= n; ones++)
                m->s[pair_of(clear, set, ones)] = clear + set + m->flits + m->ejection;
}

/* Mean wait of a queue that serves x +- (x - M). */
static double queue_wait(double rate, double x, double flits)
{
    return rate * (x * x + (x - flits) * (x - flits)) / (2 * (1 - rate * x));
}

/* sum v^2 P_v / sum v P_v, divided by rho above and below: 1 without load. */
static double sharing(double rho, uint32_t channels)
{
    double squares = 0, sum = 0, power = 1;
    for (uint32_t v = 1; v < channels; v++) {
        squares += v * v * power * (1 - rho);
        sum += v * power * (1 - rho);
        power *= rho;
    }
    double last = channels * power;
    return (squares + channels * last) / (sum + last);
}

/* Classes from S; false when one of them is full. */
static bool update_classes(struct model *m)
{
    for (uint32_t c = 0; c < 2 * m->n; c++) {
        struct channel_class *class = &m->classes[c];
        double mean = 0;
        for (uint32_t t = m->first[c]; t < m->first[c + 1]; t++) {
            mean += m->terms[t].weight * m->s[m->terms[t].pair];
        }
        double rho = class->rate * mean;
        if (!(rho < 1))
            return false;
        class->wait = queue_wait(class->rate, mean, m->flits);
        class->busy = pow(rho, m->channels);
        class->share = sharing(rho, m->channels);
        class->blocking[0] = class->wait;
        for (uint32_t alternatives = 1; alternatives <= m->n; alternatives++)
            class->blocking[alternatives] = class->blocking[alternatives - 1] * class->busy;
    }
    return true;
}

/* The class of the i-th hop of a phase, from 0. */
static const struct channel_class *negative_hop(const struct model *m, uint32_t clear,
                                                uint32_t ones, uint32_t i)
{
    return &m->classes[m->n - (ones + clear - i)];
}

static const struct channel_class *positive_hop(const struct model *m, uint32_t ones, uint32_t i)
{
    return &m->classes[m->n + m->n - (ones + i) - 1];
}

/* S from classes; the largest relative change. */
static double update_pairs(struct model *m)
{
    double change = 0;
    for (uint32_t clear = 0; clear <= m->n; clear++)
        for (uint32_t set = 0; set + clear <= m->n; set++)
            for (uint32_t ones = 0; ones + set + clear <= m->n; ones++) {
                double sum = clear + set + m->flits + m->ejection;
                for (uint32_t i = 0; i < clear; i++)
                    sum += negative_hop(m, clear, ones, i)->blocking[clear - i];
                for (uint32_t i = 0; i < set; i++)
                    sum += positive_hop(m, ones, i)->blocking[set - i];
                double *s = &m->s[pair_of(clear, set, ones)];
                change = fmax(change, fabs(sum - *s) / sum);
                *s = sum;
            }
    return change;
}

/* Mean sharing over the hops of a kind of pair. */
static double sharing_of(const struct model *m, uint32_t clear, uint32_t set, uint32_t ones)
{
    double sum = 0;
    for (uint32_t i = 0; i < clear; i++)
        sum += negative_hop(m, clear, ones, i)->share;
    for (uint32_t i = 0; i < set; i++)
        sum += positive_hop(m, ones, i)->share;
    return sum / (clear + set);
}

/* Means over sources of equal weight, then over sources; false when a source is full. */
static bool summarise(const struct model *m, struct ic_pcube_latency *out)
{
    double others = ldexp(1, (int)m->n) - 1;
    double rate = m->load / m->channels;
    for (uint32_t weight = 0; weight <= m->n; weight++) {
        double network = 0, share = 0, sources = m->binomial[m->n][weight] / (others + 1);
        for (uint32_t clear = 0; clear <= weight; clear++)
            for (uint32_t set = clear == 0 ? 1 : 0; set <= m->n - weight; set++) {
                double pairs = m->binomial[weight][clear] * m->binomial[m->n - weight][set];
                network += pairs * m->s[pair_of(clear, set, weight - clear)];
                share += pairs * sharing_of(m, clear, set, weight - clear);
            }
        network /= others;
        if (!(rate * network < 1))
            return false;
        out->network += sources * network;
        out->sharing += sources * share / others;
        out->source_wait += sources * queue_wait(rate, network, m->flits);
    }
    out->ejection = m->ejection;
    out->latency = (out->network + out->source_wait) * out->sharing;
    return true;
}

/* Near the fold S passes slowly where the fixed point was, but each step there is larger than 1e-11
 * of it; so this ends. */
static bool solve(struct model *m)
{
    do
        if (!update_classes(m))
            return false;
    while (update_pairs(m) >= 1e-11);
    return true;
}

static gmc_status check(const struct ic_pcube *cube, char *error)
{
    gmc_status status = ic_check_range("n, dimensions,", cube->n, 1, IC_PCUBE_N_MAX, error);
    if (status == GMC_OK)
        status = ic_check_range("V, virtual channels,", cube->channels, 1, IC_PCUBE_VC_MAX, error);
    if (status == GMC_OK)
        status =
            ic_check_range("M, flits of a message,", cube->flits, 1, IC_PCUBE_FLITS_MAX, error);
    return status;
}

static void latency_of(const struct ic_pcube *cube, double load, struct ic_pcube_latency *out)
{
    struct model m;
    *out = (struct ic_pcube_latency){.saturated = true};
    if (!(load * cube->flits < 1))
        return;
    setup(&m, cube, load);
    if (solve(&m) && summarise(&m, out))
        out->saturated = false;
    else
        *out = (struct ic_pcube_latency){.saturated = true};
}

gmc_status ic_pcube_latency(const struct ic_pcube *cube, double load, struct ic_pcube_latency *out,
                            char *error)
{
    gmc_status status = check(cube, error);
    if (status == GMC_OK)
        status = ic_check_number("lambda_g, messages per node and cycle,", load, 0,
                                 1.0 / cube->flits, error);
    if (status == GMC_OK)
        latency_of(cube, load, out);
    return status;
}

gmc_status ic_pcube_saturation(const struct ic_pcube *cube, double *load, char *error)
{
    gmc_status status = check(cube, error);
    if (status != GMC_OK)
        return status;
    double least = 0, most = 1.0 / cube->flits;
    while (most - least > 1e-7 * most) {
        struct ic_pcube_latency point;
        double middle = (least + most) / 2;
        latency_of(cube, middle, &point);
        if (point.saturated)
            most = middle;
        else
            least = middle;
    }
    *load = least;
    return GMC_OK;
}
