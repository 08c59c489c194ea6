#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Disks that are full, quotas that are used up, files that change under the transfer: said where
and why, nothing half under its final name, and the others are served."""

import contextlib
import glob
import os
import subprocess
from operator import methodcaller

import faults
import lib

SLOW = ("--rate", "40M")
SLOW_BYTES = 10000000


@contextlib.contextmanager
def small_disk(path, size):
    """A file system of its own; yields False where that needs rights that we do not have."""
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d,mode=755" % size, "none", path],
                          capture_output=True, check=False).returncode == 0
    try:
        yield made
    finally:
        if made:
            subprocess.run(["umount", "-l", path], check=True)


def fill(path):
    """Leaves no room beneath path."""
    with open(os.path.join(path, "filler"), "wb", buffering=0) as out:
        with contextlib.suppress(OSError):
            while True:
                out.write(bytes(65536))


def expect_only(result, grid, good, bad, words):
    result.expect("partial")
    member = result.domain(grid.dns(bad))
    lib.check(member["state"] == "failed", str(result))
    lib.check(any(word in member["reason"] for word in words), str(result))
    lib.check(result.domain(grid.dns(good))["state"] == "verified", str(result))


def test_a_disk_that_is_full_from_the_start():
    with lib.Grid("abc") as grid, small_disk(grid["b"].incoming, 4000000) as made:
        if not made:
            print("  skipped: no right to mount")
            return
        grid.write("a", "x", SLOW_BYTES)
        result = grid.stage("a", ["x"], "bc")
        expect_only(result, grid, "c", "b", ["10000000 bytes do not fit"])
        grid.same("a", "x", "c")
        grid.absent("b", "x")
        grid.nothing_left("b")


def test_a_state_folder_that_is_full():
    """Commands that end when something is saved do not say that it is."""
    with lib.Grid("abc", start=False) as grid, small_disk(grid["a"].state, 1000000) as made:
        if not made:
            print("  skipped: no right to mount")
            return
        grid.start()
        grid["c"].kill()
        grid.write("a", "x", 4000000)
        run = grid.begin("a", ["x"], "b", "--rate", "4M")
        grid.wait_share("a", run.channel(), "b", 0.05)
        fill(grid["a"].state)
        code, _, error = grid["a"].gmcast("stage", grid["a"].data + "/x", "--to", "b", "--detach",
                                          check_status=False)
        # 4: what fitted was saved, and it is what came after that did not.
        lib.check(code in (1, 4) and "No space left" in error, "%d: %s" % (code, error))
        code, out, error = grid["a"].gmcast("add", run.channel(), "--to", "c", check_status=False)
        lib.check(code == 4 and "a restart of the gateway would forget this" in error and
                  "No space left" in error and out == "", "%d: %s %s" % (code, out, error))
        # Room is made: it is saved after all.
        os.unlink(os.path.join(grid["a"].state, "filler"))
        lib.wait(lambda: not grid["a"].status(run.channel())["reason"],
                 lambda: "it is not saved again: %s" % grid["a"].status(run.channel()))
        grid["a"].kill()
        grid["c"].start()
        grid["a"].start()
        grid.watch("a", run.channel()).expect("complete")
        grid.same("a", "x", "c")


def test_a_disk_that_becomes_full():
    with lib.Grid("abc") as grid, small_disk(grid["b"].incoming, 16000000) as made:
        if not made:
            print("  skipped: no right to mount")
            return
        grid.write("a", "x", SLOW_BYTES)
        run = grid.begin("a", ["x"], "bc", *SLOW)
        grid.wait_share("a", run.channel(), "b", 0.2)
        fill(grid["b"].incoming)
        result = run.wait()
        expect_only(result, grid, "c", "b", ["space", "room"])
        grid.same("a", "x", "c")
        grid.absent("b", "x")
        # Room is made: what arrived before counts.
        os.unlink(os.path.join(grid["b"].incoming, "filler"))
        grid.resume("a", result.channel).expect("complete")
        grid.same("a", "x", "b")


def test_a_quota():
    with lib.Grid("abc", start=False) as grid:
        grid["b"].options["quota"] = "5M"
        grid.start()
        grid.write("a", "fits", 3000000)
        grid.write("a", "does-not", 3000000)
        grid.stage("a", ["fits"], "bc").expect("complete")
        expect_only(grid.stage("a", ["does-not"], "bc"), grid, "c", "b", ["quota"])
        grid.absent("b", "does-not")


def remove(paths):
    for path in paths:
        os.unlink(path)


def overwrite(paths):
    """In place, at once, with the times that they had."""
    for path in paths:
        before = os.stat(path)
        with open(path, "r+b") as file:
            file.write(b"not what was sent" * 1000)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def stop_and_spoil(end, spoil):
    """An unfinished file, after its gateway and its node ended so. It arrives as it was sent; what both said."""
    with lib.Grid("ab", nodes={"b": ["n1"]}) as grid:
        grid.write("a", "x", SLOW_BYTES)
        run = grid.begin("a", ["x"], "b", "--rate", "20M")
        for name in ("b", "n1"):
            faults.wait_here(grid, name, run.channel(), 0.05)
        # The first one after that may have begun before.
        enough = {name: grid[name].counters()["checkpoints"] + 2 for name in ("b", "n1")}
        for name, count in enough.items():
            lib.wait(lambda name=name, count=count:
                     grid[name].counters()["checkpoints"] >= count, "%s saved it" % name)
        for name in ("b", "n1"):
            end(grid[name])
        spoil([glob.glob(grid[name].incoming + "/.gmcast-*.part/x")[0] for name in ("b", "n1")])
        grid["n1"].start()
        grid["b"].start()
        run.wait().expect("complete")
        for name in ("b", "n1"):
            grid.same("a", "x", name)
            grid.nothing_left(name)
        return [grid[name].log() for name in ("b", "n1")]


def spoil_an_unfinished_file(end, spoil):
    """What is there is not taken for what it was before. The rest counts."""
    for log in stop_and_spoil(end, spoil):
        lib.check("x: changed in the unfinished tree" in log, log)
        lib.check("is compared: " in log and "is compared: 0 " not in log, log)


def test_an_unfinished_file_that_is_removed():
    spoil_an_unfinished_file(methodcaller("kill"), remove)


def test_an_unfinished_file_that_is_overwritten():
    spoil_an_unfinished_file(methodcaller("kill"), overwrite)


def test_an_unfinished_file_that_is_overwritten_after_a_stop():
    spoil_an_unfinished_file(methodcaller("stop"), overwrite)


def test_an_unfinished_file_after_a_stop():
    """Nobody but the gateways wrote to it: nothing is read again."""
    for log in stop_and_spoil(methodcaller("stop"), lambda paths: None):
        lib.check("changed in the unfinished tree" not in log, log)


def change_in_the_middle(change):
    """A source whose file changes fails, and says which; another transfer goes on. The cache is
    small, or all would be read before."""
    with lib.Grid("ab", cache="2M") as grid:
        path = grid.write("a", "tree/x", SLOW_BYTES)
        grid.write("a", "other", SLOW_BYTES)
        other = grid.begin("a", ["other"], "b", *SLOW)
        run = grid.begin("a", ["tree"], "b", *SLOW)
        grid.wait_share("a", run.channel(), "b", 0.2)
        change(path)
        result = run.wait()
        lib.check(result.last["result"] in ("failed", "partial") and result.status != 0, str(result))
        said = (result.last["reason"] or "") + (result.domain("b.test")["reason"] or "")
        lib.check("chang" in said and "x" in said, str(result))
        grid.absent("b", "tree")
        other.wait().expect("complete")
        grid.same("a", "other", "b")


def overwrite_end(path):
    with open(path, "r+b") as file:
        file.seek(-10, os.SEEK_END)
        file.write(b"different!")


def test_a_destination_behind_a_link():
    with lib.Grid("abc") as grid:
        grid.write("a", "x", 100000)
        os.mkdir(os.path.join(grid["b"].incoming, "real"))
        os.symlink("real", os.path.join(grid["b"].incoming, "link"))
        result = grid.stage("a", ["x"], ["b:link/x", "c"])
        expect_only(result, grid, "c", "b", ["over a symbolic link, and none is followed here"])
        grid.nothing_left("b")


def test_a_file_that_changes():
    change_in_the_middle(overwrite_end)


def test_a_file_that_shrinks():
    change_in_the_middle(lambda path: os.truncate(path, SLOW_BYTES * 6 // 10))


def test_a_file_that_is_replaced():
    def replace(path):
        with open(path + ".new", "wb") as file:
            lib.write_pattern(file, SLOW_BYTES, "another")
        os.rename(path + ".new", path)

    # The scanned file may be open still: then its old content is whole and good.
    with lib.Grid("ab", cache="2M") as grid:
        path = grid.write("a", "x", SLOW_BYTES)
        before = lib.digest_of(path)
        run = grid.begin("a", ["x"], "b", *SLOW)
        grid.wait_share("a", run.channel(), "b", 0.2)
        replace(path)
        result = run.wait()
        if result.status == 0:
            lib.check(lib.digest_of(grid.incoming("b", "x")) == before, "a mixture arrived")
        else:
            grid.absent("b", "x")


if __name__ == "__main__":
    lib.main(globals())
