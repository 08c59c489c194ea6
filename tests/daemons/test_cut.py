#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Wires that are cut without a word: for good, and for a moment. Skipped without namespaces."""

import time

import faults
import lib
import test_dead_relay as dead
import test_kill as kill
import wires

HEADS = 0.03  # of datagrams of 1472 bytes


@lib.timed
def test_a_relay_is_cut_off_and_resumes():
    with wires.WiredGrid("abcd", patience="%gs" % dead.PATIENCE) as grid:
        relay, had, channel = dead.strike(grid, lambda domain: grid.cut(domain.name))
        grid.mend(relay)
        dead.resume(grid, relay, had, channel, heads=HEADS)


@lib.timed
def test_a_relay_is_cut_off_within_tls():
    with wires.WiredGrid("abcd", patience="%gs" % dead.PATIENCE,
                         peers="  transport = tcp") as grid:
        dead.strike(grid, lambda domain: grid.cut(domain.name))


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


@lib.timed
def test_a_leaf_is_cut_off_and_resumes():
    with wires.WiredGrid("abc", patience="1s") as grid:
        run, channel, relay, leaf = kill.begin(grid, kill.FAST_BPS)
        had = faults.wait_here(grid, leaf, channel, 0.2)
        grid.cut(leaf)
        result = run.wait()
        reason = dead.check_ended(grid, result, leaf, [relay])
        print("  %s was cut off at %d %%; reason: %s" % (leaf, 100 * had / kill.BYTES, reason))
        grid.mend(leaf)
        dead.resume(grid, leaf, had, channel, kill.BYTES, heads=HEADS)


@lib.timed
def test_the_source_is_cut_off():
    """Nobody can do without it, and its client is told nothing worse than that it takes longer."""
    with wires.WiredGrid("abc") as grid:
        run, channel, relay, leaf = kill.begin(grid, kill.FAST_BPS)
        had = faults.wait_here(grid, leaf, channel, 0.2)
        struck = time.time()
        grid.cut("a")
        for name in (relay, leaf):
            faults.wait_log(grid[name], "link", "link to a.test lost", struck)
        in_flight = faults.data_out(grid, "a") - faults.data_in(grid, relay)
        begun = time.monotonic()
        grid.mend("a")
        after = kill.go_on(grid, channel, leaf, had + kill.BYTES // 20, begun)
        kill.finish(grid, run, channel)
        twice = [kill.check_sent_twice(faults.data_out(grid, "a"), "relay", in_flight),
                 kill.check_sent_twice(faults.data_in(grid, leaf), "leaf")]
        print("  source was cut off at %d %%, goes on after %.2f s; twice: %s"
              % (100 * had / kill.BYTES, after, ", ".join(twice)))


if __name__ == "__main__":
    wires.enter()
    lib.main(globals())
