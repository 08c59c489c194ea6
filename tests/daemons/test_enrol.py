#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Nodes that enrol by a token: once, with a key of their own; what is wrong, used or too old is
refused, named, counted and logged once; who is removed is out at once."""

import os
import pwd
import re

import faults
import lib

BYTES = 1000000
RATE = 5 << 20  # bytes per second


def grid_of(nodes, **options):
    """Domains a and b; the nodes of b have no certificate, and a place for a token."""
    grid = lib.Grid("ab", nodes={"b": nodes}, start=False, **options)
    for node in nodes:
        grid[node].options["token"] = os.path.join(grid[node].path, "token")
    grid["a"].start()
    grid["b"].start()
    return grid


def invite(grid, node, *options, into=None):
    _, out, _ = grid["b"].gmcast("node", "add", node + ".test", *options)
    with open(grid[into or node].options["token"], "w") as file:
        file.write(out)
    return out.strip()


def listed(grid):
    _, out, _ = grid["b"].gmcast("node", "list", "--json")
    return {node["node"]: node for node in lib.json.loads(out)["nodes"]}


def is_up(grid, node):
    return listed(grid).get(node + ".test", {}).get("up", False)


def enrol(grid, node):
    invite(grid, node)
    grid[node].start()
    lib.wait(lambda: is_up(grid, node), "%s is let in:\n%s" % (node, grid[node].log()))


def refused(grid, node, words):
    """The node is told why, and so is the gateway's log, once however often it tries."""
    lib.wait(lambda: words in grid[node].log(), lambda: "%s hears \"%s\":\n%s" % (
        node, words, grid[node].log()))
    lib.wait(lambda: grid["b"].counters()["nodes_refused"] >= 2, "it tries again")
    lib.check(grid["b"].log().count(words) == 1, grid["b"].log())
    lib.check(not is_up(grid, node), "it is not in")


def test_a_node_asks_its_gateway():
    with grid_of(["n1"]) as grid:
        enrol(grid, "n1")
        grid.write("a", "x", BYTES)
        grid.write("n1", "x", BYTES)
        channel = grid.stage("a", ["x"], "b").expect("complete").channel
        for words in (["stage", "x", "--to", "a"], ["stage", "a.test:/x", "--to", "b"],
                      ["add", channel, "--to", "a"], ["resume", channel], ["cancel", channel],
                      ["node", "list"]):
            code, _, errors = grid["n1"].gmcast(*words, check_status=False)
            lib.check(code == 1 and "n1.test is a node: ask the gateway of b.test" in errors, errors)
        code, out, errors = grid["n1"].gmcast("status", channel, "--json", check_status=False)
        lib.check(code == 0 and '"state":"complete"' in out, errors)


def test_a_node_is_asked_how_it_is():
    """It has no certificate to run out, and no revocation list."""
    with grid_of(["n1"]) as grid:
        enrol(grid, "n1")
        node = grid["n1"]
        findings = lib.json.loads(node.gmcast("doctor", "--json", check_status=False)[1])
        lib.check({"config", "session", "storage"} <= {f["check"] for f in findings}, str(findings))
        lib.check(not [f for f in findings if f["level"] == "fail"], str(findings))
        lib.check(is_up(grid, "n1"), node.log())
        node.stop()
        node.release_port()
        done = lib.subprocess.run([lib.NODED, "--doctor", "-c", node.conf_path],
                                  capture_output=True, text=True, timeout=lib.LIMIT, check=False)
        lib.check(done.returncode == 0 and '"check":"port"' in done.stdout,
                  "%d %s%s" % (done.returncode, done.stdout, done.stderr))


def as_the_unit_starts_it():
    """What stands before a daemon's name to give it the unit's capabilities."""
    with open(os.path.join(os.environ.get("GMC_SRCDIR", "."), "etc", "daemon.service.in")) as unit:
        names = re.search("^CapabilityBoundingSet=(.*)$", unit.read(), re.M).group(1).split()
    kept = ["+" + name[len("CAP_"):].lower() for name in names]
    return ["setpriv", "--no-new-privs", "--bounding-set", ",".join(["-all"] + kept)]


def test_as_the_unit_starts_them():
    if os.geteuid() != 0:
        print("  skipped: only root can give up what the unit takes away")
        return
    nobody = pwd.getpwnam("nobody")
    with lib.Grid("ab", nodes={"b": ["n1"]}, start=False, top='user = "nobody"') as grid:
        os.chmod(grid.path, 0o755)
        for domain in grid.domains.values():
            domain.options["prefix"] = as_the_unit_starts_it()
            for path in (domain.state, domain.incoming, domain.data, domain.path):
                os.chown(path, nobody.pw_uid, nobody.pw_gid)
                os.chmod(path, 0o750)
        grid["n1"].options["token"] = os.path.join(grid["n1"].path, "token")
        grid["a"].start()
        grid["b"].start()
        enrol(grid, "n1")
        grid.write("a", "x", BYTES, mode=0o644)
        grid.stage("a", ["x"], ["b/nodes"]).expect("complete")
        for daemon in "b", "n1":
            grid[daemon].kill()
            grid[daemon].start()


