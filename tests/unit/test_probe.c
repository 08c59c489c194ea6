/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/probe: rounds of several participants in virtual time, over a network with delay,
 * loss, reordering and duplicates; forged and replayed echoes; silence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/probe.h"
#include "tests/unit/toy_crypto.h"

#define N_MAX 8
#define FLYING_MAX 4096
#define START GMC_S(100)
#define PEER(i) ((gmc_peer)(1000 + (i))) /* numbers differ from indexes */

struct packet {
    gmc_time at;
    size_t from, to;
    uint8_t bytes[GMC_ECHO_BYTES];
};

/* Participants, and a network that may do everything but change bytes. */
struct round {
    size_t n;
    struct gmc_probe *probe[N_MAX];
    gmc_duration delay[N_MAX][N_MAX]; /* one way */
    gmc_duration jitter;              /* at most so much is added to every packet */
    uint32_t loss_ppm, copy_ppm;
    bool silent[N_MAX];
    gmc_time now;
    struct gmc_prng prng;
    struct packet flying[FLYING_MAX];
    size_t flying_count;
    unsigned echoes, replies, refused;
    gmc_time sent_first[N_MAX], sent_last[N_MAX]; /* echoes of each participant */
};

static struct toy_ctx toy;
static const struct gmc_crypto crypto = {&toy_crypto_ops, &toy};

static void round_init(struct round *r, size_t n, gmc_duration timeout)
{
    gmc_peer peers[N_MAX];

    memset(r, 0, sizeof(*r));
    r->n = n;
    r->now = START;
    gmc_prng_init(&r->prng, 7);
    for (size_t i = 0; i < n; i++) {
        peers[i] = PEER(i);
        for (size_t j = 0; j < n; j++)
            r->delay[i][j] = GMC_MS(5 * (i + j) + (i < j));
    }
    for (size_t i = 0; i < n; i++) {
        struct gmc_probe_config config = {.crypto = &crypto,
                                          .id = 0x1122334455667788,
                                          .key = "thirty-two bytes of a probe key",
                                          .participants = peers,
                                          .count = n,
                                          .self = i,
                                          .timeout = timeout};

        gmc_prng_fork_nth(&r->prng, "probe", i, &config.prng);
        r->probe[i] = gmc_probe_new(&config, r->now);
        assert_non_null(r->probe[i]);
        assert_int_equal(gmc_probe_id(r->probe[i]), config.id);
    }
}

static void round_fini(struct round *r)
{
    for (size_t i = 0; i < r->n; i++)
        gmc_probe_free(r->probe[i]);
}

static void put(struct round *r, size_t from, size_t to, const uint8_t bytes[GMC_ECHO_BYTES])
{
    unsigned copies = 1 + gmc_prng_chance_ppm(&r->prng, r->copy_ppm);

    if (r->silent[from] || r->silent[to])
        return;
    while (copies-- > 0) {
        struct packet *packet = &r->flying[r->flying_count];

        if (gmc_prng_chance_ppm(&r->prng, r->loss_ppm))
            continue;
        assert_in_range(r->flying_count, 0, FLYING_MAX - 1);
        r->flying_count++;
        packet->at = r->now + r->delay[from][to] + gmc_prng_below(&r->prng, r->jitter + 1);
        packet->from = from;
        packet->to = to;
        memcpy(packet->bytes, bytes, GMC_ECHO_BYTES);
    }
}

static void ask(struct round *r, size_t i)
{
    uint8_t echo[GMC_ECHO_BYTES];
    gmc_peer to;

    while (gmc_probe_next_echo(r->probe[i], r->now, echo, &to)) {
        if (r->sent_first[i] == 0)
            r->sent_first[i] = r->now;
        r->sent_last[i] = r->now;
        r->echoes++;
        assert_in_range(to, PEER(0), PEER(r->n - 1));
        put(r, i, to - PEER(0), echo);
    }
}

static void deliver(struct round *r, size_t at)
{
    struct packet packet = r->flying[at];
    uint8_t reply[GMC_ECHO_BYTES];
    uint8_t kind;

    r->flying[at] = r->flying[--r->flying_count];
    assert_int_equal(gmc_head_kind(gmc_bytes(packet.bytes, GMC_ECHO_BYTES), &kind), GMC_OK);
    if (kind == GMC_KIND_ECHO) {
        if (gmc_probe_on_echo(r->probe[packet.to], gmc_bytes(packet.bytes, GMC_ECHO_BYTES),
                              reply) == GMC_OK) {
            r->replies++;
            put(r, packet.to, packet.from, reply);
        } else {
            r->refused++;
        }
    } else if (gmc_probe_on_reply(r->probe[packet.to], r->now,
                                  gmc_bytes(packet.bytes, GMC_ECHO_BYTES)) != GMC_OK) {
        r->refused++;
    }
}

