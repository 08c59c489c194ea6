/* SPDX-License-Identifier: BSD-2-Clause */
/* Maps as they are found: what the readers make of each, and in which words they refuse. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/topo/label.h"
#include "sim-wan/topo/place.h"
#include "sim-wan/topo/read.h"
#include "sim-wan/topo/speed.h"
#include "sim-wan/topo/units.h"
#include "tests/lib/unit.h"

static gmc_status parse(const char *name, const char *text, const struct sim_topo_options *options,
                        struct sim_topo *topo, struct sim_topo_notes *notes, char *error)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    gmc_status status = sim_topo_parse_map(name, copy, strlen(copy), options, topo, notes, error);
    free(copy);
    return status;
}

/* "a r(router) | a r 1Gbit 5ms": nodes, then links, with the way back where it differs. */
static const char *describe(const struct sim_topo *topo, char *out, size_t size)
{
    char rate[SIM_UNITS_TEXT_MAX], delay[SIM_UNITS_TEXT_MAX];
    size_t len = 0;
    for (size_t i = 0; i < topo->node_count && len < size; i++)
        len += (size_t)snprintf(out + len, size - len, "%s%s ", topo->nodes[i].name,
                                topo->nodes[i].has_gateway ? "" : "(router)");
    for (size_t i = 0; i < topo->link_count && len < size; i++) {
        const struct sim_topo_link *link = &topo->links[i];
        len += (size_t)snprintf(out + len, size - len, "| %s %s %s %s ", topo->nodes[link->a].name,
                                topo->nodes[link->b].name,
                                sim_format_rate(link->a_to_b.rate_bps, rate),
                                sim_format_delay(link->a_to_b.delay, delay));
        if (link->a_to_b.rate_bps != link->b_to_a.rate_bps ||
            link->a_to_b.delay != link->b_to_a.delay)
            len += (size_t)snprintf(out + len, size - len, "back %s %s ",
                                    sim_format_rate(link->b_to_a.rate_bps, rate),
                                    sim_format_delay(link->b_to_a.delay, delay));
    }
    assert_true(len > 0 && len < size);
    out[len - 1] = '\0';
    return out;
}

struct good_case {
    const char *name, *text, *topology;
};

static void check_good(const struct good_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct sim_topo topo;
        char error[SIM_TOPO_ERROR_MAX], out[2048];
        gmc_status status = parse(cases[i].name, cases[i].text, NULL, &topo, NULL, error);
        assert_string_equal(error, "");
        assert_int_equal(status, GMC_OK);
        assert_string_equal(describe(&topo, out, sizeof(out)), cases[i].topology);
        sim_topo_fini(&topo);
    }
}

struct bad_case {
    const char *name, *text, *error; /* the whole of it, or how it begins */
};

static void check_bad(const struct bad_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct sim_topo topo;
        char error[SIM_TOPO_ERROR_MAX];
        gmc_status status = parse(cases[i].name, cases[i].text, NULL, &topo, NULL, error);
        assert_int_equal(status, GMC_ERR_INVALID);
        error[strlen(cases[i].error) < sizeof(error) ? strlen(cases[i].error) : 0] = '\0';
        assert_string_equal(error, cases[i].error);
        assert_int_equal(topo.node_count, 0);
        sim_topo_fini(&topo);
    }
}

#define CHECK_GOOD(cases) check_good(cases, sizeof(cases) / sizeof((cases)[0]))
#define CHECK_BAD(cases) check_bad(cases, sizeof(cases) / sizeof((cases)[0]))

/* ---- GML ---- */
#define NODE(id, rest) "  node [\n    id " id "\n" rest "  ]\n"
#define EDGE(a, b, rest) "  edge [\n    source " a "\n    target " b "\n" rest "  ]\n"