def test_two_enrol_and_one_is_removed():
    with grid_of(["n1", "n2"], patience="2s") as grid:
        enrol(grid, "n1")
        enrol(grid, "n2")
        secret = open(grid["n1"].options["token"]).read()[5:37]
        lib.check(secret not in open(os.path.join(grid["b"].state, "nodes")).read(),
                  "the secret is kept only hashed")
        grid.write("a", "x", BYTES)
        grid.stage("a", ["x"], "b").expect("complete")
        for node in ("n1", "n2"):
            grid.same("a", "x", node)
        # The token file may go; the gateway may restart.
        os.unlink(grid["n1"].options["token"])
        grid["n1"].stop()
        grid["b"].stop()
        grid["b"].start()
        grid["n1"].start()
        lib.wait(lambda: is_up(grid, "n1") and is_up(grid, "n2"), "both come back")
        # Cut off at once, in the middle of a transfer, which goes on without it.
        grid["b"].gmcast("node", "remove", "n2.test")
        lib.wait(lambda: "removed from the nodes" in grid["n2"].log(), "n2 is told")
        lib.check("n2.test" not in listed(grid), str(listed(grid)))
        grid.write("a", "y", BYTES)
        grid.stage("a", ["y"], "b").expect("complete")
        grid.same("a", "y", "n1")
        grid.absent("n2", "y")
        _, _, err = grid["b"].gmcast("node", "remove", "n2.test", check_status=False)
        lib.check("there is no node n2.test" in err, err)


def test_removed_in_mid_transfer():
    with grid_of(["n1", "n2"], rate="20M") as grid:
        enrol(grid, "n1")
        enrol(grid, "n2")
        grid.write("a", "x", 5 * BYTES)
        run = grid.begin("a", ["x"], "b")
        grid.wait_share("a", run.channel(), "b", 0.3)
        grid["b"].gmcast("node", "remove", "n2.test")
        result = run.wait().expect("complete")
        told = result.domain("b.test")
        lib.check(told["nodes"] == {"count": 2, "verified": 1, "failed": 0, "left": 1} and
                  "1 of 2 nodes left before they had it: n2.test (it is no longer a node" in
                  told["reason"], str(result))
        inside = lib.json.loads(grid["b"].gmcast("status", "--local", run.channel(), "--json")[1])
        lib.check(inside["domains"]["n2.test"]["state"] == "left", str(inside))
        grid.same("a", "x", "n1")
        grid.absent("n2", "x")


def test_the_last_one_is_removed():
    """No node has it: that is no complete transfer to the nodes."""
    with grid_of(["n1"], rate="20M") as grid:
        enrol(grid, "n1")
        grid.write("a", "x", 5 * BYTES)
        run = grid.begin("a", ["x"], "b")
        grid.wait_share("a", run.channel(), "b", 0.3)
        grid["b"].gmcast("node", "remove", "n1.test")
        result = run.wait().expect("partial")
        lib.check("1 of 1 nodes lack it: n1.test (it is no longer a node" in
                  result.domain("b.test")["reason"], str(result))


def test_removed_though_it_was_named():
    with grid_of(["n1", "n2"], rate="20M") as grid:
        enrol(grid, "n1")
        enrol(grid, "n2")
        grid.write("a", "x", 5 * BYTES)
        run = grid.begin("a", ["x"], ["b/n1+n2"])
        grid.wait_share("a", run.channel(), "b", 0.3)
        grid["b"].gmcast("node", "remove", "n2.test")
        result = run.wait()
        lib.check("1 of 2 nodes lack it: n2.test (it is no longer a node" in
                  result.domain("b.test")["reason"], str(result))
        grid.same("a", "x", "n1")


def test_removed_and_taken_in_again():
    with grid_of(["n1", "n2"], rate="10M") as grid:
        enrol(grid, "n1")
        enrol(grid, "n2")
        grid.write("a", "x", 5 * BYTES)
        run = grid.begin("a", ["x"], "b")
        grid.wait_share("a", run.channel(), "b", 0.3)
        grid["b"].gmcast("node", "remove", "n2.test")
        grid["n2"].stop()
        os.unlink(os.path.join(grid["n2"].state, "node.key"))
        enrol(grid, "n2")
        result = run.wait().expect("complete")
        lib.check(result.domain("b.test")["nodes"]["verified"] == 2, str(result))
        grid.same("a", "x", "n2")


def test_a_token_is_used_once():
    with grid_of(["n1", "n2"]) as grid:
        token = invite(grid, "n1")
        grid["n1"].start()
        lib.wait(lambda: is_up(grid, "n1"), "n1 is let in")
        # A thief: the same token and name, another key.
        grid["n1"].stop()
        os.unlink(os.path.join(grid["n1"].state, "node.key"))
        grid["n1"].start()
        refused(grid, "n1", "n1.test is not let in as a node: its token was used already")
        # A new token, and the name has a new key.
        grid["n1"].stop()
        lib.check(invite(grid, "n1") != token, "tokens differ")
        grid["n1"].start()
        lib.wait(lambda: is_up(grid, "n1"), "n1 is let in again")


