/* SPDX-License-Identifier: BSD-2-Clause */
/* Two sockets on loopback: runs, order, lengths, addresses, and a full socket. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "gatewayd/udp.h"

#define TAKEN_MAX 4096

struct taken {
    size_t count;
    size_t bytes;
    uint32_t first[TAKEN_MAX]; /* the number that each datagram begins with */
    size_t len[TAKEN_MAX];
    struct gmc_addr from;
    gmc_time now; /* of the last one, as what follows */
    gmc_duration waited;
    uint8_t ecn[TAKEN_MAX];
};

static void take(void *ctx, gmc_time now, const struct gmc_dgram_in *in)
{
    struct taken *taken = ctx;
    assert_true(now >= taken->now);
    taken->now = now;
    assert_true(taken->count < TAKEN_MAX && in->bytes.len >= 4);
    taken->first[taken->count] = gmc_get32(in->bytes.data);
    taken->ecn[taken->count] = (uint8_t)in->ecn;
    taken->len[taken->count++] = in->bytes.len;
    taken->bytes += in->bytes.len;
    taken->from = in->from;
    taken->waited = in->waited;
}

static struct gwd_udp *open_on(const char *host, struct gmc_addr *own)
{
    struct gwd_sockaddr address;
    char reason[256] = "";
    struct gwd_udp *udp;
    assert_true(gwd_addr_numeric(host, 0, &address));
    udp = gwd_udp_new(&address, reason, sizeof reason);
    assert_string_equal(reason, "");
    assert_non_null(udp);
    assert_true(gwd_addr_numeric(strcmp(host, "::") == 0 ? "127.0.0.1" : host, gwd_udp_port(udp),
                                 &address));
    gwd_addr_to_core((const struct sockaddr *)&address.storage, own);
    return udp;
}

static uint8_t pattern[70000];

/* A datagram of len bytes in three pieces, beginning with number. */
static struct gmc_dgram_out datagram(uint32_t number, size_t len)
{
    struct gmc_dgram_out out = {.head_len = 25};
    gmc_put32(out.head, number);
    out.body = gmc_bytes(pattern, len - 25 - 16);
    out.tail = gmc_bytes(pattern + 100, 16);
    return out;
}

static void wait_readable(const struct gwd_udp *udp)
{
    struct pollfd p = {.fd = gwd_udp_fd(udp), .events = POLLIN};
    assert_int_equal(poll(&p, 1, 2000), 1);
}

static void receive_all(struct gwd_udp *udp, struct taken *taken, size_t count)
{
    while (taken->count < count) {
        wait_readable(udp);
        (void)gwd_udp_receive(udp, take, taken);
    }
}

static void test_runs(void **state)
{
    static struct taken taken;
    struct gmc_addr to, own;
    struct gwd_udp *a = open_on("127.0.0.1", &own), *b = open_on("127.0.0.1", &to);
    (void)state;
    memset(&taken, 0, sizeof taken);
    for (uint32_t i = 0; i < 100; i++) {
        struct gmc_dgram_out out = datagram(i, i == 99 ? 200 : 1472);
        assert_true(gwd_udp_put(a, &out, &to));
    }
    assert_true(gwd_udp_flush(a));
    receive_all(b, &taken, 100);
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(taken.first[i], i);
        assert_int_equal(taken.len[i], i == 99 ? 200 : 1472);
    }
    assert_int_equal(gwd_udp_stats(a)->grouped, 100);
    assert_int_equal(gwd_udp_stats(a)->send_calls, 1);
    assert_int_equal(taken.from.len, own.len);
    assert_memory_equal(taken.from.bytes, own.bytes, own.len);
    gwd_udp_free(a);
    gwd_udp_free(b);
}

/* How long a datagram lay in the socket is told, once the kernel has begun to stamp what comes: it
 * does so some time after the first socket asked for it. */
