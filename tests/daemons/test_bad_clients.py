#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that speak to their gateway about messages and do it wrong: each is told, counted, and
disturbs nobody; a publisher and a subscriber beside it notice nothing."""

import contextlib
import os
import subprocess
import sys

import lib
import zmtp

MIB = 1 << 20
OPEN, PUBLISH, END, SUBSCRIBE, TAKEN = b"\x01", b"\x02", b"\x03", b"\x04", b"\x05"
OPENED, REFUSED, ACCEPTED, OVER, SUBSCRIBED, MESSAGES, ALIVE = range(64, 71)
WINDOW_MESSAGES = 1024


def dealer(domain):
    return zmtp.Dealer(domain.control[len("ipc://"):] + "-messages")


def expect(client, kind, text=""):
    """The next frame but ALIVE and ACCEPTED."""
    while True:
        body = client.receive()
        if body[0] not in (ALIVE, ACCEPTED):
            break
    lib.check(body[0] == kind and text in body[1:].decode(errors="replace"),
              lambda: "expected %d %r, got %r" % (kind, text, body[:200]))
    return body


def open_channel(domain, name, *targets):
    client = dealer(domain)
    client.send(OPEN + b"\x00" + b"".join(word.encode() + b"\0" for word in (name, *targets)))
    expect(client, OPENED)
    return client


def subscribe(domain, name):
    before = domain.counters()["local_clients_accepted"]
    running = lib.Running([lib.GMCAST, "--gateway", domain.control, "sub", "--json", name], None)
    lib.wait(lambda: domain.counters()["local_clients_accepted"] > before, "subscribed to " + name)
    return running


@contextlib.contextmanager
def beside_others(names="ab", may_be_late=False):
    """A grid in which an honest channel goes on, whatever happens. may_be_late: the gateway may miss
    its turns for so long that the other one takes it for dead, which the publisher is told."""
    with lib.Grid(names) as grid:
        reads = subscribe(grid["b"], "honest")
        writes = subprocess.Popen([lib.GMCAST, "--gateway", grid["a"].control, "pub", "honest", "--to",
                                   "b"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        sent = []

        def say(line):
            sent.append(line)
            writes.stdin.write(line + "\n")
            writes.stdin.flush()
            lib.wait(lambda: len(reads.lines) == len(sent), "the honest subscriber has %r" % line)
        say("before")
        yield grid
        say("after")
        _, errors = writes.communicate("", timeout=lib.LIMIT)
        late = may_be_late and writes.returncode == 2 and "is not heard" in errors
        lib.check(writes.returncode == 0 or late, errors)
        result = reads.wait()
        lib.check([line["text"] for line in result.lines if "text" in line] == sent and
                  all(line["missed"] == 0 for line in result.lines), lambda: str(result))


@contextlib.contextmanager
def starved(domain):
    """The first thread of its gateway gets what others leave of the processors: next to nothing."""
    os.sched_setscheduler(domain.process.pid, os.SCHED_IDLE, os.sched_param(0))
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(domain.process.pid, os.SCHED_OTHER, os.sched_param(0))


def refused(domain):
    return domain.counters()["local_clients_refused"]


def refused_by_late(domain):
    """Where others leave it nothing, its thread may not answer for longer than gmcast waits, 5 s."""
    def ask():
        with contextlib.suppress(lib.Failure):
            return [refused(domain)]
        return None
    return lib.wait(ask, "no answer")[0]


def test_frames_that_are_none():
    with beside_others() as grid:
        for bad, text in ((b"", "does not understand"), (b"\xee", "does not understand"),
                          (OPEN, "does not understand"), (SUBSCRIBE + b"x", "does not understand"),
                          (TAKEN + b"\x01", "does not understand"), (PUBLISH + b"x", "open it anew"),
                          (OPEN + b"\x07news\0b\0", "order"), (SUBSCRIBE + b"a b\0\0", "a channel's name"),
                          (OPEN + b"\x00news\0" + b"x\0", "is not configured"),
                          (OPEN + b"\x00news\0" + b"b\0" * 20000, "more than 16384 domains")):
            before = refused(grid["a"])
            client = dealer(grid["a"])
            client.send(bad)
            expect(client, REFUSED, text)
            client.close()
            lib.check(refused(grid["a"]) == before + 1, "%r is not counted" % bad[:20])
        lib.check("local.refused" in grid["a"].log(), "the log does not tell")
        # Of several frames: not for us.
        client = dealer(grid["a"])
        client.send_raw(zmtp.frame(PUBLISH, zmtp.MORE) + zmtp.frame(b"x"))
        client.send(PUBLISH)
        expect(client, REFUSED, "open it anew")


def test_message_over_the_limit():
    with beside_others() as grid:
        client = open_channel(grid["a"], "long", "b")
        reads = subscribe(grid["b"], "long")
        client.send(PUBLISH + b"fits")
        client.send(PUBLISH + bytes(MIB + 1))
        expect(client, REFUSED, "longer than 1 MiB")
        result = reads.wait()
        lib.check(result.last.get("end") == "its publisher broke a limit" and
                  [line["text"] for line in result.lines if "text" in line] == ["fits"], lambda: str(result))
        lib.check(refused(grid["a"]) == 1, "it is not counted")


def test_frames_that_no_buffer_should_hold():
    """ZeroMQ ends the connection by itself; the client is told all the same, and it is counted."""
    with beside_others() as grid:
        for opened in (False, True):
            for raw in (bytes([zmtp.LONG]) + (1 << 40).to_bytes(8, "big") + PUBLISH,
                        zmtp.frame(PUBLISH + bytes(MIB + 4096)), zmtp.frame(bytes(3 * MIB)),
                        b"\xff" * 100):
                before = refused(grid["a"])
                client = open_channel(grid["a"], "long", "b") if opened else dealer(grid["a"])
                with contextlib.suppress(ConnectionError):  # it may be over before all is sent
                    client.send_raw(raw)
                expect(client, REFUSED, "longer than 1 MiB and 4 KiB")
                lib.check(client.is_closed(), "the connection stays")
                lib.check(refused(grid["a"]) == before + 1, "it is not counted")
        lib.wait(lambda: "limit_bytes=1052672" in grid["a"].log(), "the log does not tell")
        # Who goes away, or never said a word, is not refused.
        before = refused(grid["a"])
        for talks in (False, True):
            client = open_channel(grid["a"], "short", "b") if talks else dealer(grid["a"])
            client.close()
        lib.wait(lambda: grid["a"].counters()["local_publishers_gone"] == 5, "all are gone")
        lib.check(refused(grid["a"]) == before, "who went away is refused")


def test_frames_that_come_before_the_gateway_looks():
    """However late the gateway's own thread gets its turn: ZeroMQ reads frames in another."""
    with beside_others(may_be_late=True) as grid, starved(grid["a"]):
        for _ in range(10):
            before = refused_by_late(grid["a"])
            client = dealer(grid["a"])
            client.send_raw(b"\xff" * 100)
            expect(client, REFUSED, "longer than 1 MiB and 4 KiB")
            lib.check(refused_by_late(grid["a"]) == before + 1, "it is not counted")


