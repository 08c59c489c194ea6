/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/tree: a table per rule, the published table for eco, and what has to hold for every
 * shape on any graph. */
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

#define N_MAX 48
#define UNKNOWN GMC_LATENCY_UNKNOWN

struct graph {
    uint64_t latency[N_MAX * N_MAX];
    uint64_t uplink[N_MAX];
    const char *names[N_MAX];
    char name_bytes[N_MAX][16];
    struct gmc_tree_graph view;
};

static void graph_init(struct graph *g, size_t n)
{
    for (size_t i = 0; i < n * n; i++)
        g->latency[i] = UNKNOWN;
    g->view = (struct gmc_tree_graph){.n = n, .latency = g->latency};
}

/* "0-1:20 1>2:7": between 0 and 1 both directions, from 1 to 2 this one only. */
static void graph_links(struct graph *g, const char *links)
{
    while (*links != '\0') {
        unsigned from, to;
        unsigned long long latency;
        int used = 0;
        char arrow;

        assert_int_equal(sscanf(links, "%u%c%u:%llu%n", &from, &arrow, &to, &latency, &used), 4);
        assert_in_range(from, 0, g->view.n - 1);
        assert_in_range(to, 0, g->view.n - 1);
        g->latency[from * g->view.n + to] = latency;
        if (arrow == '-')
            g->latency[to * g->view.n + from] = latency;
        links += used;
        links += strspn(links, " ");
    }
}

/* "s b a": one word per gateway; NULL: none. */
static void graph_names(struct graph *g, const char *names)
{
    if (names == NULL)
        return;
    for (size_t i = 0; i < g->view.n; i++) {
        size_t len = strcspn(names, " ");

        assert_in_range(len, 1, sizeof(g->name_bytes[0]) - 1);
        memcpy(g->name_bytes[i], names, len);
        g->name_bytes[i][len] = '\0';
        g->names[i] = g->name_bytes[i];
        names += len + (names[len] == ' ');
    }
    g->view.names = g->names;
}

/* Room for every stripe. */
#define PARENTS_MAX (N_MAX * GMC_TREE_STRIPES_MAX)

static uint32_t build(enum gmc_tree_shape shape, const struct graph *g, int32_t *parent)
{
    uint32_t stripes = 0;

    assert_int_equal(gmc_tree_ops(shape)->build(&g->view, parent, &stripes), GMC_OK);
    assert_in_range(stripes, 1, shape == GMC_TREE_BULK ? GMC_TREE_STRIPES_MAX : 1);
    return stripes;
}

static void parents_of(const char *text, size_t n, int32_t *parent)
{
    char *end;

    for (size_t i = 0; i < n; i++) {
        parent[i] = (int32_t)strtol(text, &end, 10);
        assert_ptr_not_equal(text, end);
        text = end;
    }
    assert_int_equal(*text, '\0');
}

/* ---- the rules, under the numbers that the sources give them ---- */

