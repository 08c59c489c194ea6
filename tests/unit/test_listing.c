/* SPDX-License-Identifier: BSD-2-Clause */
/* The listing: what a writer takes comes back from the reader; every refusal of either, with its
 * words; where data goes; what hostile bytes may cost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <malloc.h>

#include "core/listing_impl.h"
#include "tests/lib/unit.h"

/* ---- writing ---- */

static void add(struct gmc_listing_writer *writer, struct gmc_entry entry)
{
    const char *reason = "";

    if (gmc_listing_add(writer, &entry, &reason) != GMC_OK)
        fail_msg("%s: %s", entry.path, reason);
}

static void refuse(struct gmc_listing_writer *writer, struct gmc_entry entry, const char *why)
{
    size_t before = gmc_listing_bytes(writer).len;
    const char *reason = "";

    assert_int_equal(gmc_listing_add(writer, &entry, &reason), GMC_ERR_INVALID);
    assert_string_equal(reason, why);
    assert_int_equal(gmc_listing_bytes(writer).len, before);
}

static struct gmc_entry directory(const char *path)
{
    return (struct gmc_entry){.type = GMC_ENTRY_DIRECTORY, .path = path, .mode = 0755};
}

static struct gmc_entry link_to(const char *path, const char *target)
{
    return (
        struct gmc_entry){.type = GMC_ENTRY_SYMLINK, .path = path, .mode = 0777, .target = target};
}

static struct gmc_entry sparse(const char *path, uint64_t size, const struct gmc_extent *extents,
                               size_t count)
{
    return (struct gmc_entry){.type = GMC_ENTRY_FILE,
                              .path = path,
                              .mode = 0644,
                              .size = size,
                              .extents = extents,
                              .extent_count = count};
}

static void add_whole(struct gmc_listing_writer *writer, const char *path, uint64_t size)
{
    struct gmc_extent whole = {0, size};

    add(writer, sparse(path, size, &whole, size > 0));
}

static struct gmc_listing *parse(const struct gmc_listing_writer *writer)
{
    struct gmc_listing *listing = NULL;
    char reason[200];

    if (gmc_listing_parse(gmc_listing_bytes(writer), gmc_listing_data_bytes(writer), &listing,
                          reason, sizeof(reason)) != GMC_OK)
        fail_msg("%s", reason);
    assert_string_equal(reason, "");
    return listing;
}

/* ---- a tree that has one of each ---- */

static const struct gmc_extent holes[] = {{4096, 100}, {10000, 1}, {12288, 4096}};
static const struct gmc_extent head[] = {{0, 10}};

static struct gmc_listing_writer *sample(void)
{
    struct gmc_listing_writer *writer = gmc_listing_writer_new();
    struct gmc_entry entry;

    assert_non_null(writer);
    add(writer, directory("results"));
    add(writer, directory("results/run 1"));
    add_whole(writer, "results/run 1/new\nline \xc3\xa9", 70000);
    add(writer, directory("results/empty"));
    add_whole(writer, "results/run 1/..x", 0);
    add(writer, sparse("results/holes", 20000, holes, 3));
    add(writer, sparse("results/tail", 5000, head, 1));
    add(writer, sparse("results/only hole", (uint64_t)8 << 30, NULL, 0));
    add(writer, link_to("results/run 1/latest", "../holes"));
    entry = directory("x");
    entry.mode = 0;
    entry.mtime_ns = -1;
    add(writer, entry);
    entry = sparse("y", 1, head, 0);
    entry.mtime_ns = INT64_MAX;
    add(writer, entry);
    return writer;
}

