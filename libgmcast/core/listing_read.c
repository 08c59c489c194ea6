/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns reading a listing: all checks that need more than one entry, the entries in memory, and
 * the words for people when it is refused.
 *
 * The bytes are read twice: once to check each entry by itself and to count, so that the second
 * time fills arrays of the right size. */
#include <stdlib.h>
#include <string.h>

#include "core/listing_impl.h"

/* Paths are stored whole, but written as one component each: a deep chain of directories with a
 * million files at its end would take 4 KiB of memory for each ten bytes. What a listing may take
 * for paths is therefore bounded by its length; 4,096 entries may have paths of any length. */
#define PATH_BYTES_FREE ((size_t)16 << 20)
#define PATH_BYTES_PER_BYTE 16

struct chunk {
    struct chunk *next;
    size_t used, size;
    char bytes[];
};

struct gmc_listing {
    struct gmc_entry *entries;
    size_t count;
    struct gmc_extent *extents;
    uint64_t *starts; /* of each extent: its offset in the data */
    uint32_t *owners; /* of each extent: its entry */
    size_t extent_count;
    uint64_t data_bytes;
    struct chunk *chunks; /* paths and targets */
    size_t chunk_left;    /* bytes that may still go into them */
    size_t chunk_next;    /* size of the next one */
};

/* What is only needed while parsing. */
struct parser {
    struct gmc_listing *listing;
    struct gmc_bytes bytes;
    struct gmc_listing_names names;
    uint32_t *directories; /* entries, in order */
    size_t directory_count;
    size_t at; /* the entry in work */
    struct gmc_listing_raw raw;
};

/* ---- words ---- */

struct words {
    char *out;
    size_t left; /* with the terminating NUL */
};

static void say(struct words *words, const char *text)
{
    for (; *text != 0 && words->left > 1; text++, words->left--)
        *words->out++ = *text;
    if (words->left > 0)
        *words->out = 0;
}

