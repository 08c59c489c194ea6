/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests interconnect/qos: the model's anchors and claims, deadlines, what has no solution. The
 * reference tables are in test_ic_golden. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "interconnect/qos/deadline.h"
#include "interconnect/qos/waves.h"
#include "tests/lib/unit.h"
#include "tests/unit/ic_table.h"

#define R1 0
#define R2 1
#define BE 2

static char error[IC_ERROR_MAX];

static struct ic_qos usual(uint64_t dimension, double load, double be_load)
{
    return (struct ic_qos){
        .dimension = dimension,
        .classes = 3,
        .rate = {load, load / 2, be_load},
        .flits = {32, 32, 32},
        .stages = 5,
        .buffer_flits = 32,
    };
}

static struct ic_qos_solution solve(const struct ic_qos *qos)
{
    struct ic_qos_solution solution;
    assert_ok(ic_qos_model(qos, &solution, error));
    return solution;
}

static void figures_are_those_of_the_text(void **state)
{
    static const double router[] = {38.535, 52.534, 59.943}, waits[] = {4.600, 4.903, 53.456};
    static const double cube[] = {53.882, 67.804, 90.363};
    (void)state;
    struct ic_qos one = usual(0, 0.004, 0.01), six = usual(6, 0.004, 0.002);
    struct ic_qos_solution alone = solve(&one), in_cube = solve(&six);
    for (int c = R1; c <= BE; c++) {
        assert_near(alone.latency[c].network, router[c], 5e-4);
        assert_near(alone.latency[c].wait, waits[c], 5e-4);
        assert_near(in_cube.latency[c].network, cube[c], 5e-4);
    }
    /* Both busy, weights 2 to 1. */
    assert_near(ic_qos_stretch(&one, R1, 3), 1.5, 1e-12);
    assert_near(ic_qos_stretch(&one, R2, 3), 3, 1e-12);
    assert_near(ic_qos_empty_latency(&one, R1), 36, 1e-12);
    assert_near(ic_qos_mean_hops(6), 6 * 32 / 63.0, 1e-12);
}

/* R1 before R2 before BE, and each slower with more real-time traffic; 0.002 BE. */
static void orderings_hold(void **state)
{
    (void)state;
    for (uint64_t n = 0; n <= 7; n += n == 0 ? 5 : 1) {
        struct ic_qos_solution before = {0};
        for (double load = 0.0005; load < 0.0095; load += 0.0005) {
            struct ic_qos qos = usual(n, load, n == 0 ? 0.01 : 0.002);
            struct ic_qos_solution now = solve(&qos);
            assert_true(now.has_solution);
            assert_true(now.latency[R1].network < now.latency[R2].network);
            assert_true(now.latency[R2].network < now.latency[BE].network);
            for (int c = R1; c <= BE; c++) {
                assert_true(now.latency[c].network > before.latency[c].network);
                assert_true(now.latency[c].wait >= before.latency[c].wait);
            }
            before = now;
        }
    }
}

/* Claims: real-time traffic does not notice BE, nor buffers up to a message; BE notices real-time
 * traffic more than itself, and a fourth class ends it earlier. */
static void classes_notice_what_the_text_says(void **state)
{
    (void)state;
    struct ic_qos qos = usual(6, 0.004, 0.002), other = qos;
    struct ic_qos_solution base = solve(&qos);
    other.rate[BE] = 0.004;
    other.flits[BE] = 64;
    struct ic_qos_solution more_be = solve(&other);
    other = qos;
    other.buffer_flits = 4;
    struct ic_qos_solution small = solve(&other);
    for (int c = R1; c <= BE; c++) {
        /* 1e-8: how far the iteration is from its end depends on all classes */
        if (c != BE)
            assert_near(more_be.latency[c].network, base.latency[c].network, 1e-7);
        assert_true(small.latency[c].network == base.latency[c].network);
    }
    struct ic_qos low = usual(6, 0.001, 0.001), high = usual(6, 0.004, 0.001);
    struct ic_qos much = usual(6, 0.001, 0.004);
    double from = solve(&low).latency[BE].network;
    assert_near(solve(&high).latency[BE].network - from, 32, 1);
    assert_near(solve(&much).latency[BE].network - from, 0.25, 0.01);
    struct ic_qos four = {.classes = 4,
                          .rate = {0.005, 0.005 / 1.5, 0.0025, 0.01},
                          .flits = {32, 32, 32, 32},
                          .stages = 5,
                          .buffer_flits = 32};
    struct ic_qos three = usual(0, 0.005, 0.01);
    assert_true(isinf(solve(&four).latency[3].wait));
    assert_true(isfinite(solve(&three).latency[BE].wait));
}

