#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Eight nodes of a domain on a bridge, a network namespace each: `make bench-cluster`. Root.

    GMC_CLUSTER_LOSSES=0,1,5,20   percent, independent at each node
    GMC_CLUSTER_RATE=200          Mbit/s of every port; 0: not shaped
    GMC_CLUSTER_BYTES=256000000   of the object
    GMC_CLUSTER_NODES=8
    GMC_CLUSTER_PEERS=gmcast,head,unicast,udpcast,uftp    those that are installed; unicast: gmcast without multicast;
                                  head: its gateway stands in another network, and one of the nodes relays
    GMC_CLUSTER_MULTICAST=        Mbit/s at which the gateway sends to the group [just below the ports' rate, else 1000]

A source domain stands on a wire of its own, which is not shaped; the gateway and its nodes have ports
on the bridge. The limit is the time in which the object's bytes, and no others, cross one port; with
loss, what comes through of that. Peers send from the gateway's host what stands in its memory. Every
run is bounded in time, and nothing leaves the namespaces. The exit status is 1 when a limit was missed.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemons"))
import lan  # noqa: E402
import lib  # noqa: E402
from ballast import Ballast  # noqa: E402


def setting(name, default):
    return os.environ.get("GMC_CLUSTER_" + name, default)


RATE = float(setting("RATE", "200")) * 1e6
LOSSES = [float(word) for word in setting("LOSSES", "0,1,5,20" if RATE else "0").split(",")]
BYTES = int(setting("BYTES", "256000000"))
NODES = ["n%d" % (i + 1) for i in range(int(setting("NODES", "8")))]
PEERS = setting("PEERS", "gmcast,head,unicast,udpcast,uftp").split(",")
# Ports count frames, which are 14 bytes longer than packets.
MULTICAST = float(setting("MULTICAST", str((RATE * 0.99 if RATE else 1e9) / 1e6)))
# What is wanted: within 1.10 of the limit without loss, a share with it, bit/s where ports are not shaped.
LEAST, LEAST_LOSSY, LEAST_UNSHAPED = 1 / 1.10, 0.88, 0.6e9
# One after the other at the least rate that is worth a figure.
LEAST_RATE = 20e6
PATIENCE = 30 + BYTES * 8 / LEAST_RATE
os.environ.setdefault("GMC_TMPDIR", "/dev/shm")
# What a run stores, and all sockets and caches.
MEMORY = len(NODES) * BYTES + (1 << 30)


def lose(network, share):
    for name in NODES:
        network.lose(name, share)


def cpu_seconds():
    """Of the children that have ended."""
    spent = os.times()
    return spent.children_user + spent.children_system


# ---- gmcast ----

def gmcast(share, way):
    """(seconds, how many nodes have it whole, a remark)."""
    outside = way == "head"
    with lan.LanGrid(NODES, RATE or None, start=False, log="info",
                     branch=NODES if outside else ()) as grid:
        for name in {"gmcast": [lan.GATEWAY], "head": NODES, "unicast": []}[way]:
            grid[name].options["top"] = \
                'multicast_interface = "eth0"\nmulticast_rate = "%.3fM"\n' % MULTICAST
        grid.start()
        lib.wait(lambda: is_ready(grid, way == "gmcast"), "sessions, and multicast tested")
        path = grid.write(lan.SOURCE, "object", BYTES)
        lose(grid.lan, share)
        sent, cpu = grid.lan.sent_bytes(lan.GATEWAY), spent_by(grid)
        with Ballast(grid.path, MEMORY):
            begun = time.monotonic()
            result = grid.stage(lan.SOURCE, [path], [lan.GATEWAY], limit=PATIENCE)
            seconds = time.monotonic() - begun
        sent = grid.lan.sent_bytes(lan.GATEWAY) - sent
        cpu = [after - before for before, after in zip(cpu, spent_by(grid))]
        whole = sum(is_whole(path, os.fsdecode(grid.incoming(name, "object"))) for name in NODES)
        remark = "gateway sent %.2f of the object; transfer: source %.1f, gateway %.1f, nodes %.1f s" % (
            sent / BYTES, *cpu)
        if result.last.get("result") != "complete":
            remark += "; " + str(result.last.get("result"))
    return seconds, whole, remark


def spent_by(grid):
    """CPU seconds of the source, the gateway, all nodes."""
    return [sum(grid[name].cpu_seconds() for name in names)
            for names in ([lan.SOURCE], [lan.GATEWAY], NODES)]


def is_ready(grid, multicast):
    gateway = grid[lan.GATEWAY]
    nodes = [peer for peer in gateway.peers()["peers"] if peer["domain"].startswith("n")]
    return all(peer["up"] for peer in nodes) and (
        not multicast or gateway.counters()["multicast_nodes_reached"] == len(NODES))


def is_whole(path, copy):
    return os.path.exists(copy) and subprocess.run(["cmp", "-s", path, copy],
                                                   check=False).returncode == 0


# ---- the others ----

def udpcast(network, path, folders):
    """Receivers wait for the sender; it sends as fast as it may and resends what they ask for."""
    receivers = [lan.inside(name, "udp-receiver", "--nokbd", "--no-progress", "--interface", "eth0",
                            "--file", os.path.join(folders[name], "object")) for name in NODES]
    rate = ["--max-bitrate", "%dk" % (RATE * 0.97 / 1000)] if RATE else []
    sender = ["udp-sender", "--nokbd", "--no-progress", "--interface", "eth0", "--full-duplex",
              "--min-receivers", str(len(NODES)), "--start-timeout", "20",
              "--retries-until-drop", "1000", "--file", path, *rate]
    return receivers, lan.inside(lan.GATEWAY, *sender), True


def uftp(network, path, folders):
    """Daemons stay; the sender gives its rate in Kbit/s of payload, -1 for none. Other round trips (-r)
    and repetitions (-s) make no difference at 20 % loss: 30.2, 31.0 and 32.0 s."""
    receivers = [lan.inside(name, "uftpd", "-d", "-I", "eth0", "-B", "8388608", "-D", folders[name])
                 for name in NODES]
    rate = str(int(RATE * 0.96 / 1000)) if RATE else "-1"
    sender = ["uftp", "-R", rate, "-I", "eth0", "-B", "8388608", "-b", "1440", "-s", "50", path]
    return receivers, lan.inside(lan.GATEWAY, *sender), False


OTHERS = {"udpcast": ("udp-sender", udpcast), "uftp": ("uftp", uftp)}


def other(name, share):
    with tempfile.TemporaryDirectory(prefix="gmcb-", dir=os.environ["GMC_TMPDIR"]) as top:
        network = lan.Lan([lan.GATEWAY, *NODES], RATE or None)
        running = []
        try:
            path = os.path.join(top, "object")
            with open(path, "wb") as out:
                lib.write_pattern(out, BYTES, "object")
            folders = {node: os.path.join(top, node) for node in NODES}
            for folder in folders.values():
                os.mkdir(folder)
            lose(network, share)
            with Ballast(top, MEMORY):
                return run_other(OTHERS[name][1](network, path, folders), path, folders, running)
        finally:
            for process in running:
                process.kill()
                process.wait()
            network.close()


def start(words, running):
    # pylint: disable=protected-access
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, preexec_fn=lib._die_with_parent)
    running.append(process)
    return process


