#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Where a domain delivers: its storage alone, all nodes, some, or one that writes for all; what a
node may not do; nodes that are asked again."""

import os

import lib

NODES = ["n1", "n2", "n3"]
BYTES = 1000000


def stage(grid, path, target):
    return grid.begin("a", [path], [target]).wait()


def expect_at(grid, path, having):
    grid.same("a", path, "b")
    for node in NODES:
        if node in having:
            grid.same("a", path, node)
        else:
            grid.absent(node, path)


def test_the_source_says_where():
    with lib.Grid("ab", nodes={"b": NODES}) as grid:
        for i, (target, having) in enumerate((("b/gateway", []), ("b/nodes", NODES), ("b", NODES),
                                              ("b/n1+n3.test", ["n1", "n3"]), ("b/n2:", ["n2"]))):
            grid.write("a", "x%d" % i, BYTES)
            result = stage(grid, "x%d" % i, target).expect("complete")
            expect_at(grid, "x%d" % i, having)
            nodes = result.domain("b.test").get("nodes")
            lib.check((nodes or {"count": 0})["count"] == len(having) and
                      (not nodes or nodes["verified"] == len(having)), str(result))
        grid.write("a", "y", BYTES)
        stage(grid, "y", "b/n1:sub/").expect("complete")
        grid.same("a", "y", "n1", "sub/y")


def test_one_writes_for_all():
    with lib.Grid("ab", nodes={"b": NODES}) as grid:
        grid.write("a", "x", BYTES)
        result = stage(grid, "x", "b/shared").expect("complete")
        lib.check(result.domain("b.test")["nodes"] == {"count": 1, "verified": 1, "failed": 0,
                                                       "left": 0}, str(result))
        having = [node for node in NODES if os.path.exists(grid.incoming(node, "x"))]
        lib.check(len(having) == 1, str(having))


def test_another_writes_when_that_one_is_gone():
    with lib.Grid("ab", nodes={"b": NODES}, rate="20M", patience="1s", start=False) as grid:
        # One file system: every node's directory is the same.
        for node in NODES[1:]:
            grid[node].incoming = grid["n1"].incoming
        grid.start()
        grid.write("a", "x", 5 * BYTES)
        run = grid.begin("a", ["x"], ["b/shared"])
        grid.wait_share("a", run.channel(), "b", 0.4)
        writers = [node for node in NODES if "node %s.test writes" % node in grid["b"].log()]
        lib.check(len(writers) == 1, str(writers))
        grid[writers[0]].kill()
        run.wait().expect("complete")
        lib.check(grid["b"].log().count(" writes for all") == 2, grid["b"].log())
        grid.same("a", "x", "n1")
        # What the first one left goes when it is back and hears that all is over.
        grid[writers[0]].start()
        lib.wait(lambda: not [entry for entry in os.listdir(grid["n1"].incoming)
                              if entry.startswith(".gmcast")], "nothing is left")
        grid.same("a", "x", "n1")


def test_the_configuration_says_where():
    with lib.Grid("ab", nodes={"b": NODES}, start=False) as grid:
        grid["b"].options["top"] = 'deliver = "n2"'
        grid.start()
        grid.write("a", "x", BYTES)
        stage(grid, "x", "b").expect("complete")
        expect_at(grid, "x", ["n2"])
        grid.write("a", "y", BYTES)
        stage(grid, "y", "b/nodes").expect("complete")
        expect_at(grid, "y", NODES)
        grid["b"].options["top"] = 'deliver = "n1+n3"'
        grid["b"].reload()
        grid.write("a", "z", BYTES)
        stage(grid, "z", "b").expect("complete")
        expect_at(grid, "z", ["n1", "n3"])
        grid["b"].options["top"] = 'deliver = "n2++"'
        grid["b"].write_conf()
        done = lib.subprocess.run([lib.GATEWAYD, "-T", "-c", grid["b"].conf_path],
                                  capture_output=True, text=True, check=False)
        lib.check(done.returncode == 1 and "deliver: 'n2++' is not right" in done.stderr,
                  done.stderr)


def test_refusals_in_words():
    with lib.Grid("abc", nodes={"b": NODES}) as grid:
        grid.write("a", "x", BYTES)
        for target, words in (("b/n9", "b.test has no node n9"), ("c/nodes", "c.test has no nodes"),
                              ("b/n1+n9", "b.test has no node n9"), ("c/n1", "c.test has no node")):
            result = stage(grid, "x", target)
            reason = result.domain(target[0] + ".test")["reason"]
            lib.check(words in reason and "n2" not in reason, str(result))
            grid.absent(target[0], "x")
        for target, words in (("b/", "is no target"), ("b/n1/x", "is no target"),
                              ("b/n1+", "does not deliver to \"n1+\""), ("/n1", "is no target")):
            code, _, err = grid["a"].gmcast("stage", os.path.join(grid["a"].data, "x"), "--to",
                                            target, check_status=False)
            lib.check(code == 1 and words in err, err)


def test_resume_reaches_nodes_that_were_given_up():
    with lib.Grid("ab", nodes={"b": NODES}, patience="1s") as grid:
        grid["n3"].stop()
        grid.write("n2", "x", b"in the way", folder="incoming")
        grid.write("a", "x", BYTES)
        result = stage(grid, "x", "b").expect("partial")
        reason = result.domain("b.test")["reason"]
        lib.check("2 of 3 nodes lack it" in reason and "n2.test (" in reason, str(result))
        lib.check(result.domain("b.test")["nodes"] == {"count": 3, "verified": 1, "failed": 2,
                                                       "left": 0}, str(result))
        # Not all is mended: it is told again, of the one that remains.
        os.unlink(grid.incoming("n2", "x"))
        again = lib.Running([lib.GMCAST, "--gateway", grid["a"].control, "resume",
                             result.channel, "--json"], dict(os.environ)).wait()
        lib.check("1 of 3 nodes lack it: n3.test (" in again.domain("b.test")["reason"], str(again))
        grid.same("a", "x", "n2")
        grid["n3"].start()
        last = lib.Running([lib.GMCAST, "--gateway", grid["a"].control, "resume",
                            result.channel, "--json"], dict(os.environ)).wait()
        last.expect("complete")
        expect_at(grid, "x", NODES)


def test_a_node_joins_in_the_middle():
    with lib.Grid("ab", nodes={"b": NODES}, rate="20M", start=False) as grid:
        grid["b"].options["unknown"] = ["n3"]
        grid.start()
        grid.write("a", "x", 5 * BYTES)
        run = grid.begin("a", ["x"], "b")
        grid.wait_share("a", run.channel(), "b", 0.4)
        grid["b"].options["unknown"] = []
        grid["b"].reload()
        run.wait().expect("complete")
        expect_at(grid, "x", NODES)


def add(grid, channel, target, code=0):
    done, _, errors = grid["a"].gmcast("add", channel, "--to", target, check_status=False)
    lib.check(done == code, errors)
    return errors


def test_nodes_are_added_to_those_that_were_named():
    with lib.Grid("ab", nodes={"b": NODES}, rate="20M") as grid:
        grid.write("a", "x", 5 * BYTES)
        run = grid.begin("a", ["x"], ["b/n1:sub/"])
        grid.wait_share("a", run.channel(), "b", 0.3)
        for target, words in (("b/n1", "b.test is a target already"), ("b", "is a target already"),
                              ("b/shared", "without names of nodes"),
                              ("b/n2:other", "get the same path")):
            errors = add(grid, run.channel(), target, code=1)
            lib.check(words in errors, errors)
        add(grid, run.channel(), "b/n3.test")
        result = run.wait().expect("complete")
        lib.check(result.domain("b.test")["nodes"]["verified"] == 2, str(result))
        for node in ("n1", "n3"):
            grid.same("a", "x", node, "sub/x")
        grid.absent("n2", "sub/x")


def test_a_node_is_added_when_the_domain_has_it_already():
    """The others are still served: the domain's part is open again, also for a source that was killed."""
    for killed in (False, True):
        with lib.Grid("abc", nodes={"b": NODES}, start=False) as grid:
            for name in ("a", "b", *NODES):
                grid[name].start()
            grid.write("a", "x", BYTES)
            run = grid.begin("a", ["x"], ["b/n1", "c"])
            channel = run.channel()
            lib.wait(lambda: grid["a"].status(channel)["domains"]["b.test"]["state"] == "verified",
                     "b has it")
            if killed:
                grid["n3"].stop()
            add(grid, channel, "b/n3")
            if killed:
                lib.wait(lambda: "n3.test" in grid["b"].gmcast("status", "--local", channel)[1],
                         "b is told, and so a has saved it")
                grid["a"].kill()
                grid["a"].start()
                grid["n3"].start()
            lib.wait(lambda: grid["a"].status(channel)["domains"]["b.test"].get("nodes") ==
                     {"count": 2, "verified": 2, "failed": 0, "left": 0}, "n3 has it")
            grid["c"].start()
            grid.watch("a", channel).expect("complete")
            for node in ("n1", "n3"):
                grid.same("a", "x", node)


