/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets through the emulated network, with pairs of sockets in place of TUN devices. */
#include "tests/lib/unit.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "sim-wan/emulate/forward.h"
#include "sim-wan/emulate/ip.h"

#define HOSTS 3

struct bench {
    struct sim_topo topo;
    struct emu_hosts hosts;
    struct emu_forward forward;
    int ends[HOSTS]; /* of the hosts' kernels */
};

/* A chain of three, each wire as configured. */
static void bench_init(struct bench *bench, const struct sim_wire_config *wire, uint64_t seed)
{
    static const char *const names[HOSTS] = {"s", "r", "a"};
    sim_topo_init(&bench->topo);
    for (uint32_t i = 0; i < HOSTS; i++) {
        sim_topo_add_node(&bench->topo, names[i]);
        if (i > 0)
            sim_topo_add_link(&bench->topo, i - 1, i, wire, wire);
    }
    emu_hosts_init(&bench->hosts, &bench->topo);
    assert_ok(emu_forward_init(&bench->forward, &bench->topo, &bench->hosts, seed));
    for (uint32_t i = 0; i < HOSTS; i++) {
        int pair[2];
        assert_ok(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair));
        bench->ends[i] = pair[0];
        assert_ok(emu_forward_attach(&bench->forward, i, pair[1]));
    }
}

static void bench_fini(struct bench *bench)
{
    for (uint32_t i = 0; i < HOSTS; i++)
        close(bench->ends[i]);
    emu_forward_fini(&bench->forward);
    emu_hosts_fini(&bench->hosts);
    sim_topo_fini(&bench->topo);
}

/* A packet with an ECN field of 2 and a number. */
static void send_packet(struct bench *bench, uint32_t from, uint32_t to, uint32_t number)
{
    uint8_t packet[100] = {0x45, 2};
    memcpy(packet + 16, &bench->hosts.list[to].address4, 4);
    gmc_put32(packet + 20, number);
    assert_int_equal(write(bench->ends[from], packet, sizeof(packet)), sizeof(packet));
}

/* The next packet's number; UINT32_MAX: there is none. */
static uint32_t next_packet(struct bench *bench, uint32_t host, uint8_t *ecn)
{
    uint8_t packet[200];
    ssize_t len = read(bench->ends[host], packet, sizeof(packet));
    if (len < 0)
        return UINT32_MAX;
    assert_int_equal(len, 100);
    if (ecn != NULL)
        *ecn = emu_ip_ecn(packet, (size_t)len);
    return gmc_get32(packet + 20);
}

static void test_a_packet_takes_the_time_of_its_wires(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, &(struct sim_wire_config){.delay = GMC_MS(10)}, 1);
    gmc_time begin = emu_forward_now(&bench.forward);
    send_packet(&bench, 0, 2, 7);
    emu_forward_run(&bench.forward, GMC_MS(19));
    uint32_t got = next_packet(&bench, 2, NULL);
    /* On a busy machine the run may take longer than it was told to. */
    if (got != UINT32_MAX)
        assert_true(emu_forward_now(&bench.forward) - begin >= GMC_MS(20));
    for (int tries = 0; tries < 100 && got == UINT32_MAX; tries++) {
        emu_forward_run(&bench.forward, GMC_MS(10));
        got = next_packet(&bench, 2, NULL);
    }
    assert_int_equal(got, 7);
    assert_int_equal(next_packet(&bench, 1, NULL), UINT32_MAX);
    assert_int_equal(bench.forward.lateness.count, 1);
    assert_int_equal(sim_net_lane(&bench.forward.net, 1, 0)->count.delivered_bytes, 100);
    bench_fini(&bench);
}

static void test_what_is_for_nobody_goes_nowhere(void **state)
{
    (void)state;
    struct bench bench;
    uint8_t group[40] = {0x60};
    group[24] = 0xff;
    bench_init(&bench, &(struct sim_wire_config){0}, 1);
    assert_int_equal(write(bench.ends[0], group, sizeof(group)), sizeof(group));
    assert_int_equal(write(bench.ends[0], "x", 1), 1);
    send_packet(&bench, 0, 0, 1);
    emu_forward_run(&bench.forward, GMC_MS(5));
    assert_int_equal(bench.forward.foreign_packets, 3);
    for (uint32_t i = 0; i < HOSTS; i++)
        assert_int_equal(next_packet(&bench, i, NULL), UINT32_MAX);
    bench_fini(&bench);
}

static void test_marks_reach_the_host(void **state)
{
    (void)state;
    struct bench bench;
    uint8_t ecn = 0;
    bench_init(&bench, &(struct sim_wire_config){.ecn_path = SIM_ECN_FORCED}, 1);
    send_packet(&bench, 0, 1, 1);
    emu_forward_run(&bench.forward, GMC_MS(100));
    assert_int_equal(next_packet(&bench, 1, &ecn), 1);
    assert_int_equal(ecn, SIM_ECN_CE);
    bench_fini(&bench);
}