def run_other(commands, path, folders, running):
    receivers, sender, receivers_end = commands
    waiting = [start(words, running) for words in receivers]
    time.sleep(1)  # they say nothing when they are ready
    begun = time.monotonic()
    everybody = [start(sender, running)] + (waiting if receivers_end else [])
    try:
        for process in everybody:
            process.wait(max(0.1, begun + PATIENCE - time.monotonic()))
        remark = "exit %d" % everybody[0].returncode
    except subprocess.TimeoutExpired:
        remark = "given up after %.0f s" % PATIENCE
    seconds = time.monotonic() - begun
    return seconds, sum(is_whole(path, os.path.join(folders[node], "object"))
                        for node in folders), remark


# ---- the table ----

def is_kept(rate, loss):
    """Ours alone has limits: of what the loss leaves of a port, or Mbit/s where ports are not shaped."""
    if not RATE:
        return rate >= LEAST_UNSHAPED
    return rate / (RATE * (1 - loss / 100)) >= (LEAST_LOSSY if loss > 0 else LEAST)


def row(name, loss, seconds, whole, remark, cpu):
    """False: a limit was missed."""
    rate = BYTES * 8 / seconds
    share = "%6.3f" % (rate / (RATE * (1 - loss / 100))) if RATE else "     -"
    kept = name != "gmcast" or (whole == len(NODES) and is_kept(rate, loss))
    verdict = "   " if name != "gmcast" else "yes" if kept else "NO "
    print("%-8s %4g %%  %7.2f s  %8.1f Mbit/s  %s  %s  %2d of %d nodes  %6.1f s CPU  %s" % (
        name, loss, seconds, rate / 1e6, share, verdict, whole, len(NODES), cpu, remark), flush=True)
    return kept


def measure(name, loss):
    spent = cpu_seconds()
    if name in OTHERS:
        seconds, whole, remark = other(name, loss / 100)
    else:
        seconds, whole, remark = gmcast(loss / 100, name)
    return row(name, loss, seconds, whole, remark, cpu_seconds() - spent)


def main():
    lan.enter()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what is open is closed
    print("%d nodes, %.0f MB, %s; share: of what the loss leaves of a port" % (
        len(NODES), BYTES / 1e6,
        "ports of %.0f Mbit/s, limit %.2f s" % (RATE / 1e6, BYTES * 8 / RATE) if RATE
        else "ports not shaped"), flush=True)
    print("gmcast is to reach %.3f without loss and %.2f with it" % (LEAST, LEAST_LOSSY) if RATE
          else "gmcast is to reach %.0f Mbit/s" % (LEAST_UNSHAPED / 1e6), flush=True)
    missed = 0
    for name in PEERS:
        if name in OTHERS and not shutil.which(OTHERS[name][0]):
            print("%-8s is not installed" % name)
            continue
        for loss in LOSSES:
            missed += not measure(name, loss)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
