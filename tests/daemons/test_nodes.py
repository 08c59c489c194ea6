#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Inside a domain: gmcast-noded gets from its gateway what that receives, and the domain's verdict
is that of its nodes too."""

import lib

NODES = ["n1", "n2", "n3", "n4"]
BYTES = 3000000


def test_all_nodes_get_it():
    with lib.Grid("ab", nodes={"b": NODES}) as grid:
        grid.write("a", "tree/x", BYTES)
        grid.write("a", "tree/empty", b"")
        result = grid.stage("a", ["tree"], "b").expect("complete")
        for name in ["b", *NODES]:
            grid.same("a", "tree", name)
        _, out, _ = grid["b"].gmcast("status", "--local", result.channel, "--json")
        inside = lib.json.loads(out)["domains"]
        lib.check(sorted(inside) == sorted(name + ".test" for name in ["b", *NODES]), out)
        lib.check(all(node["state"] == "verified" for node in inside.values()), out)
        # A node knows no domains; it finds what it has by the same name.
        _, out, _ = grid["n1"].gmcast("status", "--local", result.channel, "--json")
        lib.check(lib.json.loads(out)["state"] == "complete", out)


def test_a_killed_node_goes_on():
    with lib.Grid("ab", nodes={"b": NODES}, rate="40M") as grid:
        grid.write("a", "x", 10000000)
        run = grid.begin("a", ["x"], "b")
        grid.wait_share("a", run.channel(), "b", 0.4)
        grid["n2"].kill()
        lib.wait(lambda: grid["b"].local_status(run.channel())["bytes_here"] == 10000000,
                 "the gateway has all of it")
        lib.check(grid["b"].local_status(run.channel())["state"] == "running", "n2 has not")
        grid["n2"].start()
        run.wait().expect("complete")
        for name in ["b", *NODES]:
            grid.same("a", "x", name)


def test_a_node_that_is_away_is_named():
    with lib.Grid("ab", nodes={"b": NODES}, patience="2s") as grid:
        grid["n3"].stop()
        grid.write("a", "x", BYTES)
        result = grid.stage("a", ["x"], "b")
        reason = result.domain("b.test")["reason"]
        lib.check("1 of 4 nodes lack it: n3.test (" in reason, str(result))
        for name in ["b", "n1", "n2", "n4"]:
            grid.same("a", "x", name)
        grid.absent("n3", "x")


def test_a_stopped_node_is_let_go():
    """SIGTERM in mid-transfer: it is waited for as long as patience says, then it has left."""
    with lib.Grid("ab", nodes={"b": NODES}, patience="2s", rate="20M") as grid:
        grid.write("a", "x", 2 * BYTES)
        run = grid.begin("a", ["x"], "b")
        grid.wait_share("a", run.channel(), "b", 0.3)
        grid["n3"].stop()
        result = run.wait().expect("complete")
        told = result.domain("b.test")
        lib.check(told["nodes"] == {"count": 4, "verified": 3, "failed": 0, "left": 1} and
                  "1 of 4 nodes left before they had it: n3.test (n3.test ended the session: "
                  "the node is being stopped)" in told["reason"], str(result))
        for name in ["b", "n1", "n2", "n4"]:
            grid.same("a", "x", name)
        grid.absent("n3", "x")


def test_a_stopped_node_comes_back():
    with lib.Grid("ab", nodes={"b": NODES}, patience="500ms", rate="10M") as grid:
        grid.write("a", "x", 2 * BYTES)
        run = grid.begin("a", ["x"], "b")
        grid.wait_share("a", run.channel(), "b", 0.2)
        grid["n3"].stop()
        lib.wait(lambda: "node n3.test left" in grid["b"].log(), "it has left")
        grid["n3"].start()
        result = run.wait().expect("complete")
        lib.check(result.domain("b.test")["nodes"]["verified"] == 4, str(result))
        grid.same("a", "x", "n3")


def test_a_stopped_node_that_was_named():
    with lib.Grid("ab", nodes={"b": NODES}, patience="1s", rate="20M") as grid:
        grid.write("a", "x", 2 * BYTES)
        run = grid.begin("a", ["x"], ["b/n1+n3"])
        grid.wait_share("a", run.channel(), "b", 0.3)
        grid["n3"].stop()
        result = run.wait()
        lib.check("1 of 2 nodes lack it: n3.test (" in result.domain("b.test")["reason"],
                  str(result))


def test_a_node_without_room_is_named():
    with lib.Grid("ab", nodes={"b": NODES}) as grid:
        grid.write("n1", "x", b"in the way", folder="incoming")
        grid.write("a", "x", BYTES)
        result = grid.stage("a", ["x"], "b")
        lib.check("1 of 4 nodes lack it: n1.test (" in result.domain("b.test")["reason"],
                  str(result))
        grid.same("a", "x", "n2")


def test_a_stranger_is_no_node():
    with lib.Grid("ab", nodes={"b": ["n1", "n2"]}, start=False) as grid:
        grid["b"].options["unknown"] = ["n2"]
        grid.start()
        grid.write("a", "x", BYTES)
        grid.stage("a", ["x"], "b").expect("complete")
        grid.same("a", "x", "n1")
        grid.absent("n2", "x")
        # Taken in while the gateway runs, it gets what comes next.
        grid["b"].options["unknown"] = []
        grid["b"].reload()
        lib.wait(lambda: any(peer["domain"] == "n2.test" and peer["up"]
                             for peer in grid["b"].peers()["peers"]), "n2 is let in")
        grid.write("a", "y", BYTES)
        grid.stage("a", ["y"], "b").expect("complete")
        grid.same("a", "y", "n2")


def test_configurations_are_told_apart():
    with lib.Grid("ab", nodes={"b": ["n1"]}, start=False) as grid:
        for name, program, word in (("n1", lib.GATEWAYD, "is for gmcast-noded"),
                                    ("b", lib.NODED, "'node_of' is missing")):
            grid[name].write_conf()
            done = lib.subprocess.run([program, "-T", "-c", grid[name].conf_path],
                                      capture_output=True, text=True, check=False)
            lib.check(done.returncode == 1 and word in done.stderr, done.stderr)


if __name__ == "__main__":
    lib.main(globals())