static void test_gml(void **state)
{
    static const struct good_case cases[] = {
        /* The least. */
        {"m.gml", "graph [ node [ id 0 ] ]", "node0"},
        /* By how it begins; comments; keys of no concern; links before their nodes. */
        {"map",
         "# a comment\nCreator \"x\"\ngraph [\n  directed 0\n" EDGE("7", "3", "")
             NODE("3", "label \"B\" graphics [ x 1.5e3 fill \"#ffffff\" ]")
                 NODE("7", "label \"A\"") "]\n",
         "a b | a b 1Gbit 5ms"},
        /* Rates, the first that says one: raw, speed and units, label. */
        {"m.gml",
         "graph [" NODE("0", "label \"a\"") NODE("1", "label \"b\"") NODE("2", "label \"c\"")
             NODE("3", "label \"d\"") NODE("4", "label \"e\"")
                 EDGE("0", "1", "LinkSpeedRaw 2500000000.0 LinkSpeed \"1\" LinkSpeedUnits \"G\"\n")
                     EDGE("0", "2", "LinkSpeed \"2.5\"\n LinkSpeedUnits \"G\"\n")
                         EDGE("0", "3", "LinkLabel \"155 Mbps\"\n")
                             EDGE("0", "4", "LinkLabel \"Lit Fibre\" LinkType \"Fibre\"\n") "]",
         "a b c d e | a b 2.5Gbit 5ms | a c 2.5Gbit 5ms | a d 155Mbit 5ms | a e 1Gbit 5ms"},
        /* Labels: missing, empty, the Zoo's None, repeated, with accents and other things. */
        {"m.gml",
         "graph [" NODE("0", "") NODE("1", "label \"\"") NODE("2", "label \"None\" hyperedge 1")
             NODE("3", "label \"St. Gallen\"") NODE("4", "label \"st gallen\"")
                 NODE("5", "label \"Z&#252;rich?\"") NODE("6", "label \"S\xc3\xa3o Paulo\"")
                     NODE("7", "label \"M\xfcnchen\"") EDGE("0", "1", "") EDGE("0", "2", "")
                         EDGE("0", "3", "") EDGE("0", "4", "") EDGE("0", "5", "") EDGE("0", "6", "")
                             EDGE("0", "7", "") "]",
         "node0 node1 joint2(router) st-gallen st-gallen-2 zurich sao-paulo munchen"
         " | node0 node1 1Gbit 5ms | node0 joint2 1Gbit 5ms | node0 st-gallen 1Gbit 5ms"
         " | node0 st-gallen-2 1Gbit 5ms | node0 zurich 1Gbit 5ms | node0 sao-paulo 1Gbit 5ms"
         " | node0 munchen 1Gbit 5ms"},
        /* Parallel links add up, also when turned round; those to the node itself go. */
        {"m.gml",
         "graph [" NODE("0", "label \"a\"") NODE("1", "label \"b\"")
             EDGE("0", "1", "LinkSpeedRaw 1000000 delay \"7ms\"") EDGE("1", "1", "")
                 EDGE("1", "0", "LinkSpeedRaw 2000000 delay \"3ms\"") "]",
         "a b | a b 3Mbit 3ms"},
        /* A directed map has one link each way. */
        {"m.gml",
         "graph [ directed 1" NODE("0", "label \"a\"") NODE("1", "label \"b\"")
             NODE("2", "label \"c\"") EDGE("1", "0", "LinkSpeedRaw 1000000 delay \"7ms\"")
                 EDGE("0", "1", "LinkSpeedRaw 2000000 delay \"3ms\"")
                     EDGE("1", "2", "rate \"4Mbit\"") "]",
         "a b c | b a 1Mbit 7ms back 2Mbit 3ms | b c 4Mbit 5ms"},
    };
    (void)state;
    CHECK_GOOD(cases);
}

