/* SPDX-License-Identifier: BSD-2-Clause */
/* What one host has on its disk for one channel: blocks, hash pages, small state files; what of it
 * would survive a loss of power. No time passes here: that is disk.h.
 *
 * A block whose bytes are those of the object is kept as one byte of state; only wrong bytes (torn
 * writes, planted faults) are kept as such. Writes reach the disk's cache, which survives the end
 * of a process; a sync, or the end of a state file's replacement, makes them durable.
 */
#ifndef SIM_STORE_H
#define SIM_STORE_H

#include "base/map.h"
#include "base/prng.h"
#include "sim-wan/object.h"

enum sim_block_content {
    SIM_BLOCK_NONE, /* never written: reads as zeros */
    SIM_BLOCK_GOOD, /* the object's bytes */
    SIM_BLOCK_OTHER /* other bytes, kept */
};

struct sim_page;
struct sim_file;

struct sim_store {
    struct gmc_channel_key key;
    struct sim_object *object; /* of the registry; NULL until known */
    bool is_source;
    bool open;     /* opened or scanned, not closed */
    bool closed;   /* by this process: what was asked for before may still come in */
    bool laid_out; /* temporary tree made */
    bool finished; /* stands under its final name */
    bool discarded;
    uint8_t *blocks; /* by index: content now, and << 2 what is durable */
    uint32_t block_count;
    struct gmc_map others; /* block -> its bytes, in full blocks */
    uint32_t *dirty;       /* blocks written since the last sync */
    size_t dirty_count, dirty_capacity;
    struct sim_page *pages;
    size_t page_count;
    struct sim_file *files;
    size_t file_count, file_capacity;
    uint64_t used_bytes; /* in blocks */
};

void sim_store_init(struct sim_store *store, const struct gmc_channel_key *key);
void sim_store_fini(struct sim_store *store);
/* Once the object is known: room for its blocks. */
void sim_store_set_object(struct sim_store *store, struct sim_object *object);

/* Offset is that of a block; len at most a block. True when the bytes are the object's. */
bool sim_store_write(struct sim_store *store, uint64_t offset, const uint8_t *data, size_t len);
/* Any range; bytes never written are zeros. */
void sim_store_read(const struct sim_store *store, uint64_t offset, uint8_t *out, size_t len);
/* Writes only the first part of a block; the rest stays what it was. */
void sim_store_tear(struct sim_store *store, uint64_t offset, const uint8_t *data, size_t len,
                    size_t part);
/* Pages are in store_page.c. hash: that of virtual bodies; NULL: bodies are whole. */
typedef void (*sim_store_hash)(const uint8_t *data, size_t len, uint8_t out[GMC_HASH_BYTES]);
void sim_store_write_page(struct sim_store *store, uint64_t index, const uint8_t *data, size_t len,
                          sim_store_hash hash);
/* False when the page was never written. */
bool sim_store_read_page(const struct sim_store *store, uint64_t index, uint8_t *out, size_t len,
                         sim_store_hash hash);
void sim_store_free_pages(struct sim_store *store);
void sim_store_sync_pages(struct sim_store *store);
void sim_store_lose_pages(struct sim_store *store, struct gmc_prng *prng);
void sim_store_save(struct sim_store *store, const char *name, struct gmc_bytes bytes);
void sim_store_sync(struct sim_store *store);
/* Drops state files, pages and, with discard, all blocks of an unfinished object. */
void sim_store_close(struct sim_store *store, bool discard);

size_t sim_store_saved_count(const struct sim_store *store);
void sim_store_saved(const struct sim_store *store, size_t i, struct gmc_saved *saved);

/* Loses or tears what was not synced. */
void sim_store_power_loss(struct sim_store *store, struct gmc_prng *prng);

enum sim_block_content sim_store_block(const struct sim_store *store, uint32_t block);
uint32_t sim_store_good_blocks(const struct sim_store *store);
/* Every block from `first` on holds the object's bytes. */
bool sim_store_is_whole(const struct sim_store *store, uint32_t first);
uint32_t sim_store_listing_blocks(const struct sim_store *store);

#endif
