/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests the shape bulk and the prediction: a table per rule, how near random uplinks come to the
 * bound beside a plain chain, and that no uplink is given more than it has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "core/tree.h"
#include "core/tree_predict.h"

#define N_MAX 64
#define PARENTS_MAX (N_MAX * GMC_TREE_STRIPES_MAX)
#define UNKNOWN GMC_LATENCY_UNKNOWN
#define MBIT UINT64_C(1000000)

struct graph {
    uint64_t latency[N_MAX * N_MAX];
    uint32_t loss[N_MAX * N_MAX];
    uint64_t path[N_MAX * N_MAX];
    uint64_t uplink[N_MAX], downlink[N_MAX];
    struct gmc_tree_graph view;
};

/* All round trips alike, no rate known. */
static void graph_init(struct graph *g, size_t n, uint64_t rtt, uint64_t bytes)
{
    memset(g, 0, sizeof(*g));
    for (size_t i = 0; i < n * n; i++)
        g->latency[i] = i % (n + 1) == 0 ? 0 : rtt;
    g->view = (struct gmc_tree_graph){.n = n,
                                      .latency = g->latency,
                                      .uplink_bps = g->uplink,
                                      .downlink_bps = g->downlink,
                                      .bytes = bytes};
}

/* "1-2:20": both directions, ms. "1-2:x": not heard. */
static void graph_links(struct graph *g, const char *links)
{
    while (*links != '\0') {
        char *end;
        size_t a = strtoul(links, &end, 10);
        size_t b = strtoul(end + 1, &end, 10);
        uint64_t latency = end[1] == 'x' ? UNKNOWN : GMC_MS(strtoul(end + 1, &end, 10));

        g->latency[a * g->view.n + b] = g->latency[b * g->view.n + a] = latency;
        links = end + strcspn(end, " ");
        links += strspn(links, " ");
    }
}

/* One number per gateway, Mbit/s; 0: not known. */
static void rates(uint64_t *out, size_t n, const char *text)
{
    for (size_t i = 0; i < n && text != NULL; i++) {
        char *end;

        out[i] = strtoul(text, &end, 10) * MBIT;
        text = end;
    }
}

static uint32_t build(const struct graph *g, enum gmc_tree_shape shape, int32_t *parent,
                      struct gmc_tree_prediction *p)
{
    uint32_t stripes;

    assert_int_equal(gmc_tree_ops(shape)->build(&g->view, parent, &stripes), GMC_OK);
    for (uint32_t k = 0; k < stripes; k++)
        assert_int_equal(gmc_tree_check(parent + k * g->view.n, g->view.n), GMC_OK);
    assert_int_equal(gmc_tree_predict(&g->view, parent, stripes, p), GMC_OK);
    return stripes;
}

