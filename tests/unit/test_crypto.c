/* SPDX-License-Identifier: BSD-2-Clause */
/* Both implementations of the crypto table through the same tests of what the core relies on; the
 * keys that OpenSSL takes and refuses; published answers. */
#include <stdlib.h>
#include <string.h>

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include "crypto/cheap.h"
#include "crypto/openssl.h"
#include "tests/lib/unit.h"
#include "tests/unit/test_crypto_vectors.h"

/* Two domains that can sign, and their public keys. */
struct fixture {
    struct gmc_crypto a, b;
    uint8_t spki_a[GMC_PUBKEY_BYTES_MAX], spki_b[GMC_PUBKEY_BYTES_MAX];
    size_t spki_a_len, spki_b_len;
    void *made[2];
};

static int setup_openssl(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct gmc_crypto_openssl *x[2];
    uint8_t key[32] = {1}, seed[32] = {7};

    assert_non_null(f);
    x[0] = gmc_crypto_openssl_new_ed25519(key, seed);
    key[0] = 2;
    seed[31] = 1;
    x[1] = gmc_crypto_openssl_new_ed25519(key, seed);
    assert_true(x[0] != NULL && x[1] != NULL);
    gmc_crypto_openssl_table(x[0], &f->a);
    gmc_crypto_openssl_table(x[1], &f->b);
    f->spki_a_len = f->spki_b_len = GMC_PUBKEY_BYTES_MAX;
    assert_ok(gmc_crypto_openssl_spki(x[0], f->spki_a, &f->spki_a_len));
    assert_ok(gmc_crypto_openssl_spki(x[1], f->spki_b, &f->spki_b_len));
    f->made[0] = x[0];
    f->made[1] = x[1];
    *state = f;
    return 0;
}

static int teardown_openssl(void **state)
{
    struct fixture *f = *state;

    gmc_crypto_openssl_free(f->made[0]);
    gmc_crypto_openssl_free(f->made[1]);
    free(f);
    /* Nothing of ours stays behind for the shell's TLS to find. */
    assert_int_equal(ERR_peek_error(), 0);
    return 0;
}

static int setup_cheap(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    uint8_t seed[32] = {7};

    assert_non_null(f);
    f->made[0] = gmc_crypto_cheap_new("a.example", seed);
    seed[31] = 1;
    f->made[1] = gmc_crypto_cheap_new("b.example", seed);
    assert_true(f->made[0] != NULL && f->made[1] != NULL);
    gmc_crypto_cheap_table(f->made[0], &f->a);
    gmc_crypto_cheap_table(f->made[1], &f->b);
    f->spki_a_len = f->spki_b_len = GMC_PUBKEY_BYTES_MAX;
    assert_ok(gmc_crypto_cheap_spki("a.example", f->spki_a, &f->spki_a_len));
    assert_ok(gmc_crypto_cheap_spki("b.example", f->spki_b, &f->spki_b_len));
    *state = f;
    return 0;
}

static int teardown_cheap(void **state)
{
    struct fixture *f = *state;

    gmc_crypto_cheap_free(f->made[0]);
    gmc_crypto_cheap_free(f->made[1]);
    free(f);
    return 0;
}

static void fill(uint8_t *out, size_t len, unsigned step)
{
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)(i * step + (i >> 8));
}

static void seal_opens_again(void **state)
{
    static const size_t lengths[] = {0, 1, 7, 8, 31, 32, 33, 63, 64, 1350, 32768};
    const struct fixture *f = *state;
    const struct gmc_crypto_ops *ops = f->a.ops;
    static uint8_t plain[32768], sealed[32768], opened[32768];
    uint8_t key[32] = {3}, nonce[12] = {9}, tag[16], other[16];
    struct gmc_aead *aead = ops->aead_new(f->a.ctx, key);
    struct gmc_bytes aad = gmc_bytes("header", 6), none = {NULL, 0};

    assert_non_null(aead);
    fill(plain, sizeof(plain), 13);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        size_t len = lengths[i];

        assert_ok(ops->seal(aead, nonce, aad, plain, len, sealed, tag));
        assert_ok(ops->open(aead, nonce, aad, sealed, len, opened, tag));
        assert_memory_equal(opened, plain, len);
        /* In place, with the same result. */
        memcpy(opened, plain, len);
        assert_ok(ops->seal(aead, nonce, aad, opened, len, opened, other));
        assert_memory_equal(opened, sealed, len);
        assert_memory_equal(other, tag, sizeof(tag));
        assert_ok(ops->open(aead, nonce, aad, opened, len, opened, tag));
        assert_memory_equal(opened, plain, len);
        /* Without associated data. */
        assert_ok(ops->seal(aead, nonce, none, plain, len, sealed, tag));
        assert_ok(ops->open(aead, nonce, none, sealed, len, opened, tag));
        assert_int_equal(ops->open(aead, nonce, aad, sealed, len, opened, tag), GMC_ERR_AUTH);
    }
    ops->aead_free(aead);
}