static void what_is_written_comes_back(void **state)
{
    struct gmc_listing_writer *writer = sample();
    struct gmc_listing *listing = parse(writer);
    const struct gmc_entry *entry;

    (void)state;
    assert_int_equal(gmc_listing_count(listing), 11);
    entry = gmc_listing_entry(listing, 1);
    assert_int_equal(entry->type, GMC_ENTRY_DIRECTORY);
    assert_string_equal(entry->path, "results/run 1");
    assert_int_equal(entry->mode, 0755);
    entry = gmc_listing_entry(listing, 2);
    assert_string_equal(entry->path, "results/run 1/new\nline \xc3\xa9");
    assert_true(entry->size == 70000 && entry->extent_count == 1);
    assert_true(entry->extents[0].offset == 0 && entry->extents[0].len == 70000);
    entry = gmc_listing_entry(listing, 4);
    assert_true(entry->size == 0 && entry->extent_count == 0);
    entry = gmc_listing_entry(listing, 5);
    assert_string_equal(entry->path, "results/holes");
    assert_true(entry->size == 20000 && entry->extent_count == 3);
    assert_memory_equal(entry->extents, holes, sizeof(holes));
    entry = gmc_listing_entry(listing, 7);
    assert_true(entry->size == (uint64_t)8 << 30 && entry->extent_count == 0);
    entry = gmc_listing_entry(listing, 8);
    assert_int_equal(entry->type, GMC_ENTRY_SYMLINK);
    assert_string_equal(entry->target, "../holes");
    assert_true(gmc_listing_entry(listing, 9)->mtime_ns == -1);
    assert_true(gmc_listing_entry(listing, 10)->mtime_ns == INT64_MAX);
    assert_true(gmc_listing_data_bytes(writer) == 70000 + 4197 + 10);
    gmc_listing_free(listing);
    gmc_listing_writer_free(writer);
}

static void names_of_any_kind_are_taken(void **state)
{
    struct gmc_listing_writer *writer = gmc_listing_writer_new();
    char name[257], path[GMC_PATH_BYTES_MAX];

    (void)state;
    memset(name, 'n', sizeof(name));
    name[255] = 0;
    add_whole(writer, name, 1);
    add_whole(writer, "...", 1);
    add_whole(writer, "-rf *", 1);
    add_whole(writer, "\xff\xfe\x01", 1);
    /* 2,048 components of one byte: the longest path. */
    for (size_t i = 0; i < 2048; i++) {
        path[2 * i] = 'd';
        path[2 * i + 1] = 0;
        add(writer, directory(path));
        path[2 * i + 1] = '/';
    }
    path[4095] = 0;
    gmc_listing_free(parse(writer));
    gmc_listing_writer_free(writer);
}

/* ---- refusals of the writer ---- */

static void bad_paths_are_refused(void **state)
{
    struct gmc_listing_writer *writer = sample();
    char name[300], path[GMC_PATH_BYTES_MAX + 10];

    (void)state;
    refuse(writer, directory("/etc"), "its path is absolute");
    refuse(writer, directory(""), "its path has an empty component");
    refuse(writer, directory("results//x"), "its path has an empty component");
    refuse(writer, directory("results/"), "its path has an empty component");
    refuse(writer, directory(".."), "its path has a component \".\" or \"..\"");
    refuse(writer, directory("../x"), "its path has a component \".\" or \"..\"");
    refuse(writer, directory("results/../x"), "its path has a component \".\" or \"..\"");
    refuse(writer, directory("results/./z"), "its path has a component \".\" or \"..\"");
    refuse(writer, directory("results/."), "its path has a component \".\" or \"..\"");
    refuse(writer, directory("later/x"), "its directory is not listed before it");
    refuse(writer, directory("results/holes/x"), "what its path goes through is not a directory");
    refuse(writer, directory("results/run 1/latest/x"),
           "what its path goes through is not a directory");
    refuse(writer, directory("results"), "its path is listed twice");
    refuse(writer, link_to("results/holes", "x"), "its path is listed twice");
    memset(name, 'n', sizeof(name));
    name[256] = 0;
    refuse(writer, directory(name), "a component of its path is longer than 255 bytes");
    memset(path, 'p', sizeof(path));
    for (size_t i = 100; i < sizeof(path); i += 100)
        path[i] = '/';
    path[GMC_PATH_BYTES_MAX] = 0;
    refuse(writer, directory(path), "its path is too long");
    /* After all of that the writer goes on. */
    add(writer, directory("results/more"));
    gmc_listing_free(parse(writer));
    gmc_listing_writer_free(writer);
}

