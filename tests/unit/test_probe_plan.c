/* SPDX-License-Identifier: BSD-2-Clause */
/* Large groups: the pairs that are measured, against a search without short cuts, and the eco tree
 * over a list of links, against the one over all of them. */
#include "tests/lib/unit.h"

#include <string.h>

#include "base/prng.h"
#include "core/probe_plan.h"
#include "core/tree.h"
#include "core/tree_sparse.h"

#define N 60
#define COLUMNS 5
#define NEAR 7

static void draw_marks(uint64_t *latency, struct gmc_prng *prng, uint64_t range, bool holes)
{
    for (size_t i = 0; i < (size_t)N * COLUMNS; i++) {
        bool hole = gmc_prng_below(prng, 10) == 0;
        uint64_t drawn = gmc_prng_below(prng, range);
        latency[i] = holes && hole ? GMC_LATENCY_UNKNOWN : drawn;
    }
}

static uint64_t plain_bound(const uint64_t *a, const uint64_t *b)
{
    uint64_t bound = 0;
    for (size_t i = 0; i < COLUMNS; i++) {
        uint64_t apart = a[i] < b[i] ? b[i] - a[i] : a[i] - b[i];
        bool known = a[i] != GMC_LATENCY_UNKNOWN && b[i] != GMC_LATENCY_UNKNOWN;
        if (known && apart > bound)
            bound = apart;
    }
    return bound;
}

static bool is_nearer(const uint64_t *latency, int32_t v, int32_t u)
{
    uint64_t far_v = latency[v * COLUMNS], far_u = latency[u * COLUMNS];
    return far_v != far_u ? far_v < far_u : v < u;
}

/* How many of those nearer to the source look better for u than v does. */
static size_t place_of(const uint64_t *latency, int32_t u, int32_t v)
{
    uint64_t mine = plain_bound(&latency[u * COLUMNS], &latency[v * COLUMNS]);
    size_t place = 0;
    for (int32_t w = 1; w < N; w++) {
        uint64_t bound = plain_bound(&latency[u * COLUMNS], &latency[w * COLUMNS]);
        if (w != u && is_nearer(latency, w, u) && (bound < mine || (bound == mine && w < v)))
            place++;
    }
    return place;
}

static void check_plan(const uint64_t *latency)
{
    struct gmc_probe_marks marks = {.n = N, .columns = COLUMNS, .latency = latency};
    int32_t near[N * NEAR];
    assert_int_equal(gmc_probe_plan(&marks, NEAR, near), GMC_OK);
    for (int32_t u = 1; u < N; u++) {
        size_t nearer = 0;
        for (int32_t v = 1; v < N; v++)
            nearer += v != u && is_nearer(latency, v, u);
        for (size_t i = 0; i < NEAR; i++) {
            int32_t v = near[(size_t)u * NEAR + i];
            if (i >= nearer) {
                assert_int_equal(v, -1);
                continue;
            }
            assert_true(v > 0 && v < N && is_nearer(latency, v, u));
            assert_int_equal(place_of(latency, u, v), i);
        }
    }
    for (size_t i = 0; i < NEAR; i++)
        assert_int_equal(near[i], -1); /* the source measures nobody */
}

static void test_plan_finds_the_nearest(void **state)
{
    (void)state;
    uint64_t latency[N * COLUMNS];
    struct gmc_prng prng;
    gmc_prng_init(&prng, 5);
    for (int round = 0; round < 200; round++) {
        /* Small ranges give ties. */
        draw_marks(latency, &prng, round % 2 == 0 ? 8 : 100000000, round % 4 >= 2);
        check_plan(latency);
    }
}

static void test_plan_of_few(void **state)
{
    (void)state;
    const uint64_t latency[] = {0, 5, 9};
    int32_t near[3 * 2];
    struct gmc_probe_marks marks = {.n = 0, .columns = 1, .latency = latency};
    assert_int_equal(gmc_probe_plan(&marks, 2, near), GMC_ERR_INVALID);
    marks.n = 3;
    assert_int_equal(gmc_probe_plan(&marks, 2, near), GMC_OK);
    const int32_t expected[] = {-1, -1, -1, -1, 1, -1};
    assert_memory_equal(near, expected, sizeof(expected));
    marks.columns = 0;
    assert_int_equal(gmc_probe_plan(&marks, 2, near), GMC_ERR_INVALID);
}

/* ---- the tree ---- */
static void draw_graph(uint64_t *latency, struct gmc_prng *prng, uint64_t range)
{
    memset(latency, 0, sizeof(*latency) * N * N);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < i; j++) {
            uint64_t drawn = 1 + gmc_prng_below(prng, range);
            if (j > 0 && gmc_prng_below(prng, 12) == 0)
                drawn = GMC_LATENCY_UNKNOWN; /* all hear the source */
            latency[i * N + j] = latency[j * N + i] = drawn;
        }
    }
}

static void test_tree_of_all_links(void **state)
{
    (void)state;
    static uint64_t latency[N * N], far[N];
    static struct gmc_tree_link links[N * N];
    struct gmc_prng prng;
    gmc_prng_init(&prng, 6);
    for (int round = 0; round < 100; round++) {
        int32_t expected[N * GMC_TREE_STRIPES_MAX], parent[N];
        uint32_t stripes;
        size_t count = 0;
        draw_graph(latency, &prng, round % 2 == 0 ? 6 : 100000000);
        for (int32_t i = 0; i < N; i++) {
            far[i] = latency[i * N];
            for (int32_t j = 1; j < i; j++)
                links[count++] = (struct gmc_tree_link){i, j, latency[i * N + j]};
        }
        struct gmc_tree_graph graph = {.n = N, .latency = latency};
        struct gmc_tree_sparse sparse = {.n = N,
                                         .from_source = far,
                                         .links = links,
                                         .link_count = count};
        assert_int_equal(gmc_tree_ops(GMC_TREE_ECO)->build(&graph, expected, &stripes), GMC_OK);
        assert_int_equal(gmc_tree_eco_sparse(&sparse, parent), GMC_OK);
        assert_memory_equal(parent, expected, sizeof(parent));
        assert_int_equal(gmc_tree_check(parent, N), GMC_OK);
    }
}

static void test_tree_of_no_links(void **state)
{
    (void)state;
    const uint64_t far[] = {0, 10, 20};
    const struct gmc_tree_link bad[] = {{1, 0, 5}};
    int32_t parent[3];
    struct gmc_tree_sparse graph = {.n = 3, .from_source = far};
    assert_int_equal(gmc_tree_eco_sparse(&graph, parent), GMC_OK);
    assert_int_equal(parent[0], -1);
    assert_int_equal(parent[1] + parent[2], 0);
    graph.links = bad;
    graph.link_count = 1;
    assert_int_equal(gmc_tree_eco_sparse(&graph, parent), GMC_ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_finds_the_nearest),
        cmocka_unit_test(test_plan_of_few),
        cmocka_unit_test(test_tree_of_all_links),
        cmocka_unit_test(test_tree_of_no_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
