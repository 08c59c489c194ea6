/* SPDX-License-Identifier: BSD-2-Clause */
/* The erasure code: parity beside plain arithmetic that shares nothing with it, all patterns of
 * loss of small windows, random ones of large, and what it refuses; with each kernel that is here.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "fec/code.h"
#include "tests/lib/unit.h"

#define LEN_MAX 1500u

static uint8_t data[GMC_FEC_DATA_MAX][LEN_MAX], parity[GMC_FEC_PARITY_MAX][LEN_MAX];
static uint8_t seen[GMC_FEC_DATA_MAX][LEN_MAX], used[GMC_FEC_PARITY_MAX][LEN_MAX];

/* Shift and add, the definition. */
static uint8_t mul(uint8_t a, uint8_t b)
{
    unsigned product = 0;

    for (unsigned bit = 0; bit < 8; bit++)
        if ((b >> bit & 1) != 0)
            product ^= (unsigned)a << bit;
    for (unsigned bit = 14; bit >= 8; bit--)
        if ((product >> bit & 1) != 0)
            product ^= 0x11du << (bit - 8);
    return (uint8_t)product;
}

/* By trying all. */
static uint8_t inverse(uint8_t a)
{
    for (unsigned b = 1; b < 256; b++)
        if (mul(a, (uint8_t)b) == 1)
            return (uint8_t)b;
    return 0;
}

static void fill(uint64_t seed, unsigned k, size_t len)
{
    struct gmc_prng prng;

    gmc_prng_init(&prng, seed);
    for (unsigned j = 0; j < k; j++)
        for (size_t at = 0; at < len; at++)
            data[j][at] = (uint8_t)gmc_prng_u64(&prng);
}

static void encode_all(const struct gmc_fec *fec, unsigned k, size_t len)
{
    static const uint8_t *in[GMC_FEC_DATA_MAX];

    for (unsigned j = 0; j < k; j++)
        in[j] = data[j];
    static uint8_t *out[GMC_FEC_PARITY_MAX];
    for (unsigned i = 0; i < GMC_FEC_PARITY_MAX; i++) {
        out[i] = parity[i];
        memset(parity[i], 0xa5, LEN_MAX);
    }
    /* Batches of 1, 2, ... 10 and the rest. */
    unsigned first = 0;
    for (unsigned n = 1; first < GMC_FEC_PARITY_MAX; first += n++) {
        n = n < GMC_FEC_PARITY_MAX - first ? n : GMC_FEC_PARITY_MAX - first;
        assert_ok(fec->ops->encode(fec->ctx, k, first, n, in, len, out + first));
        if (first + n < GMC_FEC_PARITY_MAX)
            assert_int_equal(parity[first + n][0], 0xa5);
    }
    for (unsigned i = 0; i < GMC_FEC_PARITY_MAX; i++)
        for (size_t at = len; at < LEN_MAX; at++)
            assert_int_equal(parity[i][at], 0xa5);
}

/* Loses those, decodes from these parity shards, compares with all of data. */
static void lose(const struct gmc_fec *fec, unsigned k, size_t len, unsigned n,
                 const uint8_t *missing, const uint8_t *index)
{
    static uint8_t *shards[GMC_FEC_DATA_MAX], *repairs[GMC_FEC_PARITY_MAX];

    for (unsigned j = 0; j < k; j++) {
        shards[j] = seen[j];
        memcpy(seen[j], data[j], len);
    }
    for (unsigned i = 0; i < n; i++) {
        memset(seen[missing[i]], 0x5a, LEN_MAX);
        repairs[i] = used[i];
        memcpy(used[i], parity[index[i]], len);
    }
    assert_ok(fec->ops->decode(fec->ctx, k, shards, len, n, missing, index, repairs));
    for (unsigned j = 0; j < k; j++)
        assert_memory_equal(seen[j], data[j], len);
    for (unsigned i = 0; i < n; i++)
        for (size_t at = len; at < LEN_MAX; at++)
            assert_int_equal(seen[missing[i]][at], 0x5a);
}

static unsigned to_list(unsigned set, uint8_t list[32])
{
    unsigned n = 0;

    for (uint8_t bit = 0; bit < 32; bit++)
        if ((set >> bit & 1) != 0)
            list[n++] = bit;
    return n;
}

