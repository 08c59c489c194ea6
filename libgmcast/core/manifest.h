/* SPDX-License-Identifier: BSD-2-Clause */
/* The manifest: which hash every block of an object has, streamed as signed pages in the same
 * block space as the data.
 *
 * Block space. Index b counts pages and data blocks together: group g = b / (H+1), r = b % (H+1),
 * H = GMC_PAGE_HASHES; r == 0 is page g, else data block g*H + r-1. So a page stands right before
 * the blocks that it describes, and one bitmap, one order and one repair serve both.
 *
 * A page is: magic "gmcp" (4), page index u32, first data block u32, hash count u16, reserved u16,
 * the digest of the page before (32; zeros for page 0), hashes (32 each), signature length u16,
 * signature by the source over channel context and all bytes before the signature length. The
 * digest of a page is SHA-256 over the same bytes that are signed (without the context); the
 * digest of the object is that of its last page.
 */
#ifndef GMC_CORE_MANIFEST_H
#define GMC_CORE_MANIFEST_H

#include "base/assert.h"
#include "core/io.h"

#define GMC_PAGE_HASHES 128u
#define GMC_PAGE_GROUP (GMC_PAGE_HASHES + 1u)
#define GMC_PAGE_HEAD_BYTES 48u
#define GMC_PAGE_BYTES_MAX                                                                         \
    (GMC_PAGE_HEAD_BYTES + GMC_PAGE_HASHES * GMC_HASH_BYTES + 2u + GMC_SIGNATURE_BYTES_MAX)

/* The shape of an object: everything else about blocks follows from these numbers. */
struct gmc_object {
    uint64_t listing_bytes; /* exact; padded to whole blocks in the byte space */
    uint64_t total_bytes;   /* file data */
    uint32_t block_bytes;
    uint32_t fragment_bytes; /* plaintext bytes of a full fragment */
};

/* INVALID when a number is out of range: block_bytes 4096..1048576 and a power of two,
 * listing_bytes >= 1, at most 64 fragments in a block and in a page, blocks fit in 32 bits. */
GMC_NODISCARD gmc_status gmc_object_check(const struct gmc_object *object);
uint64_t gmc_object_pages(const struct gmc_object *object);
uint64_t gmc_object_blocks(const struct gmc_object *object); /* pages and data: the block space */

/* The arithmetic of a block is done many times for each: here it can be inlined. Sizes of blocks
 * are powers of two. */
static inline uint64_t gmc_blocks_of(uint64_t bytes, uint32_t block_bytes)
{
    return (bytes >> __builtin_ctz(block_bytes)) + ((bytes & (block_bytes - 1)) != 0);
}
/* Data blocks of the listing; of listing and files. */
static inline uint64_t gmc_object_listing_blocks(const struct gmc_object *object)
{
    return gmc_blocks_of(object->listing_bytes, object->block_bytes);
}
static inline uint64_t gmc_object_data_blocks(const struct gmc_object *object)
{
    return gmc_object_listing_blocks(object) +
           gmc_blocks_of(object->total_bytes, object->block_bytes);
}
static inline bool gmc_block_is_page(uint32_t block)
{
    return block % GMC_PAGE_GROUP == 0;
}
/* The page (index) that is, or describes, the block. */
static inline uint32_t gmc_block_page(uint32_t block)
{
    return block / GMC_PAGE_GROUP;
}
/* Data block number; block must not be a page. */
static inline uint32_t gmc_block_data(uint32_t block)
{
    GMC_ASSERT(!gmc_block_is_page(block));
    return block / GMC_PAGE_GROUP * GMC_PAGE_HASHES + block % GMC_PAGE_GROUP - 1;
}
/* Data blocks in the block space below `block`. */
static inline uint64_t gmc_block_data_below(uint64_t block)
{
    uint64_t in_group = block % GMC_PAGE_GROUP;

    return block / GMC_PAGE_GROUP * GMC_PAGE_HASHES + (in_group > 0 ? in_group - 1 : 0);
}
/* Bytes of file data below a data block. */
static inline uint64_t gmc_object_file_bytes_below(const struct gmc_object *object, uint64_t data)
{
    uint64_t listing = gmc_object_listing_blocks(object);
    uint64_t bytes = data > listing ? (data - listing) * object->block_bytes : 0;

    return bytes < object->total_bytes ? bytes : object->total_bytes; /* the last may be short */
}
uint32_t gmc_block_of_data(uint64_t data_block);
uint32_t gmc_block_of_page(uint32_t page);
/* Byte-space offset and length of a data block (the last may be short, never 0). */
static inline void gmc_block_extent(const struct gmc_object *object, uint32_t block,
                                    uint64_t *offset, uint32_t *len)
{
    uint64_t data = gmc_block_data(block);
    uint64_t listing = gmc_object_listing_blocks(object);
    uint64_t left = object->block_bytes; /* the listing is padded: its blocks are never short */

    GMC_ASSERT(data < gmc_object_data_blocks(object));
    if (data >= listing)
        left = object->total_bytes - (data - listing) * object->block_bytes;
    *offset = data * object->block_bytes;
    *len = left < object->block_bytes ? (uint32_t)left : object->block_bytes;
}
/* Bytes of fragment f when the block has len bytes; count of fragments. */
uint32_t gmc_fragment_count(const struct gmc_object *object, uint32_t len);
uint32_t gmc_fragment_len(const struct gmc_object *object, uint32_t len, uint32_t f);
/* Pages have a fixed length on the wire: padded with zeros to this, so that receivers know the
 * fragment count before they have seen a byte. The last page is as long as the others. */
