/* SPDX-License-Identifier: BSD-2-Clause */
/* The bound of transfers, on networks of which it can be said by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim-wan/run/limit.h"
#include "tests/lib/unit.h"

#define NET                                                                                        \
    "nodes = {s, a, b} routers = {r} link { between = {s, r} rate = 8Mbit }"                       \
    "link { between = {r, a} rate = 4Mbit loss = 50% } link { between = {r, b} rate = 4Mbit }"

static void read_text(const char *text, struct sim_plan *plan)
{
    char path[] = "/tmp/limit-XXXXXX", error[SIM_CONF_ERROR_MAX] = "";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    gmc_status status = sim_plan_read(plan, path, NULL, 0, error);
    unlink(path);
    if (status != GMC_OK)
        fail_msg("%s", error);
}

static void build_net(const struct sim_topo *topo, struct sim_engine *engine, struct sim_net *net)
{
    struct gmc_prng prng;
    gmc_prng_init(&prng, 1);
    sim_engine_init(engine);
    sim_net_init(net, engine, &(struct sim_net_sink){0}, &prng);
    for (size_t i = 0; i < topo->node_count; i++)
        sim_net_add_host(net);
    for (size_t i = 0; i < topo->link_count; i++)
        sim_net_add_wire(net, topo->links[i].a, topo->links[i].b, &topo->links[i].a_to_b,
                         &topo->links[i].b_to_a);
}

/* Of the first transfer, or of all of them. */
static double limit_of(const char *text, bool all)
{
    struct sim_plan plan;
    struct sim_engine engine;
    struct sim_net net;
    struct sim_limits limits;
    read_text(text, &plan);
    build_net(&plan.topo, &engine, &net);
    sim_limits_init(&limits, &plan, &net);
    double seconds = all ? sim_limits_of_all(&limits) : sim_limits_of(&limits, &plan.transfers[0]);
    sim_limits_fini(&limits);
    sim_net_fini(&net);
    sim_engine_fini(&engine);
    sim_plan_fini(&plan);
    return seconds;
}

static double limit_of_first(const char *text)
{
    return limit_of(text, false);
}

static double limit_of_all(const char *text)
{
    return limit_of(text, true);
}

static void test_to_each(void **state)
{
    (void)state;
    /* 8 Mbit to everyone, at most 2 Mbit/s to a. */
    assert_true(limit_of_first(NET "transfer t { from = s size = 1MB }") == 4);
    /* The other way there is no loss on the way of b, but the least of both counts. */
    assert_true(limit_of_first(NET "transfer t { from = b to = {s} size = 1MB }") == 2);
    /* What goes over x and y is passed on by gateways there: two ways add up: 3 and 1 Mbit/s, and
     * the narrower of 5 and 2. */
    assert_true(limit_of_first(
                    "nodes = {s, x, y, t} link { between = {s, x} rate = 3Mbit }"
                    "link { between = {x, t} rate = 3Mbit } link { between = {s, y} rate = 5Mbit }"
                    "link { between = {y, t} rate = 1Mbit } link { between = {x, y} rate = 1Mbit }"
                    "transfer o { from = s to = {t} size = 1MB }") == 2);
    /* Without rates there is no bound. */
    assert_true(limit_of_first("nodes = {s, t} link { between = {s, t} delay = 1ms }"
                               "transfer o { from = s size = 1MB }") == 0);
    assert_true(
        isinf(limit_of_first("nodes = {s, t} link { between = {s, t} rate = 1Mbit loss = 100% }"
                             "transfer o { from = s size = 1MB }")));
    /* A fault may make it faster. */
    assert_true(limit_of_first("nodes = {s, t} link { between = {s, t} rate = 1Mbit }"
                               "transfer o { from = s size = 1MB }"
                               "fault { what = wire between = {s, t} at = 1s rate = 4Mbit }") == 2);
    /* But not where it changes the other direction. */
    assert_true(
        limit_of_first("nodes = {s, t} link { between = {s, t} rate = 1Mbit }"
                       "transfer o { from = s size = 1MB }"
                       "fault { what = wire between = {t, s} one-way = yes rate = 4Mbit }") == 8);
}

