# SPDX-License-Identifier: BSD-2-Clause
"""gmcast links beside others on one bottleneck: kernel TCP, and each other; and a wire without
limit beside iperf3."""

import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "emulate"))
import emu  # noqa: E402
import lib  # noqa: E402
import wan_stage  # noqa: E402

SETTLE = 3  # seconds after the second has begun that are not counted
IPERF_PORT = 5201


def gmcast(hosts, host, *words):
    """The gmcast of a host's gateway."""
    endpoint = "ipc://" + os.path.join(hosts.directory, host, "control")
    done = subprocess.run(["gmcast", "--gateway", endpoint, *words], capture_output=True, text=True)
    lib.check(done.returncode == 0, lambda: "gmcast: " + done.stderr)
    return done.stdout


def sent_to(hosts, host, peer):
    """Bytes of the link so far."""
    for one in json.loads(gmcast(hosts, host, "peers", "--json"))["peers"]:
        if one["domain"] == peer:
            return one["bytes_sent"]
    return 0


class Flow:
    """An endless transfer of one link, and what it sent between two times."""

    def __init__(self, hosts, host, peer, path, into, *options):
        self._of = (hosts, host, peer)
        gmcast(hosts, host, "stage", path, "--to", peer, "--into", into, "--detach", *options)

    def begin(self):
        self._bytes, self._time = sent_to(*self._of), time.monotonic()

    def bps(self):
        return (sent_to(*self._of) - self._bytes) * 8 / (time.monotonic() - self._time)


def iperf_server(hosts, host):
    server = subprocess.Popen(hosts.at(host, "iperf3", "-s", "-p", IPERF_PORT),
                              stdout=subprocess.DEVNULL)

    def listens():
        lines = subprocess.run(hosts.at(host, "cat", "/proc/net/tcp", "/proc/net/tcp6"),
                               capture_output=True, text=True).stdout
        return ":%04X " % IPERF_PORT in lines
    lib.wait(listens, "iperf3 listens")
    return server


def connect(hosts, host, peer):
    """A first transfer, so that the link is up."""
    tiny = os.path.join(hosts.directory, "tiny-" + host)
    with open(tiny, "w") as out:
        out.write("x")
    gmcast(hosts, host, "stage", tiny, "--to", peer, "--into", "tiny/")


@emu.inside
def beside_tcp(hosts, path, law, order, seconds, options):
    """(gmcast's, TCP's) bits per second while both run. order: tcp-first, together, tcp-later."""
    server = iperf_server(hosts, "a.example")
    connect(hosts, wan_stage.SOURCE, "a.example")
    ahead = {"tcp-first": 2, "together": 0, "tcp-later": -10}[order]
    flow = None
    if ahead < 0:
        flow = Flow(hosts, wan_stage.SOURCE, "a.example", path, "big/", *options)
        time.sleep(-ahead)
    client = subprocess.Popen(["iperf3", "-c", hosts.address("a.example"), "-p", str(IPERF_PORT),
                               "-C", law, "-J", "-t", str(seconds + max(ahead, 0) + SETTLE + 2)],
                              stdout=subprocess.PIPE, text=True)
    begun = time.monotonic()
    time.sleep(max(ahead, 0))
    flow = flow or Flow(hosts, wan_stage.SOURCE, "a.example", path, "big/", *options)
    time.sleep(SETTLE)
    flow.begin()
    first = time.monotonic() - begun
    time.sleep(seconds)
    ours = flow.bps()
    last = time.monotonic() - begun
    report = json.loads(client.communicate()[0])
    server.kill()
    lib.check("intervals" in report and report["intervals"], lambda: json.dumps(report))
    counted = [one["sum"] for one in report["intervals"]
               if one["sum"]["start"] >= first - 0.5 and one["sum"]["end"] <= last + 0.5]
    theirs = sum(one["bytes"] for one in counted) * 8 / sum(one["seconds"] for one in counted)
    return [ours, theirs]


def tcp(law, order, queue, seconds, size, *options):
    result = emu.run(emu.star(1, rate="100Mbit", delay="15ms", queue=queue), beside_tcp,
                     wan_stage.make_object(size), law, order, seconds, options, options=["--gateways"],
                     limit=seconds + 120)
    return (*result.value, result.summary["real_time"]["kept"])


@emu.inside
def beside_each_other(hosts, path, seconds):
    """Bits per second of two links through one bottleneck."""
    pairs = (("s.example", "a.example"), ("t.example", "b.example"))
    for host, peer in pairs:
        connect(hosts, host, peer)
    flows = [Flow(hosts, host, peer, path, "big/") for host, peer in pairs]
    time.sleep(SETTLE)
    for flow in flows:
        flow.begin()
    time.sleep(seconds)
    return [flow.bps() for flow in flows]


def two_links(queue, seconds, size):
    fast = {"rate": "1Gbit", "delay": "1ms", "queue": "50ms"}
    text = emu.topology([("s.example", "left", fast), ("t.example", "left", fast),
                         ("left", "right"), ("right", "a.example", fast),
                         ("right", "b.example", fast)],
                        routers=("left", "right"), rate="100Mbit", delay="13ms", queue=queue)
    result = emu.run(text, beside_each_other, wan_stage.make_object(size), seconds,
                     options=["--gateways"], limit=seconds + 120)
    return (*result.value, result.summary["real_time"]["kept"])


def jain(rates):
    return sum(rates) ** 2 / len(rates) / sum(rate ** 2 for rate in rates)


@emu.inside
def without_limit(hosts, path, size):
    """(gmcast's, iperf3's) bits per second of payload over the same wire."""
    server = iperf_server(hosts, "a.example")
    done = subprocess.run(["iperf3", "-c", hosts.address("a.example"), "-p", str(IPERF_PORT), "-u",
                           "-b", "0", "-l", "1472", "-t", "5", "-J"], capture_output=True,
                          text=True)
    server.kill()
    end = json.loads(done.stdout)["end"]["sum"]
    connect(hosts, wan_stage.SOURCE, "a.example")
    begin = time.monotonic()
    result = wan_stage.gmcast_stage(path, ["a.example"], "full/")
    seconds = time.monotonic() - begin
    lib.check(result["result"] == "complete", lambda: json.dumps(result))
    return [size * 8 / seconds, end["bits_per_second"] * (1 - end["lost_percent"] / 100)]


def full(size):
    result = emu.run(emu.topology([("s.example", "a.example")], delay="0ms"), without_limit,
                     wan_stage.make_object(size), size, options=["--gateways"])
    return result.value
