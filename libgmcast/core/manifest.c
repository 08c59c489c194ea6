/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the arithmetic of the block space and the bytes of signed hash pages. */
#include "core/manifest.h"

#include <string.h>

#include "base/assert.h"

#define FRAGMENTS_MAX 64u
#define BLOCK_BYTES_MIN 4096u
#define BLOCK_BYTES_MAX (1u << 20)

/* ---- block space ---- */

static bool fits_fragments(uint64_t bytes, uint32_t fragment_bytes)
{
    return bytes <= (uint64_t)FRAGMENTS_MAX * fragment_bytes;
}

gmc_status gmc_object_check(const struct gmc_object *object)
{
    uint32_t block = object->block_bytes;

    if (block < BLOCK_BYTES_MIN || block > BLOCK_BYTES_MAX || (block & (block - 1)) != 0)
        return GMC_ERR_INVALID;
    if (object->listing_bytes == 0 || object->fragment_bytes == 0)
        return GMC_ERR_INVALID;
    if (!fits_fragments(block, object->fragment_bytes) ||
        !fits_fragments(GMC_PAGE_WIRE_BYTES, object->fragment_bytes))
        return GMC_ERR_INVALID;
    /* Both terms are below 2^53, so neither sum can wrap; then 32-bit indexes bound the byte
     * space to 2^48, and no offset can wrap either. */
    if (gmc_object_blocks(object) > UINT32_MAX)
        return GMC_ERR_INVALID;
    return GMC_OK;
}

uint64_t gmc_object_pages(const struct gmc_object *object)
{
    return gmc_blocks_of(gmc_object_data_blocks(object), GMC_PAGE_HASHES);
}

uint64_t gmc_object_blocks(const struct gmc_object *object)
{
    return gmc_object_data_blocks(object) + gmc_object_pages(object);
}

uint32_t gmc_block_of_data(uint64_t data_block)
{
    uint64_t block = data_block / GMC_PAGE_HASHES * GMC_PAGE_GROUP + data_block % GMC_PAGE_HASHES;

    GMC_ASSERT(block < UINT32_MAX);
    return (uint32_t)block + 1;
}

uint32_t gmc_block_of_page(uint32_t page)
{
    GMC_ASSERT(page <= UINT32_MAX / GMC_PAGE_GROUP);
    return page * GMC_PAGE_GROUP;
}

uint32_t gmc_fragment_count(const struct gmc_object *object, uint32_t len)
{
    return len / object->fragment_bytes + (len % object->fragment_bytes != 0);
}

uint32_t gmc_fragment_len(const struct gmc_object *object, uint32_t len, uint32_t f)
{
    uint64_t start = (uint64_t)f * object->fragment_bytes;

    GMC_ASSERT(start < len);
    uint32_t left = len - (uint32_t)start;
    return left < object->fragment_bytes ? left : object->fragment_bytes;
}

/* ---- pages ---- */

static const uint8_t page_magic[4] = {'g', 'm', 'c', 'p'};

/* What the signature covers. The label keeps a page's signature from ever passing for that of
 * something else that the same key signs, and the channel from being exchanged. */
#define CONTEXT_LABEL "gmcast page v1"
#define CONTEXT_BYTES_MAX (sizeof(CONTEXT_LABEL) + 2 + GMC_DOMAIN_NAME_MAX + 8)
#define SIGNED_BYTES_MAX (GMC_PAGE_HEAD_BYTES + GMC_PAGE_HASHES * GMC_HASH_BYTES)

struct signed_page {
    size_t len;
    uint8_t bytes[CONTEXT_BYTES_MAX + SIGNED_BYTES_MAX];
};

static void signed_page_fill(struct signed_page *out, const struct gmc_page_context *context,
                             const uint8_t *page, size_t page_len)
{
    const char *name = context->key.source;
    const char *end = memchr(name, 0, sizeof(context->key.source));
    size_t name_len = end != NULL ? (size_t)(end - name) : GMC_DOMAIN_NAME_MAX;
    uint8_t *p = out->bytes;

    memcpy(p, CONTEXT_LABEL, sizeof(CONTEXT_LABEL)); /* with its zero */
    p += sizeof(CONTEXT_LABEL);
    gmc_put16(p, (uint16_t)name_len);
    memcpy(p + 2, name, name_len);
    p += 2 + name_len;
    gmc_put64(p, context->key.e);
    p += 8;
    memcpy(p, page, page_len);
    out->len = (size_t)(p - out->bytes) + page_len;
}

static size_t signed_len(uint32_t count)
{
    return GMC_PAGE_HEAD_BYTES + (size_t)count * GMC_HASH_BYTES;
}

