/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests interconnect/torus: the worked example and the anchors of the source, what has to hold on
 * random groups, and refusals. Its reference tables are in test_ic_golden. */
#include <string.h>

#include "base/prng.h"
#include "interconnect/torus/latency.h"
#include "interconnect/torus/links.h"
#include "interconnect/torus/multicast.h"
#include "tests/lib/unit.h"
#include "tests/unit/ic_table.h"

#define NODES_MAX 4096

struct group {
    struct ic_torus torus;
    uint32_t nodes[NODES_MAX];
    struct ic_torus_group view;
};

static char error[IC_ERROR_MAX];

/* The anchors in the text: M = 128, k = r = 4, G = 16. */
static void latencies_are_those_of_the_text(void **state)
{
    struct ic_sci_latency t;
    (void)state;
    assert_ok(ic_sci_latency(4, 128, 4, 16, &t, error));
    assert_near(t.separate, 136.90, 0.005);
    assert_near(t.md, 843.94, 0.005);
    assert_near(t.mu, 823.94, 0.005);
    assert_near(t.u, 2535.94, 0.005);
    assert_near(t.s, 3769.82, 0.005);
}

/* The ten ranks that are printed beside the example's nodes. */
static void ranks_are_the_printed_ones(void **state)
{
    static const uint32_t example[][3] = {{2, 2, 8},  {2, 4, 10}, {3, 1, 12}, {3, 3, 14},
                                          {4, 4, 16}, {4, 1, 17}, {4, 2, 18}, {1, 3, 4},
                                          {1, 1, 6},  {1, 2, 7}};
    struct ic_torus torus;
    uint32_t node;
    (void)state;
    assert_ok(ic_torus_init(&torus, 4, 2, error));
    for (size_t i = 0; i < sizeof(example) / sizeof(example[0]); i++) {
        assert_ok(ic_torus_node(&torus, example[i], &node, error));
        assert_int_equal(ic_torus_rank(&torus, node), example[i][2]);
    }
}