def test_a_node_is_added_that_is_not_there():
    with lib.Grid("ab", nodes={"b": NODES}, rate="20M") as grid:
        grid.write("a", "x", 5 * BYTES)
        run = grid.begin("a", ["x"], ["b/n1"])
        grid.wait_share("a", run.channel(), "b", 0.3)
        add(grid, run.channel(), "b/n2+n9")
        result = run.wait().expect("partial")
        lib.check(result.domain("b.test")["reason"] == "the gateway has it; there is no node n9",
                  str(result))
        for node in ("n1", "n2"):
            grid.same("a", "x", node)


def test_nodes_see_their_domain_and_nobody_else():
    inside = {name + ".test" for name in ["b", *NODES]}
    with lib.Grid("abc", nodes={"b": NODES}) as grid:
        grid.write("a", "x", BYTES)
        result = grid.stage("a", ["x"], "bc").expect("complete")
        for node in NODES:
            known = {peer["domain"] for peer in grid[node].peers()["peers"]}
            lib.check({node + ".test", "b.test"} <= known <= inside, str(known))
            _, out, _ = grid[node].gmcast("status", "--local", result.channel.split("@")[0],
                                         "--json")
            told = set(lib.json.loads(out)["domains"])
            lib.check(told <= inside, str(told))
            lib.check("c.test" not in grid[node].log(), "it never heard of c")
        # Outside nobody hears the names of nodes while all goes well.
        for name in ("a", "c"):
            lib.check("n1.test" not in grid[name].log(), grid[name].log())


