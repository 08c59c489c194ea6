#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Within a domain over libfabric beside plain sockets, all on loopback: `make bench-fabric`.

    GMC_FABRIC_BYTES=256000000   of the object
    GMC_FABRIC_NODES=2           the gateway sends to each of them
    GMC_FABRIC_ROUNDS=3          each carrier in turn; the table has medians
    GMC_FABRIC_CARRIERS=sockets,tcp,shm

Files are in memory (GMC_TMPDIR, default /dev/shm). Loopback says what a carrier costs in CPU time, and nothing of an
interconnect's speed: sockets have segmentation offload here, which makes 64 KiB one packet.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemons"))
os.environ.setdefault("GMC_TMPDIR", "/dev/shm")
import lib  # noqa: E402


def setting(name, default):
    return os.environ.get("GMC_FABRIC_" + name, default)


BYTES = int(setting("BYTES", "256000000"))
NODES = ["n%d" % (i + 1) for i in range(int(setting("NODES", "2")))]
ROUNDS = int(setting("ROUNDS", "3"))
CARRIERS = setting("CARRIERS", "sockets,tcp,shm").split(",")
TOP = {"sockets": "", "tcp": 'fabric = "tcp"\nfabric_domain = "lo"\n',
       "shm": 'fabric = "shm"\nfabric_shared_memory = "allowed"\n'}


def top(carrier):
    return TOP.get(carrier, 'fabric = "%s"\n' % carrier)


def is_there(carrier):
    with lib.Grid("b", start=False, top=top(carrier)) as grid:
        grid["b"].write_conf()
        done = subprocess.run([lib.GATEWAYD, "-T", "-c", grid["b"].conf_path], capture_output=True, text=True,
                              check=False)
    if done.returncode != 0:
        print("%-10s %s" % (carrier, done.stderr.strip()))
    return done.returncode == 0


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(carrier):
    """Gbit/s delivered in all, CPU seconds of gateway and nodes for each delivered GB, datagrams in a message."""
    with lib.Grid("ab", nodes={"b": NODES}, start=False, log="warn") as grid:
        for name in ["b", *NODES]:
            grid[name].options["top"] = top(carrier) + ('delivery_tree = "separate"\n' if name == "b" else "")
        grid.start()
        if carrier != "sockets":
            lib.wait(lambda: grid["b"].counters()["fabric_peers"] == len(NODES), "the fabric reaches all nodes")
        grid.write("a", "object", BYTES)
        pids = [grid[name].process.pid for name in ["b", *NODES]]
        before = sum(map(cpu_seconds, pids))
        result = grid.stage("a", ["object"], "b", limit=600).expect("complete").last
        spent = sum(map(cpu_seconds, pids)) - before
        peers = [peer for peer in grid["b"].peers()["peers"] if peer["domain"] != "a.test" and not peer["self"]]
        carried = sum((peer["fabric"] or {"bytes_sent": 0})["bytes_sent"] for peer in peers)
        if carrier != "sockets" and carried < BYTES * len(NODES):
            print("only %d bytes went by it" % carried)
    delivered = BYTES * len(NODES)
    return delivered * 8 / result["seconds"] / 1e9, spent / (delivered / 1e9)


def median(values):
    return sorted(values)[len(values) // 2]


def main():
    carriers = [carrier for carrier in CARRIERS if carrier == "sockets" or is_there(carrier)]
    runs = {carrier: [] for carrier in carriers}
    for _ in range(ROUNDS):
        for carrier in carriers:
            runs[carrier].append(run(carrier))
    print("%d bytes from a gateway to %d nodes each, median of %d" % (BYTES, len(NODES), ROUNDS))
    print("%-10s %16s %12s %16s" % ("carrier", "Gbit/s delivered", "of sockets'", "CPU s per GB"))
    for carrier in carriers:
        rate, cpu = (median([row[i] for row in runs[carrier]]) for i in (0, 1))
        beside = rate / median([row[0] for row in runs["sockets"]]) if "sockets" in runs else float("nan")
        print("%-10s %16.2f %12.2f %16.2f" % (carrier, rate, beside, cpu), flush=True)


if __name__ == "__main__":
    main()
