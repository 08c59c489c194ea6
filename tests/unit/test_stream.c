/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the control stream: order, repetition, bounds. */
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "core/stream.h"
#include "tests/lib/unit.h"

static void push(struct gmc_stream_tx *tx, const char *text)
{
    assert_ok(gmc_stream_tx_push(tx, gmc_bytes_of_text(text)));
}

static void expect_piece(struct gmc_stream_tx *tx, size_t max, uint64_t offset, size_t len)
{
    uint64_t at;
    struct gmc_bytes piece;

    assert_true(gmc_stream_tx_is_ready(tx));
    assert_true(gmc_stream_tx_next(tx, max, &at, &piece));
    assert_int_equal(at, offset);
    assert_int_equal(piece.len, len);
}

static void hands_out_pieces_lost_ones_first(void **state)
{
    (void)state;
    struct gmc_stream_tx tx;
    struct gmc_bytes piece;
    uint64_t at;

    gmc_stream_tx_init(&tx);
    assert_false(gmc_stream_tx_is_ready(&tx));
    push(&tx, "0123456789abcdef"); /* 20 bytes with the length */
    push(&tx, "ghij");             /* 8 */
    expect_piece(&tx, 10, 0, 10);
    expect_piece(&tx, 10, 10, 10);
    gmc_stream_tx_lost(&tx, 0, 10);
    expect_piece(&tx, 6, 0, 6);
    expect_piece(&tx, 6, 6, 4);
    expect_piece(&tx, 10, 20, 8);
    assert_false(gmc_stream_tx_is_ready(&tx));
    assert_false(gmc_stream_tx_next(&tx, 10, &at, &piece));
    /* Out of order: nothing is released before the first byte is there. */
    gmc_stream_tx_acked(&tx, 10, 10);
    assert_int_equal(gmc_stream_tx_bytes(&tx), 28);
    /* What arrived is not sent again, although the packet around it is taken for lost. */
    gmc_stream_tx_lost(&tx, 6, 22);
    expect_piece(&tx, 100, 6, 4);
    expect_piece(&tx, 100, 20, 8);
    gmc_stream_tx_acked(&tx, 0, 10);
    assert_int_equal(gmc_stream_tx_bytes(&tx), 8);
    gmc_stream_tx_acked(&tx, 0, 28);
    assert_int_equal(gmc_stream_tx_bytes(&tx), 0);
    gmc_stream_tx_lost(&tx, 0, 28); /* late news */
    assert_false(gmc_stream_tx_is_ready(&tx));
    gmc_stream_tx_fini(&tx);
}

static void repeats_what_is_not_acknowledged(void **state)
{
    (void)state;
    struct gmc_stream_tx tx;

    gmc_stream_tx_init(&tx);
    push(&tx, "0123456789abcdef");
    assert_int_equal(gmc_stream_tx_repeat(&tx, 100), 0); /* nothing was sent */
    expect_piece(&tx, 8, 0, 8);
    expect_piece(&tx, 8, 8, 8);
    gmc_stream_tx_acked(&tx, 4, 4);
    assert_int_equal(gmc_stream_tx_repeat(&tx, 12), 12);
    expect_piece(&tx, 100, 0, 4);
    expect_piece(&tx, 100, 8, 4);
    expect_piece(&tx, 100, 16, 4);
    gmc_stream_tx_fini(&tx);
}

/* A peer that acknowledges every other byte exhausts the bookkeeping: all is sent again. */
static void goes_back_when_there_are_too_many_gaps(void **state)
{
    (void)state;
    struct gmc_stream_tx tx;
    struct gmc_bytes piece;
    uint8_t bytes[4000] = {0};
    uint64_t at;

    gmc_stream_tx_init(&tx);
    assert_ok(gmc_stream_tx_push(&tx, gmc_bytes(bytes, sizeof bytes)));
    while (gmc_stream_tx_next(&tx, 1, &at, &piece))
        assert_int_equal(piece.len, 1);
    for (uint64_t n = 1; !gmc_stream_tx_is_ready(&tx); n += 2) {
        assert_in_range(n, 1, 4000);
        gmc_stream_tx_acked(&tx, n, 1);
    }
    expect_piece(&tx, 5000, 0, 4004);
    assert_false(gmc_stream_tx_is_ready(&tx));
    gmc_stream_tx_acked(&tx, 0, 4004);
    assert_int_equal(gmc_stream_tx_bytes(&tx), 0);
    assert_false(gmc_stream_tx_is_ready(&tx));
    gmc_stream_tx_fini(&tx);
}

