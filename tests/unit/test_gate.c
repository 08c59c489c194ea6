/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the gate: what passes, the order of its checks, and that failing changes nothing. */
#include <string.h>

#include "core/gate.h"
#include "tests/lib/testcrypto.h"
#include "tests/lib/unit.h"

struct world {
    struct testcrypto tc;
    struct gmc_gate a, b;
    uint8_t bytes[256];
    uint8_t plain[256];
    size_t len;
};

static void open_world(struct world *w)
{
    struct gmc_session session = {.local_id = 1, .remote_id = 2};

    memset(w, 0, sizeof *w);
    testcrypto_init(&w->tc, 1);
    memset(session.send_secret, 0xaa, GMC_KEY_BYTES);
    memset(session.recv_secret, 0xbb, GMC_KEY_BYTES);
    assert_ok(gmc_gate_init(&w->a, &w->tc.crypto, &session));
    session.local_id = 2;
    session.remote_id = 1;
    memset(session.send_secret, 0xbb, GMC_KEY_BYTES);
    memset(session.recv_secret, 0xaa, GMC_KEY_BYTES);
    assert_ok(gmc_gate_init(&w->b, &w->tc.crypto, &session));
}

static void close_world(struct world *w)
{
    gmc_gate_fini(&w->a);
    gmc_gate_fini(&w->b);
}

/* A sealed STREAM datagram from a, "hello". */
static void seal(struct world *w, uint64_t number)
{
    memcpy(w->bytes + GMC_HEAD_BYTES, "hello", 5);
    assert_ok(gmc_gate_seal(&w->a, GMC_KIND_STREAM, number, w->bytes, 5));
    w->len = 5 + GMC_GATE_OVERHEAD;
}

/* A data datagram from a with a body of 10 bytes. */
static void seal_data(struct world *w, uint64_t number)
{
    const struct gmc_data_head head = {7, 8, 9};
    uint8_t *body = w->bytes + GMC_DATA_HEAD_BYTES;

    memset(body, 0x55, 10);
    memset(body + 10, 0x66, GMC_SEAL_TAG_BYTES);
    assert_ok(gmc_gate_head(&w->a, GMC_KIND_DATA, number, &head, body + 10, w->bytes));
    w->len = GMC_DATA_OVERHEAD_BYTES + 10;
}

/* One of parity, which has no seal of its own. */
static void seal_repair(struct world *w, uint64_t number)
{
    const struct gmc_data_head head = {0, 8, 9};

    memset(w->bytes + GMC_DATA_HEAD_BYTES, 0x55, 10 + GMC_SEAL_TAG_BYTES);
    assert_ok(gmc_gate_repair(&w->a, number, &head, w->bytes, 10 + GMC_SEAL_TAG_BYTES));
    w->len = GMC_DATA_OVERHEAD_BYTES + 10;
}

static gmc_status open_it(struct world *w, struct gmc_gate_packet *packet)
{
    return gmc_gate_open(&w->b, gmc_bytes(w->bytes, w->len), w->plain, packet);
}

static void opens_what_was_sealed(void **state)
{
    (void)state;
    struct world w;
    struct gmc_gate_packet packet;

    open_world(&w);
    seal(&w, 1000);
    assert_memory_not_equal(w.bytes + GMC_HEAD_BYTES, "hello", 5);
    assert_ok(open_it(&w, &packet));
    assert_int_equal(packet.kind, GMC_KIND_STREAM);
    assert_int_equal(packet.number, 1000);
    assert_int_equal(packet.content.len, 5);
    assert_memory_equal(packet.content.data, "hello", 5);
    seal_data(&w, UINT64_C(0x80000000));
    assert_ok(open_it(&w, &packet));
    assert_int_equal(packet.kind, GMC_KIND_DATA);
    assert_ptr_equal(packet.content.data, w.bytes + GMC_DATA_HEAD_BYTES);
    assert_int_equal(packet.content.len, 10);
    close_world(&w);
}

/* Nobody who lacks the key can spoil a bit of what other fragments are computed from. */
static void covers_all_of_a_repair(void **state)
{
    (void)state;
    struct world w;
    struct gmc_gate_packet packet;

    open_world(&w);
    seal_repair(&w, 5);
    for (size_t i = 0; i < w.len; i++) {
        w.bytes[i] ^= 0x10;
        assert_int_not_equal(open_it(&w, &packet), GMC_OK);
        w.bytes[i] ^= 0x10;
    }
    assert_ok(open_it(&w, &packet));
    assert_int_equal(packet.kind, GMC_KIND_GROUP_REPAIR);
    assert_int_equal(packet.content.len, 10);
    close_world(&w);
}

