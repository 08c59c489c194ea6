#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Who and what is refused by running gateways, with a transfer beside it that does not notice."""

import contextlib
import os
import random
import shutil
import socket
import ssl
import struct
import subprocess
import time

import faults
import lib

RATE = 5 << 20  # bytes per second


def beside(grid, attack, targets="b", seconds=5):
    """attack() while a transfer runs from a to b, which completes as if nothing had happened;
    seconds: how long it runs, which has to be more than the attack takes on a slow machine."""
    size = seconds * RATE
    grid.write("a", "x", size)
    run = grid.begin("a", ["x"], targets, "--tree", "flat", "--rate", str(8 * RATE))
    faults.wait_here(grid, "b", run.channel(), 0.3 / seconds)
    before = lost(grid)
    attack()
    share = faults.bytes_here(grid, "b", run.channel()) / size
    lib.check(share < 1, "the transfer was over before the refusal was seen")
    run.wait().expect("complete")
    grid.same("a", "x", "b")
    lib.check(lost(grid) == before, "the session of the transfer was lost:\n" + grid["b"].log())


def lost(grid):
    return sum(grid[name].log().count("session.down peer=%s" % grid.dns(other))
               for name, other in ("ab", "ba"))


def counted_once(domain, what, text=""):
    """One line for many refusals of a kind."""
    lines = [line for _, line in faults.log_lines(domain, what) if text in line]
    lib.check(len(lines) == 1, "%d lines of %s %s:\n%s" % (len(lines), what, text, domain.log()))


def raised(domain, name, before, by):
    def enough():
        return domain.counters()[name] >= before[name] + by
    lib.wait(enough, lambda: "%s of %s grew by %d: %d, then %s" % (
        name, domain.name, by, before[name], domain.counters()), 10)


# ---- datagrams ----

def fire(domain, datagrams):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for datagram in datagrams:
            sender.sendto(datagram, ("127.0.0.1", domain.port))


def garbage(domain):
    chance = random.Random(1)
    # Truncated: the head of every kind, and one byte less or more than each length that counts.
    cut = [bytes([kind]) + b"\0" * length for kind in range(64)
           for length in (0, 7, 8, 24, 31, 63, 64)]
    noise = [chance.randbytes(chance.choice((1, 9, 25, 64, 1472))) for _ in range(500)]
    before = domain.counters()
    fire(domain, [b""] + cut + noise)
    raised(domain, "dropped_malformed", before, 100)
    raised(domain, "dropped_session", before, 20)


def payloads_to(domain, count):
    """Datagrams for a domain as they go over loopback now; None when that may not be seen."""
    try:
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
    except PermissionError:
        return None
    found = []
    with raw:
        raw.bind(("lo", 0))
        raw.settimeout(5)
        while len(found) < count:
            packet = raw.recv(65536)
            head = 4 * (packet[0] & 15)
            port = struct.unpack_from(">H", packet, head + 2)[0]
            if packet[9] == socket.IPPROTO_UDP and port == domain.port:
                found.append(packet[head + 8:])
    return found


def replayed_and_changed(domain, seen):
    before = domain.counters()
    fire(domain, seen * 3)
    # Some may have been two in one packet; those are not what was sent.
    raised(domain, "dropped_replay", before, 150)
    flipped = [packet[:7] + bytes([packet[7] ^ 64]) + packet[8:-1] +
               bytes([packet[-1] ^ 1]) for packet in seen]
    fire(domain, flipped)
    raised(domain, "dropped_auth", before, 50)
    fire(domain, [packet[:20] for packet in seen])
    raised(domain, "dropped_malformed", before, 50)


def test_datagrams():
    kinds = ["dropped_malformed"]
    with lib.Grid("ab") as grid:
        def attack():
            garbage(grid["b"])
            seen = payloads_to(grid["b"], 100)
            if seen is None:
                print("  replay not tested: it takes the right to look at packets")
                return
            replayed_and_changed(grid["b"], seen)
            kinds.extend(["dropped_replay", "dropped_auth"])
        beside(grid, attack)
        # The log is written every 5 s.
        for why in kinds:
            faults.wait_log(grid["b"], "datagrams.dropped", "why=" + why)
            counted_once(grid["b"], "datagrams.dropped", "why=" + why)


# ---- connections ----

# How one begins, with lengths that promise more.
CLIENT_HELLO = b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"


def say(domain, garbage):
    """Connects, says it and no more; the answer."""
    with socket.create_connection(("127.0.0.1", domain.port), 5) as raw:
        raw.settimeout(5)
        with contextlib.suppress(OSError):
            raw.sendall(garbage)
            raw.shutdown(socket.SHUT_WR)
        return read_all(raw)


