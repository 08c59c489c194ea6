/* SPDX-License-Identifier: BSD-2-Clause */
/* A host's processor, clock and disk as a scenario sets them: when datagrams are heard, what a full
 * buffer loses, what a slow processor makes of a transfer, and that each host has its own. */
#include "tests/lib/unit.h"

#include "sim-wan/scenario.h"

static struct sim_world *world_of_two(const struct sim_wire_config *wire)
{
    struct sim_world *world = sim_world_new(&(struct sim_world_config){.seed = 9});
    sim_build_flat(world, 1, wire);
    return world;
}

/* Junk, which the gateway refuses, from host 0 to host 1. */
static void send_junk(struct sim_world *world, size_t len)
{
    static const uint8_t junk[1400] = {0xff};
    struct gmc_bytes piece = gmc_bytes(junk, len);
    sim_net_send_udp(&world->net, 0, 1, SIM_ECN_NOT_ECT, &piece, 1);
}

/* 1 ms and 1 us per byte: 100 bytes take 1.1 ms each, one after the other. */
static void test_datagrams_are_heard_one_after_the_other(void **state)
{
    (void)state;
    struct sim_world *world = world_of_two(&(struct sim_wire_config){.delay = GMC_MS(10)});
    struct sim_host *host = world->hosts[1];
    sim_host_set_cpu(host, &(struct sim_cpu_config){.per_datagram = GMC_MS(1),
                                                    .per_byte_ps = 1000000,
                                                    .socket_bytes = 350});
    sim_host_start(host);
    for (int i = 0; i < 5; i++)
        send_junk(world, 100);
    sim_world_run(world, GMC_MS(10));
    assert_int_equal(host->count.datagrams_in, 0);
    assert_int_equal(host->count.lost_in_socket, 2);
    sim_world_run(world, GMC_US(1099));
    assert_int_equal(host->count.datagrams_in, 0);
    sim_world_run(world, GMC_US(1));
    assert_int_equal(host->count.datagrams_in, 1);
    sim_world_run(world, GMC_US(2200));
    assert_int_equal(host->count.datagrams_in, 3);
    /* After a rest the next one finds the processor idle. */
    sim_world_run(world, GMC_MS(100));
    send_junk(world, 200);
    sim_world_run(world, GMC_US(11199));
    assert_int_equal(host->count.datagrams_in, 3);
    sim_world_run(world, GMC_US(1));
    assert_int_equal(host->count.datagrams_in, 4);
    assert_int_equal(host->count.datagrams_refused, 4);
    sim_world_free(world);
}

static void test_a_stopped_process_hears_later(void **state)
{
    (void)state;
    struct sim_world *world = world_of_two(&(struct sim_wire_config){.delay = GMC_MS(1)});
    struct sim_host *host = world->hosts[1];
    sim_host_set_cpu(host, &(struct sim_cpu_config){.per_datagram = GMC_MS(1)});
    sim_host_start(host);
    for (int i = 0; i < 4; i++)
        send_junk(world, 100);
    sim_world_run(world, GMC_MS(2));
    assert_int_equal(host->count.datagrams_in, 1);
    sim_host_freeze(host, true);
    sim_world_run(world, GMC_S(1));
    assert_int_equal(host->count.datagrams_in, 1);
    sim_host_freeze(host, false);
    sim_world_run(world, GMC_MS(2));
    assert_int_equal(host->count.datagrams_in, 3);
    sim_host_crash(host, SIM_CRASH_KILL);
    sim_world_run(world, GMC_S(1));
    assert_int_equal(host->count.datagrams_in, 3);
    sim_world_free(world);
}

/* How long so many bytes take from host 0 to host 1. */
static gmc_duration stage_to(struct sim_world *world, uint64_t bytes)
{
    struct sim_host *target = world->hosts[1];
    struct gmc_channel_key key;
    const char *error = NULL;
    sim_world_start(world);
    sim_world_run(world, GMC_S(2));
    struct sim_stage stage = {.object_seed = 1,
                              .bytes = bytes,
                              .targets = &target,
                              .target_count = 1};
    gmc_time began = sim_world_now(world);
    assert_int_equal(sim_stage(world->hosts[0], &stage, &key, &error), GMC_OK);
    while (!sim_has_ended(world->hosts[0], &key) && sim_world_now(world) < began + GMC_S(60))
        sim_world_run(world, GMC_MS(1));
    assert_true(sim_disk_has_delivered(&target->disk, &key));
    assert_int_equal(world->oracle.violations, 0);
    return sim_world_now(world) - began;
}

