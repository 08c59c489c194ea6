/* SPDX-License-Identifier: BSD-2-Clause */
/* The simulated disk: contents, times, order, failures, and what a crash leaves behind. */
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "sim-wan/disk.h"

#define BLOCK 65536u
#define DATA_BYTES (UINT64_C(10) * BLOCK + 100)

struct bench {
    struct sim_engine engine;
    struct sim_objects objects;
    struct gmc_crypto_ops ops;
    struct gmc_crypto crypto;
    struct sim_disk disk;
    struct gmc_pool disk_ops;
    struct gmc_store_result results[64];
    gmc_time at[64];
    size_t count;
    int violations;
    uint64_t tickets;
    struct gmc_channel_key key;
};

/* Enough of a hash to tell blocks apart. */
static void toy_hash(const uint8_t *data, size_t len, uint8_t out[GMC_HASH_BYTES])
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ data[i]) * 1099511628211u;
    for (size_t i = 0; i < GMC_HASH_BYTES; i += 8)
        gmc_put64(out + i, hash);
}

static void on_answered(void *ctx, const struct gmc_store_result *result)
{
    struct bench *bench = ctx;
    assert_true(bench->count < 64);
    bench->at[bench->count] = bench->engine.now;
    bench->results[bench->count++] = *result;
}

static void on_violated(void *ctx, const char *what)
{
    (void)what;
    ((struct bench *)ctx)->violations++;
}

static void bench_init(struct bench *bench, const struct sim_disk_config *config, uint64_t seed)
{
    struct gmc_prng prng;
    gmc_prng_init(&prng, seed);
    memset(bench, 0, sizeof(*bench));
    sim_engine_init(&bench->engine);
    bench->ops.hash = toy_hash;
    bench->crypto.ops = &bench->ops;
    bench->key.e = 5;
    strcpy(bench->key.source, "s.example");
    sim_disk_ops_init(&bench->disk_ops, 2);
    sim_disk_init(&bench->disk, &bench->engine, &bench->objects, &bench->disk_ops, &bench->crypto,
                  &(struct sim_disk_sink){bench, on_answered, on_violated, NULL}, config, &prng);
}

static void bench_fini(struct bench *bench)
{
    sim_disk_fini(&bench->disk);
    gmc_pool_trim(&bench->disk_ops);
    sim_objects_fini(&bench->objects);
    sim_engine_fini(&bench->engine);
}

static void settle(struct bench *bench)
{
    sim_engine_run(&bench->engine, bench->engine.now + GMC_S(10));
}

static struct gmc_store_op new_op(struct bench *bench, enum gmc_store_kind kind)
{
    return (struct gmc_store_op){.ticket = ++bench->tickets, .kind = kind, .key = &bench->key};
}

/* Does one operation and returns its result. */
static const struct gmc_store_result *perform(struct bench *bench, struct gmc_store_op op)
{
    bench->count = 0;
    sim_disk_submit(&bench->disk, &op);
    settle(bench);
    assert_int_equal(bench->count, 1);
    assert_int_equal(bench->results[0].ticket, op.ticket);
    return &bench->results[0];
}

static gmc_status perform_kind(struct bench *bench, enum gmc_store_kind kind)
{
    return perform(bench, new_op(bench, kind))->status;
}

/* The object is known, as after the source's scan, and this disk opens it as a target. */
static void open_object(struct bench *bench)
{
    struct sim_object object;
    assert_true(sim_object_parse("sim:77:655460", &object));
    assert_int_equal(object.total_bytes, DATA_BYTES);
    object.key = bench->key;
    sim_objects_put(&bench->objects, &object);
    struct gmc_store_op op = new_op(bench, GMC_STORE_OPEN);
    op.listing_bytes = object.listing_bytes;
    op.total_bytes = object.total_bytes;
    op.block_bytes = BLOCK;
    op.dest = "";
    assert_ok(perform(bench, op)->status);
}

/* Block b of the object's bytes, and the operation that writes it. */
static struct gmc_store_op write_op(struct bench *bench, uint32_t b, uint8_t *buffer)
{
    struct sim_object *object = sim_objects_get(&bench->objects, &bench->key);
    struct gmc_store_op op = new_op(bench, GMC_STORE_WRITE);
    uint64_t space = sim_object_space(object);
    op.offset = (uint64_t)b * BLOCK;
    op.len = space - op.offset < BLOCK ? (size_t)(space - op.offset) : BLOCK;
    op.data = buffer;
    sim_object_fill(object, op.offset, buffer, op.len);
    toy_hash(buffer, op.len, op.hash);
    return op;
}

