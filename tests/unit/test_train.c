/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/train.h: whole trains over wires that are shared or not, with losses, short queues and
 * words that never come; and what is not to be believed. */
#include "core/train.h"

#include "base/prng.h"
#include "tests/lib/unit.h"

#define MBIT UINT64_C(1000000)
#define START GMC_S(7)
#define RTT GMC_MS(30)
#define WORDS_MAX 256

/* A first wire that all share, then one to each. 0: no limit. */
struct net {
    uint64_t shared_bps, own_bps;
    size_t busy; /* receivers, the first ones, whose own wire has but busy_bps left */
    uint64_t busy_bps;
    uint32_t room;     /* packets in the first wire's queue; 0: no limit */
    uint32_t loss_ppm; /* on the last wire, and of words */
    struct gmc_prng prng;
    gmc_time shared_free, own_free[GMC_TRAIN_PEERS];
};

struct flying {
    gmc_time at;
    size_t from;
    uint32_t sample;
    struct gmc_train_word word;
};

static gmc_duration time_of(uint64_t bps)
{
    return bps > 0 ? GMC_TRAIN_WIRE_BYTES * UINT64_C(8) * GMC_S(1) / bps : 0;
}

/* When it arrives; NEVER: it does not. */
static gmc_time cross(struct net *net, gmc_time now, size_t to)
{
    gmc_duration shared = time_of(net->shared_bps),
                 own = time_of(to < net->busy ? net->busy_bps : net->own_bps);
    gmc_time at = gmc_time_max(now, net->shared_free);

    if (net->room > 0 && at - now > net->room * shared)
        return GMC_TIME_NEVER;
    net->shared_free = at + shared;
    at = gmc_time_max(net->shared_free, net->own_free[to]);
    net->own_free[to] = at + own;
    return gmc_prng_chance_ppm(&net->prng, net->loss_ppm) ? GMC_TIME_NEVER : at + own + RTT / 2;
}

/* All packets that are due, and the words about them in the order of their coming. */
static size_t send_all(struct net *net, struct gmc_train_out *out, struct gmc_train_in *in,
                       gmc_time now, struct flying *words)
{
    size_t count = 0, to;
    uint32_t sample;

    while (gmc_train_next(out, now, &to, &sample)) {
        gmc_time at = cross(net, now, to);
        struct gmc_train_word word;
        bool told;
        if (at == GMC_TIME_NEVER)
            continue;
        assert_int_equal(gmc_train_take(&in[to], sample, at, &told, &word), GMC_OK);
        if (!told || gmc_prng_chance_ppm(&net->prng, net->loss_ppm))
            continue;
        size_t i = count++;
        assert_in_range(i, 0, WORDS_MAX - 1);
        for (; i > 0 && words[i - 1].at > at + RTT / 2; i--)
            words[i] = words[i - 1];
        words[i] = (struct flying){at + RTT / 2, to, sample, word};
    }
    return count;
}

/* Runs trains to their end; returns how long that took. */
static gmc_duration run(struct net *net, size_t receivers, struct gmc_train_out *out)
{
    struct gmc_train_in in[GMC_TRAIN_PEERS] = {0};
    gmc_time now = START;

    gmc_prng_init(&net->prng, 5);
    gmc_train_begin(out, receivers, RTT);
    assert_int_equal(gmc_train_deadline(out), 0);
    for (bool over = false; !over;) {
        struct flying words[WORDS_MAX];
        size_t count = send_all(net, out, in, now, words), at = 0;
        bool was_long = out->is_long;
        while (!over && out->is_long == was_long) {
            gmc_time deadline = gmc_train_deadline(out);
            assert_true(deadline != GMC_TIME_NEVER && deadline >= now);
            if (at < count && words[at].at <= deadline) {
                now = words[at].at;
                const struct flying *word = &words[at++];
                gmc_status status = gmc_train_told(out, now, word->from, word->sample, &word->word);
                assert_true(status == GMC_OK || status == GMC_ERR_UNKNOWN); /* overtaken */
            } else {
                now = deadline;
            }
            over = gmc_train_is_over(out, now);
        }
    }
    assert_int_equal(gmc_train_deadline(out), GMC_TIME_NEVER);
    return now - START;
}

