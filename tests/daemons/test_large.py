#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Large objects, mostly empty ones, and very many small files."""

import os

import lib

MIB = 1 << 20


def data_regions(path):
    """[(offset, content)] of what is not a hole."""
    regions = []
    with open(path, "rb") as file:
        end = 0
        while True:
            try:
                start = os.lseek(file.fileno(), end, os.SEEK_DATA)
            except OSError:
                return regions
            end = os.lseek(file.fileno(), start, os.SEEK_HOLE)
            file.seek(start)
            regions.append((start, file.read(end - start)))


@lib.timed
def test_two_gib():
    with lib.Grid("ab") as grid:
        grid.write("a", "small", 64 * MIB)
        grid.stage("a", ["small"], "b").expect("complete")
        before = [grid[name].resident_bytes() for name in "ab"]
        grid.write("a", "large", 2048 * MIB)
        result = grid.stage("a", ["large"], "b", limit=55).expect("complete")
        lib.check(result.last["bytes"] == 2048 * MIB, str(result))
        grid.same("a", "large", "b")
        # Memory does not grow with the object: hashes of 32768 blocks are not kept in it.
        for name, was in zip("ab", before):
            now = grid[name].resident_bytes()
            lib.check(not lib.counts_memory() or now < was + 24 * MIB,
                      "%s grew from %d to %d" % (name, was, now))


@lib.timed
def test_a_mostly_empty_file():
    with lib.Grid("ab") as grid:
        path = os.path.join(grid["a"].data, "sparse")
        with open(path, "wb") as out:
            out.truncate(8 << 30)
            for place in (0, 5 << 30, (8 << 30) - MIB // 4):
                out.seek(place)
                lib.write_pattern(out, MIB // 4, place)
            out.seek(3 << 30)
            lib.write_pattern(out, MIB // 4, "inside")
        result = grid.stage("a", ["sparse"], "b").expect("complete")
        lib.check(result.last["bytes"] <= 2 * MIB, str(result))
        copy = grid.incoming("b", "sparse")
        lib.check(os.stat(copy).st_size == 8 << 30, "another size")
        lib.check(os.stat(copy).st_blocks * 512 <= 2 * MIB, "the holes were filled")
        lib.check(data_regions(path) == data_regions(copy), "another content")


@lib.timed
def test_ten_thousand_small_files():
    with lib.Grid("ab") as grid:
        total = 0
        for i in range(10000):
            size = 1000 + i * 7919 % 9000
            grid.write("a", "many/%03d/%d" % (i % 500, i), size)
            total += size
        grid.write("a", "one", total)
        one = grid.stage("a", ["one"], "b").expect("complete")
        many = grid.stage("a", ["many"], "b").expect("complete")
        lib.check(many.last["bytes"] == total and many.last["files"] == 10000, str(many))
        grid.same("a", "many", "b")
        print("  %d bytes: one file %.2f s, 10000 files %.2f s" % (
            total, one.last["seconds"], many.last["seconds"]))


if __name__ == "__main__":
    lib.main(globals())