/* ---- the rules, under the numbers of tree_bulk.c ---- */
static const struct {
    const char *rule;
    size_t n;
    const char *uplinks, *downlinks; /* Mbit/s */
    const char *links;               /* where they are not 20 ms */
    uint64_t bytes;
    uint32_t stripes;
    uint64_t rate;       /* Mbit/s */
    const char *parents; /* of the first stripe; NULL: any */
} rules[] = {
    {"K1 the source alone", 1, "5", NULL, "", 1, 1, 0, "-1"},
    {"K0 no uplink is known", 4, NULL, NULL, "", 1000000000, 1, 33, "-1 0 0 0"},
    {"K0 nor is it where it is said to be unknown", 4, "0 0 0 0", NULL, "2-3:1", 1000000000, 1, 50,
     "-1 0 0 2"},
    {"K2 who is not known counts as the smallest", 4, "10 0 0 10", NULL, "", 1000000000, 1, 10,
     "-1 0 1 2"},
    {"K2 slots are whole", 4, "100 199 0 0", NULL, "", 1000000000, 1, 100, "-1 0 1 2"},
    {"K3 the source sends one copy", 4, "100 300 10 10", NULL, "", 1000000000, 1, 100, "-1 0 1 1"},
    {"K3 the fast source feeds all", 4, "1000 10 10 10", NULL, "", 1000000000, 1, 333, "-1 0 0 0"},
    {"K3 a downlink leaves slots over", 5, "100 40 10 10 10", "0 0 0 20 0", "", 1000000000, 1, 20,
     NULL},
    {"K4 stripes share what one tree cannot", 3, "150 75 75", NULL, "", 1000000000, 2, 150, NULL},
    {"K5 the slow one is no relay though it is the nearest", 4, "100 10 100 100", NULL,
     "0-1:1 1-2:1 1-3:1", 1000000000, 1, 100, "-1 3 0 2"},
    {"K6 near ones feed each other", 5, "100 100 100 100 100", NULL,
     "0-1:10 0-2:100 0-3:50 0-4:101 1-3:45 1-2:95 1-4:95 3-2:90 3-4:90 2-4:2", 1000000000, 1, 100,
     "-1 0 3 1 2"},
    {"K6 not over a link that is silent", 4, "200 100 100 100", "0 100 100 100", "1-2:x 2-3:5",
     1000000000, 1, 100, "-1 0 0 2"},
    {"K6 who hears nobody hangs on the source", 3, "100 100 100", NULL, "0-2:x 1-2:x", 1000000000,
     1, 50, "-1 0 0"},
    {"K7 a small object needs no depth", 6, "100 100 100 100 100 100", NULL, "", 1000, 1, 20,
     "-1 0 0 0 0 0"},
    {"K7 more stripes have to be worth it", 3, "100 98 98", NULL, "", 1000000000, 1, 98, NULL},
};

static void every_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        struct gmc_tree_prediction p;
        int32_t parent[PARENTS_MAX];
        struct graph g;
        const char *want = rules[i].parents;

        print_message("%s\n", rules[i].rule);
        graph_init(&g, rules[i].n, GMC_MS(20), rules[i].bytes);
        graph_links(&g, rules[i].links);
        rates(g.uplink, rules[i].n, rules[i].uplinks);
        rates(g.downlink, rules[i].n, rules[i].downlinks);
        uint32_t stripes = build(&g, GMC_TREE_BULK, parent, &p);
        assert_int_equal(stripes, rules[i].stripes);
        assert_int_equal(p.rate_bps / MBIT, rules[i].rate);
        for (size_t u = 0; want != NULL && u < rules[i].n; u++) {
            char *end;

            assert_int_equal(parent[u], strtol(want, &end, 10));
            want = end;
        }
    }
}

/* ---- random uplinks against the bound ---- */

/* Between least and most, at equal chances per factor; no libm, so that machines agree. */
static uint64_t log_uniform(struct gmc_prng *prng, uint64_t least, uint64_t most)
{
    for (;;) {
        uint64_t rate = least;
        uint64_t steps = gmc_prng_below(prng, 64);
        uint64_t fine = gmc_prng_below(prng, 746);

        for (uint64_t i = 0; i < steps; i++)
            rate = rate * 10746 / 10000;
        rate = rate * (10000 + fine) / 10000;
        if (rate <= most)
            return rate;
    }
}

static void graph_random(struct graph *g, struct gmc_prng *prng)
{
    size_t n = 5 + gmc_prng_below(prng, 46);

    graph_init(g, n, GMC_MS(30), UINT64_C(1000000000));
    for (size_t i = 0; i < n; i++) {
        g->uplink[i] = log_uniform(prng, 10 * MBIT, 1000 * MBIT);
        g->downlink[i] = 1000 * MBIT;
        for (size_t j = 0; j < i; j++)
            g->latency[i * n + j] = g->latency[j * n + i] = GMC_MS(2 + gmc_prng_below(prng, 80));
    }
}