static void assert_near(uint64_t rate, uint64_t expected, unsigned percent)
{
    assert_in_range(rate, expected - expected / 100 * percent, expected + expected / 100 * percent);
}

/* ---- what it shows ---- */
static void test_shared_wire_is_seen_by_all_together(void **state)
{
    (void)state;
    for (size_t receivers = 1; receivers <= GMC_TRAIN_PEERS; receivers++) {
        struct net net = {.shared_bps = 100 * MBIT};
        struct gmc_train_out out;
        gmc_duration took = run(&net, receivers, &out);

        assert_near(gmc_train_rate(&out), 100 * MBIT, 1);
        assert_false(out.is_long);
        assert_in_range(took, RTT, RTT + GMC_MS(12));
    }
}

static void test_paths_of_their_own_add_up(void **state)
{
    struct net net = {.own_bps = 100 * MBIT};
    struct gmc_train_out out;

    (void)state;
    (void)run(&net, 6, &out);
    assert_near(gmc_train_rate(&out), 600 * MBIT, 1);
}

/* A slow receiver takes less than its share, and hides nothing of the others' but that. */
static void test_slow_paths_are_the_limit(void **state)
{
    struct net net = {.shared_bps = 1000 * MBIT, .own_bps = 10 * MBIT};
    struct gmc_train_out out;

    (void)state;
    (void)run(&net, 4, &out);
    assert_near(gmc_train_rate(&out), 40 * MBIT, 1);
}

static void test_fast_wire_gets_the_long_train(void **state)
{
    struct net net = {.shared_bps = 1000 * MBIT};
    struct gmc_train_out out;

    (void)state;
    gmc_duration took = run(&net, 6, &out);
    assert_true(out.is_long);
    assert_near(gmc_train_rate(&out), 1000 * MBIT, 1);
    assert_in_range(took, 2 * RTT, 2 * RTT + GMC_MS(8));
}

/* What was lost is missing in the rate, and nobody waits for long. */
static void test_losses_count(void **state)
{
    struct net net = {.shared_bps = 100 * MBIT, .loss_ppm = 200000};
    struct gmc_train_out out;

    (void)state;
    gmc_duration took = run(&net, 4, &out);
    assert_near(gmc_train_rate(&out), 80 * MBIT, 5);
    assert_true(out.is_long);                              /* more of them, to be sure */
    assert_in_range(took, 2 * RTT, 4 * RTT + GMC_MS(110)); /* both trains */
}

/* A queue that holds a part of the train: what got through was as far apart as ever. */
static void test_full_queue_changes_nothing(void **state)
{
    struct net net = {.shared_bps = 100 * MBIT, .room = 30};
    struct gmc_train_out out;

    (void)state;
    (void)run(&net, 4, &out);
    assert_near(gmc_train_rate(&out), 100 * MBIT, 3);
}

static void test_where_nothing_is_told_nothing_is_known(void **state)
{
    struct net short_queue = {.shared_bps = 100 * MBIT, .room = 10};
    struct net dead = {.shared_bps = 100 * MBIT, .loss_ppm = 1000000};
    struct gmc_train_out out;

    (void)state;
    (void)run(&short_queue, 16, &out);
    assert_int_equal(gmc_train_rate(&out), 0);
    assert_int_equal(run(&dead, 4, &out), 2 * RTT + GMC_MS(100));
    assert_int_equal(gmc_train_rate(&out), 0);
}

/* To some of them many others send at the same time. */
static void test_busy_receivers_hide_nothing(void **state)
{
    struct net net = {.shared_bps = 100 * MBIT, .busy = 7, .busy_bps = MBIT};
    struct gmc_train_out out;

    (void)state;
    (void)run(&net, 16, &out);
    assert_near(gmc_train_rate(&out), 100 * MBIT, 2);
}