static const struct {
    const char *rule;
    enum gmc_tree_shape shape;
    size_t n;
    const char *links;
    const char *names;
    const char *parents;
} rules[] = {
    {"O1 the source alone", GMC_TREE_ECO, 1, "", NULL, "-1"},
    {"O2 by growing latency from the source", GMC_TREE_CHAIN, 4,
     "0-1:30 0-2:10 0-3:20 1-2:1 1-3:1 2-3:1", NULL, "-1 3 0 2"},
    {"O2 the smaller direction counts", GMC_TREE_CHAIN, 3, "0>1:30 1>0:9 0-2:10 1-2:5", NULL,
     "-1 0 1"},
    {"O3 who does not hear the source comes by its links", GMC_TREE_ECO, 4, "0-1:10 1-3:50 3-2:1",
     NULL, "-1 0 3 1"},
    {"O3 the cheapest link first", GMC_TREE_CHAIN, 4, "0-1:10 1-2:9 1-3:8 2-3:1", NULL, "-1 0 3 1"},
    {"O3 whose group nobody hears: the first of them", GMC_TREE_CHAIN, 4, "0-1:10 2-3:5", NULL,
     "-1 0 0 2"},
    {"O4 equal latency, by index", GMC_TREE_CHAIN, 3, "0-1:10 0-2:10 1-2:5", NULL, "-1 0 1"},
    {"O4 equal latency, by name", GMC_TREE_CHAIN, 3, "0-1:10 0-2:10 1-2:5", "s b a", "-1 2 0"},
    {"O4 the source's name does not matter", GMC_TREE_CHAIN, 3, "0-1:10 0-2:10 1-2:5", "z b a",
     "-1 2 0"},

    {"E1 nearest first", GMC_TREE_ECO, 3, "0-1:10 0-2:20 1-2:5", NULL, "-1 0 1"},
    {"E1 nearest first, not lowest index", GMC_TREE_ECO, 3, "0-1:20 0-2:10 1-2:5", NULL, "-1 2 0"},
    {"E2 the cheapest link, not the cheapest path", GMC_TREE_ECO, 4,
     "0-1:10 0-2:12 0-3:30 1-2:11 1-3:9 2-3:8", NULL, "-1 0 0 2"},
    {"E2 the source is not v", GMC_TREE_ECO, 3, "0-1:10 0-2:11 1-2:12", NULL, "-1 0 0"},
    {"E2 the smaller direction counts", GMC_TREE_ECO, 3, "0-1:10 0-2:20 1>2:90 2>1:5", NULL,
     "-1 0 1"},
    {"E3 the first hangs on the source", GMC_TREE_ECO, 2, "0-1:10", NULL, "-1 0"},
    {"E3 hears the source only", GMC_TREE_ECO, 3, "0-1:10 0-2:99", NULL, "-1 0 0"},
    {"E3 hears nobody", GMC_TREE_ECO, 3, "0-1:10", NULL, "-1 0 0"},
    {"E4 within 20 %", GMC_TREE_ECO, 3, "0-1:10 0-2:119 1-2:100", NULL, "-1 0 0"},
    {"E4 equal", GMC_TREE_ECO, 3, "0-1:10 0-2:20 1-2:20", NULL, "-1 0 0"},
    {"E4 to the unit", GMC_TREE_ECO, 3, "0-1:1 0-2:1199999999 1-2:1000000000", NULL, "-1 0 0"},
    {"E4 without overflow", GMC_TREE_ECO, 3,
     "0-1:1 0-2:18446744073709551613 1-2:18446744073709551614", NULL, "-1 0 0"},
    {"E5 exactly 20 %", GMC_TREE_ECO, 3, "0-1:10 0-2:120 1-2:100", NULL, "-1 0 1"},
    {"E5 exactly 20 %, large numbers", GMC_TREE_ECO, 3,
     "0-1:1 0-2:12000000000000000000 1-2:10000000000000000000", NULL, "-1 0 1"},
    {"E5 does not hear the source", GMC_TREE_ECO, 3, "0-1:10 1-2:99", NULL, "-1 0 1"},
    {"E5 no distance at all", GMC_TREE_ECO, 3, "0-1:0 0-2:0 1-2:0", NULL, "-1 0 1"},
    {"E6 ties by index", GMC_TREE_ECO, 4, "0-1:10 0-2:10 1-2:50 0-3:40 1-3:8 2-3:8", NULL,
     "-1 0 0 1"},
    {"E6 ties by name", GMC_TREE_ECO, 4, "0-1:10 0-2:10 1-2:50 0-3:40 1-3:8 2-3:8", "s b a c",
     "-1 0 0 2"},

    {"F1 all on the source", GMC_TREE_FLAT, 4, "0-1:10 0-2:90 0-3:50 1-2:1 1-3:1 2-3:1", NULL,
     "-1 0 0 0"},
    {"F2 who does not hear it: cheapest link", GMC_TREE_FLAT, 4, "0-1:10 0-2:20 1-3:9 2-3:8", NULL,
     "-1 0 0 2"},
    {"F2 who hears nobody", GMC_TREE_FLAT, 3, "0-1:10", NULL, "-1 0 0"},

    {"C1 in order of distance", GMC_TREE_CHAIN, 5,
     "0-1:40 0-2:30 0-3:20 0-4:10 1-2:1 1-3:1 1-4:1 2-3:1 2-4:1 3-4:1", NULL, "-1 2 3 4 0"},
    {"C2 around a silent link", GMC_TREE_CHAIN, 4, "0-1:10 0-2:20 0-3:30 1-2:5 1-3:6", NULL,
     "-1 0 1 1"},
    {"U1 the source counts too", GMC_TREE_CHAIN, 4, "0-1:10 0-2:20 0-3:5 1-3:9 2-1:30", NULL,
     "-1 3 1 0"},
    {"U1 the source is the cheapest", GMC_TREE_CHAIN, 4, "0-3:5 0-1:10 0-2:20 1-3:9 2-3:30", NULL,
     "-1 3 0 0"},
    {"U2 nobody before it", GMC_TREE_CHAIN, 3, "0-1:10", NULL, "-1 0 0"},

    {"D1 two children each", GMC_TREE_BINARY, 8,
     "0-1:1 0-2:2 0-3:3 0-4:4 0-5:5 0-6:6 0-7:7 1-3:1 1-4:1 2-5:1 2-6:1 3-7:1", NULL,
     "-1 0 0 1 1 2 2 3"},
    {"D2 the nearest the highest", GMC_TREE_BINARY, 4, "0-1:30 0-2:10 0-3:20 1-2:1 1-3:1 2-3:1",
     NULL, "-1 2 0 0"},
    {"D3 around a silent link", GMC_TREE_BINARY, 4, "0-1:10 0-2:20 0-3:30 2-3:7", NULL, "-1 0 0 2"},

    {"B1 without the highest bit", GMC_TREE_BINOMIAL, 4, "0-1:1 0-2:2 0-3:3 1-3:9 2-3:9", NULL,
     "-1 0 0 1"},
    {"B2 the nearest the highest", GMC_TREE_BINOMIAL, 8,
     "0-1:1 0-2:2 0-3:3 0-4:4 0-5:5 0-6:6 0-7:7 1-4:1 1-5:1 2-6:1 4-7:1", NULL, "-1 0 0 0 1 1 2 4"},
    {"B2 by distance, not by index", GMC_TREE_BINOMIAL, 4, "0-1:30 0-2:10 0-3:20 1-2:9 1-3:1", NULL,
     "-1 2 0 0"},
    {"B3 around a silent link", GMC_TREE_BINOMIAL, 4, "0-1:1 0-2:2 0-3:3 2-3:9", NULL, "-1 0 0 0"},
};

