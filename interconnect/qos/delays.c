/* SPDX-License-Identifier: BSD-2-Clause */
/* Weighs the {X_k}, which lattice.h counts where it can, else counts.h. */
#include "interconnect/qos/delays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "interconnect/qos/counts.h"
#include "interconnect/qos/deadline.h"
#include "interconnect/qos/lattice.h"
#include "interconnect/qos/scaled.h"
#include "interconnect/qos/transform.h"

#define LEAST_WIDTH 64u
/* Delays of N or more, which are late in any case, come back as this part of themselves among those
 * that are not. Rounding grows by the inverse of its root. */
#define ALIAS 1e-9

/* One table while it is filled. */
struct filling {
    unsigned states, subset; /* subset by state, bit 0 being state 0 */
    double stretch[IC_QOS_STATES];
    uint64_t parts; /* of a cycle, that all stretches are a number of; 0: see lattice.h */
    enum ic_qos_miss kind;
    uint64_t width;
    struct ic_qos_counts counts; /* where there are no parts */
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t ic_qos_delays_width(uint64_t cycles)
{
    uint64_t width = LEAST_WIDTH;
    while (width <= cycles)
        width *= 2;
    return width;
}

static uint64_t most_before(const struct ic_qos *qos, uint64_t c)
{
    return 2 * larger(qos->buffer_flits, qos->flits[c]) + qos->flits[c];
}

/* So many flits in all states, one after the other. */
static uint64_t longest(const double *stretch, unsigned states, uint64_t flits)
{
    double sum = 0;
    for (unsigned i = 0; i < states; i++)
        sum += stretch[i];
    return (uint64_t)ceil((double)flits * sum);
}

/* Sets of channels with c in growing order: bits of the others in growing order too. */
static unsigned find_stretches(const struct ic_qos *qos, uint64_t c, double *stretch)
{
    unsigned states = 0;
    for (unsigned busy = 0; busy < 1u << (qos->classes - 1); busy++)
        if (busy >> c & 1)
            stretch[states++] = ic_qos_stretch(qos, c, busy);
    return states;
}

uint64_t ic_qos_delays_reach(const struct ic_qos *qos, uint64_t traffic_class, uint64_t hops)
{
    double stretch[IC_QOS_STATES];
    uint64_t before = most_before(qos, traffic_class);
    unsigned states = find_stretches(qos, traffic_class, stretch);
    return hops * longest(stretch, states, before) +
           longest(stretch, states, before + qos->flits[traffic_class]);
}

/* ---- from counts ---- */
/* Weight of all n0 from n on that are of the range. */
static double weight_from(const struct ic_qos_range *range, uint64_t n)
{
    return n > range->most ? 0 : range->weights[larger(n, range->least)];
}

/* Weight of n0 = n; 0 of others than the range's. */
static double weight_of(const struct ic_qos_range *range, uint64_t n)
{
    return n < range->least ? 0 : weight_from(range, n) - weight_from(range, n + 1);
}

static void add_times(double *sum, double weight, const double *of, uint64_t length)
{
    if (weight != 0)
        ic_qos_add_scaled(sum, weight, of, length);
}

/* Each {X_k} of row i has the weight of all n0 from i + offset on. */
static void add_counts(const struct filling *f, int32_t *table, uint64_t offset, double sign,
                       const struct ic_qos_range *range)
{
    for (uint64_t i = 0; i < f->counts.rows; i++) {
        const int32_t *restrict row = ic_qos_counts_row(&f->counts, table, i);
        double *restrict mass = range->mass + i;
        double weight = sign * weight_from(range, i + offset);
        uint64_t place, end;
        ic_qos_counts_extent(&f->counts, i, &place, &end);
        for (; place < end && weight != 0; place++)
            mass[place] += weight * row[place];
    }
}

/* Those of row n too: how many take less than t. */
static void add_before(const struct filling *f, uint64_t n, double *before)
{
    const int32_t *row = ic_qos_counts_row(&f->counts, f->counts.largest, n);
    uint64_t place, end;
    double sum = 0;
    ic_qos_counts_extent(&f->counts, n, &place, &end);
    for (; place < end; place++) {
        before[n + place] += sum;
        sum += row[place];
    }
    for (uint64_t t = n + end; t < f->width; t++)
        before[t] += sum;
}

/* X_0, which is not stretched, is uniform on 1..n0 too: a window over the others' times, all that
 * are before t less those that are before t - n0, where their largest is n0 at most. */
static void add_alone(const struct filling *f, const struct ic_qos_range *ranges, double *before)
{
    for (unsigned i = 0; i < IC_QOS_PASSINGS; i++) {
        double *mass = ranges[i].mass, sum = 0;
        add_counts(f, f->counts.largest, 0, 1, &ranges[i]);
        for (uint64_t t = 0; t < f->width; t++) {
            double at = mass[t];
            mass[t] = sum;
            sum += at;
        }
    }
    for (uint64_t n = 0; n < f->width; n++) {
        if (n < f->counts.rows)
            add_before(f, n, before);
        for (unsigned i = 0; i < IC_QOS_PASSINGS; i++)
            add_times(ranges[i].mass + n, -weight_of(&ranges[i], n), before, f->width - n);
    }
}

/* X_0 is n0 less the others, by whose sum they are counted: longer[t] take t longer than n0. While
 * n0 is not more than their sum nothing remains. */
static void add_rest(const struct filling *f, const struct ic_qos_range *ranges, double *longer)
{
    for (unsigned i = 0; i < IC_QOS_PASSINGS; i++) {
        add_counts(f, f->counts.largest, 0, 1, &ranges[i]);
        add_counts(f, f->counts.sum, 1, -1, &ranges[i]);
    }
    for (uint64_t n = 1; n < f->width; n++) {
        if (n <= f->counts.rows) {
            const int32_t *row = ic_qos_counts_row(&f->counts, f->counts.sum, n - 1);
            uint64_t place, end;
            ic_qos_counts_extent(&f->counts, n - 1, &place, &end);
            for (; place < end; place++)
                longer[place] += row[place];
        }
        for (unsigned i = 0; i < IC_QOS_PASSINGS; i++)
            add_times(ranges[i].mass + n, weight_of(&ranges[i], n), longer, f->width - n);
    }
}

static gmc_status fill_counted(struct filling *f, const struct ic_qos_range *ranges)
{
    unsigned set = f->subset >> 1;
    double *sums = calloc(f->width, sizeof(*sums));
    if (sums == NULL)
        return GMC_ERR_NOMEM;
    if (set == 0 || set != f->counts.set)
        ic_qos_counts_make(&f->counts, set);
    if (f->kind == IC_QOS_MISS_CONSTRAINED)
        add_rest(f, ranges, sums);
    else if (f->subset & 1)
        add_alone(f, ranges, sums);
    else
        for (unsigned i = 0; i < IC_QOS_PASSINGS; i++)
            add_counts(f, f->counts.largest, 0, 1, &ranges[i]);
    free(sums);
    return GMC_OK;
}

/* ---- either way ---- */
static unsigned set_size(const struct filling *f)
{
    return (unsigned)__builtin_popcount(f->subset);
}

static gmc_status fill_lattice(const struct filling *f, const struct ic_qos_range *ranges)
{
    struct ic_qos_lattice lattice = {.parts = f->parts, .width = f->width, .ranges = ranges};
    for (unsigned i = 0; i < f->states; i++)
        if (f->subset >> i & 1)
            lattice.strides[lattice.count++] = (uint64_t)llround(f->stretch[i] * (double)f->parts);
    return f->kind == IC_QOS_MISS_CONSTRAINED ? ic_qos_lattice_rest(&lattice)
                                              : ic_qos_lattice_alone(&lattice);
}

static double power(double base, unsigned exponent)
{
    double product = 1;
    while (exponent-- > 0)
        product *= base;
    return product;
}

/* The tables of one set, of all ranges. */
static gmc_status fill(struct filling *f, const struct ic_qos_range *ranges)
{
    for (unsigned i = 0; i < IC_QOS_PASSINGS; i++)
        for (uint64_t n = ranges[i].most; n > 0; n--)
            ranges[i].weights[n] = ranges[i].weights[n + 1] + 1 / power((double)n, set_size(f));
    return f->parts > 0 ? fill_lattice(f, ranges) : fill_counted(f, ranges);
}

/* ---- generating functions ---- */
/* Where table `at` of so many has the real part of point k; the imaginary one is a block further.
 */
static double *place_of(double *blocks, uint64_t k, uint64_t tables, uint64_t at)
{
    uint64_t block = k / IC_QOS_WAVE_BLOCK;
    return &blocks[2 * IC_QOS_WAVE_BLOCK * (block * tables + at) + k % IC_QOS_WAVE_BLOCK];
}

/* cos, sin of 2 pi k / points, the cosines of a quarter of a turn. */
static void turn_round(double *turns, uint64_t points)
{
    const double full = 8 * atan(1);
    uint64_t quarter = points / 4;
    for (uint64_t k = 0; k <= quarter; k++) {
        double value = k < quarter ? cos(full * (double)k / (double)points) : 0;
        turns[2 * k] = turns[2 * ((points - k) % points)] = value;
        turns[2 * (2 * quarter - k)] = turns[2 * (2 * quarter + k)] = -value;
    }
    for (uint64_t k = 0; k < points; k++)
        turns[2 * k + 1] = turns[2 * ((k + 3 * quarter) % points)];
}

/* As many points as all times need, or fewer on a smaller circle. */
static gmc_status make_circle(struct ic_qos_delays *delays, uint64_t reach)
{
    uint64_t points = ic_qos_delays_width(reach);
    delays->radius = 1;
    if (points > 2 * delays->width) {
        points = 2 * delays->width;
        delays->radius = pow(ALIAS, 1 / (double)points);
    }
    delays->points = points;
    delays->blocks = points / 2 / IC_QOS_WAVE_BLOCK + 1;
    delays->turns = calloc(2 * points, sizeof(*delays->turns));
    delays->series = calloc(2 * IC_QOS_WAVE_BLOCK * delays->blocks, sizeof(*delays->series));
    delays->ways.values = malloc(2 * IC_QOS_WAVE_BLOCK * delays->blocks * sizeof(double));
    if (delays->turns == NULL || delays->series == NULL || delays->ways.values == NULL)
        return GMC_ERR_NOMEM;
    turn_round(delays->turns, points);
    for (uint64_t k = delays->radius == 1 ? 1 : 0; k <= points / 2; k++) {
        double re = 1 - delays->turns[2 * k] / delays->radius;
        double im = delays->turns[2 * k + 1] / delays->radius;
        double with_conjugate = k != 0 && k != points / 2 ? 2 : 1;
        double *out = place_of(delays->series, k, 1, 0);
        out[0] = with_conjugate * re / (re * re + im * im);
        out[IC_QOS_WAVE_BLOCK] = -with_conjugate * im / (re * re + im * im);
    }
    return GMC_OK;
}

/* Of one or two tables, which are transformed together as real and imaginary part; the power is
 * that of the radius. */
static void load_tables(const struct ic_qos_delays *delays, const double *power,
                        const double *first, const double *second,
                        struct ic_qos_transform *transform)
{
    uint64_t width = delays->width, rest = transform->points - width;
    for (uint64_t t = 0; t < width; t++) {
        transform->re[t] = first[t] * power[t];
        transform->im[t] = second != NULL ? second[t] * power[t] : 0;
    }
    memset(transform->re + width, 0, rest * sizeof(double));
    memset(transform->im + width, 0, rest * sizeof(double));
}

static void store_tables(struct ic_qos_delays *delays, uint64_t at, bool is_pair,
                         const struct ic_qos_transform *transform)
{
    const double *re = transform->re, *im = transform->im;
    uint64_t points = transform->points, tables = IC_QOS_PASSINGS * delays->subsets;
    for (uint64_t k = 0; k <= points / 2; k++) {
        uint64_t far = (points - k) % points;
        double *out = place_of(delays->waves, k, tables, at);
        out[0] = (re[k] + re[far]) / 2;
        out[IC_QOS_WAVE_BLOCK] = (im[k] - im[far]) / 2;
        if (!is_pair)
            continue;
        out = place_of(delays->waves, k, tables, at + 1);
        out[0] = (im[k] + im[far]) / 2;
        out[IC_QOS_WAVE_BLOCK] = (re[far] - re[k]) / 2;
    }
}

static gmc_status make_waves(struct ic_qos_delays *delays)
{
    uint64_t points = delays->points, tables = IC_QOS_PASSINGS * delays->subsets;
    double *room = malloc((4 * points + delays->width) * sizeof(*room));
    delays->waves = calloc(2 * IC_QOS_WAVE_BLOCK * delays->blocks * tables, sizeof(double));
    if (room == NULL || delays->waves == NULL) {
        free(room);
        return GMC_ERR_NOMEM;
    }
    struct ic_qos_transform transform = {.points = points,
                                         .turns = delays->turns,
                                         .re = room,
                                         .im = room + points,
                                         .room_re = room + 2 * points,
                                         .room_im = room + 3 * points};
    bool is_pair = delays->subsets > 1; /* of the same range */
    double *powers = room + 4 * points, power = 1;
    for (uint64_t t = 0; t < delays->width; t++, power *= delays->radius)
        powers[t] = power;
    for (uint64_t at = 0; at < tables; at += is_pair ? 2 : 1) {
        const double *mass =
            &delays->by[at / delays->subsets][at % delays->subsets * delays->width];
        load_tables(delays, powers, mass, is_pair ? mass + delays->width : NULL, &transform);
        ic_qos_transform_run(&transform);
        store_tables(delays, at, is_pair, &transform);
    }
    free(room);
    return GMC_OK;
}

/* ---- all of it ---- */
static gmc_status make_tables(struct ic_qos_delays *delays, struct filling *f,
                              struct ic_qos_range *ranges)
{
    gmc_status status = GMC_OK;
    uint64_t reach = longest(f->stretch, f->states, ranges[IC_QOS_PASS_ALL].most);
    f->width = smaller(smaller(reach + 1, delays->width), IC_QOS_DEADLINE_MAX + 1);
    for (unsigned i = 0; i < IC_QOS_PASSINGS; i++) {
        ranges[i].weights = calloc(ranges[i].most + 2, sizeof(double));
        delays->by[i] = calloc(delays->subsets * delays->width, sizeof(double));
        if (ranges[i].weights == NULL || delays->by[i] == NULL)
            status = GMC_ERR_NOMEM;
    }
    if (status == GMC_OK && f->parts == 0)
        status = ic_qos_counts_init(&f->counts, f->width, ranges[IC_QOS_PASS_ALL].most,
                                    f->kind == IC_QOS_MISS_CONSTRAINED, &f->stretch[1]);
    for (unsigned set = 0; set < delays->subsets && status == GMC_OK; set++) {
        f->subset = set << delays->first_state;
        for (unsigned i = 0; i < IC_QOS_PASSINGS; i++)
            ranges[i].mass = &delays->by[i][set * delays->width];
        status = fill(f, ranges);
    }
    ic_qos_counts_fini(&f->counts);
    for (unsigned i = 0; i < IC_QOS_PASSINGS; i++)
        free(ranges[i].weights);
    return status;
}

/* The tail does not leave before M flits did. */
static void not_below(struct ic_qos_delays *delays, enum ic_qos_passing passing, uint64_t flits)
{
    for (unsigned set = 0; set < delays->subsets; set++) {
        double *mass = &delays->by[passing][set * delays->width];
        for (uint64_t t = 0; t < flits && flits < delays->width; t++) {
            mass[flits] += mass[t];
            mass[t] = 0;
        }
    }
}

static void sum_up(struct ic_qos_delays *delays, enum ic_qos_passing passing)
{
    for (unsigned set = 0; set < delays->subsets; set++)
        for (uint64_t t = 1; t < delays->width; t++)
            delays->by[passing][set * delays->width + t] +=
                delays->by[passing][set * delays->width + t - 1];
}

static gmc_status make_all(struct ic_qos_delays *delays, const struct ic_qos *qos, uint64_t hops)
{
    uint64_t c = delays->traffic_class, flits = qos->flits[c];
    struct filling f = {.states = delays->states, .kind = delays->kind};
    struct ic_qos_range ranges[IC_QOS_PASSINGS] = {
        [IC_QOS_PASS_BEFORE] = {.least = 1, .most = delays->most},
        [IC_QOS_PASS_OWN] = {.least = flits, .most = flits},
        [IC_QOS_PASS_ALL] = {.least = flits + 1, .most = flits + delays->most},
    };
    find_stretches(qos, c, f.stretch);
    f.parts = ic_qos_lattice_parts(f.stretch, f.states);
    gmc_status status = make_tables(delays, &f, ranges);
    if (status == GMC_OK && qos->dimension > 0) {
        not_below(delays, IC_QOS_PASS_OWN, flits);
        not_below(delays, IC_QOS_PASS_ALL, flits);
        status = make_circle(delays, ic_qos_delays_reach(qos, c, hops));
        if (status == GMC_OK)
            status = make_waves(delays);
    }
    for (int passing = 0; passing < IC_QOS_PASSINGS && status == GMC_OK; passing++)
        sum_up(delays, (enum ic_qos_passing)passing);
    return status;
}

gmc_status ic_qos_delays_new(const struct ic_qos *qos, uint64_t traffic_class,
                             enum ic_qos_miss kind, uint64_t hops, uint64_t width,
                             struct ic_qos_delays **out)
{
    struct ic_qos_delays *delays = calloc(1, sizeof(*delays));
    GMC_ASSERT(qos->classes >= 2 && qos->classes <= IC_QOS_REAL_TIME_MAX + 1);
    GMC_ASSERT(traffic_class + 1 < qos->classes);
    if (delays == NULL)
        return GMC_ERR_NOMEM;
    *delays = (struct ic_qos_delays){
        .traffic_class = traffic_class,
        .kind = kind,
        .states = 1u << (qos->classes - 2),
        .first_state = kind == IC_QOS_MISS_CONSTRAINED,
        .width = width,
        .most = most_before(qos, traffic_class),
    };
    delays->subsets = 1u << (delays->states - delays->first_state);
    gmc_status status = make_all(delays, qos, hops);
    if (status != GMC_OK) {
        ic_qos_delays_free(delays);
        return status;
    }
    *out = delays;
    return GMC_OK;
}

void ic_qos_delays_free(struct ic_qos_delays *delays)
{
    if (delays == NULL)
        return;
    for (int passing = 0; passing < IC_QOS_PASSINGS; passing++)
        free(delays->by[passing]);
    free(delays->waves);
    free(delays->turns);
    free(delays->series);
    free(delays->ways.values);
    free(delays);
}

size_t ic_qos_delays_bytes(const struct ic_qos_delays *delays)
{
    size_t tables = IC_QOS_PASSINGS * delays->subsets;
    size_t blocks = 2 * IC_QOS_WAVE_BLOCK * delays->blocks;
    size_t numbers = tables * (delays->width + blocks) + 2 * blocks + 2 * delays->points;
    return sizeof(*delays) + numbers * sizeof(double);
}