static void write_blocks(struct bench *bench, uint32_t from, uint32_t to)
{
    uint8_t buffer[BLOCK];
    for (uint32_t b = from; b < to; b++)
        assert_ok(perform(bench, write_op(bench, b, buffer))->status);
}

static void test_whole_transfer(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, &(struct sim_disk_config){0}, 1);
    open_object(&bench);
    write_blocks(&bench, 0, 1);
    assert_ok(perform_kind(&bench, GMC_STORE_LAYOUT));
    write_blocks(&bench, 1, 12);
    assert_false(sim_disk_has_delivered(&bench.disk, &bench.key));
    assert_ok(perform_kind(&bench, GMC_STORE_FINISH));
    assert_true(sim_disk_has_delivered(&bench.disk, &bench.key));
    uint8_t buffer[BLOCK], expected[BLOCK];
    struct gmc_store_op op = new_op(&bench, GMC_STORE_READ);
    op.offset = 100;
    op.data = buffer;
    op.len = BLOCK;
    assert_ok(perform(&bench, op)->status);
    sim_object_fill(sim_objects_get(&bench.objects, &bench.key), 100, expected, BLOCK);
    assert_memory_equal(buffer, expected, BLOCK);
    assert_ok(perform_kind(&bench, GMC_STORE_CLOSE));
    assert_true(sim_disk_has_delivered(&bench.disk, &bench.key));
    assert_int_equal(bench.violations, 0);
    bench_fini(&bench);
}

static void test_refusals(void **state)
{
    (void)state;
    struct bench bench;
    uint8_t buffer[BLOCK];
    bench_init(&bench, &(struct sim_disk_config){0}, 1);
    assert_int_equal(perform_kind(&bench, GMC_STORE_SYNC), GMC_ERR_STATE); /* not open */
    assert_int_equal(bench.violations, 1);
    open_object(&bench);
    /* Data before the layout, and an end that is none, break the contract. */
    assert_int_equal(perform(&bench, write_op(&bench, 3, buffer))->status, GMC_ERR_INVALID);
    assert_int_equal(perform_kind(&bench, GMC_STORE_FINISH), GMC_ERR_INVALID);
    assert_int_equal(bench.violations, 3);
    /* A block that is not what its hash says is only refused. */
    struct gmc_store_op op = write_op(&bench, 0, buffer);
    buffer[7] ^= 1;
    assert_int_equal(perform(&bench, op)->status, GMC_ERR_MISMATCH);
    assert_int_equal(bench.violations, 3);
    /* A forged hash is noticed from outside. */
    toy_hash(buffer, op.len, op.hash);
    op.ticket = ++bench.tickets;
    assert_ok(perform(&bench, op)->status);
    assert_int_equal(bench.violations, 4);
    op = new_op(&bench, GMC_STORE_READ_PAGE);
    op.data = buffer;
    op.len = 100;
    assert_int_equal(perform(&bench, op)->status, GMC_ERR_NOT_FOUND);
    bench_fini(&bench);
}

static void test_full_disk_and_planted_failures(void **state)
{
    (void)state;
    struct bench bench;
    uint8_t buffer[BLOCK];
    bench_init(&bench, &(struct sim_disk_config){0}, 1);
    open_object(&bench);
    write_blocks(&bench, 0, 1);
    bench.disk.fail_kind = GMC_STORE_LAYOUT;
    bench.disk.fail_status = GMC_ERR_ACCESS;
    bench.disk.fail_times = 1;
    assert_int_equal(perform_kind(&bench, GMC_STORE_LAYOUT), GMC_ERR_ACCESS);
    assert_ok(perform_kind(&bench, GMC_STORE_LAYOUT));
    sim_disk_configure(&bench.disk, &(struct sim_disk_config){.capacity_bytes = 3 * BLOCK});
    write_blocks(&bench, 1, 3);
    assert_int_equal(perform(&bench, write_op(&bench, 3, buffer))->status, GMC_ERR_NOSPACE);
    struct gmc_store_op op = new_op(&bench, GMC_STORE_OPEN);
    op.listing_bytes = 100;
    op.total_bytes = DATA_BYTES;
    assert_int_equal(perform(&bench, op)->status, GMC_ERR_NOSPACE);
    bench_fini(&bench);
}