static void expect_flips_found(const struct fixture *f, size_t body)
{
    const struct gmc_crypto_ops *ops = f->a.ops;
    uint8_t key[32] = {3}, nonce[12] = {9}, tag[16], header[5] = {1, 2, 3, 4, 5};
    uint8_t plain[150], sealed[150], out[150];
    struct gmc_aead *aead = ops->aead_new(f->a.ctx, key), *wrong;
    struct gmc_bytes aad = gmc_bytes(header, sizeof(header));

    assert_in_range(body, 1, sizeof(plain));
    fill(plain, body, 3);
    assert_ok(ops->seal(aead, nonce, aad, plain, body, sealed, tag));
#define EXPECT_AUTH(with, aad_bytes, len)                                                          \
    assert_int_equal(ops->open(with, nonce, aad_bytes, sealed, len, out, tag), GMC_ERR_AUTH)
    for (size_t i = 0; i < body * 8; i++) {
        sealed[i / 8] ^= (uint8_t)(1u << i % 8);
        EXPECT_AUTH(aead, aad, body);
        sealed[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t i = 0; i < sizeof(header); i++) {
        header[i] ^= 0x80;
        EXPECT_AUTH(aead, aad, body);
        header[i] ^= 0x80;
    }
    for (size_t i = 0; i < sizeof(tag); i++) {
        tag[i] ^= 1;
        EXPECT_AUTH(aead, aad, body);
        tag[i] ^= 1;
    }
    for (size_t i = 0; i < sizeof(nonce); i++) {
        nonce[i] ^= 1;
        EXPECT_AUTH(aead, aad, body);
        nonce[i] ^= 1;
    }
    EXPECT_AUTH(aead, aad, body - 1);
    EXPECT_AUTH(aead, gmc_bytes(header, 4), body);
    for (size_t i = 0; i < sizeof(key); i++) {
        key[i] ^= 0x10;
        wrong = ops->aead_new(f->a.ctx, key);
        EXPECT_AUTH(wrong, aad, body);
        ops->aead_free(wrong);
        key[i] ^= 0x10;
    }
#undef EXPECT_AUTH
    /* After all the refusals the key still works. */
    assert_ok(ops->open(aead, nonce, aad, sealed, body, out, tag));
    ops->aead_free(aead);
}

/* Also bodies that the cheap one takes in one go, and in pieces of its own. */
static void seal_finds_each_flipped_byte(void **state)
{
    static const size_t bodies[] = {1, 8, 24, 61, 64, 65, 150};

    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        expect_flips_found(*state, bodies[i]);
}

static void seal_is_no_link_tag(void **state)
{
    const struct fixture *f = *state;
    const struct gmc_crypto_ops *ops = f->a.ops;
    uint8_t key[32] = {3}, nonce[12] = {9}, body[24], sealed[24], seal[16], tag[8];
    struct gmc_aead *aead = ops->aead_new(f->a.ctx, key);
    struct gmc_bytes head = gmc_bytes("header", 6);

    fill(body, sizeof(body), 3);
    assert_ok(ops->seal(aead, nonce, head, body, sizeof(body), sealed, seal));
    assert_ok(ops->tag(aead, nonce, head, gmc_bytes(body, sizeof(body)), tag));
    assert_memory_not_equal(seal, tag, sizeof(tag));
    assert_memory_not_equal(seal + 8, tag, sizeof(tag));
    ops->aead_free(aead);
}

static void tag_covers_all(void **state)
{
    const struct fixture *f = *state;
    const struct gmc_crypto_ops *ops = f->a.ops;
    uint8_t key[32] = {3}, nonce[12] = {9}, head[17], body_tag[16], tag[8], other[8];
    struct gmc_aead *aead = ops->aead_new(f->a.ctx, key);
    struct gmc_bytes first = gmc_bytes(head, sizeof(head));
    struct gmc_bytes second = gmc_bytes(body_tag, sizeof(body_tag));

    fill(head, sizeof(head), 5);
    fill(body_tag, sizeof(body_tag), 11);
    assert_ok(ops->tag(aead, nonce, first, second, tag));
    assert_ok(ops->tag(aead, nonce, first, second, other));
    assert_memory_equal(tag, other, sizeof(tag));
    for (size_t i = 0; i < sizeof(head); i++) {
        head[i] ^= 4;
        assert_ok(ops->tag(aead, nonce, first, second, other));
        assert_memory_not_equal(tag, other, sizeof(tag));
        head[i] ^= 4;
    }
    for (size_t i = 0; i < sizeof(body_tag); i++) {
        body_tag[i] ^= 4;
        assert_ok(ops->tag(aead, nonce, first, second, other));
        assert_memory_not_equal(tag, other, sizeof(tag));
        body_tag[i] ^= 4;
    }
    nonce[11] ^= 1;
    assert_ok(ops->tag(aead, nonce, first, second, other));
    assert_memory_not_equal(tag, other, sizeof(tag));
    ops->aead_free(aead);
}

static void hash_differs(void **state)
{
    const struct fixture *f = *state;
    const struct gmc_crypto_ops *ops = f->a.ops;
    static uint8_t data[65536];
    uint8_t whole[32], other[32];

    fill(data, sizeof(data), 3);
    ops->hash(data, sizeof(data), whole);
    ops->hash(data, sizeof(data), other);
    assert_memory_equal(whole, other, sizeof(whole));
    for (size_t i = 0; i < sizeof(data); i += 97) {
        data[i] ^= 1;
        ops->hash(data, sizeof(data), other);
        assert_memory_not_equal(whole, other, sizeof(whole));
        data[i] ^= 1;
    }
    ops->hash(data, sizeof(data) - 1, other);
    assert_memory_not_equal(whole, other, sizeof(whole));
    /* Zeros of each length are told apart, and no output word stays as it was. */
    memset(data, 0, 64);
    ops->hash(NULL, 0, whole);
    for (size_t len = 1; len <= 64; len++) {
        ops->hash(data, len, other);
        for (size_t word = 0; word < 4; word++)
            assert_memory_not_equal(whole + 8 * word, other + 8 * word, 8);
        memcpy(whole, other, sizeof(whole));
    }
}

/* AES-256-GCM as libcrypto's plain interface computes it; len 0 and all of it aad: GMAC. */
static void gcm_by_libcrypto(const uint8_t *key, const uint8_t *nonce, struct gmc_bytes aad,
                             const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[16])
{
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    uint8_t rest[16];
    int n;

    assert_non_null(context);
    assert_int_equal(EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, nonce), 1);
    if (aad.len > 0)
        assert_int_equal(EVP_EncryptUpdate(context, NULL, &n, aad.data, (int)aad.len), 1);
    if (len > 0)
        assert_int_equal(EVP_EncryptUpdate(context, out, &n, in, (int)len), 1);
    assert_int_equal(EVP_EncryptFinal_ex(context, rest, &n), 1);
    assert_int_equal(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, 16, tag), 1);
    EVP_CIPHER_CTX_free(context);
}

