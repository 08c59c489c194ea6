/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests interconnect/flows: what all send to all at once is what one after the other sends to each;
 * what comes to a switch leaves it. */
#include <math.h>

#include "interconnect/flows/spread.h"
#include "interconnect/flows/walk.h"
#include "interconnect/ldr/build.h"
#include "interconnect/ldr/ways.h"
#include "tests/lib/unit.h"
#include "tests/unit/ic_table.h"

#define NODES 150u /* three blocks of destinations */

struct net {
    struct ic_ldr_built built;
    struct ic_ways ways;
    struct ic_arcs arcs;
};

static char error[IC_ERROR_MAX];

static void net_init(struct net *net)
{
    const struct ic_ldr_spec spec = {
        .topology = IC_LDR_GENERATED, .nodes = NODES, .degree = 5, .samples = 1, .seed = 1};
    assert_ok(ic_ldr_build(&net->built, &spec, error));
    const struct ic_network *network = &net->built.network;
    assert_ok(ic_ways_init(&net->ways, network));
    net->arcs = (struct ic_arcs){.vertices = network->switches,
                                 .first = network->first,
                                 .to = network->to,
                                 .input = net->ways.back,
                                 .first_input = network->first,
                                 .from = network->to,
                                 .output = net->ways.back};
}

static void net_fini(struct net *net)
{
    ic_ways_fini(&net->ways);
    ic_ldr_built_fini(&net->built);
}

static void spread(struct net *net, struct ic_flow_sums *sums)
{
    static double each[NODES], local[NODES];
    const struct ic_flow_senders senders = {each, local};
    struct ic_flow_spread spread;
    for (uint32_t at = 0; at < NODES; at++)
        each[at] = 1;
    assert_ok(ic_flow_spread_init(&spread, sums));
    for (uint32_t block = 0; block < net->ways.blocks; block++) {
        const struct ic_ways_layers *layers;
        assert_ok(ic_ways_find(&net->ways, block, &layers, error));
        ic_flow_spread_add(&spread, layers->words, layers->depth, layers->all, &senders);
    }
    ic_flow_spread_fini(&spread);
}

static void walk(struct net *net, struct ic_flow_sums *sums)
{
    struct ic_flow_walk walk;
    assert_ok(ic_flow_walk_init(&walk, sums));
    for (uint32_t block = 0; block < net->ways.blocks; block++) {
        const struct ic_ways_layers *layers;
        assert_ok(ic_ways_find(&net->ways, block, &layers, error));
        for (uint32_t i = net->ways.first[block]; i < net->ways.first[block + 1]; i++)
            for (uint32_t from = 0; from < NODES; from++)
                if (from != net->ways.destinations[i])
                    ic_flow_walk_add(&walk, layers->words, from, i - net->ways.first[block]);
    }
    ic_flow_walk_fini(&walk);
}

static void assert_same(const struct ic_flow_sums *a, const struct ic_flow_sums *b)
{
    for (uint32_t at = 0; at < NODES; at++) {
        uint32_t in = ic_arcs_in(a->arcs, at), out = ic_arcs_out(a->arcs, at);
        for (uint32_t i = 0; i <= in; i++)
            for (uint32_t j = 0; j <= out; j++) {
                double flow = ic_flow_sums_pairs(a, at, i)[j];
                assert_true(flow == 0 || *ic_flow_sums_used(a, at, i));
                assert_near(flow, ic_flow_sums_pairs(b, at, i)[j], 1e-9);
            }
        for (uint32_t count = 1; count <= (a->is_fixed ? 1 : out); count++)
            for (uint32_t j = 0; j < out; j++)
                assert_near(ic_flow_sums_choices(a, at, count)[j],
                            ic_flow_sums_choices(b, at, count)[j], 1e-9);
    }
    assert_int_equal(a->most, b->most);
    assert_near(a->total, b->total, 1e-9);
    assert_near(a->hop_sum, b->hop_sum, 1e-9);
}

static void all_at_once_is_one_after_the_other(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    for (int is_fixed = 0; is_fixed < 2; is_fixed++) {
        struct ic_flow_sums at_once, single;
        assert_ok(ic_flow_sums_init(&at_once, &net.arcs, is_fixed, false));
        assert_ok(ic_flow_sums_init(&single, &net.arcs, is_fixed, false));
        spread(&net, &at_once);
        walk(&net, &single);
        assert_same(&at_once, &single);
        assert_same(&single, &at_once);
        assert_near(single.total, NODES * (NODES - 1.0), 1e-9);
        ic_flow_sums_fini(&at_once);
        ic_flow_sums_fini(&single);
    }
    net_fini(&net);
}

/* Each node gets NODES - 1, and brings as much into the network; what a choice is made for is what
 * goes to the output. */
static void what_comes_goes(void **state)
{
    struct net net;
    struct ic_flow_sums sums;
    (void)state;
    net_init(&net);
    assert_ok(ic_flow_sums_init(&sums, &net.arcs, false, false));
    spread(&net, &sums);
    for (uint32_t at = 0; at < NODES; at++) {
        uint32_t in = ic_arcs_in(&net.arcs, at), out = ic_arcs_out(&net.arcs, at);
        double ended = 0, begun = 0;
        for (uint32_t i = 0; i <= in; i++)
            ended += ic_flow_sums_pairs(&sums, at, i)[out];
        for (uint32_t j = 0; j < out; j++) {
            double by_input = 0, by_choice = 0;
            begun += ic_flow_sums_pairs(&sums, at, in)[j];
            for (uint32_t i = 0; i <= in; i++)
                by_input += ic_flow_sums_pairs(&sums, at, i)[j];
            for (uint32_t count = 1; count <= out; count++)
                by_choice += ic_flow_sums_choices(&sums, at, count)[j];
            assert_near(by_input, by_choice, 1e-9);
        }
        assert_near(ended, NODES - 1.0, 1e-9);
        assert_near(begun, NODES - 1.0, 1e-9);
    }
    ic_flow_sums_fini(&sums);
    net_fini(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_at_once_is_one_after_the_other),
        cmocka_unit_test(what_comes_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