/* The next instant at which something happens; NEVER when all is over. */
static gmc_time next_instant(const struct round *r)
{
    gmc_time next = GMC_TIME_NEVER;

    for (size_t i = 0; i < r->n; i++)
        next = gmc_time_min(next, gmc_probe_deadline(r->probe[i]));
    for (size_t i = 0; i < r->flying_count; i++)
        next = gmc_time_min(next, r->flying[i].at);
    return next;
}

static bool all_done(const struct round *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (!gmc_probe_done(r->probe[i], r->now))
            return false;
    return true;
}

/* Runs to the end; returns how long it took until everyone was done. */
static gmc_duration round_run(struct round *r)
{
    gmc_duration took = 0;
    gmc_time next, last = 0;
    unsigned at_once = 0;

    while ((next = next_instant(r)) != GMC_TIME_NEVER) {
        next = gmc_time_max(next, r->now); /* a deadline that has passed means now */
        at_once = next == last ? at_once + 1 : 0;
        assert_in_range(at_once, 0, 200); /* nobody spins */
        last = r->now = next;
        for (size_t i = 0; i < r->n; i++)
            ask(r, i);
        for (size_t i = 0; i < r->flying_count;)
            if (r->flying[i].at == r->now)
                deliver(r, i);
            else
                i++;
        if (took == 0 && all_done(r))
            took = r->now - START;
    }
    assert_true(all_done(r));
    return took;
}

static gmc_duration rtt(const struct round *r, size_t i, size_t j)
{
    return r->delay[i][j] + r->delay[j][i];
}

/* ---- rounds ---- */

static void exact_without_jitter(void **state)
{
    struct round r;

    (void)state;
    round_init(&r, 7, 0);
    /* Far pairs have 2 * 5 * 11 ms: the last samples go out within 24 * 3 ms. */
    assert_in_range(round_run(&r), GMC_MS(110), GMC_MS(110 + 80));
    assert_int_equal(r.echoes, 7 * 6 * GMC_PROBE_SAMPLES);
    assert_int_equal(r.replies, r.echoes);
    assert_int_equal(r.refused, 0);
    for (size_t i = 0; i < r.n; i++) {
        for (size_t j = 0; j < r.n; j++) {
            struct gmc_latency latency;

            assert_int_equal(gmc_probe_result(r.probe[i], j, &latency), i != j);
            if (i == j)
                continue;
            assert_int_equal(latency.rtt_min, rtt(&r, i, j));
            assert_int_equal(latency.spread, 0);
            assert_in_range(latency.measured, START, r.now);
        }
    }
    round_fini(&r);
}

static void echoes_are_spread(void **state)
{
    struct round r;

    (void)state;
    round_init(&r, 7, 0);
    round_run(&r);
    for (size_t i = 0; i < r.n; i++) {
        /* 24 echoes, 23 distances of 1 to 3 ms, after a first one of at most 2 ms. */
        assert_in_range(r.sent_first[i] - START, 0, GMC_MS(2));
        assert_in_range(r.sent_last[i] - r.sent_first[i], GMC_MS(23), GMC_MS(69));
        if (i > 0)
            assert_int_not_equal(r.sent_first[i], r.sent_first[i - 1]);
    }
    round_fini(&r);
}

static void jitter_gives_minimum_and_spread(void **state)
{
    struct round r;

    (void)state;
    round_init(&r, 4, 0);
    r.jitter = GMC_MS(20); /* far more than the distance of echoes: they overtake each other */
    r.copy_ppm = 300000;
    round_run(&r);
    assert_true(r.refused > 0); /* the copies */
    for (size_t i = 0; i < r.n; i++) {
        for (size_t j = 0; j < r.n; j++) {
            struct gmc_latency latency;

            if (i == j)
                continue;
            assert_true(gmc_probe_result(r.probe[i], j, &latency));
            assert_in_range(latency.rtt_min, rtt(&r, i, j), rtt(&r, i, j) + GMC_MS(40));
            assert_in_range(latency.rtt_min + latency.spread, latency.rtt_min,
                            rtt(&r, i, j) + GMC_MS(40));
        }
    }
    round_fini(&r);
}

