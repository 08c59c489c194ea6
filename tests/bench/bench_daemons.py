# SPDX-License-Identifier: BSD-2-Clause
"""Real daemons on loopback against TLS 1.3 streams, in one run: `make bench`.

Files are in memory (GMC_TMPDIR, default /dev/shm). Every figure of gmcast stands beside its limit
and the peer measured just before and after it; nothing is judged, the table is the result.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemons"))
os.environ.setdefault("GMC_TMPDIR", "/dev/shm")
import lib  # noqa: E402
from ballast import Ballast  # noqa: E402

BYTES = int(os.environ.get("GMC_BENCH_BYTES", 1 << 30))
BUFFERS = 1 << 30  # more than all sockets and caches of a run
ROUNDS = int(os.environ.get("GMC_BENCH_ROUNDS", 5))
TLS = os.path.join(lib.BUILD, "tests", "bench", "bench_tls")


def make_object(path, size):
    piece = os.urandom(1 << 24)
    with open(path, "wb") as out:
        for at in range(0, size, len(piece)):
            out.write(piece[:min(len(piece), size - at)])


def tls(path, folder, streams, discard):
    line = subprocess.run([TLS, path, folder, str(streams)] + (["--discard"] if discard else []),
                          capture_output=True, text=True, check=True).stdout
    for i in range(streams):
        try:
            os.unlink(os.path.join(folder, "tls-%d" % i))
        except FileNotFoundError:
            pass
    return json.loads(line)["gbit_per_second"]


def gmcast(grid, targets):
    result = grid.stage("a", ["object"], targets, limit=300).expect("complete").last
    for name in targets:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(grid[name].incoming, "object"))
    return result["bytes"] * len(targets) * 8 / result["seconds"] / 1e9


def median(values):
    return sorted(values)[len(values) // 2]


def compare(receivers, discard):
    """Delivered Gbit/s of gmcast and of as many TLS streams, run in turn, and their ratio: medians.

    A machine's speed drifts over minutes, so each round is compared with its own peer.
    """
    names = "abcdefg"[:receivers + 1]
    ours, theirs = [], []
    with lib.Grid(names, start=False, log="warn") as grid:
        for domain in grid.domains.values():
            domain.options["arguments"] = ["--discard"] if discard else []
        grid.start()
        path = os.path.join(grid["a"].data, "object")
        make_object(path, BYTES)
        memory = BUFFERS + (0 if discard else receivers * BYTES)
        for _ in range(ROUNDS):
            with Ballast(grid.path, memory):
                theirs.append(tls(path, grid.path, receivers, discard))
            with Ballast(grid.path, memory):
                ours.append(gmcast(grid, names[1:]))
    return median(ours), median(theirs), median([a / b for a, b in zip(ours, theirs)])


def timed_copy(path, to):
    begin = time.monotonic()
    subprocess.run(["cp", "-a", path, to], check=True)
    return time.monotonic() - begin


def small_files(mean):
    """10,000 files in 500 directories and one file of their size, in turn: seconds of both, and the
    ratio of their rates; the same for cp -a, which neither verifies nor sends. Medians."""
    sizes = [mean // 4 + i * 7919 % (mean * 3 // 2) for i in range(10000)]
    one, many, copies = [], [], []
    with lib.Grid("ab", log="warn") as grid:
        for i, size in enumerate(sizes):
            grid.write("a", "many/%03d/%d" % (i % 500, i), size)
        grid.write("a", "one", sum(sizes))
        for i in range(ROUNDS):
            for source, seconds in (("one", one), ("many", many)):
                result = grid.stage("a", [source], "b", "--into", "to%d/" % i).expect("complete")
                seconds.append(result.last["seconds"])
            shutil.rmtree(grid.incoming("b", "to%d" % i))
            to = os.path.join(grid.path, "copy")
            copies.append([timed_copy(os.path.join(grid["a"].data, source), to + source)
                           for source in ("one", "many")])
            os.unlink(to + "one")
            shutil.rmtree(to + "many")
    return (median(one), median(many), median([a / b for a, b in zip(one, many)]),
            median([a / b for a, b in copies]))


def idle():
    """Resident memory and CPU share of a gateway that has nothing to do, after a transfer."""
    with lib.Grid("ab", log="warn") as grid:
        grid.write("a", "object", b"x" * 1000)
        grid.stage("a", ["object"], "b").expect("complete")
        pid = grid["b"].process.pid
        before = cpu_ticks(pid)
        time.sleep(5)
        share = (cpu_ticks(pid) - before) / os.sysconf("SC_CLK_TCK") / 5
        return grid["b"].resident_bytes(), share


def cpu_ticks(pid):
    with open("/proc/%d/stat" % pid) as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def peak_memory(size):
    """Largest resident memory of source and target over a transfer of so many bytes."""
    with lib.Grid("ab", log="warn") as grid:
        make_object(os.path.join(grid["a"].data, "object"), size)
        grid.stage("a", ["object"], "b", limit=300).expect("complete")
        return [vm_hwm(grid[name].process.pid) for name in "ab"]


def vm_hwm(pid):
    with open("/proc/%d/status" % pid) as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def main():
    print("object %d bytes, median of %d, Gbit/s delivered, summed over receivers" %
          (BYTES, ROUNDS))
    print("%-36s %8s %8s %7s %7s" % ("", "gmcast", "TLS 1.3", "ratio", "wanted"))
    for title, receivers, discard, wanted in (
            ("1 receiver, hashed and stored", 1, False, 0.9),
            ("6 receivers, hashed and stored", 6, False, 1.2),
            ("6 receivers, neither", 6, True, 1.5)):
        ours, theirs, ratio = compare(receivers, discard)
        print("%-36s %8.2f %8.2f %7.2f %7.2f" % (title, ours, theirs, ratio, wanted), flush=True)
    print("10,000 files in 500 directories beside one file of their size: seconds, ratio of rates")
    print("%-36s %8s %8s %7s %7s %7s" % ("mean size", "one", "10,000", "ratio", "wanted", "cp -a"))
    for mean in (5000, 16000, 64000):
        one, many, ratio, copied = small_files(mean)
        print("%-36d %8.3f %8.3f %7.2f %7.2f %7.2f" % (mean, one, many, ratio, 0.5, copied),
              flush=True)
    memory, share = idle()
    print("idle gateway: %.1f MB resident (wanted < 20), %.2f %% of a core (wanted < 1)" %
          (memory / 1e6, share * 100))
    small, large = peak_memory(64 << 20), peak_memory(2 << 30)
    print("peak memory, source and target: %.0f and %.0f MB for 64 MiB, %.0f and %.0f MB for 2 GiB"
          % tuple(x / 1e6 for x in small + large))
    sys.stdout.flush()
    subprocess.run([os.path.join(lib.BUILD, "tests", "bench", "bench_crypto")], check=False)


if __name__ == "__main__":
    main()
