#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What people do with transfers: watch, add, cancel, resume, ask other domains; and refusals."""

import json
import os

import lib

# Slow enough that something can happen in the middle.
SLOW = ("--rate", "40M")
SLOW_BYTES = 10000000


def test_a_target_that_refuses():
    with lib.Grid("abc", start=False) as grid:
        grid["b"].options["no_receive"] = ["a"]
        grid.start()
        grid.write("a", "x", 1000000)
        result = grid.stage("a", ["x"], "bc").expect("partial")
        refused = result.domain("b.test")
        lib.check(refused["state"] == "failed" and "a.test" in refused["reason"], str(result))
        lib.check(result.domain("c.test")["state"] == "verified", str(result))
        grid.same("a", "x", "c")
        grid.absent("b", "x")


def test_a_target_that_is_down():
    with lib.Grid("abc", patience="2s") as grid:
        grid["b"].stop()
        grid.write("a", "x", 1000000)
        result = grid.stage("a", ["x"], "bc").expect("partial")
        lib.check(result.domain("b.test")["state"] in ("failed", "silent"), str(result))
        lib.check(result.domain("b.test")["reason"], str(result))
        grid.same("a", "x", "c")
        # It comes back, and gets what it lacks, also after the source went and came.
        grid["a"].stop()
        grid["a"].start()
        kept = [grid["a"].status(result.channel) for _ in range(2)]
        lib.check(kept[0]["reason"] == "complete at 1 of 2", str(kept[0]))
        lib.check(kept[0]["seconds"] == kept[1]["seconds"], "what is over takes longer and longer")
        grid["b"].start()
        again = grid.resume("a", result.channel).expect("complete")
        grid.same("a", "x", "b")
        for name in "bc":
            lib.check(again.domain(grid.dns(name))["bytes"] == 1000000, str(again))


def test_places_outside_are_refused():
    with lib.Grid("abc") as grid:
        grid.write("a", "x", b"x")
        for place in ("../x", "/etc/x", "sub/../../x"):
            result = grid.stage("a", ["x"], ["b:" + place, "c:ok" + str(len(place)) + "/"])
            result.expect("partial")
            lib.check(result.domain("b.test")["state"] == "failed", str(result))
        lib.check(not os.path.exists(os.path.join(grid["b"].path, "x")), "it got out")


def test_sources_outside_are_refused():
    with lib.Grid("ab") as grid:
        secret = os.path.join(grid["a"].path, "secret")
        with open(secret, "w") as out:
            out.write("s")
        os.symlink(secret, os.path.join(grid["a"].data, "link"))
        for path in (secret, "/etc/passwd", os.path.join(grid["a"].data, "..", "secret")):
            result = grid.stage("a", [path], "b").expect("failed")
            lib.check(path[-6:] in json.dumps(result.last), str(result))
        # A symlink is sent as what it is or refused: never what it points at.
        result = grid.stage("a", ["link"], "b")
        lib.check(not os.path.isfile(grid.incoming("b", "link")), str(result))


def test_nobody_knows_the_target():
    with lib.Grid("ab") as grid:
        grid.write("a", "x", b"x")
        result = grid.stage("a", ["x"], ["zzz"]).expect("failed")
        lib.check('add a section peer "zzz"' in result.errors, result.errors)


def test_add_in_the_middle():
    # Under valgrind, and other work, a session may take longer than patience usually is.
    with lib.Grid("abc", patience="30s") as grid:
        grid.write("a", "x", SLOW_BYTES)
        run = grid.begin("a", ["x"], "b", *SLOW)
        grid.wait_share("a", run.channel(), "b", 0.2)
        grid["a"].gmcast("add", run.channel(), "--to", "c:late")
        code, _, error = grid["a"].gmcast("add", run.channel(), "--to", "c", check_status=False)
        lib.check(code == lib.REFUSED and "c.test is a target already" in error, error)
        result = run.wait().expect("complete")
        code, _, error = grid["a"].gmcast("add", run.channel(), "--to", "c", check_status=False)
        lib.check(code == lib.REFUSED and "is over; stage it anew" in error, error)
        lib.check(set(result.last["domains"]) == {"b.test", "c.test"}, str(result))
        grid.same("a", "x", "b")
        grid.same("a", "x", "c", "late")


def test_cancel_in_the_middle():
    with lib.Grid("abc") as grid:
        grid.write("a", "x", SLOW_BYTES)
        run = grid.begin("a", ["x"], "bc", *SLOW)
        grid.wait_share("a", run.channel(), "b", 0.2)
        grid["a"].gmcast("cancel", run.channel())
        run.wait().expect("cancelled")
        for name in "bc":
            grid.absent(name, "x")
            lib.wait(lambda: not os.listdir(grid[name].incoming), "%s removed the rest" % name)


def test_the_client_goes_away():
    with lib.Grid("ab") as grid:
        grid.write("a", "x", SLOW_BYTES)
        run = grid.begin("a", ["x"], "b", *SLOW)
        channel = run.channel()
        grid.wait_share("a", channel, "b", 0.1)
        run.interrupt()
        result = run.wait()
        lib.check(result.status == lib.DETACHED, str(result))
        lib.check("gmcast watch " + channel in result.errors, result.errors)
        lib.check("gmcast cancel " + channel in result.errors, result.errors)
        # Another one looks, is killed, and a third sees the end.
        watcher = lib.Running([lib.GMCAST, "--gateway", grid["a"].control, "watch", channel[:8],
                               "--json"], dict(os.environ))
        watcher.channel()
        watcher.kill()
        grid.watch("a", channel).expect("complete")
        grid.same("a", "x", "b")