static void queues_up_to_its_bound(void **state)
{
    (void)state;
    struct gmc_stream_tx tx;
    uint8_t *bytes = calloc(1, GMC_STREAM_MESSAGE_MAX + 1);
    struct gmc_bytes piece;
    uint64_t at, sent = 0;

    gmc_stream_tx_init(&tx);
    assert_int_equal(gmc_stream_tx_push(&tx, gmc_bytes(bytes, GMC_STREAM_MESSAGE_MAX + 1)),
                     GMC_ERR_LIMIT);
    for (int i = 0; i < 3; i++)
        assert_ok(gmc_stream_tx_push(&tx, gmc_bytes(bytes, GMC_STREAM_MESSAGE_MAX)));
    assert_int_equal(gmc_stream_tx_push(&tx, gmc_bytes(bytes, GMC_STREAM_MESSAGE_MAX)),
                     GMC_ERR_FULL);
    /* No further than the window beyond what is acknowledged. */
    while (gmc_stream_tx_next(&tx, 1400, &at, &piece))
        sent += piece.len;
    assert_int_equal(sent, GMC_STREAM_WINDOW);
    gmc_stream_tx_acked(&tx, 0, 1400);
    expect_piece(&tx, 2000, GMC_STREAM_WINDOW, 1400);
    gmc_stream_tx_fini(&tx);
    free(bytes);
}

static void take(struct gmc_stream_rx *rx, uint64_t offset, const char *bytes, size_t len,
                 bool want_new)
{
    bool is_new;
    assert_ok(gmc_stream_rx_piece(rx, offset, gmc_bytes(bytes, len), &is_new));
    assert_int_equal(is_new, want_new);
}

static void expect_message(struct gmc_stream_rx *rx, const char *text)
{
    struct gmc_bytes message;
    assert_true(gmc_stream_rx_next(rx, &message));
    assert_true(gmc_bytes_equal(message, gmc_bytes_of_text(text)));
}

static void puts_pieces_together(void **state)
{
    (void)state;
    struct gmc_stream_rx rx;
    struct gmc_bytes message;
    const char stream[] = "\0\0\0\3abc\0\0\0\0\0\0\0\2de";

    gmc_stream_rx_init(&rx);
    take(&rx, 8, stream + 8, 4, true);
    take(&rx, 8, stream + 8, 4, false);
    take(&rx, 10, stream + 10, 1, false);
    take(&rx, 0, stream, 2, true);
    assert_false(gmc_stream_rx_next(&rx, &message));
    take(&rx, 1, stream + 1, 5, true);
    take(&rx, 5, stream + 5, 5, true); /* overlaps at both ends */
    expect_message(&rx, "abc");
    expect_message(&rx, "");
    assert_false(gmc_stream_rx_next(&rx, &message));
    take(&rx, 3, stream + 3, 14, true);
    expect_message(&rx, "de");
    assert_false(gmc_stream_rx_next(&rx, &message));
    take(&rx, 0, stream, 17, false);
    assert_int_equal(rx.missing, 17);
    gmc_stream_rx_fini(&rx);
}

