/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams in messages of a fabric: over a wire that does what the test says, and over libfabric's
 * tcp and shm where they are. */
#include "tests/lib/unit.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fabric/batch.h"
#include "fabric/fabric.h"
#include "fabric/ofi.h"

#define PEERS 3
#define UNDER_WAY 400

/* ---- a wire ---- */
struct wire {
    bool busy[PEERS];   /* takes no message for this one */
    bool refuse[PEERS]; /* ends with an error */
    bool broken;
    struct fab_op *sent[UNDER_WAY];
    uint64_t to[UNDER_WAY];
    size_t sent_count;
    struct fab_op *receives[UNDER_WAY];
    uint8_t *buffers[UNDER_WAY];
    size_t receive_count, next;
    uint8_t last[70000]; /* the last message to anybody */
    size_t last_len;
    size_t messages, datagrams, forgotten;
    uint32_t numbers[PEERS]; /* of the last datagram to each: they begin with a number */
    bool out_of_order;
    struct { /* to come with the next poll */
        const uint8_t *data;
        size_t len;
    } coming;
};

static bool use_memory(void *wire, void *data, size_t len)
{
    (void)wire;
    memset(data, 0xee, len);
    return true;
}

static bool find(void *wire, struct gmc_bytes address, uint64_t *to)
{
    (void)wire;
    *to = address.data[0];
    return address.len == 1 && address.data[0] < PEERS;
}

static void forget(void *ctx, uint64_t to)
{
    struct wire *wire = ctx;
    (void)to;
    wire->forgotten++;
}

static void look_into(struct wire *wire, uint64_t to, struct gmc_bytes message)
{
    struct gmc_reader reader;
    struct gmc_bytes datagram;
    uint64_t id;
    gmc_time begun;
    assert_int_equal(fab_batch_open(message, &id, &begun, &reader), GMC_OK);
    assert_int_equal(id, 7);
    while (fab_batch_next(&reader, &datagram)) {
        uint32_t number = datagram.len >= 4 ? gmc_get32(datagram.data) : 0;
        wire->out_of_order = wire->out_of_order || number != wire->numbers[to] + 1;
        wire->numbers[to] = number;
        wire->datagrams++;
    }
    assert_true(fab_batch_is_whole(&reader));
}

static enum fab_posted send_message(void *ctx, uint64_t to, const uint8_t *data, size_t len,
                                    struct fab_op *op)
{
    struct wire *wire = ctx;
    if (wire->broken)
        return FAB_FAILED;
    if (wire->busy[to])
        return FAB_BUSY;
    assert_true(len <= sizeof wire->last);
    memcpy(wire->last, data, len);
    wire->last_len = len;
    look_into(wire, to, gmc_bytes(data, len));
    wire->messages++;
    wire->to[wire->sent_count] = to;
    wire->sent[wire->sent_count++] = op;
    return FAB_POSTED;
}

static enum fab_posted receive_message(void *ctx, uint8_t *data, size_t len, struct fab_op *op)
{
    struct wire *wire = ctx;
    assert_true(len > 0);
    assert_true(wire->receive_count < UNDER_WAY);
    wire->buffers[wire->receive_count] = data;
    wire->receives[wire->receive_count++] = op;
    return FAB_POSTED;
}

static int poll_wire(void *ctx, struct fab_done *done, int max)
{
    struct wire *wire = ctx;
    int count = 0;
    if (wire->broken)
        return -1;
    while (wire->sent_count > 0 && count < max) {
        uint64_t to = wire->to[--wire->sent_count];
        done[count++] = (struct fab_done){.op = wire->sent[wire->sent_count],
                                          .error = wire->refuse[to] ? "not there" : NULL};
    }
    if (wire->coming.data != NULL && count < max) {
        size_t i = wire->next++;
        memcpy(wire->buffers[i], wire->coming.data, wire->coming.len);
        done[count++] = (struct fab_done){.op = wire->receives[i], .len = wire->coming.len};
        wire->coming.data = NULL;
    }
    return count;
}

static bool may_sleep(void *wire)
{
    (void)wire;
    return true;
}

static const char *error_of(void *wire)
{
    (void)wire;
    return "broken on purpose";
}

static void wire_free(void *wire)
{
    (void)wire;
}

static const struct fab_wire_ops wire_ops = {use_memory,      find,      forget,    send_message,
                                             receive_message, poll_wire, may_sleep, error_of,
                                             wire_free};

/* ---- its owner ---- */
struct owner {
    uint8_t last[70000];
    size_t last_len;
    uint64_t id;
    size_t taken;
    size_t heard, reached;
    gmc_time begun;
    const char *lost;
    char reason[128];
};