static void test_a_watched_descriptor_ends_the_run(void **state)
{
    (void)state;
    struct bench bench;
    int pair[2];
    bench_init(&bench, &(struct sim_wire_config){0}, 1);
    assert_ok(pipe(pair));
    assert_ok(emu_forward_watch(&bench.forward, pair[0]));
    assert_false(emu_forward_run(&bench.forward, GMC_MS(1)));
    assert_int_equal(write(pair[1], "x", 1), 1);
    assert_true(emu_forward_run(&bench.forward, GMC_S(60)));
    close(pair[0]);
    close(pair[1]);
    bench_fini(&bench);
}

/* However long before that nobody carried anything. */
static void test_what_waits_enters_when_it_is_carried(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, &(struct sim_wire_config){.delay = GMC_MS(10)}, 1);
    for (uint32_t i = 0; i < 2; i++) {
        usleep(30000);
        send_packet(&bench, 0, 1, i);
        gmc_time begin = emu_forward_now(&bench.forward);
        uint32_t got;
        do
            emu_forward_run(&bench.forward, GMC_MS(1));
        while ((got = next_packet(&bench, 1, NULL)) == UINT32_MAX);
        assert_int_equal(got, i);
        assert_true(emu_forward_now(&bench.forward) - begin >= GMC_MS(10));
    }
    bench_fini(&bench);
}

/* In a process of its own: packets with the time at which they are sent, in microseconds, and now
 * and then the one that carries them stands still, while so few more are sent that one look takes
 * all of them. */
static void send_times(struct bench *bench, pid_t carrier, gmc_time end)
{
    uint8_t packet[100] = {0x45, 2};
    memcpy(packet + 16, &bench->hosts.list[1].address4, 4);
    gmc_time now = emu_forward_now(&bench->forward), goes_on = now;
    for (gmc_time stops = now; now < end; now = emu_forward_now(&bench->forward)) {
        if (now >= stops) {
            kill(carrier, SIGSTOP);
            goes_on = now + GMC_MS(20);
            stops = now + GMC_MS(40);
        }
        gmc_put32(packet + 20, (uint32_t)(now / GMC_US(1)));
        (void)!write(bench->ends[0], packet, sizeof(packet));
        if (now >= goes_on)
            kill(carrier, SIGCONT);
        nanosleep(&(struct timespec){.tv_nsec = now >= goes_on ? 10000 : 1000000}, NULL);
    }
    kill(carrier, SIGCONT);
}

/* By half a millisecond at most, however long the loop stood still in a busy network. */
static void test_nothing_arrives_much_too_early(void **state)
{
    (void)state;
    struct bench bench;
    uint32_t sent, seen = 0, least = UINT32_MAX;
    bench_init(&bench, &(struct sim_wire_config){.delay = GMC_MS(10)}, 1);
    gmc_time end = emu_forward_now(&bench.forward) + GMC_MS(600);
    pid_t carrier = getpid(), child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        send_times(&bench, carrier, end);
        _exit(0);
    }
    while (emu_forward_now(&bench.forward) < end + GMC_MS(20)) {
        emu_forward_run(&bench.forward, GMC_MS(5));
        while ((sent = next_packet(&bench, 1, NULL)) != UINT32_MAX) {
            uint32_t took = (uint32_t)(emu_forward_now(&bench.forward) / GMC_US(1)) - sent;
            least = took < least ? took : least;
            seen++;
        }
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(seen > 100);
    assert_in_range(least, 9490, 30000);
    bench_fini(&bench);
}

/* Which of a hundred packets get through, as bits. */
static void pattern(uint64_t seed, uint64_t out[2])
{
    struct bench bench;
    uint32_t number;
    bench_init(&bench, &(struct sim_wire_config){.loss_ppm = 300000}, seed);
    out[0] = out[1] = 0;
    for (uint32_t i = 0; i < 100; i++) {
        send_packet(&bench, 0, 1, i);
        emu_forward_run(&bench.forward, GMC_US(100));
    }
    emu_forward_run(&bench.forward, GMC_MS(100));
    while ((number = next_packet(&bench, 1, NULL)) != UINT32_MAX)
        out[number / 64] |= UINT64_C(1) << number % 64;
    bench_fini(&bench);
}

static void test_the_seed_says_which_are_lost(void **state)
{
    (void)state;
    uint64_t first[2], again[2], other[2];
    pattern(1, first);
    pattern(1, again);
    pattern(2, other);
    assert_memory_equal(first, again, sizeof(first));
    assert_memory_not_equal(first, other, sizeof(first));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_packet_takes_the_time_of_its_wires),
        cmocka_unit_test(test_what_is_for_nobody_goes_nowhere),
        cmocka_unit_test(test_marks_reach_the_host),
        cmocka_unit_test(test_a_watched_descriptor_ends_the_run),
        cmocka_unit_test(test_what_waits_enters_when_it_is_carried),
        cmocka_unit_test(test_nothing_arrives_much_too_early),
        cmocka_unit_test(test_the_seed_says_which_are_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
