/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/tree_ways: networks whose gateways stand at the routers, and such as only look so. */
#include "core/tree_ways.h"

#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "tests/lib/unit.h"

#define N_MAX 8
#define MBIT UINT64_C(1000000)

struct net {
    uint64_t latency[N_MAX * N_MAX], uplink[N_MAX];
    struct gmc_tree_graph view;
};

/* Where all are as far from each other as the shortest way over these wires, in microseconds, is
 * long: "0-1:10000 1-2:5000". Behind them routers may follow that are no gateways. */
static void net_init(struct net *net, size_t n, const char *wires)
{
    enum { NODES = 16 };
    static uint64_t far[NODES][NODES];

    *net = (struct net){.view = {.n = n,
                                 .latency = net->latency,
                                 .uplink_bps = net->uplink,
                                 .wire_bps = 100 * MBIT}};
    for (size_t a = 0; a < NODES; a++)
        for (size_t b = 0; b < NODES; b++)
            far[a][b] = a == b ? 0 : GMC_S(1000);
    while (*wires != '\0') {
        char *end;
        size_t a = strtoul(wires, &end, 10), b = strtoul(end + 1, &end, 10);
        far[a][b] = far[b][a] = GMC_US(strtoul(end + 1, &end, 10));
        wires = end + strspn(end, " ");
    }
    for (size_t v = 0; v < NODES; v++)
        for (size_t a = 0; a < NODES; a++)
            for (size_t b = 0; b < NODES; b++)
                if (far[a][v] + far[v][b] < far[a][b])
                    far[a][b] = far[a][v] + far[v][b];
    for (size_t a = 0; a < n; a++) {
        net->uplink[a] = 100 * MBIT;
        for (size_t b = 0; b < n; b++)
            net->latency[a * n + b] = far[a][b];
    }
}

static struct gmc_tree_shared shared_by(const struct net *net, const int32_t *parent,
                                        uint32_t stripes)
{
    struct gmc_tree_shared shared;
    assert_int_equal(gmc_tree_ways(&net->view, parent, stripes, &shared), GMC_OK);
    return shared;
}

static void assert_none(const struct net *net, const int32_t *parent, uint32_t stripes)
{
    struct gmc_tree_shared shared = shared_by(net, parent, stripes);
    assert_int_equal(shared.rate_bps, UINT64_MAX);
    assert_int_equal(shared.to, -1);
}

#define LINE "0-1:10000 1-2:10000 2-3:10000 3-4:10000"

static void test_along_a_line_each_wire_carries_one(void **state)
{
    const int32_t chain[] = {-1, 0, 1, 2, 3};
    struct net net;

    (void)state;
    net_init(&net, 5, LINE);
    assert_none(&net, chain, 1);
}

/* 0 - 1 - 2 - 3 - 4, in the order 0, 3, 2, 1, 4: 3 to 2 to 1 goes back, and 1 to 4 once more over
 * what 0 to 3 went, from before 1 to behind 3. */
static void test_wires_on_the_way_of_several(void **state)
{
    const int32_t jumps[] = {-1, 2, 3, 0, 1};
    struct net net;

    (void)state;
    net_init(&net, 5, LINE);
    net.uplink[1] = 1000 * MBIT; /* that of who begins there says nothing */
    struct gmc_tree_shared shared = shared_by(&net, jumps, 1);
    assert_int_equal(shared.rate_bps, 50 * MBIT);
    assert_in_range(shared.to, 2, 3);
    net.view.wire_bps = 30 * MBIT;
    assert_int_equal(shared_by(&net, jumps, 1).rate_bps, 15 * MBIT);
}

/* Two trees, each with half of the object. */
static void test_each_tree_carries_its_part(void **state)
{
    const int32_t trees[] = {-1, 2, 3, 0, 1, -1, 0, 1, 2, 3};
    struct net net;

    (void)state;
    net_init(&net, 5, LINE);
    /* Three links of half of it go from 1 to 2: 0 to 3, 1 to 4, 1 to 2. */
    assert_int_equal(shared_by(&net, trees, 2).rate_bps, 2 * 100 * MBIT / 3);
}