static double miss(const struct ic_qos *qos, uint64_t c, uint64_t hops, uint64_t deadline,
                   enum ic_qos_miss kind)
{
    struct ic_qos_solution solution = solve(qos);
    double out = -1;
    assert_ok(ic_qos_deadline_miss(qos, &solution, NULL, c, hops, deadline, kind, &out, error));
    return out;
}

/* More with load, fewer with a later deadline, R2 more than R1; all of them before M flits can
 * have come (but not of one router as printed), next to none after all that can be waited for. */
static void deadlines_behave(void **state)
{
    (void)state;
    for (int kind = IC_QOS_MISS_LITERAL; kind <= IC_QOS_MISS_CONSTRAINED; kind++)
        for (uint64_t hops = 0; hops <= 5; hops += 5)
            for (double load = 0.001; load < 0.0085; load += 0.001) {
                struct ic_qos qos = usual(hops == 0 ? 0 : 6, load, 0.002), more = qos;
                uint64_t least = 36 + 5 * hops, d = least + 6;
                enum ic_qos_miss which = (enum ic_qos_miss)kind;
                more.rate[R1] *= 1.1;
                more.rate[R2] *= 1.1;
                double r1 = miss(&qos, R1, hops, d, which), r2 = miss(&qos, R2, hops, d, which);
                assert_true(r1 > 0 && r1 < r2 && r2 < 1);
                assert_true(miss(&more, R1, hops, d, which) > r1);
                assert_true(miss(&qos, R1, hops, d + 5, which) < r1);
                assert_true(miss(&qos, R2, hops, d + 5, which) < r2);
                if (hops > 0 || which == IC_QOS_MISS_CONSTRAINED)
                    assert_near(miss(&qos, R1, hops, least - 1, which), 1, 0);
                assert_near(miss(&qos, R2, hops, 2000, which), 0, 1e-9);
            }
}

/* However late the deadline, also where no message can be later: fewer miss it, down to none. */
static void late_deadlines_are_met(void **state)
{
    (void)state;
    for (uint64_t n = 0; n <= 6; n += 3)
        for (uint64_t c = R1; c <= R2; c++) {
            struct ic_qos qos = usual(n, 0.008, 0.002);
            double before = 1;
            for (uint64_t d = 50; d <= IC_QOS_DEADLINE_MAX; d += d / 8) {
                double now = miss(&qos, c, n, d, IC_QOS_MISS_LITERAL);
                assert_true(now >= 0 && now <= before + 1e-10);
                before = now;
            }
            assert_near(before, 0, 1e-11);
        }
}

/* ---- tables of delays: all {X_k}, one after the other ---- */
struct enumeration {
    const struct ic_qos_delays *delays;
    const double *stretch; /* by state */
    unsigned set;
    uint64_t n0;
    double part;
    double *mass;
};

static void enumerate(const struct enumeration *all, unsigned state, double time, uint64_t sum)
{
    const struct ic_qos_delays *delays = all->delays;
    unsigned bit = state - delays->first_state;
    if (state == delays->states) {
        uint64_t alone = sum < all->n0 ? all->n0 - sum : 0;
        time += delays->kind == IC_QOS_MISS_CONSTRAINED ? (double)alone : 0;
        uint64_t slot = (uint64_t)ceil(fmax(0, time - 1e-9));
        if (slot < delays->width)
            all->mass[slot] += all->part;
    } else if (all->set >> bit & 1) {
        for (uint64_t x = 1; x <= all->n0; x++)
            enumerate(all, state + 1, time + (double)x * all->stretch[state], sum + x);
    } else {
        enumerate(all, state + 1, time, sum);
    }
}

static void check_table(const struct ic_qos_delays *delays, const double *stretch, unsigned set,
                        enum ic_qos_passing passing, uint64_t from, uint64_t to)
{
    double mass[256] = {0}, sum = 0;
    assert_true(delays->width <= 256);
    for (uint64_t n0 = from; n0 <= to; n0++) {
        const struct enumeration all = {
            delays, stretch, set, n0, pow((double)n0, -(double)__builtin_popcount(set)), mass};
        enumerate(&all, delays->first_state, 0, 0);
    }
    for (uint64_t t = 0; t < delays->width; t++) {
        sum += mass[t];
        assert_near(delays->by[passing][set * delays->width + t], sum, 1e-12);
    }
}