/* Whatever seals and tags here does it as libcrypto does, at all lengths around whole blocks, and
 * with the two pieces of a tag cut anywhere. */
static void seals_as_libcrypto(void **state)
{
    const struct fixture *f = *state;
    const struct gmc_crypto_ops *ops = f->a.ops;
    static uint8_t text[65536], ours[65536], theirs[65536];
    uint8_t key[GMC_KEY_BYTES], nonce[GMC_NONCE_BYTES], tag[16], expected[16];
    struct gmc_aead *aead;

    fill(key, sizeof(key), 7);
    fill(nonce, sizeof(nonce), 8);
    fill(text, sizeof(text), 9);
    aead = ops->aead_new(f->a.ctx, key);
    assert_non_null(aead);
    for (size_t i = 0; i < 420; i++) {
        size_t len = i < 300 ? i : i < 400 ? 1000 + 7 * i : sizeof(text) - (419 - i);
        struct gmc_bytes aad = gmc_bytes(text + i % 7, i % 61), whole = gmc_bytes(text, len);
        size_t cut = len > 0 ? i * 31 % len : 0;

        nonce[0]++;
        gcm_by_libcrypto(key, nonce, aad, text, len, theirs, expected);
        assert_ok(ops->seal(aead, nonce, aad, text, len, ours, tag));
        assert_memory_equal(ours, theirs, len);
        assert_memory_equal(tag, expected, sizeof(tag));
        assert_ok(ops->open(aead, nonce, aad, ours, len, ours, tag));
        assert_memory_equal(ours, text, len);
        gcm_by_libcrypto(key, nonce, whole, NULL, 0, NULL, expected);
        assert_ok(
            ops->tag(aead, nonce, gmc_bytes(text, cut), gmc_bytes(text + cut, len - cut), tag));
        assert_memory_equal(tag, expected, GMC_LINK_TAG_BYTES);
    }
    ops->aead_free(aead);
}