/* Routers copy nothing: one copy leaves the source for each target that the others do not feed. */
static void test_copies(void **state)
{
    (void)state;
#define SHARED(OPTIONS)                                                                            \
    "nodes = {s, a, b, c} routers = {r} wire up { rate = 1Mbit } wire down { rate = 8Mbit }"       \
    "link { between = {s, r} rate = 8Mbit }" OPTIONS "transfer t { from = s size = 1MB }"
#define ALL_THREE(OPTIONS)                                                                         \
    "link { between = {a, r} " OPTIONS " } link { between = {b, r} " OPTIONS                       \
    " } link { between = {c, r} " OPTIONS " }"
    /* They can feed each other. */
    assert_true(limit_of_first(SHARED(ALL_THREE("wire = down"))) == 1);
    /* 24 Mbit arrive, and 8 + 3 * 1 Mbit/s leave. */
    double seconds = limit_of_first(SHARED(ALL_THREE("wire = up back = down")));
    assert_true(fabs(seconds - 24.0 / 11) < 1e-9);
    /* Losses of what leaves count: 8 + 3 * 0.5. */
    seconds = limit_of_first(SHARED(ALL_THREE("wire = up back = down loss = 50%")));
    assert_true(fabs(seconds - 24.0 / 9.5) < 1e-9);
    /* A gateway beside, which gets nothing itself, might help with what it has. */
    seconds = limit_of_first(
        "nodes = {s, a, b} routers = {r} wire up { rate = 1Mbit } wire down { rate = 8Mbit }"
        "link { between = {s, r} rate = 1Mbit } link { between = {a, r} wire = up back = down }"
        "link { between = {b, r} wire = down } transfer t { from = s to = {a} size = 1MB }");
    assert_true(seconds == 8);
    /* The wire between two routers carries a copy for each of those behind it: 24 Mbit, 4 Mbit/s
     * and what they send each other, 3 * 1 Mbit/s. */
    seconds = limit_of_first(
        "nodes = {s, a, b, c} routers = {q, r} wire up { rate = 1Mbit } wire down { rate = 9Mbit }"
        "link { between = {s, q} rate = 9Mbit } link { between = {q, r} rate = 4Mbit }" ALL_THREE(
            "wire = up back = down") "transfer t { from = s size = 1MB }");
    assert_true(fabs(seconds - 24.0 / 7) < 1e-9);
}

/* Packets go the way of the least delay, and no other. */
static void test_routes(void **state)
{
    (void)state;
#define DIAMOND(DELAY)                                                                             \
    "nodes = {s, t} routers = {x, y} link { between = {s, x} rate = 3Mbit delay = 4ms }"           \
    "link { between = {x, t} rate = 2Mbit } link { between = {s, y} rate = 8Mbit delay = " DELAY   \
    " } link { between = {y, t} rate = 8Mbit delay = 3ms } transfer o { from = s to = {t} size = " \
    "1MB }"
    assert_true(limit_of_first(DIAMOND("3ms")) == 4);
    assert_true(limit_of_first(DIAMOND("500us")) == 1);
    /* A gateway at y can pass on what does not go there by itself. */
    assert_true(limit_of_first(DIAMOND("3ms") "gateways = {s, t, y}") == 0.8);
}

/* What several transfers share. */
static void test_together(void **state)
{
    (void)state;
#define PAIR                                                                                       \
    "nodes = {s, a, b} routers = {r} wire w { rate = 8Mbit }"                                      \
    "link { between = {s, r} wire = w } link { between = {r, a} wire = w }"                        \
    "link { between = {r, b} wire = w }"
    /* Both leave the source. */
    const char *both = PAIR "transfer x { from = s to = {a} size = 1MB }"
                            "transfer y { from = s to = {b} size = 2MB }";
    assert_true(limit_of_first(both) == 1);
    assert_true(limit_of_all(both) == 3);
    /* Both arrive at b. */
    assert_true(limit_of_all(PAIR "transfer x { from = s to = {b} size = 1MB }"
                                  "transfer y { from = a to = {b} size = 2MB }") == 3);
    /* Nothing is shared. */
    assert_true(limit_of_all(PAIR "transfer x { from = s to = {a} size = 1MB }"
                                  "transfer y { from = b to = {s} size = 2MB }") == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_to_each),
                                       cmocka_unit_test(test_copies), cmocka_unit_test(test_routes),
                                       cmocka_unit_test(test_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
