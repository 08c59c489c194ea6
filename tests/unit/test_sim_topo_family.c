/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated topologies: their shapes, that the text repeats them, and what is refused. */
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"
#include "sim-wan/topo/family.h"
#include "sim-wan/topo/read.h"
#include "tests/lib/unit.h"

static void read_family(const char *text, struct sim_topo *topo)
{
    char error[SIM_TOPO_ERROR_MAX];
    gmc_status status = sim_topo_read(text, topo, error);
    assert_string_equal(error, "");
    assert_int_equal(status, GMC_OK);
}

static uint32_t *degrees(const struct sim_topo *topo)
{
    uint32_t *degree = sim_calloc(topo->node_count, sizeof(*degree));
    for (size_t i = 0; i < topo->link_count; i++) {
        degree[topo->links[i].a]++;
        degree[topo->links[i].b]++;
    }
    return degree;
}

static void test_shapes(void **state)
{
    /* Least and largest degree say much of the shape of so few nodes. */
    static const struct {
        const char *text;
        size_t nodes, links;
        uint32_t least, largest;
    } cases[] = {
        {"star:6", 7, 6, 1, 6},
        {"line:1", 1, 0, 0, 0},
        {"line:5", 5, 4, 1, 2},
        {"ring:2", 2, 1, 1, 1},
        {"ring:5", 5, 5, 2, 2},
        {"tree:7", 7, 6, 1, 3},
        {"tree:13,fanout=3", 13, 12, 1, 4},
        {"mesh:4x3", 12, 17, 2, 4},
        {"mesh:1x3", 3, 2, 1, 2},
        {"full:6", 6, 15, 5, 5},
        {"random:3", 3, 2, 1, 2},
        {"random:2,extra=0", 2, 1, 1, 1},
        {"random:4,extra=3", 4, 6, 3, 3}, /* all there can be */
        {"ba:3,m=2", 3, 3, 2, 2},
        {"ba:2,m=1", 2, 1, 1, 1},
        {"waxman:4,alpha=1,beta=0.000001", 4, 3, 1, 3},
        {"waxman:1", 1, 0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_topo topo;
        uint32_t least = UINT32_MAX, largest = 0;
        read_family(cases[i].text, &topo);
        uint32_t *degree = degrees(&topo);
        for (size_t n = 0; n < topo.node_count; n++) {
            least = degree[n] < least ? degree[n] : least;
            largest = degree[n] > largest ? degree[n] : largest;
        }
        assert_int_equal(topo.node_count, cases[i].nodes);
        assert_int_equal(topo.link_count, cases[i].links);
        assert_true(least >= cases[i].least && largest <= cases[i].largest);
        free(degree);
        sim_topo_fini(&topo);
    }
}

static bool is_same(const struct sim_topo *a, const struct sim_topo *b)
{
    if (a->node_count != b->node_count || a->link_count != b->link_count)
        return false;
    for (size_t i = 0; i < a->link_count; i++)
        if (a->links[i].a != b->links[i].a || a->links[i].b != b->links[i].b ||
            a->links[i].a_to_b.delay != b->links[i].a_to_b.delay)
            return false;
    return true;
}

static void test_seeds(void **state)
{
    static const char *const cases[][3] = {
        {"random:50,delay=1ms..20ms", "random:50,seed=1,delay=1ms..20ms",
         "random:50,delay=1ms..20ms,seed=2"},
        {"ba:50,m=3", "ba:50,m=3,seed=1", "ba:50,m=3,seed=2"},
        {"waxman:50", "waxman:50,seed=1,alpha=0.15,beta=0.2", "waxman:50,seed=2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_topo topos[3];
        for (size_t t = 0; t < 3; t++)
            read_family(cases[i][t], &topos[t]);
        assert_true(is_same(&topos[0], &topos[1]));
        assert_false(is_same(&topos[0], &topos[2]));
        for (size_t t = 0; t < 3; t++)
            sim_topo_fini(&topos[t]);
    }
}

/* FNV-1a over the links: the same with each compiler and on each machine, and tomorrow. */
static uint64_t hash(const char *text)
{
    struct sim_topo topo;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    read_family(text, &topo);
    for (size_t i = 0; i < topo.link_count; i++) {
        const struct sim_topo_link *link = &topo.links[i];
        uint64_t values[] = {link->a, link->b, link->a_to_b.delay, link->b_to_a.delay};
        for (size_t v = 0; v < 4; v++)
            h = (h ^ values[v]) * UINT64_C(0x100000001b3);
    }
    sim_topo_fini(&topo);
    return h;
}

static void test_hashes(void **state)
{
    (void)state;
    assert_int_equal(hash("random:300,seed=7,delay=1ms..20ms"), UINT64_C(0x403827334d17c61d));
    assert_int_equal(hash("ba:300,m=3,seed=7"), UINT64_C(0xfd50f02883194a91));
    assert_int_equal(hash("waxman:300,seed=7"), UINT64_C(0xbb3e7fea1c18a34b));
}

/* Few nodes have many links: in the model the share of those with more than k falls as k^-2. */
static void test_ba_has_hubs(void **state)
{
    struct sim_topo topo;
    uint32_t above_20 = 0, largest = 0;
    (void)state;
    read_family("ba:10000,m=2", &topo);
    uint32_t *degree = degrees(&topo);
    for (size_t i = 0; i < topo.node_count; i++) {
        assert_true(degree[i] >= 2);
        above_20 += degree[i] > 20;
        largest = degree[i] > largest ? degree[i] : largest;
    }
    /* 2 * 3 / (21 * 22) of 10,000 are 130 (Dorogovtsev, Mendes, Samukhin, 2000). */
    assert_in_range(above_20, 90, 170);
    assert_true(largest > 100);
    free(degree);
    sim_topo_fini(&topo);
}

static void test_refused(void **state)
{
    static const char *const cases[][2] = {
        {"star:", "star:: the size has to be a number of nodes"},
        {"star:-1", "star:-1: the size has to be a number of nodes"},
        {"line:0", "line:0: a topology has 1 to 100000 nodes"},
        {"star:100000", "star:100000: a topology has 1 to 100000 nodes"},
        {"mesh:3", "mesh:3: the size has to be WIDTHxHEIGHT, as in mesh:4x3"},
        {"mesh:0x3", "mesh:0x3: a topology has 1 to 100000 nodes"},
        {"mesh:1000x1000", "mesh:1000x1000: a topology has 1 to 100000 nodes"},
        {"full:2000", "full:2000: more than 1000000 links"},
        {"ba:3,m=3", "ba:3,m=3: ba needs more nodes than m"},
        {"ba:90000,m=20", "ba:90000,m=20: more than 1000000 links"},
        {"waxman:10001", "waxman:10001: waxman has at most 10000 nodes"},
        {"random:4,extra=4", "random:4,extra=4: no room for that many extra links"},
        {"tree:3,fanout=0", "tree:3,fanout=0: 'fanout=0' is wrong; expected fanout=NUMBER, from 1"},
        {"tree:3,m=2", "tree:3,m=2: 'm=2' is wrong; expected seed, rate, delay or"},
        {"star:3,rate=0Mbit", "star:3,rate=0Mbit: 'rate=0Mbit' is wrong; expected rate=RATE"},
        {"star:3,delay=2ms..1ms", "star:3,delay=2ms..1ms: 'delay=2ms..1ms' is wrong; expected"},
        {"star:3,seed", "star:3,seed: 'seed' is wrong; expected seed=NUMBER"},
        {"waxman:9,beta=1.1", "waxman:9,beta=1.1: 'beta=1.1' is wrong; expected beta=PART"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_topo topo;
        char error[SIM_TOPO_ERROR_MAX];
        assert_int_equal(sim_topo_read(cases[i][0], &topo, error), GMC_ERR_INVALID);
        if (strncmp(error, cases[i][1], strlen(cases[i][1])) != 0)
            assert_string_equal(error, cases[i][1]);
        assert_int_equal(topo.node_count, 0);
    }
    assert_false(sim_family_is_named("star"));
    assert_false(sim_family_is_named("stars:3"));
    assert_false(sim_family_is_named(":3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),  cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_hashes),  cmocka_unit_test(test_ba_has_hubs),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
