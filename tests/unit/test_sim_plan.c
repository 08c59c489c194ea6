/* SPDX-License-Identifier: BSD-2-Clause */
/* Scenario files: what they mean, and what is said of wrong ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim-wan/run/plan.h"
#include "tests/lib/unit.h"

static gmc_status read_text(const char *text, struct sim_plan *plan, char *error)
{
    char path[] = "/tmp/plan-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    gmc_status status = sim_plan_read(plan, path, NULL, 0, error);
    unlink(path);
    /* Without the name of the file. */
    if (strncmp(error, path, strlen(path)) == 0)
        memmove(error, error + strlen(path), strlen(error + strlen(path)) + 1);
    return status;
}

#define NET                                                                                        \
    "nodes = {s, a, b} routers = {r} link { between = {s, r} rate = 8Mbit }"                       \
    "link { between = {r, a} rate = 4Mbit loss = 50% } link { between = {r, b} rate = 4Mbit }"

static void test_read(void **state)
{
    struct sim_plan plan;
    char error[SIM_CONF_ERROR_MAX] = "";
    (void)state;
    if (read_text(NET
                  "title = t seeds = 3..5 warm-up = yes limit = 10s clocks = exact cache = 2MiB\n"
                  "gateway \"*\" { disk-rate = 1Gbit clock-drift = -20ppm }\n"
                  "uplinks = wires gateway b { uplink = 3Mbit }\n"
                  "gateway a { disk-rate = 2Gbit cpu-datagram = 3us cpu-rate = 8Gbit }\n"
                  "transfer one { from = s size = 1MB tree = flat rate = 1Mbit }\n"
                  "transfer two { from = a to = {b} size = 5 after = one at = 2s background = yes "
                  "}\n"
                  "fault { what = wire-down between = {a, r} one-way = yes at = 1s for = 2s }\n"
                  "fault { what = wire between = {r, b} at = 1s rate = 1Mbit queue = 3packets }\n"
                  "fault { what = disk-full node = a at = 2s }\n"
                  "fault { what = kill node = b at = 3s }\n"
                  "traffic x { from = r to = s rate = 1Mbit kind = pareto on = 1s off = 2s at = 1s "
                  "for = 3s }\n"
                  "channel alarms { from = s every = 10ms for = 95ms at = 2s }\n"
                  "channel news { from = a to = {s} rate = 8Mbit size = 2000 order = latest }\n",
                  &plan, error) != GMC_OK)
        fail_msg("%s", error);
    assert_string_equal(plan.title, "t");
    assert_true(plan.seed_first == 3 && plan.seed_last == 5 && plan.warm_up);
    assert_true(plan.limit == GMC_S(10) && plan.world.exact_clocks);
    assert_int_equal(plan.world.cache_bytes, 2 << 20);
    assert_int_equal(plan.hosts[0].disk.rate_bps, 1000000000);
    assert_int_equal(plan.hosts[0].clock_drift_ppb, -20000);
    assert_int_equal(plan.hosts[1].disk.rate_bps, 2000000000);
    assert_int_equal(plan.hosts[1].clock_drift_ppb, -20000);
    assert_int_equal(plan.hosts[1].cpu.per_datagram, 3000);
    assert_int_equal(plan.hosts[1].cpu.per_byte_ps, 1000);
    assert_true(plan.hosts[1].uplink_bps == 4000000 && plan.hosts[1].downlink_bps == 4000000);
    assert_true(plan.hosts[2].uplink_bps == 3000000 && plan.hosts[2].downlink_bps == 4000000);
    assert_int_equal(plan.transfer_count, 2);
    const struct sim_plan_transfer *transfer = &plan.transfers[0];
    assert_int_equal(transfer->target_count, 2);
    assert_true(transfer->targets[0] == 1 && transfer->targets[1] == 2);
    assert_true(transfer->shape == GMC_TREE_FLAT && transfer->rate_bps == 1000000);
    transfer = &plan.transfers[1];
    assert_true(transfer->source == 1 && transfer->target_count == 1 && transfer->targets[0] == 2);
    assert_true(transfer->after == 0 && transfer->at == GMC_S(2));
    assert_true(transfer->shape == GMC_TREE_BULK && transfer->background);
    assert_true(!plan.transfers[0].background);
    assert_int_equal(plan.fault_count, 4);
    assert_true(plan.faults[0].wire == 1 && plan.faults[0].ways == SIM_FAULT_BACK);
    assert_int_equal(plan.faults[1].lanes[0].rate_bps, 1000000);
    assert_int_equal(plan.faults[1].lanes[1].queue_packets, 3);
    assert_true(plan.faults[1].duration == GMC_TIME_NEVER);
    assert_int_equal(plan.faults[2].disk.capacity_bytes, 1);
    assert_int_equal(plan.faults[2].disk.rate_bps, 2000000000);
    assert_int_equal(plan.traffic_count, 1);
    assert_string_equal(plan.traffic[0].name, "x");
    assert_true(plan.traffic[0].config.stop == GMC_S(4));
    assert_int_equal(plan.traffic[0].config.pareto_shape_milli, 1500);
    assert_int_equal(plan.channel_count, 2);
    const struct sim_plan_channel *channel = &plan.channels[0];
    assert_string_equal(channel->name, "alarms");
    assert_true(channel->source == 0 && channel->target_count == 2 && channel->targets[1] == 2);
    assert_true(channel->order == GMC_MESSAGES_ORDERED && channel->bytes == 1024);
    assert_true(channel->every == GMC_MS(10) && channel->at == GMC_S(2) && channel->count == 10);
    channel = &plan.channels[1];
    assert_true(channel->source == 1 && channel->target_count == 1 && channel->targets[0] == 0);
    assert_true(channel->order == GMC_MESSAGES_LATEST && channel->bytes == 2000);
    assert_true(channel->every == GMC_MS(2) && channel->at == 0 && channel->count == 0);
    sim_plan_fini(&plan);
}