/* No uplink carries more than it has at the rate that is predicted; one carries all that it has. */
static void uplinks_are_kept(const struct graph *g, const int32_t *parent, uint32_t stripes,
                             const struct gmc_tree_prediction *p)
{
    uint64_t children[N_MAX] = {0};
    size_t n = g->view.n;

    for (size_t i = 0; i < n * stripes; i++)
        if (parent[i] >= 0)
            children[parent[i]]++;
    for (size_t i = 0; i < n; i++)
        assert_true(children[i] * p->rate_bps <= stripes * g->uplink[i]);
    assert_in_range(children[0], stripes, UINT32_MAX);
    if (p->limit == GMC_TREE_LIMIT_UPLINK)
        assert_true(children[p->at] * (p->rate_bps + 1) > stripes * g->uplink[p->at]);
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* ---- late ones, under the numbers of tree_bulk_late.c ---- */
static const struct {
    const char *rule;
    size_t n; /* the last one is late */
    const char *uplinks, *links;
    uint32_t stripes;
    const char *trees; /* the present ones, "-1 0 ..." each */
    const char *chosen;
} late_rows[] = {
    {"L0 without any uplink the nearest, as eco", 4, NULL, "1-3:1", 1, "-1 0 1 0", "1"},
    {"L2 not the nearest but who has a slot left", 4, "100 100 100 100", "1-3:1", 1, "-1 0 1 0",
     "2"},
    {"L2 the nearest of those that have", 4, "100 200 100 100", "1-3:1", 1, "-1 0 1 0", "1"},
    {"L2 the source, which is near and has", 4, "200 100 100 100", "", 1, "-1 0 1 0", "0"},
    {"L2 a slot of one stripe is none of the next", 4, "200 200 100 10", "", 2, "-1 0 1 0 -1 2 0 0",
     "1 0"},
    {"L3 who is harmed least", 4, "100 90 30 100", "2-3:1", 1, "-1 0 1 0", "0"},
    {"L4 not one that is silent", 4, "100 100 100 100", "2-3:x", 1, "-1 0 1 0", "0"},
    {"L4 who hears nobody", 3, "100 100 100", "0-2:x 1-2:x", 1, "-1 0 0", "0"},
};

static void every_late_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(late_rows) / sizeof(late_rows[0]); i++) {
        int32_t parent[PARENTS_MAX], chosen[GMC_TREE_STRIPES_MAX];
        char *trees = (char *)(uintptr_t)late_rows[i].trees,
             *want = (char *)(uintptr_t)late_rows[i].chosen;
        struct graph g;

        print_message("%s\n", late_rows[i].rule);
        graph_init(&g, late_rows[i].n, GMC_MS(20), 1000000000);
        graph_links(&g, late_rows[i].links);
        rates(g.uplink, late_rows[i].n, late_rows[i].uplinks);
        for (size_t k = 0; k < late_rows[i].stripes * late_rows[i].n; k++)
            parent[k] = (int32_t)strtol(trees, &trees, 10);
        assert_int_equal(gmc_tree_bulk_attach(&g.view, parent, late_rows[i].stripes,
                                              (int32_t)late_rows[i].n - 1, chosen),
                         GMC_OK);
        for (uint32_t k = 0; k < late_rows[i].stripes; k++)
            assert_int_equal(chosen[k], strtol(want, &want, 10));
    }
}

static void nonsense_of_late_ones(void **state)
{
    const int32_t parent[] = {-1, 2, 1, 0};
    int32_t chosen[GMC_TREE_STRIPES_MAX];
    struct graph g;

    (void)state;
    graph_init(&g, 4, GMC_MS(20), 1000000000);
    rates(g.uplink, 4, "100 100 100 100");
    assert_int_equal(gmc_tree_bulk_attach(&g.view, parent, 1, 0, chosen), GMC_ERR_INVALID);
    assert_int_equal(gmc_tree_bulk_attach(&g.view, parent, 1, 4, chosen), GMC_ERR_INVALID);
    assert_int_equal(gmc_tree_bulk_attach(&g.view, parent, 0, 3, chosen), GMC_ERR_INVALID);
    assert_int_equal(gmc_tree_bulk_attach(&g.view, parent, 9, 3, chosen), GMC_ERR_INVALID);
    /* Two that feed each other are not in the tree. */
    assert_int_equal(gmc_tree_bulk_attach(&g.view, parent, 1, 3, chosen), GMC_OK);
    assert_int_equal(chosen[0], 0);
}