static void bad_extents_and_modes_are_refused(void **state)
{
    static const struct gmc_extent touching[] = {{0, 5}, {5, 5}};
    static const struct gmc_extent overlapping[] = {{0, 5}, {4, 5}};
    static const struct gmc_extent backward[] = {{10, 5}, {0, 5}};
    static const struct gmc_extent empty[] = {{3, 0}};
    static const struct gmc_extent past[] = {{90, 11}};
    static const struct gmc_extent behind[] = {{101, 1}};
    static const struct gmc_extent wrapping[] = {{10, UINT64_MAX}};
    struct gmc_listing_writer *writer = gmc_listing_writer_new();
    struct gmc_entry entry = directory("d");

    (void)state;
    refuse(writer, sparse("f", 100, touching, 2), "its extents touch or overlap");
    refuse(writer, sparse("f", 100, overlapping, 2), "its extents touch or overlap");
    refuse(writer, sparse("f", 100, backward, 2), "its extents touch or overlap");
    refuse(writer, sparse("f", 100, empty, 1), "it has an empty extent");
    refuse(writer, sparse("f", 100, past, 1), "an extent passes the end of the file");
    refuse(writer, sparse("f", 100, behind, 1), "an extent passes the end of the file");
    refuse(writer, sparse("f", 100, wrapping, 1), "an extent passes the end of the file");
    refuse(writer, sparse("f", 0, head, 1), "an extent passes the end of the file");
    refuse(writer, sparse("f", (uint64_t)INT64_MAX + 1, NULL, 0),
           "its size is beyond what a file can have");
    entry.mode = 01755;
    refuse(writer, entry, "its mode has bits beyond 0777");
    entry.mode = 04755;
    refuse(writer, entry, "its mode has bits beyond 0777");
    entry.mode = 0755;
    entry.type = (enum gmc_entry_type)9;
    refuse(writer, entry, "it is of an unknown kind");
    gmc_listing_writer_free(writer);
}

static void links_stay_inside(void **state)
{
    static const struct {
        uint32_t depth; /* of the link's directory */
        const char *target;
        const char *why; /* NULL: taken */
    } cases[] = {
        {0, "neighbour", NULL},
        {0, "neighbour/below", NULL},
        {0, ".", NULL},
        {0, "..", "its target leads out of the tree; leave the link out"},
        {0, "./../x", "its target leads out of the tree; leave the link out"},
        {1, "x", NULL},
        {1, "..", "its target leads out of the tree; leave the link out"},
        {1, "../other", "its target leads out of the tree; leave the link out"},
        {2, "..", NULL},
        {2, "../x", NULL},
        {2, ".././/x//", NULL},
        {2, "../../x", "its target leads out of the tree; leave the link out"},
        {3, "../../x", NULL},
        {3, "../.././../x", "its target leads out of the tree; leave the link out"},
        /* By the letters it ends inside, but x may itself be a link that leads up. */
        {3, "x/../y", "its target goes up again behind another component"},
        {3, "../x/..", "its target goes up again behind another component"},
        {3, "..x", NULL},
        {3, "...", NULL},
        {3, "/etc/passwd",
         "its target is an absolute path; make it relative, or leave the link out"},
        {3, "//x", "its target is an absolute path; make it relative, or leave the link out"},
        {3, "", "its target is empty"},
    };
    struct gmc_bytes nul = {(const uint8_t *)"a\0b", 3};
    char long_target[GMC_PATH_BYTES_MAX + 1];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *why =
            gmc_listing_check_target(gmc_bytes_of_text(cases[i].target), cases[i].depth);

        if (cases[i].why == NULL && why != NULL)
            fail_msg("%u %s: %s", cases[i].depth, cases[i].target, why);
        if (cases[i].why != NULL)
            assert_string_equal(why != NULL ? why : cases[i].target, cases[i].why);
    }
    assert_string_equal(gmc_listing_check_target(nul, 3), "its target has a NUL byte");
    memset(long_target, 't', GMC_PATH_BYTES_MAX);
    long_target[GMC_PATH_BYTES_MAX] = 0;
    assert_string_equal(gmc_listing_check_target(gmc_bytes_of_text(long_target), 3),
                        "its target is too long");
    long_target[GMC_PATH_BYTES_MAX - 1] = 0;
    assert_null(gmc_listing_check_target(gmc_bytes_of_text(long_target), 3));
}