def test_a_directory_that_leads_out():
    """Symlinks in a node's directory and names of the object: nothing leaves the directory."""
    with lib.Grid("ab", nodes={"b": NODES}) as grid:
        outside = os.path.join(grid["n1"].path, "outside")
        os.mkdir(outside)
        os.symlink(outside, grid.incoming("n1", "sub"))
        grid.write("a", "x", BYTES)
        result = stage(grid, "x", "b:sub/")
        lib.check("1 of 3 nodes lack it: n1.test (" in result.domain("b.test")["reason"],
                  str(result))
        lib.check(not os.listdir(outside), "nothing was written outside")
        grid.same("a", "x", "n2", "sub/x")
        # The source itself refuses to be told to leave the directory.
        bad = stage(grid, "x", "b:../x")
        lib.check("'..'" in bad.domain("b.test")["reason"], str(bad))
        for node in ["b", *NODES]:
            lib.check(not os.path.exists(os.path.join(grid[node].path, "x")), node)


def test_a_node_of_another_domain():
    """Its certificate is good, and says another name: no session, and nothing of the data."""
    with lib.Grid("abc", nodes={"b": ["n1"], "c": ["m1"]}, start=False) as grid:
        grid.node_of["m1"] = "b"
        grid["b"].options["unknown"] = ["m1"]
        grid.start()
        lib.wait(lambda: "m1.test is not a configured peer" in grid["b"].log(), "it is refused")
        grid.write("a", "x", BYTES)
        grid.stage("a", ["x"], "b").expect("complete")
        grid.absent("m1", "x")


if __name__ == "__main__":
    lib.main(globals())