static void takes_no_more_than_it_must(void **state)
{
    (void)state;
    struct gmc_stream_rx rx;
    struct gmc_bytes message;
    bool is_new;
    const uint64_t limit = GMC_STREAM_MESSAGE_MAX + 4 + GMC_STREAM_WINDOW;

    gmc_stream_rx_init(&rx);
    assert_int_equal(gmc_stream_rx_piece(&rx, limit, gmc_bytes("x", 1), &is_new), GMC_ERR_FULL);
    assert_int_equal(gmc_stream_rx_piece(&rx, UINT64_MAX, gmc_bytes("x", 1), &is_new),
                     GMC_ERR_FULL);
    assert_ok(gmc_stream_rx_piece(&rx, limit - 1, gmc_bytes("x", 1), &is_new));
    /* Single bytes with gaps between them: bounded too. */
    gmc_status status = GMC_OK;
    for (uint64_t n = 0; n < 5000 && status == GMC_OK; n++)
        status = gmc_stream_rx_piece(&rx, 100 + 2 * n, gmc_bytes("x", 1), &is_new);
    assert_int_equal(status, GMC_ERR_FULL);
    /* A length that no message has ends the stream. */
    take(&rx, 0, "\0\x10\0\1", 4, true);
    assert_false(gmc_stream_rx_next(&rx, &message));
    assert_true(rx.broken);
    gmc_stream_rx_fini(&rx);
}

/* Messages of all sizes through a channel that loses, repeats and reorders pieces. */
static void survives_disorder(void **state)
{
    (void)state;
    struct flying {
        uint64_t offset;
        size_t len;
        uint8_t bytes[1400];
    };
    struct gmc_stream_tx tx;
    struct gmc_stream_rx rx;
    struct gmc_prng prng;
    struct flying *air = malloc(32 * sizeof *air);
    size_t flying = 0;
    uint32_t pushed = 0, got = 0;

    gmc_stream_tx_init(&tx);
    gmc_stream_rx_init(&rx);
    gmc_prng_init(&prng, 5);
    for (int step = 0; step < 200000 && got < 400; step++) {
        struct gmc_bytes piece, message;
        uint8_t bytes[5000];
        uint64_t at;
        if (pushed < 400 && gmc_prng_chance_ppm(&prng, 100000)) {
            memset(bytes, (int)(pushed & 0xff), sizeof bytes);
            size_t len = 4 + pushed * 37 % 4900;
            memcpy(bytes, &pushed, 4);
            assert_ok(gmc_stream_tx_push(&tx, gmc_bytes(bytes, len)));
            pushed++;
        }
        if (flying < 32 && gmc_stream_tx_next(&tx, 1 + gmc_prng_below(&prng, 1400), &at, &piece)) {
            air[flying].offset = at;
            air[flying].len = piece.len;
            memcpy(air[flying++].bytes, piece.data, piece.len);
        }
        if (flying > 0 && gmc_prng_chance_ppm(&prng, 500000)) {
            struct flying *one = &air[gmc_prng_below(&prng, flying)];
            bool is_new;
            if (gmc_prng_chance_ppm(&prng, 200000)) {
                gmc_stream_tx_lost(&tx, one->offset, one->len);
            } else {
                assert_ok(gmc_stream_rx_piece(&rx, one->offset, gmc_bytes(one->bytes, one->len),
                                              &is_new));
                gmc_stream_tx_acked(&tx, one->offset, one->len);
            }
            *one = air[--flying];
        }
        if (gmc_prng_chance_ppm(&prng, 1000))
            gmc_stream_tx_repeat(&tx, 3000);
        while (gmc_stream_rx_next(&rx, &message)) {
            uint32_t number;
            assert_int_equal(message.len, 4 + got * 37 % 4900);
            memcpy(&number, message.data, 4);
            assert_int_equal(number, got);
            for (size_t i = 4; i < message.len; i++)
                assert_int_equal(message.data[i], got & 0xff);
            got++;
        }
    }
    assert_int_equal(got, 400);
    /* Empty again, it holds no memory worth speaking of. */
    assert_in_range(rx.buffer.capacity, 0, 4096);
    gmc_stream_tx_fini(&tx);
    gmc_stream_rx_fini(&rx);
    free(air);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hands_out_pieces_lost_ones_first),
        cmocka_unit_test(repeats_what_is_not_acknowledged),
        cmocka_unit_test(goes_back_when_there_are_too_many_gaps),
        cmocka_unit_test(queues_up_to_its_bound),
        cmocka_unit_test(puts_pieces_together),
        cmocka_unit_test(takes_no_more_than_it_must),
        cmocka_unit_test(survives_disorder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