/* ---- refusals of the reader: bytes that our writer does not write ---- */

struct bytes {
    uint8_t data[20000];
    size_t len;
};

static void begin(struct bytes *b)
{
    memcpy(b->data, gmc_listing_head, GMC_LISTING_HEAD_BYTES);
    b->len = GMC_LISTING_HEAD_BYTES;
}

static void put(struct bytes *b, uint64_t number)
{
    b->len = (size_t)(gmc_varint_put(b->data + b->len, number) - b->data);
}

static void put_data(struct bytes *b, const void *data, size_t len)
{
    put(b, len);
    memcpy(b->data + b->len, data, len);
    b->len += len;
}

/* The part that all kinds have. */
static void put_entry(struct bytes *b, uint8_t kind, uint64_t back, const char *name)
{
    b->data[b->len++] = kind;
    put(b, back);
    put_data(b, name, strlen(name));
    put(b, 0600);
    memset(b->data + b->len, 0, 8);
    b->len += 8;
}

static void put_file(struct bytes *b, uint64_t back, const char *name, uint64_t size)
{
    put_entry(b, GMC_ENTRY_FILE, back, name);
    put(b, size);
}

/* Parses a copy of exact length, so that the sanitizer sees a read past its end. */
static void expect(const struct bytes *b, uint64_t data_bytes, gmc_status status, const char *why)
{
    uint8_t *copy = malloc(b->len + (b->len == 0));
    struct gmc_listing *listing = NULL;
    char reason[200] = "unset";

    assert_non_null(copy);
    memcpy(copy, b->data, b->len);
    assert_int_equal(gmc_listing_parse(gmc_bytes(copy, b->len), data_bytes, &listing, reason,
                                       sizeof(reason)),
                     status);
    assert_string_equal(reason, why);
    assert_true((status == GMC_OK) == (listing != NULL));
    gmc_listing_free(listing);
    free(copy);
}

#define BAD(b, why) expect(b, 0, GMC_ERR_INVALID, why)

static void bad_heads_are_refused(void **state)
{
    struct bytes b = {.len = 0};

    (void)state;
    BAD(&b, "it is too short for a listing");
    begin(&b);
    BAD(&b, "it lists nothing");
    b.data[4] = 2;
    BAD(&b, "it is not a listing of a version that is known here");
    b.data[0] = 'x';
    BAD(&b, "it is not a listing of a version that is known here");
}

static void bad_names_are_refused(void **state)
{
    static const struct {
        const char *name, *why;
    } cases[] = {
        {"", "entry 1: its path has an empty component"},
        {"..", "entry 1 \"..\": its path has a component \".\" or \"..\""},
        {".", "entry 1 \".\": its path has a component \".\" or \"..\""},
        {"/etc", "entry 1 \"/etc\": a component of its path has a '/'"},
        {"../x", "entry 1 \"../x\": a component of its path has a '/'"},
        {"a/b", "entry 1 \"a/b\": a component of its path has a '/'"},
    };
    struct bytes b;
    char name[257];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin(&b);
        put_file(&b, 0, cases[i].name, 0);
        BAD(&b, cases[i].why);
    }
    begin(&b);
    put_file(&b, 0, "a?b", 0);
    *(uint8_t *)memchr(b.data, '?', b.len) = 0;
    BAD(&b, "entry 1 \"a\\x00b\": its path has a NUL byte");
    begin(&b);
    memset(name, 'n', 256);
    name[256] = 0;
    put_file(&b, 0, name, 0);
    expect(
        &b, 0, GMC_ERR_INVALID,
        "entry 1 \"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
        "...\": a component of its path is longer than 255 bytes");
}