static void test_gml_refused(void **state)
{
    static const struct bad_case cases[] = {
        {"m.gml", "", "m.gml: no graph in it: GML begins with 'graph ['"},
        {"m.gml", "graph [\n]\n", "m.gml: no node in it"},
        {"m.gml", "graph [\n  node [ id 0 ]\n", "m.gml:3: the file ends where a key or ']'"},
        {"m.gml", "graph [\n  node [ id 0 ]\n]\n]", "m.gml:4: here a key (a word) or ']'"},
        {"m.gml", "graph [ node [ id 0 ] ]\ngraph [ ]", "m.gml:2: a second graph in one file"},
        {"m.gml", "graph [\n node [ id 0 label \"a\n\n ] ]",
         "m.gml:2: a text in quotes does not end"},
        {"m.gml", "graph [\n node [ id zero ] ]",
         "m.gml:2: here a number, a text in quotes or '[' should be, after 'id'"},
        {"m.gml", "graph [\n node [ id ]\n]",
         "m.gml:2: here a number, a text in quotes or '[' should be, after 'id'"},
        {"m.gml", "graph [\n node [\n label \"a\" ]\n]", "m.gml:2: a node without an id"},
        {"m.gml", "graph [\n node [ id 1 ]\n node [ id 1 ]\n]",
         "m.gml:3: a second node with the id '1'; the first is in line 2"},
        {"m.gml", "graph [\n node [ id 1 ]\n edge [ source 1 ]\n]",
         "m.gml:3: an edge without a target"},
        {"m.gml", "graph [\n node [ id 1 ]\n edge [ target 1 ]\n]",
         "m.gml:3: an edge without a source"},
        {"m.gml", "graph [\n node [ id 1 ]\n edge [ source 1\n target 2 ]\n]",
         "m.gml:4: a link to the node '2', which is not in the file"},
        {"m.gml", "graph [\n node [ id 1\n Latitude 91.0 ]\n]",
         "m.gml:3: Latitude '91.0' is not in degrees from -90 to 90"},
        {"m.gml", "graph [\n node [ id 1\n Longitude \"east\" ]\n]",
         "m.gml:3: Longitude 'east' is not in degrees from -180 to 180"},
        {"m.gml", "graph [ node [ id 1 ] node [ id 2 ]\nedge [ source 1 target 2\ndelay -5 ] ]",
         "m.gml:3: '-5' is no delay from 0 to an hour; write it as in \"12.5ms\""},
        {"m.gml", "graph [ node [ id 1 ] node [ id 2 ]\nedge [ source 1 target 2\ndelay \"2h\" ] ]",
         "m.gml:3: '2h' is no delay"},
        {"m.gml", "graph [ node [ id 1 ] node [ id 2 ]\nedge [ source 1 target 2\nrate 5 ] ]",
         "m.gml:3: '5' is no rate; write it as in \"100Mbit\""},
        {"m.gml",
         "graph [ node [ id 1 ] node [ id 2 ]\nedge [ source 1 target 2\nLinkSpeedRaw -1.0 ] ]",
         "m.gml:3: LinkSpeedRaw '-1.0' is not a rate in bit/s"},
        {"m.gml",
         "graph [\nnode [ id 1 label \"a\" ]\nnode [ id 2 label \"b\" ]\nnode [ id 3 ]\n"
         "node [ id 4 ]\nedge [ source 1 target 3 ] ]",
         "m.gml:3: no path joins these 3 parts: 'a' and 1 more, 'b', 'node4'; "
         "'sim-wan topology --largest-component', or largest-part = yes in a scenario, keeps the "
         "largest"},
    };
    (void)state;
    CHECK_BAD(cases);
}

static void test_deep_lists_are_refused(void **state)
{
    struct bad_case bad = {"m.gml", NULL, "m.gml:1: more than 32 lists in each other"};
    char text[40 * 3 + 1] = "";
    (void)state;
    for (int i = 0; i < 40; i++)
        memcpy(text + 3 * i, "a [", 4);
    bad.text = text;
    check_bad(&bad, 1);
}