static void check_delays(const struct ic_qos *qos, uint64_t c, enum ic_qos_miss kind,
                         uint64_t width)
{
    struct ic_qos_delays *delays;
    double stretch[IC_QOS_STATES];
    unsigned states = 0;
    assert_ok(ic_qos_delays_new(qos, c, kind, 0, width, &delays));
    for (unsigned busy = 0; busy < 1u << (qos->classes - 1); busy++)
        if (busy >> c & 1)
            stretch[states++] = ic_qos_stretch(qos, c, busy);
    uint64_t flits = qos->flits[c], most = delays->most;
    for (unsigned set = 0; set < delays->subsets; set++) {
        check_table(delays, stretch, set, IC_QOS_PASS_BEFORE, 1, most);
        check_table(delays, stretch, set, IC_QOS_PASS_OWN, flits, flits);
        check_table(delays, stretch, set, IC_QOS_PASS_ALL, flits + 1, flits + most);
    }
    ic_qos_delays_free(delays);
}

/* Plain ratios and others, some with long stretches, times that are cut off and times that are
 * not, two classes and three. */
static void tables_are_those_of_all_counted(void **state)
{
    static const double ratios[][2] = {{2, 3},        {1.7, 2.313},  {3.7, 0.31},
                                       {0.517, 11.3}, {1.001, 1.01}, {57.3, 0.043}};
    (void)state;
    for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++)
        for (uint64_t classes = 3; classes <= 4; classes++)
            for (uint64_t c = 0; c + 1 < classes; c++)
                for (int kind = IC_QOS_MISS_LITERAL; kind <= IC_QOS_MISS_CONSTRAINED; kind++) {
                    const struct ic_qos qos = {.classes = classes,
                                               .rate = {0.01, 0.01 / ratios[i][0],
                                                        0.01 / ratios[i][1], 0.01},
                                               .flits = {3, 3, 3, 3},
                                               .stages = 5,
                                               .buffer_flits = 2};
                    check_delays(&qos, c, (enum ic_qos_miss)kind, 64);
                    check_delays(&qos, c, (enum ic_qos_miss)kind, 256);
                }
}

/* Counted by the one file where stretches are whole numbers of a part of a cycle, by the other
 * where they are not: as here, by less than these few flits can show. */
static void both_ways_of_counting_agree(void **state)
{
    struct ic_qos whole = {.classes = 4,
                           .rate = {0.0006, 0.0003, 0.0002, 0.001},
                           .flits = {8, 8, 8, 8},
                           .stages = 5,
                           .buffer_flits = 8};
    struct ic_qos near = whole;
    (void)state;
    near.rate[1] *= 1 - 1e-12;
    near.rate[2] *= 1 - 1e-12;
    for (int kind = IC_QOS_MISS_LITERAL; kind <= IC_QOS_MISS_CONSTRAINED; kind++)
        for (uint64_t c = 0; c < 3; c++)
            for (uint64_t d = 8; d < 100; d += 7)
                assert_near(miss(&near, c, 0, d, (enum ic_qos_miss)kind),
                            miss(&whole, c, 0, d, (enum ic_qos_miss)kind), 1e-9);
}

/* ---- generating functions beside convolutions ---- */
#define WAYS_CHANNELS 4u /* and where messages leave */
#define WAYS_HOPS 2u
#define WAYS_WIDTH 256u

/* Weights that a load could give, different ones in each channel. */
static void mix(const struct ic_qos_delays *delays, unsigned channel, struct ic_qos_mix *mix)
{
    double blocking = channel == WAYS_CHANNELS ? 0.3 : 0.1 + 0.2 * channel, left = 1;
    bool is_last = channel == WAYS_CHANNELS;
    *mix = (struct ic_qos_mix){.at_once = is_last ? 0 : 1 - blocking};
    for (unsigned set = 0; set < delays->subsets; set++) {
        double share = set + 1 < delays->subsets ? left * (0.3 + 0.1 * channel) : left;
        left -= share;
        mix->part[is_last ? IC_QOS_PASS_ALL : IC_QOS_PASS_BEFORE][set] =
            share * blocking / (double)delays->most;
        mix->part[IC_QOS_PASS_OWN][set] = is_last ? share * (1 - blocking) : 0;
    }
}