/* 20 % loss each way: second tries fill in, and the round ends well before the timeout. */
static void loss_is_asked_again(void **state)
{
    unsigned missing = 0, pairs = 0, early = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct round r;

        round_init(&r, 6, 0);
        gmc_prng_init(&r.prng, seed);
        r.loss_ppm = 200000;
        early += round_run(&r) < GMC_MS(600);
        assert_true(r.echoes > 6 * 5 * GMC_PROBE_SAMPLES);
        assert_in_range(r.echoes, 1, 6 * 5 * 2 * GMC_PROBE_SAMPLES);
        for (size_t i = 0; i < r.n; i++) {
            for (size_t j = 0; j < r.n; j++) {
                struct gmc_latency latency;

                pairs += i != j;
                if (i == j)
                    continue;
                if (gmc_probe_result(r.probe[i], j, &latency))
                    assert_int_equal(latency.rtt_min, rtt(&r, i, j));
                else
                    missing++;
            }
        }
        round_fini(&r);
    }
    assert_int_equal(pairs, 600);
    assert_in_range(missing, 0, 3); /* expected 600 * (1-0.8^2)^8 = 0.2 */
    assert_in_range(early, 16, 20);
}

static void the_silent_are_given_up(void **state)
{
    struct round r;
    struct gmc_latency latency;

    (void)state;
    round_init(&r, 4, GMC_MS(300));
    r.silent[2] = true;
    assert_int_equal(round_run(&r), GMC_MS(300));
    assert_false(gmc_probe_result(r.probe[0], 2, &latency));
    assert_true(gmc_probe_result(r.probe[0], 1, &latency));
    assert_true(gmc_probe_result(r.probe[0], 3, &latency));
    assert_int_equal(gmc_probe_deadline(r.probe[0]), GMC_TIME_NEVER);
    round_fini(&r);
}

/* A participant farther away than the patience with the silent: its late answers to first tries
 * count as such, none is taken for an answer to a second try. */
static void late_answers_count(void **state)
{
    struct round r;
    struct gmc_latency latency;

    (void)state;
    round_init(&r, 2, GMC_MS(900));
    r.delay[0][1] = r.delay[1][0] = GMC_MS(200);
    assert_in_range(round_run(&r), GMC_MS(400), GMC_MS(500));
    assert_true(r.echoes > 2 * GMC_PROBE_SAMPLES);
    assert_true(gmc_probe_result(r.probe[0], 1, &latency));
    assert_int_equal(latency.rtt_min, GMC_MS(400));
    assert_int_equal(latency.spread, 0);
    round_fini(&r);
}

static void many_are_asked_faster(void **state)
{
    static gmc_peer peers[GMC_PROBE_PARTICIPANTS_MAX];
    struct gmc_probe_config config = {.crypto = &crypto,
                                      .participants = peers,
                                      .count = GMC_PROBE_PARTICIPANTS_MAX,
                                      .self = 17};
    size_t asked[GMC_PROBE_PARTICIPANTS_MAX] = {0};
    struct gmc_probe *probe;
    gmc_time now = START, last = 0;
    size_t first_tries = 0;

    (void)state;
    for (size_t i = 0; i < config.count; i++)
        peers[i] = (gmc_peer)i;
    gmc_prng_init(&config.prng, 1);
    probe = gmc_probe_new(&config, now);
    while (gmc_probe_deadline(probe) != GMC_TIME_NEVER) {
        uint8_t bytes[GMC_ECHO_BYTES];
        struct gmc_echo echo;
        gmc_peer to;

        now = gmc_probe_deadline(probe);
        while (gmc_probe_next_echo(probe, now, bytes, &to)) {
            assert_int_equal(gmc_echo_get(gmc_bytes(bytes, sizeof(bytes)), &echo), GMC_OK);
            assert_int_equal(to, echo.to);
            asked[to]++;
            if (echo.sample < GMC_PROBE_SAMPLES) {
                first_tries++;
                last = now;
            }
        }
    }
    assert_int_equal(now, START + GMC_S(1));
    assert_int_equal(first_tries, (config.count - 1) * GMC_PROBE_SAMPLES);
    assert_in_range(last - START, GMC_MS(200), GMC_MS(300));
    for (size_t i = 0; i < config.count; i++)
        assert_in_range(asked[i], i == 17 ? 0 : GMC_PROBE_SAMPLES,
                        i == 17 ? 0 : 2 * GMC_PROBE_SAMPLES);
    gmc_probe_free(probe);
}

/* In a round of many each listed one is asked twice (and, being silent, once more while there is
 * time), so slowly that it hears no more than it may from all of them. */