static void bad_places_are_refused(void **state)
{
    struct bytes b;

    (void)state;
    begin(&b); /* a child before any directory */
    put_file(&b, 1, "f", 0);
    BAD(&b, "entry 1 \"f\": its directory is not listed before it");
    begin(&b); /* a file or a symlink is not counted as a directory */
    put_file(&b, 0, "f", 0);
    put_entry(&b, GMC_ENTRY_SYMLINK, 0, "l");
    put_data(&b, "x", 1);
    put_file(&b, 1, "g", 0);
    BAD(&b, "entry 3 \"g\": its directory is not listed before it");
    begin(&b); /* its own directory */
    put_entry(&b, GMC_ENTRY_DIRECTORY, 1, "d");
    BAD(&b, "entry 1 \"d\": its directory is not listed before it");
    begin(&b);
    put_entry(&b, GMC_ENTRY_DIRECTORY, 0, "d");
    put_file(&b, UINT64_MAX, "f", 0);
    BAD(&b, "entry 2 \"f\": its directory is not listed before it");
    begin(&b); /* the same name twice: with another type, below the same directory */
    put_entry(&b, GMC_ENTRY_DIRECTORY, 0, "d");
    put_file(&b, 1, "x", 0);
    put_file(&b, 0, "x", 0);
    put_entry(&b, GMC_ENTRY_DIRECTORY, 1, "x");
    BAD(&b, "entry 4 \"x\": its path is listed twice");
    begin(&b); /* a symlink that leads out */
    put_entry(&b, GMC_ENTRY_DIRECTORY, 0, "d");
    put_entry(&b, GMC_ENTRY_SYMLINK, 1, "l");
    put_data(&b, "../../etc", 9);
    BAD(&b, "entry 2 \"l\": its target leads out of the tree; leave the link out");
    begin(&b);
    put_entry(&b, GMC_ENTRY_SYMLINK, 0, "l");
    put_data(&b, "a\0b", 3);
    BAD(&b, "entry 1 \"l\": its target has a NUL byte");
}