static void test_times(void **state)
{
    (void)state;
    struct bench bench;
    uint8_t buffers[4][BLOCK];
    bench_init(&bench, &(struct sim_disk_config){0}, 1);
    open_object(&bench);
    sim_disk_configure(&bench.disk, &(struct sim_disk_config){.latency = GMC_MS(2),
                                                              .jitter = 1,
                                                              .rate_bps = 524288000});
    bench.count = 0;
    gmc_time begin = bench.engine.now;
    for (int i = 0; i < 4; i++) {
        struct gmc_store_op op = new_op(&bench, GMC_STORE_READ);
        op.data = buffers[i];
        op.len = BLOCK; /* 1 ms each */
        sim_disk_submit(&bench.disk, &op);
    }
    sim_disk_stall(&bench.disk, true);
    sim_engine_run(&bench.engine, begin + GMC_MS(100));
    assert_int_equal(bench.count, 0);
    sim_disk_stall(&bench.disk, false);
    settle(&bench);
    assert_int_equal(bench.count, 4);
    bench.count = 0;
    begin = bench.engine.now;
    for (int i = 0; i < 4; i++) {
        struct gmc_store_op op = new_op(&bench, GMC_STORE_READ);
        op.data = buffers[i];
        op.len = BLOCK;
        sim_disk_submit(&bench.disk, &op);
    }
    settle(&bench);
    for (uint64_t i = 0; i < 4; i++)
        assert_in_range(bench.at[i], begin + GMC_MS(3 + i), begin + GMC_MS(3 + i) + 1);
    bench_fini(&bench);
}

/* What waits is transferred at the rate that the disk has then. */
static void test_rate_changes(void **state)
{
    (void)state;
    struct bench bench;
    uint8_t buffers[4][BLOCK];
    struct sim_disk_config config = {.latency = GMC_MS(2), .jitter = 1, .rate_bps = 524288000};
    bench_init(&bench, &(struct sim_disk_config){0}, 1);
    open_object(&bench);
    sim_disk_configure(&bench.disk, &config);
    bench.count = 0;
    gmc_time begin = bench.engine.now;
    for (int i = 0; i < 4; i++) {
        struct gmc_store_op op = new_op(&bench, GMC_STORE_READ);
        op.data = buffers[i];
        op.len = BLOCK; /* 1 ms each */
        sim_disk_submit(&bench.disk, &op);
    }
    /* Half of the first, then ten times slower for 10 ms, then without a limit. */
    sim_engine_run(&bench.engine, begin + GMC_US(500));
    config.rate_bps /= 10;
    sim_disk_configure(&bench.disk, &config);
    sim_engine_run(&bench.engine, begin + GMC_US(10500));
    config.rate_bps = 0;
    sim_disk_configure(&bench.disk, &config);
    settle(&bench);
    assert_int_equal(bench.count, 4);
    assert_in_range(bench.at[0], begin + GMC_US(7500), begin + GMC_US(7500) + 2);
    for (int i = 1; i < 4; i++)
        assert_in_range(bench.at[i], begin + GMC_US(12500), begin + GMC_US(12500) + 2);
    bench_fini(&bench);
}

static void save(struct bench *bench, const char *name, const char *text)
{
    struct gmc_store_op op = new_op(bench, GMC_STORE_SAVE);
    op.name = name;
    op.bytes = gmc_bytes_of_text(text);
    assert_ok(perform(bench, op)->status);
}

static void test_kill_keeps_what_was_answered(void **state)
{
    (void)state;
    struct bench bench;
    uint8_t buffer[BLOCK];
    bench_init(&bench, &(struct sim_disk_config){0}, 1);
    open_object(&bench);
    write_blocks(&bench, 0, 1);
    assert_ok(perform_kind(&bench, GMC_STORE_LAYOUT));
    write_blocks(&bench, 1, 4);
    save(&bench, "have", "first");
    save(&bench, "have", "second");
    save(&bench, "record", "r");
    bench.count = 0;
    struct gmc_store_op op = write_op(&bench, 5, buffer);
    sim_disk_submit(&bench.disk, &op);
    sim_disk_crash(&bench.disk, SIM_CRASH_KILL);
    settle(&bench);
    assert_int_equal(bench.count, 0); /* nobody is there to be answered */
    const struct sim_store *store = sim_disk_store(&bench.disk, &bench.key);
    for (uint32_t b = 0; b < 4; b++)
        assert_int_equal(sim_store_block(store, b), SIM_BLOCK_GOOD);
    assert_int_equal(sim_disk_saved_count(&bench.disk), 2);
    struct gmc_saved saved;
    sim_disk_saved(&bench.disk, 0, &saved);
    assert_string_equal(saved.name, "have");
    assert_memory_equal(saved.bytes.data, "second", 6);
    assert_int_equal(perform_kind(&bench, GMC_STORE_SYNC), GMC_ERR_STATE); /* to be opened again */
    bench_fini(&bench);
}