static void heard(void *ctx, uint64_t id, gmc_time begun)
{
    struct owner *of = ctx;
    (void)id;
    of->heard++;
    of->begun = begun;
}

static void take(void *ctx, uint64_t id, struct gmc_bytes datagram)
{
    struct owner *owner = ctx;
    owner->id = id;
    owner->taken++;
    memcpy(owner->last, datagram.data, datagram.len);
    owner->last_len = datagram.len;
}

static void reached(void *ctx, void *peer)
{
    struct owner *of = ctx;
    (void)peer;
    of->reached++;
}

static void lost(void *ctx, void *peer, const char *reason)
{
    struct owner *owner = ctx;
    assert_null(owner->lost);
    owner->lost = peer;
    (void)snprintf(owner->reason, sizeof owner->reason, "%s", reason);
}

static struct wire wire;
static struct owner owner;

static struct fab *make(size_t message_max)
{
    const struct fab_owner ours = {&owner, heard, take, reached, lost};
    const struct fab_wire config = {.ops = &wire_ops,
                                    .ctx = &wire,
                                    .name = "test",
                                    .fd = -1,
                                    .message_max = message_max,
                                    .message_good = 4096};
    memset(&wire, 0, sizeof wire);
    memset(&owner, 0, sizeof owner);
    struct fab *fab = fab_new(&config, 7, &ours);
    assert_non_null(fab);
    return fab;
}

/* One that is reached. */
static struct fab_peer *peer_at(struct fab *fab, uint8_t at, const char *name)
{
    struct fab_peer *peer = fab_peer_new(fab, 0, gmc_bytes(&at, 1), (void *)(uintptr_t)name);
    fab_flush(fab, 0);
    (void)fab_progress(fab, 0);
    assert_true(peer == NULL || fab_peer_is_reached(peer));
    wire.messages = 0;
    return peer;
}

/* A datagram of so many bytes that begins with the number. */
static enum fab_put put(struct fab_peer *peer, gmc_time now, uint32_t number, size_t len)
{
    static uint8_t body[70000];
    uint8_t head[4];
    gmc_put32(head, number);
    const struct gmc_bytes pieces[3] = {gmc_bytes(head, 4), gmc_bytes(body, len - 5),
                                        gmc_bytes(body, 1)};
    return fab_put(peer, now, pieces, 3);
}

static void test_datagrams_share_messages(void **state)
{
    struct fab *fab = make(SIZE_MAX);
    struct fab_peer *peer = peer_at(fab, 1, "b");
    (void)state;
    for (uint32_t i = 1; i <= 5; i++)
        assert_int_equal(put(peer, 0, i, 1400), FAB_TAKEN);
    assert_int_equal(wire.messages, 0);
    fab_flush(fab, 0);
    /* Two of them fit what the wire copies at once. */
    assert_int_equal(wire.messages, 3);
    assert_int_equal(wire.datagrams, 5);
    assert_false(wire.out_of_order);
    assert_int_equal(put(peer, 0, 6, FAB_DATAGRAM_MAX), FAB_TAKEN);
    fab_flush(fab, 0);
    assert_int_equal(wire.last_len, FAB_BATCH_HEAD_BYTES + FAB_BATCH_EACH_BYTES + FAB_DATAGRAM_MAX);
    assert_true(fab_is_waiting(fab));
    assert_true(fab_progress(fab, 0));
    assert_false(fab_is_waiting(fab));
    assert_int_equal(fab_stats(fab)->sent, 6);
    assert_int_equal(fab_stats(fab)->messages_sent, 5); /* and the one that reached the peer */
    assert_null(peer_at(fab, PEERS, "nobody"));
    fab_free(fab);
}

static void test_until_it_is_reached_data_goes_elsewhere(void **state)
{
    struct fab *fab = make(SIZE_MAX);
    uint8_t at = 1;
    struct fab_peer *peer = fab_peer_new(fab, 0, gmc_bytes(&at, 1), (void *)(uintptr_t) "b");
    (void)state;
    wire.busy[1] = true;
    for (gmc_time now = 0; now < GMC_S(1); now += GMC_MS(10)) {
        (void)fab_progress(fab, now);
        assert_int_equal(put(peer, now, 1, 100), FAB_ELSEWHERE);
        assert_true(fab_has_room(fab));
    }
    assert_int_equal(owner.reached, 0);
    (void)fab_progress(fab, GMC_S(2));
    assert_string_equal(owner.lost, "b");
    fab_peer_free(peer);
    assert_false(fab_is_waiting(fab));
    fab_free(fab);
}

