/* SPDX-License-Identifier: BSD-2-Clause */
/* The Merkle tree: the shape of RFC 9162 for every small size, proofs that hold for their entry and
 * nothing else, and a root known from elsewhere. */
#include <string.h>

#include "core/merkle.h"
#include "crypto/cheap.h"
#include "crypto/openssl.h"
#include "tests/lib/unit.h"

enum { MOST = 70 };

static struct gmc_crypto crypto;

static struct gmc_bytes entry(size_t i)
{
    static const uint8_t bytes[MOST] = {0, 1, 2, 3, 4, 5, 6, 7};

    return gmc_bytes(bytes, i);
}

static void plant(struct gmc_merkle *tree, size_t leaves, uint8_t root[GMC_HASH_BYTES])
{
    assert_ok(gmc_merkle_init(tree, &crypto, leaves));
    for (size_t i = 0; i < leaves; i++)
        gmc_merkle_put(tree, i, entry(i));
    gmc_merkle_finish(tree, root);
}

/* The definition, word by word: MTH of the entries from `first` on. */
static void define(size_t first, size_t count, uint8_t out[GMC_HASH_BYTES])
{
    uint8_t input[1 + 2 * GMC_HASH_BYTES];
    size_t left = 1;

    if (count == 1) {
        input[0] = 0;
        crypto.ops->hash(entry(first).data, entry(first).len, input + 1);
        crypto.ops->hash(input, 1 + GMC_HASH_BYTES, out);
        return;
    }
    while (2 * left < count)
        left *= 2;
    input[0] = 1;
    define(first, left, input + 1);
    define(first + left, count - left, input + 1 + GMC_HASH_BYTES);
    crypto.ops->hash(input, sizeof(input), out);
}

static void the_root_is_that_of_the_definition(void **state)
{
    (void)state;
    for (size_t leaves = 1; leaves <= MOST; leaves++) {
        struct gmc_merkle tree;
        uint8_t root[GMC_HASH_BYTES], defined[GMC_HASH_BYTES];

        plant(&tree, leaves, root);
        define(0, leaves, defined);
        assert_memory_equal(root, defined, sizeof(root));
        gmc_merkle_fini(&tree);
    }
}

static void no_entries_have_a_root_of_zeros(void **state)
{
    static const uint8_t zeros[GMC_HASH_BYTES];
    struct gmc_merkle tree;
    uint8_t root[GMC_HASH_BYTES];

    (void)state;
    plant(&tree, 0, root);
    assert_memory_equal(root, zeros, sizeof(root));
    assert_false(gmc_merkle_check(&crypto, root, 0, 0, entry(0), gmc_bytes(NULL, 0)));
    gmc_merkle_fini(&tree);
}

/* Every proof of a tree, against everything that it does not prove. */
static void check_tree(size_t leaves)
{
    struct gmc_merkle tree;
    uint8_t root[GMC_HASH_BYTES], proof[GMC_MERKLE_HEIGHT_MAX][GMC_HASH_BYTES];

    plant(&tree, leaves, root);
    for (size_t i = 0; i < leaves; i++) {
        size_t height = gmc_merkle_proof(&tree, i, proof);
        struct gmc_bytes siblings = gmc_bytes(proof[0], height * GMC_HASH_BYTES);

        assert_true(gmc_merkle_check(&crypto, root, leaves, i, entry(i), siblings));
        assert_false(gmc_merkle_check(&crypto, root, leaves, i, entry(i + 1), siblings));
        assert_false(gmc_merkle_check(&crypto, root, leaves, leaves, entry(i), siblings));
        assert_false(gmc_merkle_check(&crypto, root, leaves, i, entry(i),
                                      gmc_bytes(proof[0], siblings.len + GMC_HASH_BYTES)));
        if (height == 0)
            continue;
        assert_false(gmc_merkle_check(&crypto, root, leaves, i ^ 1, entry(i), siblings));
        assert_false(gmc_merkle_check(&crypto, root, leaves, i, entry(i),
                                      gmc_bytes(proof[0], siblings.len - 1)));
        proof[height - 1][5] ^= 1;
        assert_false(gmc_merkle_check(&crypto, root, leaves, i, entry(i), siblings));
    }
    gmc_merkle_fini(&tree);
}

static void proofs_hold_for_their_entry_alone(void **state)
{
    (void)state;
    for (size_t leaves = 1; leaves < MOST; leaves++)
        check_tree(leaves);
}

/* A node is not an entry: what is hashed begins with another byte. */
static void inner_nodes_are_no_entries(void **state)
{
    struct gmc_merkle tree;
    uint8_t root[GMC_HASH_BYTES];

    (void)state;
    plant(&tree, 4, root);
    assert_false(gmc_merkle_check(&crypto, root, 2, 0, gmc_bytes(tree.nodes[0], 2 * GMC_HASH_BYTES),
                                  gmc_bytes(tree.nodes[5], GMC_HASH_BYTES)));
    gmc_merkle_fini(&tree);
}

/* Of the entries "", 00, 00 01 with SHA-256; computed with python's hashlib. */
static void three_entries_have_a_known_root(void **state)
{
    static const uint8_t known[GMC_HASH_BYTES] = {0x6e, 0x2c, 0x6b, 0x1c, 0x47, 0x25, 0x5e, 0xa3,
                                                  0x41, 0x0d, 0xb3, 0xf0, 0x5d, 0x4a, 0x0e, 0xa7,
                                                  0x6a, 0xb9, 0x5c, 0x31, 0xd1, 0xb7, 0x19, 0xfe,
                                                  0xe6, 0xe7, 0xf8, 0xf5, 0xb4, 0xcc, 0x77, 0x30};
    struct gmc_merkle tree;
    struct gmc_crypto cheap = crypto;
    uint8_t root[GMC_HASH_BYTES];
    uint8_t seed[32] = {1}, key[32] = {2};
    struct gmc_crypto_openssl *openssl = gmc_crypto_openssl_new_ed25519(key, seed);

    (void)state;
    gmc_crypto_openssl_table(openssl, &crypto);
    plant(&tree, 3, root);
    assert_memory_equal(root, known, sizeof(known));
    gmc_merkle_fini(&tree);
    gmc_crypto_openssl_free(openssl);
    crypto = cheap;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_root_is_that_of_the_definition),
        cmocka_unit_test(no_entries_have_a_root_of_zeros),
        cmocka_unit_test(proofs_hold_for_their_entry_alone),
        cmocka_unit_test(inner_nodes_are_no_entries),
        cmocka_unit_test(three_entries_have_a_known_root),
    };
    uint8_t seed[32] = {1};
    struct gmc_crypto_cheap *cheap = gmc_crypto_cheap_new("m.example", seed);
    int failed;

    gmc_crypto_cheap_table(cheap, &crypto);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    gmc_crypto_cheap_free(cheap);
    return failed;
}