static void every_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        int32_t want[N_MAX], parent[N_MAX];
        struct graph g;

        print_message("%s\n", rules[i].rule);
        graph_init(&g, rules[i].n);
        graph_links(&g, rules[i].links);
        graph_names(&g, rules[i].names);
        parents_of(rules[i].parents, rules[i].n, want);
        build(rules[i].shape, &g, parent);
        for (size_t u = 0; u < rules[i].n; u++)
            assert_int_equal(parent[u], want[u]);
    }
}

/* ---- the published table: id,n,rows separated by ';',parents; ties by index ---- */

static void one_published(char *line)
{
    char *id = strtok(line, ",");
    size_t n = strtoul(strtok(NULL, ","), NULL, 10);
    char *matrix = strtok(NULL, ",");
    char *parents = strtok(NULL, ",\n");
    int32_t want[N_MAX], parent[N_MAX];
    struct graph g;

    print_message("row %s, n %zu\n", id, n);
    assert_in_range(n, 1, N_MAX);
    assert_non_null(parents);
    graph_init(&g, n);
    for (size_t i = 0; i < n * n; i++) {
        char *end;

        g.latency[i] = strtoull(matrix, &end, 10);
        assert_ptr_not_equal(matrix, end);
        matrix = end + (*end == ';');
    }
    assert_int_equal(*matrix, '\0');
    parents_of(parents, n, want);
    build(GMC_TREE_ECO, &g, parent);
    for (size_t u = 0; u < n; u++)
        assert_int_equal(parent[u], want[u]);
}