/* At all lengths around the ends of a chunk and of its padding, and of a block. */
static void a_pair_is_two_hashes(void **state)
{
    const struct fixture *f = *state;
    const struct gmc_crypto_ops *ops = f->a.ops;
    static uint8_t data[2][65536];
    uint8_t pair[2][GMC_HASH_BYTES], one[GMC_HASH_BYTES];

    fill(data[0], sizeof(data[0]), 5);
    fill(data[1], sizeof(data[1]), 6);
    for (size_t i = 0; i < 400; i++) {
        /* unaligned, too */
        const uint8_t *const from[2] = {data[0] + i % 3, data[1] + i % 5};
        size_t len = i < 300 ? i : 65532 - (i - 300);

        ops->hash_pair(from, len, (uint8_t *const[2]){pair[0], pair[1]});
        for (size_t j = 0; j < 2; j++) {
            ops->hash(from[j], len, one);
            assert_memory_equal(pair[j], one, sizeof(one));
        }
    }
    ops->hash_pair((const uint8_t *const[2]){data[0], data[1]}, sizeof(data[0]),
                   (uint8_t *const[2]){pair[0], pair[1]});
    ops->hash(data[1], sizeof(data[1]), one);
    assert_memory_equal(pair[1], one, sizeof(one));
}

static void derive_separates(void **state)
{
    const struct fixture *f = *state;
    const struct gmc_crypto_ops *ops = f->a.ops;
    uint8_t secret[32] = {5}, base[100], other[100];
    struct gmc_bytes context = gmc_bytes("ctx", 3), none = {NULL, 0};

    assert_ok(ops->derive(secret, "label", context, base, sizeof(base)));
    assert_ok(ops->derive(secret, "label", context, other, 40));
    assert_memory_equal(base, other, 40);
    assert_ok(ops->derive(secret, "labem", context, other, 32));
    assert_memory_not_equal(base, other, 32);
    assert_ok(ops->derive(secret, "label", none, other, 32));
    assert_memory_not_equal(base, other, 32);
    /* The end of the label counts. */
    assert_ok(ops->derive(secret, "labelctx", none, other, 32));
    assert_memory_not_equal(base, other, 32);
    secret[31] ^= 1;
    assert_ok(ops->derive(secret, "label", context, other, 32));
    assert_memory_not_equal(base, other, 32);
    assert_int_equal(ops->derive(secret, "label", context, other, 0), GMC_ERR_INVALID);
}

