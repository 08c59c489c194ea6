/* SPDX-License-Identifier: BSD-2-Clause */
/* Congestion control `background` in virtual time: what it leaves to TCP, what it uses when nobody
 * else is there, and that it comes back. */
#include "sim-wan/traffic/law.h"
#include "tests/lib/ccwire.h"
#include "tests/lib/unit.h"

static const struct ccwire_path path_100m = {.rate_bps = 100000000,
                                             .delay = GMC_MS(15),
                                             .queue_bytes = 625000};

static double delivered(const struct ccwire *wire, int flow)
{
    struct ccwire_stats stats;

    ccwire_stats(wire, flow, &stats);
    return (double)stats.delivered;
}

/* Its part of the sum over a minute in which both are there, in thousandths, mean of four seeds. */
static unsigned share_permille(const struct gmc_cc_ops *rival, uint64_t queue_bytes,
                               gmc_time rival_start)
{
    double sum = 0;

    for (unsigned seed = 1; seed <= 4; seed++) {
        struct ccwire_path path = path_100m;
        struct ccwire *wire;

        path.queue_bytes = queue_bytes;
        wire = ccwire_new(&path, seed);
        ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_background, .start = GMC_MS(500)});
        if (rival == &gmc_cc_model)
            ccwire_add(wire, &(struct ccwire_flow){.ops = rival, .start = rival_start});
        else
            ccwire_add_tcp(wire, rival, rival_start);
        ccwire_run_until(wire, rival_start + GMC_MS(500));
        double own = delivered(wire, 0), others = delivered(wire, 1);
        ccwire_run_until(wire, rival_start + GMC_MS(60500));
        own = delivered(wire, 0) - own;
        others = delivered(wire, 1) - others;
        sum += own / (own + others);
        ccwire_free(wire);
    }
    return (unsigned)(1000 * sum / 4);
}

static void test_leaves_the_path_to_others(void **state)
{
    static const struct gmc_cc_ops *const rivals[] = {&sim_law_cubic, &sim_law_bbr, &gmc_cc_model};
    static const uint64_t queues[] = {625000, 15000}; /* 50 ms, ten packets */

    (void)state;
    for (size_t r = 0; r < 3; r++) {
        for (size_t q = 0; q < 2; q++) {
            assert_true(share_permille(rivals[r], queues[q], 0) <= 100);
            assert_true(share_permille(rivals[r], queues[q], GMC_S(10)) <= 100);
        }
    }
}

static void test_uses_an_empty_path(void **state)
{
    static const struct {
        uint64_t queue_bytes;
        uint32_t loss_ppm;
        gmc_duration jitter;
    } cases[] = {{625000, 0, 0}, {625000, 10000, 0}, {625000, 50000, 0},    {625000, 200000, 0},
                 {15000, 0, 0},  {15000, 10000, 0},  {625000, 0, GMC_MS(4)}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (unsigned seed = 1; seed <= 3; seed++) {
            struct ccwire_path path = path_100m;
            path.queue_bytes = cases[i].queue_bytes;
            path.loss_ppm = cases[i].loss_ppm;
            path.jitter = cases[i].jitter;
            struct ccwire *wire = ccwire_new(&path, seed);
            ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_background});
            ccwire_run_until(wire, GMC_S(30));
            assert_true(delivered(wire, 0) * 12000 / 30 >
                        0.85 * 1e8 * (1 - cases[i].loss_ppm / 1e6));
            ccwire_free(wire);
        }
    }
}

/* When the others are done it takes the path again, within the longest absence. */
static void test_comes_back(void **state)
{
    (void)state;
    struct ccwire *wire = ccwire_new(&path_100m, 1);
    struct ccwire_flow rival = {.ops = &sim_law_cubic,
                                .packets = 160000,
                                .ack_every = 2,
                                .tick = 1};

    ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_background, .start = GMC_MS(500)});
    ccwire_add(wire, &rival);
    gmc_time done = ccwire_run_flow(wire, 1, GMC_S(60));
    assert_true(done < GMC_S(22)); /* alone: 19.2 s */
    ccwire_run_until(wire, done + GMC_S(30));
    double before = delivered(wire, 0);
    ccwire_run_until(wire, done + GMC_S(40));
    assert_true((delivered(wire, 0) - before) * 12000 / 10 > 0.85e8);
    ccwire_free(wire);
}

/* Marks of a queue that others fill are reason enough. */
static void test_leaves_at_marks(void **state)
{
    (void)state;
    struct ccwire_path path = path_100m;

    path.mark_bytes = 62500;
    struct ccwire *wire = ccwire_new(&path, 1);
    ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_background});
    ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model, .start = GMC_S(1)});
    ccwire_run_until(wire, GMC_S(5));
    double own = delivered(wire, 0), others = delivered(wire, 1);
    ccwire_run_until(wire, GMC_S(65));
    own = delivered(wire, 0) - own;
    others = delivered(wire, 1) - others;
    assert_true(own < 0.1 * (own + others));
    ccwire_free(wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaves_the_path_to_others),
        cmocka_unit_test(test_uses_an_empty_path),
        cmocka_unit_test(test_comes_back),
        cmocka_unit_test(test_leaves_at_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