static void say_number(struct words *words, uint64_t number)
{
    char digits[21];
    char *p = digits + sizeof(digits) - 1;

    *p = 0;
    do {
        *--p = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    say(words, p);
}

/* A name may hold anything; what is no plain character must not reach a terminal. Long ones are
 * cut, so that the reason behind them is still seen. */
static void say_name(struct words *words, struct gmc_bytes name)
{
    static const char hex[] = "0123456789abcdef";
    size_t shown = name.len < 80 ? name.len : 80;

    say(words, "\"");
    for (size_t i = 0; i < shown; i++) {
        uint8_t c = name.data[i];
        char escaped[] = {'\\', 'x', hex[c >> 4], hex[c & 15], 0};
        char plain[] = {(char)c, 0};

        say(words, c < ' ' || c == 0x7f || c == '"' || c == '\\' ? escaped : plain);
    }
    say(words, shown < name.len ? "...\"" : "\"");
}

static gmc_status refuse(const struct parser *parser, struct words *words, gmc_status status,
                         const char *why)
{
    say(words, "entry ");
    say_number(words, parser->at + 1);
    if (parser->raw.name.len > 0) {
        say(words, " ");
        say_name(words, parser->raw.name);
    }
    say(words, ": ");
    say(words, why);
    return status;
}

/* ---- memory ---- */

static void *array_of(size_t count, size_t size)
{
    return calloc(count > 0 ? count : 1, size);
}

/* len bytes and room for a NUL; NULL: *status says LIMIT or NOMEM. */
static char *text_room(struct gmc_listing *listing, size_t len, gmc_status *status)
{
    struct chunk *chunk = listing->chunks;

    *status = GMC_ERR_LIMIT;
    if (len + 1 > listing->chunk_left)
        return NULL;
    listing->chunk_left -= len + 1;
    if (chunk == NULL || chunk->size - chunk->used < len + 1) {
        size_t size = listing->chunk_next > len + 1 ? listing->chunk_next : len + 1;

        *status = GMC_ERR_NOMEM;
        chunk = malloc(sizeof(*chunk) + size);
        if (chunk == NULL)
            return NULL;
        *chunk = (struct chunk){.next = listing->chunks, .size = size};
        listing->chunks = chunk;
        if (listing->chunk_next < (size_t)1 << 20)
            listing->chunk_next *= 2;
    }
    chunk->used += len + 1;
    return chunk->bytes + chunk->used - len - 1;
}

void gmc_listing_free(struct gmc_listing *listing)
{
    if (listing == NULL)
        return;
    while (listing->chunks != NULL) {
        struct chunk *chunk = listing->chunks;

        listing->chunks = chunk->next;
        free(chunk);
    }
    free(listing->owners);
    free(listing->starts);
    free(listing->extents);
    free(listing->entries);
    free(listing);
}

/* ---- first time: each entry by itself ---- */

static gmc_status count_entries(struct parser *parser, struct gmc_reader reader,
                                struct words *words)
{
    struct gmc_listing *listing = parser->listing;
    const char *why;

    while (gmc_reader_left(&reader) > 0) {
        why = gmc_listing_next(&reader, &parser->raw);
        if (why != NULL)
            return refuse(parser, words, GMC_ERR_INVALID, why);
        parser->directory_count += parser->raw.type == GMC_ENTRY_DIRECTORY;
        listing->extent_count += (size_t)parser->raw.extent_count;
        if (parser->raw.data_bytes > UINT64_MAX - listing->data_bytes)
            return refuse(parser, words, GMC_ERR_INVALID, "the sizes pass 2^64 bytes with it");
        listing->data_bytes += parser->raw.data_bytes;
        parser->at++;
    }
    listing->count = parser->at;
    return GMC_OK;
}

static gmc_status allocate(struct parser *parser)
{
    struct gmc_listing *listing = parser->listing;

    listing->entries = array_of(listing->count, sizeof(*listing->entries));
    listing->extents = array_of(listing->extent_count, sizeof(*listing->extents));
    listing->starts = array_of(listing->extent_count, sizeof(*listing->starts));
    listing->owners = array_of(listing->extent_count, sizeof(*listing->owners));
    parser->directories = array_of(parser->directory_count, sizeof(*parser->directories));
    if (listing->entries == NULL || listing->extents == NULL || listing->starts == NULL ||
        listing->owners == NULL || parser->directories == NULL)
        return GMC_ERR_NOMEM;
    listing->chunk_left = PATH_BYTES_FREE + PATH_BYTES_PER_BYTE * parser->bytes.len;
    listing->chunk_next = 4096;
    listing->extent_count = 0;
    listing->data_bytes = 0;
    parser->directory_count = 0;
    parser->at = 0;
    return gmc_listing_names_reserve(&parser->names, listing->count);
}

/* ---- second time: entries among each other ---- */

static uint32_t components(const char *path)
{
    uint32_t count = 0;

    for (bool inside = false; *path != 0; path++) {
        count += *path != '/' && !inside;
        inside = *path != '/';
    }
    return count;
}

/* The entry's directory (TOP for none); the path of that goes in front of its name. */
static const char *set_path(struct parser *parser, uint32_t *parent, gmc_status *status)
{
    struct gmc_listing *listing = parser->listing;
    const struct gmc_listing_raw *raw = &parser->raw;
    const char *before = "";
    size_t len = 0;
    char *path;

    *parent = GMC_LISTING_TOP;
    *status = GMC_ERR_INVALID;
    if (raw->back > parser->directory_count)
        return "its directory is not listed before it";
    if (raw->back > 0) {
        *parent = parser->directories[parser->directory_count - raw->back];
        before = listing->entries[*parent].path;
        len = strlen(before) + 1;
    }
    if (len + raw->name.len >= GMC_PATH_BYTES_MAX)
        return "its path is too long";
    path = text_room(listing, len + raw->name.len, status);
    if (path == NULL)
        return *status == GMC_ERR_LIMIT ? "the paths so far take too much memory" : "out of memory";
    if (len > 0) {
        memcpy(path, before, len - 1);
        path[len - 1] = '/';
    }
    memcpy(path + len, raw->name.data, raw->name.len);
    path[len + raw->name.len] = 0;
    listing->entries[parser->at].path = path;
    *status = GMC_OK;
    return NULL;
}

static const char *set_target(struct parser *parser, uint32_t parent, gmc_status *status)
{
    struct gmc_listing *listing = parser->listing;
    struct gmc_bytes target = parser->raw.target;
    uint32_t depth = parent == GMC_LISTING_TOP ? 0 : components(listing->entries[parent].path);
    const char *why = gmc_listing_check_target(target, depth);
    char *text;

    *status = GMC_ERR_INVALID;
    if (why != NULL)
        return why;
    text = text_room(listing, target.len, status);
    if (text == NULL)
        return *status == GMC_ERR_LIMIT ? "the paths so far take too much memory" : "out of memory";
    memcpy(text, target.data, target.len);
    text[target.len] = 0;
    listing->entries[parser->at].target = text;
    *status = GMC_OK;
    return NULL;
}

static void set_extents(struct parser *parser, struct gmc_entry *entry)
{
    struct gmc_listing *listing = parser->listing;
    struct gmc_reader reader;
    uint64_t end = 0;

    gmc_reader_init(&reader, parser->raw.extents);
    entry->size = parser->raw.size;
    entry->extent_count = (size_t)parser->raw.extent_count;
    entry->extents = listing->extents + listing->extent_count;
    for (size_t i = 0; i < entry->extent_count; i++) {
        struct gmc_extent extent = {0, entry->size};

        if (parser->raw.sparse)
            extent = gmc_listing_next_extent(&reader, &end);
        listing->extents[listing->extent_count] = extent;
        listing->starts[listing->extent_count] = listing->data_bytes;
        listing->owners[listing->extent_count++] = (uint32_t)parser->at;
        listing->data_bytes += extent.len;
    }
}

static const char *set_entry(struct parser *parser, gmc_status *status)
{
    struct gmc_entry *entry = &parser->listing->entries[parser->at];
    uint32_t parent;
    const char *why = set_path(parser, &parent, status);

    if (why != NULL)
        return why;
    entry->type = parser->raw.type;
    entry->mode = (uint32_t)parser->raw.mode;
    entry->mtime_ns = parser->raw.mtime_ns;
    *status = gmc_listing_names_add(&parser->names, parser->bytes.data, parent, parser->raw.name);
    if (*status == GMC_ERR_EXISTS) {
        *status = GMC_ERR_INVALID;
        return "its path is listed twice";
    }
    if (*status != GMC_OK)
        return *status == GMC_ERR_LIMIT ? "too many names fall together; they seem to be chosen"
                                        : "out of memory";
    if (entry->type == GMC_ENTRY_DIRECTORY)
        parser->directories[parser->directory_count++] = (uint32_t)parser->at;
    else if (entry->type == GMC_ENTRY_SYMLINK)
        return set_target(parser, parent, status);
    else
        set_extents(parser, entry);
    return NULL;
}

static gmc_status set_entries(struct parser *parser, struct gmc_reader reader, struct words *words)
{
    gmc_status status = GMC_OK;

    while (gmc_reader_left(&reader) > 0) {
        const char *why = gmc_listing_next(&reader, &parser->raw);

        if (why == NULL)
            why = set_entry(parser, &status);
        if (why != NULL)
            return refuse(parser, words, status, why);
        parser->at++;
    }
    return GMC_OK;
}

static gmc_status parse(struct parser *parser, uint64_t data_bytes, struct words *words)
{
    struct gmc_reader reader;
    gmc_status status;

    gmc_reader_init(&reader, parser->bytes);
    if (memcmp(gmc_reader_bytes(&reader, GMC_LISTING_HEAD_BYTES).data, gmc_listing_head,
               GMC_LISTING_HEAD_BYTES) != 0) {
        say(words, "it is not a listing of a version that is known here");
        return GMC_ERR_INVALID;
    }
    status = count_entries(parser, reader, words);
    if (status != GMC_OK)
        return status;
    if (parser->listing->count == 0) {
        say(words, "it lists nothing");
        return GMC_ERR_INVALID;
    }
    if (parser->listing->data_bytes != data_bytes) {
        say(words, "the sizes of its files sum up to ");
        say_number(words, parser->listing->data_bytes);
        say(words, " bytes, not to ");
        say_number(words, data_bytes);
        return GMC_ERR_INVALID;
    }
    status = allocate(parser);
    if (status != GMC_OK) {
        say(words, "out of memory");
        return status;
    }
    return set_entries(parser, reader, words);
}

gmc_status gmc_listing_parse(struct gmc_bytes bytes, uint64_t data_bytes, struct gmc_listing **out,
                             char *reason, size_t reason_len)
{
    struct words words = {reason, reason_len};
    struct parser parser = {.bytes = bytes};
    gmc_status status;

    say(&words, "");
    if (bytes.len < GMC_LISTING_HEAD_BYTES) {
        say(&words, "it is too short for a listing");
        return GMC_ERR_INVALID;
    }
    if (bytes.len > GMC_LISTING_BYTES_MAX) {
        say(&words, "it is longer than 1 GiB");
        return GMC_ERR_LIMIT;
    }
    parser.listing = calloc(1, sizeof(*parser.listing));
    if (parser.listing == NULL)
        return GMC_ERR_NOMEM;
    gmc_listing_names_init(&parser.names);
    status = parse(&parser, data_bytes, &words);
    gmc_listing_names_fini(&parser.names);
    free(parser.directories);
    if (status != GMC_OK) {
        gmc_listing_free(parser.listing);
        return status;
    }
    *out = parser.listing;
    return GMC_OK;
}

/* ---- looking ---- */

size_t gmc_listing_count(const struct gmc_listing *listing)
{
    return listing->count;
}

const struct gmc_entry *gmc_listing_entry(const struct gmc_listing *listing, size_t i)
{
    return &listing->entries[i];
}

/* The extent that holds the data byte at offset, which is below data_bytes. */
static size_t extent_at(const struct gmc_listing *listing, uint64_t offset)
{
    size_t low = 0, high = listing->extent_count;

    /* starts[low] <= offset < starts[high], which begins with 0 and counts as endless. */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (listing->starts[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

gmc_status gmc_listing_map(const struct gmc_listing *listing, uint64_t offset, size_t len,
                           gmc_listing_visit visit, void *ctx)
{
    size_t done = 0, i;

    if (offset > listing->data_bytes || len > listing->data_bytes - offset)
        return GMC_ERR_INVALID;
    if (len == 0)
        return GMC_OK;
    for (i = extent_at(listing, offset); done < len; i++) {
        const struct gmc_extent *extent = &listing->extents[i];
        uint64_t inside = offset + done - listing->starts[i];
        uint64_t left = extent->len - inside;
        size_t part = left < len - done ? (size_t)left : len - done;
        gmc_status status = visit(ctx, listing->owners[i], extent->offset + inside, done, part);

        if (status != GMC_OK)
            return status;
        done += part;
    }
    return GMC_OK;
}