#define SETS 50

/* The predicted completion, paths included, beside the bound, in thousandths. */
static void near_the_bound(void **state)
{
    uint64_t bulk[SETS], chain[SETS];
    struct gmc_prng prng;

    (void)state;
    gmc_prng_init(&prng, 7);
    for (unsigned set = 0; set < SETS; set++) {
        struct gmc_tree_prediction p;
        int32_t parent[PARENTS_MAX];
        struct graph g;

        graph_random(&g, &prng);
        uint32_t stripes = build(&g, GMC_TREE_BULK, parent, &p);
        uplinks_are_kept(&g, parent, stripes, &p);
        bulk[set] = p.bound * 1000 / p.time;
        build(&g, GMC_TREE_CHAIN, parent, &p);
        chain[set] = p.bound * 1000 / p.time;
        assert_true(bulk[set] >= chain[set]);
    }
    qsort(bulk, SETS, sizeof(bulk[0]), by_size);
    qsort(chain, SETS, sizeof(chain[0]), by_size);
    print_message("of the bound: bulk median 0.%03lu worst 0.%03lu, chain median 0.%03lu worst "
                  "0.%03lu\n",
                  (unsigned long)bulk[SETS / 2], (unsigned long)bulk[0],
                  (unsigned long)chain[SETS / 2], (unsigned long)chain[0]);
    assert_in_range(bulk[SETS / 2], 900, 1000);
    assert_in_range(bulk[0], 750, 1000);
}

/* Relays take turns: with equal uplinks, stripes are shallow where one tree would be a chain. */
static void many_equal_uplinks(void **state)
{
    struct gmc_tree_prediction p;
    int32_t parent[PARENTS_MAX];
    struct graph g;

    (void)state;
    graph_init(&g, N_MAX, GMC_MS(100), UINT64_C(100000000));
    rates(g.uplink, 1, "100");
    uint32_t stripes = build(&g, GMC_TREE_BULK, parent, &p);
    assert_in_range(stripes, 2, GMC_TREE_STRIPES_MAX);
    assert_int_equal(p.rate_bps, 100 * MBIT);
    assert_in_range(p.time, GMC_S(8), GMC_MS(9500));
}

/* ---- the prediction, under the numbers of tree_predict.h ---- */
static const struct {
    const char *rule;
    size_t n;
    const char *uplinks, *downlinks, *parents;
    uint32_t stripes;
    uint64_t rate; /* Mbit/s */
    enum gmc_tree_limit limit;
    int32_t at;
    uint32_t copies;
    uint64_t time_ms, bound_ms; /* 100 MB, round trips of 20 ms */
    bool assumed;
} predictions[] = {
    {"P1 three copies", 4, "90 9 9 9", NULL, "-1 0 0 0", 1, 30, GMC_TREE_LIMIT_UPLINK, 0, 3, 26706,
     20512, false},
    {"P1 a relay", 4, "90 20 9 9", NULL, "-1 0 1 1", 1, 10, GMC_TREE_LIMIT_UPLINK, 1, 2, 80100,
     18750, false},
    {"P1 two stripes", 3, "150 75 75", NULL, "-1 0 1 -1 2 0", 2, 150, GMC_TREE_LIMIT_UPLINK, 0, 2,
     5433, 5333, false},
    {"P2 a downlink", 3, "90 90 90", "0 0 20", "-1 0 1", 1, 20, GMC_TREE_LIMIT_DOWNLINK, 2, 0,
     40100, 40000, false},
    {"P2 an uplink that is not known", 3, "90 0 0", NULL, "-1 0 0", 1, 45, GMC_TREE_LIMIT_UPLINK, 0,
     2, 17817, 8888, false},
    {"P2 none is known", 3, NULL, NULL, "-1 0 1", 1, 100, GMC_TREE_LIMIT_UPLINK, 0, 1, 8160, 8000,
     true},
    {"P3 links double side by side", 5, "100 0 0 0 0", NULL, "-1 0 1 2 3", 1, 100,
     GMC_TREE_LIMIT_UPLINK, 0, 1, 8180, 8000, false},
    {"P3 the source alone", 1, "5", NULL, "-1", 1, 0, GMC_TREE_LIMIT_NONE, -1, 0, 0, 0, false},
};

