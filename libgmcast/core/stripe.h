/* SPDX-License-Identifier: BSD-2-Clause */
/* Which blocks belong to which stripe: a hash page and the blocks that it describes stay together,
 * and these groups belong to the stripes in turn. So no stripe waits for a page that another one
 * brings: where each of two waited for the other, both would stand still. Within a stripe blocks
 * are counted without the others' (their index). With one stripe, index and number of a block are
 * the same. */
#ifndef GMC_CORE_STRIPE_H
#define GMC_CORE_STRIPE_H

#include "core/manifest.h"

#define GMC_STRIPE_RUN GMC_PAGE_GROUP

static inline uint32_t gmc_stripe_of(uint32_t stripes, uint64_t block)
{
    return stripes == 1 ? 0 : (uint32_t)(block / GMC_STRIPE_RUN % stripes);
}

/* How many blocks of the stripe have a smaller number than this: the index of its own blocks. */
static inline uint64_t gmc_stripe_below(uint32_t stripes, uint32_t stripe, uint64_t block)
{
    if (stripes == 1)
        return block;
    uint64_t turns = block / GMC_STRIPE_RUN / stripes;
    uint32_t turn = gmc_stripe_of(stripes, block);

    if (turn == stripe)
        return turns * GMC_STRIPE_RUN + block % GMC_STRIPE_RUN;
    return (turns + (turn > stripe ? 1 : 0)) * GMC_STRIPE_RUN;
}

/* The number of the stripe's block with this index. */
static inline uint64_t gmc_stripe_block(uint32_t stripes, uint32_t stripe, uint64_t index)
{
    if (stripes == 1)
        return index;
    uint64_t run = index / GMC_STRIPE_RUN * stripes + stripe;

    return run * GMC_STRIPE_RUN + index % GMC_STRIPE_RUN;
}

/* Is each stripe of an object at most a tenth larger than its part? */
static inline bool gmc_stripes_are_even(uint32_t stripes, uint64_t blocks)
{
    for (uint32_t k = 0; k < stripes; k++)
        if (gmc_stripe_below(stripes, k, blocks) * stripes > blocks + blocks / 10)
            return false;
    return true;
}

#endif
