#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A receiver that is stopped nine tenths of the time does not hold up the others."""

import statistics
import threading

import faults
import lib

MIB = 1 << 20
BYTES = 100 * MIB
# 5.2 s; the source and a relay serve two children each.
OPTIONS = ("--tree", "binary", "--rate", "160M")
CHANGE_MAX = 0.05
# Long enough that what waits in the socket cannot make up for it.
STOPPED, RUNNING = 0.900, 0.050
# Of the slow one: what may be on its way to it is a quarter of that.
SMALLEST_CACHE = "1M"


class Stutter:
    """Stops and continues a domain's gateway until it is left."""

    def __init__(self, domain):
        self.domain = domain
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        while not self.over.is_set():
            self.domain.freeze()
            self.over.wait(STOPPED)
            self.domain.thaw()
            self.over.wait(RUNNING)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def relay_and_children(result):
    """The one target that has two children below it."""
    parents = {name[0]: parent[0] for name, parent in result.last["trees"][0].items()}
    for name in parents:
        children = sorted(child for child, parent in parents.items() if parent == name)
        if len(children) == 2:
            return name, children
    raise lib.Failure("no relay with two children: %s" % parents)


def seconds(result, names):
    return {name: result.domain(name + ".test")["seconds"] for name in names}


def transfer_beside(grid, path, slow):
    """The result, and the share that the slow one had when all others were done."""
    run = grid.begin("a", [path], "bcde", *OPTIONS)
    channel = run.channel()
    victim = grid.dns(slow)

    def others_done():
        domains = (grid["a"].status(channel) or {}).get("domains", {})
        done = [name for name, domain in domains.items() if domain["state"] == "verified"]
        return (domains[victim]["bytes"],) if len(done) == 3 and victim not in done else None
    faults.wait_here(grid, slow, channel, 0.02)
    with Stutter(grid[slow]):
        got = lib.wait(others_done, "the others are done and the slow one is not", interval=0.2)[0]
    result = run.wait().expect("complete")
    grid.same("a", path, slow)
    return result, got / BYTES


def compare(cache):
    """One transfer without and one with a slow receiver, through the same tree."""
    with lib.Grid("abcde", cache=cache) as grid:
        grid.write("a", "x", BYTES)
        grid.write("a", "y", BYTES)
        result = grid.stage("a", ["x"], "bcde", *OPTIONS).expect("complete")
        relay, (slow, _) = relay_and_children(result)
        others = [name for name in "bcde" if name != slow]
        usual = statistics.median(seconds(result, others).values())
        grid[slow].stop()
        grid[slow].options["cache"] = SMALLEST_CACHE
        grid[slow].start()
        result, share = transfer_beside(grid, "y", slow)
        changes = {name: took / usual - 1 for name, took in seconds(result, others).items()}
        text = "cache %s: %.2f s alone; relay %s, %s then at %.0f %%: %s" % (
            cache, usual, relay, slow, 100 * share,
            ", ".join("%s %+.1f %%" % (name, 100 * change) for name, change in changes.items()))
        print("  " + text)
        lib.check(share < 0.3, "the slow one was not slow: " + text)
        lib.check(max(changes.values()) <= CHANGE_MAX, text)


@lib.timed
def test_cache_as_usual():
    compare("64M")


@lib.timed
def test_cache_of_a_hundredth():
    compare(str(BYTES // 100))


if __name__ == "__main__":
    lib.main(globals())