static void test_waited(void **state)
{
    static struct taken taken;
    const struct timespec lies = {.tv_nsec = 30000000};
    struct gmc_addr to, own;
    struct gwd_udp *a = open_on("127.0.0.1", &own), *b = open_on("127.0.0.1", &to);
    struct gmc_dgram_out out = datagram(1, 1000);
    (void)state;
    memset(&taken, 0, sizeof taken);
    for (size_t i = 1; i <= 50 && taken.waited < GMC_MS(1); i++) {
        assert_true(gwd_udp_put(a, &out, &to));
        assert_true(gwd_udp_flush(a));
        wait_readable(b);
        (void)nanosleep(&lies, NULL);
        receive_all(b, &taken, i);
    }
    assert_in_range(taken.waited, GMC_MS(30), GMC_S(5));
    gwd_udp_free(a);
    gwd_udp_free(b);
}

/* Marks arrive as they were sent, also where the kernel cuts and joins runs; a batch of both kinds
 * leaves in runs of one. */
static void check_marks(const char *from, const char *to_host)
{
    static struct taken taken;
    struct gmc_addr to, own;
    struct gwd_udp *a = open_on(from, &own), *b = open_on(to_host, &to);
    memset(&taken, 0, sizeof taken);
    for (uint32_t i = 0; i < 90; i++) {
        struct gmc_dgram_out out = datagram(i, 1200);
        out.ecn = i / 30 == 1 ? GMC_NOT_ECT : GMC_ECT0;
        assert_true(gwd_udp_put(a, &out, &to));
    }
    assert_true(gwd_udp_flush(a));
    receive_all(b, &taken, 90);
    for (uint32_t i = 0; i < 90; i++) {
        assert_int_equal(taken.first[i], i);
        assert_int_equal(taken.ecn[i], i / 30 == 1 ? GMC_NOT_ECT : GMC_ECT0);
    }
    assert_int_equal(gwd_udp_stats(a)->grouped, 90);
    assert_int_equal(gwd_udp_stats(a)->failed, 0);
    gwd_udp_free(a);
    gwd_udp_free(b);
}

static bool has_ipv6(void)
{
    struct gwd_sockaddr address;
    char reason[256];
    struct gwd_udp *udp = NULL;
    if (gwd_addr_numeric("::1", 0, &address))
        udp = gwd_udp_new(&address, reason, sizeof reason);
    gwd_udp_free(udp);
    return udp != NULL;
}

/* What comes while a batch is worked on is of another moment than the batch. */
struct busy {
    struct gwd_udp *from;
    struct gmc_addr to;
    size_t count;
    gmc_time sent, came;
};

static gmc_time clock_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (gmc_time)now.tv_sec * 1000000000u + (gmc_time)now.tv_nsec;
}

