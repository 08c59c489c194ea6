#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""kill -9 of a leaf, a relay and the source in the middle of a transfer, and their restart; a
source and a leaf that sleep."""

import time

import faults
import lib

# 3.2 s along the chain a -> relay -> leaf.
BYTES = 40 << 20
RATE_BPS = 105000000
# Where it goes on without one of them meanwhile.
FAST_BPS = 2 * RATE_BPS
GOES_ON_WITHIN = 5.0
# Of the rate, when nothing better is known: a busy machine takes so long to notice a death.
IN_FLIGHT = RATE_BPS // 8 // 20
# Beside the data of files, fragments carry the listing and pages of hashes.
OTHER_DATA = 3 * faults.BLOCK + BYTES // 1000


def go_on(grid, channel, name, had, begun):
    """name gets further than it was, soon after the restart."""
    lib.wait(lambda: faults.bytes_here(grid, name, channel) > had, "%s goes on" % name,
             max(0.1, begun + GOES_ON_WITHIN - time.monotonic()))
    return time.monotonic() - begun


def check_sent_twice(sent, which, in_flight=IN_FLIGHT):
    """sent: bytes of fragments that went to one receiver, from everybody and in all its lives."""
    twice = sent - BYTES - OTHER_DATA
    lib.check(twice <= max(in_flight, IN_FLIGHT) + BYTES // 100,
              "%s: %d bytes sent twice, %.2f %%, %d were in flight"
              % (which, twice, 100 * twice / BYTES, in_flight))
    return "%s %.2f %% (%.2f %% in flight)" % (which, 100 * max(twice, 0) / BYTES,
                                               100 * in_flight / BYTES)


def begin(grid, rate_bps=RATE_BPS):
    grid.write("a", "x", BYTES)
    run = grid.begin("a", ["x"], "bc", "--tree", "chain", "--rate", str(rate_bps))
    relay, leaf = faults.chain(grid, run.channel())
    return run, run.channel(), relay, leaf


def finish(grid, run, channel):
    result = run.wait()
    # A client whose own gateway died may have given up; another one sees the end.
    if result.status == lib.REFUSED:
        result = grid.watch("a", channel)
    result.expect("complete")
    for name in "bc":
        grid.same("a", "x", name)
        grid.nothing_left(name)


@lib.timed
def test_a_leaf():
    with lib.Grid("abc") as grid:
        run, channel, relay, leaf = begin(grid)
        had = faults.wait_here(grid, leaf, channel, 0.3)
        grid[leaf].kill()
        in_flight = faults.data_out(grid, relay) - had
        begun = time.monotonic()
        grid[leaf].start()
        after = go_on(grid, channel, leaf, had, begun)
        finish(grid, run, channel)
        # The relay lived: what it sent is what the leaf was sent in both lives.
        twice = check_sent_twice(faults.data_out(grid, relay), "leaf", in_flight)
        check_sent_twice(faults.data_in(grid, relay), "relay")
        print("  leaf killed at %d %%, goes on after %.2f s; twice: %s"
              % (100 * had / BYTES, after, twice))


@lib.timed
def test_a_relay():
    with lib.Grid("abc") as grid:
        run, channel, relay, leaf = begin(grid)
        had = faults.wait_here(grid, relay, channel, 0.3)
        grid[relay].kill()
        in_flight = grid["a"].bytes_sent()[grid.dns(relay)] - had
        begun = time.monotonic()
        grid[relay].start()
        after = go_on(grid, channel, relay, had, begun)
        finish(grid, run, channel)
        # The source counts what it sends to a peer over all sessions.
        to_relay = grid["a"].bytes_sent()[grid.dns(relay)]
        to_leaf = faults.data_in(grid, leaf)
        twice = [check_sent_twice(to_relay, "relay", in_flight), check_sent_twice(to_leaf, "leaf")]
        print("  relay killed at %d %%, goes on after %.2f s; twice: %s"
              % (100 * had / BYTES, after, ", ".join(twice)))


@lib.timed
def test_the_source():
    with lib.Grid("abc") as grid:
        run, channel, relay, leaf = begin(grid)
        faults.wait_here(grid, leaf, channel, 0.3)
        grid["a"].kill()
        had = faults.bytes_here(grid, leaf, channel)
        begun = time.monotonic()
        grid["a"].start()
        after = go_on(grid, channel, leaf, had + BYTES // 20, begun)
        finish(grid, run, channel)
        twice = [check_sent_twice(faults.data_in(grid, relay), "relay"),
                 check_sent_twice(faults.data_in(grid, leaf), "leaf")]
        print("  source killed at %d %%, goes on after %.2f s; twice: %s"
              % (100 * had / BYTES, after, ", ".join(twice)))


@lib.timed
def test_the_source_before_it_sends():
    """The command has ended, and nobody can be reached yet."""
    with lib.Grid("abc") as grid:
        grid.write("a", "x", BYTES)
        for name in "bc":
            grid[name].kill()
        channel = grid["a"].gmcast("stage", grid["a"].data + "/x", "--to", "b,c",
                                   "--detach")[1].strip()
        grid["a"].kill()
        grid["a"].start()
        lib.check(grid["a"].status(channel) is not None, "%s is forgotten" % channel)
        for name in "bc":
            grid[name].start()
        grid.watch("a", channel).expect("complete")
        for name in "bc":
            grid.same("a", "x", name)
            grid.nothing_left(name)


def test_the_source_sleeps():
    """All its links are found dead meanwhile; nothing of it ends the transfer."""
    with lib.Grid("abc") as grid:
        run, channel, relay, leaf = begin(grid)
        had = faults.wait_here(grid, leaf, channel, 0.3)
        stopped = time.time()
        grid["a"].freeze()
        for name in (relay, leaf):
            faults.wait_log(grid[name], "link", "link to a.test lost", stopped)
        begun = time.monotonic()
        grid["a"].thaw()
        after = go_on(grid, channel, leaf, had + BYTES // 20, begun)
        finish(grid, run, channel)
        twice = [check_sent_twice(faults.data_in(grid, relay), "relay"),
                 check_sent_twice(faults.data_in(grid, leaf), "leaf")]
        print("  source slept at %d %%, goes on after %.2f s; twice: %s"
              % (100 * had / BYTES, after, ", ".join(twice)))


@lib.timed
def test_a_leaf_sleeps():
    """Its parent is through meanwhile. Then it goes on where it was."""
    with lib.Grid("abc") as grid:
        run, channel, relay, leaf = begin(grid, FAST_BPS)
        had = faults.wait_here(grid, leaf, channel, 0.2)
        stopped = time.time()
        grid[leaf].freeze()
        faults.wait_log(grid[relay], "link", "link to %s lost" % grid.dns(leaf), stopped)
        in_flight = faults.data_out(grid, relay) - had
        lib.wait(lambda: grid["a"].status(channel)["verified"] == 1, "the relay is through")
        grid.same("a", "x", relay)
        begun = time.monotonic()
        grid[leaf].thaw()
        after = go_on(grid, channel, leaf, had + BYTES // 20, begun)
        finish(grid, run, channel)
        # Whoever feeds it then: the source sends nothing else to it but words.
        sent = faults.data_out(grid, relay) + grid["a"].bytes_sent()[grid.dns(leaf)]
        print("  leaf slept at %d %%, goes on after %.2f s; twice: %s"
              % (100 * had / BYTES, after, check_sent_twice(sent, "leaf", in_flight)))


if __name__ == "__main__":
    lib.main(globals())
