/* SPDX-License-Identifier: BSD-2-Clause */
/* Two interleaved SHA-256: see sha256_pair.h. */
#include "crypto/sha256_pair.h"

#include "crypto/crypto.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <string.h>

#define CHUNK 64 /* what one compression takes */
#define LENGTH_BYTES 8
#define TARGET __attribute__((target("sha,sse4.1")))

/* FIPS 180-4, 4.2.2. */
static const uint32_t round_keys[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/* The eight working variables as the instructions want them, the highest lane first. */
struct state {
    __m128i abef, cdgh;
};

bool gmc_sha256_pair_usable(void)
{
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0)
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}

/* Compresses so many chunks of each message. */
TARGET static void compress(struct state state[2], const uint8_t *const data[2], size_t chunks)
{
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    for (size_t at = 0; at < chunks * CHUNK; at += CHUNK) {
        struct state work[2] = {state[0], state[1]};
        __m128i words[2][4];
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 4; j++)
                words[i][j] =
                    _mm_shuffle_epi8(_mm_loadu_si128(
                                         (const __m128i *)(const void *)(data[i] + at + 16 * j)),
                                     big_endian);
                /* Unrolled, so that all of it stays in registers. */
#pragma GCC unroll 16
        for (int round = 0; round < 16; round++) {
            __m128i keys = _mm_loadu_si128((const __m128i *)(const void *)&round_keys[4 * round]);
#pragma GCC unroll 2
            for (int i = 0; i < 2; i++) {
                __m128i *w = words[i], sum;
                if (round >= 4) { /* the next four words of the schedule */
                    __m128i next = _mm_sha256msg1_epu32(w[round % 4], w[(round + 1) % 4]);
                    next = _mm_add_epi32(next, _mm_alignr_epi8(w[(round + 3) % 4],
                                                               w[(round + 2) % 4], 4));
                    w[round % 4] = _mm_sha256msg2_epu32(next, w[(round + 3) % 4]);
                }
                sum = _mm_add_epi32(w[round % 4], keys);
                work[i].cdgh = _mm_sha256rnds2_epu32(work[i].cdgh, work[i].abef, sum);
                sum = _mm_shuffle_epi32(sum, 0x0e);
                work[i].abef = _mm_sha256rnds2_epu32(work[i].abef, work[i].cdgh, sum);
            }
        }
        for (int i = 0; i < 2; i++) {
            state[i].abef = _mm_add_epi32(state[i].abef, work[i].abef);
            state[i].cdgh = _mm_add_epi32(state[i].cdgh, work[i].cdgh);
        }
    }
}

/* What follows the last whole chunk: the rest, a one bit, zeros, the length in bits. */
static size_t pad(uint8_t out[2 * CHUNK], const uint8_t *data, size_t len)
{
    size_t rest = len % CHUNK, chunks = rest + 1 + LENGTH_BYTES <= CHUNK ? 1 : 2;
    memset(out, 0, 2 * CHUNK);
    if (rest > 0)
        memcpy(out, data + (len - rest), rest);
    out[rest] = 0x80;
    for (size_t i = 0; i < LENGTH_BYTES; i++)
        out[chunks * CHUNK - 1 - i] = (uint8_t)((uint64_t)len * 8 >> 8 * i);
    return chunks;
}

TARGET static void put_state(const struct state *state, uint8_t out[GMC_HASH_BYTES])
{
    /* a b e f, c d g h: the words of abef and cdgh from the highest down. */
    static const uint8_t place[8] = {0, 1, 4, 5, 2, 3, 6, 7};
    uint32_t words[8];
    _mm_storeu_si128((__m128i *)(void *)&words[0], _mm_shuffle_epi32(state->abef, 0x1b));
    _mm_storeu_si128((__m128i *)(void *)&words[4], _mm_shuffle_epi32(state->cdgh, 0x1b));
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++)
            out[4 * place[i] + j] = (uint8_t)(words[i] >> (24 - 8 * j));
}

TARGET void gmc_sha256_pair(const uint8_t *const data[2], size_t len, uint8_t *const out[2])
{
    /* FIPS 180-4, 5.3.3. */
    const struct state initial = {_mm_set_epi32(0x6a09e667, (int)0xbb67ae85, 0x510e527f,
                                                (int)0x9b05688c),
                                  _mm_set_epi32(0x3c6ef372, (int)0xa54ff53a, 0x1f83d9ab,
                                                0x5be0cd19)};
    struct state state[2] = {initial, initial};
    uint8_t ends[2][2 * CHUNK];
    const uint8_t *const tails[2] = {ends[0], ends[1]};
    size_t chunks = pad(ends[0], data[0], len);
    (void)pad(ends[1], data[1], len);
    compress(state, data, len / CHUNK);
    compress(state, tails, chunks);
    put_state(&state[0], out[0]);
    put_state(&state[1], out[1]);
}

#else
#include "base/assert.h"

bool gmc_sha256_pair_usable(void)
{
    return false;
}

void gmc_sha256_pair(const uint8_t *const data[2], size_t len, uint8_t *const out[2])
{
    (void)data, (void)len, (void)out;
    GMC_ASSERT(false);
}
#endif
