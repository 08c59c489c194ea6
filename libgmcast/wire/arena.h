/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of one message while it is encoded or looked at: pieces cut from chunks, released
 * together, with a bound. As the allocator of protobuf-c it keeps a small message from unpacking
 * to a large one: two bytes on the wire can ask for a hundred in memory. */
#ifndef GMC_WIRE_ARENA_H
#define GMC_WIRE_ARENA_H

#include <protobuf-c/protobuf-c.h>

#include "base/bytes.h"
#include "base/status.h"

struct gmc_arena_chunk;

struct gmc_arena {
    ProtobufCAllocator allocator; /* for protobuf-c; freeing single pieces does nothing */
    struct gmc_arena_chunk *chunks;
    size_t left;       /* bytes that may still be cut */
    gmc_status status; /* why the first cut failed: LIMIT or NOMEM; OK while none has */
};

/* At most limit bytes in all. Allocates nothing. The arena must not move afterwards. */
void gmc_arena_init(struct gmc_arena *arena, size_t limit);
void gmc_arena_fini(struct gmc_arena *arena);

/* count elements of undefined content, aligned for any type, valid until gmc_arena_fini; NULL when
 * the bound or memory is reached. */
void *gmc_arena_cut(struct gmc_arena *arena, size_t count, size_t size);

#endif
