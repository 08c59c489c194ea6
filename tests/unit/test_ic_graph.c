/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests interconnect/graph: graphs, distances and bounds, lists of edges; what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "interconnect/graph/distances.h"
#include "interconnect/graph/edges.h"
#include "interconnect/graph/reach.h"
#include "tests/lib/unit.h"

#define assert_near(value, wanted) assert_true(fabs((value) - (wanted)) <= 1e-9)

static char error[IC_ERROR_MAX];

static void ring(uint32_t nodes, struct ic_graph *graph)
{
    struct ic_graph_link *links = calloc(nodes, sizeof(*links));
    assert_non_null(links);
    for (uint32_t i = 0; i < nodes; i++)
        links[i] = (struct ic_graph_link){i, (i + 1) % nodes};
    assert_ok(ic_graph_init(graph, nodes, links, nodes, error));
    free(links);
}

static void hypercubes_are_measured(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 11; n++) {
        struct ic_graph graph;
        struct ic_distances distances;
        uint32_t least, most;
        assert_ok(ic_graph_hypercube(&graph, n, error));
        ic_graph_degrees(&graph, &least, &most);
        assert_int_equal(least, n);
        assert_int_equal(most, n);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(ic_graph_port(&graph, 0, 1u << i), i);
        assert_ok(ic_graph_distances(&graph, &distances));
        assert_true(distances.is_connected);
        assert_int_equal(distances.diameter, n);
        assert_near(distances.mean_self, n / 2.0);
        ic_graph_fini(&graph);
    }
}

/* A ring of 300 is longer than what is searched bit by bit. */
static void rings_are_measured(void **state)
{
    static const uint32_t sizes[] = {3, 4, 5, 63, 64, 65, 127, 300};
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct ic_graph graph;
        struct ic_distances distances;
        uint64_t n = sizes[i], from_one = n * n / 4;
        ring(sizes[i], &graph);
        assert_ok(ic_graph_distances(&graph, &distances));
        assert_int_equal(distances.diameter, n / 2);
        assert_int_equal(distances.sum, from_one * n);
        assert_near(distances.mean, (double)from_one / (double)(n - 1));
        ic_graph_fini(&graph);
    }
}

static void parts_are_seen(void **state)
{
    static const struct ic_graph_link links[] = {{0, 1}, {2, 3}};
    struct ic_graph graph;
    struct ic_distances distances;
    uint32_t hops[4], order[4];
    (void)state;
    assert_ok(ic_graph_init(&graph, 4, links, 2, error));
    assert_ok(ic_graph_distances(&graph, &distances));
    assert_false(distances.is_connected);
    assert_int_equal(ic_graph_search(&graph, 2, hops, NULL, order), 2);
    assert_int_equal(hops[3], 1);
    assert_int_equal(hops[0], IC_GRAPH_NONE);
    ic_graph_fini(&graph);
}

/* Rotations of every order: a random graph of rows and shifts, beside the same one node by node. */
static void rotations_are_searched(void **state)
{
    struct gmc_prng prng;
    (void)state;
    gmc_prng_init(&prng, 1);
    for (uint32_t order = 1; order <= IC_REACH_ORDER_MAX; order++) {
        enum { ROWS = 5 };
        struct ic_reach reach;
        struct ic_graph graph;
        struct ic_distances distances;
        uint32_t first[ROWS + 1], from[2 * ROWS];
        uint8_t shift[2 * ROWS];
        struct ic_graph_link *links = calloc((size_t)ROWS * order, sizeof(*links));
        assert_non_null(links);
        /* A ring of rows, each next one shifted. */
        for (uint32_t row = 0; row < ROWS; row++) {
            uint32_t next = (row + 1) % ROWS;
            uint32_t by = (uint32_t)gmc_prng_below(&prng, order);
            first[row] = 2 * row;
            from[2 * next] = row;
            shift[2 * next] = (uint8_t)by;
            from[2 * row + 1] = next;
            shift[2 * row + 1] = (uint8_t)((order - by) % order);
            for (uint32_t i = 0; i < order; i++)
                links[row * order + i] =
                    (struct ic_graph_link){row * order + i, next * order + (i + by) % order};
        }
        first[ROWS] = 2 * ROWS;
        assert_ok(
            ic_graph_init(&graph, (uint64_t)ROWS * order, links, (size_t)ROWS * order, error));
        assert_ok(ic_graph_distances(&graph, &distances));
        assert_ok(ic_reach_init(&reach, ROWS, order));
        const struct ic_reach_arcs arcs = {first, from, shift};
        struct ic_reach_sum sum = ic_reach_run(&reach, &arcs, UINT64_MAX, 1000);
        assert_int_equal(sum.is_complete, distances.is_connected);
        if (sum.is_complete) {
            assert_int_equal(sum.distances * order, distances.sum);
            assert_int_equal(sum.diameter, distances.diameter);
            assert_false(ic_reach_run(&reach, &arcs, sum.distances - 1, 1000).is_complete);
            assert_true(ic_reach_run(&reach, &arcs, sum.distances, 1000).is_complete);
        }
        ic_reach_fini(&reach);
        ic_graph_fini(&graph);
        free(links);
    }
}