static void only_the_signer_verifies(void **state)
{
    const struct fixture *f = *state;
    const struct gmc_crypto_ops *ops = f->a.ops;
    struct gmc_pubkey *a = ops->pubkey_new(f->a.ctx, gmc_bytes(f->spki_a, f->spki_a_len));
    struct gmc_pubkey *b = ops->pubkey_new(f->a.ctx, gmc_bytes(f->spki_b, f->spki_b_len));
    uint8_t text[40], sig[GMC_SIGNATURE_BYTES_MAX];
    struct gmc_bytes data = gmc_bytes(text, sizeof(text));
    size_t len = sizeof(sig);

    assert_true(a != NULL && b != NULL);
    fill(text, sizeof(text), 29);
    assert_ok(ops->sign(f->a.ctx, NULL, data, sig, &len));
    assert_true(len > 0 && len < sizeof(sig));
    assert_ok(ops->verify(a, data, gmc_bytes(sig, len)));
    assert_int_equal(ops->verify(b, data, gmc_bytes(sig, len)), GMC_ERR_AUTH);
    assert_int_equal(ops->verify(a, data, gmc_bytes(sig, len - 1)), GMC_ERR_AUTH);
    assert_int_equal(ops->verify(a, data, gmc_bytes(NULL, 0)), GMC_ERR_AUTH);
    assert_int_equal(ops->verify(a, gmc_bytes(text, 39), gmc_bytes(sig, len)), GMC_ERR_AUTH);
    for (size_t i = 0; i < len; i++) {
        sig[i] ^= 1;
        assert_int_equal(ops->verify(a, data, gmc_bytes(sig, len)), GMC_ERR_AUTH);
        sig[i] ^= 1;
    }
    text[0] ^= 1;
    assert_int_equal(ops->verify(a, data, gmc_bytes(sig, len)), GMC_ERR_AUTH);
    len = 8;
    assert_int_equal(ops->sign(f->a.ctx, NULL, data, sig, &len), GMC_ERR_FULL);
    assert_int_equal(len, 8);
    ops->pubkey_free(a);
    ops->pubkey_free(b);
}

/* A pair that was made from a secret: its public half alone is enough to verify, and another secret
 * makes another pair. */
static void a_channel_has_a_pair_of_its_own(void **state)
{
    const struct fixture *f = *state;
    const struct gmc_crypto_ops *ops = f->a.ops;
    uint8_t secret[GMC_KEY_BYTES], spki[GMC_SIGNER_SPKI_MAX], other_spki[GMC_SIGNER_SPKI_MAX];
    uint8_t sig[GMC_SIGNER_SIGNATURE_MAX];
    size_t spki_len = sizeof(spki), other_len = sizeof(other_spki), len = sizeof(sig);
    struct gmc_bytes data = gmc_bytes("hashes", 6);

    fill(secret, sizeof(secret), 31);
    struct gmc_signer *signer = ops->signer_new(f->a.ctx, secret, spki, &spki_len);
    secret[0] ^= 1;
    struct gmc_signer *other = ops->signer_new(f->a.ctx, secret, other_spki, &other_len);
    assert_true(signer != NULL && other != NULL);
    assert_ok(ops->signer_sign(signer, data, sig, &len));
    struct gmc_pubkey *key = ops->pubkey_new(f->b.ctx, gmc_bytes(spki, spki_len));
    struct gmc_pubkey *other_key = ops->pubkey_new(f->b.ctx, gmc_bytes(other_spki, other_len));
    assert_true(key != NULL && other_key != NULL);
    assert_ok(ops->verify(key, data, gmc_bytes(sig, len)));
    assert_int_equal(ops->verify(other_key, data, gmc_bytes(sig, len)), GMC_ERR_AUTH);
    assert_int_equal(ops->verify(key, gmc_bytes("hushes", 6), gmc_bytes(sig, len)), GMC_ERR_AUTH);
    len = 8;
    assert_int_equal(ops->signer_sign(signer, data, sig, &len), GMC_ERR_FULL);
    spki_len = 8;
    assert_null(ops->signer_new(f->a.ctx, secret, spki, &spki_len));
    ops->pubkey_free(key);
    ops->pubkey_free(other_key);
    ops->signer_free(signer);
    ops->signer_free(other);
    ops->signer_free(NULL);
}

static void bad_public_keys_are_refused(void **state)
{
    struct fixture *f = *state;
    const struct gmc_crypto_ops *ops = f->a.ops;

    assert_null(ops->pubkey_new(f->a.ctx, gmc_bytes(NULL, 0)));
    assert_null(ops->pubkey_new(f->a.ctx, gmc_bytes("garbage", 7)));
    f->spki_a[3] ^= 0x55;
    assert_null(ops->pubkey_new(f->a.ctx, gmc_bytes(f->spki_a, f->spki_a_len)));
    ops->pubkey_free(NULL);
    ops->aead_free(NULL);
}