static void a_part_of_many_is_asked_less(void **state)
{
    const gmc_peer peers[3] = {PEER(0), PEER(1), PEER(2)};
    const uint32_t numbers[3] = {0, 4711, 9999};
    struct gmc_probe_config config = {.crypto = &crypto,
                                      .participants = peers,
                                      .numbers = numbers,
                                      .count = 3,
                                      .self = 1,
                                      .total = 10000};
    uint8_t bytes[GMC_ECHO_BYTES];
    size_t asked[2] = {0}, first_tries = 0;
    gmc_time now, last = 0;
    struct gmc_probe *probe;
    struct gmc_echo echo;
    gmc_peer to;

    (void)state;
    gmc_prng_init(&config.prng, 1);
    probe = gmc_probe_new(&config, START);
    while ((now = gmc_probe_deadline(probe)) != GMC_TIME_NEVER) {
        while (gmc_probe_next_echo(probe, now, bytes, &to)) {
            assert_int_equal(gmc_echo_get(gmc_bytes(bytes, sizeof(bytes)), &echo), GMC_OK);
            assert_int_equal(echo.from, 4711);
            assert_int_equal(echo.to, to == PEER(2) ? 9999 : 0);
            asked[to == PEER(2)]++;
            if (echo.sample < GMC_PROBE_SAMPLES) {
                first_tries++;
                last = now;
            }
        }
    }
    assert_int_equal(first_tries, 2 * GMC_PROBE_SAMPLES_OF_MANY);
    assert_in_range(asked[0], GMC_PROBE_SAMPLES_OF_MANY, 2 * GMC_PROBE_SAMPLES_OF_MANY);
    assert_in_range(asked[1], GMC_PROBE_SAMPLES_OF_MANY, 2 * GMC_PROBE_SAMPLES_OF_MANY);
    assert_in_range(last - START, gmc_probe_spread(10000) / 3, 2 * gmc_probe_spread(10000));
    gmc_probe_free(probe);
}

/* Pairs that are known, and peers that are not known here, are neither asked nor waited for; they
 * are answered all the same. */
static void skipped_are_not_asked(void **state)
{
    const gmc_peer peers[4] = {PEER(0), PEER(1), GMC_PEER_NONE, PEER(3)};
    const uint64_t skip[1] = {1u << 1};
    struct gmc_probe_config config = {
        .crypto = &crypto, .participants = peers, .skip = skip, .count = 4, .self = 0};
    struct gmc_probe *probe;
    gmc_time now = START;
    uint8_t bytes[GMC_ECHO_BYTES];
    unsigned echoes = 0;
    gmc_peer to;

    (void)state;
    gmc_prng_init(&config.prng, 1);
    probe = gmc_probe_new(&config, now);
    while ((now = gmc_probe_deadline(probe)) != GMC_TIME_NEVER) {
        while (gmc_probe_next_echo(probe, now, bytes, &to)) {
            assert_int_equal(to, PEER(3));
            echoes++;
        }
    }
    assert_int_equal(echoes, 2 * GMC_PROBE_SAMPLES); /* nobody answered */
    gmc_probe_free(probe);
}

static void nobody_to_ask(void **state)
{
    const gmc_peer peers[2] = {PEER(0), PEER(1)};
    const uint64_t skip[1] = {~UINT64_C(0)};
    struct gmc_probe_config config = {.crypto = &crypto,
                                      .participants = peers,
                                      .skip = skip,
                                      .count = 2};
    uint8_t bytes[GMC_ECHO_BYTES];
    struct gmc_probe *probe;
    gmc_peer to;

    (void)state;
    gmc_prng_init(&config.prng, 1);
    probe = gmc_probe_new(&config, START);
    assert_true(gmc_probe_done(probe, START));
    assert_int_equal(gmc_probe_deadline(probe), GMC_TIME_NEVER);
    assert_false(gmc_probe_next_echo(probe, START + GMC_MS(5), bytes, &to));
    gmc_probe_free(probe);
    config.skip = NULL;
    config.count = 1;
    probe = gmc_probe_new(&config, START);
    assert_true(gmc_probe_done(probe, START));
    gmc_probe_free(probe);
    config.self = 1;
    assert_null(gmc_probe_new(&config, START));
    config.count = 0;
    assert_null(gmc_probe_new(&config, START));
    config.count = GMC_PROBE_PARTICIPANTS_MAX + 1;
    assert_null(gmc_probe_new(&config, START));
}

/* ---- what is refused ---- */

