/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/manifest: block space arithmetic at its edges, pages against tampering. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/manifest.h"
#include "tests/unit/toy_crypto.h"

#define KIB 1024u
#define BLOCK (64 * KIB)
#define H GMC_PAGE_HASHES

static struct gmc_object object_of(uint64_t listing, uint64_t total)
{
    return (struct gmc_object){.listing_bytes = listing,
                               .total_bytes = total,
                               .block_bytes = BLOCK,
                               .fragment_bytes = 1431};
}

/* ---- block space ---- */

static const struct {
    const char *what;
    uint64_t listing, total;
    uint64_t listing_blocks, data_blocks, pages;
    uint32_t last_len; /* of the last data block */
} shapes[] = {
    {"listing only, 1 B", 1, 0, 1, 1, 1, BLOCK},
    {"listing only, one block", BLOCK, 0, 1, 1, 1, BLOCK},
    {"listing only, two blocks", BLOCK + 1, 0, 2, 2, 1, BLOCK},
    {"1 B", 100, 1, 1, 2, 1, 1},
    {"one block less 1 B", 100, BLOCK - 1, 1, 2, 1, BLOCK - 1},
    {"one block", 100, BLOCK, 1, 2, 1, BLOCK},
    {"one block and 1 B", 100, BLOCK + 1, 1, 3, 1, 1},
    {"exactly one page", 100, (uint64_t)BLOCK *(H - 1), 1, H, 1, BLOCK},
    {"one page and 1 B", 100, (uint64_t)BLOCK *(H - 1) + 1, 1, H + 1, 2, 1},
    {"exactly two pages", BLOCK * 2, (uint64_t)BLOCK *(2 * H - 2), 2, 2 * H, 2, BLOCK},
    {"2^31 data blocks", 1, (uint64_t)BLOCK * 0x7fffffff, 1, 0x80000000, 0x80000000 / H, BLOCK},
};

static void shape_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct gmc_object o = object_of(shapes[i].listing, shapes[i].total);
        uint64_t offset;
        uint32_t len;

        print_message("%s\n", shapes[i].what);
        assert_int_equal(gmc_object_check(&o), GMC_OK);
        assert_int_equal(gmc_object_listing_blocks(&o), shapes[i].listing_blocks);
        assert_int_equal(gmc_object_data_blocks(&o), shapes[i].data_blocks);
        assert_int_equal(gmc_object_pages(&o), shapes[i].pages);
        assert_int_equal(gmc_object_blocks(&o), shapes[i].data_blocks + shapes[i].pages);
        gmc_block_extent(&o, gmc_block_of_data(shapes[i].data_blocks - 1), &offset, &len);
        assert_int_equal(offset, (shapes[i].data_blocks - 1) * BLOCK);
        assert_int_equal(len, shapes[i].last_len);
        /* The last block of the space is the last data block, never a lonely page. */
        assert_int_equal(gmc_block_of_data(shapes[i].data_blocks - 1), gmc_object_blocks(&o) - 1);
    }
}

static void page_stands_before_its_blocks(void **state)
{
    uint64_t data = 0;
    uint32_t page = 0;

    (void)state;
    for (uint32_t block = 0; block < 5 * GMC_PAGE_GROUP; block++) {
        if (gmc_block_is_page(block)) {
            assert_int_equal(gmc_block_page(block), page);
            assert_int_equal(gmc_block_of_page(page), block);
            page++;
        } else {
            assert_int_equal(gmc_block_page(block), page - 1);
            assert_int_equal(gmc_block_data(block), data);
            assert_int_equal(gmc_block_of_data(data), block);
            assert_int_equal(gmc_block_page(block), data / H);
            data++;
        }
    }
}

static void extents_tile_the_byte_space(void **state)
{
    struct gmc_object o = object_of(3 * BLOCK - 5, (uint64_t)BLOCK * 300 + 77);
    uint64_t end = 0;

    (void)state;
    for (uint32_t block = 0; block < gmc_object_blocks(&o); block++) {
        uint64_t offset;
        uint32_t len, sum = 0;

        if (gmc_block_is_page(block)) {
            assert_int_equal(gmc_block_len(&o, block), GMC_PAGE_WIRE_BYTES);
            continue;
        }
        gmc_block_extent(&o, block, &offset, &len);
        assert_int_equal(offset, end);
        assert_int_equal(gmc_block_len(&o, block), len);
        for (uint32_t f = 0; f < gmc_fragment_count(&o, len); f++) {
            assert_in_range(gmc_fragment_len(&o, len, f), 1, o.fragment_bytes);
            sum += gmc_fragment_len(&o, len, f);
        }
        assert_int_equal(sum, len);
        end += len;
    }
    assert_int_equal(end, 3 * BLOCK + o.total_bytes);
}

