#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Wires that are cut without a word: for good, and for a moment. Skipped without namespaces."""

import time

import faults
import lib
import test_dead_relay as dead
import wires


@lib.timed
def test_a_relay_is_cut_off_and_resumes():
    with wires.WiredGrid("abcd", patience="%gs" % dead.PATIENCE) as grid:
        relay, had, channel = dead.strike(grid, lambda domain: grid.cut(domain.name))
        grid.mend(relay)
        dead.resume(grid, relay, had, channel)


@lib.timed
def test_a_short_outage_is_forgotten():
    with wires.WiredGrid("abc", patience="20s") as grid:
        grid.write("a", "x", dead.BYTES)
        run = grid.begin("a", ["x"], "bc", "--tree", "chain", "--rate", dead.RATE)
        channel = run.channel()
        relay, leaf = faults.chain(grid, channel)
        had = faults.wait_here(grid, leaf, channel, 0.25)
        struck = time.time()
        grid.cut(relay)
        # The leaf leaves it for the source; then the wire is there again.
        faults.wait_log(grid[leaf], "parent", "attached to a.test", struck)
        grid.mend(relay)
        run.wait().expect("complete")
        for name in (relay, leaf):
            grid.same("a", "x", name)
        print("  %s was cut off at %d %%" % (relay, 100 * had / dead.BYTES))


if __name__ == "__main__":
    wires.enter()
    lib.main(globals())
