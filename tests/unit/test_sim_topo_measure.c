/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said of topologies: measures, where nodes are drawn, and the text that reads back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim-wan/topo/layout.h"
#include "sim-wan/topo/measure.h"
#include "sim-wan/topo/read.h"
#include "sim-wan/topo/write.h"
#include "tests/lib/unit.h"

static void read_topo(const char *path, struct sim_topo *topo)
{
    char error[SIM_TOPO_ERROR_MAX];
    gmc_status status = sim_topo_read(path, topo, error);
    assert_string_equal(error, "");
    assert_int_equal(status, GMC_OK);
}

/* ---- measures ---- */
static void test_diameters(void **state)
{
    static const struct {
        const char *family;
        uint32_t hops;
        gmc_duration delay;
        bool is_exact;
    } cases[] = {
        {"line:1", 0, 0, true},
        {"line:5,delay=3ms", 4, GMC_MS(12), true},
        {"ring:7,delay=1ms", 3, GMC_MS(3), true},
        {"star:9,delay=2ms", 2, GMC_MS(4), true},
        {"mesh:4x3,delay=1ms", 5, GMC_MS(5), true},
        {"full:5,delay=1ms", 1, GMC_MS(1), true},
        /* Too large for all starting points; for trees two sweeps give it all the same. */
        {"line:9000,delay=1us", 8999, GMC_US(8999), false},
        {"tree:8191,delay=1us", 24, GMC_US(24), false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_topo topo;
        struct sim_topo_measures m;
        read_topo(cases[i].family, &topo);
        sim_topo_measure(&topo, &m);
        assert_int_equal(m.diameter_hops, cases[i].hops);
        assert_int_equal(m.diameter_delay, cases[i].delay);
        assert_int_equal(m.is_exact, cases[i].is_exact);
        sim_topo_fini(&topo);
    }
}

static void test_fast_ways_may_have_more_hops(void **state)
{
    struct sim_wire_config slow = {.rate_bps = 3000, .delay = GMC_MS(50)};
    struct sim_wire_config fast = {.rate_bps = 9000, .delay = GMC_MS(10)};
    struct sim_topo topo;
    struct sim_topo_measures m;
    (void)state;
    sim_topo_init(&topo);
    for (const char *name = "abcd"; *name != '\0'; name++)
        sim_topo_add_node(&topo, (char[]){*name, '\0'});
    sim_topo_add_link(&topo, 0, 1, &slow, &slow);
    sim_topo_add_link(&topo, 0, 2, &fast, &fast);
    sim_topo_add_link(&topo, 2, 1, &fast, &slow);
    sim_topo_add_link(&topo, 1, 3, &fast, &fast);
    topo.nodes[3].has_gateway = false;
    sim_topo_measure(&topo, &m);
    assert_int_equal(m.gateways, 3);
    assert_int_equal(m.diameter_hops, 2);
    assert_int_equal(m.diameter_delay, GMC_MS(60)); /* from d over b to a: back is not so fast */
    assert_int_equal(m.degree.least, 1);
    assert_int_equal(m.degree.greatest, 3);
    assert_int_equal(m.rate_bps.least, 3000);
    assert_int_equal(m.rate_bps.median, 9000);
    assert_int_equal(m.delay.greatest, GMC_MS(50));
    sim_topo_fini(&topo);
}

/* ---- where nodes are drawn ---- */
static void test_rings(void **state)
{
    struct sim_topo topo;
    struct sim_spot spots[15];
    (void)state;
    read_topo("tree:15", &topo);
    assert_false(sim_layout(&topo, spots));
    assert_float_equal(hypot(spots[0].x, spots[0].y), 0, 1e-9);
    for (size_t i = 1; i < 15; i++) {
        assert_float_equal(hypot(spots[i].x, spots[i].y), i < 3 ? 1 : i < 7 ? 2 : 3, 1e-9);
        for (size_t j = 0; j < i; j++)
            assert_true(hypot(spots[i].x - spots[j].x, spots[i].y - spots[j].y) > 0.9);
    }
    sim_topo_fini(&topo);
}

static void test_maps(void **state)
{
    /* Fiji, Samoa and a double, New Zealand: on both sides of the date line. */
    static const double places[][2] = {{178.4, -18.1},
                                       {-171.8, -13.8},
                                       {-171.8, -13.8},
                                       {174.8, -36.8}};
    struct sim_topo topo;
    struct sim_spot spots[4];
    (void)state;
    read_topo("line:4", &topo);
    for (size_t i = 0; i < 4; i++) {
        topo.nodes[i].is_placed = true;
        topo.nodes[i].longitude = places[i][0];
        topo.nodes[i].latitude = places[i][1];
    }
    assert_true(sim_layout(&topo, spots));
    assert_true(spots[3].x < spots[0].x && spots[0].x < spots[1].x);
    assert_true(spots[1].x - spots[3].x < 14);
    assert_float_equal(spots[3].y, -36.8, 1e-9);
    double apart = hypot(spots[1].x - spots[2].x, spots[1].y - spots[2].y);
    assert_true(apart > 0.1 && apart < 1);
    sim_topo_fini(&topo);
}

/* ---- text that reads back ---- */
static void assert_same_wire(const struct sim_wire_config *a, const struct sim_wire_config *b)
{
    assert_int_equal(a->rate_bps, b->rate_bps);
    assert_int_equal(a->delay, b->delay);
    assert_int_equal(a->jitter, b->jitter);
    assert_int_equal(a->loss_ppm, b->loss_ppm);
    assert_int_equal(a->gilbert.to_bad_ppm, b->gilbert.to_bad_ppm);
    assert_int_equal(a->gilbert.to_good_ppm, b->gilbert.to_good_ppm);
    assert_int_equal(a->gilbert.bad_loss_ppm, b->gilbert.bad_loss_ppm);
    assert_int_equal(a->duplicate_ppm, b->duplicate_ppm);
    assert_int_equal(a->reorder_ppm, b->reorder_ppm);
    assert_int_equal(a->reorder_by, b->reorder_by);
    assert_int_equal(a->queue_bytes, b->queue_bytes);
    assert_int_equal(a->queue_packets, b->queue_packets);
    assert_int_equal(a->codel.target, b->codel.target);
    assert_int_equal(a->codel.interval, b->codel.interval);
    assert_int_equal(a->codel.ecn, b->codel.ecn);
    assert_int_equal(a->mark_bytes, b->mark_bytes);
    assert_int_equal(a->ecn_path, b->ecn_path);
    assert_int_equal(a->mtu, b->mtu);
}

static void write_and_read(const struct sim_topo *topo, struct sim_topo *again)
{
    char path[] = "/tmp/gmc-topo-XXXXXX", named[sizeof(path) + 5];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(named, sizeof(named), "%s.conf", path);
    FILE *file = fopen(named, "w");
    unlink(path);
    assert_non_null(file);
    sim_topo_write_conf(topo, file);
    assert_int_equal(fclose(file), 0);
    read_topo(named, again);
    unlink(named);
}

static void test_conf_reads_back(void **state)
{
    const struct sim_wire_config plain = {.rate_bps = 100000000, .delay = GMC_MS(15)};
    const struct sim_wire_config full = {.rate_bps = 2500001,
                                         .delay = 1234567,
                                         .jitter = GMC_US(3),
                                         .loss_ppm = 10001,
                                         .gilbert = {100, 20000, 0, 500000},
                                         .duplicate_ppm = 7,
                                         .reorder_ppm = 8,
                                         .reorder_by = GMC_MS(2),
                                         .queue_packets = 10,
                                         .codel = {GMC_MS(5), GMC_MS(100), true},
                                         .mark_bytes = 30000,
                                         .ecn_path = SIM_ECN_BLEACHED,
                                         .mtu = 9000};
    const struct sim_wire_config unlimited = {.delay = 0};
    struct sim_topo topo, again;
    (void)state;
    sim_topo_init(&topo);
    for (const char *name = "abc"; *name != '\0'; name++)
        sim_topo_add_node(&topo, (char[]){*name, '.', 'x', '\0'});
    topo.nodes[1].has_gateway = false;
    topo.nodes[2].is_placed = true;
    topo.nodes[2].longitude = -171.76666;
    topo.nodes[2].latitude = 13.83333;
    sim_topo_add_link(&topo, 1, 0, &plain, &plain);
    sim_topo_add_link(&topo, 1, 2, &full, &unlimited);
    write_and_read(&topo, &again);
    assert_int_equal(again.node_count, 3);
    assert_int_equal(again.link_count, 2);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(again.nodes[i].name, topo.nodes[i].name);
        assert_int_equal(again.nodes[i].has_gateway, topo.nodes[i].has_gateway);
        assert_int_equal(again.nodes[i].is_placed, topo.nodes[i].is_placed);
    }
    assert_float_equal(again.nodes[2].longitude, -171.76666, 1e-9);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(again.links[i].a, topo.links[i].a);
        assert_int_equal(again.links[i].b, topo.links[i].b);
        assert_same_wire(&again.links[i].a_to_b, &topo.links[i].a_to_b);
        assert_same_wire(&again.links[i].b_to_a, &topo.links[i].b_to_a);
    }
    sim_topo_fini(&topo);
    sim_topo_fini(&again);
}