static void eco_as_published(void **state)
{
    const char *srcdir = getenv("GMC_SRCDIR");
    char path[4096], line[8192];
    size_t rows = 0;
    FILE *file;

    (void)state;
    snprintf(path, sizeof(path), "%s/tests/vectors/interconnect/wan_top_tree.csv",
             srcdir != NULL ? srcdir : ".");
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file)); /* header */
    while (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        one_published(line);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 12);
}

/* ---- what holds on any graph ---- */

/* Few distinct latencies, so that ties are frequent; some links silent, in one or both directions;
 * the names are a shuffle, so that index and name order differ. */
static void graph_random(struct graph *g, struct gmc_prng *prng)
{
    size_t n = 1 + gmc_prng_below(prng, N_MAX);
    uint64_t spread = 1 + gmc_prng_below(prng, 60);
    uint32_t silent = (uint32_t)gmc_prng_below(prng, 5) * 240000;
    size_t shuffle[N_MAX];

    graph_init(g, n);
    for (size_t i = 0; i < n * n; i++)
        if (!gmc_prng_chance_ppm(prng, silent))
            g->latency[i] = 1 + gmc_prng_below(prng, spread);
    for (size_t i = 0; i < n; i++) {
        size_t j = gmc_prng_below(prng, i + 1);

        shuffle[i] = shuffle[j];
        shuffle[j] = i;
    }
    for (size_t i = 0; i < n; i++) {
        snprintf(g->name_bytes[i], sizeof(g->name_bytes[i]), "d%02zu.example", shuffle[i]);
        g->names[i] = g->name_bytes[i];
    }
    g->view.names = g->names;
    for (size_t i = 0; i < n; i++)
        g->uplink[i] = gmc_prng_chance_ppm(prng, 300000) ? 0 : 1 + gmc_prng_below(prng, 100);
    g->view.uplink_bps = gmc_prng_chance_ppm(prng, 700000) ? g->uplink : NULL;
    g->view.bytes = gmc_prng_below(prng, 1000000);
}

static bool hears(const struct graph *g, size_t a, size_t b)
{
    return g->latency[a * g->view.n + b] != UNKNOWN || g->latency[b * g->view.n + a] != UNKNOWN;
}

/* Whether the source reaches all others over links that are heard. */
static bool is_connected(const struct graph *g)
{
    bool reached[N_MAX] = {true};
    size_t count = 1, before = 0;

    while (count != before) {
        before = count;
        for (size_t a = 0; a < g->view.n; a++) {
            for (size_t b = 0; reached[a] && b < g->view.n; b++) {
                if (!reached[b] && hears(g, a, b)) {
                    reached[b] = true;
                    count++;
                }
            }
        }
    }
    return count == g->view.n;
}