static void every_prediction(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(predictions) / sizeof(predictions[0]); i++) {
        struct gmc_tree_prediction p;
        int32_t parent[PARENTS_MAX];
        const char *text = predictions[i].parents;
        struct graph g;

        print_message("%s\n", predictions[i].rule);
        graph_init(&g, predictions[i].n, GMC_MS(20), UINT64_C(100000000));
        rates(g.uplink, g.view.n, predictions[i].uplinks);
        rates(g.downlink, g.view.n, predictions[i].downlinks);
        for (size_t u = 0; u < g.view.n * predictions[i].stripes; u++) {
            char *end;

            parent[u] = (int32_t)strtol(text, &end, 10);
            text = end;
        }
        assert_int_equal(gmc_tree_predict(&g.view, parent, predictions[i].stripes, &p), GMC_OK);
        assert_int_equal(p.rate_bps / MBIT, predictions[i].rate);
        assert_int_equal(p.limit, predictions[i].limit);
        assert_int_equal(p.at, predictions[i].at);
        assert_int_equal(p.copies, predictions[i].copies);
        assert_int_equal(p.assumed, predictions[i].assumed);
        assert_int_equal(p.time / GMC_MS(1), predictions[i].time_ms);
        assert_int_equal(p.bound / GMC_MS(1), predictions[i].bound_ms);
    }
}

/* P1, P2: what paths lose is sent again, over the uplink of the one end and the downlink of the
 * other. */
static const struct {
    const char *rule;
    uint32_t loss_ppm[3]; /* of the paths 0-1, 0-2 and 1-2 */
    const char *parents, *downlinks;
    uint32_t stripes;
    uint64_t cap, rate, sent; /* Mbit/s */
    enum gmc_tree_limit limit;
} lossy[] = {
    {"a chain", {0, 0, 200000}, "-1 0 1", NULL, 1, 0, 72, 90, GMC_TREE_LIMIT_UPLINK},
    {"a path that is not used",
     {0, 500000, 0},
     "-1 0 1",
     NULL,
     1,
     0,
     90,
     90,
     GMC_TREE_LIMIT_UPLINK},
    {"two copies, one path", {200000, 0, 0}, "-1 0 0", NULL, 1, 0, 40, 50, GMC_TREE_LIMIT_UPLINK},
    {"two stripes", {100000, 0, 0}, "-1 0 1 -1 2 0", NULL, 2, 0, 85, 95, GMC_TREE_LIMIT_UPLINK},
    {"a downlink", {0, 0, 500000}, "-1 0 1", "0 0 60", 1, 0, 30, 60, GMC_TREE_LIMIT_DOWNLINK},
    {"the cap", {0, 0, 100000}, "-1 0 1", NULL, 1, 20, 18, 20, GMC_TREE_LIMIT_CAP},
    {"nothing arrives", {1000000, 0, 0}, "-1 0 1", NULL, 1, 0, 9, 90, GMC_TREE_LIMIT_UPLINK},
};

static void losses_are_sent_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(lossy) / sizeof(lossy[0]); i++) {
        struct gmc_tree_prediction p;
        int32_t parent[PARENTS_MAX];
        const char *text = lossy[i].parents;
        struct graph g;

        print_message("%s\n", lossy[i].rule);
        graph_init(&g, 3, GMC_MS(20), UINT64_C(100000000));
        rates(g.uplink, 3, "90 90 90");
        rates(g.downlink, 3, lossy[i].downlinks);
        g.loss[1] = lossy[i].loss_ppm[0];
        g.loss[2] = lossy[i].loss_ppm[1];
        g.loss[5] = lossy[i].loss_ppm[2];
        g.view.loss_ppm = g.loss;
        g.view.cap_bps = lossy[i].cap * MBIT;
        for (size_t u = 0; u < 3 * lossy[i].stripes; u++) {
            char *end;

            parent[u] = (int32_t)strtol(text, &end, 10);
            text = end;
        }
        assert_int_equal(gmc_tree_predict(&g.view, parent, lossy[i].stripes, &p), GMC_OK);
        assert_int_equal((p.rate_bps + MBIT / 2) / MBIT, lossy[i].rate);
        assert_int_equal((p.sent_bps + MBIT / 2) / MBIT, lossy[i].sent);
        assert_int_equal(p.limit, lossy[i].limit);
    }
}

