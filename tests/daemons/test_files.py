#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Files of all sizes, names and kinds arrive as they are."""

import os

import lib

# Around the size of a block.
SIZES = [0, 1, 65535, 65536, 65537]


def test_sizes_in_one_tree():
    with lib.Grid("abc") as grid:
        for size in SIZES + [3000000]:
            grid.write("a", "sizes/%d" % size, size)
        result = grid.stage("a", ["sizes"], "bc").expect("complete")
        lib.check(result.last["bytes"] == sum(SIZES) + 3000000, str(result))
        lib.check(result.last["files"] == len(SIZES) + 1, str(result))
        digests = set()
        for name in "bc":
            grid.same("a", "sizes", name)
            grid.nothing_left(name)
            domain = result.domain(grid.dns(name))
            lib.check(domain["state"] == "verified" and domain["reason"] is None, str(result))
            digests.add(domain["digest"])
        lib.check(len(digests) == 1 and len(digests.pop()) == 64, str(result))
        tree = result.last["trees"][0]
        lib.check(set(tree) == {"b.test", "c.test"} and "a.test" in tree.values(), str(tree))


def test_sizes_alone():
    with lib.Grid("ab") as grid:
        for size in SIZES:
            grid.write("a", "f%d" % size, size)
            result = grid.stage("a", ["f%d" % size], "b").expect("complete")
            lib.check(result.last["bytes"] == size, str(result))
            grid.same("a", "f%d" % size, "b")


def test_names():
    names = [b"with space", b"new\nline", "üñï→日本".encode(), b"n" * 255, b"\xff\xfe not utf-8",
             b"quo\"te's\\", b"-dash", b"*?[x]", b"\x1b[31mred", b"...", b"colon:name"]
    with lib.Grid("ab") as grid:
        for name in names:
            grid.write("a", b"names/" + name, name)
            grid.write("a", b"names/dir " + name[:200] + b"/" + name, b"inside " + name)
        grid.stage("a", ["names"], "b").expect("complete")
        grid.same("a", "names", "b")


def test_an_odd_name_as_source_and_target():
    with lib.Grid("ab") as grid:
        grid.write("a", "a b:c\n", b"content")
        path = os.path.join(grid["a"].data, "a b:c\n")
        lib.Running([lib.GMCAST, "--gateway", grid["a"].control, "stage", path, "--to",
                     "b:new\nname", "--json"], dict(os.environ)).wait().expect("complete")
        grid.same("a", "a b:c\n", "b", "new\nname")


def test_kinds_modes_and_times():
    with lib.Grid("ab") as grid:
        grid.write("a", "t/file", b"x", mode=0o640, mtime_ns=1234567890123456789)
        grid.write("a", "t/script", b"#!/bin/sh\n", mode=0o755, mtime_ns=1)
        grid.write("a", "t/readonly", b"r", mode=0o400)
        grid.write("a", "t/old", b"o", mtime_ns=-1000000001)
        top = os.path.join(grid["a"].data, "t")
        os.makedirs(os.path.join(top, "empty/nested empty"))
        os.makedirs(os.path.join(top, "locked"))
        grid.write("a", "t/locked/in", b"i")
        os.symlink("file", os.path.join(top, "link"))
        os.symlink("../file", os.path.join(top, "empty", "up"))
        os.symlink("nowhere", os.path.join(top, "dangling"))
        os.chmod(os.path.join(top, "locked"), 0o555)
        os.chmod(os.path.join(top, "empty"), 0o700)
        for path, when in (("locked", 5), ("empty", 1700000000123456789), ("", 1600000000000000001)):
            os.utime(os.path.join(top, path), ns=(when, when))
        grid.stage("a", ["t"], "b").expect("complete")
        grid.same("a", "t", "b")
        os.chmod(os.path.join(top, "locked"), 0o755)
        os.chmod(grid.incoming("b", "t/locked"), 0o755)


def test_holes_stay_holes():
    with lib.Grid("ab") as grid:
        path = os.path.join(grid["a"].data, "sparse")
        with open(path, "wb") as out:
            out.truncate(1 << 30)
            out.seek(700 << 20)
            out.write(b"data in the middle" * 1000)
        result = grid.stage("a", ["sparse"], "b").expect("complete")
        lib.check(result.last["bytes"] < 1 << 20, str(result))
        there = os.lstat(grid.incoming("b", "sparse"))
        lib.check(there.st_size == 1 << 30, "size %d" % there.st_size)
        lib.check(there.st_blocks * 512 < 1 << 20, "%d blocks" % there.st_blocks)
        with open(grid.incoming("b", "sparse"), "rb") as copy:
            copy.seek((700 << 20) - 10)
            lib.check(copy.read(28) == b"\0" * 10 + b"data in the middle", "other content")


def test_several_sources_and_places():
    with lib.Grid("abc") as grid:
        grid.write("a", "one", b"1")
        grid.write("a", "two/x", b"2")
        grid.stage("a", ["one", "two"], ["b:sub/dir/", "c"]).expect("complete")
        grid.same("a", "one", "b", "sub/dir/one")
        grid.same("a", "two", "b", "sub/dir/two")
        grid.same("a", "one", "c")
        grid.same("a", "two", "c")
        grid.stage("a", ["one"], ["b:renamed", "c"], "--into", "deep").expect("complete")
        grid.same("a", "one", "b", "renamed")
        grid.same("a", "one", "c", "deep/one")


def test_what_exists_is_kept():
    with lib.Grid("abc") as grid:
        grid.write("a", "x", b"new")
        grid.write("b", "x", b"old", folder="incoming")
        result = grid.stage("a", ["x"], "bc").expect("partial")
        refused = result.domain("b.test")
        lib.check(refused["state"] == "failed" and "exist" in refused["reason"], str(result))
        lib.check(result.domain("c.test")["state"] == "verified", str(result))
        with open(grid.incoming("b", "x"), "rb") as kept:
            lib.check(kept.read() == b"old", "it was overwritten")
        grid.nothing_left("b")


def test_many_small_files():
    with lib.Grid("ab") as grid:
        for i in range(2000):
            grid.write("a", "many/%d/%d" % (i % 50, i), b"%d" % i)
        grid.stage("a", ["many"], "b").expect("complete")
        grid.same("a", "many", "b")


if __name__ == "__main__":
    lib.main(globals())
