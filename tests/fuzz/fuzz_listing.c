/* SPDX-License-Identifier: BSD-2-Clause */
/* Listings: the first 8 bytes say how many data bytes the record promised, the rest is the
 * listing. Any bytes are refused with a reason, or give entries that the writer takes and writes
 * down as the same bytes, and whose data is mapped without gap. */
#include <string.h>

#include "base/assert.h"
#include "core/listing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(const struct gmc_listing *listing, struct gmc_bytes bytes,
                             uint64_t data_bytes)
{
    struct gmc_listing_writer *writer = gmc_listing_writer_new();
    const char *reason;

    GMC_ASSERT(writer != NULL);
    for (size_t i = 0; i < gmc_listing_count(listing); i++)
        GMC_ASSERT(gmc_listing_add(writer, gmc_listing_entry(listing, i), &reason) == GMC_OK);
    GMC_ASSERT(gmc_bytes_equal(gmc_listing_bytes(writer), bytes));
    GMC_ASSERT(gmc_listing_data_bytes(writer) == data_bytes);
    gmc_listing_writer_free(writer);
}

struct walk {
    const struct gmc_listing *listing;
    size_t next; /* in the buffer */
};

static gmc_status visit(void *ctx, size_t entry, uint64_t file_offset, size_t buffer_offset,
                        size_t len)
{
    struct walk *walk = ctx;
    const struct gmc_entry *file = gmc_listing_entry(walk->listing, entry);

    GMC_ASSERT(file->type == GMC_ENTRY_FILE && len > 0 && buffer_offset == walk->next);
    GMC_ASSERT(file_offset < file->size && len <= file->size - file_offset);
    walk->next += len;
    return GMC_OK;
}

/* No component leads anywhere but down. */
static void check_path(const char *path)
{
    GMC_ASSERT(path[0] != 0 && path[0] != '/' && strlen(path) < GMC_PATH_BYTES_MAX);
    for (const char *part = path;;) {
        const char *slash = strchr(part, '/');
        size_t len = slash != NULL ? (size_t)(slash - part) : strlen(part);

        GMC_ASSERT(len > 0 && len <= 255);
        GMC_ASSERT(!(len == 1 && part[0] == '.') && !(len == 2 && strncmp(part, "..", 2) == 0));
        if (slash == NULL)
            return;
        part = slash + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gmc_listing *listing;
    struct gmc_bytes bytes;
    struct walk walk;
    uint64_t data_bytes;
    char reason[64];

    if (size < 8)
        return 0;
    data_bytes = gmc_get64(data);
    bytes = gmc_bytes(data + 8, size - 8);
    if (gmc_listing_parse(bytes, data_bytes, &listing, reason, sizeof(reason)) != GMC_OK) {
        GMC_ASSERT(reason[0] != 0 && strlen(reason) < sizeof(reason));
        return 0;
    }
    for (size_t i = 0; i < gmc_listing_count(listing); i++)
        check_path(gmc_listing_entry(listing, i)->path);
    check_round_trip(listing, bytes, data_bytes);
    walk = (struct walk){listing, 0};
    if (data_bytes <= SIZE_MAX) {
        GMC_ASSERT(gmc_listing_map(listing, 0, (size_t)data_bytes, visit, &walk) == GMC_OK);
        GMC_ASSERT(walk.next == data_bytes);
    }
    gmc_listing_free(listing);
    return 0;
}