def test_the_gateway_restarts_under_the_client():
    with lib.Grid("ab") as grid:
        grid.write("a", "x", SLOW_BYTES)
        run = grid.begin("a", ["x"], "b", *SLOW)
        grid.wait_share("a", run.channel(), "b", 0.2)
        grid["a"].kill()
        grid["a"].start()
        run.wait().expect("complete")
        grid.same("a", "x", "b")


def test_a_target_does_not_speak_for_the_others():
    with lib.Grid("abc", patience="30s") as grid:
        grid.write("a", "x", SLOW_BYTES)
        run = grid.begin("a", ["x"], "bc", "--tree", "flat", *SLOW)
        channel = run.channel()
        grid.wait_share("a", channel, "b", 0.2)
        watcher = lib.Running([lib.GMCAST, "--gateway", grid["b"].control, "watch", channel,
                               "--json"], dict(os.environ))
        watcher.channel()
        grid["a"].kill()
        lib.wait(lambda: "cannot be asked" in grid["b"].gmcast("status", channel)[1],
                 "b says that the source is gone")
        status = grid["b"].status(channel)
        # Of its sibling it was never told; had it a parent there, it would know of that one.
        lib.check(list(status["domains"]) == ["b.test"], str(status))
        lib.check(watcher.process.poll() is None, "the watcher has given up")
        grid["a"].start()
        watcher.wait().expect("complete")
        run.wait().expect("complete")
        grid.same("a", "x", "c")


def test_the_asked_domain_is_not_connected_yet():
    with lib.Grid("ab") as grid:
        where = grid.write("b", "x", b"x", folder="public")
        grid["b"].stop()
        run = grid.begin("a", ["b:" + where], "a")
        # The first answers are "not yet": it keeps asking while b starts.
        lib.check(run.process.poll() is None, "it gave up at once")
        grid["b"].start()
        run.wait().expect("complete")
        lib.assert_same(where, grid.incoming("a", "x"))


def test_detach_status_and_tree():
    with lib.Grid("abc") as grid:
        grid.write("a", "x", SLOW_BYTES)
        out = grid["a"].gmcast("stage", os.path.join(grid["a"].data, "x"), "--to", "b,c", "--detach",
                               *SLOW)[1]
        channel = out.strip()
        grid.wait_share("a", channel, "b", 0.05)
        one = grid["a"].gmcast("status", channel)[1]
        lib.check("b.test" in one and "running" in one, one)
        lib.check(channel in grid["a"].gmcast("status")[1], "not in the list of the source")
        lib.check(channel in grid["b"].gmcast("status")[1], "not in the list of the target")
        # A target is told by the source.
        lib.check("c.test" in grid["b"].gmcast("status", channel)[1], "b sees its siblings")
        tree = grid["a"].gmcast("tree", channel[:8])[1]
        lib.check(tree.startswith("a.test  source") and "c.test" in tree, tree)
        dot = grid["a"].gmcast("tree", channel, "--dot")[1]
        lib.check('"a.test" -> ' in dot, dot)
        peers = grid["a"].peers()
        lib.check([p["domain"] for p in peers["peers"]][0] == "a.test", str(peers))
        lib.check(all(p["up"] for p in peers["peers"]), str(peers))
        lib.check(peers["latencies"], str(peers))
        lib.check("round trips in ms" in grid["a"].gmcast("peers")[1], "no matrix")
        grid.watch("a", channel).expect("complete")


def test_data_that_another_domain_holds():
    with lib.Grid("abc") as grid:
        where = grid.write("b", "x", 2000000, folder="public")
        result = grid.stage("a", ["b:" + where], "ac").expect("complete")
        lib.check(result.channel.endswith("@b.test"), str(result))
        for name in "ac":
            lib.assert_same(where, grid.incoming(name, "x"))
        # What it does not serve, it does not send, whichever way it is named.
        private = grid.write("b", "y", b"private")
        public = grid["b"].public
        os.symlink(private, os.path.join(public, "link"))
        os.symlink(grid["b"].data, os.path.join(public, "way"))
        for path in (private, public + "/../data/y", public + "/way/y", public + "/missing",
                     "/etc/hostname", public + "x"):
            result = grid.stage("a", ["b:" + path], "c").expect("failed")
            lib.check("b.test" in result.errors, result.errors)
            grid.absent("c", os.path.basename(path))
        # A link is sent as a link or refused, never as what it points at.
        grid.stage("a", ["b:" + public + "/link"], "c")
        lib.check(not os.path.exists(grid.incoming("c", "link")) or
                  os.path.islink(grid.incoming("c", "link")), "it was followed")


def test_steering_from_afar():
    with lib.Grid("abc") as grid:
        where = grid.write("b", "x", SLOW_BYTES, folder="public")
        run = grid.begin("a", ["b:" + where], "c", *SLOW)
        channel = run.channel()
        grid.wait_share("a", channel, "c", 0.1)
        # Who asked for it may; a mere target may look only.
        code, _, error = grid["c"].gmcast("cancel", channel, check_status=False)
        lib.check(code == lib.REFUSED and "changed there, or where it was asked for" in error, error)
        lib.check("c.test" in grid["c"].gmcast("status", channel)[1], "a target may look")
        grid["a"].gmcast("cancel", channel)
        run.wait().expect("cancelled")


def test_two_ways_at_once():
    with lib.Grid("ab") as grid:
        grid.write("a", "from-a", 8000000)
        grid.write("b", "from-b", 8000000)
        one = grid.begin("a", ["from-a"], "b", "--rate", "100M")
        two = grid.begin("b", ["from-b"], "a", "--rate", "100M")
        one.wait().expect("complete")
        two.wait().expect("complete")
        grid.same("a", "from-a", "b")
        grid.same("b", "from-b", "a")


if __name__ == "__main__":
    lib.main(globals())