/* ---- GraphML ---- */
#define GRAPHML_HEAD                                                                               \
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>"                                                   \
    "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"                                  \
    "<key attr.name=\"label\" attr.type=\"string\" for=\"node\" id=\"d33\" />\n"                   \
    "<key attr.name=\"Longitude\" attr.type=\"double\" for=\"node\" id=\"d32\" />\n"               \
    "<key attr.name=\"Latitude\" attr.type=\"double\" for=\"node\" id=\"d29\" />\n"                \
    "<key attr.name=\"hyperedge\" attr.type=\"int\" for=\"node\" id=\"d30\" />\n"                  \
    "<key attr.name=\"LinkSpeedRaw\" attr.type=\"double\" for=\"edge\" id=\"d42\" />\n"            \
    "<key attr.name=\"delay\" attr.type=\"string\" for=\"edge\" id=\"d43\" />\n"
#define GRAPH GRAPHML_HEAD "<graph edgedefault=\"undirected\">\n"
#define END "</graph></graphml>\n"

static void test_graphml(void **state)
{
    static const struct good_case cases[] = {
        {"m.graphml", "<graphml><graph><node id=\"a\"/></graph></graphml>", "a"},
        {"map",
         GRAPH
         "<node id=\"0\"><data key=\"d29\">48.85341</data><data key=\"d32\">2.3488</data>"
         "<data key=\"d33\"> Paris &amp; around </data></node>"
         "<node id=\"1\"><data key=\"d33\">None</data><data key=\"d30\">1</data></node>"
         "<node id=\"n-x\"/>"
         "<edge source=\"0\" target=\"1\"><data key=\"d42\">155000000.0</data></edge>"
         "<edge id=\"e7\" source=\"n-x\" target=\"1\"><data key=\"d43\">2ms</data></edge>" END,
         "paris-around joint1(router) n-x | paris-around joint1 155Mbit 100us"
         " | n-x joint1 1Gbit 2ms"},
        {"m.xml",
         "<graphml><graph edgedefault=\"directed\"><edge source=\"a\" target=\"b\"/>"
         "<node id=\"a\"/><node id=\"b\"/></graph></graphml>",
         "a b | a b 1Gbit 5ms"},
    };
    (void)state;
    CHECK_GOOD(cases);
}

static void test_graphml_refused(void **state)
{
    static const struct bad_case cases[] = {
        {"m.xml", "", "m.xml:1: not well-formed XML: no element found"},
        {"m.xml", "<graphml>\n<graph>\n</graphml>", "m.xml:3: not well-formed XML: mismatched tag"},
        {"m.xml", "<graphml>\n</graphml>", "m.xml: no <graph> in it"},
        {"m.xml", "<graphml><graph/></graphml>", "m.xml: no node in it"},
        {"m.xml", "<graphml><graph>\n<node/>", "m.xml:2: <node> without id=\"...\""},
        {"m.xml", "<graphml><graph>\n<edge source=\"a\"/>", "m.xml:2: <edge> without target="},
        {"m.xml", "<graphml><graph>\n<node id=\"a\"><node id=\"b\"/>",
         "m.xml:2: a <node> inside of a <node>"},
        {"m.xml", "<graphml><graph/>\n<graph/></graphml>", "m.xml:2: a second <graph>"},
        {"m.xml", "<graphml><graph>\n<hyperedge/>", "m.xml:2: <hyperedge> is not known here"},
        {"m.xml", "<graphml><graph><node id=\"a\">\n<data key=\"d1\">1</data>",
         "m.xml:2: no <key> has the id 'd1'"},
        {"m.xml", "<graphml><key id=\"k\"/>\n<key id=\"k\"/>", "m.xml:2: a second <key>"},
        {"m.xml", "<graphml><graph><node id=\"a\"/>\n<node id=\"a\"/>",
         "m.xml:2: a second node with the id 'a'; the first is in line 1"},
        {"m.xml",
         "<graphml><graph><node id=\"a\"/>\n<edge source=\"a\" target=\"b\"/></graph></graphml>",
         "m.xml:2: a link to the node 'b', which is not in the file"},
        {"m.xml", GRAPH "<node id=\"0\">\n<data key=\"d29\">north</data>",
         "m.xml:10: Latitude 'north' is not in degrees"},
        {"m.xml",
         GRAPH "<node id=\"0\"/>\n<edge source=\"0\" target=\"0\"><data key=\"d43\">-1ms</data>",
         "m.xml:10: '-1ms' is no delay from 0 to an hour"},
        {"m.xml", "<!DOCTYPE g [<!ENTITY a \"aaaa\">]><graphml/>",
         "m.xml:1: a document type of its own"},
    };
    (void)state;
    CHECK_BAD(cases);
}