static void any_graph_gives_a_tree(void **state)
{
    struct gmc_prng prng;
    size_t connected = 0;

    (void)state;
    gmc_prng_init(&prng, 2);
    for (unsigned round = 0; round < 400; round++) {
        struct graph g;
        bool whole;

        graph_random(&g, &prng);
        whole = is_connected(&g);
        connected += whole;
        for (unsigned shape = 0; shape < GMC_TREE_SHAPES; shape++) {
            int32_t parents[PARENTS_MAX];
            uint32_t stripes = build((enum gmc_tree_shape)shape, &g, parents);

            for (uint32_t k = 0; k < stripes; k++) {
                const int32_t *parent = parents + k * g.view.n;

                assert_int_equal(gmc_tree_check(parent, g.view.n), GMC_OK);
                for (size_t u = 1; u < g.view.n; u++)
                    if (!hears(&g, u, (size_t)parent[u]))
                        assert_true(!whole && parent[u] == 0);
            }
        }
    }
    assert_in_range(connected, 50, 350); /* both kinds were there */
}

/* The same gateways in another order give the same tree: indexes decide nothing. */
static void order_of_the_list_does_not_matter(void **state)
{
    struct gmc_prng prng;

    (void)state;
    gmc_prng_init(&prng, 3);
    for (unsigned round = 0; round < 200; round++) {
        struct graph g, h;
        size_t at[N_MAX] = {0}; /* where g's gateway stands in h */
        size_t n;

        graph_random(&g, &prng);
        n = g.view.n;
        for (size_t i = 1; i < n; i++) {
            size_t j = 1 + gmc_prng_below(&prng, i);

            at[i] = at[j];
            at[j] = i;
        }
        graph_init(&h, n);
        for (size_t a = 0; a < n; a++) {
            h.names[at[a]] = g.names[a];
            h.uplink[at[a]] = g.uplink[a];
            for (size_t b = 0; b < n; b++)
                h.latency[at[a] * n + at[b]] = g.latency[a * n + b];
        }
        h.view.names = h.names;
        h.view.uplink_bps = g.view.uplink_bps != NULL ? h.uplink : NULL;
        h.view.bytes = g.view.bytes;
        for (unsigned shape = 0; shape < GMC_TREE_SHAPES; shape++) {
            int32_t p[PARENTS_MAX], q[PARENTS_MAX];
            uint32_t stripes = build((enum gmc_tree_shape)shape, &g, p);

            assert_int_equal(build((enum gmc_tree_shape)shape, &h, q), stripes);
            for (uint32_t k = 0; k < stripes; k++)
                for (size_t u = 1; u < n; u++)
                    assert_int_equal(at[p[k * n + u]], q[k * n + at[u]]);
        }
    }
}

static void depth_grows_with_distance(void **state)
{
    struct gmc_prng prng;

    (void)state;
    gmc_prng_init(&prng, 4);
    for (size_t n = 1; n <= N_MAX; n++) {
        static const enum gmc_tree_shape shapes[] = {GMC_TREE_FLAT, GMC_TREE_BINOMIAL,
                                                     GMC_TREE_BINARY, GMC_TREE_CHAIN};
        struct graph g;

        graph_init(&g, n);
        for (size_t i = 0; i < n * n; i++)
            g.latency[i] = 1 + gmc_prng_below(&prng, 1000);
        for (size_t i = 0; i < n; i++)
            g.latency[i] = g.latency[i * n] = i; /* index order is distance order */
        for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
            unsigned depth[N_MAX] = {0};
            int32_t parent[N_MAX];

            build(shapes[s], &g, parent);
            for (size_t u = 1; u < n; u++) {
                assert_in_range(parent[u], 0, u - 1);
                depth[u] = depth[parent[u]] + 1;
                assert_true(depth[u] >= depth[u - 1]);
            }
        }
    }
}

/* ---- joining a running tree ---- */