static void random_repeats_by_seed(void **state)
{
    const struct fixture *f = *state;
    const struct gmc_crypto_ops *ops = f->a.ops;
    uint8_t a[5000], b[5000], again[5000];
    struct fixture *twin;
    void *second = NULL;
    bool cheap = strcmp(ops->name, "cheap") == 0;

    ops->random(f->a.ctx, a, sizeof(a));
    ops->random(f->b.ctx, b, sizeof(b));
    assert_memory_not_equal(a, b, 32);
    /* No piece of what was given comes again. */
    for (size_t i = 32; i + 32 <= sizeof(a); i += 32)
        assert_memory_not_equal(a, a + i, 32);
    assert_int_equal(cheap ? setup_cheap(&second) : setup_openssl(&second), 0);
    twin = second;
    ops->random(twin->a.ctx, again, 8);
    ops->random(twin->a.ctx, again + 8, sizeof(a) - 8);
    assert_memory_equal(a, again, sizeof(a));
    if (cheap)
        teardown_cheap(&second);
    else
        teardown_openssl(&second);
}

/* A key that OpenSSL should take signs, and what it signs verifies by its public half only. */
static void check_key(EVP_PKEY *key)
{
    uint8_t seed[32] = {0}, spki[GMC_PUBKEY_BYTES_MAX], sig[GMC_SIGNATURE_BYTES_MAX];
    struct gmc_crypto_openssl *x = gmc_crypto_openssl_new(key, seed);
    size_t spki_len = sizeof(spki), len = sizeof(sig);
    struct gmc_pubkey *pubkey;
    struct gmc_crypto crypto;

    assert_true(key != NULL && x != NULL);
    EVP_PKEY_free(key);
    gmc_crypto_openssl_table(x, &crypto);
    assert_ok(gmc_crypto_openssl_spki(x, spki, &spki_len));
    pubkey = crypto.ops->pubkey_new(crypto.ctx, gmc_bytes(spki, spki_len));
    assert_non_null(pubkey);
    assert_ok(crypto.ops->sign(crypto.ctx, NULL, gmc_bytes("text", 4), sig, &len));
    assert_ok(crypto.ops->verify(pubkey, gmc_bytes("text", 4), gmc_bytes(sig, len)));
    sig[len - 1] ^= 1;
    assert_int_equal(crypto.ops->verify(pubkey, gmc_bytes("text", 4), gmc_bytes(sig, len)),
                     GMC_ERR_AUTH);
    crypto.ops->pubkey_free(pubkey);
    gmc_crypto_openssl_free(x);
    assert_int_equal(ERR_peek_error(), 0);
}

/* A key that says itself that it signs with PSS only. */
static EVP_PKEY *rsa_pss_key(void)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA-PSS", NULL);
    EVP_PKEY *key = NULL;

    assert_non_null(context);
    assert_int_equal(EVP_PKEY_keygen_init(context), 1);
    assert_int_equal(EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048), 1);
    assert_int_equal(EVP_PKEY_generate(context, &key), 1);
    EVP_PKEY_CTX_free(context);
    return key;
}

static void each_key_type_signs(void **state)
{
    (void)state;
    check_key(EVP_EC_gen("P-256"));
    check_key(EVP_EC_gen("P-384"));
    check_key(EVP_RSA_gen(2048));
    check_key(rsa_pss_key());
}

static void check_refused(EVP_PKEY *key, const char *reason)
{
    uint8_t seed[32] = {0};

    assert_non_null(key);
    assert_string_equal(gmc_crypto_openssl_refusal(key), reason);
    assert_null(gmc_crypto_openssl_new(key, seed));
    EVP_PKEY_free(key);
}

static struct gmc_pubkey *public_half(const struct gmc_crypto *crypto,
                                      const struct gmc_crypto_openssl *x)
{
    uint8_t spki[GMC_PUBKEY_BYTES_MAX];
    size_t len = sizeof(spki);

    assert_ok(gmc_crypto_openssl_spki(x, spki, &len));
    return crypto->ops->pubkey_new(crypto->ctx, gmc_bytes(spki, len));
}

