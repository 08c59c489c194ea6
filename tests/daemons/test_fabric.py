#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Inside a domain over libfabric, in the place of UDP: over its providers tcp and shm, and back to sockets when
that fails."""

import glob
import os
import random
import subprocess
import time

import lib

BYTES = 8000000
NODES = ["n1", "n2", "n3"]


def skip_without_libfabric():
    with lib.Grid("b", start=False, top='fabric = "tcp"\nfabric_domain = "lo"\n') as grid:
        grid["b"].write_conf()
        done = subprocess.run([lib.GATEWAYD, "-T", "-c", grid["b"].conf_path], capture_output=True,
                              text=True, check=False)
    if done.returncode != 0 and ("without libfabric" in done.stderr or "cannot be loaded" in done.stderr):
        print("not built with libfabric, or it is not installed")
        raise SystemExit(lib.SKIP)


def options(provider):
    more = {"tcp": 'fabric_domain = "lo"\n', "shm": 'fabric_shared_memory = "allowed"\n'}
    return 'fabric = "%s"\n' % provider + more[provider]


def shared_memory(domain):
    """What a daemon shares is named by a hash of its state's path."""
    number = 14695981039346656037
    for byte in os.fsencode(domain.state):
        number = (number ^ byte) * 1099511628211 % 2**64
    return glob.glob("/dev/shm/gmcast-%016x-*" % number)


class FabricGrid(lib.Grid):
    """Leaves no shared memory behind of daemons that are killed."""

    def close(self):
        super().close()
        for domain in self.domains.values():
            for path in shared_memory(domain):
                os.unlink(path)


def fabric_grid(provider, nodes, tree="separate", at_nodes=None, **more):
    """The gateway of domain b and its nodes have the fabric, its source does not."""
    grid = FabricGrid("ab", nodes={"b": list(nodes)}, start=False, **more)
    grid["b"].options["top"] = options(provider) + 'delivery_tree = "%s"\n' % tree
    for node in nodes:
        grid[node].options["top"] = options(at_nodes or provider)
    try:
        grid.start()
        if at_nodes is None:
            lib.wait(lambda: grid["b"].counters()["fabric_peers"] == len(nodes), "the fabric reaches all nodes")
    except BaseException:
        grid.print_logs()
        grid.close()
        raise
    return grid


def peer(grid, at, name):
    return next(peer for peer in grid[at].peers()["peers"] if peer["domain"] == grid.dns(name))


def check_carried(grid, nodes):
    """The object went to each node by the fabric, as gateway and node say."""
    for node in nodes:
        here, there = peer(grid, "b", node), peer(grid, node, "b")
        lib.check(here["path"] == "fabric" and there["path"] == "fabric", str((here, there)))
        lib.check(here["fabric"]["bytes_sent"] > BYTES, str(here))
        lib.check(there["fabric"]["bytes_received"] > BYTES, str(there))


def stage(grid, nodes, name="x"):
    grid.write("a", name, BYTES)
    grid.stage("a", [name], "b").expect("complete")
    for node in ["b", *nodes]:
        grid.same("a", name, node)


def nodes_enrol_and_receive(provider):
    with fabric_grid(provider, NODES[:2]) as grid:
        stage(grid, NODES[:2])
        check_carried(grid, NODES[:2])
        lib.check(peer(grid, "b", "a")["path"] == "udp" and peer(grid, "b", "a")["fabric"] is None,
                  str(peer(grid, "b", "a")))
        counters = grid["b"].counters()
        lib.check(counters["fabric_lost"] == 0, str(counters))
        lib.check("fabric.used" in grid["b"].log() and provider in grid["b"].log(), "it is logged")


def test_tcp():
    nodes_enrol_and_receive("tcp")


def test_shm():
    nodes_enrol_and_receive("shm")


@lib.timed  # nodes have 1.5 s to find each other
def test_nodes_feed_each_other():
    with fabric_grid("tcp", NODES, tree="serial") as grid:
        stage(grid, NODES)
        sent = sum((peer(grid, "b", node)["fabric"] or {"bytes_sent": 0})["bytes_sent"] for node in NODES)
        lib.check(sent < 1.5 * BYTES, "the gateway sent %d" % sent)
        # Two of the three got it from a node; what left before each knew the other's endpoint came by UDP.
        between = [p for node in NODES for p in grid[node].peers()["peers"]
                   if p["domain"] not in ("b.test", grid.dns(node)) and p["fabric"]]
        received = sum(p["fabric"]["bytes_received"] for p in between)
        lib.check(received > 1.5 * BYTES, str(between))