static void bad_numbers_are_refused(void **state)
{
    struct bytes b;
    size_t mode_at;

    (void)state;
    begin(&b);
    put_file(&b, 0, "f", (uint64_t)INT64_MAX + 1);
    BAD(&b, "entry 1 \"f\": its size is beyond what a file can have");
    begin(&b); /* 0 in two bytes */
    put_entry(&b, GMC_ENTRY_FILE, 0, "f");
    memcpy(b.data + b.len, "\x80\x00", 2);
    b.len += 2;
    BAD(&b, "entry 1 \"f\": it has a number that is too large or written too long");
    begin(&b); /* 65 bits */
    put_entry(&b, GMC_ENTRY_FILE, 0, "f");
    memcpy(b.data + b.len, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
    b.len += 10;
    BAD(&b, "entry 1 \"f\": it has a number that is too large or written too long");
    begin(&b);
    put_entry(&b, GMC_ENTRY_DIRECTORY, 0, "d");
    mode_at = b.len - 10;                    /* a varint of two bytes, then the time */
    memcpy(b.data + mode_at, "\x80\x08", 2); /* 02000 */
    BAD(&b, "entry 1 \"d\": its mode has bits beyond 0777");
    begin(&b);
    put_entry(&b, 5, 0, "d");
    BAD(&b, "entry 1: it is of an unknown kind");
    begin(&b); /* the sizes pass 2^64 */
    put_file(&b, 0, "a", INT64_MAX);
    put_file(&b, 0, "b", INT64_MAX);
    put_file(&b, 0, "c", 2);
    BAD(&b, "entry 3 \"c\": the sizes pass 2^64 bytes with it");
    begin(&b); /* not what the record says */
    put_file(&b, 0, "a", 100);
    put_file(&b, 0, "b", 23);
    BAD(&b, "the sizes of its files sum up to 123 bytes, not to 0");
    expect(&b, 124, GMC_ERR_INVALID, "the sizes of its files sum up to 123 bytes, not to 124");
    expect(&b, 123, GMC_OK, "");
}

static void put_extents(struct bytes *b, uint64_t size, uint64_t count, const uint64_t *numbers)
{
    begin(b);
    put_entry(b, GMC_LISTING_SPARSE, 0, "s");
    put(b, size);
    put(b, count);
    for (size_t i = 0; i < 2 * count && i < 4; i++)
        put(b, numbers[i]);
}

static void bad_holes_are_refused(void **state)
{
    struct bytes b;

    (void)state;
    put_extents(&b, 100, 2, (const uint64_t[]){0, 10, 0, 10});
    BAD(&b, "entry 1 \"s\": its extents touch or overlap");
    put_extents(&b, 100, 1, (const uint64_t[]){10, 0});
    BAD(&b, "entry 1 \"s\": it has an empty extent");
    put_extents(&b, 100, 1, (const uint64_t[]){10, 91});
    BAD(&b, "entry 1 \"s\": an extent passes the end of the file");
    put_extents(&b, 100, 1, (const uint64_t[]){UINT64_MAX, 91});
    BAD(&b, "entry 1 \"s\": an extent passes the end of the file");
    put_extents(&b, 100, 2, (const uint64_t[]){0, 10, UINT64_MAX - 5, 91});
    BAD(&b, "entry 1 \"s\": an extent passes the end of the file");
    put_extents(&b, 100, 1, (const uint64_t[]){0, 100});
    BAD(&b, "entry 1 \"s\": it is written as a file with holes and has none");
    put_extents(&b, 0, 0, NULL);
    BAD(&b, "entry 1 \"s\": it is written as a file with holes and has none");
    /* A count that no memory is asked for. */
    begin(&b);
    put_entry(&b, GMC_LISTING_SPARSE, 0, "s");
    put(&b, INT64_MAX);
    put(&b, UINT64_MAX);
    BAD(&b, "entry 1 \"s\": the listing ends in the middle of it");
    put_extents(&b, 100, 1, (const uint64_t[]){99, 1});
    expect(&b, 1, GMC_OK, "");
}

static void each_cut_is_refused_or_shorter(void **state)
{
    struct gmc_listing_writer *writer = sample();
    struct gmc_bytes all = gmc_listing_bytes(writer);
    uint64_t data_bytes = gmc_listing_data_bytes(writer);
    size_t taken = 0;

    (void)state;
    for (size_t cut = 0; cut < all.len; cut++) {
        uint8_t *copy = malloc(cut + 1);
        struct gmc_listing *listing = NULL;
        char reason[20];

        assert_non_null(copy);
        memcpy(copy, all.data, cut);
        if (gmc_listing_parse(gmc_bytes(copy, cut), data_bytes, &listing, reason, sizeof(reason)) ==
            GMC_OK)
            taken++;
        else
            assert_true(reason[0] != 0 && strlen(reason) < sizeof(reason));
        gmc_listing_free(listing);
        free(copy);
    }
    /* Only behind the last entries with data does the sum fit: four cuts between entries. */
    assert_int_equal(taken, 4);
    gmc_listing_writer_free(writer);
}

static void a_reason_fits_any_room(void **state)
{
    struct bytes b;
    char reason[8] = "1234567";
    struct gmc_listing *listing;

    (void)state;
    begin(&b);
    put_file(&b, 0, "..", 0);
    assert_int_equal(gmc_listing_parse(gmc_bytes(b.data, b.len), 0, &listing, NULL, 0),
                     GMC_ERR_INVALID);
    assert_int_equal(gmc_listing_parse(gmc_bytes(b.data, b.len), 0, &listing, reason, 6),
                     GMC_ERR_INVALID);
    assert_memory_equal(reason,
                        "entry\0"
                        "7",
                        8);
}

/* ---- cost ---- */

/* A deep chain, then many entries at its end: each would take 4 KiB for its path. */
static void deep_paths_cannot_take_all_memory(void **state)
{
    size_t size = 300000;
    struct bytes *b = malloc(sizeof(*b));
    uint8_t *data = malloc(size);
    struct gmc_listing *listing = NULL;
    char reason[200], name[8];
    size_t len;

    (void)state;
    assert_true(b != NULL && data != NULL);
    begin(b);
    for (unsigned i = 0; i < 15; i++) {
        char part[251];

        memset(part, 'd', 250);
        part[250] = 0;
        put_entry(b, GMC_ENTRY_DIRECTORY, i > 0, part);
    }
    memcpy(data, b->data, b->len);
    len = b->len;
    for (unsigned i = 0; len < size - 64; i++) {
        b->len = 0;
        snprintf(name, sizeof(name), "%u", i);
        put_file(b, 1, name, 0);
        memcpy(data + len, b->data, b->len);
        len += b->len;
    }
    assert_int_equal(gmc_listing_parse(gmc_bytes(data, len), 0, &listing, reason, sizeof(reason)),
                     GMC_ERR_LIMIT);
    assert_non_null(strstr(reason, "the paths so far take too much memory"));
    free(data);
    free(b);
}

/* Bytes allocated, in the heap and in mappings. */
static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static void many_entries_stay_small(void **state)
{
    const char *count_text = getenv("GMC_LISTING_ENTRIES"); /* e.g. 1000000, by hand */
    size_t count = count_text != NULL ? (size_t)atol(count_text) : 50000, before, used;
    struct gmc_listing_writer *writer = gmc_listing_writer_new();
    struct gmc_listing *listing;
    char path[100];

    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (i % 1000 == 0) {
            snprintf(path, sizeof(path), "directory-%zu", i / 1000);
            add(writer, directory(path));
        }
        snprintf(path, sizeof(path), "directory-%zu/some-file-of-a-run-%zu.dat", i / 1000, i);
        add_whole(writer, path, 10 + i % 7);
    }
    before = allocated();
    listing = parse(writer);
    used = allocated() - before;
    if (count_text != NULL)
        print_message("%zu entries: %zu bytes written, %zu bytes in memory\n", count,
                      gmc_listing_bytes(writer).len, used);
    assert_true(used < count * 200); /* 0 where the sanitizer's allocator stands in */
    assert_int_equal(gmc_listing_count(listing), count + (count + 999) / 1000);
    gmc_listing_free(listing);
    gmc_listing_writer_free(writer);
}