def test_tokens_that_are_wrong_or_late():
    with grid_of(["n1", "n2"]) as grid:
        invite(grid, "n1", "--expires", "1s")
        lib.wait(lambda: listed(grid)["n1.test"]["state"] == "expired", "it expires")
        grid["n1"].start()
        refused(grid, "n1", "n1.test is not let in as a node: its token has expired")
        grid["n1"].stop()
        # A token for another name.
        invite(grid, "n1", into="n2")
        invite(grid, "n2", into="n1")
        grid["n1"].start()
        refused(grid, "n1", "n1.test is not let in as a node: its token is wrong")


def test_a_wrong_token_beside_a_transfer():
    with grid_of(["n1", "n2"]) as grid:
        enrol(grid, "n1")
        token = invite(grid, "n2")
        with open(grid["n2"].options["token"], "w") as file:
            file.write(token[:5] + ("0" if token[5] != "0" else "1") + token[6:])
        size = 8 * RATE
        grid.write("a", "x", size)
        run = grid.begin("a", ["x"], "b", "--rate", str(8 * RATE))
        faults.wait_here(grid, "n1", run.channel(), 0.05)
        grid["n2"].start()
        refused(grid, "n2", "n2.test is not let in as a node: its token is wrong")
        lib.check(faults.bytes_here(grid, "n1", run.channel()) < size, "the transfer was over before")
        run.wait().expect("complete")
        for node in ("b", "n1"):
            grid.same("a", "x", node)
        grid.absent("n2", "x")
        for node, other in (("b", "a"), ("b", "n1"), ("n1", "b")):
            lib.check("session.down peer=%s.test" % other not in grid[node].log(), grid[node].log())


def test_a_gateway_with_another_key_gets_no_secret():
    with grid_of(["n1"]) as grid:
        token = invite(grid, "n1")
        with open(grid["n1"].options["token"], "w") as file:
            file.write(token[:-4] + ("0000" if token[-4:] != "0000" else "1111"))
        grid["n1"].start()
        lib.wait(lambda: "another key than the one that this node enrolled with" in
                 grid["n1"].log(), lambda: grid["n1"].log())
        lib.check(listed(grid)["n1.test"]["state"] == "invited", "the token is still good")
        # Renewed with the same key it is the same gateway; with another one it is not.
        grid["n1"].stop()
        invite(grid, "n1")
        grid["n1"].start()
        lib.wait(lambda: is_up(grid, "n1"), "n1 is let in")
        grid["b"].stop()
        grid.issue(grid["b"])
        grid["b"].start()
        lib.wait(lambda: grid["n1"].log().count("another key than the one") == 2,
                 "n1 does not know it any more")


def test_strangers_and_impostors():
    with grid_of(["n1"]) as grid:
        enrol(grid, "n1")
        # Issued by the CA that all trust, but not who enrolled.
        grid["n1"].stop()
        del grid["n1"].options["token"]
        grid["b"].options["unknown"] = ["n1"]
        grid["n1"].start()
        lib.wait(lambda: "enrolled with a key of its own, and this is another one" in
                 grid["b"].log(), lambda: grid["b"].log())
        lib.check(not is_up(grid, "n1"), "it is not in")


def test_what_cannot_be():
    with grid_of(["n1"]) as grid:
        for words, name in (("stands in the configuration already", "a.test"),
                            ("stands in the configuration already", "b.test"),
                            ("is no name for a node", "n1/x"), ("is no name for a node", "..")):
            code, out, err = grid["b"].gmcast("node", "add", name, check_status=False)
            lib.check(code == 1 and words in err and not out, err)
        for arguments in (["add"], ["list", "x"], ["paint"], ["add", "n", "--expires", "1y"],
                          ["add", "n", "--expires", "31d"]):
            code, _, err = grid["b"].gmcast("node", *arguments, check_status=False)
            lib.check(code == 1 and err.startswith("gmcast: "), err)
        # Nothing to enrol with.
        grid["n1"].write_conf()
        done = lib.subprocess.run([lib.NODED, "-T", "-c", grid["n1"].conf_path],
                                  capture_output=True, text=True, check=False)
        lib.check(done.returncode == 1 and "token: " in done.stderr and "No such file" in
                  done.stderr, done.stderr)
        grid.write("n1", "../token", b"no token at all")
        done = lib.subprocess.run([lib.NODED, "-T", "-c", grid["n1"].conf_path],
                                  capture_output=True, text=True, check=False)
        lib.check(done.returncode == 1 and "holds no token" in done.stderr, done.stderr)


if __name__ == "__main__":
    lib.main(globals())
