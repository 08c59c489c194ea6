/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of what a link knows of UDP in each direction: wire i carries what side i sends. */
#include "tests/unit/link_wire.h"

static struct linkpair *pair_of(enum gmc_transport transport, bool out_blocked, bool in_blocked)
{
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    config.transport = transport;
    config.wires[0].udp_blocked = out_blocked;
    config.wires[1].udp_blocked = in_blocked;
    return linkpair_new(&config);
}

static void block(struct linkpair *pair, bool out, bool in)
{
    linkpair_wire(pair, 0)->udp_blocked = out;
    linkpair_wire(pair, 1)->udp_blocked = in;
}

/* As one side sees it. */
static void reach_is(struct linkpair *pair, int side, enum gmc_reach out, enum gmc_reach in)
{
    enum gmc_reach ours, theirs;
    gmc_link_reach(linkpair_link(pair, side), linkpair_now(pair), &ours, &theirs);
    assert_int_equal(ours, out);
    assert_int_equal(theirs, in);
}

/* Both sides know the same. */
static void reaches(struct linkpair *pair, enum gmc_reach out, enum gmc_reach in)
{
    reach_is(pair, 0, out, in);
    reach_is(pair, 1, in, out);
}

static enum gmc_reach reach_of(bool blocked)
{
    return blocked ? GMC_REACH_LOST : GMC_REACH_ARRIVES;
}

static void knows_which_direction_is_blocked(void **state)
{
    (void)state;
    for (int blocked = 0; blocked < 4; blocked++) {
        bool out = (blocked & 1) != 0, in = (blocked & 2) != 0;
        struct linkpair *pair = pair_of(GMC_TRANSPORT_AUTO, out, in);
        linkpair_run_until(pair, AT(10));
        reaches(pair, GMC_REACH_UNKNOWN, GMC_REACH_UNKNOWN);
        linkpair_run_until(pair, AT(3000));
        reaches(pair, reach_of(out), reach_of(in));
        linkpair_free(pair);
    }
}

/* Only one end asks; the other one is made to show itself. */
static void a_test_finds_it_anew(void **state)
{
    (void)state;
    for (int blocked = 0; blocked < 12; blocked++) {
        bool out = (blocked & 1) != 0, in = (blocked & 2) != 0;
        int before = blocked / 4 + 1; /* something is, or the link would be on UDP */
        struct linkpair *pair = pair_of(GMC_TRANSPORT_AUTO, (before & 1) != 0, (before & 2) != 0);
        linkpair_run_until(pair, AT(8000));
        block(pair, out, in);
        gmc_link_test(linkpair_link(pair, 0), linkpair_now(pair));
        linkpair_run_until(pair, AT(10000));
        reach_is(pair, 0, reach_of(out), reach_of(in));
        if (blocked % 4 == 0) {
            struct gmc_link_info info;
            gmc_link_info(linkpair_link(pair, 0), &info);
            assert_int_equal(info.path, GMC_PATH_UDP);
        }
        linkpair_free(pair);
    }
}

/* A path on UDP that died is noticed although nobody watches it. */
static void a_test_of_a_dead_path_ends_it(void **state)
{
    (void)state;
    struct linkpair *pair = pair_of(GMC_TRANSPORT_AUTO, false, false);
    linkpair_run_until(pair, AT(1000));
    gmc_link_test(linkpair_link(pair, 0), linkpair_now(pair));
    linkpair_run_until(pair, AT(1020));
    reach_is(pair, 0, GMC_REACH_UNKNOWN, GMC_REACH_UNKNOWN); /* before, it did not matter */
    linkpair_run_until(pair, AT(1040));
    reach_is(pair, 0, GMC_REACH_ARRIVES, GMC_REACH_ARRIVES);
    block(pair, true, false);
    gmc_link_test(linkpair_link(pair, 0), linkpair_now(pair));
    linkpair_run_until(pair, AT(2000));
    reach_is(pair, 0, GMC_REACH_UNKNOWN, GMC_REACH_UNKNOWN);
    linkpair_run_until(pair, AT(4000));
    assert_int_equal(gmc_link_state(linkpair_link(pair, 0)), GMC_LINK_DEAD);
    linkpair_free(pair);
}

static void does_not_say_what_it_cannot_know(void **state)
{
    (void)state;
    /* UDP was not tried. */
    struct linkpair *pair = pair_of(GMC_TRANSPORT_TCP, false, false);
    linkpair_run_until(pair, AT(3000));
    gmc_link_test(linkpair_link(pair, 0), linkpair_now(pair));
    linkpair_run_until(pair, AT(6000));
    reaches(pair, GMC_REACH_UNKNOWN, GMC_REACH_UNKNOWN);
    linkpair_free(pair);
    /* Nobody can tell over TLS that our datagrams came. */
    pair = pair_of(GMC_TRANSPORT_UDP, false, true);
    linkpair_run_until(pair, AT(3000));
    reach_is(pair, 0, GMC_REACH_UNKNOWN, GMC_REACH_LOST);
    /* What is heard shows that the way back works. */
    reach_is(pair, 1, GMC_REACH_LOST, GMC_REACH_ARRIVES);
    linkpair_free(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_which_direction_is_blocked),
        cmocka_unit_test(a_test_finds_it_anew),
        cmocka_unit_test(a_test_of_a_dead_path_ends_it),
        cmocka_unit_test(does_not_say_what_it_cannot_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
