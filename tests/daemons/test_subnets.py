#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A domain of two subnets, between which multicast does not pass: one node of the other subnet gets the data
and sends it on to all there; and a gateway outside of its nodes' network, for which a head node does so."""


import lan
import lib

HERE, THERE = ["n1", "n2"], ["m1", "m2", "m3"]
BYTES = 8000000
MULTICAST = 'multicast_interface = "eth0"\nmulticast_rate = "200M"\n'
SLOW = MULTICAST.replace("200M", "40M")


def subnet_grid(here, there, relays, gateway=MULTICAST):
    grid = lan.LanGrid([*here, *there], branch=there, start=False)
    grid[lan.GATEWAY].options["top"] = gateway
    for name in relays:
        grid[name].options["top"] = MULTICAST
    grid.start()
    return grid


def wait_tested(grid, hear, deaf):
    def reached():
        counters = grid[lan.GATEWAY].counters()
        return counters["multicast_nodes_reached"], counters["multicast_nodes_not_reached"]
    lib.wait(lambda: reached() == (hear, deaf),
             lambda: "%d nodes are reached, %d are not: %s" % (hear, deaf, reached()))


def stage(grid, name, nodes, state="complete"):
    """What the gateway sent to its nodes in all, as a multiple of the object."""
    path = grid.write(lan.SOURCE, name, BYTES)
    before = grid.lan.sent_bytes(lan.GATEWAY)
    # At the ports' rate: a slow machine loses what comes faster, and gets it again.
    grid.stage(lan.SOURCE, [path], [lan.GATEWAY], "--rate", "200M").expect(state)
    for each in [lan.GATEWAY, *nodes]:
        grid.same(lan.SOURCE, name, each)
    return (grid.lan.sent_bytes(lan.GATEWAY) - before) / BYTES


def sent_by_multicast(grid, name):
    return grid[name].counters()["group_sent"]


def relays_of(grid, names):
    return [name for name in names if sent_by_multicast(grid, name) > 1000]


def test_each_subnet_gets_a_copy():
    with subnet_grid(HERE, THERE, THERE) as grid:
        wait_tested(grid, len(HERE), len(THERE))
        stage(grid, "x", HERE + THERE)
        relays = relays_of(grid, THERE)
        lib.check(len(relays) == 1, "of the other subnet %s relay" % (relays or "none"))
        lib.check("relays to its subnet 10.78.3.0/24" in grid[lan.GATEWAY].log(),
                  grid[lan.GATEWAY].log())
        # The gateway knows now who is where.
        share = stage(grid, "y", HERE + THERE)
        lib.check(share < 2.5, "%g of the object was sent to two subnets" % share)
        lib.check(relays_of(grid, THERE) == relays, "the relay changed for no reason")


def test_another_relay_takes_over():
    with subnet_grid(HERE, THERE, THERE, gateway=SLOW) as grid:
        wait_tested(grid, len(HERE), len(THERE))
        stage(grid, "x", HERE + THERE)
        relay = relays_of(grid, THERE)[0]
        others = [name for name in THERE if name != relay]
        before = sent_by_multicast(grid, relay)
        staged = grid.begin(lan.SOURCE, [grid.write(lan.SOURCE, "y", 4 * BYTES)], [lan.GATEWAY])
        lib.wait(lambda: sent_by_multicast(grid, relay) > before + 1000, "%s relays again" % relay)
        grid[relay].kill()
        lib.wait(lambda: relays_of(grid, others), "another node takes the place of %s" % relay)
        grid[relay].start()
        staged.wait().expect("complete")
        for each in [lan.GATEWAY, *HERE, *THERE]:
            grid.same(lan.SOURCE, "y", each)


def test_a_head_node_delivers():
    with subnet_grid([], THERE, ["m2"], gateway="") as grid:
        stage(grid, "x", THERE)
        lib.check(relays_of(grid, THERE) == ["m2"], grid[lan.GATEWAY].log())
        share = stage(grid, "y", THERE)
        lib.check(share < 1.3, "%g of the object was sent to the head node" % share)


def test_configurations_are_checked():
    with lib.Grid("a", nodes={"a": ["n"]}, start=False) as grid:
        grid.refuses("n", 'multicast_rate = "100M"', "needs multicast_interface too")
        grid.refuses("n", 'multicast_interface = "lo"\nmulticast_rate = "100M"\n'
                     'multicast_address = "10.0.0.1:7412"', "'10.0.0.1:7412' is not right")


if __name__ == "__main__":
    lan.enter()
    lib.main(globals())