static void page_put(const struct gmc_page *page, uint8_t *out)
{
    memcpy(out, page_magic, 4);
    gmc_put32(out + 4, page->index);
    gmc_put32(out + 8, page->first);
    gmc_put16(out + 12, (uint16_t)page->count);
    gmc_put16(out + 14, 0);
    memcpy(out + 16, page->before, GMC_HASH_BYTES);
    memcpy(out + GMC_PAGE_HEAD_BYTES, page->hashes, (size_t)page->count * GMC_HASH_BYTES);
}

gmc_status gmc_page_write(const struct gmc_crypto *crypto, const struct gmc_pubkey *source,
                          const struct gmc_page_context *context, struct gmc_page *page,
                          uint8_t *out)
{
    struct signed_page tbs;
    size_t sig_len = GMC_SIGNATURE_BYTES_MAX;
    size_t len;
    gmc_status status;

    if (page->count == 0 || page->count > GMC_PAGE_HASHES ||
        page->first != (uint64_t)page->index * GMC_PAGE_HASHES)
        return GMC_ERR_INVALID;
    len = signed_len(page->count);
    memset(out, 0, GMC_PAGE_WIRE_BYTES);
    page_put(page, out);
    signed_page_fill(&tbs, context, out, len);
    status = crypto->ops->sign(crypto->ctx, source, (struct gmc_bytes){tbs.bytes, tbs.len},
                               out + len + 2, &sig_len);
    if (status != GMC_OK)
        return status;
    GMC_ASSERT(sig_len <= GMC_SIGNATURE_BYTES_MAX);
    gmc_put16(out + len, (uint16_t)sig_len);
    crypto->ops->hash(out, len, page->digest);
    return GMC_OK;
}

static uint32_t expected_count(const struct gmc_object *object, uint32_t index)
{
    uint64_t left = gmc_object_data_blocks(object) - (uint64_t)index * GMC_PAGE_HASHES;

    return left < GMC_PAGE_HASHES ? (uint32_t)left : GMC_PAGE_HASHES;
}

/* Everything that can be said about a page without its source's key. */
static gmc_status page_check(const struct gmc_object *object, uint32_t index,
                             struct gmc_bytes bytes, uint32_t *count, size_t *sig_len)
{
    size_t len, end;

    if (index >= gmc_object_pages(object) || bytes.len != GMC_PAGE_WIRE_BYTES)
        return GMC_ERR_INVALID;
    if (memcmp(bytes.data, page_magic, 4) != 0 || gmc_get32(bytes.data + 4) != index ||
        gmc_get32(bytes.data + 8) != (uint64_t)index * GMC_PAGE_HASHES ||
        gmc_get16(bytes.data + 12) != expected_count(object, index) ||
        gmc_get16(bytes.data + 14) != 0)
        return GMC_ERR_INVALID;
    len = signed_len(expected_count(object, index));
    *sig_len = gmc_get16(bytes.data + len);
    if (*sig_len > GMC_SIGNATURE_BYTES_MAX)
        return GMC_ERR_INVALID;
    /* One page, one form: nothing may hide behind the signature. */
    for (end = len + 2 + *sig_len; end < bytes.len; end++)
        if (bytes.data[end] != 0)
            return GMC_ERR_INVALID;
    *count = expected_count(object, index);
    return GMC_OK;
}

gmc_status gmc_page_read(const struct gmc_crypto *crypto, struct gmc_pubkey *source,
                         const struct gmc_page_context *context, const struct gmc_object *object,
                         uint32_t index, struct gmc_bytes bytes, struct gmc_page *page)
{
    struct signed_page tbs;
    uint32_t count;
    size_t sig_len, len;
    gmc_status status = page_check(object, index, bytes, &count, &sig_len);

    if (status != GMC_OK)
        return status;
    len = signed_len(count);
    signed_page_fill(&tbs, context, bytes.data, len);
    status = crypto->ops->verify(source, (struct gmc_bytes){tbs.bytes, tbs.len},
                                 (struct gmc_bytes){bytes.data + len + 2, sig_len});
    if (status != GMC_OK)
        return status;
    page->index = index;
    page->first = index * GMC_PAGE_HASHES;
    page->count = count;
    memcpy(page->before, bytes.data + 16, GMC_HASH_BYTES);
    memcpy(page->hashes, bytes.data + GMC_PAGE_HEAD_BYTES, (size_t)count * GMC_HASH_BYTES);
    crypto->ops->hash(bytes.data, len, page->digest);
    return GMC_OK;
}
