/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the memory of control messages and records. */
#include "wire/arena.h"

#include <stdint.h>
#include <stdlib.h>

#define CHUNK_BYTES 4000u
#define ALIGN _Alignof(max_align_t)

struct gmc_arena_chunk {
    struct gmc_arena_chunk *next;
    size_t used, size;
    max_align_t data[];
};

static void *refuse(struct gmc_arena *arena, gmc_status status)
{
    if (arena->status == GMC_OK)
        arena->status = status;
    return NULL;
}

void *gmc_arena_cut(struct gmc_arena *arena, size_t count, size_t size)
{
    struct gmc_arena_chunk *chunk = arena->chunks;
    size_t need, room;

    if (size > 0 && count > (SIZE_MAX - sizeof(*chunk) - ALIGN) / size)
        return refuse(arena, GMC_ERR_LIMIT);
    need = (count * size + ALIGN - 1) / ALIGN * ALIGN;
    if (need > arena->left)
        return refuse(arena, GMC_ERR_LIMIT);
    if (chunk == NULL || need > chunk->size - chunk->used) {
        room = need > CHUNK_BYTES ? need : CHUNK_BYTES;
        chunk = malloc(sizeof(*chunk) + room);
        if (chunk == NULL)
            return refuse(arena, GMC_ERR_NOMEM);
        chunk->next = arena->chunks;
        chunk->used = 0;
        chunk->size = room;
        arena->chunks = chunk;
    }
    arena->left -= need;
    chunk->used += need;
    return (uint8_t *)chunk->data + chunk->used - need;
}

static void *cut_for_protobuf(void *arena, size_t size)
{
    return gmc_arena_cut(arena, 1, size);
}

static void free_for_protobuf(void *arena, void *piece)
{
    (void)arena;
    (void)piece;
}

void gmc_arena_init(struct gmc_arena *arena, size_t limit)
{
    *arena = (struct gmc_arena){
        .allocator = {cut_for_protobuf, free_for_protobuf, arena},
        .left = limit,
    };
}

void gmc_arena_fini(struct gmc_arena *arena)
{
    while (arena->chunks != NULL) {
        struct gmc_arena_chunk *chunk = arena->chunks;

        arena->chunks = chunk->next;
        free(chunk);
    }
}
