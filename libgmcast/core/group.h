/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows of blocks: what the nodes of a group repair together. The source fragments of a few
 * blocks, sealed, in the order of their numbers, are the data shards of an erasure code
 * (fec/fec.h); one shard of parity replaces a different fragment at each node that lost one.
 *
 * Window w is the blocks w*n .. w*n + n-1, n the most that have at most GMC_GROUP_SOURCES_MAX
 * fragments together, but no more than 5. A shard is a fragment's sealed bytes, filled up with
 * zeros to the longest one of its window, and then its seal tag; so what is computed from parity
 * proves itself. */
#ifndef GMC_CORE_GROUP_H
#define GMC_CORE_GROUP_H

#include "core/manifest.h"
#include "fec/fec.h"
#include "wire/control.h"

#define GMC_GROUP_BLOCKS_MAX 5u
#define GMC_GROUP_MASK_WORDS (GMC_GROUP_SOURCES_MAX / 64u)
_Static_assert(GMC_GROUP_SOURCES_MAX <= GMC_FEC_DATA_MAX, "a window is one code word");

struct gmc_group_shape {
    uint32_t first;  /* block */
    uint32_t blocks; /* 1..GMC_GROUP_BLOCKS_MAX */
    uint32_t sources;
    uint32_t shard_bytes;                         /* without the seal tag */
    uint16_t source_of[GMC_GROUP_BLOCKS_MAX + 1]; /* block first + i begins with this source */
};

/* Blocks in a window of an object, 3 to 5. */
uint32_t gmc_group_blocks(const struct gmc_object *object);
/* The shape of a window that has a block at all (asserted). */
void gmc_group_shape(const struct gmc_object *object, uint32_t window,
                     struct gmc_group_shape *shape);
/* A source's block and fragment. */
void gmc_group_source(const struct gmc_group_shape *shape, uint32_t source, uint32_t *block,
                      uint16_t *fragment);

#endif