/* Of each time, from the sums in the tables. */
static void delays_of(const struct ic_qos_delays *delays, const struct ic_qos_mix *mix,
                      double *share)
{
    memset(share, 0, WAYS_WIDTH * sizeof(*share));
    share[0] = mix->at_once;
    for (unsigned passing = 0; passing < IC_QOS_PASSINGS; passing++)
        for (unsigned set = 0; set < delays->subsets; set++) {
            const double *by = &delays->by[passing][set * delays->width];
            for (unsigned t = 0; t < WAYS_WIDTH; t++)
                share[t] += mix->part[passing][set] * (by[t] - (t > 0 ? by[t - 1] : 0));
        }
}

static void add_convolved(const double *a, const double *b, double *sum)
{
    for (unsigned i = 0; i < WAYS_WIDTH; i++)
        for (unsigned j = 0; i + j < WAYS_WIDTH; j++)
            sum[i + j] += a[i] * b[j];
}

static void check_ways(const struct ic_qos *qos, uint64_t c, enum ic_qos_miss kind, bool *is_cut)
{
    struct ic_qos_delays *delays;
    struct ic_qos_mix mixes[WAYS_CHANNELS + 1];
    double alone[WAYS_CHANNELS + 1][WAYS_WIDTH], hops[WAYS_WIDTH] = {0}, all[WAYS_WIDTH] = {0};
    assert_ok(ic_qos_delays_new(qos, c, kind, WAYS_HOPS, WAYS_WIDTH, &delays));
    *is_cut = delays->radius < 1;
    for (unsigned s = 0; s <= WAYS_CHANNELS; s++) {
        mix(delays, s, &mixes[s]);
        delays_of(delays, &mixes[s], alone[s]);
    }
    for (unsigned s = 0; s < WAYS_CHANNELS; s++)
        for (unsigned other = 0; other < s; other++)
            add_convolved(alone[s], alone[other], hops);
    add_convolved(hops, alone[WAYS_CHANNELS], all);
    double by = 0;
    for (unsigned last = 0; last < WAYS_WIDTH; last++) {
        by += all[last];
        assert_near(ic_qos_waves_in_time(delays, mixes, WAYS_CHANNELS, WAYS_HOPS, last), by, 1e-10);
    }
    ic_qos_delays_free(delays);
}

/* On the circle that has room for all delays, and on the smaller one. */
static void ways_are_convolutions(void **state)
{
    struct ic_qos qos = {.dimension = WAYS_CHANNELS,
                         .classes = 4,
                         .rate = {0.01, 0.01 / 1.7, 0.01 / 2.313, 0.01},
                         .stages = 5,
                         .buffer_flits = 2};
    (void)state;
    for (int kind = IC_QOS_MISS_LITERAL; kind <= IC_QOS_MISS_CONSTRAINED; kind++)
        for (uint64_t c = 0; c < 3; c++)
            for (uint64_t flits = 4; flits <= 24; flits += 20) {
                bool is_cut;
                for (unsigned i = 0; i < 3; i++)
                    qos.flits[i] = flits;
                check_ways(&qos, c, (enum ic_qos_miss)kind, &is_cut);
                assert_int_equal(is_cut, flits > 4);
            }
}

/* The longest messages, all that they can wait for, three classes that share, with ratios that are
 * plain and with others: minutes when counted one after the other. */
static void check_long_messages(bool plain)
{
    struct ic_qos qos = {.classes = 4,
                         .rate = {2e-5, plain ? 1e-5 : 2e-5 / 1.713, 2e-5 / 3, 1e-5},
                         .flits = {4096, 4096, 4096, 32},
                         .stages = 5,
                         .buffer_flits = 32};
    clock_t begin = clock();
    for (int kind = IC_QOS_MISS_LITERAL; kind <= IC_QOS_MISS_CONSTRAINED; kind++)
        for (uint64_t c = 0; c < 3; c++) {
            double late = miss(&qos, c, 0, IC_QOS_DEADLINE_MAX, (enum ic_qos_miss)kind);
            assert_true(late > 0 && late <= 1);
        }
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 20);
}