static void test_what_comes_is_taken_apart(void **state)
{
    struct fab *fab = make(SIZE_MAX);
    uint8_t message[200];
    const struct gmc_bytes first[1] = {gmc_bytes("hello", 5)}, second[1] = {gmc_bytes("you", 3)};
    size_t len = fab_batch_begin(message, 99, 12345);
    (void)state;
    len = fab_batch_add(message, len, first, 1);
    len = fab_batch_add(message, len, second, 1);
    wire.coming.data = message;
    wire.coming.len = len;
    assert_true(fab_progress(fab, 0));
    assert_int_equal(owner.heard, 1);
    assert_int_equal(owner.begun, 12345);
    assert_int_equal(owner.taken, 2);
    assert_int_equal(owner.id, 99);
    assert_memory_equal(owner.last, "you", 3);
    assert_int_equal(wire.receive_count, 129); /* its place is free again */
    /* Cut in the middle of the second, and not ours at all. */
    wire.coming.data = message;
    wire.coming.len = len - 1;
    assert_true(fab_progress(fab, 0));
    assert_int_equal(owner.taken, 3);
    message[0] ^= 1;
    wire.coming.data = message;
    wire.coming.len = len;
    assert_true(fab_progress(fab, 0));
    assert_int_equal(owner.taken, 3);
    assert_int_equal(fab_stats(fab)->malformed, 2);
    fab_free(fab);
}

static void test_a_busy_wire_loses_nothing(void **state)
{
    struct fab *fab = make(SIZE_MAX);
    struct fab_peer *peer = peer_at(fab, 1, "b");
    uint32_t number = 0;
    (void)state;
    wire.busy[1] = true;
    while (fab_has_room(fab)) {
        assert_int_equal(put(peer, 0, ++number, 1400), FAB_TAKEN);
        fab_flush(fab, 0);
        assert_true(number < 1000);
    }
    assert_int_equal(wire.datagrams, 0);
    assert_int_equal(number, 64);
    wire.busy[1] = false;
    for (gmc_time now = 0; number < 1000; now += GMC_US(10)) {
        (void)fab_progress(fab, now);
        wire.busy[1] = now % GMC_US(30) == 0;
        while (number < 1000 && fab_has_room(fab)) {
            assert_int_equal(put(peer, now, ++number, 1400), FAB_TAKEN);
            fab_flush(fab, now);
        }
    }
    wire.busy[1] = false;
    while (fab_is_waiting(fab))
        (void)fab_progress(fab, GMC_MS(10));
    assert_int_equal(wire.datagrams, 1000);
    assert_false(wire.out_of_order);
    assert_int_equal(fab_stats(fab)->dropped, 0);
    assert_true(fab_stats(fab)->busy > 0);
    assert_null(owner.lost);
    fab_free(fab);
}

static void test_who_stands_still_holds_nobody(void **state)
{
    struct fab *fab = make(SIZE_MAX);
    struct fab_peer *dead = peer_at(fab, 1, "dead"), *other = peer_at(fab, 2, "other");
    uint32_t number = 0;
    (void)state;
    wire.busy[1] = true;
    while (fab_has_room(fab))
        assert_int_equal(put(dead, 0, 0, 3000), FAB_TAKEN);
    fab_flush(fab, 0);
    for (gmc_time now = 0; now < GMC_S(2); now += GMC_MS(1)) {
        (void)fab_progress(fab, now);
        /* For 50 ms of each second all wait for it. */
        assert_true(fab_has_room(fab) == (now % GMC_S(1) >= GMC_MS(50)));
        assert_true(put(dead, now, 0, 3000) != FAB_ELSEWHERE);
        assert_int_equal(put(other, now, ++number, 1400), FAB_TAKEN);
        fab_flush(fab, now);
    }
    assert_int_equal(wire.numbers[2], number);
    assert_true(fab_stats(fab)->dropped > 0);
    assert_null(owner.lost);
    (void)fab_progress(fab, GMC_S(2));
    assert_string_equal(owner.lost, "dead");
    assert_string_equal(owner.reason, "it has taken nothing for 2 s");
    assert_int_equal(put(dead, GMC_S(2), 0, 100), FAB_ELSEWHERE);
    assert_int_equal(put(other, GMC_S(2), ++number, 100), FAB_TAKEN);
    fab_peer_free(dead);
    assert_int_equal(wire.forgotten, 1);
    fab_free(fab);
}