/* The first echo from 0 to 1 and its reply, at the time when it arrives. */
static void one_exchange(struct round *r, uint8_t echo[GMC_ECHO_BYTES],
                         uint8_t reply[GMC_ECHO_BYTES])
{
    gmc_peer to;

    round_init(r, 2, 0);
    r->now = gmc_probe_deadline(r->probe[0]);
    assert_true(gmc_probe_next_echo(r->probe[0], r->now, echo, &to));
    assert_int_equal(gmc_probe_on_echo(r->probe[1], gmc_bytes(echo, GMC_ECHO_BYTES), reply),
                     GMC_OK);
    r->now += GMC_MS(10);
}

static void forged_bytes(void **state)
{
    uint8_t echo[GMC_ECHO_BYTES], reply[GMC_ECHO_BYTES], out[GMC_ECHO_BYTES];
    struct round r;

    (void)state;
    one_exchange(&r, echo, reply);
    for (size_t i = 0; i < 31; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            gmc_status status;

            echo[i] ^= (uint8_t)(1u << bit);
            reply[i] ^= (uint8_t)(1u << bit);
            status = gmc_probe_on_echo(r.probe[1], gmc_bytes(echo, GMC_ECHO_BYTES), out);
            assert_true(status == GMC_ERR_AUTH || status == GMC_ERR_INVALID);
            status = gmc_probe_on_reply(r.probe[0], r.now, gmc_bytes(reply, GMC_ECHO_BYTES));
            assert_true(status == GMC_ERR_AUTH || status == GMC_ERR_INVALID);
            if (i >= 15) /* the time and the tag are only protected by the tag */
                assert_int_equal(status, GMC_ERR_AUTH);
            echo[i] ^= (uint8_t)(1u << bit);
            reply[i] ^= (uint8_t)(1u << bit);
        }
    }
    for (size_t len = 0; len < GMC_ECHO_BYTES; len++) {
        assert_int_equal(gmc_probe_on_echo(r.probe[1], gmc_bytes(echo, len), out), GMC_ERR_INVALID);
        assert_int_equal(gmc_probe_on_reply(r.probe[0], r.now, gmc_bytes(reply, len)),
                         GMC_ERR_INVALID);
    }
    round_fini(&r);
}

static void replays(void **state)
{
    uint8_t echo[GMC_ECHO_BYTES], reply[GMC_ECHO_BYTES], out[GMC_ECHO_BYTES];
    struct gmc_latency latency;
    struct round r;

    (void)state;
    one_exchange(&r, echo, reply);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(gmc_probe_on_echo(r.probe[1], gmc_bytes(echo, GMC_ECHO_BYTES), out),
                         GMC_ERR_FULL);
    assert_int_equal(gmc_probe_on_reply(r.probe[0], r.now, gmc_bytes(reply, GMC_ECHO_BYTES)),
                     GMC_OK);
    assert_int_equal(gmc_probe_on_reply(r.probe[0], r.now + 5, gmc_bytes(reply, GMC_ECHO_BYTES)),
                     GMC_ERR_UNKNOWN);
    assert_true(gmc_probe_result(r.probe[0], 1, &latency));
    assert_int_equal(latency.rtt_min, GMC_MS(10));
    assert_int_equal(latency.measured, r.now);
    round_fini(&r);
}

/* An echo that comes back to its asker, a reply sent to somebody else, a reply as an echo. */
static void misdirected(void **state)
{
    uint8_t echo[GMC_ECHO_BYTES], reply[GMC_ECHO_BYTES], out[GMC_ECHO_BYTES];
    struct round r;

    (void)state;
    one_exchange(&r, echo, reply);
    assert_int_equal(gmc_probe_on_echo(r.probe[0], gmc_bytes(echo, GMC_ECHO_BYTES), out),
                     GMC_ERR_INVALID);
    assert_int_equal(gmc_probe_on_reply(r.probe[1], r.now, gmc_bytes(reply, GMC_ECHO_BYTES)),
                     GMC_ERR_INVALID);
    assert_int_equal(gmc_probe_on_echo(r.probe[1], gmc_bytes(reply, GMC_ECHO_BYTES), out),
                     GMC_ERR_INVALID);
    assert_int_equal(gmc_probe_on_reply(r.probe[0], r.now, gmc_bytes(echo, GMC_ECHO_BYTES)),
                     GMC_ERR_INVALID);
    round_fini(&r);
}

/* A participant holds the key and so can make replies: to echoes that were never sent, or before
 * one could have arrived. Only the first kind is refused, and the second cannot be told from a
 * near participant; but no sample is ever below the time that passed. */
