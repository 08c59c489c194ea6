/* SPDX-License-Identifier: BSD-2-Clause */
/* The OpenSSL implementation against published answers: AES-GCM (McGrew and Viega, The
 * Galois/Counter Mode of Operation, test cases 13 to 16), SHA-256 (FIPS 180-2, appendix B), HKDF
 * (RFC 5869, appendix A), Ed25519 (RFC 8032, 7.1). */
#include "tests/unit/test_crypto_vectors.h"

#include <string.h>

#include "crypto/openssl.h"
#include "tests/lib/unit.h"

static const uint8_t no_seed[32];

static unsigned nibble(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static struct gmc_bytes hex(const char *text, uint8_t *out)
{
    size_t len = strlen(text) / 2;

    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)(nibble(text[2 * i]) << 4 | nibble(text[2 * i + 1]));
    return gmc_bytes(out, len);
}

struct gcm_case {
    const char *key, *nonce, *aad, *plain, *sealed, *tag;
};

#define KEY_15 "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
#define PLAIN_60                                                                                   \
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6" \
    "b525b16aedf5aa0de657ba637b39"
#define SEALED_60                                                                                  \
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b105682" \
    "8838c5f61e6393ba7a0abcc9f662"

static const struct gcm_case gcm_cases[] = {
    {"0000000000000000000000000000000000000000000000000000000000000000", "000000000000000000000000",
     "", "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
    {"0000000000000000000000000000000000000000000000000000000000000000", "000000000000000000000000",
     "", "00000000000000000000000000000000", "cea7403d4d606b6e074ec5d3baf39d18",
     "d0d1c8a799996bf0265b98b5d48ab919"},
    {KEY_15, "cafebabefacedbaddecaf888", "", PLAIN_60 "1aafd255", SEALED_60 "898015ad",
     "b094dac5d93471bdec1a502270e3cc6c"},
    {KEY_15, "cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2", PLAIN_60,
     SEALED_60, "76fc6ece0f4e1768cddf8853bb2d551b"},
};

void test_vectors_gcm(void **state)
{
    struct gmc_crypto_openssl *x = gmc_crypto_openssl_new(NULL, no_seed);
    struct gmc_crypto crypto;

    (void)state;
    assert_non_null(x);
    gmc_crypto_openssl_table(x, &crypto);
    for (size_t i = 0; i < sizeof(gcm_cases) / sizeof(gcm_cases[0]); i++) {
        const struct gcm_case *c = &gcm_cases[i];
        uint8_t key[32], nonce[12], aad[32], plain[64], sealed[64], tag[16], out[64], got[16];
        struct gmc_bytes aad_bytes = hex(c->aad, aad);
        struct gmc_bytes plain_bytes = hex(c->plain, plain);
        struct gmc_aead *aead;

        hex(c->key, key);
        hex(c->nonce, nonce);
        hex(c->sealed, sealed);
        hex(c->tag, tag);
        aead = crypto.ops->aead_new(crypto.ctx, key);
        assert_non_null(aead);
        assert_ok(crypto.ops->seal(aead, nonce, aad_bytes, plain, plain_bytes.len, out, got));
        assert_memory_equal(out, sealed, plain_bytes.len);
        assert_memory_equal(got, tag, sizeof(tag));
        assert_ok(crypto.ops->open(aead, nonce, aad_bytes, sealed, plain_bytes.len, out, tag));
        assert_memory_equal(out, plain, plain_bytes.len);
        crypto.ops->aead_free(aead);
    }
    gmc_crypto_openssl_free(x);
}

/* GMAC is the tag of GCM over nothing: case 13, then associated data in one piece and in two. */
void test_vectors_gmac(void **state)
{
    struct gmc_crypto_openssl *x = gmc_crypto_openssl_new(NULL, no_seed);
    static const uint8_t zeros[32];
    struct gmc_bytes none = {NULL, 0};
    uint8_t data[100], tag[8], full[16], expected[8];
    struct gmc_crypto crypto;
    struct gmc_aead *aead;

    (void)state;
    assert_non_null(x);
    gmc_crypto_openssl_table(x, &crypto);
    aead = crypto.ops->aead_new(crypto.ctx, zeros);
    assert_ok(crypto.ops->tag(aead, zeros, none, none, tag));
    hex("530f8afbc74536b9", expected);
    assert_memory_equal(tag, expected, sizeof(tag));
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 7);
    assert_ok(crypto.ops->seal(aead, zeros, gmc_bytes(data, sizeof(data)), NULL, 0, NULL, full));
    for (size_t cut = 0; cut <= sizeof(data); cut++) {
        assert_ok(crypto.ops->tag(aead, zeros, gmc_bytes(data, cut),
                                  gmc_bytes(data + cut, sizeof(data) - cut), tag));
        assert_memory_equal(tag, full, sizeof(tag));
    }
    assert_ok(crypto.ops->seal(aead, zeros, gmc_bytes(data, 33), NULL, 0, NULL, full));
    assert_ok(crypto.ops->tag(aead, zeros, gmc_bytes(data, 17), gmc_bytes(data + 17, 16), tag));
    assert_memory_equal(tag, full, sizeof(tag));
    crypto.ops->aead_free(aead);
    gmc_crypto_openssl_free(x);
}