/* The shards that come to be a set of k out of k + m: each loss of data with each choice of parity.
 */
static void lose_all_patterns(const struct gmc_fec *fec, unsigned k, unsigned m)
{
    uint8_t missing[32], index[32];

    for (unsigned lost = 0; lost < 1u << k; lost++) {
        for (unsigned chosen = 0; chosen < 1u << m; chosen++) {
            if (__builtin_popcount(lost) != __builtin_popcount(chosen))
                continue;
            to_list(chosen, index);
            lose(fec, k, 33, to_list(lost, missing), missing, index);
        }
    }
}

/* n different numbers below limit, in any order. */
static void draw(struct gmc_prng *prng, unsigned n, unsigned limit, uint8_t *out)
{
    uint8_t all[256];

    for (unsigned i = 0; i < limit; i++)
        all[i] = (uint8_t)i;
    for (unsigned i = 0; i < n; i++) {
        unsigned at = i + (unsigned)gmc_prng_below(prng, limit - i);

        out[i] = all[at];
        all[at] = all[i];
    }
}

static void lose_random(const struct gmc_fec *fec, uint64_t seed)
{
    struct gmc_prng prng;
    uint8_t missing[GMC_FEC_PARITY_MAX], index[GMC_FEC_PARITY_MAX];
    unsigned k, n;
    size_t len;

    gmc_prng_init(&prng, seed);
    k = 1 + (unsigned)gmc_prng_below(&prng, GMC_FEC_DATA_MAX);
    len = 1 + gmc_prng_below(&prng, LEN_MAX);
    fill(seed, k, len);
    encode_all(fec, k, len);
    n = (unsigned)gmc_prng_below(&prng, 1 + (k < GMC_FEC_PARITY_MAX ? k : GMC_FEC_PARITY_MAX));
    draw(&prng, n, k, missing);
    draw(&prng, n, GMC_FEC_PARITY_MAX, index);
    lose(fec, k, len, n, missing, index);
}

/* Coefficients 8 bytes apart, as newer ISA-L has them where it finds instructions for GF(256). */
static void prepare_narrow(unsigned n, uint8_t *coefficients, uint8_t *cells)
{
    for (unsigned j = 0; j < n; j++)
        cells[j * 8] = coefficients[j];
}

static void dot_narrow(size_t len, unsigned n, unsigned rows, const uint8_t *cells,
                       const uint8_t *const *in, uint8_t *const *out)
{
    uint8_t products[256];

    for (unsigned i = 0; i < rows; i++) {
        memset(out[i], 0, len);
        for (unsigned j = 0; j < n; j++) {
            for (unsigned x = 0; x < 256; x++)
                products[x] = mul(cells[(i * n + j) * 8], (uint8_t)x);
            for (size_t at = 0; at < len; at++)
                out[i][at] ^= products[in[j][at]];
        }
    }
}

static const struct gmc_fec_kernel narrow = {"plain", prepare_narrow, dot_narrow};

static const struct gmc_fec_kernel *const kernels[] = {&gmc_fec_kernel_plain, &gmc_fec_kernel_isal,
                                                       &narrow};

/* Runs the work with every kernel of this build. */
static void with_each(void (*work)(const struct gmc_fec *fec))
{
    for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
        struct gmc_fec_code *code = gmc_fec_code_new_over(kernels[i]);
        struct gmc_fec fec;

        if (code == NULL)
            continue;
        fec = gmc_fec_code_table(code);
        assert_string_equal(fec.ops->name, kernels[i]->name);
        work(&fec);
        gmc_fec_code_free(code);
    }
}

static void check_definition(const struct gmc_fec *fec)
{
    static const unsigned sizes[] = {1, 2, 5, 191, 192};

    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        unsigned k = sizes[s];

        fill(s, k, 70);
        encode_all(fec, k, 70);
        for (unsigned i = 0; i < GMC_FEC_PARITY_MAX; i += 9) {
            uint8_t coefficient[GMC_FEC_DATA_MAX];

            for (unsigned j = 0; j < k; j++)
                coefficient[j] = inverse((uint8_t)((192 + i) ^ j));
            for (size_t at = 0; at < 70; at++) {
                uint8_t sum = 0;

                for (unsigned j = 0; j < k; j++)
                    sum ^= mul(coefficient[j], data[j][at]);
                assert_int_equal(parity[i][at], sum);
            }
        }
    }
}

