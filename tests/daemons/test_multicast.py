#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A domain's nodes on a bridge: the gateway finds out which of them multicast reaches, says so, and sends
to these all at once."""

import os
import time

import lan
import lib

NODES = ["n1", "n2", "n3"]
BYTES = 4000000
MULTICAST = 'multicast_interface = "eth0"\nmulticast_rate = "100M"\n'
BLOCKED = "meta l4proto udp ip daddr 224.0.0.0/4 drop"
BLOCKED6 = "meta l4proto udp ip6 daddr ff00::/8 drop"


def multicast_grid(top="", listen=None, **options):
    grid = lan.LanGrid(NODES, start=False, **options)
    grid[lan.GATEWAY].options["top"] = MULTICAST + top
    if listen:
        grid[lan.GATEWAY].options["listen"] = listen
    return grid


def reached(grid):
    """How many nodes are reached, how many are not, as the gateway counts them."""
    counters = grid[lan.GATEWAY].counters()
    return counters["multicast_nodes_reached"], counters["multicast_nodes_not_reached"]


def wait_tested(grid, hear, deaf):
    # Reports come before the gateway concludes from them.
    concluded = "multicast.used" if hear else "multicast.unused"
    lib.wait(lambda: reached(grid) == (hear, deaf) and lines(grid, concluded),
             lambda: "%d nodes are reached, %d are not: %s" % (hear, deaf, reached(grid)))


def lines(grid, event):
    return [line for line in grid[lan.GATEWAY].log().splitlines() if " %s " % event in line]


def stage_and_compare(grid, file="x"):
    """What the gateway sent to its nodes in all, as a multiple of the object."""
    path = grid.write(lan.SOURCE, file, BYTES)
    before = grid.lan.sent_bytes(lan.GATEWAY)
    grid.stage(lan.SOURCE, [path], [lan.GATEWAY]).expect("complete")
    for name in [lan.GATEWAY, *NODES]:
        grid.same(lan.SOURCE, file, name)
    return (grid.lan.sent_bytes(lan.GATEWAY) - before) / BYTES


def sent_by_multicast(grid):
    return grid[lan.GATEWAY].counters()["group_sent"]


def test_multicast_arrives():
    with multicast_grid() as grid:
        grid.start()
        wait_tested(grid, 3, 0)
        said = lines(grid, "multicast.arrives")
        lib.check(len(said) == 3 and all("from_interface=eth0 to_interface=eth0 sent=16 received=16"
                                         in line for line in said), "\n".join(said))
        share = stage_and_compare(grid)
        lib.check(sent_by_multicast(grid) > 1000, "nothing went by multicast")
        lib.check(share < 1.5, "%g of the object was sent to three nodes" % share)


def test_one_writer_is_no_group():
    with multicast_grid() as grid:
        grid.start()
        wait_tested(grid, 3, 0)
        path = grid.write(lan.SOURCE, "x", BYTES)
        grid.stage(lan.SOURCE, [path], [lan.GATEWAY + "/shared"]).expect("complete")
        lib.check(sent_by_multicast(grid) == 0, "one node alone got data by multicast")


def test_losses_are_repaired():
    with multicast_grid() as grid:
        grid.start()
        wait_tested(grid, 3, 0)
        for name in NODES:
            grid.lan.lose(name, 0.1)
        share = stage_and_compare(grid)
        lib.check(grid[lan.GATEWAY].counters()["group_repairs"] > 0, "nothing was repaired")
        lib.check(share < 2.5, "%g of the object was sent to three nodes" % share)


def test_ipv6_arrives():
    with multicast_grid(top='multicast_address = "[ff15::4711]:7412"\n', listen="[::]") as grid:
        grid.start()
        wait_tested(grid, 3, 0)
        share = stage_and_compare(grid)
        lib.check(sent_by_multicast(grid) > 1000, "nothing went by multicast")
        lib.check(share < 1.5, "%g of the object was sent to three nodes" % share)


def joins(grid, is_ipv6):
    """The source-specific joins of all nodes while data goes to them by multicast."""
    path = grid.write(lan.SOURCE, "x", BYTES)
    run = grid.begin(lan.SOURCE, [path], [lan.GATEWAY], "--rate", str(8 * BYTES))
    lib.wait(lambda: sent_by_multicast(grid) > 1000, "it goes by multicast")
    found = [grid.lan.joined(name, is_ipv6) for name in NODES]
    run.wait().expect("complete")
    for name in NODES:
        grid.same(lan.SOURCE, "x", name)
    return found


def test_networks_may_filter_by_sender():
    """Where the sender is known groups are those of source-specific multicast, and joined so."""
    for is_ipv6, group, source in ((False, "e8", "0a4e0101"),
                                   (True, "ff35", "fd78" + 27 * "0" + "1")):
        with multicast_grid() as grid:
            if is_ipv6:
                grid.speak_ipv6()
            grid.start()
            wait_tested(grid, 3, 0)
            for found in joins(grid, is_ipv6):
                lib.check(len(found) == 1 and found[0][0].startswith(group) and
                          found[0][1] == source, found)
    # Listening on all its addresses it sends to the group from the one that the kernel takes.
    with multicast_grid(top='multicast_address = "[ff15::4711]:7412"\n', listen="[::]") as grid:
        grid.start()
        wait_tested(grid, 3, 0)
        for found in joins(grid, True):
            lib.check(len(found) == 1 and found[0][1] == "fd78" + 27 * "0" + "1", found)


def test_a_node_forges():
    """It writes the gateway's address into what it sends, which is all that the others' joins let
    pass: that is told. Everybody gets the data all the same, and it is named when it alone had the
    key of each group in which it forged."""
    group = "232.1.2.3:7412"
    for port in None, "99":
        with multicast_grid(top='multicast_address = "%s"\n' % group) as grid:
            grid["n3"].options["program"] = os.path.join(lib.BUILD, "tests/daemons/hostile_node")
            grid["n3"].options["environment"] = {"GMC_HOSTILE_GROUP": group}
            if port:
                grid["n3"].options["environment"]["GMC_HOSTILE_PORT"] = port
            grid.start()
            wait_tested(grid, 3, 0)
            stage_and_compare(grid)
            said = [line for line in grid[lan.GATEWAY].log().splitlines() if "somebody forges" in line]
            gateway = "%s:%d" % (grid.lan.address(lan.GATEWAY), grid[lan.GATEWAY].port)
            where = "from %s, as all others" % gateway if not port else "from %s:99, others from %s" % (
                grid.lan.address(lan.GATEWAY), gateway)
            lib.check(len(said) == 1 and "3 nodes have" in said[0] and "not the source's" in said[0] and
                      where in said[0] and "unicast from here on" in said[0], said)
            found = grid[lan.GATEWAY].gmcast("doctor", check_status=False)[1]
            lib.check("forgery" in found and "one of n1.test, n2.test, n3.test" in found, found)
            for turn in range(4):  # one of three, or two, and then each half of two
                if "n3.test forges" not in grid[lan.GATEWAY].log():
                    stage_and_compare(grid, "again-%d" % turn)
            found = grid[lan.GATEWAY].gmcast("doctor", check_status=False)[1]
            lib.check("it was n3.test" in found, found)


def test_datagrams_fit_the_nodes_network():
    """The source is not behind it: it is told what the nodes take."""
    for top in MULTICAST, "":
        with lan.LanGrid(NODES, start=False) as grid:
            grid[lan.GATEWAY].options["top"] = top
            grid.lan.set_mtu(1400)
            grid.start()
            if top:
                wait_tested(grid, 3, 0)
            stage_and_compare(grid)
            lib.check(not top or sent_by_multicast(grid) > 1000, "nothing went by multicast")


def test_blocked_multicast_is_named():
    with multicast_grid() as grid:
        grid.lan.rules("n2", BLOCKED)
        grid.start()
        wait_tested(grid, 2, 1)
        said = "\n".join(lines(grid, "multicast.lost"))
        lib.check("node=n2.test" in said and "by unicast" in said, said)
        told = {peer["domain"]: peer["multicast"] for peer in grid[lan.GATEWAY].peers()["peers"]}
        lib.check(told["n1.test"] == {"arrives": True, "reason": None} and
                  told["n2.test"] == {"arrives": False, "reason": "none of the test datagrams arrived"}
                  and told["s.test"] is None, told)
        stage_and_compare(grid)


def test_multicast_that_stops_is_noticed():
    """By a transfer; then the gateway looks again, and says so where it is asked."""
    with multicast_grid() as grid:
        grid.start()
        wait_tested(grid, 3, 0)
        grid.lan.rules("n2", BLOCKED)
        path = grid.write(lan.SOURCE, "x", 10 * BYTES)
        grid.stage(lan.SOURCE, [path], [lan.GATEWAY]).expect("complete")
        wait_tested(grid, 2, 1)
        told = {peer["domain"]: peer["multicast"] for peer in grid[lan.GATEWAY].peers()["peers"]}
        lib.check(not told["n2.test"]["arrives"] and told["n1.test"]["arrives"], told)


def test_the_deaf_get_it_from_each_other():
    """Multicast reaches two of five: one of these feeds the others as a chain, while it goes on. The gateway
    sends each byte once."""
    nodes = ["n1", "n2", "n3", "n4", "n5"]
    with lan.LanGrid(nodes, start=False, rate_bps=100000000) as grid:
        grid[lan.GATEWAY].options["top"] = MULTICAST
        for name in nodes[:3]:
            grid.lan.rules(name, BLOCKED)
        grid.start()
        wait_tested(grid, 2, 3)
        path = grid.write(lan.SOURCE, "x", 10 * BYTES)
        before = grid.lan.sent_bytes(lan.GATEWAY)
        began = time.monotonic()
        result = grid.stage(lan.SOURCE, [path], [lan.GATEWAY]).expect("complete")
        took = (time.monotonic() - began) / (10 * BYTES * 8 / 100e6)
        share = (grid.lan.sent_bytes(lan.GATEWAY) - before) / (10 * BYTES)
        for name in [lan.GATEWAY, *nodes]:
            grid.same(lan.SOURCE, "x", name)
        print("all five have it after %.2f of the time of one copy; %.2f copies were sent" % (took, share))
        said = "\n".join(line for line in grid[lan.GATEWAY].log().splitlines() if "are a tree" in line)
        lib.check("3 nodes that get nothing by multicast are a tree" in said, said)
        above = lib.json.loads(grid[lan.GATEWAY].gmcast("tree", result.channel, "--json")[1])
        fed = sorted(above[name + ".test"] for name in nodes[:3])
        lib.check(len(set(fed)) == 3 and lan.GATEWAY + ".test" not in fed, str(above))
        lib.check(share < 1.3, "%g of the object was sent" % share)
        # Their ports carry the group as well, in vain: it is their hosts that are deaf, and not the switch.
        lib.check(took < 3.2, "it took %g times as long as one copy" % took)


def test_multicast_that_nobody_gets_is_not_used():
    with multicast_grid() as grid:
        for name in NODES:
            grid.lan.rules(name, BLOCKED, BLOCKED6)
        grid.start()
        wait_tested(grid, 0, 3)
        said = lines(grid, "multicast.unused")
        lib.check(len(said) == 1 and "they feed each other" in said[0], grid[lan.GATEWAY].log())
        share = stage_and_compare(grid)
        lib.check(share < 1.5, "%g of the object was sent to three nodes that are a chain" % share)
        lib.check(sent_by_multicast(grid) == 0, "data went by multicast")


def test_configurations_are_checked():
    wrong = (('multicast_interface = "eth7"\nmulticast_rate = "1G"', "there is no interface 'eth7'"),
             ('multicast_interface = "lo"\nmulticast_rate = "0"', "multicast_rate is missing"),
             ('multicast_interface = "lo"\nmulticast_rate = "1G"\n'
              'multicast_address = "10.0.0.1:7412"', "multicast_address: '10.0.0.1:7412' is not right"),
             ('multicast_interface = "lo"\nmulticast_rate = "1G"\n'
              'multicast_address = "[ff15::1]:7412"', "cannot send to it; listen on [::]"),
             ('multicast_interface = "lo"\nmulticast_rate = "1G"\nmulticast_ttl = 33',
              "'33' is not right for 'multicast_ttl'"))
    with lib.Grid("a", start=False) as grid:
        for top, word in wrong:
            grid.refuses("a", top, word)


if __name__ == "__main__":
    lan.enter()
    lib.main(globals())
