/* SPDX-License-Identifier: BSD-2-Clause */
/* The data path allocates per block and never per datagram: counts calls of the allocator (wrapped
 * by the linker) that happen inside the composition while a relay tree is in full flow. */
#include <stdlib.h>

#include "core/gateway.h"
#include "tests/lib/toynet.h"
#include "tests/lib/unit.h"

#define BYTES (64u << 20)
#define PER_BLOCK_MAX 8

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
gmc_status __real_gmc_gateway_on_datagram(struct gmc_gateway *gw, gmc_time now,
                                          const struct gmc_dgram_in *in);
bool __real_gmc_gateway_next_output(struct gmc_gateway *gw, struct gmc_output *out);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
gmc_status __wrap_gmc_gateway_on_datagram(struct gmc_gateway *gw, gmc_time now,
                                          const struct gmc_dgram_in *in);
bool __wrap_gmc_gateway_next_output(struct gmc_gateway *gw, struct gmc_output *out);

static bool counting; /* inside the composition */
static bool steady;   /* set-up and end are not counted */
static uint64_t allocations, datagrams_in, datagrams_out, allocating_calls;

static void count(void)
{
    if (counting && steady)
        allocations++;
}

void *__wrap_malloc(size_t size)
{
    count();
    return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    count();
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    count();
    return __real_realloc(memory, size);
}

gmc_status __wrap_gmc_gateway_on_datagram(struct gmc_gateway *gw, gmc_time now,
                                          const struct gmc_dgram_in *in)
{
    uint64_t before = allocations;
    counting = true;
    gmc_status status = __real_gmc_gateway_on_datagram(gw, now, in);
    counting = false;
    datagrams_in += steady;
    allocating_calls += allocations != before;
    return status;
}

bool __wrap_gmc_gateway_next_output(struct gmc_gateway *gw, struct gmc_output *out)
{
    uint64_t before = allocations;
    counting = true;
    bool more = __real_gmc_gateway_next_output(gw, out);
    counting = false;
    datagrams_out += steady && more && out->kind == GMC_OUT_DATAGRAM;
    allocating_calls += allocations != before;
    return more;
}

/* A quarter of the object has arrived: caches, rings and tables have their size. */
static void run_to_quarter(struct toynet *net, const struct gmc_channel_key *key, size_t node,
                           uint64_t quarter)
{
    struct gmc_channel_info info = {0};
    while (!toynet_channel(net, node, key, &info) || info.bytes < quarter * (BYTES / 4)) {
        assert_true(toynet_now(net) < TOYNET_START + GMC_S(60));
        toynet_run_until(net, toynet_now(net) + GMC_MS(5));
    }
}

static void test_no_allocation_per_datagram(void **state)
{
    (void)state;
    struct toynet_config config = {.seed = 7,
                                   .delay = GMC_MS(5),
                                   .listing_bytes = 100,
                                   .total_bytes = BYTES,
                                   .fixed_rate_bps = 400000000,
                                   .cache_bytes = 16u << 20,
                                   .patience = GMC_S(5),
                                   .node = {.store_delay = GMC_US(200), .loss_ppm = 10000}};
    struct toynet *net = toynet_new(&config, 4);
    struct gmc_channel_key key;
    assert_int_equal(toynet_stage(net, 0, 14, GMC_TREE_CHAIN, &key), GMC_OK);
    run_to_quarter(net, &key, 3, 1);
    steady = true;
    run_to_quarter(net, &key, 3, 3);
    steady = false;
    /* Three receivers' blocks, over half of the object. */
    uint64_t blocks = 3 * (uint64_t)(BYTES / 2 / 65536);
    print_message(
        "%llu datagrams in, %llu out, %llu blocks: %llu allocations (%.1f per block, %.3f "
        "per datagram), in %llu calls\n",
        (unsigned long long)datagrams_in, (unsigned long long)datagrams_out,
        (unsigned long long)blocks, (unsigned long long)allocations,
        (double)allocations / (double)blocks,
        (double)allocations / (double)(datagrams_in + datagrams_out),
        (unsigned long long)allocating_calls);
    assert_true(datagrams_in > 30 * blocks);
    assert_true(allocations < PER_BLOCK_MAX * blocks);
    toynet_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_allocation_per_datagram)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