static void parity_is_as_defined(void **state)
{
    (void)state;
    with_each(check_definition);
}

static void check_small(const struct gmc_fec *fec)
{
    for (unsigned k = 1; k <= 6; k++) {
        fill(k, k, 33);
        encode_all(fec, k, 33);
        lose_all_patterns(fec, k, 6);
    }
}

static void every_loss_of_small_windows_is_repaired(void **state)
{
    (void)state;
    with_each(check_small);
}

static void check_random(const struct gmc_fec *fec)
{
    for (uint64_t seed = 1; seed <= 60; seed++)
        lose_random(fec, seed);
}

static void random_losses_of_large_windows_are_repaired(void **state)
{
    (void)state;
    with_each(check_random);
}

/* Parity of the short window is that of the long one with zeros at its end. */
static void check_short_window(const struct gmc_fec *fec)
{
    static uint8_t of_short[LEN_MAX];

    fill(7, 20, 100);
    for (unsigned j = 20; j < 40; j++)
        memset(data[j], 0, 100);
    encode_all(fec, 20, 100);
    memcpy(of_short, parity[5], 100);
    encode_all(fec, 40, 100);
    assert_memory_equal(of_short, parity[5], 100);
}

static void parity_does_not_depend_on_k(void **state)
{
    (void)state;
    with_each(check_short_window);
}

static void check_bounds(const struct gmc_fec *fec)
{
    static uint8_t *shards[GMC_FEC_DATA_MAX];
    static uint8_t *repairs[2] = {used[0], used[1]};
    const struct gmc_fec_ops *ops = fec->ops;
    const uint8_t *const *in = (const uint8_t *const *)shards;

    for (unsigned j = 0; j < GMC_FEC_DATA_MAX; j++)
        shards[j] = seen[j];
    memset(seen, 1, sizeof(seen));
    assert_int_equal(ops->encode(fec->ctx, 0, 0, 1, in, 10, repairs), GMC_ERR_INVALID);
    assert_int_equal(ops->encode(fec->ctx, 193, 0, 1, in, 10, repairs), GMC_ERR_INVALID);
    assert_int_equal(ops->encode(fec->ctx, 10, 64, 1, in, 10, repairs), GMC_ERR_INVALID);
    assert_int_equal(ops->encode(fec->ctx, 10, 63, 2, in, 10, repairs), GMC_ERR_INVALID);
    assert_int_equal(ops->encode(fec->ctx, 10, 0, 1, in, 0, repairs), GMC_ERR_INVALID);
    assert_int_equal(ops->encode(fec->ctx, 10, 0, 1, in, 65536, repairs), GMC_ERR_INVALID);

#define REFUSED(k, n, m0, m1, i0, i1)                                                              \
    assert_int_equal(ops->decode(fec->ctx, k, shards, 10, n, (const uint8_t[]){m0, m1},            \
                                 (const uint8_t[]){i0, i1}, repairs),                              \
                     GMC_ERR_INVALID)
    REFUSED(0, 0, 0, 0, 0, 0);
    REFUSED(10, 2, 3, 3, 0, 1);   /* one shard is missing twice */
    REFUSED(10, 2, 3, 4, 1, 1);   /* one parity shard twice */
    REFUSED(10, 2, 3, 10, 0, 1);  /* a shard that the window has not */
    REFUSED(10, 2, 3, 4, 0, 64);  /* parity that there is not */
    REFUSED(10, 65, 3, 4, 0, 63); /* more than all parity */
    for (unsigned j = 0; j < 10; j++)
        assert_int_equal(seen[j][0], 1);
}

static void what_is_out_of_bounds_is_refused(void **state)
{
    (void)state;
    with_each(check_bounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parity_is_as_defined),
        cmocka_unit_test(every_loss_of_small_windows_is_repaired),
        cmocka_unit_test(random_losses_of_large_windows_are_repaired),
        cmocka_unit_test(parity_does_not_depend_on_k),
        cmocka_unit_test(what_is_out_of_bounds_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