/* ---- lists of edges ---- */
static void test_edges(void **state)
{
    static const struct good_case cases[] = {
        {"list",
         "# from to rate delay\n\ns.example r1 100Mbit 15ms\r\n\tr1   A_2   # the rest\nr1 c "
         "1Gbit\n",
         "s.example r1 A_2 c | s.example r1 100Mbit 15ms | r1 A_2 1Gbit 5ms | r1 c 1Gbit 5ms"},
        {"list", "alone", "alone"},
        {"list", "a b 1Mbit 0ms\nb a 1Mbit 4ms", "a b | a b 2Mbit 0ns"},
    };
    static const struct bad_case bad[] = {
        {"list", "# nothing\n", "list: no node in it"},
        {"list", "a b 1Mbit 1ms x\n", "list:1: too much: 'x'; a line is A B [RATE [DELAY]]"},
        {"list", "a b\nb c fast\n", "list:2: 'fast' is no rate; write it as in 100Mbit"},
        {"list", "a b\nb c 0Mbit\n", "list:2: '0Mbit' is no rate"},
        {"list", "a b 1Mbit -1ms\n", "list:1: '-1ms' is no delay from 0 to an hour"},
        {"list", "a b 1Mbit 5\n", "list:1: '5' is no delay from 0 to an hour"},
        {"list", "a b\nb c/d\n", "list:2: 'c/d' is no host's name"},
        {"list", "a b\nb .c\n", "list:2: '.c' is no host's name"},
        {"list", "a b\nc d\n",
         "list:2: no path joins these 2 parts: 'a' and 1 more, 'c' and 1 more"},
    };
    (void)state;
    CHECK_GOOD(cases);
    CHECK_BAD(bad);
}

/* ---- places ---- */
static void test_delays_follow_the_great_circle(void **state)
{
    /* Computed apart, by the spherical law of cosines; 2/3 of c are 199,861.639 km/s. */
    static const struct {
        double longitude_a, latitude_a, longitude_b, latitude_b;
        gmc_duration delay;
    } cases[] = {
        {4.88969, 52.37403, 8.68333, 50.11667, GMC_US(1822)}, /* Amsterdam, Frankfurt: 364.2 km */
        {179.5, 0, -179.5, 0, GMC_US(556)},                   /* across the date line: 111.195 km */
        {0, 90, 77, -90, GMC_US(100145)},                     /* from pole to pole: 20,015.1 km */
        {10, 50, 10, 50, SIM_PLACE_DELAY_MIN},
        {10, 50, 10.1, 50, SIM_PLACE_DELAY_MIN}, /* 7 km */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_topo_node a = {.is_placed = true,
                                  .longitude = cases[i].longitude_a,
                                  .latitude = cases[i].latitude_a};
        struct sim_topo_node b = {.is_placed = true,
                                  .longitude = cases[i].longitude_b,
                                  .latitude = cases[i].latitude_b};
        assert_int_equal(sim_place_delay(&a, &b), cases[i].delay);
        assert_int_equal(sim_place_delay(&b, &a), cases[i].delay);
    }
}