static void take_slowly(void *ctx, gmc_time now, const struct gmc_dgram_in *in)
{
    struct busy *busy = ctx;
    busy->came = gmc_time_sub(now, in->waited);
    if (++busy->count != 16)
        return;
    (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    busy->sent = clock_now();
    struct gmc_dgram_out out = datagram(16, 100);
    assert_true(gwd_udp_put(busy->from, &out, &busy->to) && gwd_udp_flush(busy->from));
}

static void test_never_before_it_was_sent(void **state)
{
    struct busy busy = {0};
    struct gmc_addr own;
    struct gwd_udp *a = open_on("127.0.0.1", &own), *b = open_on("127.0.0.1", &busy.to);
    (void)state;
    busy.from = a;
    gwd_udp_set_segmentation(a, false);
    for (uint32_t i = 0; i < 16; i++) {
        struct gmc_dgram_out out = datagram(i, 100);
        assert_true(gwd_udp_put(a, &out, &busy.to) && gwd_udp_flush(a));
    }
    wait_readable(b);
    while (gwd_udp_receive(b, take_slowly, &busy))
        continue;
    assert_int_equal(gwd_udp_stats(b)->received, 17);
    assert_true(busy.came >= busy.sent);
    gwd_udp_free(a);
    gwd_udp_free(b);
}

static void test_marks(void **state)
{
    (void)state;
    check_marks("127.0.0.1", "127.0.0.1");
    if (!has_ipv6())
        skip();
    check_marks("::1", "::1");
    check_marks("::", "::"); /* IPv4 in a socket for both */
    check_marks("127.0.0.1", "::");
}

/* Interleaved destinations are sorted apart and keep their order. */
static void test_two_destinations(void **state)
{
    static struct taken left, right;
    struct gmc_addr own, to[2];
    struct gwd_udp *a = open_on("127.0.0.1", &own);
    struct gwd_udp *b = open_on("127.0.0.1", &to[0]), *c = open_on("127.0.0.1", &to[1]);
    (void)state;
    memset(&left, 0, sizeof left);
    memset(&right, 0, sizeof right);
    for (uint32_t i = 0; i < 80; i++) {
        struct gmc_dgram_out out = datagram(i, 1000);
        assert_true(gwd_udp_put(a, &out, &to[i % 2]));
    }
    assert_true(gwd_udp_flush(a));
    receive_all(b, &left, 40);
    receive_all(c, &right, 40);
    for (uint32_t i = 0; i < 40; i++) {
        assert_int_equal(left.first[i], 2 * i);
        assert_int_equal(right.first[i], 2 * i + 1);
    }
    assert_int_equal(gwd_udp_stats(a)->grouped, 80);
    gwd_udp_free(a);
    gwd_udp_free(b);
    gwd_udp_free(c);
}

static void test_lengths(void **state)
{
    static const size_t lens[] = {41, 64, 64, 1472, 1472, 9000, 8999, 65507, 65507, 50};
    static struct taken taken;
    struct gmc_addr own, to;
    struct gwd_udp *a = open_on("127.0.0.1", &own), *b = open_on("127.0.0.1", &to);
    (void)state;
    for (int round = 0; round < 2; round++) {
        gwd_udp_set_segmentation(a, round == 0);
        memset(&taken, 0, sizeof taken);
        for (uint32_t i = 0; i < 10; i++) {
            struct gmc_dgram_out out = datagram(i, lens[i]);
            assert_true(gwd_udp_put(a, &out, &to));
        }
        assert_true(gwd_udp_flush(a));
        receive_all(b, &taken, 10);
        for (uint32_t i = 0; i < 10; i++) {
            assert_int_equal(taken.first[i], i);
            assert_int_equal(taken.len[i], lens[i]);
        }
    }
    /* Longer than any datagram: dropped and counted, nothing else is hurt. */
    struct gmc_dgram_out big = datagram(1, 65600), good = datagram(2, 100);
    memset(&taken, 0, sizeof taken);
    assert_true(gwd_udp_put(a, &big, &to));
    assert_true(gwd_udp_put(a, &good, &to));
    assert_true(gwd_udp_flush(a));
    receive_all(b, &taken, 1);
    assert_int_equal(taken.first[0], 2);
    assert_int_equal(gwd_udp_stats(a)->too_long, 1);
    gwd_udp_free(a);
    gwd_udp_free(b);
}

/* A v6 socket reaches IPv4 and reports it in the same form. */
static void test_mapped(void **state)
{
    static struct taken taken;
    struct gmc_addr own4, own6;
    struct gwd_udp *a = open_on("127.0.0.1", &own4);
    struct gwd_sockaddr any;
    char reason[256];
    struct gwd_udp *b;
    (void)state;
    assert_true(gwd_addr_numeric("::", 0, &any));
    b = gwd_udp_new(&any, reason, sizeof reason);
    if (b == NULL) {
        gwd_udp_free(a);
        skip(); /* no IPv6 here */
    }
    gwd_udp_free(b);
    b = open_on("::", &own6);
    memset(&taken, 0, sizeof taken);
    struct gmc_dgram_out out = datagram(7, 300);
    assert_true(gwd_udp_put(b, &out, &own4));
    assert_true(gwd_udp_flush(b));
    receive_all(a, &taken, 1);
    assert_int_equal(taken.from.len, 6);
    assert_true(gwd_udp_put(a, &out, &taken.from));
    assert_true(gwd_udp_flush(a));
    memset(&taken, 0, sizeof taken);
    receive_all(b, &taken, 1);
    assert_int_equal(taken.from.len, 6);
    assert_memory_equal(taken.from.bytes, own4.bytes, 6);
    gwd_udp_free(a);
    gwd_udp_free(b);
}

static void test_batch_bounds(void **state)
{
    struct gmc_addr own, to;
    struct gwd_udp *a = open_on("127.0.0.1", &own), *b = open_on("127.0.0.1", &to);
    struct gmc_dgram_out out = datagram(1, 1472);
    size_t put = 0;
    (void)state;
    while (gwd_udp_put(a, &out, &to))
        put++;
    assert_int_equal(put, 512);
    assert_true(gwd_udp_flush(a));
    assert_int_equal(gwd_udp_stats(a)->sent, 512);
    assert_true(gwd_udp_put(a, &out, &to));
    gwd_udp_free(a);
    gwd_udp_free(b);
}

/* A tiny send buffer fills up: what is left is kept, and leaves in order when there is room. */
static void test_blocked(void **state)
{
    static struct taken taken;
    struct gmc_addr own, to;
    struct gwd_udp *a = open_on("127.0.0.1", &own), *b = open_on("127.0.0.1", &to);
    int small = 4608, packets = 0;
    (void)state;
    memset(&taken, 0, sizeof taken);
    assert_int_equal(setsockopt(gwd_udp_fd(a), SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
    for (int round = 0; round < 50 && !gwd_udp_is_blocked(a); round++) {
        for (int i = 0; i < 20; i++, packets++) {
            struct gmc_dgram_out out = datagram((uint32_t)packets, 1400);
            assert_true(gwd_udp_put(a, &out, &to));
        }
        (void)gwd_udp_flush(a);
    }
    if (gwd_udp_is_blocked(a)) {
        struct gmc_dgram_out out = datagram(9, 100);
        assert_false(gwd_udp_put(a, &out, &to));
        assert_true(gwd_udp_stats(a)->blocked > 0);
    }
    while (gwd_udp_is_blocked(a)) {
        struct pollfd p = {.fd = gwd_udp_fd(a), .events = POLLOUT};
        (void)gwd_udp_receive(b, take, &taken);
        assert_int_equal(poll(&p, 1, 2000), 1);
        (void)gwd_udp_flush(a);
    }
    receive_all(b, &taken, gwd_udp_stats(a)->sent);
    assert_int_equal(taken.count, packets);
    for (size_t i = 0; i < taken.count; i++)
        assert_int_equal(taken.first[i], i);
    gwd_udp_free(a);
    gwd_udp_free(b);
}

static void test_payload(void **state)
{
    struct gwd_sockaddr address;
    struct gmc_addr to;
    (void)state;
    assert_true(gwd_addr_numeric("127.0.0.1", 9, &address));
    gwd_addr_to_core((const struct sockaddr *)&address.storage, &to);
    assert_in_range(gwd_udp_payload_max(&to), 1000, GWD_UDP_PAYLOAD_MAX);
}

static void test_addresses(void **state)
{
    char host[64];
    uint16_t port;
    (void)state;
    assert_true(gwd_addr_split("192.0.2.7:7411", host, sizeof host, &port));
    assert_string_equal(host, "192.0.2.7");
    assert_int_equal(port, 7411);
    assert_true(gwd_addr_split("[2001:db8::7]:1", host, sizeof host, &port));
    assert_string_equal(host, "2001:db8::7");
    assert_false(gwd_addr_split("2001:db8::7:1", host, sizeof host, &port));
    assert_false(gwd_addr_split("host", host, sizeof host, &port));
    assert_false(gwd_addr_split(":1", host, sizeof host, &port));
    assert_false(gwd_addr_split("host:", host, sizeof host, &port));
    assert_false(gwd_addr_split("host:0", host, sizeof host, &port));
    assert_false(gwd_addr_split("host:65536", host, sizeof host, &port));
    assert_false(gwd_addr_split("host:1x", host, sizeof host, &port));
    assert_false(gwd_addr_split("[]:1", host, sizeof host, &port));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waited),
        cmocka_unit_test(test_never_before_it_was_sent),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_two_destinations),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_mapped),
        cmocka_unit_test(test_batch_bounds),
        cmocka_unit_test(test_blocked),
        cmocka_unit_test(test_payload),
        cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