static void earlier_keys_still_sign(void **state)
{
    uint8_t seed[32] = {0}, sig[GMC_SIGNATURE_BYTES_MAX];
    EVP_PKEY *keys[GMC_OPENSSL_KEYS_MAX + 1];
    struct gmc_pubkey *halves[GMC_OPENSSL_KEYS_MAX + 1];
    struct gmc_crypto_openssl *x = gmc_crypto_openssl_new(NULL, seed);
    struct gmc_bytes data = gmc_bytes("text", 4);
    struct gmc_crypto crypto;
    const size_t n = GMC_OPENSSL_KEYS_MAX + 1;
    size_t len;

    (void)state;
    assert_non_null(x);
    gmc_crypto_openssl_table(x, &crypto);
    for (size_t i = 0; i < n; i++) {
        keys[i] = EVP_EC_gen("P-256");
        assert_ok(gmc_crypto_openssl_add_key(x, keys[i]));
        assert_int_equal(gmc_crypto_openssl_add_key(x, keys[i]), GMC_ERR_EXISTS);
        halves[i] = public_half(&crypto, x);
    }
    for (size_t i = 1; i < n; i++) {
        len = sizeof(sig);
        assert_ok(crypto.ops->sign(crypto.ctx, halves[i], data, sig, &len));
        assert_ok(crypto.ops->verify(halves[i], data, gmc_bytes(sig, len)));
    }
    assert_int_equal(crypto.ops->verify(halves[1], data, gmc_bytes(sig, len)), GMC_ERR_AUTH);
    len = sizeof(sig);
    assert_ok(crypto.ops->sign(crypto.ctx, NULL, data, sig, &len));
    assert_ok(crypto.ops->verify(halves[n - 1], data, gmc_bytes(sig, len)));
    /* The oldest had to make room. */
    len = sizeof(sig);
    assert_int_equal(crypto.ops->sign(crypto.ctx, halves[0], data, sig, &len), GMC_ERR_STATE);
    for (size_t i = 0; i < n; i++) {
        EVP_PKEY_free(keys[i]);
        crypto.ops->pubkey_free(halves[i]);
    }
    gmc_crypto_openssl_free(x);
}

static void weak_and_strange_keys_are_refused(void **state)
{
    uint8_t seed[32] = {0}, sig[64];
    struct gmc_crypto_openssl *x = gmc_crypto_openssl_new(NULL, seed);
    struct gmc_crypto crypto;
    size_t len = sizeof(sig);

    (void)state;
    check_refused(EVP_RSA_gen(1024), "an RSA key must have 2048 to 8192 bits");
    check_refused(EVP_EC_gen("secp256k1"), "its elliptic curve is neither P-256 nor P-384");
    check_refused(EVP_PKEY_Q_keygen(NULL, NULL, "X25519"),
                  "its type is not Ed25519, ECDSA (P-256, P-384) or RSA");
    assert_non_null(x);
    gmc_crypto_openssl_table(x, &crypto);
    assert_int_equal(crypto.ops->sign(crypto.ctx, NULL, gmc_bytes("t", 1), sig, &len),
                     GMC_ERR_STATE);
    assert_int_equal(gmc_crypto_openssl_spki(x, sig, &len), GMC_ERR_STATE);
    gmc_crypto_openssl_free(x);
}

static void a_second_cheap_name_is_another_key(void **state)
{
    char long_name[300];
    uint8_t seed[32] = {0}, small[8];
    size_t len = sizeof(small);

    (void)state;
    memset(long_name, 'a', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = 0;
    assert_null(gmc_crypto_cheap_new(long_name, seed));
    assert_int_equal(gmc_crypto_cheap_spki("a", small, &len), GMC_ERR_FULL);
}

#define BOTH(test)                                                                                 \
    {"openssl: " #test, test, setup_openssl, teardown_openssl, NULL},                              \
    {                                                                                              \
        "cheap: " #test, test, setup_cheap, teardown_cheap, NULL                                   \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(seal_opens_again),
        BOTH(seal_finds_each_flipped_byte),
        BOTH(tag_covers_all),
        BOTH(seal_is_no_link_tag),
        BOTH(hash_differs),
        BOTH(a_pair_is_two_hashes),
        BOTH(derive_separates),
        BOTH(only_the_signer_verifies),
        BOTH(a_channel_has_a_pair_of_its_own),
        BOTH(bad_public_keys_are_refused),
        BOTH(random_repeats_by_seed),
        cmocka_unit_test_setup_teardown(seals_as_libcrypto, setup_openssl, teardown_openssl),
        cmocka_unit_test(each_key_type_signs),
        cmocka_unit_test(earlier_keys_still_sign),
        cmocka_unit_test(weak_and_strange_keys_are_refused),
        cmocka_unit_test(a_second_cheap_name_is_another_key),
        cmocka_unit_test(test_vectors_gcm),
        cmocka_unit_test(test_vectors_gmac),
        cmocka_unit_test(test_vectors_sha256),
        cmocka_unit_test(test_vectors_hkdf),
        cmocka_unit_test(test_vectors_ed25519),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
