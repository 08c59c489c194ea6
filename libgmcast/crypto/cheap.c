/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the cheap stand-in for cryptography: keyed checksums in place of seals and signatures.
 *
 * The state is four independent 64-bit lanes; a step takes up to 32 bytes, 8 for each lane, and
 * leaves lanes for which there is nothing alone:
 *
 *   lane = rotl((lane ^ word) * K, 29)        K odd
 *
 * For a fixed word that is a bijection of the lane, for a fixed lane one of the word. So two inputs
 * of equal length that differ in one step never end in the same state, and others do by chance
 * only. The end mixes the lanes over one another, again by bijections.
 */
#include "crypto/cheap.h"

#include <stdlib.h>
#include <string.h>

#include "base/prng.h"

#define MIX_K 0x9e3779b97f4a7c15u /* odd: 2^64 / golden ratio */
#define NAME_MAX_BYTES 255

static const char spki_head[] = "gmcast cheap key ";
#define SPKI_HEAD_BYTES (sizeof(spki_head) - 1)

struct gmc_crypto_cheap {
    char name[NAME_MAX_BYTES + 1];
    struct gmc_prng prng;
};

struct mix {
    uint64_t lane[4];
};

struct gmc_aead {
    uint64_t keyed[2]; /* where the checksum of each packet starts */
};

struct gmc_pubkey {
    char name[NAME_MAX_BYTES + 1];
};

struct gmc_signer {
    char name[2 * 8 + 1];
};

