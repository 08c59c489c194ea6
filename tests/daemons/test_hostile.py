#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A domain with a good certificate that does what it may not: a source whose listing leads out of
the destination, a member that speaks and sends on a channel that is not its own. Others refuse it,
and their transfer does not notice."""

import collections
import os

import faults
import lib
import test_refusals as refusals

HOSTILE = os.path.join(lib.BUILD, "tests", "daemons", "hostile")


def hostile(domain, **environment):
    domain.options["program"] = HOSTILE
    domain.options["environment"] = {"GMC_HOSTILE_" + name: value
                                     for name, value in environment.items()}


def listings(grid):
    """{what to stage: (as it is named, as the listing says, why that is refused)}."""
    out = os.path.join(grid.path, "out", "x")
    grid.write("c", "plain@x", b"x")
    grid.write("c", "above/--/x", b"x")
    grid.write("c", out.replace("/", "@"), b"x")
    for name, target in (("away", "%" + out[1:]), ("up", "++/out/x"), ("through", "there")):
        os.makedirs(os.path.join(grid["c"].data, name), exist_ok=True)
        os.symlink(target, os.path.join(grid["c"].data, name, "link1"))
    # The directory gets the name of the link that comes before it.
    grid.write("c", "through/link2/x", b"x")
    # Quotas leave unfinished transfers out.
    grid.write("c", "hidden/_gmcast-1.part", b"x")
    return {
        "plain@x": ("plain@x", "../../x", "has a '/'"),
        "above": ("--", "..", '".."'),
        out.replace("/", "@"): (out.replace("/", "@"), out, "has a '/'"),
        "away": ("%" + out[1:], out, "absolute"),
        "up": ("++/out/x", "../out/x", "leads out"),
        "through": ("link2", "link1", "twice"),
        "hidden": ("_gmcast-1.part", ".gmcast-1.part", "rename it"),
    }


def test_listings_that_lead_out():
    with lib.Grid("abc", start=False) as grid:
        cases = listings(grid)
        hostile(grid["c"], LISTING="\n".join("%s=%s" % case[:2] for case in cases.values()))
        grid.start()
        os.mkdir(os.path.join(grid.path, "out"))
        # What stands at the destination already is not followed either.
        grid.write("c", "honest", b"x")
        os.symlink(os.path.join(grid.path, "out"), grid.incoming("b", "way").decode())

        def attack():
            before = grid["b"].counters()
            runs = [(grid.begin("c", [path], "b"), case[2]) for path, case in cases.items()]
            runs += [(grid.begin("c", ["honest"], ["b:" + where]), why)
                     for where, why in (("way/", "way"), ("way/y", "way"), ("way", "exists"),
                                        (".gmcast-1.part/", "unfinished"))]
            for run, why in runs:
                result = run.wait().expect("partial")
                reason = result.domain("b.test")["reason"]
                print("  " + reason)
                lib.check(why in reason, str(result))
                refusals.counted_once(grid["b"], "channel", run.channel())
            refusals.raised(grid["b"], "transfers_left", before, len(runs))
        refusals.beside(grid, attack)
        lib.check(os.listdir(os.path.join(grid.path, "out")) == [], "it got out")
        lib.check(sorted(os.listdir(grid["b"].incoming)) == ["way", "x"],
                  "more than was sent: %s" % os.listdir(grid["b"].incoming))


def test_listings_that_lead_out_of_a_node():
    """A gateway that lets such listings pass to its nodes: these refuse them by themselves."""
    with lib.Grid("abc", nodes={"b": ["n1", "n2"]}, start=False) as grid:
        cases = listings(grid)
        del cases["through"]  # a name that is there twice cannot be read as if it were honest
        lines = "\n".join("%s=%s" % case[:2] for case in cases.values())
        hostile(grid["c"], LISTING=lines)
        hostile(grid["b"], MISREAD=lines)
        grid.start()
        os.mkdir(os.path.join(grid.path, "out"))
        grid.write("c", "honest", b"x")
        # In the way of n1 alone, and n2 has it nevertheless.
        os.symlink(os.path.join(grid.path, "out"), grid.incoming("n1", "way").decode())

        def attack():
            before = {node: grid[node].counters() for node in ("n1", "n2")}
            for path, case in cases.items():
                result = grid.stage("c", [path], "b")
                reason = result.expect("partial").domain("b.test")["reason"]
                print("  " + reason)
                lib.check("2 of 2 nodes lack it" in reason and case[2] in reason, str(result))
                for node in ("n1", "n2"):
                    refusals.counted_once(grid[node], "channel", result.channel)
            reason = grid.stage("c", ["honest"], ["b:way/"]).expect("partial").domain("b.test")["reason"]
            lib.check("1 of 2 nodes lack it: n1.test (" in reason and "way" in reason, reason)
            refusals.raised(grid["n1"], "transfers_left", before["n1"], len(cases) + 1)
            refusals.raised(grid["n2"], "transfers_left", before["n2"], len(cases))
        refusals.beside(grid, attack, seconds=15)
        for node in ("n1", "n2"):
            grid.same("a", "x", node)
        lib.check(os.listdir(os.path.join(grid.path, "out")) == [], "it got out")
        lib.check(sorted(os.listdir(grid["n1"].incoming)) == ["way", "x"] and
                  sorted(os.listdir(grid["n2"].incoming)) == ["way", "x"],
                  "more than was sent: %s" % os.listdir(grid["n1"].incoming))


def test_what_was_made_for_a_listing_goes():
    """The directories that a refused transfer made for itself, at the gateway or at its nodes."""
    with lib.Grid("abc", nodes={"b": ["n1", "n2"]}, start=False) as grid:
        cases = listings(grid)
        del cases["through"]
        lines = "\n".join("%s=%s" % case[:2] for case in cases.values())
        hostile(grid["c"], LISTING=lines)
        grid.start()
        grid.write("a", "z", b"z")
        grid.stage("a", ["z"], ["b:there/full/"]).expect("complete")
        for node in ("n1", "n2"):
            os.mkdir(grid.incoming(node, "there/empty"))

        def refused():
            for path in cases:
                for where in ("new/", "there/new/deep/", "there/full/new/y", "there/empty/"):
                    grid.stage("c", [path], ["b:" + where]).expect("partial")
        refused()
        # The gateway lets them pass, and the nodes find them.
        grid["b"].stop()
        hostile(grid["b"], MISREAD=lines)
        grid["b"].start()
        refused()
        for node in ("n1", "n2"):
            found = sorted(os.path.relpath(os.path.join(top, name), grid.incoming(node).decode())
                           for top, directories, files in os.walk(grid.incoming(node).decode())
                           for name in directories + files)
            lib.check(found == ["there", "there/empty", "there/full", "there/full/z"],
                      "%s: %s" % (node, found))


def test_a_member_on_a_channel_that_is_not_its_own():
    with lib.Grid("abc", start=False, log="info") as grid:
        a, b = grid["a"], grid["b"]
        hostile(grid["c"], WORDS="1", CHANNEL="1")
        grid.start()
        # It has a session with both.
        grid.write("c", "y", b"y")
        grid.stage("c", ["y"], "b").expect("complete")

        def attack():
            never = collections.Counter()
            # Each handle that b may have given to its parent. A few datagrams may be lost.
            refusals.raised(b, "dropped_handle", never, 60000)
            for domain in (a, b):
                refusals.raised(domain, "messages_refused", never, 12)
                refusals.raised(domain, "messages_bad", never, 4)
                counted = domain.counters()
                for name in ("dropped_malformed", "dropped_seal", "blocks_bad"):
                    lib.check(counted[name] == 0, "%s: %s" % (name, counted))
        refusals.beside(grid, attack, "bc")
        grid.same("a", "x", "c")
        faults.wait_log(b, "datagrams.dropped", "why=dropped_handle")
        refusals.counted_once(b, "datagrams.dropped", "why=dropped_handle")
        for domain in (a, b):
            for why in ("messages_refused", "messages_bad"):
                faults.wait_log(domain, "messages.refused", "why=" + why)
                refusals.counted_once(domain, "messages.refused", "why=" + why)
            refusals.counted_once(domain, "link", "refused a channel record from c.test")
        lines = [line for _, line in faults.log_lines(b, "parent") if "@a.test" in line]
        lib.check(len(lines) == 1, "b had one parent: %s" % lines)


if __name__ == "__main__":
    lib.main(globals())