static void long_messages_take_bounded_work(void **state)
{
    (void)state;
    check_long_messages(true);
    check_long_messages(false);
}

/* Without a competitor and without blocking all flits pass alone. */
static void a_lone_class_is_in_time(void **state)
{
    struct ic_qos qos = {
        .classes = 2, .rate = {1e-6, 1e-6}, .flits = {32, 32}, .stages = 5, .buffer_flits = 32};
    (void)state;
    assert_near(miss(&qos, 0, 0, 36, IC_QOS_MISS_CONSTRAINED), 0, 1e-9);
    assert_near(miss(&qos, 0, 0, 35, IC_QOS_MISS_CONSTRAINED), 1, 0);
}

/* Beyond what its source can send BE swings in steps of a tenth; its equations have a solution. */
static void what_swings_is_solved(void **state)
{
    (void)state;
    for (uint64_t buffer = 32; buffer <= 128; buffer *= 2)
        for (double be = 0.01; be < 0.031; be += 0.01)
            for (double load = 0.009; load < 0.0125; load += 0.001) {
                struct ic_qos qos = usual(0, load, be);
                qos.buffer_flits = buffer;
                const struct ic_qos_solution solution = solve(&qos);
                const struct ic_qos_latency *out = &solution.latency[BE];
                double blocking = out->blocking[0], mx = (double)buffer;
                double latency = 4 + (32 + blocking * (mx + 16)) * out->stretch[0];
                double used = fmin(1, (1 - blocking) * be * latency);
                assert_true(isinf(out->wait) && isfinite(out->network));
                assert_near(out->network, latency, 1e-6 * latency);
                assert_near(pow(used, 1 + 2 * mx / 32), blocking, 1e-7);
            }
    for (uint64_t n = 2; n <= 6; n += 4) {
        struct ic_qos cube = usual(n, 0.01, 0.02);
        assert_true(isfinite(solve(&cube).latency[BE].network));
    }
}

static void check_figures(const struct ic_qos *qos)
{
    struct ic_qos_solution solution = solve(qos);
    for (int c = R1; c <= BE; c++) {
        const struct ic_qos_latency *out = &solution.latency[c];
        assert_true(out->network > 0);
        assert_true(out->wait > 0);
        for (uint64_t s = 0; s <= qos->dimension; s++)
            assert_true(out->blocking[s] >= 0 && out->stretch[s] >= 0);
        if (isinf(out->network))
            assert_true(isinf(out->wait) && isinf(out->blocking[0]));
    }
}

/* Far beyond what a channel carries nothing is NaN. */
static void saturation_is_named(void **state)
{
    (void)state;
    for (uint64_t n = 0; n <= 10; n += 2)
        for (double load = 0.005; load < 1 / 32.0; load += 0.002)
            for (double be = 1e-6; be < 1 / 32.0; be *= 30) {
                struct ic_qos qos = usual(n, load, be);
                check_figures(&qos);
            }
    for (uint64_t n = 3; n <= 7; n++)
        for (double load = 0.013; load < 0.02; load += 0.003) {
            struct ic_qos qos = usual(n, load, 0.004);
            qos.buffer_flits = 64;
            qos.variant = n % 2 == 0 ? IC_QOS_STRETCH_ALL : IC_QOS_STRETCH_WAIT;
            check_figures(&qos);
        }
    struct ic_qos much = usual(6, 0.03, 0.002);
    assert_true(isinf(solve(&much).latency[R1].wait));
}

/* Far beyond saturation some loads of best effort have a solution again; that is not where it
 * begins. */
static void saturation_is_where_it_begins(void **state)
{
    struct ic_qos qos = usual(2, 0.0054, 0.002);
    (void)state;
    qos.stages = 43;
    qos.buffer_flits = 929;
    qos.rate[R2] = qos.rate[R1] / 6.73824;
    qos.flits[R1] = qos.flits[R2] = 16;
    qos.flits[BE] = 90;
    assert_true(isinf(solve(&qos).latency[BE].wait));
    assert_true(ic_qos_saturation(&qos) < qos.rate[R1]);
}

/* Sources keep up just before it, as far as one can tell: also with buffers that end solutions all
 * at once, and where best effort alone has all but filled its source. */
