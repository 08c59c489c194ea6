/* SPDX-License-Identifier: BSD-2-Clause */
/* The block cache: blocks of all channels in memory, bounded in bytes, found by (channel, block).
 *
 * A block that is being received, stored, read or sent is pinned; what nobody pins stays until
 * its memory is wanted, least recently used first. A block has up to two bodies of equal layout:
 * plain bytes and sealed bytes with one tag per fragment. A leaf needs plain alone, a source seals
 * in place, a relay holds both until the block is stored.
 *
 * Pages and small blocks have small bodies, and simulations of many gateways keep the first bytes
 * of each block only. Whatever its size a body counts against the bound like a whole one, so that
 * what a gateway does is the same, and no order of sizes can fill it with what does not fit.
 */
#ifndef GMC_CORE_CACHE_H
#define GMC_CORE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/near.h"
#include "base/pool.h"
#include "base/status.h"
#include "crypto/crypto.h"

#define GMC_CACHE_BODY_BYTES 65536u
#define GMC_FRAGMENTS_MAX 64u
#define GMC_CACHE_SMALL_BYTES 9216u
/* Of each of so many fragments at most. */
#define GMC_CACHE_VIRTUAL_BYTES 8u
#define GMC_CACHE_VIRTUAL_FRAGMENTS 16u
#define GMC_CACHE_SPARE_SIZES 3

struct gmc_cache;

/* The set of all fragments, of 1 to GMC_FRAGMENTS_MAX. */
static inline uint64_t gmc_fragments_all(uint32_t fragments)
{
    return UINT64_MAX >> (GMC_FRAGMENTS_MAX - fragments);
}

enum gmc_block_state {
    GMC_BLOCK_RECEIVING, /* fragments are missing */
    GMC_BLOCK_UNCHECKED, /* whole; waits for its page or for the store's answer */
    GMC_BLOCK_READING,   /* the store is filling it */
    GMC_BLOCK_WAITING,   /* read; waits for its page */
    GMC_BLOCK_VERIFIED   /* known to be what the source signed */
};

struct gmc_block {
    uint32_t channel; /* channel slot */
    uint32_t number;  /* in the channel's block space */
    uint32_t len;     /* bytes of the whole block */
    uint32_t kept;    /* of these, in a body; fewer than len: the body is virtual */
    uint32_t pins;
    uint8_t fragments; /* count */
    uint8_t state;     /* enum gmc_block_state */
    bool for_hash;     /* READING: only its hash is wanted yet (source, page under construction) */
    uint8_t failures;  /* READING: times that the store could not */
    uint64_t received; /* mask of fragments whose plain bytes are here */
    uint64_t sealed;   /* mask of fragments whose sealed bytes and tags are here */
    uint8_t *plain;    /* NULL if none */
    uint8_t *cipher;   /* NULL if none; may be the same memory as plain was (sealed in place) */
    uint8_t (*tags)[GMC_SEAL_TAG_BYTES]; /* with cipher */
    uint8_t hash[GMC_HASH_BYTES];        /* READING, WAITING: as read */
    struct gmc_list node;                /* cache: least recently used order, while not pinned */
    struct gmc_list wait;                /* owner's waiting list; initialised empty */
};

/* Records of blocks, and bodies that are not whole, to be used again. */
struct gmc_cache_spares {
    struct gmc_pool blocks,
        bodies[GMC_CACHE_SPARE_SIZES]; /* of whole ones each cache has its own */
};

/* Keeps at most so many of each. */
void gmc_cache_spares_init(struct gmc_cache_spares *spares, size_t most);
void gmc_cache_spares_trim(struct gmc_cache_spares *spares);

/* bytes bounds the bodies; at least 16 of them. Spares are borrowed for life, and may be shared
 * with other caches; NULL: its own. NULL when out of memory. */
struct gmc_cache *gmc_cache_new(size_t bytes, uint64_t seed, struct gmc_cache_spares *spares);
void gmc_cache_free(struct gmc_cache *cache);

/* How many bodies fit. */
size_t gmc_cache_bodies(const struct gmc_cache *cache);
size_t gmc_cache_bytes_used(const struct gmc_cache *cache);
/* What will be looked at next, as far as that is known. */
void gmc_cache_near(const struct gmc_cache *cache, struct gmc_near *near);

/* The block, marked as used now; NULL. */
struct gmc_block *gmc_cache_find(struct gmc_cache *cache, uint32_t channel, uint32_t number);
/* A new block without bodies, pinned once; must not exist. Its bodies hold its first `kept` bytes:
 * len, or fewer, at most GMC_CACHE_SMALL_BYTES, and then GMC_CACHE_VIRTUAL_BYTES of each fragment
 * but the last, which may have more of them. NULL when out of memory. */
struct gmc_block *gmc_cache_add(struct gmc_cache *cache, uint32_t channel, uint32_t number,
                                uint32_t len, uint32_t kept, uint32_t fragments);
/* Gives the block a body, evicting others where needed. FULL when everything is pinned. */
GMC_NODISCARD gmc_status gmc_cache_give_plain(struct gmc_cache *cache, struct gmc_block *block);
GMC_NODISCARD gmc_status gmc_cache_give_cipher(struct gmc_cache *cache, struct gmc_block *block);
/* The plain body becomes the cipher body (the caller seals in place). */
GMC_NODISCARD gmc_status gmc_cache_plain_to_cipher(struct gmc_cache *cache,
                                                   struct gmc_block *block);
/* Gives the plain body back; the cipher stays. */
void gmc_cache_drop_plain(struct gmc_cache *cache, struct gmc_block *block);

void gmc_block_pin(struct gmc_cache *cache, struct gmc_block *block);
/* The last unpin makes the block evictable; one without any body goes at once. */
void gmc_block_unpin(struct gmc_cache *cache, struct gmc_block *block);
/* Removes a block that holds one pin, the caller's. */
void gmc_cache_remove(struct gmc_cache *cache, struct gmc_block *block);
/* Takes the receiver's pin from those blocks of a channel that are being received and that
 * give_up says yes to, by their numbers; returns how many there were. */
size_t gmc_cache_give_up(struct gmc_cache *cache, uint32_t channel,
                         bool (*give_up)(void *ctx, uint32_t number), void *ctx);
/* Of a channel's blocks that are being received and that only the receiver pins, the one with the
 * highest number above this one; NULL: there is none. Looks at all that is pinned. */
struct gmc_block *gmc_cache_last_receiving(struct gmc_cache *cache, uint32_t channel,
                                           uint32_t above);
/* Forgets all blocks of a channel that nobody pins; true when none is left. */
bool gmc_cache_drop_channel(struct gmc_cache *cache, uint32_t channel);
/* A new key epoch: idle blocks are forgotten, and what is being received begins again without a
 * cipher body's content. Blocks with the store keep their plain bytes. */
void gmc_cache_reset_channel(struct gmc_cache *cache, uint32_t channel);
/* Memory of bodies that are not in use goes back to the system, but for shared spares. */
void gmc_cache_trim(struct gmc_cache *cache);

#endif