/* Names that all fall to the same slot make the search long only up to a bound. */
static void chosen_names_are_refused(void **state)
{
    struct gmc_listing_names names;
    uint8_t base[64] = {0};
    gmc_status status = GMC_OK;
    size_t added;

    (void)state;
    gmc_listing_names_init(&names);
    assert_ok(gmc_listing_names_reserve(&names, 1000));
    /* Every slot behind the first is taken by hand: a run as chosen names would make it. */
    assert_ok(gmc_listing_names_add(&names, base, 1, gmc_bytes(base, 1)));
    for (size_t i = 0; i < names.slot_count; i++)
        names.slots[i] = 1;
    status = gmc_listing_names_add(&names, base, 2, gmc_bytes(base, 1));
    assert_int_equal(status, GMC_ERR_LIMIT);
    assert_int_equal(names.count, 1);
    assert_int_equal(gmc_listing_names_find(&names, base, 2, gmc_bytes(base, 1)), UINT32_MAX);
    gmc_listing_names_fini(&names);
    /* Honest ones never are: each pair of bytes in 4 directories. */
    gmc_listing_names_init(&names);
    for (added = 0; added < 40000; added++) {
        static uint8_t names_at[80000];

        gmc_put16(names_at + 2 * added, (uint16_t)(added / 4));
        assert_ok(gmc_listing_names_add(&names, names_at, (uint32_t)added % 4,
                                        gmc_bytes(names_at + 2 * added, 2)));
    }
    gmc_listing_names_fini(&names);
}

/* ---- where data goes ---- */

struct piece {
    size_t entry;
    uint64_t file_offset;
    size_t buffer_offset, len;
};

struct pieces {
    struct piece got[16];
    size_t count, fail_at;
};

static gmc_status note(void *ctx, size_t entry, uint64_t file_offset, size_t buffer_offset,
                       size_t len)
{
    struct pieces *pieces = ctx;

    assert_true(pieces->count < 16);
    pieces->got[pieces->count++] = (struct piece){entry, file_offset, buffer_offset, len};
    return pieces->count == pieces->fail_at ? GMC_ERR_IO : GMC_OK;
}