static void before_saturation_sources_keep_up(void **state)
{
    static const uint64_t buffers[] = {1, 32, 512}, lengths[] = {1, 32, 700};
    (void)state;
    for (uint64_t n = 0; n <= 10; n += 5)
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 3; j++)
                for (double be = 0.0001; be < 0.02; be *= 10) {
                    struct ic_qos qos = usual(n, 0.001, be);
                    qos.buffer_flits = buffers[i];
                    qos.flits[R1] = qos.flits[R2] = lengths[j];
                    double limit = ic_qos_saturation(&qos);
                    if (limit == 0)
                        continue;
                    qos.rate[R1] = 0.9997 * limit;
                    qos.rate[R2] = qos.rate[R1] / 2;
                    struct ic_qos_solution solution = solve(&qos);
                    for (int c = R1; c <= BE; c++)
                        assert_true(isfinite(solution.latency[c].wait));
                }
}

static void bad_parameters_are_named(void **state)
{
    static const struct {
        struct ic_qos qos;
        const char *words;
    } cases[] = {
        {{.dimension = 1}, "n, the cube's dimensions (0: one router), is 1; it must be 2 to 10"},
        {{.dimension = 0, .classes = 1}, "the number of classes is 1; it must be 2 to 6"},
        {{.dimension = 0, .classes = 2, .stages = 0},
         "P, the router's stages, is 0; it must be 1 to 64"},
        {{.classes = 2, .stages = 5, .buffer_flits = 0},
         "b, the flits of a buffer, is 0; it must be 1 to 4096"},
        {{.classes = 2, .stages = 5, .buffer_flits = 1, .flits = {32, 0}, .rate = {0.01, 0.01}},
         "M, the flits of a message, is 0; it must be 1 to 4096"},
        {{.classes = 2, .stages = 5, .buffer_flits = 1, .flits = {32, 32}, .rate = {0.04, 0.01}},
         "the rate of R1, in messages per cycle and node, is 0.04; it must be 1e-09 to 0.03125"},
        {{.classes = 3,
          .stages = 5,
          .buffer_flits = 1,
          .flits = {32, 32, 1024},
          .rate = {0.004, 0.002, 0.002}},
         "the rate of best effort, in messages per cycle and node, is 0.002; it must be 1e-09 to "
         "0.000976562"},
    };
    struct ic_qos qos = usual(6, 0.004, 0.002);
    struct ic_qos_solution solution = solve(&qos);
    double out;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(ic_qos_check(&cases[i].qos, error), GMC_ERR_INVALID);
        assert_string_equal(error, cases[i].words);
    }
    assert_int_equal(ic_qos_deadline_miss(&qos, &solution, NULL, BE, 2, 55, IC_QOS_MISS_LITERAL,
                                          &out, error),
                     GMC_ERR_INVALID);
    assert_string_equal(error, "the class (best effort has no deadline) is 2; it must be 0 to 1");
    assert_int_equal(ic_qos_deadline_miss(&qos, &solution, NULL, R1, 0, 55, IC_QOS_MISS_LITERAL,
                                          &out, error),
                     GMC_ERR_INVALID);
    assert_string_equal(error, "the number of hops is 0; it must be 1 to 6");
}

/* 1,000 points below saturation in a CPU second; a third of one here. */
static void a_curve_is_quick(void **state)
{
    clock_t from = clock();
    (void)state;
    for (int i = 1; i <= 1000; i++) {
        struct ic_qos qos = usual(7, i * 1e-5, 0.002);
        assert_true(solve(&qos).has_solution);
    }
    print_message("1000 points of a 7-cube: %.2f s\n", (double)(clock() - from) / CLOCKS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_the_text),
        cmocka_unit_test(orderings_hold),
        cmocka_unit_test(classes_notice_what_the_text_says),
        cmocka_unit_test(deadlines_behave),
        cmocka_unit_test(late_deadlines_are_met),
        cmocka_unit_test(tables_are_those_of_all_counted),
        cmocka_unit_test(both_ways_of_counting_agree),
        cmocka_unit_test(ways_are_convolutions),
        cmocka_unit_test(long_messages_take_bounded_work),
        cmocka_unit_test(what_swings_is_solved),
        cmocka_unit_test(a_lone_class_is_in_time),
        cmocka_unit_test(saturation_is_named),
        cmocka_unit_test(saturation_is_where_it_begins),
        cmocka_unit_test(before_saturation_sources_keep_up),
        cmocka_unit_test(bad_parameters_are_named),
        cmocka_unit_test(a_curve_is_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
