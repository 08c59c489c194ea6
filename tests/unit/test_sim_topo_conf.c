/* SPDX-License-Identifier: BSD-2-Clause */
/* Topologies in our own format: what a file makes, and what is said of one that is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim-wan/topo/conf.h"
#include "tests/lib/unit.h"

static gmc_status read_text(const char *text, struct sim_topo *topo, char *error)
{
    static const char name[] = "/tmp/x.conf";
    size_t len = strlen(name);
    gmc_status status = sim_topo_conf_parse(name, text, topo, error);
    if (strncmp(error, name, len) == 0)
        memmove(error, error + len, strlen(error + len) + 1);
    return status;
}

static void test_build(void **state)
{
    struct sim_topo topo;
    char error[SIM_TOPO_ERROR_MAX] = "";
    (void)state;
    assert_int_equal(read_text("nodes = {s, a} routers = {r}\n"
                               "node b { longitude = 13.4 latitude = -52.5 }\n"
                               "node a { gateway = no }\n"
                               "wire wan { rate = 100Mbit delay = 15ms queue = 50ms loss = 1% }\n"
                               "wire up { rate = 1Mbit queue = 3000 }\n"
                               "link { between = {s, r} wire = wan rate = 10Mbit }\n"
                               "link { between = {r, a} wire = wan back = up delay = 2ms }\n"
                               "link { between = {r, b} }\n",
                               &topo, error),
                     GMC_OK);
    assert_int_equal(topo.node_count, 4);
    assert_int_equal(topo.link_count, 3);
    assert_true(topo.nodes[0].has_gateway && !topo.nodes[1].has_gateway);
    assert_true(!topo.nodes[2].has_gateway && topo.nodes[3].has_gateway);
    assert_true(topo.nodes[3].is_placed && topo.nodes[3].latitude == -52.5);
    const struct sim_topo_link *link = &topo.links[0];
    assert_int_equal(link->a_to_b.rate_bps, 10000000);
    assert_int_equal(link->a_to_b.queue_bytes, 62500); /* 50 ms at the link's own rate */
    assert_int_equal(link->b_to_a.queue_bytes, 62500);
    link = &topo.links[1];
    assert_int_equal(link->a_to_b.rate_bps, 100000000);
    assert_int_equal(link->a_to_b.loss_ppm, 10000);
    assert_int_equal(link->a_to_b.delay, GMC_MS(2));
    assert_int_equal(link->b_to_a.rate_bps, 1000000);
    assert_int_equal(link->b_to_a.queue_bytes, 3000);
    assert_int_equal(link->b_to_a.loss_ppm, 0);
    assert_int_equal(link->b_to_a.delay, GMC_MS(2));
    assert_int_equal(topo.links[2].a_to_b.rate_bps, 0);
    sim_topo_fini(&topo);
}

/* What a wire can do, beside what the first test sets. */
static void test_wire(void **state)
{
    char trace[] = "/tmp/trace-XXXXXX", text[512], error[SIM_TOPO_ERROR_MAX] = "";
    int fd = mkstemp(trace);
    struct sim_topo topo;
    (void)state;
    assert_true(fd >= 0 && write(fd, "0 1 0 0\n", 8) == 8);
    close(fd);
    snprintf(
        text, sizeof(text),
        "nodes = {a, b}\n"
        "wire w { rate = 8Mbit jitter = 1ms duplicate = 1ppm reorder = 2%% reorder-by = 3ms\n"
        " burst-enter = 1%% burst-leave = 30%% loss-trace = \"%s\" queue = 10packets mtu = 9000\n"
        " codel = yes codel-interval = 50ms codel-ecn = yes mark-above = 1ms ecn = bleached }\n"
        "link { between = {a, b} wire = w burst-loss = 50%% }\n",
        strrchr(trace, '/') + 1);
    assert_int_equal(read_text(text, &topo, error), GMC_OK);
    const struct sim_wire_config *wire = &topo.links[0].b_to_a;
    assert_int_equal(wire->jitter, GMC_MS(1));
    assert_int_equal(wire->duplicate_ppm, 1);
    assert_int_equal(wire->reorder_ppm, 20000);
    assert_int_equal(wire->reorder_by, GMC_MS(3));
    assert_int_equal(wire->gilbert.to_bad_ppm, 10000);
    assert_int_equal(wire->gilbert.to_good_ppm, 300000);
    assert_int_equal(wire->gilbert.bad_loss_ppm, 500000);
    assert_int_equal(wire->queue_packets, 10);
    assert_int_equal(wire->queue_bytes, 0);
    assert_int_equal(wire->mtu, 9000);
    assert_true(wire->codel.target == SIM_CODEL_TARGET && wire->codel.interval == GMC_MS(50));
    assert_true(wire->codel.ecn);
    assert_int_equal(wire->mark_bytes, 1000);
    assert_int_equal(wire->ecn_path, SIM_ECN_BLEACHED);
    assert_int_equal(sim_loss_trace_count(wire->loss_trace), 4);
    assert_ptr_equal(wire->loss_trace, topo.links[0].a_to_b.loss_trace);
    sim_topo_fini(&topo);
    unlink(trace);
}

