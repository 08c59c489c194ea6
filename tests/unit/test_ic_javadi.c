/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests interconnect/fattree/tree and javadi: anchors of the source, refusals. Their tables are in
 * test_ic_golden. */
#include "interconnect/fattree/javadi.h"
#include "tests/lib/unit.h"
#include "tests/unit/ic_table.h"

static char error[IC_ERROR_MAX];

/* (9) is (8) in closed form. */
static void distances_have_a_closed_form(void **state)
{
    (void)state;
    for (uint32_t m = 4; m <= 16; m += 2)
        for (uint32_t n = 1; n <= 4; n++) {
            struct ic_fat_tree tree;
            assert_ok(ic_fat_tree_init(&tree, m, n, error));
            double power = pow(m / 2.0, n), sum = 0;
            for (uint32_t j = 1; j <= n; j++)
                sum += ic_fat_tree_share(&tree, j);
            assert_near(sum, 1, 1e-12);
            assert_near(ic_fat_tree_distance(&tree),
                        ((m * n - 2.0 * n - 1) * power + 1) / ((power - 0.5) * (m / 2.0 - 1)),
                        1e-9);
        }
}

static struct ic_javadi single(uint32_t m, uint32_t n, uint32_t flits, uint32_t divisor)
{
    return (struct ic_javadi){.ports = m,
                              .kinds = {{n, 1}},
                              .kind_count = 1,
                              .flits = flits,
                              .node_time = 1,
                              .switch_time = 1,
                              .divisor = divisor};
}

static void anchors_are_those_of_the_text(void **state)
{
    static const struct {
        uint32_t nodes, flits;
        double bytes, latency, limit;
    } anchors[] = {{1120, 32, 256, 20.13, 5.276e-4}, {1120, 64, 256, 36.84, 2.638e-4},
                   {544, 32, 256, 22.73, 1.058e-3},  {544, 64, 256, 39.44, 5.291e-4},
                   {1120, 32, 512, 0, 2.663e-4},     {1120, 64, 512, 0, 1.332e-4},
                   {544, 32, 512, 0, 5.342e-4},      {544, 64, 512, 0, 2.671e-4}};
    (void)state;
    for (size_t i = 0; i < sizeof(anchors) / sizeof(anchors[0]); i++) {
        struct ic_javadi system = {.flits = anchors[i].flits, .divisor = 4};
        struct ic_javadi_latency out;
        double limit;
        assert_ok(ic_javadi_system(&system, anchors[i].nodes, error));
        ic_javadi_times(&system, anchors[i].bytes);
        assert_ok(ic_javadi_latency(&system, 0, &out, error));
        if (anchors[i].latency > 0)
            assert_near(out.latency, anchors[i].latency, 0.001 * anchors[i].latency);
        assert_ok(ic_javadi_saturation(&system, &limit, error));
        assert_near(limit, anchors[i].limit, 0.001 * anchors[i].limit);
        assert_ok(ic_javadi_latency(&system, limit * 0.9999, &out, error));
        assert_false(out.saturated);
        assert_ok(ic_javadi_latency(&system, limit * 1.0001, &out, error));
        assert_true(out.saturated);
    }
}

static void bad_parameters_are_named(void **state)
{
    struct ic_fat_tree tree;
    struct ic_javadi_latency out;
    struct ic_javadi system = single(8, 3, 32, 3);
    (void)state;
    assert_int_equal(ic_fat_tree_init(&tree, 5, 2, error), GMC_ERR_INVALID);
    assert_string_equal(error, "m, ports of a switch, is 5; it must be even");
    assert_int_equal(ic_fat_tree_init(&tree, 8, 15, error), GMC_ERR_INVALID);
    assert_string_equal(error, "2 (m/2)^n, the nodes of the tree, is 2147483648; it must be 2 to "
                               "1073741824");
    assert_int_equal(ic_fat_tree_init(&tree, 128, 29, error), GMC_ERR_INVALID);
    assert_int_equal(ic_javadi_latency(&system, 0, &out, error), GMC_ERR_INVALID);
    assert_string_equal(error, "D, divisor of channel rates, is 3; it must be 2 or 4");
    system.divisor = 4;
    assert_int_equal(ic_javadi_latency(&system, 0.04, &out, error), GMC_ERR_INVALID);
    assert_string_equal(error, "lambda_g, messages per node and time unit, is 0.04; it must be 0 "
                               "to 0.03125");
    system.kinds[0].clusters = 9;
    assert_int_equal(ic_javadi_latency(&system, 0, &out, error), GMC_ERR_INVALID);
    assert_string_equal(error, "C, clusters, is 9; with m = 8 it must be 1, 8, 32 or a larger 2 "
                               "(m/2)^k");
    assert_int_equal(ic_javadi_system(&system, 100, error), GMC_ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_have_a_closed_form),
        cmocka_unit_test(anchors_are_those_of_the_text),
        cmocka_unit_test(bad_parameters_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