# Over tcp alone: who is killed or frozen with the lock of its shared memory in its hands holds those that write there.
def test_a_killed_node_stops_nobody():
    with fabric_grid("tcp", NODES[:2], rate="40M", patience="2s") as grid:
        grid.write("a", "x", BYTES)
        run = grid.begin("a", ["x"], "b")
        grid.wait_share("a", run.channel(), "b", 0.2)
        grid["n1"].kill()
        reason = run.wait().domain("b.test")["reason"]
        lib.check("1 of 2 nodes lack it: n1.test" in reason, reason)
        grid.same("a", "x", "n2")
        # It comes back with another endpoint, and gets the next object.
        grid["n1"].start()
        lib.wait(lambda: peer(grid, "b", "n1")["path"] == "fabric", "the fabric reaches it again")
        stage(grid, NODES[:2], "y")


def test_memory_of_a_killed_node_is_taken_away():
    with fabric_grid("shm", NODES[:1]) as grid:
        path, = shared_memory(grid["n1"])
        grid["n1"].stop()
        lib.check(shared_memory(grid["n1"]) == [], "who ends takes it away")
        with open(path, "wb") as left:
            left.write(bytes(4096))
        grid["n1"].start()
        lib.wait(lambda: peer(grid, "b", "n1")["path"] == "fabric", "the fabric reaches it again")
        lib.check(not os.path.exists(path) and len(shared_memory(grid["n1"])) == 1, str(shared_memory(grid["n1"])))


def test_different_providers_use_sockets():
    with fabric_grid("tcp", NODES[:1], at_nodes="shm") as grid:
        stage(grid, NODES[:1])
        lib.check(peer(grid, "b", "n1")["path"] == "udp", str(peer(grid, "b", "n1")))
        lib.wait(lambda: "fabric.unused" in grid["b"].log() and "fabric.unused" in grid["n1"].log(), "both say so")


def test_a_node_that_stands_still():
    with fabric_grid("tcp", NODES[:2], rate="40M", patience="20s") as grid:
        grid.write("a", "x", BYTES)
        run = grid.begin("a", ["x"], "b")
        grid.wait_share("a", run.channel(), "b", 0.2)
        grid["n1"].freeze()
        lib.wait(lambda: grid.progress("a", run.channel(), "b")[0] == BYTES or
                 os.path.exists(grid.incoming("n2", "x")), "the other node goes on")
        grid["n1"].thaw()
        run.wait().expect("complete")
        grid.same("a", "x", "n1")
        grid.same("a", "x", "n2")


def test_nodes_that_stop_at_any_moment():
    """Whatever a node has in its hands then, the gateway goes on."""
    moments = random.Random(1)
    with fabric_grid("tcp", NODES[:2], rate="80M", patience="20s") as grid:
        grid.write("a", "x", 2 * BYTES)
        run = grid.begin("a", ["x"], "b")
        grid.wait_share("a", run.channel(), "b", 0.1)
        for _ in range(15):
            node = grid[moments.choice(NODES[:2])]
            time.sleep(moments.uniform(0, 0.03))  # no state of it is waited for
            node.freeze()
            grid["b"].gmcast("peers", timeout=10)
            node.thaw()
        run.wait().expect("complete")
        grid.same("a", "x", "n1")
        grid.same("a", "x", "n2")


def test_a_recording_repeats():
    with fabric_grid("tcp", NODES[:1]) as grid:
        grid["b"].stop()
        path = os.path.join(grid["b"].path, "recording")
        grid["b"].options["arguments"] = ["--record", path]
        grid["b"].start()
        lib.wait(lambda: grid["b"].counters()["fabric_peers"] == 1, "the fabric reaches the node")
        stage(grid, NODES[:1])
        grid["b"].stop()
        done = subprocess.run([os.path.join(lib.BUILD, "tools", "gmcast-replay"), path], capture_output=True,
                              text=True, check=False)
        lib.check(done.returncode == 0, done.stdout + done.stderr)
        grid["b"].start()


def test_configurations_are_checked():
    with lib.Grid("b", start=False) as grid:
        for top, word in (('fabric = "tpc"', "fabric: libfabric has no provider 'tpc' here; there are: "),
                          ('fabric = "tcp"\nfabric_domain = "eth99"',
                           "fabric_domain: provider 'tcp' has no 'eth99' here; there are: "),
                          ('fabric = "shm"', "can hang all of them; choose another one, such as tcp, or for trying it set"),
                          ('fabric_domain = "lo"', "name that in 'fabric'")):
            grid.refuses("b", top, word)


if __name__ == "__main__":
    skip_without_libfabric()
    lib.main(globals())