/* Consecutive ranks are neighbours on a ring, and all nodes come. */
static void ranks_are_a_hamiltonian_cycle(void **state)
{
    static const uint32_t shapes[][2] = {{4, 2}, {3, 3}, {4, 3}, {3, 4}, {2, 5}, {7, 1}, {16, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        static bool seen[NODES_MAX];
        struct ic_torus torus;
        uint32_t node = 0;
        assert_ok(ic_torus_init(&torus, shapes[i][0], shapes[i][1], error));
        memset(seen, 0, sizeof(seen));
        for (uint32_t n = 0; n < torus.nodes; n++) {
            uint32_t next = ic_torus_rank_next(&torus, node);
            assert_false(seen[node]);
            seen[node] = true;
            assert_int_equal(ic_torus_hops(&torus, node, next), 1);
            if (n + 1 < torus.nodes && ic_torus_rank(&torus, next) > ic_torus_rank(&torus, node))
                assert_int_equal(ic_torus_rank(&torus, next), ic_torus_rank(&torus, node) + 1);
            node = next;
        }
        assert_int_equal(node, 0);
    }
}

static void draw_group(struct group *group, struct gmc_prng *prng)
{
    uint32_t k = 2 + (uint32_t)gmc_prng_below(prng, 5);
    uint32_t dimensions = 1 + (uint32_t)gmc_prng_below(prng, 4);
    uint32_t ppm = 1000 + (uint32_t)gmc_prng_below(prng, 999000);
    if (k == 2 && dimensions == 1)
        dimensions = 2;
    assert_ok(ic_torus_init(&group->torus, k, dimensions, error));
    group->view = (struct ic_torus_group){.nodes = group->nodes};
    for (uint32_t node = 0; node < group->torus.nodes; node++)
        if (node < 2 || gmc_prng_chance_ppm(prng, ppm))
            group->nodes[group->view.count++] = node;
    group->view.root = (uint32_t)gmc_prng_below(prng, group->view.count);
}

/* Everybody receives once and nobody sends what it does not have (ic_schedule_measure says so), and
 * the claims that the source makes for every group. */
static void any_group_is_served(void **state)
{
    static struct group group;
    struct gmc_prng prng;
    (void)state;
    gmc_prng_init(&prng, 1);
    for (int run = 0; run < 500; run++) {
        struct ic_schedule_metrics metrics[IC_TORUS_ALGORITHMS];
        draw_group(&group, &prng);
        uint32_t r = 1 + (uint32_t)gmc_prng_below(&prng, group.view.count), steps = 0;
        for (int a = 0; a < IC_TORUS_ALGORITHMS; a++) {
            struct ic_schedule schedule;
            struct ic_torus_links links;
            assert_ok(ic_torus_multicast(&group.torus, &group.view, (enum ic_torus_algorithm)a, r,
                                         &schedule, error));
            assert_ok(ic_schedule_measure(&schedule, &metrics[a]));
            assert_ok(ic_torus_measure_links(&group.torus, &group.view, &schedule, IC_TORUS_BY_RANK,
                                             &links));
            if (a == IC_TORUS_S) /* the constant that is reported */
                assert_int_equal(links.visits, links.used);
            ic_schedule_fini(&schedule);
        }
        while ((UINT32_C(1) << steps) < group.view.count)
            steps++;
        assert_int_equal(metrics[IC_TORUS_U].steps, steps);
        assert_int_equal(metrics[IC_TORUS_S].max_intermediate, group.view.count - 2);
        assert_int_equal(metrics[IC_TORUS_SEPARATE].root_sends, group.view.count - 1);
    }
}

/* A schedule that is none is told from one. */
static void wrong_schedules_are_noticed(void **state)
{
    static const struct ic_send wrong[][2] = {
        {{1, 1, 2}, {2, 0, 1}}, /* sends before it has anything */
        {{1, 0, 1}, {2, 0, 1}}, /* receives twice */
        {{1, 0, 1}, {1, 0, 2}}, /* two in one step */
        {{1, 0, 1}, {1, 1, 2}}, /* in the step in which it receives */
        {{1, 0, 1}, {2, 0, 3}}, /* to nobody */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct ic_send sends[2] = {wrong[i][0], wrong[i][1]};
        struct ic_schedule schedule = {3, 0, sends, 2};
        struct ic_schedule_metrics metrics;
        assert_int_equal(ic_schedule_measure(&schedule, &metrics), GMC_ERR_INVALID);
    }
}

static void refused(gmc_status status, const char *words)
{
    assert_int_equal(status, GMC_ERR_INVALID);
    assert_string_equal(error, words);
}

static void bad_parameters_are_named(void **state)
{
    static const uint32_t twice[] = {0, 3, 3}, outside[] = {0, 16};
    static const uint32_t coordinates[] = {4, 5};
    struct ic_torus_group group = {twice, 3, 0};
    struct ic_schedule schedule;
    struct ic_sci_latency t;
    struct ic_torus torus;
    uint32_t node;
    (void)state;
    refused(ic_torus_init(&torus, 1, 2, error), "k, nodes per ring, is 1; it must be 2 to 1024");
    refused(ic_torus_init(&torus, 4, 0, error), "N, dimensions, is 0; it must be 1 to 8");
    refused(ic_torus_init(&torus, UINT64_MAX, 8, error),
            "k, nodes per ring, is 18446744073709551615; it must be 2 to 1024");
    refused(ic_torus_init(&torus, 1024, 8, error),
            "k^N, the nodes of the torus, is 1073741824; it must be 2 to 1048576");
    assert_ok(ic_torus_init(&torus, 4, 2, error));
    refused(ic_torus_node(&torus, coordinates, &node, error),
            "coordinate 2 is 5; it must be 1 to 4");
    refused(ic_torus_multicast(&torus, &group, IC_TORUS_S, 0, &schedule, error),
            "members are not in growing order, or one stands twice: node 3 after node 3");
    group = (struct ic_torus_group){outside, 2, 0};
    refused(ic_torus_multicast(&torus, &group, IC_TORUS_S, 0, &schedule, error),
            "a member's node number is 16; it must be 0 to 15");
    group = (struct ic_torus_group){twice, 2, 2};
    refused(ic_torus_multicast(&torus, &group, IC_TORUS_S, 0, &schedule, error),
            "the root's position is 2; it must be 0 to 1");
    group = (struct ic_torus_group){twice, 2, 0};
    refused(ic_torus_multicast(&torus, &group, IC_TORUS_MU, 0, &schedule, error),
            "r, the partition length, is 0; it must be 1 to 1048576");
    group.count = 17;
    refused(ic_torus_multicast(&torus, &group, IC_TORUS_S, 0, &schedule, error),
            "G, the group's size, is 17; it must be 2 to 16");
    refused(ic_sci_latency(4, 0, 4, 16, &t, error),
            "M, the message's bytes, is 0; it must be 1 to 1048576");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies_are_those_of_the_text),
        cmocka_unit_test(ranks_are_the_printed_ones),
        cmocka_unit_test(ranks_are_a_hamiltonian_cycle),
        cmocka_unit_test(any_group_is_served),
        cmocka_unit_test(wrong_schedules_are_noticed),
        cmocka_unit_test(bad_parameters_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
