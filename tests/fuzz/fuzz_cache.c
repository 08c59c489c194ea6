/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the operation fuzzer of core/cache. The oracle is a table of what should be there: pins and
 * bodies of 64 blocks; what nobody pins may have gone.
 *
 * Input   triples (operation, channel and number, argument)
 */
#include <string.h>

#include "base/assert.h"
#include "core/cache.h"

enum { CHANNELS = 2, NUMBERS = 32, BLOCKS = CHANNELS * NUMBERS, PINS_MAX = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct known {
    struct gmc_block *block; /* NULL unless pinned */
    uint32_t pins;
    bool plain, cipher;
    uint8_t fill; /* what its bodies hold */
};

static struct gmc_cache *cache;
static struct known known[BLOCKS];

static uint32_t channel_of(unsigned i)
{
    return i / NUMBERS + 1;
}

/* Of each size that bodies have, and at its limits. */
static uint32_t len_of(unsigned i)
{
    return i % 3 == 0   ? GMC_CACHE_BODY_BYTES - i / 3
           : i % 3 == 1 ? GMC_CACHE_SMALL_BYTES + 1 - i % 2
                        : i + 1;
}

#define FEW_BYTES (GMC_CACHE_VIRTUAL_FRAGMENTS * GMC_CACHE_VIRTUAL_BYTES)

static uint32_t kept_of(unsigned i)
{
    if (i % 7 == 0 && len_of(i) > FEW_BYTES) /* of several fragments */
        return FEW_BYTES - i % GMC_CACHE_VIRTUAL_BYTES;
    return i % 5 == 0 ? 1 + i % GMC_CACHE_VIRTUAL_BYTES : len_of(i);
}

static uint32_t fragments_of(unsigned i)
{
    if (kept_of(i) == len_of(i))
        return GMC_FRAGMENTS_MAX;
    return kept_of(i) <= GMC_CACHE_VIRTUAL_BYTES ? 1 : GMC_CACHE_VIRTUAL_FRAGMENTS;
}

static void check_bodies(const struct known *k, unsigned i, const struct gmc_block *block)
{
    uint32_t last = kept_of(i) - 1;
    GMC_ASSERT((block->plain != NULL) == k->plain && (block->cipher != NULL) == k->cipher);
    GMC_ASSERT(!k->plain || (block->plain[0] == k->fill && block->plain[last] == k->fill));
    GMC_ASSERT(!k->cipher || (block->cipher[0] == k->fill && block->cipher[last] == k->fill &&
                              block->tags[fragments_of(i) - 1][15] == k->fill));
}

/* Every pinned block is as it should be, and the bodies are counted. */
static void check_all(void)
{
    size_t bodies = 0;
    for (unsigned i = 0; i < BLOCKS; i++) {
        struct known *k = &known[i];
        struct gmc_block *block = gmc_cache_find(cache, channel_of(i), i % NUMBERS);
        if (k->pins > 0) {
            GMC_ASSERT(block == k->block && block->pins == k->pins);
            bodies += (size_t)k->plain + (size_t)k->cipher;
        }
        GMC_ASSERT(block == NULL || (block->channel == channel_of(i) && block->len == len_of(i)));
        if (block != NULL)
            check_bodies(k, i, block);
    }
    GMC_ASSERT(bodies <= gmc_cache_bodies(cache));
    GMC_ASSERT(gmc_cache_bytes_used(cache) / (GMC_CACHE_BODY_BYTES + 1024) <=
               gmc_cache_bodies(cache));
}

/* How many bodies are pinned: only then may the cache say that it is full. */
static size_t pinned_bodies(void)
{
    size_t bodies = 0;
    for (unsigned i = 0; i < BLOCKS; i++)
        bodies += known[i].pins > 0 ? (size_t)known[i].plain + (size_t)known[i].cipher : 0;
    return bodies;
}

static void pin(struct known *k, unsigned i)
{
    struct gmc_block *block = gmc_cache_find(cache, channel_of(i), i % NUMBERS);
    if (block == NULL) {
        block = gmc_cache_add(cache, channel_of(i), i % NUMBERS, len_of(i), kept_of(i),
                              fragments_of(i));
        GMC_ASSERT(block != NULL);
        *k = (struct known){.block = block, .pins = 1};
    } else if (k->pins < PINS_MAX) {
        gmc_block_pin(cache, block);
        k->block = block;
        k->pins++;
    }
}

static void give(struct known *k, bool cipher)
{
    if (k->pins == 0 || (cipher ? k->cipher : k->plain))
        return;
    gmc_status status =
        cipher ? gmc_cache_give_cipher(cache, k->block) : gmc_cache_give_plain(cache, k->block);
    GMC_ASSERT(status == (pinned_bodies() < gmc_cache_bodies(cache) ? GMC_OK : GMC_ERR_FULL));
    if (status != GMC_OK)
        return;
    k->fill = (uint8_t)(k->fill + (k->plain || k->cipher ? 0 : 1));
    if (cipher) {
        memset(k->block->cipher, k->fill, k->block->kept);
        memset(k->block->tags, k->fill, (size_t)k->block->fragments * GMC_SEAL_TAG_BYTES);
        k->cipher = true;
    } else {
        memset(k->block->plain, k->fill, k->block->kept);
        k->plain = true;
    }
}

static void seal_in_place(struct known *k)
{
    if (k->pins == 0)
        return;
    gmc_status status = gmc_cache_plain_to_cipher(cache, k->block);
    GMC_ASSERT(status == (k->plain && !k->cipher ? GMC_OK : GMC_ERR_STATE));
    if (status != GMC_OK)
        return;
    k->plain = false;
    k->cipher = true;
    memset(k->block->tags, k->fill, (size_t)k->block->fragments * GMC_SEAL_TAG_BYTES);
}

static void forget_idle(uint32_t channel)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        if (channel_of(i) == channel)
            GMC_ASSERT(known[i].pins > 0 || gmc_cache_find(cache, channel, i % NUMBERS) == NULL);
}

