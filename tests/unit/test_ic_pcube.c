/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests interconnect/hypercube/pcube: reference tables and anchors, rates against all routes of
 * small cubes, refusals. */
#include "interconnect/hypercube/pcube.h"
#include "tests/lib/unit.h"
#include "tests/unit/ic_table.h"

static char error[IC_ERROR_MAX];

static void limits_are_those_of_the_text(void **state)
{
    static const struct {
        struct ic_pcube cube;
        double load;
    } anchors[] = {{{6, 3, 32}, 0.006526}, {{6, 3, 64}, 0.003466}, {{6, 3, 128}, 0.001787},
                   {{6, 6, 32}, 0.007886}, {{6, 6, 64}, 0.004165}, {{6, 6, 128}, 0.002142},
                   {{8, 3, 32}, 0.003755}, {{8, 6, 32}, 0.004587}, {{9, 3, 32}, 0.002766},
                   {{10, 3, 32}, 0.002010}};
    double load;
    (void)state;
    for (size_t i = 0; i < sizeof(anchors) / sizeof(anchors[0]); i++) {
        assert_ok(ic_pcube_saturation(&anchors[i].cube, &load, error));
        assert_near(load, anchors[i].load, 1e-6);
    }
}

/* Probability that a message from `at` to `destination` uses each channel, [node][dimension]. */
static void walk(uint32_t at, uint32_t destination, double share, double (*rates)[6])
{
    uint32_t legal = ic_pcube_dimensions(at, destination);
    if (legal == 0) {
        assert_int_equal(at, destination);
        return;
    }
    share /= __builtin_popcount(legal);
    for (uint32_t dimension = 0; dimension < 6; dimension++)
        if (legal & 1u << dimension) {
            rates[at][dimension] += share;
            walk(at ^ 1u << dimension, destination, share, rates);
        }
}

static void rates_are_those_of_all_routes(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 6; n++) {
        double rates[64][6] = {{0}};
        for (uint32_t source = 0; source < 1u << n; source++)
            for (uint32_t destination = 0; destination < 1u << n; destination++)
                walk(source, destination, 1, rates);
        for (uint32_t node = 0; node < 1u << n; node++)
            for (uint32_t dimension = 0; dimension < n; dimension++) {
                uint32_t others = node & ~(1u << dimension);
                uint32_t z = n - 1 - (uint32_t)__builtin_popcount(others);
                double rate;
                assert_ok(ic_pcube_rate(n, z, &rate, error));
                assert_near(rates[node][dimension] / ((1u << n) - 1), rate, 1e-12);
            }
    }
}

/* From 10101010 to 10010011: bits 3 and 5 are cleared first, in any order, then 0 and 4 set. */
static void the_negative_phase_comes_first(void **state)
{
    (void)state;
    assert_int_equal(ic_pcube_dimensions(0xaa, 0x93), 0x28);
    assert_int_equal(ic_pcube_dimensions(0xa2, 0x93), 0x20);
    assert_int_equal(ic_pcube_dimensions(0x82, 0x93), 0x11);
    assert_int_equal(ic_pcube_dimensions(0x93, 0x93), 0);
}

static void without_load_nothing_waits(void **state)
{
    struct ic_pcube cube = {.n = 6, .channels = 3, .flits = 32};
    struct ic_pcube_latency out;
    (void)state;
    assert_ok(ic_pcube_latency(&cube, 0, &out, error));
    assert_false(out.saturated);
    assert_near(out.latency, 32 + 6 * 32.0 / 63, 1e-9);
    assert_ok(ic_pcube_latency(&cube, 0.0066, &out, error));
    assert_true(out.saturated);
}

static void bad_parameters_are_named(void **state)
{
    struct ic_pcube cube = {.n = 13, .channels = 3, .flits = 32};
    struct ic_pcube_latency out;
    double rate;
    (void)state;
    assert_int_equal(ic_pcube_latency(&cube, 0, &out, error), GMC_ERR_INVALID);
    assert_string_equal(error, "n, dimensions, is 13; it must be 1 to 12");
    cube.n = 6;
    assert_int_equal(ic_pcube_latency(&cube, 0.04, &out, error), GMC_ERR_INVALID);
    assert_string_equal(error,
                        "lambda_g, messages per node and cycle, is 0.04; it must be 0 to 0.03125");
    cube.channels = 0;
    assert_int_equal(ic_pcube_saturation(&cube, &rate, error), GMC_ERR_INVALID);
    assert_int_equal(ic_pcube_rate(3, 3, &rate, error), GMC_ERR_INVALID);
    assert_string_equal(error, "z, zeros among the other bits, is 3; it must be 0 to 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_those_of_the_text),
        cmocka_unit_test(rates_are_those_of_all_routes),
        cmocka_unit_test(the_negative_phase_comes_first),
        cmocka_unit_test(without_load_nothing_waits),
        cmocka_unit_test(bad_parameters_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