static void fragment_edges(void **state)
{
    struct gmc_object o = object_of(1, 1);

    (void)state;
    assert_int_equal(gmc_fragment_count(&o, 1), 1);
    assert_int_equal(gmc_fragment_count(&o, 1431), 1);
    assert_int_equal(gmc_fragment_count(&o, 1432), 2);
    assert_int_equal(gmc_fragment_len(&o, 1432, 1), 1);
    assert_int_equal(gmc_fragment_count(&o, BLOCK), 46);
    assert_int_equal(gmc_fragment_len(&o, BLOCK, 45), BLOCK - 45 * 1431);
}

static const struct {
    const char *what;
    struct gmc_object object; /* listing, total, block, fragment */
    gmc_status status;
} checks[] = {
    {"usual", {1, 0, 65536, 1431}, GMC_OK},
    {"smallest blocks", {1, 0, 4096, 1431}, GMC_OK},
    {"64 fragments in a block", {1, 0, 65536, 1024}, GMC_OK},
    {"65 fragments in a block", {1, 0, 65536, 1023}, GMC_ERR_INVALID},
    {"64 fragments in a page", {1, 0, 4096, 81}, GMC_OK},
    {"65 fragments in a page", {1, 0, 4096, 80}, GMC_ERR_INVALID},
    {"no listing", {0, 1, 65536, 1431}, GMC_ERR_INVALID},
    {"no fragment", {1, 1, 65536, 0}, GMC_ERR_INVALID},
    {"blocks too small", {1, 1, 2048, 1431}, GMC_ERR_INVALID},
    {"largest blocks", {1, 1, 1048576, 65536}, GMC_OK},
    {"blocks too large", {1, 1, 2097152, 65536}, GMC_ERR_INVALID},
    {"no power of two", {1, 1, 12288, 1431}, GMC_ERR_INVALID},
    {"no blocks", {1, 1, 0, 1431}, GMC_ERR_INVALID},
    /* 33294320 groups, the last of them short, make 2^32 - 1 blocks. */
    {"largest", {1, 65536ull * 4261672973, 65536, 1431}, GMC_OK},
    {"one block too many", {1, 65536ull * 4261672974, 65536, 1431}, GMC_ERR_INVALID},
    {"all bits", {UINT64_MAX, UINT64_MAX, 4096, 1431}, GMC_ERR_INVALID},
};

static void object_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        print_message("%s\n", checks[i].what);
        assert_int_equal(gmc_object_check(&checks[i].object), checks[i].status);
    }
}

/* ---- pages ---- */

struct page_fixture {
    struct toy_ctx toy;
    struct gmc_crypto crypto;
    struct gmc_pubkey pubkey;
    struct gmc_page_context context;
    struct gmc_object object;
    uint8_t wire[GMC_PAGE_WIRE_BYTES];
    struct gmc_page page;
};

/* Writes page `index` of an object of 200 data blocks: page 0 is full, page 1 has 72 hashes. */
static void page_setup(struct page_fixture *f, uint32_t index, size_t sig_bytes)
{
    memset(f, 0, sizeof(*f));
    f->toy = (struct toy_ctx){.secret = 77, .sig_bytes = sig_bytes};
    f->crypto = (struct gmc_crypto){&toy_crypto_ops, &f->toy};
    f->pubkey.secret = 77;
    strcpy(f->context.key.source, "cern.example");
    f->context.key.e = 0x00f3a9c2d4e5b617;
    f->object = object_of(1, (uint64_t)BLOCK * 199);
    f->page.index = index;
    f->page.first = index * H;
    f->page.count = index == 0 ? H : 72;
    toy_spread(index, f->page.before, GMC_HASH_BYTES);
    for (uint32_t i = 0; i < f->page.count; i++)
        toy_spread(index * H + i + 1000, f->page.hashes[i], GMC_HASH_BYTES);
    assert_int_equal(gmc_page_write(&f->crypto, NULL, &f->context, &f->page, f->wire), GMC_OK);
}

static gmc_status page_read(struct page_fixture *f, uint32_t index, struct gmc_page *page)
{
    return gmc_page_read(&f->crypto, &f->pubkey, &f->context, &f->object, index,
                         (struct gmc_bytes){f->wire, sizeof(f->wire)}, page);
}

static void page_comes_back(void **state)
{
    static const size_t sig_bytes[] = {1, 64, 72, 512, GMC_SIGNATURE_BYTES_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(sig_bytes) / sizeof(sig_bytes[0]); i++) {
        for (uint32_t index = 0; index < 2; index++) {
            struct page_fixture f;
            struct gmc_page page;

            page_setup(&f, index, sig_bytes[i]);
            assert_int_equal(page_read(&f, index, &page), GMC_OK);
            assert_int_equal(page.index, index);
            assert_int_equal(page.first, f.page.first);
            assert_int_equal(page.count, f.page.count);
            assert_memory_equal(page.before, f.page.before, GMC_HASH_BYTES);
            assert_memory_equal(page.digest, f.page.digest, GMC_HASH_BYTES);
            assert_memory_equal(page.hashes, f.page.hashes, page.count * GMC_HASH_BYTES);
        }
    }
}