/* What stands beside a share of 0 does nothing, and would be refused alone. */
static void test_conf_of_idle_parts(void **state)
{
    const struct sim_wire_config idle = {.gilbert = {0, 20000, 0, 500000}, .reorder_by = GMC_MS(2)};
    struct sim_topo topo, again;
    (void)state;
    sim_topo_init(&topo);
    sim_topo_add_node(&topo, "a");
    sim_topo_add_node(&topo, "b");
    sim_topo_add_link(&topo, 0, 1, &idle, &idle);
    write_and_read(&topo, &again);
    assert_int_equal(again.link_count, 1);
    sim_topo_fini(&topo);
    sim_topo_fini(&again);
}

static void test_dot(void **state)
{
    struct sim_topo topo;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    (void)state;
    read_topo("line:2,rate=10Mbit,delay=2ms", &topo);
    topo.nodes[1].has_gateway = false;
    topo.nodes[0].is_placed = true;
    topo.nodes[0].longitude = 1.5;
    sim_topo_write_dot(&topo, out);
    fclose(out);
    assert_string_equal(text, "graph topology {\n    node [fontsize=10];\n"
                              "    \"n0\" [shape=ellipse, pos=\"30.00,0.00\"];\n"
                              "    \"n1\" [shape=point];\n"
                              "    \"n0\" -- \"n1\" [tooltip=\"10Mbit 2ms\"];\n}\n");
    free(text);
    sim_topo_fini(&topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diameters),
        cmocka_unit_test(test_fast_ways_may_have_more_hops),
        cmocka_unit_test(test_rings),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_conf_reads_back),
        cmocka_unit_test(test_conf_of_idle_parts),
        cmocka_unit_test(test_dot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
