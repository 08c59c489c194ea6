/* SPDX-License-Identifier: BSD-2-Clause */
/* Fuzzes the parsing of hash pages: 10 bytes choose the object and the index, the rest is the
 * page. The signature counts as good, so that what stands behind it is reached; a page that is
 * taken must come out of the writer as it came in. */
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "core/manifest.h"
#include "tests/unit/toy_crypto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(const struct gmc_crypto *crypto,
                             const struct gmc_page_context *context, const uint8_t *bytes,
                             struct gmc_page *page)
{
    size_t len = GMC_PAGE_HEAD_BYTES + (size_t)page->count * GMC_HASH_BYTES;
    uint8_t digest[GMC_HASH_BYTES];
    uint8_t wire[GMC_PAGE_WIRE_BYTES];

    memcpy(digest, page->digest, sizeof(digest));
    GMC_ASSERT(page->count >= 1 && page->count <= GMC_PAGE_HASHES);
    GMC_ASSERT(gmc_page_write(crypto, NULL, context, page, wire) == GMC_OK);
    GMC_ASSERT(memcmp(wire, bytes, len) == 0);
    GMC_ASSERT(memcmp(digest, page->digest, sizeof(digest)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct toy_ctx toy = {.secret = 1, .sig_bytes = 8};
    struct gmc_crypto crypto = {&toy_crypto_ops, &toy};
    struct gmc_pubkey pubkey = {.lenient = true};
    struct gmc_page_context context = {.key = {.source = "s.example", .e = 1}};
    struct gmc_object object = {.block_bytes = 4096, .fragment_bytes = 1400};
    uint8_t wire[GMC_PAGE_WIRE_BYTES] = {0};
    struct gmc_page page;
    uint32_t index;
    size_t len;

    if (size < 10)
        return 0;
    object.listing_bytes = 1u + gmc_get16(data);
    object.total_bytes = gmc_get32(data + 2);
    index = gmc_get32(data + 6);
    if (gmc_object_check(&object) != GMC_OK)
        return 0;
    /* A short input is a page whose rest is zeros: the engine need not grow the padding. */
    len = size - 10 < sizeof(wire) ? size - 10 : sizeof(wire);
    memcpy(wire, data + 10, len);
    if (gmc_page_read(&crypto, &pubkey, &context, &object, index,
                      (struct gmc_bytes){wire, sizeof(wire)}, &page) == GMC_OK)
        check_round_trip(&crypto, &context, wire, &page);
    if (gmc_page_read(&crypto, &pubkey, &context, &object, index,
                      (struct gmc_bytes){data + 10, size - 10}, &page) == GMC_OK)
        check_round_trip(&crypto, &context, data + 10, &page);
    return 0;
}