/* P2 and K6: paths that are known to be narrow. "a-b:20" from a to b, Mbit/s. */
static void graph_paths(struct graph *g, const char *paths)
{
    g->view.path_bps = g->path;
    while (*paths != '\0') {
        char *end;
        size_t a = strtoul(paths, &end, 10);
        size_t b = strtoul(end + 1, &end, 10);

        g->path[a * g->view.n + b] = strtoul(end + 1, &end, 10) * MBIT;
        paths = end + strspn(end, " ");
    }
}

/* What a wire loses is measured of each path over it for itself, and differs by chance: trees
 * that begin with the better ones are no better. Where uplinks differ they are. */
static void lossy_paths_share_a_wire(void **state)
{
    (void)state;
    struct gmc_tree_prediction p;
    int32_t parent[PARENTS_MAX];
    struct graph g;

    graph_init(&g, 7, GMC_MS(60), UINT64_C(100000000));
    rates(g.uplink, 7, "90 90 90 90 90 90 90");
    for (size_t i = 1; i < 7; i++)
        g.loss[i] = i % 2 == 1 ? 210000 : 180000;
    g.view.loss_ppm = g.loss;
    assert_int_equal(build(&g, GMC_TREE_BULK, parent, &p), 1);
    rates(g.uplink, 7, "90 90 10 90 10 90 10");
    assert_true(build(&g, GMC_TREE_BULK, parent, &p) > 1);
}

static void narrow_paths_hold_data_back(void **state)
{
    static const int32_t chain[] = {-1, 0, 1};
    static const int32_t twice[] = {-1, 0, 1, -1, 0, 1}, apart[] = {-1, 0, 1, -1, 0, 0};
    struct gmc_tree_prediction p;
    struct graph g;

    (void)state;
    graph_init(&g, 3, GMC_MS(20), UINT64_C(100000000));
    rates(g.uplink, 3, "200 200 200");
    graph_paths(&g, "1-2:20 2-1:1");
    assert_int_equal(gmc_tree_predict(&g.view, chain, 1, &p), GMC_OK);
    assert_int_equal(p.rate_bps, 20 * MBIT);
    assert_int_equal(p.limit, GMC_TREE_LIMIT_DOWNLINK);
    assert_int_equal(p.at, 2);
    assert_int_equal(gmc_tree_predict(&g.view, twice, 2, &p), GMC_OK);
    assert_int_equal(p.rate_bps, 20 * MBIT);
    assert_int_equal(gmc_tree_predict(&g.view, apart, 2, &p), GMC_OK);
    assert_int_equal(p.rate_bps, 40 * MBIT); /* it carries one stripe of two */
}

static void narrow_paths_are_avoided(void **state)
{
    struct gmc_tree_prediction p;
    int32_t parent[PARENTS_MAX];
    struct graph g;

    (void)state;
    graph_init(&g, 4, GMC_MS(20), UINT64_C(1000000000));
    rates(g.uplink, 4, "100 100 100 100");
    graph_links(&g, "2-3:5");
    assert_int_equal(build(&g, GMC_TREE_BULK, parent, &p), 1);
    assert_true(parent[3] == 2 || parent[2] == 3); /* near ones feed each other */
    graph_paths(&g, "2-3:10 3-2:10");
    (void)build(&g, GMC_TREE_BULK, parent, &p);
    assert_true(parent[3] != 2 && parent[2] != 3);
    assert_true(p.rate_bps >= 50 * MBIT); /* 100 by the one order in which it would do */
    /* Where all are narrow it is the widest. */
    graph_paths(&g, "0-3:10 1-3:30 2-3:10");
    g.view.stripes_max = 1;
    (void)build(&g, GMC_TREE_BULK, parent, &p);
    assert_int_equal(parent[3], 1);
    assert_int_equal(p.rate_bps, 30 * MBIT);
}