static void unasked_reply(void **state)
{
    uint8_t echo[GMC_ECHO_BYTES], reply[GMC_ECHO_BYTES];
    uint8_t nonce[GMC_NONCE_BYTES] = {GMC_KIND_ECHO_REPLY, 0, 0, 0, 0, 1, 0, 3};
    struct gmc_aead *aead;
    struct round r;

    (void)state;
    one_exchange(&r, echo, reply);
    aead = toy_aead_new(NULL, (const uint8_t *)"thirty-two bytes of a probe key");
    reply[14] = 3; /* sample 3 was not sent yet */
    assert_int_equal(toy_tag(aead, nonce, gmc_bytes(reply, 23), gmc_bytes(NULL, 0), reply + 23),
                     GMC_OK);
    assert_int_equal(gmc_probe_on_reply(r.probe[0], r.now, gmc_bytes(reply, GMC_ECHO_BYTES)),
                     GMC_ERR_UNKNOWN);
    reply[14] = nonce[7] = 0;
    reply[22] ^= 1; /* another time than that of the echo */
    assert_int_equal(toy_tag(aead, nonce, gmc_bytes(reply, 23), gmc_bytes(NULL, 0), reply + 23),
                     GMC_OK);
    assert_int_equal(gmc_probe_on_reply(r.probe[0], r.now, gmc_bytes(reply, GMC_ECHO_BYTES)),
                     GMC_ERR_INVALID);
    toy_aead_free(aead);
    round_fini(&r);
}

/* ---- the cache of pairs ---- */

static bool cached(const struct gmc_latency_cache *cache, gmc_peer a, gmc_peer b, gmc_time now,
                   uint64_t *rtt_min)
{
    struct gmc_latency latency;

    if (!gmc_latency_cache_get(cache, a, b, now, GMC_S(600), &latency))
        return false;
    *rtt_min = latency.rtt_min;
    return true;
}

static void report(struct gmc_latency_cache *cache, gmc_peer a, gmc_peer b, gmc_duration rtt_min,
                   gmc_time measured)
{
    gmc_latency_cache_put(cache, a, b,
                          &(struct gmc_latency){.rtt_min = rtt_min,
                                                .spread = rtt_min / 2,
                                                .measured = measured});
}

static void cache_of_pairs(void **state)
{
    struct gmc_latency_cache *cache = gmc_latency_cache_new(100);
    struct gmc_latency latency;
    uint64_t found = 0;

    (void)state;
    assert_false(cached(cache, 1, 2, START, &found));
    report(cache, 1, 2, 50, START);
    assert_true(cached(cache, 2, 1, START, &found)); /* unordered */
    assert_int_equal(found, 50);
    /* Of two reports within one round the smaller minimum counts, in any order. */
    report(cache, 2, 1, 40, START + GMC_S(1));
    assert_true(cached(cache, 1, 2, START, &found) && found == 40);
    report(cache, 2, 1, 45, START + GMC_S(1));
    assert_true(cached(cache, 1, 2, START, &found) && found == 40);
    report(cache, 2, 1, 39, START);
    assert_true(gmc_latency_cache_get(cache, 1, 2, START, 0, &latency));
    assert_int_equal(latency.rtt_min, 39);
    assert_int_equal(latency.spread, 19);
    assert_int_equal(latency.measured, START + GMC_S(1));
    /* A later round replaces, an earlier one does not. */
    report(cache, 1, 2, 90, START + GMC_S(60));
    assert_true(cached(cache, 1, 2, START, &found) && found == 90);
    report(cache, 1, 2, 10, START);
    assert_true(cached(cache, 1, 2, START, &found) && found == 90);
    /* Age. */
    assert_true(cached(cache, 1, 2, START + GMC_S(660), &found));
    assert_false(cached(cache, 1, 2, START + GMC_S(660) + 1, &found));
    assert_false(cached(cache, 1, 3, START, &found));
    gmc_latency_cache_free(cache);
    gmc_latency_cache_free(NULL);
}

static void expect_seen(const struct gmc_latency_cache *cache, gmc_peer a, gmc_peer b,
                        gmc_duration after, uint32_t loss_ppm, uint64_t path_bps)
{
    struct gmc_path_seen seen = gmc_latency_cache_seen(cache, a, b, START + after, GMC_S(600));

    assert_int_equal(seen.loss_ppm, loss_ppm);
    assert_int_equal(seen.path_bps, path_bps);
}