static void numbers_grow_beyond_what_is_on_the_wire(void **state)
{
    (void)state;
    struct world w;
    struct gmc_gate_packet packet;

    open_world(&w);
    for (uint64_t n = 1; n < UINT64_C(1) << 34; n += UINT64_C(1) << 30) {
        seal(&w, n);
        assert_ok(open_it(&w, &packet));
        assert_int_equal(packet.number, n);
    }
    close_world(&w);
}

static void refuses_a_replay(void **state)
{
    (void)state;
    struct world w;
    struct gmc_gate_packet packet;

    open_world(&w);
    seal(&w, 5);
    assert_ok(open_it(&w, &packet));
    assert_int_equal(open_it(&w, &packet), GMC_ERR_REPLAY);
    seal_data(&w, 4);
    assert_ok(open_it(&w, &packet));
    assert_int_equal(open_it(&w, &packet), GMC_ERR_REPLAY);
    close_world(&w);
}

/* Every flipped bit of what the link authenticates is found, and afterwards the true datagram
 * passes: nothing had changed. */
static void refuses_each_flipped_bit(void **state)
{
    (void)state;
    struct world w;
    struct gmc_gate_packet packet;

    open_world(&w);
    for (int data = 0; data < 2; data++) {
        if (data)
            seal_data(&w, 77);
        else
            seal(&w, 76);
        for (size_t bit = 0; bit < w.len * 8; bit++) {
            size_t at = bit / 8;
            /* The body itself is authenticated end to end, not by the link. */
            if (data && at >= GMC_DATA_HEAD_BYTES && at < w.len - GMC_SEAL_TAG_BYTES)
                continue;
            struct gmc_gate before = w.b;
            w.bytes[at] ^= (uint8_t)(1u << (bit % 8));
            assert_int_not_equal(open_it(&w, &packet), GMC_OK);
            w.bytes[at] ^= (uint8_t)(1u << (bit % 8));
            assert_memory_equal(&before, &w.b, sizeof before);
        }
        assert_ok(open_it(&w, &packet));
    }
    close_world(&w);
}

static void checks_in_order(void **state)
{
    (void)state;
    struct world w;
    struct gmc_gate_packet packet;
    size_t len;

    open_world(&w);
    seal(&w, 3);
    len = w.len;
    /* Everything is wrong; what is mended first is what is told last. */
    uint8_t good[256];
    memcpy(good, w.bytes, sizeof good);
    assert_ok(open_it(&w, &packet)); /* 3 is a replay from now on */
    w.bytes[len - 1] ^= 1;
    w.bytes[4] ^= 1;
    w.bytes[0] = 0x40 | 63;
    w.len = 8;
    assert_int_equal(open_it(&w, &packet), GMC_ERR_TRUNCATED);
    w.len = len;
    assert_int_equal(open_it(&w, &packet), GMC_ERR_VERSION);
    w.bytes[0] = 63;
    assert_int_equal(open_it(&w, &packet), GMC_ERR_TYPE);
    w.bytes[0] = GMC_KIND_ECHO; /* has no session */
    assert_int_equal(open_it(&w, &packet), GMC_ERR_TYPE);
    w.bytes[0] = GMC_KIND_STREAM;
    w.len = GMC_GATE_OVERHEAD - 1;
    assert_int_equal(open_it(&w, &packet), GMC_ERR_TRUNCATED);
    w.len = len;
    assert_int_equal(open_it(&w, &packet), GMC_ERR_UNKNOWN);
    w.bytes[4] ^= 1;
    assert_int_equal(open_it(&w, &packet), GMC_ERR_REPLAY);
    w.bytes[8] = 4; /* a new number */
    assert_int_equal(open_it(&w, &packet), GMC_ERR_AUTH);
    close_world(&w);
}

static void does_not_take_its_own_packets(void **state)
{
    (void)state;
    struct world w;
    struct gmc_gate_packet packet;

    open_world(&w);
    seal(&w, 3);
    gmc_put32(w.bytes + 1, 1); /* sent back to us, with our session */
    assert_int_equal(gmc_gate_open(&w.a, gmc_bytes(w.bytes, w.len), w.plain, &packet),
                     GMC_ERR_AUTH);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_what_was_sealed),
        cmocka_unit_test(covers_all_of_a_repair),
        cmocka_unit_test(numbers_grow_beyond_what_is_on_the_wire),
        cmocka_unit_test(refuses_a_replay),
        cmocka_unit_test(refuses_each_flipped_bit),
        cmocka_unit_test(checks_in_order),
        cmocka_unit_test(does_not_take_its_own_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