def test_requests_that_are_none():
    """The same at the socket of requests."""
    with beside_others() as grid:
        for raw in (zmtp.frame(bytes(MIB + 1)), b"\xff" * 100):
            before = grid["a"].counters()["requests_refused"]
            client = zmtp.Dealer(grid["a"].control[len("ipc://"):])
            with contextlib.suppress(ConnectionError):
                client.send_raw(raw)
            lib.check(b"one frame of at most 1 MiB" in client.receive(), "it is not told")
            lib.check(client.is_closed(), "the connection stays")
            lib.check(grid["a"].counters()["requests_refused"] == before + 1, "it is not counted")
        lib.wait(lambda: "control.refused" in grid["a"].log(), "the log does not tell")
        long = ["/" + "x" * 4000] * 300
        status, _, errors = grid["a"].gmcast("stage", *long, "--to", "b", check_status=False)
        lib.check(status == 1 and "longer than 1 MiB" in errors, "exit %d: %s" % (status, errors))


def test_dies_in_mid_message():
    with beside_others() as grid:
        reads = subscribe(grid["b"], "half")
        client = open_channel(grid["a"], "half", "b")
        client.send(PUBLISH + b"whole")
        lib.wait(lambda: len(reads.lines) == 1, "the whole one came")
        client.send_raw(zmtp.frame(PUBLISH + bytes(MIB))[:MIB // 2])
        client.close()
        result = reads.wait()
        lib.check(result.last.get("end") == "its publisher is gone" and
                  [line["text"] for line in result.lines if "text" in line] == ["whole"], lambda: str(result))
        lib.check(grid["a"].counters()["local_publishers_gone"] == 1, "it is not counted")


def test_more_than_may_be_on_its_way():
    """Towards a domain that does not answer a publisher has to wait; who does not is refused."""
    with beside_others("abc") as grid:
        grid["c"].freeze()
        client = open_channel(grid["a"], "flood", "c")
        for i in range(WINDOW_MESSAGES + 2):
            client.send(PUBLISH + b"%d" % i)
        expect(client, REFUSED, "more messages were sent than may be on their way")
        lib.check(refused(grid["a"]) == 1, "it is not counted")
        grid["c"].thaw()


def test_takes_more_than_it_got():
    with beside_others() as grid:
        client = dealer(grid["b"])
        client.send(SUBSCRIBE + b"honest\0\0")
        expect(client, SUBSCRIBED)
        client.send(TAKEN + b"\xff" * 8)
        client.send(END + b"no publisher\0")  # is none of a subscriber's


if __name__ == "__main__":
    lib.main(globals())