/* How long 4 MB take over a fast wire. */
static gmc_duration time_of_stage(const struct sim_cpu_config *cpu,
                                  const struct sim_disk_config *disk)
{
    struct sim_world *world = world_of_two(&(
        struct sim_wire_config){.rate_bps = 1000000000, .delay = GMC_MS(1), .queue_bytes = 500000});
    sim_host_set_cpu(world->hosts[1], cpu);
    sim_host_set_disk(world->hosts[1], disk);
    gmc_duration took = stage_to(world, 4000000);
    sim_world_free(world);
    return took;
}

static void test_a_slow_processor_bounds_a_transfer(void **state)
{
    (void)state;
    static const struct sim_disk_config disk = {0};
    gmc_duration fast = time_of_stage(&(struct sim_cpu_config){0}, &disk);
    /* About 2,900 datagrams of 1 ms. */
    gmc_duration slow = time_of_stage(&(struct sim_cpu_config){.per_datagram = GMC_MS(1)}, &disk);
    assert_true(fast < GMC_MS(500));
    assert_in_range(slow, GMC_MS(2800), GMC_MS(4500));
}

/* The first one wakes the host, what comes within the next 5 ms waits for their end. */
static void test_a_moderated_host_gathers(void **state)
{
    (void)state;
    struct sim_world *world =
        world_of_two(&(struct sim_wire_config){.rate_bps = 8000000, .delay = GMC_MS(1)});
    struct sim_host *host = world->hosts[1];
    sim_host_set_cpu(host, &(struct sim_cpu_config){.wake = GMC_MS(5)});
    sim_host_start(host);
    for (int i = 0; i < 3; i++)
        send_junk(world, 100); /* 128 us on the wire */
    sim_world_run(world, GMC_US(1128));
    assert_int_equal(host->count.datagrams_in, 1);
    sim_world_run(world, GMC_US(4999));
    assert_int_equal(host->count.datagrams_in, 1);
    sim_world_run(world, GMC_US(1));
    assert_int_equal(host->count.datagrams_in, 3);
    /* A stopped one does not wake. */
    sim_host_freeze(host, true);
    send_junk(world, 100);
    sim_world_run(world, GMC_S(1));
    assert_int_equal(host->count.datagrams_in, 3);
    sim_host_freeze(host, false);
    assert_int_equal(host->count.datagrams_in, 4);
    send_junk(world, 100);
    sim_world_run(world, GMC_US(1128));
    assert_int_equal(host->count.lost_while_down, 0);
    sim_host_crash(host, SIM_CRASH_KILL);
    assert_int_equal(host->count.lost_while_down, 1);
    sim_world_run(world, GMC_S(1));
    assert_int_equal(host->count.datagrams_in, 4);
    sim_world_free(world);
}

/* What it collects has to fit into the socket's buffer. */
static void test_a_moderated_host_has_a_bounded_buffer(void **state)
{
    (void)state;
    struct sim_world *world =
        world_of_two(&(struct sim_wire_config){.rate_bps = 8000000, .delay = GMC_MS(1)});
    struct sim_host *host = world->hosts[1];
    sim_host_set_cpu(host, &(struct sim_cpu_config){.wake = GMC_MS(5), .socket_bytes = 250});
    sim_host_start(host);
    for (int round = 1; round <= 2; round++) {
        uint64_t before = host->count.datagrams_in;
        for (int i = 0; i < 4; i++)
            send_junk(world, 100);
        sim_world_run(world, GMC_MS(20));
        assert_int_equal(host->count.datagrams_in - before, 3); /* the first one, then two */
        assert_int_equal(host->count.lost_in_socket, round);
    }
    sim_world_free(world);
}

/* Little is lost by it, of time or of the rate, and it is the same each time. */
static void test_a_moderated_host_receives(void **state)
{
    (void)state;
    static const struct sim_disk_config disk = {0};
    static const struct sim_cpu_config moderated = {.wake = GMC_MS(1)};
    gmc_duration fast = time_of_stage(&(struct sim_cpu_config){0}, &disk);
    gmc_duration took = time_of_stage(&moderated, &disk);
    assert_true(took < fast * 2);
    assert_int_equal(time_of_stage(&moderated, &disk), took);
}

static void test_a_slow_disk_bounds_a_transfer(void **state)
{
    (void)state;
    gmc_duration slow =
        time_of_stage(&(struct sim_cpu_config){0}, &(struct sim_disk_config){.rate_bps = 16000000});
    assert_in_range(slow, GMC_S(2), GMC_S(3));
}

static void test_clocks_are_what_is_set(void **state)
{
    (void)state;
    struct sim_world *world = world_of_two(&(struct sim_wire_config){.delay = GMC_MS(1)});
    struct sim_host *host = world->hosts[1];
    sim_host_set_clock(host, &(struct sim_clock){.offset = GMC_S(5), .drift_ppb = -20000});
    sim_world_start(world);
    sim_world_run(world, GMC_S(100));
    assert_int_equal(sim_host_now(host), GMC_S(105) - GMC_MS(2));
    sim_world_free(world);
}