/* ---- what is not believed ---- */
static void test_packets_count_once(void **state)
{
    struct gmc_train_in in = {0};
    struct gmc_train_word word;
    bool told;

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(gmc_train_take(&in, i, START + i, &told, &word), GMC_OK);
        assert_false(told);
        assert_int_equal(gmc_train_take(&in, i, START + i, &told, &word), GMC_ERR_FULL);
    }
    assert_int_equal(gmc_train_take(&in, GMC_TRAIN_SAMPLES, START, &told, &word), GMC_ERR_INVALID);
    /* Overtaken by the next train. */
    assert_int_equal(gmc_train_take(&in, GMC_TRAIN_SHORT, START + 9, &told, &word), GMC_OK);
    assert_int_equal(gmc_train_take(&in, 3, START + 9, &told, &word), GMC_OK);
    assert_false(told);
    assert_int_equal(in.packets, 1);
}

/* Its own order does not matter. */
static void test_overtaking_packets(void **state)
{
    struct gmc_train_in in = {0};
    struct gmc_train_word word;
    bool told = false;

    (void)state;
    for (uint32_t i = 0; i < GMC_TRAIN_TOLD; i++)
        assert_int_equal(gmc_train_take(&in, GMC_TRAIN_TOLD - 1 - i, START + 1000 * (i ^ 1), &told,
                                        &word),
                         GMC_OK);
    assert_true(told);
    assert_int_equal(word.span, 1000 * (GMC_TRAIN_TOLD - 1));
    assert_int_equal(word.bytes, GMC_TRAIN_WIRE_BYTES * (GMC_TRAIN_TOLD - 1));
}

static void test_false_words(void **state)
{
    const uint32_t most = (GMC_TRAIN_SHORT / 2 - 1) * GMC_TRAIN_WIRE_BYTES;
    const struct gmc_train_word good = {most / 2, 1000000}, more = {most, 2000000},
                                too_much = {most + 1, 1000000}, at_once = {most, 0};
    struct gmc_train_out out;
    uint32_t sample;
    size_t to;

    (void)state;
    gmc_train_begin(&out, 2, RTT);
    while (gmc_train_next(&out, START, &to, &sample))
        ;
    assert_int_equal(gmc_train_told(&out, START, 2, 3, &good), GMC_ERR_UNKNOWN);
    assert_int_equal(gmc_train_told(&out, START, 0, GMC_TRAIN_SHORT, &good), GMC_ERR_UNKNOWN);
    assert_int_equal(gmc_train_told(&out, START, 0, 3, &too_much), GMC_ERR_INVALID);
    assert_int_equal(gmc_train_told(&out, START, 0, 3, &at_once), GMC_ERR_INVALID);
    assert_int_equal(gmc_train_told(&out, START, 0, 3, &good), GMC_OK);
    assert_int_equal(gmc_train_told(&out, START, 0, 3, &good), GMC_ERR_UNKNOWN); /* again */
    assert_int_equal(gmc_train_told(&out, START, 0, 7, &more), GMC_OK);
    assert_int_equal(gmc_train_told(&out, START, 0, 3, &good), GMC_ERR_UNKNOWN); /* overtaken */
    /* One byte in four seconds: the rest would be there in a month. */
    assert_int_equal(gmc_train_told(&out, START, 1, 3, &(struct gmc_train_word){1, UINT32_MAX}),
                     GMC_OK);
    assert_true(gmc_train_deadline(&out) <= START + 2 * RTT + GMC_MS(500));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared_wire_is_seen_by_all_together),
        cmocka_unit_test(test_paths_of_their_own_add_up),
        cmocka_unit_test(test_slow_paths_are_the_limit),
        cmocka_unit_test(test_fast_wire_gets_the_long_train),
        cmocka_unit_test(test_losses_count),
        cmocka_unit_test(test_full_queue_changes_nothing),
        cmocka_unit_test(test_where_nothing_is_told_nothing_is_known),
        cmocka_unit_test(test_busy_receivers_hide_nothing),
        cmocka_unit_test(test_packets_count_once),
        cmocka_unit_test(test_overtaking_packets),
        cmocka_unit_test(test_false_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
