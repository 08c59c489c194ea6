#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""How a gateway finds and reaches another one where it is not plain: DNS SRV records, a firewall
that lets TCP through and no UDP. Needs root, for namespaces; skipped without."""

import os
import shutil
import socket
import struct
import subprocess
import sys
import threading

import lib

# ---- a name server ----


def name_of(text):
    return b"".join(bytes([len(part)]) + part.encode() for part in text.split(".")) + b"\0"


class NameServer(threading.Thread):
    """Answers SRV questions from a table {name: [(priority, port, target)]}."""

    def __init__(self, records):
        super().__init__(daemon=True)
        self.records = records
        self.asked = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.77", 53))
        self.start()

    def run(self):
        while True:
            question, sender = self.socket.recvfrom(2000)
            end = question.index(b"\0", 12) + 1
            asked, at = [], 12
            while question[at]:
                asked.append(question[at + 1:at + 1 + question[at]].decode())
                at += 1 + question[at]
            name = ".".join(asked)
            self.asked.append(name)
            answers = b""
            found = self.records.get(name, []) if question[end:end + 2] == b"\0\x21" else []
            for priority, port, target in found:
                data = struct.pack(">HHH", priority, 0, port) + name_of(target)
                answers += b"\xc0\x0c" + struct.pack(">HHIH", 33, 1, 60, len(data)) + data
            head = question[:2] + struct.pack(">HHHHH", 0x8180 | (0 if found else 3), 1,
                                              len(found), 0, 0)
            self.socket.sendto(head + question[12:end + 4] + answers, sender)


def wrapper(grid, name, command):
    """A stand-in for gatewayd that runs it inside namespaces."""
    path = os.path.join(grid.path, name)
    with open(path, "w") as script:
        script.write("#!/bin/sh\n" + command)
    os.chmod(path, 0o755)
    return path


def start_as(domain, path):
    real, lib.GATEWAYD = lib.GATEWAYD, path
    try:
        domain.start(wait_ready=False)
    finally:
        lib.GATEWAYD = real


def test_addresses_from_dns():
    with lib.Grid("ab", start=False) as grid:
        server = NameServer({"_gmcast._tcp.b.test": [(20, grid["b"].port, "localhost"),
                                                     (10, 9, "localhost")]})
        conf = os.path.join(grid.path, "resolv.conf")
        with open(conf, "w") as resolv:
            resolv.write("nameserver 127.0.0.77\n")
        grid["a"].options["no_address"] = "b"
        grid["b"].start()
        start_as(grid["a"], wrapper(
            grid, "gatewayd-a", "exec unshare -m sh -c 'mount --bind %s /etc/resolv.conf && "
            "exec %s \"$@\"' sh \"$@\"\n" % (conf, lib.GATEWAYD)))
        grid["a"].ready()
        grid.write("a", "x", 1000000)
        # The first target is nobody: the second one is tried next.
        grid.stage("a", ["x"], "b").expect("complete")
        grid.same("a", "x", "b", "x")
        lib.check("_gmcast._tcp.b.test" in server.asked, str(server.asked))
        # A name without a record is said to be so.
        grid["a"].options["no_address"] = "bc"
        grid["a"].options["top"] = 'peer "c.test" { alias = "c" }'
        grid["a"].reload()
        lib.wait(lambda: "configuration.reloaded" in grid["a"].log(), grid["a"].log)
        result = grid.stage("a", ["x"], ["c.test"], limit=60).expect("failed")
        lib.check("SRV" in result.domain("c.test")["reason"], lambda: str(result))


# ---- a firewall ----

FORWARD = """
import socket, sys, threading, os
def pump(a, b):
    try:
        while True:
            data = a.recv(65536)
            if not data:
                break
            b.sendall(data)
    except OSError:
        pass
    for s in (a, b):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
def make(kind):
    return socket.socket(socket.AF_UNIX if kind.startswith("/") else socket.AF_INET)
def address(text):
    return text if text.startswith("/") else ("127.0.0.1", int(text))
listener = make(sys.argv[1])
if not sys.argv[1].startswith("/"):
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(address(sys.argv[1]))
listener.listen(20)
print("ready", flush=True)
while True:
    a, _ = listener.accept()
    b = make(sys.argv[2])
    try:
        b.connect(address(sys.argv[2]))
    except OSError:
        a.close()
        continue
    threading.Thread(target=pump, args=(a, b), daemon=True).start()
    threading.Thread(target=pump, args=(b, a), daemon=True).start()
"""

LO_UP = ("python3 -c 'import fcntl,socket,struct;fcntl.ioctl(socket.socket(),0x8914,"
         "struct.pack(\"16sh14x\",b\"lo\",0x49))'")


def forward(prefix, source, target):
    """Carries TCP (or local) connections; nothing else comes through."""
    process = subprocess.Popen([*prefix, sys.executable, "-c", FORWARD, str(source), str(target)],
                               stdout=subprocess.PIPE, preexec_fn=lib._die_with_parent)
    lib.check(process.stdout.readline() == b"ready\n", "the forwarder does not start")
    return process


def through_a_firewall(transport):
    """b lives in a network of its own, into which only TCP is carried; what became of it."""
    with lib.Grid("abc", start=False) as grid:
        for domain in grid.domains.values():
            domain.options["peer"] = {name: "  transport = " + transport for name in "abc"
                                      if "b" in (name, domain.name)}
        for name in "ac":
            grid["b"].options["peer"][name] += "\n  connect = in"
        grid["a"].start()
        grid["c"].start()
        start_as(grid["b"], wrapper(grid, "gatewayd-b", "exec unshare -n sh -c '%s && exec %s "
                                    "\"$@\"' sh \"$@\"\n" % (LO_UP.replace("'", "'\\''"),
                                                             lib.GATEWAYD)))
        grid["b"].ready()
        inside = os.path.join(grid.path, "tunnel")
        tunnels = []
        try:
            tunnels.append(forward(["nsenter", "-n", "-t", str(grid["b"].process.pid)], inside,
                                   grid["b"].port))
            tunnels.append(forward([], grid["b"].port, inside))
            grid.write("a", "x", 4 << 20)
            result = grid.stage("a", ["x"], "bc", "--tree", "flat", limit=60)
            paths = {peer["domain"]: peer["path"] for peer in grid["a"].peers()["peers"]}
            if result.last.get("result") == "complete":
                grid.same("a", "x", "b", "x")
            grid.same("a", "x", "c", "x")
            return result, paths
        finally:
            for tunnel in tunnels:
                tunnel.kill()
                tunnel.wait()


def test_udp_is_blocked():
    result, paths = through_a_firewall("auto")
    result.expect("complete")
    lib.check(paths["b.test"] != "udp" and paths["c.test"] == "udp", str(paths))


def test_tcp_is_asked_for():
    result, paths = through_a_firewall("tcp")
    result.expect("complete")
    lib.check(paths["b.test"] != "udp", str(paths))


def test_only_udp_is_allowed():
    result, _ = through_a_firewall("udp")
    result.expect("partial")
    lib.check(result.domain("c.test")["state"] == "verified", lambda: str(result))


def able():
    if os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("nsenter"):
        return False
    done = subprocess.run(["unshare", "-mn", "sh", "-c", "mount --bind /etc/hosts /etc/hosts && " +
                           LO_UP], capture_output=True)
    return done.returncode == 0


if not able():
    print("needs root and namespaces")
    sys.exit(lib.SKIP)
lib.main(globals())
