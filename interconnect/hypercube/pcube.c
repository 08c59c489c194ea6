/* SPDX-License-Identifier: BSD-2-Clause */
/* The means Sc by Newton's method. What they are computed from grows with each of them, and the
 * faster the larger they are. So steps from below stay below the least fixed point, and where there
 * is none they come to a full channel, or to a pivot of I less the derivatives that is not
 * positive: no point from there on is below a fixed point. Near the fold plain substitution needs
 * thousands of steps for the same. */
#include "interconnect/hypercube/pcube.h"

#include <math.h>
#include <string.h>

#include "interconnect/hypercube/pcube_ways.h"

#define CLASSES IC_PCUBE_CLASSES_MAX
#define SETTLED 1e-11 /* relative change of a step after which the next one would not show */

struct channel_class {
    double wait;                       /* w */
    double blocking[IC_PCUBE_N_MAX];   /* by alternatives from 1 on: P_V^alternatives w */
    double derivative[IC_PCUBE_N_MAX]; /* of it, by Sc */
    double share;                      /* Vbar */
};

struct model {
    const struct ic_pcube_ways *ways;
    uint32_t channels;
    double flits, load, ejection;
    double mean[CLASSES]; /* Sc */
    struct channel_class classes[CLASSES];
};

/* Begins without waits, where everything is still below the solution. */
static void setup(struct model *m, const struct ic_pcube *cube, const struct ic_pcube_ways *ways,
                  double load)
{
    *m = (struct model){.ways = ways,
                        .channels = cube->channels,
                        .flits = cube->flits,
                        .load = load};
    m->ejection = m->flits * m->flits * load / (2 * (1 - m->flits * load));
    for (uint32_t c = 0; c < ways->classes; c++)
        m->mean[c] = ways->hops[c] + m->flits + m->ejection;
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

/* Classes from their means; false when one of them is full. */
static bool update_classes(struct model *m)
{
    for (uint32_t c = 0; c < m->ways->classes; c++) {
        struct channel_class *class = &m->classes[c];
        double x = m->mean[c], rate = m->load * m->ways->rate[c], rho = rate * x;
        if (!(rho < 1))
            return false;
        class->wait = queue_wait(rate, x, m->flits);
        double rise = rate * (2 * x - m->flits + class->wait) / (1 - rho);
        double busy = pow(rho, m->channels), power = busy;
        for (uint32_t i = 0; i < m->ways->alternatives[c]; i++, power *= busy) {
            class->blocking[i] = class->wait * power;
            class->derivative[i] = power * (rise + class->wait * (i + 1) * m->channels / x);
        }
    }
    return true;
}

/* Means of classes from their waits, less those that there are: the gaps; and the columns of I less
 * their derivatives. Of rows that are no classes, too: loops of constant length are faster. */
static void fill(const struct model *m, double (*columns)[CLASSES], double *gap)
{
    const struct ic_pcube_ways *ways = m->ways;
    for (uint32_t row = 0; row < CLASSES; row++)
        gap[row] = ways->hops[row] + m->flits + m->ejection - m->mean[row];
    for (uint32_t c = 0; c < ways->classes; c++) {
        const struct channel_class *class = &m->classes[c];
        double *column = columns[c];
        for (uint32_t row = 0; row < CLASSES; row++)
            column[row] = row == c;
        for (uint32_t i = 0; i < ways->alternatives[c]; i++) {
            const double *uses = ways->uses[c][i];
            double blocking = class->blocking[i], derivative = class->derivative[i];
            for (uint32_t row = 0; row < CLASSES; row++) {
                gap[row] += uses[row] * blocking;
                column[row] -= uses[row] * derivative;
            }
        }
    }
}

/* Takes `factor` times what is below a pivot out of another column. */
static void eliminate(const double *pivots, double factor, uint32_t from, uint32_t to,
                      double *column)
{
    for (uint32_t row = from; row < to; row++)
        column[row] -= pivots[row] * factor;
}

/* The gap becomes what it is times the inverse; false: a pivot is not positive. */
static bool divide(uint32_t size, double (*columns)[CLASSES], double *gap)
{
    for (uint32_t k = 0; k < size; k++) {
        if (!(columns[k][k] > 0))
            return false;
        for (uint32_t row = k + 1; row < size; row++)
            columns[k][row] /= columns[k][k];
        for (uint32_t c = k + 1; c < size; c++)
            eliminate(columns[k], columns[c][k], k + 1, size, columns[c]);
        eliminate(columns[k], gap[k], k + 1, size, gap);
    }
    for (uint32_t k = size; k-- > 0;) {
        gap[k] /= columns[k][k];
        eliminate(columns[k], gap[k], 0, k, gap);
    }
    return true;
}

/* Classes are up to date; the largest relative change, negative: there is no fixed point. */
static double step(struct model *m)
{
    double columns[CLASSES][CLASSES], gap[CLASSES], change = 0;
    uint32_t size = m->ways->classes;
    fill(m, columns, gap);
    if (!divide(size, columns, gap))
        return -1;
    for (uint32_t c = 0; c < size; c++) {
        m->mean[c] += gap[c];
        change = fmax(change, gap[c] / m->mean[c]);
    }
    return change;
}

/* False: there is no fixed point. */
static bool solve(struct model *m)
{
    double change;
    if (!(m->load * m->flits < 1))
        return false;
    do {
        if (!update_classes(m))
            return false;
        change = step(m);
    } while (change >= SETTLED);
    return change >= 0 && update_classes(m);
}

/* Mean network latencies of sources, by weight; false when a source is full. */
static bool find_networks(const struct model *m, double *networks)
{
    const struct ic_pcube_ways *ways = m->ways;
    for (uint32_t weight = 0; weight <= ways->n; weight++) {
        uint32_t row = ways->classes + weight;
        double sum = ways->hops[row] + m->flits + m->ejection;
        for (uint32_t c = 0; c < ways->classes; c++)
            for (uint32_t i = 0; i < ways->alternatives[c]; i++)
                sum += ways->uses[c][i][row] * m->classes[c].blocking[i];
        if (!(m->load / m->channels * sum < 1))
            return false;
        networks[weight] = sum;
    }
    return true;
}

/* Means over sources. */
static void summarise(struct model *m, const double *networks, struct ic_pcube_latency *out)
{
    const struct ic_pcube_ways *ways = m->ways;
    for (uint32_t c = 0; c < ways->classes; c++)
        m->classes[c].share = sharing(m->load * ways->rate[c] * m->mean[c], m->channels);
    *out = (struct ic_pcube_latency){.ejection = m->ejection};
    for (uint32_t weight = 0; weight <= ways->n; weight++) {
        double share = 0, sources = ways->sources[weight];
        for (uint32_t c = 0; c < ways->classes; c++)
            share += ways->part[c][weight] * m->classes[c].share;
        out->network += sources * networks[weight];
        out->sharing += sources * share;
        out->source_wait += sources * queue_wait(m->load / m->channels, networks[weight], m->flits);
    }
    out->latency = (out->network + out->source_wait) * out->sharing;
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

gmc_status ic_pcube_latency(const struct ic_pcube *cube, double load, struct ic_pcube_latency *out,
                            char *error)
{
    struct ic_pcube_ways ways;
    struct model m;
    double networks[IC_PCUBE_N_MAX + 1];
    gmc_status status = check(cube, error);
    if (status == GMC_OK)
        status = ic_check_number("lambda_g, messages per node and cycle,", load, 0,
                                 1.0 / cube->flits, error);
    if (status != GMC_OK)
        return status;
    *out = (struct ic_pcube_latency){.saturated = true};
    ic_pcube_ways_init(&ways, cube->n);
    setup(&m, cube, &ways, load);
    if (solve(&m) && find_networks(&m, networks))
        summarise(&m, networks, out);
    return GMC_OK;
}

/* What a smaller load leads to is below what a larger one does, and a better beginning. */
static bool is_sound(struct model *m, const struct ic_pcube *cube, double load, double *below)
{
    double networks[IC_PCUBE_N_MAX + 1];
    setup(m, cube, m->ways, load);
    for (uint32_t c = 0; c < m->ways->classes; c++)
        m->mean[c] = fmax(m->mean[c], below[c]);
    if (!solve(m) || !find_networks(m, networks))
        return false;
    memcpy(below, m->mean, sizeof(m->mean));
    return true;
}

gmc_status ic_pcube_saturation(const struct ic_pcube *cube, double *load, char *error)
{
    struct ic_pcube_ways ways;
    struct model m = {.ways = &ways};
    double below[CLASSES] = {0}, least = 0, most = 1.0 / cube->flits;
    gmc_status status = check(cube, error);
    if (status != GMC_OK)
        return status;
    ic_pcube_ways_init(&ways, cube->n);
    while (most - least > 1e-7 * most) {
        double middle = (least + most) / 2;
        if (is_sound(&m, cube, middle, below))
            least = middle;
        else
            most = middle;
    }
    *load = least;
    return GMC_OK;
}