def test_garbage_connections():
    chance = random.Random(2)
    with lib.Grid("ab") as grid:
        def attack():
            before = grid["b"].counters()
            for length in (0, 1, 5, 300, 5000):
                for start in (b"", CLIENT_HELLO, b"GET / HTTP/1.1\r\n"):
                    answer = say(grid["b"], start + chance.randbytes(length))
                    lib.check(len(answer) < 100, "an answer to garbage: %r" % answer)
            raised(grid["b"], "connections_refused", before, 15)
        beside(grid, attack)
        lib.wait(lambda: faults.log_lines(grid["b"], "connection.refused"), "b says it refused")
        lines = [line for _, line in faults.log_lines(grid["b"], "connection.refused")]
        lib.check(len(lines) == len(set(lines)) and len(lines) <= 6,
                  "told again and again: %s" % lines)


def read_all(stream):
    data = b""
    with contextlib.suppress(OSError):
        while piece := stream.recv(65536):
            data += piece
    return data


def hello(name):
    """A HELLO as docs/PROTOCOL.md has it."""
    body = b"gmcH" + struct.pack(">HHIQB", 1, 7411, 77, 0, len(name)) + name.encode()
    return bytes([1]) + len(body).to_bytes(3, "big") + body


def intrude(grid, certificate, key, name):
    """Connects to b as name; what b said before it hung up. Never gets a HELLO."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    if certificate:
        context.load_cert_chain(certificate, key)
    with socket.create_connection(("127.0.0.1", grid["b"].port), 5) as raw:
        try:
            with context.wrap_socket(raw) as stream:
                stream.settimeout(5)
                stream.sendall(hello(name))
                said = read_all(stream)
        except (ssl.SSLError, ConnectionError):
            said = b""
    lib.check(said[:1] != b"\x01", "%s was let in: %r" % (name, said))
    return said


def expired(grid, name):
    """A certificate of the grid's own CA that ran out yesterday; gmcast ca makes none."""
    paths = [os.path.join(grid.path, "expired." + kind) for kind in ("crt", "key", "csr", "ext")]
    certificate, key, request, extension = paths
    with open(extension, "w") as out:
        out.write("subjectAltName=DNS:%s\nextendedKeyUsage=serverAuth,clientAuth\n" % name)
    for command in (["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                     "-nodes", "-subj", "/CN=" + name, "-keyout", key, "-out", request],
                    ["x509", "-req", "-in", request, "-CA", grid.ca + "/ca.crt", "-CAkey",
                     grid.ca + "/ca.key", "-set_serial", "77", "-days", "-1", "-extfile",
                     extension, "-out", certificate]):
        done = subprocess.run(["openssl", *command], capture_output=True, text=True)
        lib.check(done.returncode == 0, done.stderr)
    return certificate, key


def refused(grid, words, certificate, key, name):
    """Three attempts, one line, which says why."""
    begun = time.time()
    before = grid["b"].counters()
    said = [intrude(grid, certificate, key, name) for _ in range(3)]
    faults.wait_log(grid["b"], "connection.refused", words, begun - 1, 10)
    counted_once(grid["b"], "connection.refused", words)
    raised(grid["b"], "connections_refused", before, 3)
    return said


def test_certificates_and_names():
    if shutil.which("openssl") is None:
        print("  skipped: no openssl command to make an expired certificate with")
        return
    with lib.Grid("abcd", start=False) as grid:
        grid["b"].options["unknown"] = "d"
        for name in "ab":
            grid[name].start()
        other = os.path.join(grid.path, "other")
        subprocess.run([lib.GMCAST, "ca", "init", other, "--name", "Other"], check=True,
                       capture_output=True)
        subprocess.run([lib.GMCAST, "ca", "issue", other, "c.test", "--out", other + "/c"],
                       check=True, capture_output=True)
        c, d = grid["c"], grid["d"]

        def attack():
            refused(grid, "issuer", other + "/c.crt", other + "/c.key", "c.test")
            refused(grid, "expired", *expired(grid, "c.test"), "c.test")
            # A good certificate, but not of the domain that it claims to be.
            refused(grid, "a.test", c.certificate, c.key, "a.test")
            said = refused(grid, "d.test", d.certificate, d.key, "d.test")
            lib.check(all(words[:1] == b"\x03" for words in said), "d is told why: %s" % said)
            grid.revoke("c")
            grid["b"].reload()
            refused(grid, "revoked", c.certificate, c.key, "c.test")
            intrude(grid, None, None, "c.test")
        beside(grid, attack, seconds=9)


def test_who_may_not_send_here():
    with lib.Grid("abc", start=False) as grid:
        grid["b"].options["no_receive"] = "c"
        grid.start()
        grid.write("c", "y", 1000000)

        def attack():
            before = grid["b"].counters()
            for _ in range(3):
                result = grid.stage("c", ["y"], "b").expect("partial")
                reason = result.domain("b.test")["reason"]
                lib.check("c.test" in reason and "receive" in reason, str(result))
                counted_once(grid["b"], "channel", result.channel)
            raised(grid["b"], "transfers_left", before, 3)
            grid.absent("b", "y")
        beside(grid, attack)
        lib.check(os.listdir(grid["b"].incoming) == ["x"], "something else was made")


if __name__ == "__main__":
    lib.main(globals())