static const struct {
    const char *what;
    size_t n;
    const char *links;
    const char *names;
    const char *parents; /* of the others; that of u is ignored */
    int32_t u, chosen;
} joins[] = {
    {"E2, E5 the cheapest link", 4, "0-1:10 0-2:12 0-3:30 1-3:9 2-3:8", NULL, "-1 0 0 -1", 3, 2},
    {"E4 within 20 %", 3, "0-1:10 0-2:11 1-2:10", NULL, "-1 0 -1", 2, 0},
    {"E3 alone with the source", 2, "0-1:10", NULL, "-1 -1", 1, 0},
    {"E3 hears nobody", 3, "0-1:10", NULL, "-1 0 -1", 2, 0},
    {"E6 ties by name", 4, "0-3:40 1-3:8 2-3:8", "s b a c", "-1 0 0 -1", 3, 2},
    {"E6 ties by index", 4, "0-3:40 1-3:8 2-3:8", NULL, "-1 0 0 -1", 3, 1},
    {"a farther one may be the parent", 3, "0-1:50 0-2:10 1-2:5", NULL, "-1 0 -1", 2, 1},
    {"not one that is out of the tree", 4, "0-3:40 1-3:8 2-3:5", NULL, "-1 0 -1 -1", 3, 1},
    {"not one below such a one", 5, "0-3:40 1-3:8 4-3:5", NULL, "-1 0 -1 -1 2", 3, 1},
    {"not an own child", 4, "0-1:40 1-2:5 1-3:8", NULL, "-1 0 1 0", 1, 3},
    {"not an own grandchild", 4, "0-1:40 1-2:6 1-3:5", NULL, "-1 0 1 2", 1, 0},
    {"not one in a loop", 5, "0-1:40 1-2:6 1-3:5 1-4:9", NULL, "-1 0 3 2 0", 1, 4},
    {"not one whose parent is out of range", 4, "0-1:40 1-2:6 1-3:9", NULL, "-1 0 77 0", 1, 3},
};

static void joining(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(joins) / sizeof(joins[0]); i++) {
        int32_t parent[N_MAX], chosen = -7;
        struct graph g;

        print_message("%s\n", joins[i].what);
        graph_init(&g, joins[i].n);
        graph_links(&g, joins[i].links);
        graph_names(&g, joins[i].names);
        parents_of(joins[i].parents, joins[i].n, parent);
        assert_int_equal(gmc_tree_attach(&g.view, parent, joins[i].u, &chosen), GMC_OK);
        assert_int_equal(chosen, joins[i].chosen);
        /* The own parent is ignored, whatever it says. */
        parent[joins[i].u] = joins[i].u;
        assert_int_equal(gmc_tree_attach(&g.view, parent, joins[i].u, &chosen), GMC_OK);
        assert_int_equal(chosen, joins[i].chosen);
    }
}

static void joining_refuses(void **state)
{
    int32_t parent[3] = {-1, 0, 0}, chosen = -7;
    struct graph g;

    (void)state;
    graph_init(&g, 3);
    assert_int_equal(gmc_tree_attach(&g.view, parent, 0, &chosen), GMC_ERR_INVALID);
    assert_int_equal(gmc_tree_attach(&g.view, parent, 3, &chosen), GMC_ERR_INVALID);
    assert_int_equal(gmc_tree_attach(&g.view, parent, -1, &chosen), GMC_ERR_INVALID);
    assert_int_equal(chosen, -7);
}

/* Wherever anyone moves, it stays a tree; and the last to join chooses as if it joined now. */
static void moving_keeps_the_tree(void **state)
{
    struct gmc_prng prng;

    (void)state;
    gmc_prng_init(&prng, 5);
    for (unsigned round = 0; round < 300; round++) {
        int32_t parent[N_MAX];
        struct graph g;

        graph_random(&g, &prng);
        if (g.view.n == 1)
            continue;
        build(GMC_TREE_ECO, &g, parent);
        for (unsigned move = 0; move < 20; move++) {
            int32_t u = 1 + (int32_t)gmc_prng_below(&prng, g.view.n - 1);

            assert_int_equal(gmc_tree_attach(&g.view, parent, u, &parent[u]), GMC_OK);
            assert_int_equal(gmc_tree_check(parent, g.view.n), GMC_OK);
        }
    }
}