void test_vectors_sha256(void **state)
{
    static const char *const cases[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    struct gmc_crypto_openssl *x = gmc_crypto_openssl_new(NULL, no_seed);
    struct gmc_crypto crypto;

    (void)state;
    assert_non_null(x);
    gmc_crypto_openssl_table(x, &crypto);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t expected[32], got[32];

        hex(cases[i][1], expected);
        crypto.ops->hash((const uint8_t *)cases[i][0], strlen(cases[i][0]), got);
        assert_memory_equal(got, expected, sizeof(got));
    }
    gmc_crypto_openssl_free(x);
}

void test_vectors_hkdf(void **state)
{
    static const struct {
        const char *prk, *info, *okm;
    } cases[] = {
        {"077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5", "f0f1f2f3f4f5f6f7f8f9",
         "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"},
        {"06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
         "b0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadb"
         "dcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
         "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c6"
         "5e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"},
        {"19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04", "",
         "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t prk[32], info[80], okm[82], got[82];
        struct gmc_bytes expected = hex(cases[i].okm, okm);

        hex(cases[i].prk, prk);
        assert_ok(gmc_crypto_openssl_expand(prk, hex(cases[i].info, info), got, expected.len));
        assert_memory_equal(got, okm, expected.len);
    }
}

void test_vectors_ed25519(void **state)
{
    static const struct {
        const char *private_key, *message, *signature;
    } cases[] = {
        {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "",
         "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701"
         "cf"
         "9b46bd25bf5f0595bbe24655141438e7a100b"},
        {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", "72",
         "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d"
         "0f"
         "11d8c387b2eaeb4302aeeb00d291612bb0c00"},
        {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7", "af82",
         "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f7609"
         "84"
         "dc6594a7c15e9716ed28dc027beceea1ec40a"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t key[32], message[2], expected[64], got[64];
        struct gmc_bytes data = hex(cases[i].message, message);
        struct gmc_crypto_openssl *x;
        struct gmc_crypto crypto;
        size_t len = sizeof(got);

        hex(cases[i].private_key, key);
        hex(cases[i].signature, expected);
        x = gmc_crypto_openssl_new_ed25519(key, no_seed);
        assert_non_null(x);
        gmc_crypto_openssl_table(x, &crypto);
        assert_ok(crypto.ops->sign(crypto.ctx, NULL, data, got, &len));
        assert_int_equal(len, sizeof(expected));
        assert_memory_equal(got, expected, sizeof(expected));
        gmc_crypto_openssl_free(x);
    }
}