static void what_was_seen_has_a_direction(void **state)
{
    struct gmc_latency_cache *cache = gmc_latency_cache_new(100);
    const struct gmc_path_seen unknown = {7, 7}, there = {1000, 20000000}, back = {2000, 0};

    (void)state;
    gmc_latency_cache_put_seen(cache, 1, 2, START, &unknown); /* of a pair that is not known */
    report(cache, 1, 2, 50, START);
    expect_seen(cache, 1, 2, 0, 0, 0);
    gmc_latency_cache_put_seen(cache, 1, 2, START, &there);
    gmc_latency_cache_put_seen(cache, 2, 1, START + GMC_S(5), &back);
    report(cache, 2, 1, 60, START + GMC_S(60)); /* another latency, the same paths */
    expect_seen(cache, 1, 2, GMC_S(600), 1000, 20000000);
    expect_seen(cache, 2, 1, GMC_S(600), 2000, 0);
    expect_seen(cache, 1, 2, GMC_S(601), 0, 0);
    expect_seen(cache, 2, 1, GMC_S(601), 2000, 0);
    gmc_latency_cache_free(cache);
}

static void cache_is_bounded(void **state)
{
    struct gmc_latency_cache *cache = gmc_latency_cache_new(10);
    uint64_t found = 0;

    (void)state;
    for (gmc_peer i = 1; i <= 10; i++)
        report(cache, 0, i, i, START + GMC_S(10 * i));
    report(cache, 0, 1, 77, START + GMC_S(200)); /* the oldest is measured again */
    report(cache, 0, 11, 11, START + GMC_S(15)); /* comes late: measured long ago */
    assert_true(cached(cache, 0, 1, START, &found) && found == 77);
    assert_false(cached(cache, 0, 2, START, &found)); /* was the oldest then */
    assert_true(cached(cache, 0, 3, START, &found));
    report(cache, 0, 12, 12, START + GMC_S(300));
    assert_false(cached(cache, 0, 11, START, &found));
    assert_true(cached(cache, 0, 3, START, &found));
    gmc_latency_cache_free(cache);

    cache = gmc_latency_cache_new(0);
    report(cache, 0, 1, 1, START);
    assert_false(cached(cache, 0, 1, START, &found));
    gmc_latency_cache_free(cache);
}

/* ---- trains ---- */
/* Participant 0 sends its train; packets arrive one each 100 us, in turn. Returns how many. */
static unsigned train_run(struct round *r)
{
    uint8_t packet[GMC_TRAIN_BYTES], reply[GMC_ECHO_BYTES];
    gmc_peer to;
    bool answers;
    unsigned count = 0, words = 0;

    while (!gmc_probe_train_is_over(r->probe[0], r->now)) {
        while (gmc_probe_next_train(r->probe[0], r->now, packet, &to)) {
            struct gmc_probe *probe = r->probe[to - PEER(0)];
            gmc_time came = r->now + GMC_MS(15) + count++ * GMC_US(100);
            struct gmc_bytes dgram = gmc_bytes(packet, sizeof(packet));

            packet[30] ^= 1; /* the tag */
            assert_int_equal(gmc_probe_on_train(probe, came, dgram, reply, &answers), GMC_ERR_AUTH);
            packet[30] ^= 1;
            assert_int_equal(gmc_probe_on_train(probe, came, gmc_bytes(packet, GMC_ECHO_BYTES),
                                                reply, &answers),
                             GMC_ERR_INVALID);
            assert_int_equal(gmc_probe_on_train(probe, came, dgram, reply, &answers), GMC_OK);
            words += answers;
            if (answers) {
                dgram = gmc_bytes(reply, sizeof(reply));
                reply[30] ^= 1;
                assert_int_equal(gmc_probe_on_train_seen(r->probe[0], r->now, dgram), GMC_ERR_AUTH);
                reply[30] ^= 1;
                assert_int_equal(gmc_probe_on_train_seen(r->probe[1], r->now, dgram),
                                 GMC_ERR_INVALID); /* it is not about its own */
                assert_int_equal(gmc_probe_on_train_seen(r->probe[0], r->now, dgram), GMC_OK);
                assert_int_equal(gmc_probe_on_train_seen(r->probe[0], r->now, dgram),
                                 GMC_ERR_UNKNOWN); /* once more */
            }
            assert_int_equal(gmc_probe_on_train(probe, came, gmc_bytes(packet, sizeof(packet)),
                                                reply, &answers),
                             GMC_ERR_FULL); /* once more, or to the wrong one */
        }
        if (!gmc_probe_train_is_over(r->probe[0], r->now))
            r->now = gmc_probe_deadline(r->probe[0]);
    }
    assert_int_equal(words, count / 4);
    return count;
}

