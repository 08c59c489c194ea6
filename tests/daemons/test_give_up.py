#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What waits for somebody who may never come back: doctor names it, with the command that gives it
up where it is, and then nothing is left of it."""

import os

import faults
import lib

BYTES = 5000000
SLOW = ("--rate", "20M")


def invite(grid, node):
    _, out, _ = grid["b"].gmcast("node", "add", node + ".test")
    with open(grid[node].options["token"], "w") as file:
        file.write(out)


def unfinished(domain):
    _, out, _ = domain.gmcast("doctor", "--json", check_status=False)
    return [f for f in lib.json.loads(out) if f["check"] == "unfinished"]


def wait_unheard(grid, name, channel, whom):
    def told():
        status = grid[name].local_status(channel)
        return whom + ".test is not heard" in ((status or {}).get("reason") or "")
    lib.wait(told, lambda: "status says why nothing comes: %s" % grid[name].local_status(channel))


def gone(grid, name):
    lib.wait(lambda: not os.listdir(os.path.join(grid[name].state, "channels")),
             "its state is gone")
    grid.nothing_left(name)


def test_a_node_that_is_removed():
    """It waits, since it may be added again, and does so over a restart too."""
    with lib.Grid("ab", nodes={"b": ["n1", "n2"]}, start=False) as grid:
        for node in ("n1", "n2"):
            grid[node].options["token"] = os.path.join(grid[node].path, "token")
        grid["a"].start()
        grid["b"].start()
        for node in ("n1", "n2"):
            invite(grid, node)
            grid[node].start()
        lib.wait(lambda: '"up":false' not in
                 grid["b"].gmcast("node", "list", "--json")[1].replace(" ", ""), "both are in")
        grid.write("a", "x", BYTES)
        run = grid.begin("a", ["x"], "b", *SLOW)
        faults.wait_here(grid, "n2", run.channel(), 0.2)
        grid["b"].gmcast("node", "remove", "n2.test")
        run.wait().expect("complete")
        grid["n2"].kill()
        grid["n2"].start()
        code, _, errors = grid["n2"].gmcast("cancel", run.channel(), check_status=False)
        lib.check(code == 1 and "n2.test is a node: ask the gateway" in errors, errors)
        wait_unheard(grid, "n2", run.channel(), "b")
        found = unfinished(grid["n2"])
        command = "gmcast cancel --local " + run.channel()
        lib.check(len(found) == 1 and found[0]["level"] == "warn" and
                  found[0]["subject"] == run.channel() and "is not heard" in found[0]["text"] and
                  command in found[0]["advice"], str(found))
        grid["n2"].gmcast(*command.split()[1:])
        gone(grid, "n2")
        grid.same("a", "x", "n1")


def test_a_source_that_is_lost():
    """One that comes back after all, and could not be told, sends it anew."""
    with lib.Grid("abc") as grid:
        grid.write("a", "x", BYTES)
        channel = grid.begin("a", ["x"], "bc", *SLOW).channel()
        faults.wait_here(grid, "b", channel, 0.2)
        grid["a"].kill()
        wait_unheard(grid, "b", channel, "a")
        grid["b"].gmcast("cancel", "--local", channel)
        gone(grid, "b")
        grid["a"].start()
        grid.watch("a", channel).expect("complete")
        for name in "bc":
            grid.same("a", "x", name)


def test_beside_others():
    """Only there; the others are served, and what ends by itself is left to that."""
    with lib.Grid("abc") as grid:
        grid.write("a", "x", BYTES)
        run = grid.begin("a", ["x"], "bc", *SLOW)
        faults.wait_here(grid, "b", run.channel(), 0.2)
        code, _, errors = grid["a"].gmcast("cancel", "--local", run.channel(), check_status=False)
        lib.check(code == 1 and "no such transfer from another domain" in errors, errors)
        grid["b"].gmcast("cancel", "--local", run.channel())
        code, _, errors = grid["b"].gmcast("cancel", "-l", run.channel(), check_status=False)
        lib.check(code == 1 and "over already" in errors, errors)
        gone(grid, "b")
        result = run.wait()
        result.expect("partial")
        lib.check("given up there by a user" in result.domain("b.test")["reason"], str(result))
        grid.same("a", "x", "c")
        grid.absent("b", "x")


if __name__ == "__main__":
    lib.main(globals())
