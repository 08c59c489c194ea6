#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A receive directory that is not mounted, or only for reading: its gateway starts, sends, and
refuses what it cannot store; what is unfinished there is waited for, and not given up."""

import os
import subprocess

import faults
import lib


def away(grid, name):
    os.rename(grid[name].incoming, grid[name].incoming + ".away")


def back(grid, name):
    os.rename(grid[name].incoming + ".away", grid[name].incoming)


def findings(domain):
    _, out, _ = domain.gmcast("doctor", "--json", check_status=False)
    return [f for f in lib.json.loads(out) if f["check"] == "config" and f["level"] == "fail"]


def check_works_without(grid, words):
    """b cannot receive: it says so, and does all else."""
    lib.check("receive.refused" in grid["b"].log() and words in grid["b"].log(), grid["b"].log())
    lib.check(any(words in f["text"] for f in findings(grid["b"])), str(findings(grid["b"])))
    grid.write("a", "x", 100000)
    result = grid.stage("a", ["x"], "bc")
    result.expect("partial")
    lib.check(words in result.domain("b.test")["reason"], str(result))
    grid.same("a", "x", "c")
    grid.write("b", "y", 100000)
    grid.stage("b", ["y"], "c").expect("complete")
    done = subprocess.run([lib.GATEWAYD, "-T", "-c", grid["b"].conf_path], capture_output=True,
                          text=True, check=False)
    lib.check(done.returncode == 0 and words in done.stderr and "not all can be received" in
              done.stdout, str(done))


def check_works_again(grid):
    """Without a restart."""
    grid.stage("a", ["x"], "b").expect("complete")
    grid.same("a", "x", "b")
    lib.check(not findings(grid["b"]), str(findings(grid["b"])))
    grid.nothing_left("b")


def test_not_mounted():
    with lib.Grid("abc", start=False) as grid:
        away(grid, "b")
        grid.start()
        check_works_without(grid, "No such file or directory")
        back(grid, "b")
        check_works_again(grid)


def test_only_for_reading():
    with lib.Grid("abc", start=False) as grid:
        incoming = grid["b"].incoming
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,mode=755", "none", incoming],
                          capture_output=True, check=False).returncode != 0:
            print("  skipped: no right to mount")
            return
        try:
            grid.start()
            check_works_without(grid, "Read-only file system")
            subprocess.run(["mount", "-o", "remount,rw", incoming], check=True)
            check_works_again(grid)
        finally:
            subprocess.run(["umount", "-l", incoming], check=True)


def test_unfinished_there():
    """Mounted late after a crash: what has arrived is not thrown away."""
    with lib.Grid("ab") as grid:
        grid.write("a", "x", 10000000)
        run = grid.begin("a", ["x"], "b", "--rate", "40M")
        faults.wait_here(grid, "b", run.channel(), 0.2)
        grid["b"].kill()
        away(grid, "b")
        grid["b"].start(wait_ready=False)
        lib.check(grid["b"].process.wait(lib.LIMIT) == 1, grid["b"].log())
        grid["b"].process = None
        lib.check("where a transfer of a.test is to go on: No such file" in grid["b"].log(),
                  grid["b"].log())
        back(grid, "b")
        grid["b"].start()
        run.wait().expect("complete")
        grid.same("a", "x", "b")
        grid.nothing_left("b")


if __name__ == "__main__":
    lib.main(globals())
