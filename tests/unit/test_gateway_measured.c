/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/gateway_measured.c: trees by what uplinks have shown. */
#include "tests/lib/unit.h"

#include "core/gateway_graph_impl.h"

#define MBIT UINT64_C(1000000)
#define MOST_GATEWAYS 3

/* Gateways 10 ms from each other; of the source's uplink a limit was measured. */
struct group {
    uint64_t latency[MOST_GATEWAYS * MOST_GATEWAYS], uplink[MOST_GATEWAYS], downlink[MOST_GATEWAYS];
    struct gwmeasured measured[MOST_GATEWAYS];
    const char *names[MOST_GATEWAYS];
    uint64_t path[MOST_GATEWAYS * MOST_GATEWAYS];
    int32_t parent[GMC_TREE_STRIPES_MAX * MOST_GATEWAYS];
    struct gwgraph graph;
};

static void group_init(struct group *group, size_t n)
{
    static const char *const names[MOST_GATEWAYS] = {"s", "a", "b"};
    *group = (struct group){.measured[0] = {10 * MBIT, 10 * MBIT, 10 * MBIT}};
    for (size_t i = 0; i < n; i++) {
        group->names[i] = names[i];
        group->parent[i] = i == 0 ? -1 : 0;
        for (size_t j = 0; j < n; j++)
            group->latency[i * n + j] = i == j ? 0 : GMC_MS(10);
    }
    group->graph = (struct gwgraph){.latency = group->latency,
                                    .uplink = group->uplink,
                                    .downlink = group->downlink,
                                    .measured = group->measured,
                                    .any_measured = true,
                                    .names = group->names,
                                    .parent = group->parent,
                                    .view = {.n = n,
                                             .latency = group->latency,
                                             .names = group->names,
                                             .uplink_bps = group->uplink,
                                             .downlink_bps = group->downlink,
                                             .bytes = 100 * MBIT}};
}

/* Whether the measured rates give other trees than a copy to each. */
static bool changes(struct group *group)
{
    uint32_t stripes = 1;
    return gw_graph_try_measured(&group->graph, gw_graph_least_limit(&group->graph), 0, &stripes);
}

/* All others' sessions have ended, or of the targets only the source's own nodes are up. */
static void test_a_source_alone_stays_alone(void **state)
{
    (void)state;
    struct group group;
    group_init(&group, 1);
    assert_false(changes(&group));
    assert_int_equal(group.parent[0], -1);
}

static void test_one_receiver_stays_the_sources_child(void **state)
{
    (void)state;
    struct group group;
    group_init(&group, 2);
    assert_false(changes(&group));
    assert_int_equal(group.parent[1], 0);
}

/* Half of ten to each of two is what a narrow uplink shows; more to each is not known. */
static void test_two_that_get_half_each_form_a_chain(void **state)
{
    (void)state;
    struct group group;
    group_init(&group, 3);
    group.measured[1].most = group.measured[2].most = 10 * MBIT;
    assert_true(changes(&group));
    assert_true((group.parent[1] == 0 && group.parent[2] == 1) ||
                (group.parent[2] == 0 && group.parent[1] == 2));
}

/* All rates are configured: 100 come in, and two times that goes out. And a transfer shows what the
 * path from the source to b carries. */
static bool changes_by_path(uint64_t rate_bps)
{
    struct group group;
    group_init(&group, 3);
    for (size_t i = 0; i < 3; i++) {
        group.uplink[i] = 200 * MBIT;
        group.downlink[i] = 100 * MBIT;
    }
    group.measured[0] = (struct gwmeasured){0, 0, 0};
    group.path[2] = rate_bps;
    group.graph.path = group.path;
    group.graph.view.path_bps = group.path;
    return changes(&group);
}

static void test_a_path_that_carries_half_is_left(void **state)
{
    (void)state;
    assert_true(changes_by_path(50 * MBIT));
    assert_true(changes_by_path(80 * MBIT));
}

/* It would be each time that a host is a little late, and a trial costs seconds. */
static void test_a_path_that_carries_a_little_less_stays(void **state)
{
    (void)state;
    assert_false(changes_by_path(97 * MBIT));
    assert_false(changes_by_path(90 * MBIT));
}

/* b is fed by a, over a path that loses more than the one from the source does. Of the one that is
 * not used nothing is known. */
static bool changes_by_loss(uint32_t lost_ppm)
{
    struct group group;
    uint32_t loss[MOST_GATEWAYS * MOST_GATEWAYS] = {[0 * 3 + 1] = 200000, [1 * 3 + 2] = lost_ppm};
    group_init(&group, 3);
    for (size_t i = 0; i < 3; i++) {
        group.uplink[i] = 200 * MBIT;
        group.downlink[i] = 100 * MBIT;
    }
    group.parent[2] = 1;
    group.measured[0] = (struct gwmeasured){0, 0, 0};
    group.graph.path = group.path; /* in mid-transfer; how much they carry is not known */
    group.graph.view.path_bps = group.path;
    group.graph.loss = loss;
    group.graph.view.loss_ppm = loss;
    return changes(&group);
}

/* It may do so by chance. */
static void test_a_path_that_loses_a_little_more_stays(void **state)
{
    (void)state;
    assert_false(changes_by_loss(205000));
    assert_false(changes_by_loss(230000));
    assert_true(changes_by_loss(400000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_source_alone_stays_alone),
        cmocka_unit_test(test_one_receiver_stays_the_sources_child),
        cmocka_unit_test(test_two_that_get_half_each_form_a_chain),
        cmocka_unit_test(test_a_path_that_carries_half_is_left),
        cmocka_unit_test(test_a_path_that_carries_a_little_less_stays),
        cmocka_unit_test(test_a_path_that_loses_a_little_more_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
