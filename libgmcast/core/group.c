/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows of blocks; see group.h. */
#include "core/group.h"

#include "base/assert.h"

uint32_t gmc_group_blocks(const struct gmc_object *object)
{
    uint32_t fragments = gmc_fragment_count(object, object->block_bytes);
    uint32_t blocks = GMC_GROUP_SOURCES_MAX / fragments;
    return blocks < GMC_GROUP_BLOCKS_MAX ? blocks : GMC_GROUP_BLOCKS_MAX;
}

void gmc_group_shape(const struct gmc_object *object, uint32_t window,
                     struct gmc_group_shape *shape)
{
    uint32_t blocks = gmc_group_blocks(object);
    uint64_t all = gmc_object_blocks(object), first = (uint64_t)window * blocks;
    GMC_ASSERT(first < all);
    *shape = (struct gmc_group_shape){
        .first = (uint32_t)first,
        .blocks = all - first < blocks ? (uint32_t)(all - first) : blocks,
    };
    for (uint32_t i = 0; i < shape->blocks; i++) {
        uint32_t len = gmc_block_len(object, shape->first + i);
        uint32_t longest = gmc_fragment_len(object, len, 0);
        shape->source_of[i] = (uint16_t)shape->sources;
        shape->sources += gmc_fragment_count(object, len);
        shape->shard_bytes = longest > shape->shard_bytes ? longest : shape->shard_bytes;
    }
    shape->source_of[shape->blocks] = (uint16_t)shape->sources;
}

void gmc_group_source(const struct gmc_group_shape *shape, uint32_t source, uint32_t *block,
                      uint16_t *fragment)
{
    uint32_t i = 0;
    while (source >= shape->source_of[i + 1])
        i++;
    *block = shape->first + i;
    *fragment = (uint16_t)(source - shape->source_of[i]);
}
