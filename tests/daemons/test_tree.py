#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Inside a domain without multicast: nodes feed each other as a tree, so that the gateway sends a few copies
and not one to each."""

import os
import subprocess

import lib

NODES = ["n1", "n2", "n3", "n4", "n5", "n6"]
BYTES = 4000000
REPLAY = os.path.join(lib.BUILD, "tools", "gmcast-replay")


def tree_grid(top, nodes=tuple(NODES), start=True, **options):
    grid = lib.Grid("ab", nodes={"b": list(nodes)}, start=False, **options)
    grid["b"].options["top"] = top
    if start:
        start_all(grid, nodes)
    return grid


def start_all(grid, nodes):
    """Nodes that come in the middle are placed as they come: here all are there before it begins."""
    grid.start()
    names = {node + ".test" for node in nodes}
    lib.wait(lambda: names <= {peer["domain"] for peer in grid["b"].peers()["peers"] if peer["up"]},
             "all nodes are there")


def copies(grid, nodes=tuple(NODES)):
    """Of the object, that the gateway sent to its nodes."""
    sent = grid["b"].bytes_sent()
    return sum(sent[node + ".test"] for node in nodes) / BYTES


def parents(grid, channel):
    """Who feeds each node, as it says; {} before the gateway knows of the transfer."""
    code, out, _ = grid["b"].gmcast("status", "--local", channel, "--json", check_status=False)
    inside = lib.json.loads(out)["domains"] if code == lib.COMPLETE else {}
    return {name.removesuffix(".test"): inside[name]["parent"].removesuffix(".test")
            for name in inside if name.removesuffix(".test") in NODES}


def said(grid):
    return [line for line in grid["b"].log().splitlines() if "nodes are a tree" in line]


def stage(grid, nodes=tuple(NODES)):
    grid.write("a", "x", BYTES)
    result = grid.stage("a", ["x"], "b").expect("complete")
    for name in ["b", *nodes]:
        grid.same("a", "x", name)
    return result


def people_see(grid, channel, above):
    """Who feeds whom, at the gateway; outside of the domain nobody sees nodes."""
    table = grid["b"].gmcast("status", "--local", channel)[1].splitlines()
    at = next(line for line in table if line.startswith("DOMAIN")).index("FED BY")
    fed = {line.split()[0]: line[at:].split()[0] for line in table if line.startswith("n")}
    lib.check(fed == {node + ".test": above[node] + ".test" for node in above}, str(table))
    drawn = lib.json.loads(grid["b"].gmcast("tree", channel, "--json")[1])
    lib.check(drawn == {"b.test": "a.test", **fed}, str(drawn))
    text = grid["b"].gmcast("tree", channel)[1]
    lib.check("n6.test  verified" in text and "not attached" not in text, text)
    lib.check("n1.test" not in grid["a"].gmcast("tree", channel)[1], "nodes are their gateway's")


def test_two_copies_for_six_nodes():
    with tree_grid('delivery_tree = "binary"\n') as grid:
        result = stage(grid)
        lib.check(copies(grid) < 2.4, "%g copies were sent" % copies(grid))
        lib.check("(binary), in which this gateway feeds 2" in said(grid)[-1], str(said(grid)))
        above = parents(grid, result.channel)
        lib.check(sorted(above.values()).count("b") == 2 and len(set(above.values())) == 3,
                  str(above))
        people_see(grid, result.channel, above)


def test_without_a_word_one_copy_goes_out():
    with tree_grid("") as grid:
        stage(grid)
        lib.check(copies(grid) < 1.4, "%g copies were sent" % copies(grid))
        lib.check("(serial)" in said(grid)[-1], str(said(grid)))


def test_separate_is_as_before():
    with tree_grid('delivery_tree = "separate"\n') as grid:
        stage(grid)
        lib.check(copies(grid) > 5.9, "%g copies were sent" % copies(grid))
        lib.check(not said(grid), str(said(grid)))


def test_a_torus():
    places = ", ".join('"%s=%d,%d"' % (name, i // 3 + 1, i % 3 + 1)
                       for i, name in enumerate(["n6", "n5", "b.test", "n1", "n2", "n3"]))
    top = 'network = "torus:3x3"\ndelivery_tree = "S-torus"\nnetwork_nodes = {%s}\n' % places
    with tree_grid(top) as grid:
        above = parents(grid, stage(grid).channel)
        # Along the ranks from the gateway, the 4th: (row + column) mod 3 + 3 column. n4 has no place.
        lib.check(above == {"n6": "b", "n1": "n6", "n2": "n1", "n3": "n2", "n5": "n3", "n4": "b"},
                  str(above))


def test_a_killed_relay_stops_nobody():
    with tree_grid('delivery_tree = "serial"\n', rate="20M", patience="2s") as grid:
        grid.write("a", "x", BYTES)
        run = grid.begin("a", ["x"], "b")
        channel = run.channel()
        lib.wait(lambda: len(set(parents(grid, channel).values())) == len(NODES), "all are attached")
        grid.wait_share("a", channel, "b", 0.3)
        above = parents(grid, channel)
        below = {parent: node for node, parent in above.items()}
        second = below[below["b"]]
        grid[second].kill()
        reason = run.wait().domain("b.test")["reason"]
        lib.check("1 of 6 nodes lack it: %s.test (" % second in reason, reason)
        for name in ["b", *NODES]:
            if name != second:
                grid.same("a", "x", name)
        lib.check(copies(grid) < 1.8, "%g copies were sent" % copies(grid))


def test_a_node_that_slept_has_neighbours_again():
    """Its transfer is over without it; in those that follow each node finds the one that feeds it."""
    with tree_grid('delivery_tree = "serial"\n', rate="20M", patience="2s") as grid:
        grid.write("a", "x", BYTES)
        run = grid.begin("a", ["x"], "b")
        channel = run.channel()
        lib.wait(lambda: len(set(parents(grid, channel).values())) == len(NODES), "all are attached")
        above = parents(grid, channel)
        below = {parent: node for node, parent in above.items()}
        second = below[below["b"]]
        grid[second].freeze()
        reason = run.wait().domain("b.test")["reason"]
        grid[second].thaw()
        lib.check("1 of 6 nodes lack it: %s.test (" % second in reason, reason)
        lib.wait(lambda: second + ".test" in [peer["domain"] for peer in grid["b"].peers()["peers"]
                                              if peer["up"]], "it is there again")
        for name in "123":
            grid.write("a", name, BYTES)
            grid.stage("a", [name], "b").expect("complete")
        lib.check("does not reach" not in grid["b"].log(), grid["b"].log())


def test_a_recording_has_the_tree():
    with tree_grid('delivery_tree = "binomial"\n', start=False) as grid:
        path = os.path.join(grid["b"].path, "recording")
        grid["b"].options["arguments"] = ["--record", path]
        start_all(grid, NODES)
        stage(grid)
        grid["b"].stop()
        done = subprocess.run([REPLAY, path], capture_output=True, text=True, check=False)
        lib.check(done.returncode == 0, done.stdout + done.stderr)
        grid["b"].start()


def test_configurations_are_checked():
    wrong = (('network = "ring:4"', "network: 'ring:4' is no network"),
             ('delivery_tree = "S-torus"', "'S-torus' is no schedule of this network; expected auto, "
                                           "separate, serial, binary or binomial"),
             ('network = "torus:4x4"', "b.test, this gateway, has no place on torus:4x4"),
             ('network = "torus:4x4"\nnetwork_nodes = {"b.test=5,1"}', "'b.test=5,1': "),
             ('network = "torus:4x4"\nnetwork_nodes = {"b.test=1,1", "n1=1,1"}',
              "'b.test=1,1' and 'n1=1,1' are at one place"),
             ('network = "torus:4x4"\nnetwork_nodes = {"b.test=1,1", "b.test=1,2"}',
              "are places of one node"),
             ('network_nodes = {"n1"}', "expected NAME=COORDINATES"))
    with lib.Grid("b", start=False) as grid:
        for top, word in wrong:
            grid.refuses("b", top, word)
    with lib.Grid("b", nodes={"b": ["n1"]}, start=False) as grid:
        for top in ('delivery_tree = "serial"', 'network = "star"', 'deliver = "nodes"'):
            grid.refuses("n1", top, "is for the gateway, b.test, which tells its nodes: remove it here")


if __name__ == "__main__":
    lib.main(globals())
