/* SPDX-License-Identifier: BSD-2-Clause */
/* Topologies as data: what may not pass, and in which words. */
#include <stdio.h>
#include <string.h>

#include "sim-wan/topo/topo.h"
#include "tests/lib/unit.h"

struct broken_case {
    const char *nodes;    /* one letter each */
    const char *links[4]; /* two letters each */
    const char *error;    /* NULL: sound */
};

static void test_check(void **state)
{
    static const struct broken_case cases[] = {
        {"a", {NULL}, NULL},
        {"abc", {"ab", "cb"}, NULL},
        {"", {NULL}, "0 nodes and 0 links"},
        {"a/", {"a/"}, "'/' is no host's name"},
        {"aba", {"ab"}, "two nodes are called 'a'"},
        {"ab", {"ab", "bb"}, "a link joins 'b' to itself"},
        {"ab", {"ab", "ba"}, "two links join 'b' and 'a'"},
        {"abcd", {"ab", "cd"}, "no path joins 'c' to 'a'"},
    };
    struct sim_wire_config wire = {.rate_bps = 1000000};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_topo topo;
        char error[SIM_TOPO_ERROR_MAX] = "";
        sim_topo_init(&topo);
        for (const char *letter = cases[i].nodes; *letter != '\0'; letter++) {
            char name[2] = {*letter, '\0'};
            sim_topo_add_node(&topo, name);
        }
        for (const char *const *link = cases[i].links; *link != NULL; link++) {
            char a[2] = {(*link)[0], '\0'}, b[2] = {(*link)[1], '\0'};
            sim_topo_add_link(&topo, sim_topo_find(&topo, a), sim_topo_find(&topo, b), &wire,
                              &wire);
        }
        gmc_status status = sim_topo_check(&topo, NULL, error);
        if (cases[i].error == NULL) {
            assert_int_equal(status, GMC_OK);
        } else {
            assert_int_equal(status, GMC_ERR_INVALID);
            assert_non_null(strstr(error, cases[i].error));
        }
        sim_topo_fini(&topo);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_check)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
