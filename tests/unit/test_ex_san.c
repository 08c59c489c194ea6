/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests experiments/san: where nothing waits for anything, what is simulated event by event is what
 * the closed forms say; everybody is served by every algorithm; the same group gives the same time.
 */
#include <math.h>

#include "experiments/san.h"
#include "interconnect/star/latency.h"
#include "interconnect/torus/latency.h"
#include "tests/lib/unit.h"

#define NOT_DONE GMC_TIME_NEVER

static char error[IC_ERROR_MAX];

static void note_end(void *ctx, gmc_time now)
{
    *(gmc_time *)ctx = now;
}

/* Microseconds until the last member has it. */
static double simulate(const struct ex_san_config *config)
{
    struct sim_engine engine;
    gmc_time end = NOT_DONE;
    sim_engine_init(&engine);
    struct ex_san *san = ex_san_start(&engine, config, 0, note_end, &end);
    sim_engine_run(&engine, GMC_S(100));
    ex_san_free(san);
    sim_engine_fini(&engine);
    assert_true(end != NOT_DONE);
    return (double)end / 1000;
}

/* Longer than the closed form by what it leaves out only: wires and switches, at most this much for
 * each message that has to be waited for. */
static void expect(double simulated, double closed, double messages, double each_us)
{
    assert_true(simulated >= closed - 0.01);
    assert_true(simulated <= closed + messages * each_us + 0.01);
}

static void sci_agrees_with_the_closed_forms(void **state)
{
    (void)state;
    for (uint32_t group = 3; group <= 16; group++)
        for (uint32_t draw = 0; draw < 20; draw++) {
            struct ic_sci_latency t;
            struct ex_san_config config = {EX_SCI, IC_TORUS_SEPARATE, group, 4, draw, 128};
            assert_ok(ic_sci_latency(4, 128, 4, group, &t, error));
            /* At most six hops, one of them between rings. */
            expect(simulate(&config), t.separate, 1, 6 * 0.014 + 4 * 0.06 + 0.67);
            config.algorithm = IC_TORUS_S;
            expect(simulate(&config), t.s, group - 1, 6 * 0.014 + 4 * 0.06 + 0.67);
        }
}

static void myrinet_agrees_with_the_closed_forms(void **state)
{
    static const int algorithms[] = {IC_STAR_SERIAL, IC_STAR_SEPARATE};
    (void)state;
    for (uint32_t group = 3; group <= 32; group++)
        for (int i = 0; i < 2; i++) {
            struct ic_myrinet_latency t;
            struct ex_san_config config = {EX_MYRINET_HOST, algorithms[i], group, 0, 0, 2};
            assert_ok(ic_myrinet_latency(IC_MYRINET_HB, (enum ic_star_algorithm)algorithms[i], 2,
                                         group, &t, error));
            expect(simulate(&config), t.time, algorithms[i] == IC_STAR_SERIAL ? group - 1 : 1,
                   0.542 + 0.02);
        }
}

/* A schedule that shares the work is faster than one after the other, and each is done. */
static void all_are_served(void **state)
{
    (void)state;
    for (int kind = 0; kind < EX_SAN_KINDS; kind++)
        for (int a = 0; a < (kind == EX_SCI ? (int)IC_TORUS_ALGORITHMS : (int)IC_STAR_ALGORITHMS);
             a++)
            for (uint32_t group = 2; group <= 64; group += 7) {
                struct ex_san_config config = {(enum ex_san_kind)kind, a, group, 8, 3, 65536};
                double once = simulate(&config);
                assert_true(once > 0 && simulate(&config) == once);
            }
    struct ex_san_config chain = {EX_SCI, IC_TORUS_S, 64, 8, 0, 65536};
    struct ex_san_config rings = {EX_SCI, IC_TORUS_MD, 64, 8, 0, 65536};
    assert_true(simulate(&rings) < simulate(&chain) / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sci_agrees_with_the_closed_forms),
        cmocka_unit_test(myrinet_agrees_with_the_closed_forms),
        cmocka_unit_test(all_are_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