/* The layout of the header comment, byte by byte. */
static void page_layout(void **state)
{
    static const uint8_t head[16] = {'g', 'm', 'c', 'p', 0, 0, 0, 1, 0, 0, 0, 128, 0, 72, 0, 0};
    size_t end = GMC_PAGE_HEAD_BYTES + 72 * GMC_HASH_BYTES;
    uint8_t digest[GMC_HASH_BYTES];
    struct page_fixture f;

    (void)state;
    page_setup(&f, 1, 70);
    assert_memory_equal(f.wire, head, sizeof(head));
    assert_memory_equal(f.wire + 16, f.page.before, GMC_HASH_BYTES);
    assert_memory_equal(f.wire + 48, f.page.hashes, 72 * GMC_HASH_BYTES);
    assert_int_equal(f.wire[end] << 8 | f.wire[end + 1], 70);
    for (size_t i = end + 2 + 70; i < sizeof(f.wire); i++)
        assert_int_equal(f.wire[i], 0);
    toy_hash(f.wire, end, digest);
    assert_memory_equal(digest, f.page.digest, GMC_HASH_BYTES);
}

/* No byte can be changed without being noticed: in the head, the chain, the hashes, the signature
 * or the padding. And a refusal leaves the output alone. */
static void page_tampering(void **state)
{
    struct page_fixture f;
    struct gmc_page page, before;

    (void)state;
    page_setup(&f, 1, 70);
    memset(&page, 0x5a, sizeof(page));
    before = page;
    for (size_t i = 0; i < sizeof(f.wire); i++) {
        f.wire[i] ^= 1;
        assert_int_not_equal(page_read(&f, 1, &page), GMC_OK);
        assert_memory_equal(&page, &before, sizeof(page));
        f.wire[i] ^= 1;
    }
    assert_int_equal(page_read(&f, 1, &page), GMC_OK);
}

static void page_of_another_place(void **state)
{
    struct page_fixture f;
    struct gmc_page page;

    (void)state;
    page_setup(&f, 0, 70);
    assert_int_equal(page_read(&f, 1, &page), GMC_ERR_INVALID);
    assert_int_equal(page_read(&f, 2, &page), GMC_ERR_INVALID);
    assert_int_equal(page_read(&f, UINT32_MAX, &page), GMC_ERR_INVALID);
    f.context.key.e++;
    assert_int_equal(page_read(&f, 0, &page), GMC_ERR_AUTH);
    f.context.key.e--;
    f.context.key.source[0] = 'C';
    assert_int_equal(page_read(&f, 0, &page), GMC_ERR_AUTH);
    f.context.key.source[0] = 'c';
    f.pubkey.secret++;
    assert_int_equal(page_read(&f, 0, &page), GMC_ERR_AUTH);
    f.pubkey.secret--;
    f.object.total_bytes = BLOCK; /* an object in which page 0 has 2 hashes */
    assert_int_equal(page_read(&f, 0, &page), GMC_ERR_INVALID);
}

static void page_lengths(void **state)
{
    struct page_fixture f;
    struct gmc_page page;

    (void)state;
    page_setup(&f, 0, 70);
    for (size_t len = 0; len < sizeof(f.wire); len++)
        assert_int_equal(gmc_page_read(&f.crypto, &f.pubkey, &f.context, &f.object, 0,
                                       (struct gmc_bytes){f.wire, len}, &page),
                         GMC_ERR_INVALID);
}

static void page_write_refuses(void **state)
{
    struct page_fixture f;

    (void)state;
    page_setup(&f, 1, 70);
    f.page.count = 0;
    assert_int_equal(gmc_page_write(&f.crypto, NULL, &f.context, &f.page, f.wire), GMC_ERR_INVALID);
    f.page.count = H + 1;
    assert_int_equal(gmc_page_write(&f.crypto, NULL, &f.context, &f.page, f.wire), GMC_ERR_INVALID);
    f.page.count = 1;
    f.page.first++;
    assert_int_equal(gmc_page_write(&f.crypto, NULL, &f.context, &f.page, f.wire), GMC_ERR_INVALID);
    f.page.first--;
    f.toy.sig_bytes = 0;
    assert_int_equal(gmc_page_write(&f.crypto, NULL, &f.context, &f.page, f.wire), GMC_ERR_STATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shape_numbers),
        cmocka_unit_test(page_stands_before_its_blocks),
        cmocka_unit_test(extents_tile_the_byte_space),
        cmocka_unit_test(fragment_edges),
        cmocka_unit_test(object_bounds),
        cmocka_unit_test(page_comes_back),
        cmocka_unit_test(page_layout),
        cmocka_unit_test(page_tampering),
        cmocka_unit_test(page_of_another_place),
        cmocka_unit_test(page_lengths),
        cmocka_unit_test(page_write_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