static bool give_up(void *ctx, uint32_t number)
{
    struct known *k = &known[*(uint32_t *)ctx * NUMBERS - NUMBERS + number];
    GMC_ASSERT(k->pins > 0 && k->block->state == GMC_BLOCK_RECEIVING);
    k->pins--;
    return true;
}

static void operate(uint8_t op, unsigned i, uint8_t argument)
{
    struct known *k = &known[i];
    uint32_t channel = channel_of(i);
    switch (op % 12) {
    case 0:
    case 1:
        pin(k, i);
        break;
    case 2:
    case 3:
        if (k->pins > 0) {
            gmc_block_unpin(cache, k->block);
            k->pins--;
        }
        break;
    case 4:
    case 5:
        give(k, false);
        break;
    case 6:
        give(k, true);
        break;
    case 7:
        seal_in_place(k);
        break;
    case 8:
        if (k->pins > 0) {
            gmc_cache_drop_plain(cache, k->block);
            k->plain = false;
            k->block->state = argument % 5;
        }
        break;
    case 9:
        if (k->pins == 1) {
            gmc_cache_remove(cache, k->block);
            k->pins = 0;
            GMC_ASSERT(gmc_cache_find(cache, channel, i % NUMBERS) == NULL);
        }
        break;
    case 10:
        if (argument % 2 == 0)
            gmc_cache_reset_channel(cache, channel);
        else
            gmc_cache_drop_channel(cache, channel);
        forget_idle(channel);
        gmc_cache_trim(cache);
        break;
    default:
        gmc_cache_give_up(cache, channel, give_up, &channel);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cache = gmc_cache_new(0, 1, NULL);
    GMC_ASSERT(cache != NULL);
    memset(known, 0, sizeof(known));
    for (size_t i = 0; i + 3 <= size; i += 3) {
        operate(data[i], data[i + 1] % BLOCKS, data[i + 2]);
        check_all();
    }
    gmc_cache_free(cache);
    return 0;
}