/* Marks of a queue reach the source's congestion control, and a path that spoils them costs
 * nothing. */
static void test_marks_reach_the_core(void **state)
{
    (void)state;
    struct sim_wire_config wire = {.rate_bps = 100000000,
                                   .delay = GMC_MS(15),
                                   .queue_bytes = 625000,
                                   .mark_bytes = 60000};
    gmc_duration took[3];
    for (int path = SIM_ECN_KEPT; path <= SIM_ECN_FORCED; path++) {
        wire.ecn_path = (enum sim_ecn_path)path;
        struct sim_world *world = world_of_two(&wire);
        took[path] = stage_to(world, 20000000);
        const struct sim_lane_counters *lane = &sim_net_lane(&world->net, 0, 0)->count;
        if (path == SIM_ECN_KEPT)
            assert_true(lane->marked_packets > 10 && lane->dropped_packets[SIM_DROP_QUEUE] == 0);
        sim_world_free(world);
    }
    assert_true(took[SIM_ECN_BLEACHED] < took[SIM_ECN_KEPT] * 11 / 10);
    assert_true(took[SIM_ECN_FORCED] < took[SIM_ECN_KEPT] * 11 / 10);
}

/* Hosts 0 and 1 stage to 3 over the wire between 2 and 3; 0 in the background or not. How long the
 * transfer from 1 takes, which begins 5 s later, while that from 0 runs. */
static gmc_duration time_beside(bool background, uint64_t seed)
{
    struct sim_wire_config wide = {.rate_bps = 1000000000, .delay = GMC_MS(1)};
    struct sim_wire_config narrow = {.rate_bps = 50000000,
                                     .delay = GMC_MS(15),
                                     .queue_bytes = 312500};
    struct sim_world *world = sim_world_new(&(struct sim_world_config){.seed = seed});
    struct sim_host *hosts[4];
    struct gmc_channel_key keys[2];
    const char *error = NULL;
    for (int i = 0; i < 4; i++) {
        char name[32];
        sim_host_name(name, sizeof(name), (uint32_t)i);
        hosts[i] = sim_world_add(world, name);
    }
    sim_world_join(world, hosts[0], hosts[2], &wide);
    sim_world_join(world, hosts[1], hosts[2], &wide);
    sim_world_join(world, hosts[2], hosts[3], &narrow);
    sim_world_start(world);
    sim_world_run(world, GMC_S(2));
    struct sim_stage stage = {.object_seed = 1,
                              .bytes = 200000000,
                              .targets = &hosts[3],
                              .target_count = 1,
                              .background = background};
    assert_int_equal(sim_stage(hosts[0], &stage, &keys[0], &error), GMC_OK);
    sim_world_run(world, GMC_S(5));
    stage = (struct sim_stage){.object_seed = 2,
                               .bytes = 50000000,
                               .targets = &hosts[3],
                               .target_count = 1};
    assert_int_equal(sim_stage(hosts[1], &stage, &keys[1], &error), GMC_OK);
    gmc_time began = sim_world_now(world);
    while (!sim_has_ended(hosts[1], &keys[1]) && sim_world_now(world) < began + GMC_S(60))
        sim_world_run(world, GMC_MS(10));
    assert_true(sim_disk_has_delivered(&hosts[3]->disk, &keys[1]));
    gmc_duration took = sim_world_now(world) - began;
    struct gmc_channel_info info;
    assert_true(sim_channel(hosts[0], &keys[0], &info));
    assert_int_equal(info.background, background);
    assert_int_equal(info.state, GMC_CHANNEL_RUNNING);
    sim_world_run(world, GMC_S(60));
    assert_true(sim_disk_has_delivered(&hosts[3]->disk, &keys[0]));
    sim_world_free(world);
    return took;
}

/* Alone it takes 8.4 s. By chance it is half a second more or less. */
static void test_transfers_in_the_background_yield(void **state)
{
    (void)state;
    gmc_duration sum = 0;
    for (uint64_t seed = 1; seed <= 4; seed++)
        sum += time_beside(true, seed);
    assert_true(sum / 4 < GMC_MS(9800));
    assert_true(time_beside(false, 4) > GMC_S(12));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_datagrams_are_heard_one_after_the_other),
        cmocka_unit_test(test_a_stopped_process_hears_later),
        cmocka_unit_test(test_a_slow_processor_bounds_a_transfer),
        cmocka_unit_test(test_a_moderated_host_gathers),
        cmocka_unit_test(test_a_moderated_host_has_a_bounded_buffer),
        cmocka_unit_test(test_a_moderated_host_receives),
        cmocka_unit_test(test_a_slow_disk_bounds_a_transfer),
        cmocka_unit_test(test_clocks_are_what_is_set),
        cmocka_unit_test(test_marks_reach_the_core),
        cmocka_unit_test(test_transfers_in_the_background_yield),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