static inline uint64_t rotl(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

/* Little-endian, which compilers make one load of where it is the machine's order. */
static inline uint64_t load(const uint8_t *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
           (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
           (uint64_t)p[7] << 56;
}

static inline uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The word that begins with these bytes, fewer than 8, and goes on with zeros, without a look
 * behind them. */
static inline uint64_t load_some(const uint8_t *p, size_t len)
{
    if (len >= 4)
        return load32(p) | (uint64_t)load32(p + len - 4) << 8 * (len - 4);
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++)
        value |= (uint64_t)p[i] << 8 * i;
    return value;
}

/* In words of their own, which compilers make one store of, as they do not of a loop. */
static inline void store(uint8_t *p, uint64_t value)
{
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
    p[2] = (uint8_t)(value >> 16);
    p[3] = (uint8_t)(value >> 24);
    p[4] = (uint8_t)(value >> 32);
    p[5] = (uint8_t)(value >> 40);
    p[6] = (uint8_t)(value >> 48);
    p[7] = (uint8_t)(value >> 56);
}

static inline uint64_t mix_word(uint64_t lane, uint64_t word)
{
    return rotl((lane ^ word) * MIX_K, 29);
}

static void mix_start(struct mix *mix, uint64_t purpose)
{
    for (unsigned i = 0; i < 4; i++)
        mix->lane[i] = (purpose + i) * 0xd1b54a32d192ed03u;
}

/* Takes a piece and its length, so that bytes cannot move from one piece to the next unseen. */
static inline void mix_bytes(struct mix *mix, const uint8_t *data, size_t len)
{
    uint64_t a = mix->lane[0], b = mix->lane[1], c = mix->lane[2], d = mix->lane[3];
    size_t left = len;

    for (; left >= 32; left -= 32, data += 32) {
        a = mix_word(a, load(data));
        b = mix_word(b, load(data + 8));
        c = mix_word(c, load(data + 16));
        d = mix_word(d, load(data + 24));
    }
    /* A word that is not full begins with bytes that were taken already, if there are some. */
    if (left > 0) {
        uint64_t last = len >= 8 ? load(data + left - 8) : load_some(data, left);
        a = mix_word(a, left > 8 ? load(data) : last);
        if (left > 8)
            b = mix_word(b, left > 16 ? load(data + 8) : last);
        if (left > 16)
            c = mix_word(c, left > 24 ? load(data + 16) : last);
        if (left > 24)
            d = mix_word(d, last);
    }
    mix->lane[0] = mix_word(a, len);
    mix->lane[1] = b;
    mix->lane[2] = c;
    mix->lane[3] = d;
}

static inline uint64_t mix_over(uint64_t lane, uint64_t other)
{
    return rotl((lane ^ rotl(other, 17) * MIX_K) * MIX_K, 31);
}

static inline void mix_pair(uint64_t *a, uint64_t *b)
{
    *a = mix_over(*a, *b);
    *b = mix_over(*b, *a);
}

/* A full avalanche (the finaliser of splitmix64). */
static inline void store_end(uint8_t *out, uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    store(out, z ^ z >> 31);
}

/* The end. Lanes are spread over all four: pairs, and pairs of those. */
static void mix_end(const struct mix *mix, uint8_t out[GMC_HASH_BYTES])
{
    uint64_t lane[4] = {mix->lane[0], mix->lane[1], mix->lane[2], mix->lane[3]};

    mix_pair(&lane[0], &lane[2]);
    mix_pair(&lane[1], &lane[3]);
    mix_pair(&lane[0], &lane[1]);
    mix_pair(&lane[2], &lane[3]);
    for (size_t i = 0; i < 4; i++)
        store_end(out + 8 * i, lane[i]);
}

static struct gmc_aead *aead_new(void *ctx, const uint8_t key[GMC_KEY_BYTES])
{
    struct gmc_aead *aead = malloc(sizeof(*aead));
    struct mix mix;
    uint8_t end[GMC_HASH_BYTES];

    (void)ctx;
    if (aead == NULL)
        return NULL;
    mix_start(&mix, 1);
    mix_bytes(&mix, key, GMC_KEY_BYTES);
    mix_end(&mix, end);
    aead->keyed[0] = load(end);
    aead->keyed[1] = load(end + 8);
    return aead;
}

static void aead_free(struct gmc_aead *aead)
{
    free(aead);
}

/* ---- checksums of packets ----
 * A simulation takes three for each packet, mostly of some forty bytes: two lanes are enough for
 * them, and a long piece counts with the four that it leaves. */
#define SHORT_BYTES 64u

_Static_assert(GMC_SEAL_TAG_BYTES == 16 && GMC_LINK_TAG_BYTES == 8, "two lanes, and one");

/* A seal must not pass as a link tag. */
enum purpose { SEAL = 0x5ea1, LINK = 0x117c };

struct sum {
    uint64_t a, b;
};

static inline void sum_short(struct sum *sum, const uint8_t *data, size_t len)
{
    for (; len >= 16; len -= 16, data += 16) {
        sum->a = mix_word(sum->a, load(data));
        sum->b = mix_word(sum->b, load(data + 8));
    }
    if (len >= 8) {
        sum->a = mix_word(sum->a, load(data));
        len -= 8;
        data += 8;
    }
    if (len > 0)
        sum->b = mix_word(sum->b, load_some(data, len));
}

static void sum_long(struct sum *sum, const uint8_t *data, size_t len)
{
    struct mix mix;

    mix_start(&mix, 5);
    mix_bytes(&mix, data, len);
    for (size_t i = 0; i < 4; i += 2) {
        sum->a = mix_word(sum->a, mix.lane[i]);
        sum->b = mix_word(sum->b, mix.lane[i + 1]);
    }
}

static inline void sum_piece(struct sum *sum, struct gmc_bytes piece)
{
    if (piece.len <= SHORT_BYTES)
        sum_short(sum, piece.data, piece.len);
    else
        sum_long(sum, piece.data, piece.len);
}

/* Lengths come first, so that bytes cannot move from one piece to the next unseen. The end is a
 * bijection too, and its first lane alone differs where one of the two did. */
static inline struct sum checksum(const struct gmc_aead *aead, enum purpose purpose,
                                  const uint8_t nonce[GMC_NONCE_BYTES], struct gmc_bytes first,
                                  struct gmc_bytes second)
{
    struct sum sum = {aead->keyed[0], aead->keyed[1]};

    sum.a = mix_word(sum.a, (uint64_t)first.len << 32 ^ second.len);
    sum.b = mix_word(sum.b, (uint64_t)purpose << 32 | load32(nonce));
    sum.a = mix_word(sum.a, load(nonce + 4));
    sum_piece(&sum, first);
    sum_piece(&sum, second);
    mix_pair(&sum.a, &sum.b);
    return sum;
}

static inline void seal_tag(const struct gmc_aead *aead, const uint8_t nonce[GMC_NONCE_BYTES],
                            struct gmc_bytes aad, struct gmc_bytes body,
                            uint8_t tag[GMC_SEAL_TAG_BYTES])
{
    struct sum sum = checksum(aead, SEAL, nonce, aad, body);

    store_end(tag, sum.a);
    store_end(tag + 8, sum.b);
}

static gmc_status seal(struct gmc_aead *aead, const uint8_t nonce[GMC_NONCE_BYTES],
                       struct gmc_bytes aad, const uint8_t *in, size_t len, uint8_t *out,
                       uint8_t tag[GMC_SEAL_TAG_BYTES])
{
    seal_tag(aead, nonce, aad, gmc_bytes(in, len), tag);
    if (in != out && len > 0)
        memmove(out, in, len);
    return GMC_OK;
}

static gmc_status open_sealed(struct gmc_aead *aead, const uint8_t nonce[GMC_NONCE_BYTES],
                              struct gmc_bytes aad, const uint8_t *in, size_t len, uint8_t *out,
                              const uint8_t tag[GMC_SEAL_TAG_BYTES])
{
    uint8_t expected[GMC_SEAL_TAG_BYTES];

    seal_tag(aead, nonce, aad, gmc_bytes(in, len), expected);
    if (memcmp(tag, expected, sizeof(expected)) != 0)
        return GMC_ERR_AUTH;
    if (in != out && len > 0)
        memmove(out, in, len);
    return GMC_OK;
}

static gmc_status link_tag(struct gmc_aead *aead, const uint8_t nonce[GMC_NONCE_BYTES],
                           struct gmc_bytes first, struct gmc_bytes second,
                           uint8_t tag[GMC_LINK_TAG_BYTES])
{
    store_end(tag, checksum(aead, LINK, nonce, first, second).a);
    return GMC_OK;
}

static void hash(const uint8_t *data, size_t len, uint8_t out[GMC_HASH_BYTES])
{
    struct mix mix;

    mix_start(&mix, 2);
    mix_bytes(&mix, data, len);
    mix_end(&mix, out);
}

static void hash_pair(const uint8_t *const data[2], size_t len, uint8_t *const out[2])
{
    hash(data[0], len, out[0]);
    hash(data[1], len, out[1]);
}

static gmc_status derive(const uint8_t secret[GMC_KEY_BYTES], const char *label,
                         struct gmc_bytes context, uint8_t *out, size_t out_len)
{
    struct mix keyed, mix;
    uint8_t part[GMC_HASH_BYTES], counter[8];

    if (out_len == 0)
        return GMC_ERR_INVALID;
    mix_start(&keyed, 3);
    mix_bytes(&keyed, secret, GMC_KEY_BYTES);
    mix_bytes(&keyed, (const uint8_t *)label, strlen(label));
    mix_bytes(&keyed, context.data, context.len);
    for (size_t done = 0; done < out_len; done += sizeof(part)) {
        size_t len = out_len - done < sizeof(part) ? out_len - done : sizeof(part);

        mix = keyed;
        store(counter, done);
        mix_bytes(&mix, counter, sizeof(counter));
        mix_end(&mix, part);
        memcpy(out + done, part, len);
    }
    return GMC_OK;
}

static void signature_of(const char *name, struct gmc_bytes data, uint8_t out[GMC_HASH_BYTES])
{
    struct mix mix;

    mix_start(&mix, 4);
    mix_bytes(&mix, (const uint8_t *)name, strlen(name));
    mix_bytes(&mix, data.data, data.len);
    mix_end(&mix, out);
}

/* It keeps no secrets: with whatever name is asked for. */
static gmc_status sign(void *ctx, const struct gmc_pubkey *signer, struct gmc_bytes data,
                       uint8_t *sig, size_t *sig_len)
{
    const struct gmc_crypto_cheap *x = ctx;

    if (*sig_len < GMC_HASH_BYTES)
        return GMC_ERR_FULL;
    signature_of(signer != NULL ? signer->name : x->name, data, sig);
    *sig_len = GMC_HASH_BYTES;
    return GMC_OK;
}

gmc_status gmc_crypto_cheap_spki(const char *name, uint8_t *out, size_t *len)
{
    size_t name_len = strlen(name);

    if (name_len > NAME_MAX_BYTES || SPKI_HEAD_BYTES + name_len > *len)
        return GMC_ERR_FULL;
    memcpy(out, spki_head, SPKI_HEAD_BYTES);
    memcpy(out + SPKI_HEAD_BYTES, name, name_len);
    *len = SPKI_HEAD_BYTES + name_len;
    return GMC_OK;
}

/* Named by its secret, which is none. */
static struct gmc_signer *signer_new(void *ctx, const uint8_t secret[GMC_KEY_BYTES], uint8_t *spki,
                                     size_t *spki_len)
{
    struct gmc_signer *signer = malloc(sizeof(*signer));

    (void)ctx;
    if (signer == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof(signer->name) - 1; i++)
        signer->name[i] = "0123456789abcdef"[secret[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15];
    signer->name[sizeof(signer->name) - 1] = '\0';
    if (gmc_crypto_cheap_spki(signer->name, spki, spki_len) == GMC_OK)
        return signer;
    free(signer);
    return NULL;
}

static void signer_free(struct gmc_signer *signer)
{
    free(signer);
}

static gmc_status signer_sign(struct gmc_signer *signer, struct gmc_bytes data, uint8_t *sig,
                              size_t *sig_len)
{
    if (*sig_len < GMC_HASH_BYTES)
        return GMC_ERR_FULL;
    signature_of(signer->name, data, sig);
    *sig_len = GMC_HASH_BYTES;
    return GMC_OK;
}

static struct gmc_pubkey *pubkey_new(void *ctx, struct gmc_bytes spki)
{
    struct gmc_pubkey *pubkey;

    (void)ctx;
    if (spki.len < SPKI_HEAD_BYTES || spki.len - SPKI_HEAD_BYTES > NAME_MAX_BYTES ||
        memcmp(spki.data, spki_head, SPKI_HEAD_BYTES) != 0)
        return NULL;
    pubkey = calloc(1, sizeof(*pubkey));
    if (pubkey == NULL)
        return NULL;
    memcpy(pubkey->name, spki.data + SPKI_HEAD_BYTES, spki.len - SPKI_HEAD_BYTES);
    return pubkey;
}

static void pubkey_free(struct gmc_pubkey *pubkey)
{
    free(pubkey);
}

static gmc_status verify(struct gmc_pubkey *pubkey, struct gmc_bytes data, struct gmc_bytes sig)
{
    uint8_t expected[GMC_HASH_BYTES];

    signature_of(pubkey->name, data, expected);
    return gmc_bytes_equal(sig, gmc_bytes(expected, sizeof(expected))) ? GMC_OK : GMC_ERR_AUTH;
}

static void random_bytes(void *ctx, uint8_t *out, size_t len)
{
    struct gmc_crypto_cheap *x = ctx;
    uint8_t word[8];

    for (size_t done = 0; done < len; done += sizeof(word)) {
        size_t part = len - done < sizeof(word) ? len - done : sizeof(word);

        store(word, gmc_prng_u64(&x->prng));
        memcpy(out + done, word, part);
    }
}

static const struct gmc_crypto_ops cheap_ops = {
    .name = "cheap",
    .aead_new = aead_new,
    .aead_free = aead_free,
    .seal = seal,
    .open = open_sealed,
    .tag = link_tag,
    .hash = hash,
    .hash_pair = hash_pair,
    .derive = derive,
    .sign = sign,
    .pubkey_new = pubkey_new,
    .pubkey_free = pubkey_free,
    .signer_new = signer_new,
    .signer_free = signer_free,
    .signer_sign = signer_sign,
    .verify = verify,
    .random = random_bytes,
};

struct gmc_crypto_cheap *gmc_crypto_cheap_new(const char *name, const uint8_t seed[32])
{
    struct gmc_crypto_cheap *x;
    uint8_t digest[GMC_HASH_BYTES];
    size_t len = strlen(name);

    if (len > NAME_MAX_BYTES)
        return NULL;
    x = calloc(1, sizeof(*x));
    if (x == NULL)
        return NULL;
    memcpy(x->name, name, len);
    hash(seed, 32, digest);
    gmc_prng_init(&x->prng, load(digest));
    return x;
}

void gmc_crypto_cheap_free(struct gmc_crypto_cheap *x)
{
    free(x);
}

void gmc_crypto_cheap_table(struct gmc_crypto_cheap *x, struct gmc_crypto *out)
{
    out->ops = &cheap_ops;
    out->ctx = x;
}