static void last_to_join_chooses_alike(void **state)
{
    struct gmc_prng prng;

    (void)state;
    gmc_prng_init(&prng, 6);
    for (unsigned round = 0; round < 200; round++) {
        int32_t parent[N_MAX], chosen;
        size_t n = 2 + gmc_prng_below(&prng, N_MAX - 1);
        struct graph g;

        graph_init(&g, n);
        for (size_t i = 0; i < n * n; i++)
            g.latency[i] = 1 + gmc_prng_below(&prng, 60);
        g.latency[n - 1] = g.latency[(n - 1) * n] = 61; /* the last index is the farthest */
        build(GMC_TREE_ECO, &g, parent);
        assert_int_equal(gmc_tree_attach(&g.view, parent, (int32_t)n - 1, &chosen), GMC_OK);
        assert_int_equal(chosen, parent[n - 1]);
    }
}

/* ---- check, names ---- */

static const struct {
    const char *parents;
    size_t n;
    gmc_status status;
} checks[] = {
    {"-1", 1, GMC_OK},
    {"-1 0 1 2", 4, GMC_OK},
    {"-1 3 1 0", 4, GMC_OK},
    {"", 0, GMC_ERR_INVALID},
    {"0", 1, GMC_ERR_INVALID},
    {"-1 -1", 2, GMC_ERR_INVALID},
    {"-1 2", 2, GMC_ERR_INVALID},
    {"-1 -2", 2, GMC_ERR_INVALID},
    {"-1 0 2147483647", 3, GMC_ERR_INVALID},
    {"1 0", 2, GMC_ERR_INVALID},
    {"-1 1", 2, GMC_ERR_LOOP},
    {"-1 2 1", 3, GMC_ERR_LOOP},
    {"-1 0 3 4 2", 5, GMC_ERR_LOOP},
    {"-1 2 3 4 2", 5, GMC_ERR_LOOP},
};

static void checking(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        int32_t parent[N_MAX];

        parents_of(checks[i].parents, checks[i].n, parent);
        assert_int_equal(gmc_tree_check(parent, checks[i].n), checks[i].status);
    }
}

static void shapes_by_name(void **state)
{
    enum gmc_tree_shape shape = GMC_TREE_SHAPES;

    (void)state;
    for (unsigned i = 0; i < GMC_TREE_SHAPES; i++) {
        const char *name = gmc_tree_ops((enum gmc_tree_shape)i)->name;

        assert_int_equal(gmc_tree_shape_from_name(name, &shape), GMC_OK);
        assert_int_equal(shape, i);
    }
    assert_int_equal(gmc_tree_shape_from_name("eco", &shape), GMC_OK);
    assert_int_equal(shape, GMC_TREE_ECO);
    assert_int_equal(gmc_tree_shape_from_name("", &shape), GMC_ERR_NOT_FOUND);
    assert_int_equal(gmc_tree_shape_from_name("ecology", &shape), GMC_ERR_NOT_FOUND);
}

static void nobody_is_no_graph(void **state)
{
    struct gmc_tree_graph none = {0};
    int32_t parent;
    uint32_t stripes;

    (void)state;
    for (unsigned i = 0; i < GMC_TREE_SHAPES; i++)
        assert_int_equal(gmc_tree_ops((enum gmc_tree_shape)i)->build(&none, &parent, &stripes),
                         GMC_ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule),
        cmocka_unit_test(eco_as_published),
        cmocka_unit_test(any_graph_gives_a_tree),
        cmocka_unit_test(order_of_the_list_does_not_matter),
        cmocka_unit_test(depth_grows_with_distance),
        cmocka_unit_test(joining),
        cmocka_unit_test(joining_refuses),
        cmocka_unit_test(moving_keeps_the_tree),
        cmocka_unit_test(last_to_join_chooses_alike),
        cmocka_unit_test(checking),
        cmocka_unit_test(shapes_by_name),
        cmocka_unit_test(nobody_is_no_graph),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