/* What several trees gain by uplinks that differ by a sixteenth may be chance. */
static void differences_by_chance_make_no_stripes(void **state)
{
    struct gmc_tree_prediction p;
    int32_t parent[PARENTS_MAX];
    struct graph g;

    (void)state;
    graph_init(&g, 8, GMC_MS(2), UINT64_C(1000000000));
    rates(g.uplink, 8, "106 100 106 104 103 105 100 101");
    assert_true(build(&g, GMC_TREE_BULK, parent, &p) > 1);
    g.view.doubt_percent = 12;
    assert_int_equal(build(&g, GMC_TREE_BULK, parent, &p), 1);
    rates(g.uplink, 8, "120 20 200 50 118 40 60 25");
    assert_true(build(&g, GMC_TREE_BULK, parent, &p) > 1);
}

/* 0 - 1 - 2 - 3 along a line. */
static void shared_wires_hold_data_back(void **state)
{
    static const int32_t twice[] = {-1, 3, 0, 0};
    struct gmc_tree_prediction p;
    int32_t parent[PARENTS_MAX];
    struct graph g;

    (void)state;
    graph_init(&g, 4, GMC_MS(20), UINT64_C(1000000000));
    rates(g.uplink, 4, "200 200 200 200");
    graph_links(&g, "0-2:40 0-3:60 1-3:40");
    assert_int_equal(gmc_tree_predict(&g.view, twice, 1, &p), GMC_OK);
    assert_int_equal(p.rate_bps, 100 * MBIT); /* nobody looks at ways */
    g.view.wire_bps = 100 * MBIT;
    assert_int_equal(gmc_tree_predict(&g.view, twice, 1, &p), GMC_OK);
    assert_int_equal(p.rate_bps, 50 * MBIT); /* two go from 1 to 2 */
    assert_int_equal(p.limit, GMC_TREE_LIMIT_DOWNLINK);
    assert_int_equal(p.at, 2);
    assert_int_equal(build(&g, GMC_TREE_BULK, parent, &p), 1);
    assert_int_equal(p.rate_bps, 200 * MBIT);
    for (int32_t i = 1; i < 4; i++)
        assert_int_equal(parent[i], i - 1);
}

static void prediction_refuses(void **state)
{
    struct gmc_tree_prediction p;
    int32_t parent[PARENTS_MAX] = {-1, 0};
    struct graph g;

    (void)state;
    graph_init(&g, 2, GMC_MS(1), 1);
    assert_int_equal(gmc_tree_predict(&g.view, parent, 0, &p), GMC_ERR_INVALID);
    assert_int_equal(gmc_tree_predict(&g.view, parent, GMC_TREE_STRIPES_MAX + 1, &p),
                     GMC_ERR_INVALID);
    g.view.n = 0;
    assert_int_equal(gmc_tree_predict(&g.view, parent, 1, &p), GMC_ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule),
        cmocka_unit_test(every_late_rule),
        cmocka_unit_test(nonsense_of_late_ones),
        cmocka_unit_test(near_the_bound),
        cmocka_unit_test(many_equal_uplinks),
        cmocka_unit_test(every_prediction),
        cmocka_unit_test(losses_are_sent_again),
        cmocka_unit_test(lossy_paths_share_a_wire),
        cmocka_unit_test(narrow_paths_hold_data_back),
        cmocka_unit_test(narrow_paths_are_avoided),
        cmocka_unit_test(differences_by_chance_make_no_stripes),
        cmocka_unit_test(shared_wires_hold_data_back),
        cmocka_unit_test(prediction_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