#define GMC_PAGE_WIRE_BYTES GMC_PAGE_BYTES_MAX
/* Large simulations keep of what is longer than a page its first bytes only, so many for each
 * datagram of a block; of a block or of a datagram's body of len bytes those that exist. What a
 * block's datagrams keep follows each other, and is what the block keeps. */
#define GMC_VIRTUAL_BYTES 8u
#define GMC_VIRTUAL_DATAGRAM_BYTES 65536u
static inline uint32_t gmc_virtual_kept(uint32_t len)
{
    uint32_t whole = len / GMC_VIRTUAL_DATAGRAM_BYTES, last = len % GMC_VIRTUAL_DATAGRAM_BYTES;
    return whole * GMC_VIRTUAL_BYTES + (last > GMC_PAGE_WIRE_BYTES ? GMC_VIRTUAL_BYTES : last);
}
/* Length of any block of the block space: GMC_PAGE_WIRE_BYTES or the data block's. */
static inline uint32_t gmc_block_len(const struct gmc_object *object, uint32_t block)
{
    uint64_t offset;
    uint32_t len;

    if (gmc_block_is_page(block))
        return GMC_PAGE_WIRE_BYTES;
    gmc_block_extent(object, block, &offset, &len);
    return len;
}

/* What binds a page to its channel: signed in front of the page. */
struct gmc_page_context {
    struct gmc_channel_key key;
};

/* A verified page in memory. */
struct gmc_page {
    uint32_t index;
    uint32_t first;
    uint32_t count;
    uint8_t before[GMC_HASH_BYTES];
    uint8_t digest[GMC_HASH_BYTES];
    uint8_t hashes[GMC_PAGE_HASHES][GMC_HASH_BYTES];
};

/* Builds and signs page `index` (hashes, first, count, before set in *page; digest is filled in)
 * into out[GMC_PAGE_WIRE_BYTES], zero padded. */
GMC_NODISCARD gmc_status gmc_page_write(const struct gmc_crypto *crypto,
                                        const struct gmc_pubkey *source,
                                        const struct gmc_page_context *context,
                                        struct gmc_page *page, uint8_t *out);
/* Parses and verifies; INVALID (malformed, or does not fit object and index), AUTH. The chain
 * (before) is checked by the caller, who may see pages out of order. */
GMC_NODISCARD gmc_status gmc_page_read(const struct gmc_crypto *crypto, struct gmc_pubkey *source,
                                       const struct gmc_page_context *context,
                                       const struct gmc_object *object, uint32_t index,
                                       struct gmc_bytes bytes, struct gmc_page *page);

#endif
