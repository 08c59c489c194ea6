/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests interconnect/command/wan: trees of gateways by the core's function; the claims that the
 * source makes of its case studies. */
#include <string.h>

#include "interconnect/command/golden.h"
#include "interconnect/wan/cases.h"
#include "tests/lib/unit.h"
#include "tests/unit/ic_table.h"

static char error[IC_ERROR_MAX];

static void trees_are_those_of_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ic_wan_golden_count; i++)
        assert_true(ic_table_recompute(ic_wan_goldens[i]) > 0);
}

static gmc_status tree(const char *n, const char *matrix, struct ic_text *out)
{
    struct ic_csv csv;
    struct ic_text text = {0};
    ic_text_clear(out);
    ic_text_add(&text, "id,n,latency_matrix,parent\n0,%s,%s,?\n", n, matrix);
    assert_ok(ic_csv_parse(&csv, text.bytes, text.length, error));
    gmc_status status = ic_golden_recompute(ic_wan_goldens[0], &csv, out, error);
    ic_csv_fini(&csv);
    ic_text_fini(&text);
    return status;
}

/* 1.2 times the detour is far enough, a little less is not. */
static void fractions_count(void **state)
{
    struct ic_text out = {0};
    (void)state;
    assert_ok(tree("3", "0 1 2.4;1 0 2;2.4 2 0", &out));
    assert_non_null(strstr(out.bytes, ",-1 0 1\n"));
    assert_ok(tree("3", "0 1 2.399;1 0 2;2.399 2 0", &out));
    assert_non_null(strstr(out.bytes, ",-1 0 0\n"));
    ic_text_fini(&out);
}

static void bad_matrices_are_named(void **state)
{
    static const struct {
        const char *n, *matrix, *words;
    } cases[] = {
        {"0", "0", "line 2: n, the gateways, is 0; it must be 1 to 4096"},
        {"2", "0 1;1", "line 2: latency_matrix: row 2, column 2 is no latency from 0 to 1e+12"},
        {"2", "0 1 2;1 0", "line 2: latency_matrix: row 1 has more than 2 columns"},
        {"3", "0 1 2;1 0 2", "line 2: latency_matrix has 2 rows; 3 gateways need 3"},
        {"3", "0 1 2;1 0 2;2 3 0",
         "line 2: latency_matrix is not symmetric: row 2, column 3 is 2, row 3, column 2 is 3"},
        {"2", "0 1;1 0;", "line 2: latency_matrix has more than 2 rows of 2"},
        {"2", "0 -1;1 0", "line 2: latency_matrix: row 1, column 2 is no latency from 0 to 1e+12"},
    };
    struct ic_text out = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(tree(cases[i].n, cases[i].matrix, &out), GMC_ERR_INVALID);
        assert_string_equal(error, cases[i].words);
    }
    ic_text_fini(&out);
}

/* The calibration, and what it must not depend on. */
static void caches_pay(void **state)
{
    static const double gain[IC_WAN_LINKS] = {0.4, 0.5, 0.6, 0.6};
    (void)state;
    for (int link = 0; link < IC_WAN_LINKS; link++) {
        struct ic_wan_case2 with, without, far;
        assert_ok(ic_wan_case2(IC_WAN_LC, (enum ic_wan_link)link, 3, 0.05, &with, error));
        assert_ok(ic_wan_case2(IC_WAN_NC, (enum ic_wan_link)link, 3, 0.05, &without, error));
        assert_ok(ic_wan_case2(IC_WAN_LC, (enum ic_wan_link)link, 1, 0.2, &far, error));
        assert_near(1 - with.time_per_message / without.time_per_message, gain[link], 1e-9);
        assert_true(with.time_per_message == far.time_per_message);
        assert_true(with.utilisation >= without.utilisation);
    }
}

static void bad_parameters_are_named(void **state)
{
    struct ic_wan_case1 one;
    struct ic_wan_case2 two;
    double impact;
    (void)state;
    assert_int_equal(ic_wan_case1(-1, 0, 0, 0, &one, error), GMC_ERR_INVALID);
    assert_string_equal(error, "the gateway link's time is -1; it must be 0 to 1e+15");
    assert_int_equal(ic_wan_case2(IC_WAN_NC, IC_WAN_FE, 3, 1.5, &two, error), GMC_ERR_INVALID);
    assert_string_equal(error, "the retransmission rate is 1.5; it must be 0 to 1");
    assert_int_equal(ic_wan_case2_impact(IC_WAN_NC, 0.1, -1, &impact, error), GMC_ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_are_those_of_the_table), cmocka_unit_test(fractions_count),
        cmocka_unit_test(bad_matrices_are_named),       cmocka_unit_test(caches_pay),
        cmocka_unit_test(bad_parameters_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