static void test_missing_places_are_estimated(void **state)
{
    /* A joint between two cities that lie on both sides of the date line, and one behind it. */
    static const char text[] =
        "graph [ node [ id 0 label \"a\" Longitude 179.0 Latitude 10.0 ]"
        " node [ id 1 label \"b\" Longitude -177.0 Latitude 10.0 ]"
        " node [ id 2 label \"None\" hyperedge 1 ] node [ id 3 label \"far\" ]"
        " edge [ source 0 target 2 ] edge [ source 1 target 2 ] edge [ source 3 target 2 ] ]";
    struct sim_topo topo;
    struct sim_topo_notes notes;
    char error[SIM_TOPO_ERROR_MAX];
    (void)state;
    assert_ok(parse("m.gml", text, NULL, &topo, &notes, error));
    assert_float_equal(topo.nodes[2].longitude, -179.0, 1e-4);
    assert_float_equal(topo.nodes[2].latitude, 10.0, 0.01);
    assert_float_equal(topo.nodes[3].longitude, topo.nodes[2].longitude, 1e-9);
    assert_int_equal(topo.links[0].a_to_b.delay, topo.links[1].a_to_b.delay);
    assert_int_equal(topo.links[2].a_to_b.delay, SIM_PLACE_DELAY_MIN);
    assert_int_equal(notes.estimated_places, 2);
    assert_int_equal(notes.map_delays, 3);
    assert_int_equal(notes.default_delays, 0);
    sim_topo_fini(&topo);
}

/* ---- options and notes ---- */
static void test_options(void **state)
{
    struct sim_topo_options options = {.rate_bps = 8000000,
                                       .delay = GMC_MS(2),
                                       .queue = GMC_MS(100),
                                       .largest_component = true};
    struct sim_topo topo;
    struct sim_topo_notes notes;
    char error[SIM_TOPO_ERROR_MAX], out[256];
    (void)state;
    assert_ok(parse("list", "x y\na b\nb c\nz\n", &options, &topo, &notes, error));
    assert_string_equal(describe(&topo, out, sizeof(out)), "a b c | a b 8Mbit 2ms | b c 8Mbit 2ms");
    assert_int_equal(topo.links[0].a_to_b.queue_bytes, 100000);
    assert_int_equal(notes.dropped_nodes, 3);
    sim_topo_fini(&topo);
    /* Two full packets at least, however slow the wire is. */
    options.rate_bps = 8000;
    assert_ok(parse("list", "a b\n", &options, &topo, NULL, error));
    assert_int_equal(topo.links[0].b_to_a.queue_bytes, SIM_TOPO_QUEUE_BYTES_MIN);
    sim_topo_fini(&topo);
}

static void test_notes(void **state)
{
    struct sim_topo_notes notes = {.renamed_nodes = 2, .self_loops = 1};
    char buffer[SIM_TOPO_NOTE_MAX];
    size_t cursor = 0;
    (void)state;
    assert_string_equal(sim_topo_next_note(&notes, &cursor, buffer),
                        "2 nodes got a name: their label was missing or not unique");
    assert_string_equal(sim_topo_next_note(&notes, &cursor, buffer),
                        "1 links from a node to itself were left out");
    assert_null(sim_topo_next_note(&notes, &cursor, buffer));
}

