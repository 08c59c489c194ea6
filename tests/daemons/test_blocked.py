#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""gmcast doctor names what a firewall blocks, and in which direction. Each gateway has a network of
its own; skipped without namespaces and nft."""

import lan
import lib
import wires
from test_doctor import UNWELL, doctor, expect


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


lan.enter()
lib.main(globals())