/* It takes at most 32 messages in 10 ms, where there are 50 for it. */
static void test_who_is_slow_holds_others_seldom(void **state)
{
    struct fab *fab = make(SIZE_MAX);
    struct fab_peer *slow = peer_at(fab, 1, "slow"), *other = peer_at(fab, 2, "other");
    uint32_t number = 0, held = 0, taken = 0;
    (void)state;
    for (gmc_time now = 0; now < GMC_S(10); now += GMC_MS(1)) {
        wire.numbers[1] = 0; /* what is dropped is missing */
        (void)fab_progress(fab, now);
        wire.busy[1] = now % GMC_MS(10) != 0;
        held += !fab_has_room(fab);
        for (int i = 0; i < 5 && fab_has_room(fab); i++)
            taken += put(slow, now, 1, 3000) == FAB_TAKEN;
        assert_int_equal(put(other, now, ++number, 1400), FAB_TAKEN);
        fab_flush(fab, now);
    }
    assert_true(held > 0 && held <= 11 * 50);
    assert_int_equal(wire.numbers[2], number);
    assert_true(taken >= 1000 && fab_stats(fab)->dropped > 0);
    assert_null(owner.lost);
    fab_free(fab);
}

static void test_a_refused_message_loses_its_peer(void **state)
{
    struct fab *fab = make(SIZE_MAX);
    struct fab_peer *gone = peer_at(fab, 1, "gone"), *other = peer_at(fab, 2, "other");
    (void)state;
    wire.refuse[1] = true;
    assert_int_equal(put(gone, 0, 1, 100), FAB_TAKEN);
    assert_int_equal(put(other, 0, 1, 100), FAB_TAKEN);
    fab_flush(fab, 0);
    /* Its owner gives it up while a message is under way. */
    assert_int_equal(put(gone, 0, 2, 100), FAB_TAKEN);
    (void)fab_progress(fab, 1);
    assert_string_equal(owner.lost, "gone");
    assert_string_equal(owner.reason, "not there");
    fab_peer_free(gone);
    assert_int_equal(wire.forgotten, 1);
    assert_int_equal(put(other, 1, 2, 100), FAB_TAKEN);
    fab_flush(fab, 1);
    fab_peer_free(other);
    assert_int_equal(wire.forgotten, 1); /* the wire has a message of it */
    (void)fab_progress(fab, 2);
    assert_int_equal(wire.forgotten, 2);
    assert_false(fab_is_waiting(fab));
    assert_null(fab_broken(fab));
    fab_free(fab);
}

static void test_limits_and_the_end(void **state)
{
    struct fab *fab = make(1000);
    struct fab_peer *peer = peer_at(fab, 0, "a");
    (void)state;
    (void)fab;
    assert_int_equal(put(peer, 0, 1, 978), FAB_TAKEN);
    assert_int_equal(put(peer, 0, 2, 979), FAB_ELSEWHERE);
    wire.broken = true;
    fab_flush(fab, 0);
    assert_false(fab_progress(fab, 0));
    assert_string_equal(owner.lost, "a");
    assert_string_equal(fab_broken(fab), "broken on purpose");
    assert_int_equal(put(peer, 0, 3, 100), FAB_ELSEWHERE);
    fab_free(fab);
}

static void test_nobody_waits_for_a_broken_wire(void **state)
{
    struct fab *fab = make(SIZE_MAX);
    struct fab_peer *peer = peer_at(fab, 1, "b");
    (void)state;
    wire.busy[1] = true;
    while (fab_has_room(fab))
        assert_int_equal(put(peer, 0, 0, 3000), FAB_TAKEN);
    wire.broken = true;
    assert_false(fab_progress(fab, 0));
    assert_true(fab_has_room(fab));
    assert_int_equal(put(peer, 0, 0, 100), FAB_ELSEWHERE);
    fab_free(fab);
}

/* ---- libfabric ---- */
static gmc_time now_of(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (gmc_time)now.tv_sec * 1000000000u + (gmc_time)now.tv_nsec;
}

/* NULL: there is no libfabric in this build. */
static struct fab *open_end(const char *provider, const char *domain, const char *name, uint64_t id,
                            struct owner *of)
{
    const struct fab_owner ours = {of, heard, take, reached, lost};
    const struct fab_ofi_options options = {provider, domain, name, true};
    struct fab_wire found;
    char reason[512] = "";
    if (fab_ofi_open(&options, &found, reason, sizeof reason))
        return fab_new(&found, id, &ours);
    assert_non_null(strstr(reason, "without libfabric"));
    return NULL;
}