/* 0 has three wires, of which its links to 1, 2 and 3 use one. */
static void test_a_gateway_of_several_wires(void **state)
{
    const int32_t beyond[] = {-1, 0, 0, 0, 0, 0}, along[] = {-1, 0, 1, 2, 0, 0};
    struct net net;

    (void)state;
    net_init(&net, 6, "0-1:10000 1-2:10000 2-3:10000 0-4:10000 0-5:10000");
    net.uplink[0] = 300 * MBIT;
    struct gmc_tree_shared shared = shared_by(&net, beyond, 1);
    assert_int_equal(shared.rate_bps, 300 * MBIT / 3 / 3);
    assert_int_equal(shared.to, 1);
    assert_none(&net, along, 1);
}

/* All meet at an exchange (6) where a gateway (1) stands, a few metres away: their ways lead past
 * it, and share no more than the uplinks that they have anyway. */
static void test_an_exchange_is_no_wire(void **state)
{
    const int32_t chain[] = {-1, 0, 1, 2, 3, 4}, fan[] = {-1, 0, 1, 1, 1, 1},
                  twice[] = {-1, 0, 1, 2, 3, 4, -1, 2, 3, 4, 5, 0};
    struct net net;

    (void)state;
    net_init(&net, 6, "0-6:5000 1-6:10 2-6:6000 3-6:7000 4-6:8000 5-6:9000");
    assert_none(&net, chain, 1);
    assert_none(&net, fan, 1);
    assert_int_equal(shared_by(&net, twice, 2).rate_bps, 100 * MBIT); /* as its uplink lets 2 */
}

/* Two of them there: which comes first is not known, and between them is no wire. */
static void test_two_at_one_exchange(void **state)
{
    const int32_t chain[] = {-1, 0, 1, 2, 3, 4};
    struct net net;

    (void)state;
    net_init(&net, 6, "0-6:5000 1-6:10 2-6:10 3-6:7000 4-6:8000 5-6:9000");
    assert_none(&net, chain, 1);
}

/* Behind access wires of a few milliseconds nobody stands on the way of anybody. */
static void test_own_access_wires(void **state)
{
    const int32_t chain[] = {-1, 0, 1, 2, 3, 4}, fan[] = {-1, 0, 0, 0, 0, 0};
    struct net net;

    (void)state;
    net_init(&net, 6, "0-6:5000 1-6:500 2-6:6000 3-6:7000 4-6:8000 5-6:9000");
    assert_none(&net, chain, 1);
    assert_none(&net, fan, 1);
}

/* A ring of four: both ways to the other side are as long, and one of them is taken. */
static void test_of_equal_ways_one_counts(void **state)
{
    const int32_t across[] = {-1, 0, 0, 2};
    struct net net;

    (void)state;
    net_init(&net, 4, "0-1:10000 1-2:10000 2-3:10000 3-0:10000");
    net.uplink[0] = 200 * MBIT;
    /* 0 to 1, and 0 to 2 past it: half of the wire, which is half of the uplink. */
    struct gmc_tree_shared shared = shared_by(&net, across, 1);
    assert_int_equal(shared.rate_bps, 50 * MBIT);
    assert_int_equal(shared.to, 1);
}

static void test_silence_shares_nothing(void **state)
{
    const int32_t jumps[] = {-1, 2, 3, 0, 1};
    struct net net;

    (void)state;
    net_init(&net, 5, LINE);
    for (size_t i = 0; i < 25; i++)
        if (i % 6 != 0)
            net.latency[i] = GMC_LATENCY_UNKNOWN;
    assert_none(&net, jumps, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_along_a_line_each_wire_carries_one),
        cmocka_unit_test(test_wires_on_the_way_of_several),
        cmocka_unit_test(test_each_tree_carries_its_part),
        cmocka_unit_test(test_a_gateway_of_several_wires),
        cmocka_unit_test(test_an_exchange_is_no_wire),
        cmocka_unit_test(test_two_at_one_exchange),
        cmocka_unit_test(test_own_access_wires),
        cmocka_unit_test(test_of_equal_ways_one_counts),
        cmocka_unit_test(test_silence_shares_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