static void data_goes_to_its_place(void **state)
{
    struct gmc_listing_writer *writer = sample();
    struct gmc_listing *listing = parse(writer);
    uint64_t total = gmc_listing_data_bytes(writer);
    static const struct piece expected[] = {{2, 69990, 0, 10},
                                            {5, 4096, 10, 100},
                                            {5, 10000, 110, 1},
                                            {5, 12288, 111, 4096},
                                            {6, 0, 4207, 10}};
    struct pieces pieces = {.count = 0};

    (void)state;
    assert_ok(gmc_listing_map(listing, 69990, (size_t)(total - 69990), note, &pieces));
    assert_int_equal(pieces.count, 5);
    assert_memory_equal(pieces.got, expected, sizeof(expected));
    /* Inside one extent. */
    pieces.count = 0;
    assert_ok(gmc_listing_map(listing, 70101 + 5, 7, note, &pieces));
    assert_int_equal(pieces.count, 1);
    assert_true(pieces.got[0].entry == 5 && pieces.got[0].file_offset == 12293);
    /* Nothing, also at the end; and past it. */
    pieces.count = 0;
    assert_ok(gmc_listing_map(listing, 0, 0, note, &pieces));
    assert_ok(gmc_listing_map(listing, total, 0, note, &pieces));
    assert_int_equal(pieces.count, 0);
    assert_int_equal(gmc_listing_map(listing, total, 1, note, &pieces), GMC_ERR_INVALID);
    assert_int_equal(gmc_listing_map(listing, UINT64_MAX, 2, note, &pieces), GMC_ERR_INVALID);
    /* An error stops it. */
    pieces = (struct pieces){.fail_at = 2};
    assert_int_equal(gmc_listing_map(listing, 69990, 500, note, &pieces), GMC_ERR_IO);
    assert_int_equal(pieces.count, 2);
    gmc_listing_free(listing);
    gmc_listing_writer_free(writer);
}

/* Each byte of the data is in one place, whatever the pieces it is asked for in. */
static void each_byte_is_mapped_once(void **state)
{
    struct gmc_listing_writer *writer = sample();
    struct gmc_listing *listing = parse(writer);
    uint64_t total = gmc_listing_data_bytes(writer), entry_sum[11] = {0};

    (void)state;
    for (uint64_t at = 0; at < total; at += 37) {
        size_t len = total - at < 37 ? (size_t)(total - at) : 37, sum = 0;
        struct pieces pieces = {.count = 0};

        assert_ok(gmc_listing_map(listing, at, len, note, &pieces));
        for (size_t i = 0; i < pieces.count; i++) {
            assert_int_equal(pieces.got[i].buffer_offset, sum);
            sum += pieces.got[i].len;
            entry_sum[pieces.got[i].entry] += pieces.got[i].len;
        }
        assert_int_equal(sum, len);
    }
    assert_true(entry_sum[2] == 70000 && entry_sum[5] == 4197 && entry_sum[6] == 10);
    gmc_listing_free(listing);
    gmc_listing_writer_free(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_comes_back),
        cmocka_unit_test(names_of_any_kind_are_taken),
        cmocka_unit_test(bad_paths_are_refused),
        cmocka_unit_test(bad_extents_and_modes_are_refused),
        cmocka_unit_test(links_stay_inside),
        cmocka_unit_test(bad_heads_are_refused),
        cmocka_unit_test(bad_names_are_refused),
        cmocka_unit_test(bad_places_are_refused),
        cmocka_unit_test(bad_numbers_are_refused),
        cmocka_unit_test(bad_holes_are_refused),
        cmocka_unit_test(each_cut_is_refused_or_shorter),
        cmocka_unit_test(a_reason_fits_any_room),
        cmocka_unit_test(deep_paths_cannot_take_all_memory),
        cmocka_unit_test(many_entries_stay_small),
        cmocka_unit_test(chosen_names_are_refused),
        cmocka_unit_test(data_goes_to_its_place),
        cmocka_unit_test(each_byte_is_mapped_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