static void both_ways(const char *provider, const char *domain, size_t len)
{
    static struct owner owners[2];
    struct fab *ends[2];
    struct fab_peer *peers[2];
    char names[2][40];
    uint32_t number[2] = {0, 0};
    memset(owners, 0, sizeof owners);
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(names[i], sizeof names[i], "test%ld%zu", (long)getpid(), i);
        ends[i] = open_end(provider, domain, names[i], i + 1, &owners[i]);
        if (ends[i] == NULL)
            skip();
    }
    for (size_t i = 0; i < 2; i++)
        peers[i] = fab_peer_new(ends[i], 0, fab_wire(ends[1 - i])->address, NULL);
    assert_true(peers[0] != NULL && peers[1] != NULL);
    gmc_time until = now_of() + GMC_S(120);
    while (owners[0].taken < 2000 || owners[1].taken < 2000) {
        assert_true(now_of() < until);
        for (size_t i = 0; i < 2; i++) {
            /* For them time stands still: a machine that does must not make them lose anything. */
            while (number[i] < 2000 && fab_peer_is_reached(peers[i]) && fab_has_room(ends[i]))
                assert_int_equal(put(peers[i], 0, ++number[i], len), FAB_TAKEN);
            fab_flush(ends[i], 0);
            (void)fab_progress(ends[i], 0);
            assert_null(owners[i].lost);
        }
    }
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(owners[i].taken, 2000);
        assert_int_equal(owners[i].id, 2 - i);
        assert_int_equal(owners[i].last_len, len);
        assert_int_equal(fab_stats(ends[i])->dropped, 0);
        assert_int_equal(fab_stats(ends[i])->failed, 0);
    }
    fab_free(ends[0]);
    fab_free(ends[1]);
}

static void test_tcp(void **state)
{
    (void)state;
    both_ways("tcp", "lo", 1400);
    both_ways("tcp", "lo", 30000);
}

static void test_shm(void **state)
{
    (void)state;
    both_ways("shm", "", 1400);
    both_ways("shm", "", 30000);
}

static void test_what_there_is_not(void **state)
{
    const struct fab_ofi_options wrong = {"tpc", "", "", true}, domain = {"tcp", "eth99", "", true};
    char reason[512] = "";
    (void)state;
    assert_false(fab_ofi_is_there(&wrong, reason, sizeof reason));
    if (strstr(reason, "without libfabric") != NULL)
        skip();
    assert_non_null(strstr(reason, "no provider 'tpc' here; there are: "));
    assert_non_null(strstr(reason, "tcp"));
    assert_false(fab_ofi_is_there(&domain, reason, sizeof reason));
    assert_non_null(strstr(reason, "provider 'tcp' has no 'eth99' here; there are: "));
    assert_non_null(strstr(reason, "lo"));
}

static void test_shared_memory_is_asked_for(void **state)
{
    const struct fab_ofi_options options = {"shm", "", "", false};
    char reason[512] = "";
    (void)state;
    assert_false(fab_ofi_is_there(&options, reason, sizeof reason));
    if (strstr(reason, "without libfabric") != NULL)
        skip();
    assert_non_null(strstr(reason, "fabric_shared_memory"));
}

/* Of drivers that it loads, libinfinipath's takes those of crashes. */
static void test_signals_stay_ours(void **state)
{
    const struct fab_ofi_options options = {"tcp", "", "", false};
    const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE, SIGINT, SIGTERM};
    struct sigaction before[7], after;
    char reason[512];
    (void)state;
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(sigaction(signals[i], NULL, &before[i]), 0);
    (void)fab_ofi_is_there(&options, reason, sizeof reason);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(sigaction(signals[i], NULL, &after), 0);
        assert_ptr_equal(after.sa_sigaction, before[i].sa_sigaction);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_datagrams_share_messages),
        cmocka_unit_test(test_until_it_is_reached_data_goes_elsewhere),
        cmocka_unit_test(test_what_comes_is_taken_apart),
        cmocka_unit_test(test_a_busy_wire_loses_nothing),
        cmocka_unit_test(test_who_stands_still_holds_nobody),
        cmocka_unit_test(test_who_is_slow_holds_others_seldom),
        cmocka_unit_test(test_a_refused_message_loses_its_peer),
        cmocka_unit_test(test_limits_and_the_end),
        cmocka_unit_test(test_nobody_waits_for_a_broken_wire),
        cmocka_unit_test(test_signals_stay_ours), /* the first that loads the library */
        cmocka_unit_test(test_tcp),
        cmocka_unit_test(test_shm),
        cmocka_unit_test(test_what_there_is_not),
        cmocka_unit_test(test_shared_memory_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
