#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""gmcast doctor names what a firewall blocks, and in which direction, and what a path limits. Each gateway
and node has a network of its own; skipped without namespaces and nft."""

import lan
import lib
import wires
from test_doctor import UNWELL, doctor, expect

MULTICAST = 'multicast_interface = "eth0"\nmulticast_rate = "100M"\n'


def block(name, *what):
    """The host drops this of what comes in; nothing: no more."""
    rules = "table inet test\ndelete table inet test\n"
    if what:
        rules += "table inet test {\nchain in {\ntype filter hook input priority 0\n%s\n}\n}\n" % \
            "\n".join(each + " drop" for each in what)
    lan.run(*lan.inside(name, "nft", "-f", "-"), stdin=rules)


def level(findings, check):
    return [f["level"] for f in findings if f["check"] == check][0]


def test_udp_is_blocked_in_one_direction():
    with wires.WiredGrid("ab") as grid:
        block("b", "meta l4proto udp")
        for _ in range(2):  # when the session is made, and when it is there
            code, findings = doctor(grid["a"])
            expect(findings, "session", "b.test", "ok")
            expect(findings, "path", "b.test", "warn", "within TLS")
            expect(findings, "udp-out", "b.test", "warn", "UDP from here does not arrive there")
            expect(findings, "udp-in", "b.test", "ok")
            lib.check(code == (UNWELL if level(findings, "storage") == "fail" else 0), str(findings))
        # The other end says the same.
        _, findings = doctor(grid["b"])
        expect(findings, "udp-in", "a.test", "warn", "UDP from there does not arrive here")
        expect(findings, "udp-out", "a.test", "ok")
        # The other direction, in the same session.
        block("b")
        block("a", "meta l4proto udp")
        _, findings = doctor(grid["a"])
        expect(findings, "udp-out", "b.test", "ok")
        expect(findings, "udp-in", "b.test", "warn", "UDP from there does not arrive here")
        block("b", "meta l4proto udp")
        _, findings = doctor(grid["a"])
        expect(findings, "udp-out", "b.test", "warn")
        expect(findings, "udp-in", "b.test", "warn")
        # Mended, and seen at once.
        block("a")
        block("b")
        _, findings = doctor(grid["a"])
        expect(findings, "udp-out", "b.test", "ok")
        expect(findings, "udp-in", "b.test", "ok")
        expect(findings, "path", "b.test", "ok", "over UDP")


def test_a_path_dies():
    with wires.WiredGrid("ab") as grid:
        expect(doctor(grid["a"])[1], "path", "b.test", "ok", "over UDP")
        # Nobody watches an idle link; a test notices.
        block("b", "meta l4proto udp")
        _, findings = doctor(grid["a"])
        expect(findings, "udp-out", "b.test", "warn", "UDP from here does not arrive there")
        expect(findings, "udp-in", "b.test", "ok")
        expect(findings, "path", "b.test", "warn", "within TLS")


def test_tcp_is_blocked():
    with wires.WiredGrid("ab") as grid:
        block("b", "meta l4proto tcp")
        code, findings = doctor(grid["a"])
        expect(findings, "session", "b.test", "fail", "TCP from here to 10.77.1.2:")
        lib.check(code == UNWELL, str(findings))
        # b can still dial out, and answers to that get in: then it is seen who dialled.
        block("b", "tcp dport %d" % grid["b"].port)
        _, findings = doctor(grid["b"])
        expect(findings, "session", "a.test", "ok", "whether it gets in here is not known")
        expect(doctor(grid["a"])[1], "session", "b.test", "ok", "dialled from there")


def tested(counters):
    return counters["multicast_nodes_reached"], counters["multicast_nodes_not_reached"]


def test_multicast_of_nodes():
    with lan.LanGrid(["n1", "n2"], start=False) as grid:
        grid[lan.GATEWAY].options["top"] = MULTICAST
        grid.lan.rules("n2", "meta l4proto udp ip daddr 224.0.0.0/4 drop",
                       "meta l4proto udp ip6 daddr ff00::/8 drop")
        grid.start()
        lib.wait(lambda: tested(grid[lan.GATEWAY].counters()) == (1, 1), grid[lan.GATEWAY].log)
        _, findings = doctor(grid[lan.GATEWAY], "n1.test", "n2.test")
        for node in ("n1.test", "n2.test"):
            expect(findings, "session", node, "ok", "dialled from there")
            expect(findings, "udp-out", node, "ok")
            expect(findings, "udp-in", node, "ok")
        expect(findings, "multicast", "n1.test", "ok")
        expect(findings, "multicast", "n2.test", "warn", "unicast")
        # At a node it is about the node and its gateway.
        _, findings = doctor(grid["n1"])
        expect(findings, "gateway", "n1.test", "ok")
        expect(findings, "session", "g.test", "ok")
        expect(findings, "udp-out", "g.test", "ok")
        # One that is gone.
        grid["n1"].stop()
        _, findings = doctor(grid[lan.GATEWAY])
        expect(findings, "session", "n1.test", "warn", "gmcast-noded")


# ---- what limits ----

def during_a_transfer(grid, level_, words):
    """The findings at a while it sends to b, as soon as one of them says that this limits."""
    run = grid.begin("a", ["x"], "b")
    channel = run.channel()

    def said():
        findings = doctor(grid["a"])[1]
        found = [f for f in findings if (f["check"], f["subject"]) == ("limit", "b.test")]
        last[:] = found
        return findings if found and found[0]["level"] == level_ and words in found[0]["text"] else None
    last = []
    findings = lib.wait(said, lambda: "it is said that %s: %s" % (words, last))
    grid["a"].gmcast("cancel", channel)
    run.wait().expect("cancelled")
    return findings


def shape(name, *words):
    lan.run("tc", "-n", name, "qdisc", "replace", "dev", "eth0", "root", *words)


def test_the_path_limits():
    with wires.WiredGrid("ab") as grid:
        grid.write("a", "x", 256 << 20)
        shape("a", "tbf", "rate", "50mbit", "burst", "70000", "limit", "700000")
        findings = during_a_transfer(grid, "ok", "the rate of the path limits")
        lib.check(expect(findings, "limit", "b.test", "ok")["value"] > 50, str(findings))
        # Each twentieth datagram is lost.
        lan.run("ip", "-n", "a", "link", "set", "eth0", "gso_max_segs", "1")
        block("b", "meta l4proto udp numgen random mod 20 < 1")
        findings = during_a_transfer(grid, "warn", "the path limits, and loses")
        expect(findings, "loss", "b.test", "warn", "loses")
        # UDP is shut: TCP in its place.
        block("b", "meta l4proto udp")
        lib.wait(lambda: level(doctor(grid["a"])[1], "udp-out") == "warn", "it falls back to TLS")
        during_a_transfer(grid, "warn", "TCP connection")


lan.enter()
lib.main(globals())
