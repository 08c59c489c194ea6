/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the Merkle tree: hashing it, proofs, and their check. */
#include "core/merkle.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

static void hash_leaf(const struct gmc_crypto *crypto, struct gmc_bytes entry,
                      uint8_t out[GMC_HASH_BYTES])
{
    uint8_t input[1 + GMC_HASH_BYTES] = {0x00};

    crypto->ops->hash(entry.data, entry.len, input + 1);
    crypto->ops->hash(input, sizeof(input), out);
}

/* out may be one of the two. */
static void hash_node(const struct gmc_crypto *crypto, const uint8_t *left, const uint8_t *right,
                      uint8_t out[GMC_HASH_BYTES])
{
    uint8_t input[1 + 2 * GMC_HASH_BYTES] = {0x01};

    memcpy(input + 1, left, GMC_HASH_BYTES);
    memcpy(input + 1 + GMC_HASH_BYTES, right, GMC_HASH_BYTES);
    crypto->ops->hash(input, sizeof(input), out);
}

gmc_status gmc_merkle_init(struct gmc_merkle *tree, const struct gmc_crypto *crypto, size_t leaves)
{
    GMC_ASSERT(leaves <= UINT32_MAX);
    *tree = (struct gmc_merkle){.crypto = crypto, .leaves = leaves};
    tree->nodes = malloc((2 * leaves + GMC_MERKLE_HEIGHT_MAX) * sizeof(*tree->nodes));
    return tree->nodes != NULL ? GMC_OK : GMC_ERR_NOMEM;
}

void gmc_merkle_fini(struct gmc_merkle *tree)
{
    free(tree->nodes);
    *tree = (struct gmc_merkle){0};
}

void gmc_merkle_put(struct gmc_merkle *tree, size_t index, struct gmc_bytes entry)
{
    GMC_ASSERT(index < tree->leaves);
    hash_leaf(tree->crypto, entry, tree->nodes[index]);
}

/* Pairs from the left, what is left over goes up as it is: the tree of the law, from below. */
void gmc_merkle_finish(struct gmc_merkle *tree, uint8_t root[GMC_HASH_BYTES])
{
    size_t from = 0, count = tree->leaves;

    memset(root, 0, GMC_HASH_BYTES);
    if (count == 0)
        return;
    while (count > 1) {
        size_t to = from + count, above = count / 2 + count % 2;

        for (size_t i = 0; i < count / 2; i++)
            hash_node(tree->crypto, tree->nodes[from + 2 * i], tree->nodes[from + 2 * i + 1],
                      tree->nodes[to + i]);
        if (count % 2 != 0)
            memcpy(tree->nodes[to + above - 1], tree->nodes[to - 1], GMC_HASH_BYTES);
        from = to;
        count = above;
    }
    memcpy(root, tree->nodes[from], GMC_HASH_BYTES);
}

size_t gmc_merkle_proof(const struct gmc_merkle *tree, size_t index,
                        uint8_t out[GMC_MERKLE_HEIGHT_MAX][GMC_HASH_BYTES])
{
    size_t from = 0, count = tree->leaves, n = 0;

    GMC_ASSERT(index < tree->leaves);
    while (count > 1) {
        if ((index ^ 1) < count)
            memcpy(out[n++], tree->nodes[from + (index ^ 1)], GMC_HASH_BYTES);
        from += count;
        count = count / 2 + count % 2;
        index /= 2;
    }
    return n;
}

bool gmc_merkle_check(const struct gmc_crypto *crypto, const uint8_t root[GMC_HASH_BYTES],
                      size_t leaves, size_t index, struct gmc_bytes entry,
                      struct gmc_bytes siblings)
{
    uint8_t hash[GMC_HASH_BYTES];
    size_t used = 0;

    if (index >= leaves)
        return false;
    hash_leaf(crypto, entry, hash);
    for (size_t count = leaves; count > 1; count = count / 2 + count % 2, index /= 2) {
        const uint8_t *sibling = siblings.data + used;

        if ((index ^ 1) >= count)
            continue;
        if (siblings.len - used < GMC_HASH_BYTES)
            return false;
        if (index % 2 != 0)
            hash_node(crypto, sibling, hash, hash);
        else
            hash_node(crypto, hash, sibling, hash);
        used += GMC_HASH_BYTES;
    }
    return used == siblings.len && memcmp(hash, root, GMC_HASH_BYTES) == 0;
}