/* A family, with a wire over what its links have. */
static void test_family(void **state)
{
    struct sim_plan plan;
    char error[SIM_CONF_ERROR_MAX] = "";
    (void)state;
    if (read_text("wire w { rate = 10Mbit loss = 1% queue = 50ms }"
                  "topology { family = \"star:4,delay=3ms\" wire = w }"
                  "gateways = {n1, n2} transfer t { from = n1 size = 1 }",
                  &plan, error) != GMC_OK)
        fail_msg("%s", error);
    assert_true(plan.topo.node_count == 5 && plan.topo.link_count == 4);
    const struct sim_wire_config *wire = &plan.topo.links[3].b_to_a;
    assert_true(wire->rate_bps == 10000000 && wire->loss_ppm == 10000);
    assert_true(wire->delay == GMC_MS(3) && wire->queue_bytes == 62500);
    assert_true(!plan.topo.nodes[0].has_gateway && plan.topo.nodes[2].has_gateway);
    assert_int_equal(plan.transfers[0].target_count, 1);
    sim_plan_fini(&plan);
}

static void test_errors(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", ": there is no topology; expected nodes and links, or a section topology"},
        {NET "topology { file = x }", ":1: nodes and links stand beside a topology"},
        {"topology { }", ":1: expected a file, or a family such as \"star:7\""},
        {"topology { file = nowhere }", ":1: /tmp/nowhere"},
        {"topology { family = oak }", ":1: no family is called so: 'oak'; expected one such as"},
        {"topology { family = \"star:x\" }", ":1: star:x"},
        {"topology { family = \"star:3\" wire = w }", ":1: no wire is called 'w'"},
        {NET "seeds = 5..3", ":1: '5..3' is not right for seeds: expected a number or 1..1000"},
        {NET "gateways = {s, x}", ":1: no node is called 'x'; there are 's' and 3 others"},
        {NET "gateway x { }", ":1: no node is called 'x'"},
        {NET "gateway r { }", ":1: 'r' is a router; expected a node with a gateway"},
        {NET "channel c { every = 1s for = 1s }", ":1: from is missing: the node of the publisher"},
        {NET "channel c { from = r every = 1s for = 1s }", ":1: 'r' is a router"},
        {NET "channel c { from = s to = {a, a} every = 1s for = 1s }", ":1: 'a' is the source, or"},
        {NET "gateways = {s} channel c { from = s every = 1s for = 1s }",
         ":1: the channel has no target: no other node has a gateway"},
        {NET "channel \"a b\" { from = s every = 1s for = 1s }",
         ":1: 'a b' cannot be the name of a channel"},
        {NET "channel c { from = s for = 1s }", ":1: expected either every, the time from one"},
        {NET "channel c { from = s for = 1s\nevery = 1s\nrate = 1Mbit }",
         ":3: expected either every, the time from one"},
        {NET "channel c { from = s every = 1s }", ":1: for is missing: how long messages are"},
        {NET "channel c { from = s every = 1ns }", ":1: channel: '1ns' is not right for every"},
        {NET "channel c { from = s size = 2MB }", ":1: channel: '2MB' is not right for size"},
        {NET "channel c { from = s order = oldest }",
         ":1: channel: 'oldest' is not right for order: expected one of ordered, unordered"},
        {NET "channel c { from = s size = 10 rate = 81Mbit for = 1s }",
         ":1: the rate is more than a million messages of 10 bytes a second; expected at most "
         "80Mbit"},
        {NET "transfer t { size = 1 }", ":1: from is missing"},
        {NET "transfer t { from = s }", ":1: size is missing"},
        {NET "transfer t { from = r size = 1 }", ":1: 'r' is a router"},
        {NET "transfer t { from = s to = {s} size = 1 }",
         ":1: 's' is the source, or a target for the second time"},
        {NET "transfer t { from = s to = {a, a} size = 1 }", ":1: 'a' is the source, or a target"},
        {NET "gateways = {s} transfer t { from = s size = 1 }", ":1: the transfer has no target"},
        {NET "transfer t { from = s size = 1 tree = oak }",
         ":1: no tree is called 'oak'; there are: eco, flat,"},
        {NET "transfer t { from = s size = 1 after = u }", ":1: no transfer is called 'u'"},
        {NET "transfer t { from = s size = 1 after = t }", ":1: transfers wait for each other"},
        {NET "fault { at = 1s }", ":1: what is missing"},
        {NET "fault { what = kill }", ":1: node is missing"},
        {NET "fault { what = kill node = r }", ":1: 'r' is a router"},
        {NET "fault { what = kill node = a rate = 1Mbit }",
         ":1: rate means nothing for what = kill"},
        {NET "fault { what = wire-down between = {s, a} }", ":1: no link joins 's' and 'a'"},
        {NET "fault { what = wire-down }", ":1: expected between = {name, name}"},
        {NET "fault { what = break between = {s, s} }", ":1: expected two different nodes"},
        {NET
         "fault { what = kill node = a at = 1s for = 2s }\nfault { what = freeze node = a at = 2s "
         "for = 3s }",
         ":2: the fault overlaps with that of line 1, which changes the same"},
        {NET "fault { what = block-udp between = {s, a} }\n"
             "fault { what = block-udp between = {a, s} at = 2s }",
         ":2: the fault overlaps with that of line 1"},
        {NET "fault { what = break between = {s, b} for = 1s }",
         ":1: a connection breaks once: for means nothing for what = break"},
        {NET "fault { what = wire between = {s, r} at = 1s }",
         ":1: nothing changes: expected options of wires, such as loss = 5%"},
        {NET "fault { what = disk node = a }", ":1: nothing changes: expected options of disks"},
        {NET "transfer t { from = s\nto = { } size = 1 }", ":2: an empty list; expected names"},
        {NET "traffic t { from = s to = a rate = 1Mbit on = 1s off = 1s }",
         ":1: on is for kind = on-off or pareto"},
        {NET "traffic t { from = s to = a rate = 1Mbit shape = 2 }",
         ":1: shape is for kind = pareto"},
        {NET "traffic t { from = s to = a }", ":1: "},
        {NET "traffic t { from = s to = a kind = bbr rate = 1Mbit }", ":1: a TCP with a rate"},
        {NET "traffic t { from = s to = s rate = 1Mbit }", ":1: "},
        {NET "traffic t { to = s rate = 1Mbit }", ":1: from is missing: a node"},
        {NET "record { every = 0ms }", ":1: record: '0ms' is not right for every"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_plan plan;
        char error[SIM_CONF_ERROR_MAX] = "";
        if (read_text(cases[i].text, &plan, error) == GMC_OK ||
            strncmp(error, cases[i].words, strlen(cases[i].words)) != 0)
            fail_msg("'%s' gives: %s", cases[i].text, error);
        sim_plan_fini(&plan);
    }
}