static void bounds_are_those_of_the_text(void **state)
{
    uint64_t nodes;
    struct ic_distance_bounds bounds;
    (void)state;
    assert_ok(ic_moore_bound(3, 2, &nodes, error));
    assert_int_equal(nodes, 10);
    assert_ok(ic_moore_bound(7, 2, &nodes, error));
    assert_int_equal(nodes, 50);
    assert_ok(ic_moore_bound(57, 2, &nodes, error));
    assert_int_equal(nodes, 3250);
    assert_ok(ic_distance_bounds(64, 6, &bounds, error));
    assert_int_equal(bounds.sum, 147);
    assert_int_equal(bounds.diameter, 3);
    assert_near(bounds.mean, 147.0 / 63);
    assert_ok(ic_distance_bounds(2048, 11, &bounds, error));
    assert_int_equal(bounds.sum, 6835);
    assert_int_equal(ic_moore_bound(1000, 64, &nodes, error), GMC_ERR_INVALID);
    assert_string_equal(error, "the bound of d = 1000 and k = 64 has more than 64 bits");
    /* A hypercube of the degree of the last Moore graph: layers of 57, 57 56, ... */
    assert_ok(ic_distance_bounds((uint64_t)1 << 57, 57, &bounds, error));
    assert_int_equal(bounds.diameter, 10);
    assert_near(bounds.mean_self, 9.960342987527039);
    assert_int_equal(ic_distance_bounds((uint64_t)1 << 63, 63, &bounds, error), GMC_ERR_INVALID);
    assert_int_equal(ic_distance_bounds(8, 8, &bounds, error), GMC_ERR_INVALID);
    assert_string_equal(error, "the degree is 8; it must be 2 to 7");
}

static void bad_graphs_are_named(void **state)
{
    static const struct {
        struct ic_graph_link links[2];
        const char *words;
    } cases[] = {
        {{{0, 1}, {1, 4}}, "a link joins 1 and 4; nodes are 0 to 3"},
        {{{0, 1}, {2, 2}}, "a link joins node 2 to itself"},
        {{{0, 1}, {1, 0}}, "nodes 0 and 1 are joined twice"},
    };
    struct ic_graph graph;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(ic_graph_init(&graph, 4, cases[i].links, 2, error), GMC_ERR_INVALID);
        assert_string_equal(error, cases[i].words);
    }
    assert_int_equal(ic_graph_hypercube(&graph, 17, error), GMC_ERR_INVALID);
    assert_string_equal(error, "n, dimensions of the hypercube, is 17; it must be 1 to 16");
}

/* ---- lists of edges ---- */
static gmc_status parse(struct ic_edges *edges, const char *text)
{
    return ic_edges_parse(edges, text, strlen(text), error);
}

static void edges_come_back(void **state)
{
    struct ic_graph graph;
    struct ic_edges edges;
    struct ic_text text = {0};
    (void)state;
    assert_ok(ic_graph_hypercube(&graph, 5, error));
    ic_edges_format(&graph, NULL, &text);
    assert_ok(parse(&edges, text.bytes));
    assert_int_equal(edges.graph.nodes, 32);
    assert_memory_equal(edges.graph.neighbours, graph.neighbours,
                        2 * graph.links * sizeof(*graph.neighbours));
    ic_edges_fini(&edges);
    ic_text_fini(&text);
    ic_graph_fini(&graph);
}

static void names_are_numbered(void **state)
{
    struct ic_edges edges;
    (void)state;
    assert_ok(parse(&edges, "# a map\nrom wien 10Gbit 6ms\r\n\noslo # alone\nrom bern\n"));
    assert_int_equal(edges.graph.nodes, 4);
    assert_string_equal(edges.names[0], "rom");
    assert_string_equal(edges.names[2], "oslo");
    assert_string_equal(edges.names[3], "bern");
    assert_int_equal(ic_graph_port(&edges.graph, 0, 3), 1);
    ic_edges_fini(&edges);
    /* Whole numbers from 0 are themselves; otherwise they are names. */
    assert_ok(parse(&edges, "2 1\n1 0"));
    assert_string_equal(edges.names[0], "0");
    assert_int_equal(ic_graph_degree(&edges.graph, 1), 2);
    ic_edges_fini(&edges);
    assert_ok(parse(&edges, "3 1\n1 00"));
    assert_string_equal(edges.names[0], "3");
    assert_string_equal(edges.names[2], "00");
    ic_edges_fini(&edges);
}

static void bad_lists_are_named(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "there is no link in the list of edges"},
        {"a\nb\n", "there is no link in the list of edges"},
        {"a b\nb b\n", "line 2: a link joins 'b' to itself"},
        {"x y\n\ny x\n", "line 3: 'x' and 'y' are joined in line 1 too"},
        {"a b 1 2 3\n", "line 1: too much: '3'; a line is A B [RATE [DELAY]]"},
        {"a b\na &c\n", "line 2: '&c' is no name: up to 253 letters, digits, '-', '_' and '.'"},
    };
    struct ic_edges edges;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(parse(&edges, cases[i].text), GMC_ERR_INVALID);
        assert_string_equal(error, cases[i].words);
    }
    assert_int_equal(ic_edges_parse(&edges, "a b\0c d\n", 8, error), GMC_ERR_INVALID);
    assert_string_equal(error, "line 1: there is a NUL in it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hypercubes_are_measured),
        cmocka_unit_test(rings_are_measured),
        cmocka_unit_test(parts_are_seen),
        cmocka_unit_test(rotations_are_searched),
        cmocka_unit_test(bounds_are_those_of_the_text),
        cmocka_unit_test(bad_graphs_are_named),
        cmocka_unit_test(edges_come_back),
        cmocka_unit_test(names_are_numbered),
        cmocka_unit_test(bad_lists_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