/* ---- speeds ---- */
static void test_speeds(void **state)
{
    static const struct {
        const char *text;
        uint64_t rate_bps; /* 0: not understood */
    } cases[] = {
        {"10 Gbps", UINT64_C(10000000000)},
        {"155 Mbps", 155000000},
        {"155Mbit/s", 155000000},
        {"2.5 Gbit/s", 2500000000},
        {"34 mbps", 34000000},
        {"512 Kbps", 512000},
        {"64 kb/s", 64000},
        {"10 G", UINT64_C(10000000000)},
        {"10G", UINT64_C(10000000000)},
        {"1 T", UINT64_C(1000000000000)},
        {"1000 bps", 1000},
        {"< 10 Gbps", UINT64_C(10000000000)},
        {"<10 G", UINT64_C(10000000000)},
        {"&gt;=1 Gbps", 1000000000},
        {"2 x 10 Gbps", UINT64_C(20000000000)},
        {"4x10GE", UINT64_C(40000000000)},
        {"Gigabit Ethernet", 1000000000},
        {"OC-48", 2488320000},
        {"oc48c", 2488320000},
        {"STM-16", 2488320000},
        {"STM 1", 155520000},
        {"T3", 44736000},
        {"E1", 2048000},
        {"10 Gbps Lambda", UINT64_C(10000000000)},
        {"1 Gbps (leased)", 1000000000},
        {"", 0},
        {"10", 0},
        {"10 ", 0},
        {"Lit Fibre", 0},
        {"1-10 Gbps", 0},
        {"10 Gbps/155 Mbps", 0},
        {"10 Gbps and 1 Gbps", 0},
        {"10 MB/s", 0},
        {"10 MBps", 0},
        {"n x 10 Gbps", 0},
        {"0 Mbps", 0},
        {"0x10 Mbps", 0},
        {"1e3 Mbps", 0},
        {"2x", 0},
        {"5000 Tbps", 0},
        {"OC-", 0},
        {"T3x", 0},
        {"99999999999999999999999999 Gbps", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t rate_bps = 0;
        bool is_read = sim_speed_parse(cases[i].text, &rate_bps);
        if (is_read != (cases[i].rate_bps > 0) || rate_bps != cases[i].rate_bps)
            fail_msg("'%s' was read as %" PRIu64, cases[i].text, rate_bps);
    }
}

/* What cannot be read is said with its place, once for all of them, and has the default rate. */
static void test_unread_speeds(void **state)
{
    static const char text[] =
        "graph [\n" NODE("0", "label \"a\"") NODE("1", "label \"b\"") NODE("2", "label \"c\"")
            NODE("3", "label \"d\"") NODE("4", "label \"e\"") NODE("5", "label \"f\"")
                EDGE("0", "1", "    LinkSpeed \"155\"\n    LinkSpeedUnits \"Mbps\"\n")
                    EDGE("0", "2", "    LinkSpeed \"10 Gbps\"\n")
                        EDGE("0", "3", "    LinkSpeed \"10\"\n    LinkLabel \"fast\"\n")
                            EDGE("0", "4", "    LinkLabel \"1\xb1 Gbps\"\n")
                                EDGE("0", "5", "    LinkLabel \"Lit Fibre\"\n") "]\n";
    struct sim_topo topo;
    struct sim_topo_notes notes;
    char error[SIM_TOPO_ERROR_MAX], out[512], buffer[SIM_TOPO_NOTE_MAX];
    size_t cursor = 0;
    const char *note;
    (void)state;
    assert_ok(parse("m.gml", text, NULL, &topo, &notes, error));
    assert_string_equal(describe(&topo, out, sizeof(out)),
                        "a b c d e f | a b 155Mbit 5ms | a c 10Gbit 5ms | a d 1Gbit 5ms"
                        " | a e 1Gbit 5ms | a f 1Gbit 5ms");
    assert_int_equal(notes.default_rates, 1);
    assert_int_equal(notes.unread_rates, 2);
    do
        note = sim_topo_next_note(&notes, &cursor, buffer);
    while (note != NULL && strstr(note, "understood") == NULL);
    assert_string_equal(note, "2 links have the default rate, as their speed is not understood; "
                              "the first is '10' in line 31");
    sim_topo_fini(&topo);
}

static void test_many_of_one_label(void **state)
{
    enum { COUNT = 20000, BYTES = COUNT * 80 };
    struct sim_topo topo;
    struct sim_topo_notes notes;
    char error[SIM_TOPO_ERROR_MAX];
    char *text = malloc(BYTES);
    size_t len;
    (void)state;
    assert_non_null(text);
    len = (size_t)snprintf(text, BYTES, "graph [\n");
    for (int i = 0; i < COUNT; i++)
        len += (size_t)snprintf(text + len, BYTES - len,
                                "node [ id %d label \"a\" ]\nedge [ source 0 target %d ]\n", i, i);
    snprintf(text + len, BYTES - len, "]\n");
    assert_ok(parse("m.gml", text, NULL, &topo, &notes, error));
    assert_int_equal(topo.node_count, COUNT);
    assert_string_equal(topo.nodes[COUNT - 1].name, "a-20000");
    assert_int_equal(notes.renamed_nodes, COUNT - 1);
    assert_int_equal(notes.self_loops, 1);
    sim_topo_fini(&topo);
    free(text);
}

static void test_labels(void **state)
{
    static const char *const cases[][2] = {
        {"Paris", "paris"},
        {"  New  York, NY ", "new-york-ny"},
        {"a.example", "a.example"},
        {"?", ""},
        {"A.", "a"},
        {"--x--y--", "x-y"},
        {"\xe2\x82\xac", ""},
        {"&amp;", "amp"},
        {"&#0;b", "b"},
        {"\xc3", "a"},
        {"a. b", "a-b"},
        {"Ma\xc3\x9fstab", "masstab"},
    };
    char out[SIM_LABEL_NAME_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sim_label_to_name(cases[i][0], out);
        assert_string_equal(out, cases[i][1]);
        assert_true(out[0] == '\0' || sim_is_host_name(out));
    }
}

/* ---- files ---- */
static void test_files(void **state)
{
    struct sim_topo topo;
    char error[SIM_TOPO_ERROR_MAX];
    (void)state;
    assert_int_equal(sim_topo_read("/nonexistent/x.gml", &topo, error), GMC_ERR_INVALID);
    assert_string_equal(error,
                        "/nonexistent/x.gml: cannot be read: No such file or directory; generated "
                        "topologies are called star:6, tree:15, ba:100, ...");
    sim_topo_fini(&topo);
    assert_int_equal(sim_topo_read("/", &topo, error), GMC_ERR_INVALID);
    assert_string_equal(error, "/: cannot be read: Is a directory");
    sim_topo_fini(&topo);
    assert_int_equal(sim_topo_read("/dev/zero", &topo, error), GMC_ERR_INVALID);
    assert_string_equal(error, "/dev/zero: is larger than 64 MiB");
    sim_topo_fini(&topo);
}

/* Real maps are not part of the sources: their folder is in the environment. */
static void test_real_maps(void **state)
{
    static const struct {
        const char *name;
        size_t nodes, links;
        uint32_t renamed, routers, estimated, without_rate;
    } maps[] = {{"Geant2012.gml", 40, 61, 0, 0, 3, 22}, {"Kdl.gml", 754, 895, 117, 28, 28, 895}};
    const char *folder = getenv("GMC_TOPOLOGIES");
    (void)state;
    if (folder == NULL)
        skip();
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        struct sim_topo topo;
        struct sim_topo_notes notes;
        char error[SIM_TOPO_ERROR_MAX], path[512];
        snprintf(path, sizeof(path), "%s/%s", folder, maps[i].name);
        assert_ok(sim_topo_read_with(path, NULL, &topo, &notes, error));
        assert_int_equal(topo.node_count, maps[i].nodes);
        assert_int_equal(topo.link_count, maps[i].links);
        assert_int_equal(notes.renamed_nodes, maps[i].renamed);
        assert_int_equal(notes.routers, maps[i].routers);
        assert_int_equal(notes.estimated_places, maps[i].estimated);
        assert_int_equal(notes.default_rates, maps[i].without_rate);
        assert_int_equal(notes.map_delays, maps[i].links);
        sim_topo_fini(&topo);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gml),
        cmocka_unit_test(test_gml_refused),
        cmocka_unit_test(test_deep_lists_are_refused),
        cmocka_unit_test(test_graphml),
        cmocka_unit_test(test_graphml_refused),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_delays_follow_the_great_circle),
        cmocka_unit_test(test_missing_places_are_estimated),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_speeds),
        cmocka_unit_test(test_unread_speeds),
        cmocka_unit_test(test_many_of_one_label),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_real_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