static void test_power_loss_keeps_what_was_synced(void **state)
{
    (void)state;
    bool lost = false, torn = false, kept = false;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct bench bench;
        bench_init(&bench, &(struct sim_disk_config){0}, seed);
        open_object(&bench);
        write_blocks(&bench, 0, 1);
        assert_ok(perform_kind(&bench, GMC_STORE_LAYOUT));
        write_blocks(&bench, 1, 5);
        assert_ok(perform_kind(&bench, GMC_STORE_SYNC));
        write_blocks(&bench, 5, 12);
        save(&bench, "have", "x");
        sim_disk_crash(&bench.disk, SIM_CRASH_POWER);
        const struct sim_store *store = sim_disk_store(&bench.disk, &bench.key);
        for (uint32_t b = 0; b < 12; b++) {
            enum sim_block_content content = sim_store_block(store, b);
            if (b < 5)
                assert_int_equal(content, SIM_BLOCK_GOOD);
            lost = lost || content == SIM_BLOCK_NONE;
            torn = torn || content == SIM_BLOCK_OTHER;
            kept = kept || (b >= 5 && content == SIM_BLOCK_GOOD);
        }
        assert_int_equal(sim_disk_saved_count(&bench.disk), 1);
        bench_fini(&bench);
    }
    assert_true(lost && torn && kept);
}

static void test_source(void **state)
{
    (void)state;
    struct bench bench;
    uint8_t buffer[1000], expected[1000];
    const char *paths[] = {"sim:9:1000000"};
    bench_init(&bench, &(struct sim_disk_config){0}, 1);
    struct gmc_store_op op = new_op(&bench, GMC_STORE_SCAN);
    op.paths = paths;
    op.path_count = 1;
    const struct gmc_store_result *result = perform(&bench, op);
    assert_ok(result->status);
    assert_int_equal(result->total_bytes, 1000000);
    struct gmc_store_op read = new_op(&bench, GMC_STORE_READ);
    read.offset = BLOCK + 5;
    read.data = buffer;
    read.len = sizeof(buffer);
    result = perform(&bench, read);
    assert_ok(result->status);
    toy_hash(buffer, sizeof(buffer), expected);
    assert_memory_equal(result->hash, expected, GMC_HASH_BYTES);
    struct sim_object *object = sim_objects_get(&bench.objects, &bench.key);
    assert_true(sim_object_is(object, BLOCK + 5, buffer, sizeof(buffer)));
    buffer[999] ^= 1;
    assert_false(sim_object_is(object, BLOCK + 5, buffer, sizeof(buffer)));
    sim_disk_crash(&bench.disk, SIM_CRASH_POWER);
    assert_ok(perform_kind(&bench, GMC_STORE_REOPEN));
    bench.disk.source_changed = true;
    read.ticket = ++bench.tickets;
    assert_int_equal(perform(&bench, read)->status, GMC_ERR_CHANGED);
    paths[0] = "/etc/passwd";
    op.ticket = ++bench.tickets;
    assert_int_equal(perform(&bench, op)->status, GMC_ERR_NOT_FOUND);
    assert_int_equal(bench.violations, 0);
    bench_fini(&bench);
}

/* Any split of a range gives the same bytes, and padding is zero. */
static void test_object_ranges(void **state)
{
    (void)state;
    struct sim_object object;
    assert_true(sim_object_parse("sim:1:300000", &object));
    size_t space = (size_t)sim_object_space(&object);
    uint8_t *whole = malloc(space), *parts = malloc(space);
    struct gmc_prng prng;
    gmc_prng_init(&prng, 4);
    sim_object_fill(&object, 0, whole, space);
    for (size_t at = 0, len; at < space; at += len) {
        len = 1 + gmc_prng_below(&prng, 5000);
        len = len < space - at ? len : space - at;
        sim_object_fill(&object, at, parts + at, len);
    }
    assert_memory_equal(whole, parts, space);
    for (size_t at = (size_t)object.listing_bytes; at < BLOCK; at++)
        assert_int_equal(whole[at], 0);
    assert_false(sim_object_parse("sim:1", &object));
    assert_false(sim_object_parse("sim:1:2:3", &object));
    free(whole);
    free(parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_transfer),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_full_disk_and_planted_failures),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_rate_changes),
        cmocka_unit_test(test_kill_keeps_what_was_answered),
        cmocka_unit_test(test_power_loss_keeps_what_was_synced),
        cmocka_unit_test(test_source),
        cmocka_unit_test(test_object_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