/* What does not set the same at the same time. */
static void test_faults_beside(void **state)
{
    static const char *const cases[] = {
        NET "fault { what = block-udp between = {s, a} }\n"
            "fault { what = block-udp between = {s, b} }",
        NET "fault { what = wire between = {s, r} loss = 1% for = 2s }\n"
            "fault { what = wire between = {s, r} loss = 2% at = 2s }",
        NET "fault { what = kill node = a at = 1s for = 2s }\n"
            "fault { what = disk-stall node = a for = 2s }"};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_plan plan;
        char error[SIM_CONF_ERROR_MAX] = "";
        if (read_text(cases[i], &plan, error) != GMC_OK)
            fail_msg("'%s' gives: %s", cases[i], error);
        sim_plan_fini(&plan);
    }
}

static void test_seeds(void **state)
{
    uint64_t first, last;
    (void)state;
    assert_true(sim_plan_seeds("7", &first, &last) && first == 7 && last == 7);
    assert_true(sim_plan_seeds("1..1000", &first, &last) && first == 1 && last == 1000);
    assert_false(sim_plan_seeds("", &first, &last));
    assert_false(sim_plan_seeds("1..", &first, &last));
    assert_false(sim_plan_seeds("..3", &first, &last));
    assert_false(sim_plan_seeds("3..2", &first, &last));
    assert_false(sim_plan_seeds("-1", &first, &last));
    assert_false(sim_plan_seeds("99999999999999999999999", &first, &last));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read), cmocka_unit_test(test_family),
                                       cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_faults_beside),
                                       cmocka_unit_test(test_seeds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