static void train_shows_what_all_get(void **state)
{
    struct round r;

    (void)state;
    round_init(&r, 4, 0);
    assert_int_equal(gmc_probe_train_receivers(r.probe[0]), 0);
    assert_true(gmc_probe_train_is_over(r.probe[0], r.now)); /* there is none */
    round_run(&r);
    gmc_probe_train_begin(r.probe[0], NULL);
    assert_int_equal(gmc_probe_train_receivers(r.probe[0]), 3);
    assert_int_equal(train_run(&r), 72);
    /* 1228 bytes each 100 us. */
    assert_in_range(gmc_probe_train_rate(r.probe[0]), 97000000, 99000000);
    gmc_probe_train_begin(r.probe[0], NULL); /* not again */
    assert_int_equal(train_run(&r), 0);
    assert_int_equal(gmc_probe_deadline(r.probe[0]), GMC_TIME_NEVER);
    round_fini(&r);
}

static void train_leaves_out_the_silent(void **state)
{
    struct round r;

    (void)state;
    round_init(&r, 4, GMC_MS(300));
    r.silent[2] = true;
    round_run(&r);
    gmc_probe_train_begin(r.probe[0], NULL);
    assert_int_equal(gmc_probe_train_receivers(r.probe[0]), 2);
    gmc_probe_train_begin(r.probe[2], NULL);
    assert_int_equal(gmc_probe_train_receivers(r.probe[2]), 0);
    assert_true(gmc_probe_train_is_over(r.probe[2], r.now));
    round_fini(&r);
}

/* To whom the train of one of 120 goes that measured nobody: of each, how often, by index. */
static void train_goes_to(size_t self, const gmc_duration *known, unsigned *count)
{
    enum { N = 120 };
    gmc_peer peers[N], to;
    uint64_t skip[2] = {UINT64_MAX, UINT64_MAX};
    uint8_t packet[GMC_TRAIN_BYTES];

    for (size_t i = 0; i < N; i++)
        peers[i] = PEER(i);
    struct gmc_probe_config config = {.crypto = &crypto,
                                      .id = 1,
                                      .key = "thirty-two bytes of a probe key",
                                      .participants = peers,
                                      .skip = skip,
                                      .count = N,
                                      .self = self};
    gmc_prng_init(&config.prng, 1);
    struct gmc_probe *probe = gmc_probe_new(&config, START);
    assert_non_null(probe);
    gmc_probe_train_begin(probe, known);
    memset(count, 0, N * sizeof(*count));
    while (gmc_probe_next_train(probe, START, packet, &to))
        count[to - PEER(0)]++;
    gmc_probe_free(probe);
}

/* Half to the nearest of the 48 behind it, and the others to the next ones. */
static void train_goes_to_the_nearest(void **state)
{
    gmc_duration known[120];
    unsigned count[120];

    (void)state;
    for (size_t i = 0; i < 120; i++)
        known[i] = i >= 20 && i < 25 ? GMC_MS(1) : GMC_MS(20);
    known[49] = known[70] = GMC_US(10);
    train_goes_to(1, known, count);
    for (size_t i = 0; i < 120; i++) {
        bool is_near = i == 49 || (i >= 20 && i < 25); /* 70 is too far behind */
        assert_int_equal(count[i], is_near || (i > 1 && i <= 11) ? 4 : 0);
    }
    train_goes_to(100, known, count); /* and round the end of the list */
    for (size_t i = 0; i < 120; i++) {
        bool is_near = i >= 20 && i < 25;
        bool is_next = i > 100 && i <= 111;
        assert_int_equal(count[i], is_near || is_next ? 4 : 0);
    }
    train_goes_to(1, NULL, count);
    for (size_t i = 0; i < 120; i++)
        assert_int_equal(count[i], i > 1 && i <= 17 ? 4 : 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_without_jitter),
        cmocka_unit_test(echoes_are_spread),
        cmocka_unit_test(jitter_gives_minimum_and_spread),
        cmocka_unit_test(loss_is_asked_again),
        cmocka_unit_test(the_silent_are_given_up),
        cmocka_unit_test(late_answers_count),
        cmocka_unit_test(many_are_asked_faster),
        cmocka_unit_test(a_part_of_many_is_asked_less),
        cmocka_unit_test(skipped_are_not_asked),
        cmocka_unit_test(nobody_to_ask),
        cmocka_unit_test(forged_bytes),
        cmocka_unit_test(replays),
        cmocka_unit_test(misdirected),
        cmocka_unit_test(unasked_reply),
        cmocka_unit_test(cache_of_pairs),
        cmocka_unit_test(what_was_seen_has_a_direction),
        cmocka_unit_test(cache_is_bounded),
        cmocka_unit_test(train_shows_what_all_get),
        cmocka_unit_test(train_leaves_out_the_silent),
        cmocka_unit_test(train_goes_to_the_nearest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