static void test_errors(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", ": 0 nodes and 0 links"},
        {"nodes = {a, b}\n\nlink { between = {a, c} }",
         ":3: no node is called 'c'; list it in nodes or routers"},
        {"nodes = {a, b} link { between = {a} }", ":1: a link joins two nodes: expected between"},
        {"nodes = {a, b} link { }", ":1: a link joins two nodes: expected between"},
        {"nodes = {a, b} link { between = {a, a} }", ":1: a link joins 'a' to itself"},
        {"nodes = {a, b} link { between = {a, b} wire = x }", ":1: no wire is called 'x'"},
        {"nodes = {a,\na,\nb}", ":2: two nodes are called 'a'"},
        {"nodes = {a, b}\nrouters = {b}", ":2: two nodes are called 'b'"},
        {"nodes = {a,\na/b}", ":2: 'a/b' is no host's name"},
        {"nodes = {a}\nnode b { }\nnode b { }", ":3: found duplicate title 'b'"},
        {"nodes = {a,\nb}", ":2: no path joins 'b' to 'a'"},
        {"nodes = {a}\nnode b { }\n", ":2: no path joins 'b' to 'a'"},
        {"nodes = {a, b} link { between = {a, b} delay = -1ms }",
         ":1: link: '-1ms' is not right for delay: expected a time"},
        {"nodes = {a, b} link { between = {a, b} rate = 1000Tbit }",
         ":1: link: '1000Tbit' is not right for rate: expected a rate such as 100Mbit or 2.5Gbit, "
         "from 0 to 100Tbit"},
        {"nodes = {a, b} link { between = {a, b} queue = 5ms }",
         ":1: queue given as a time needs a rate"},
        {"nodes = {a, b} link { between = {a, b} rate = 100Tbit queue = 3000s }",
         ":1: the queue would hold more than 1 TiB"},
        {"nodes = {a, b} link { between = {a, b} reorder = 1% }",
         ":1: packets are reordered by no time: reorder-by is missing"},
        {"nodes = {a, b} link { between = {a, b} burst-enter = 1% }",
         ":1: bursts of losses never end: burst-leave is missing"},
        {"nodes = {a, b} link { between = {a, b} codel = yes codel-interval = 1ms }",
         ":1: CoDel's interval has to be longer than its target"},
        {"nodes = {a, b} link { between = {a, b} loss-trace = none }",
         ":1: /tmp/none: No such file or directory"},
        {"nodes = {a, b} link { between = {a, b} burst-leave = 1% }",
         ":1: burst-leave does nothing alone: burst-enter is missing"},
        {"nodes = {a, b} wire w { burst-loss = 50% } link { between = {a, b} wire = w loss = 1% }",
         ":1: burst-loss does nothing alone: burst-enter is missing"},
        {"nodes = {a, b} link { between = {a, b} reorder-by = 1ms }",
         ":1: reorder-by does nothing alone: reorder is missing"},
        {"nodes = {a, b} link { between = {a, b} codel-ecn = yes }",
         ":1: codel-ecn does nothing alone: codel is missing"},
        {"nodes = {paris,\nParis} link { between = {paris, Paris} }",
         ":2: 'paris' and 'Paris' are one name: letters may be large or small"},
        {"nodes = {a, b} link { between = {a, b} rate = 1Mbit mark-above = 20packets }",
         ":1: mark-above counts bytes: expected a size such as 30000"},
        {"node a { longitude = 3 }", ":1: node 'a' has one coordinate"},
        {"node a { longitude = 3 latitude = 91 }", ":1: expected -90 to 90 degrees"},
        {"nodes = {a, b}\nlink { between = {a, b} }\nlink { between = {b, a} }",
         ":3: two links join 'b' and 'a'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_topo topo;
        char error[SIM_TOPO_ERROR_MAX] = "";
        assert_int_equal(read_text(cases[i].text, &topo, error), GMC_ERR_INVALID);
        assert_int_equal(topo.node_count, 0);
        if (strncmp(error, cases[i].words, strlen(cases[i].words)) != 0)
            fail_msg("'%s' gives: %s", cases[i].text, error);
        sim_topo_fini(&topo);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_build), cmocka_unit_test(test_wire),
                                       cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
