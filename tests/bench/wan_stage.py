# SPDX-License-Identifier: BSD-2-Clause
"""One object from S to six domains by gmcast over an emulated WAN: time, bytes on wires, start."""

import json
import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "emulate"))
import emu  # noqa: E402
import lib  # noqa: E402

RATE = float(os.environ.get("GMC_WAN_RATE", "100")) * 1e6
DELAY = 0.015
QUEUE = "50ms"
SOURCE = "s.example"
RECEIVERS = emu.names(6)
UPLINKS = (0.4, 1, 0.8, 0.2, 0.6, 0.3, 0.1)  # of S and the receivers, where they are unequal
WARM_SIZE = int(RATE / 10)
SAMPLE = 0.01
FULL_WINDOW = 0.1
FULL_SHARE = 0.9


def mbit(part):
    return "%gMbit" % (part * RATE / 1e6)


def topology(name, loss):
    """flat: a wire to each; tree3: three wires deep; shared: one wire to a router and six behind it,
    loss on the first only."""
    links = {
        "flat": [(SOURCE, name) for name in RECEIVERS],
        "tree3": [(SOURCE, "a.example"), ("a.example", "b.example"), ("a.example", "c.example"),
                  ("b.example", "d.example"), ("b.example", "e.example"),
                  ("c.example", "f.example")],
        "shared": [(SOURCE, "router")] + [("router", name, {"loss": "0%"}) for name in RECEIVERS],
    }[name]
    return emu.topology(links, routers=("router",) if name == "shared" else (), rate=mbit(1),
                        delay="15ms", queue=QUEUE, loss="%g%%" % loss)


def unequal():
    """Seven around a router, whose uplinks differ by ten, and whose downlinks do not."""
    hosts = [SOURCE] + RECEIVERS
    lines = ["nodes = {%s}" % ", ".join(hosts), "routers = {router}"]
    for name, part in [("down", 1)] + list(zip(hosts, UPLINKS)):
        lines.append('wire "%s" { %s }' %
                     (name, emu.wire(rate=mbit(part), delay="15ms", queue=QUEUE)))
    lines += ["link { between = {%s, router}  wire = %s  back = down }" % (host, host)
              for host in hosts]
    return "\n".join(lines) + "\n"


def first_wires(name):
    """The neighbours of S."""
    return {"flat": RECEIVERS, "tree3": RECEIVERS[:1], "shared": ["router.example"]}[name]


def make_object(size):
    """A file of random bytes in memory, made once."""
    path = os.path.join(os.environ["TMPDIR"], "object-%d" % size)
    if not os.path.exists(path):
        piece = os.urandom(1 << 24)
        with open(path, "wb") as out:
            for at in range(0, size, len(piece)):
                out.write(piece[:min(len(piece), size - at)])
    return path


class Meter:
    """Bytes that this host has sent, over time."""

    def __init__(self):
        self.samples = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._over.is_set():
            self.samples.append((time.monotonic(), sent_bytes()))
            time.sleep(SAMPLE)

    def stop(self):
        self._over.set()
        self._thread.join()

    def full_rate_at(self, begin, bps):
        """Seconds after begin from when on FULL_SHARE of the rate is kept for FULL_WINDOW; None."""
        last = 0
        for i, (start, bytes_then) in enumerate(self.samples):
            last = max(last, i)
            while last < len(self.samples) and self.samples[last][0] - start < FULL_WINDOW:
                last += 1
            if last == len(self.samples):
                return None
            end, bytes_now = self.samples[last]
            if (bytes_now - bytes_then) * 8 >= FULL_SHARE * bps * (end - start):
                return start - begin
        return None


def sent_bytes():
    with open("/proc/net/dev") as dev:
        for line in dev:
            if line.strip().startswith("wan0:"):
                return int(line.split(":")[1].split()[8])
    return 0


def tcp_retransmissions(hosts):
    """Of all hosts together."""
    total = 0
    for name in hosts.names:
        lines = subprocess.run(hosts.at(name, "cat", "/proc/net/snmp"), capture_output=True,
                               text=True).stdout.splitlines()
        heads, figures = [line.split() for line in lines if line.startswith("Tcp:")]
        total += int(figures[heads.index("RetransSegs")])
    return total


def gmcast_stage(path, targets, into, *options):
    done = subprocess.run(["gmcast", "stage", path, "--to", ",".join(targets), "--into", into,
                           "--json", *options], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    lib.check(lines and done.returncode in (0, 2), lambda: "gmcast: " + done.stderr)
    return json.loads(lines[-1])


def bytes_of(summary):
    return {(one["from"], one["to"]): one["bytes"] for one in summary["wires"]}


def warm_up(warm, options):
    """An object goes to all twice, large enough for the same tree, so that its gateways are
    connected: a session that the first asked for late is there for the second."""
    complete = 0
    for i in range(20):
        into = "warm%d/" % i
        complete += gmcast_stage(warm, RECEIVERS, into, *options)["result"] == "complete"
        if complete == 2:
            break
    time.sleep(1)  # the probing that follows an end is not the next transfer's


@emu.inside
def stage(hosts, path, warm, options):
    """Stages to all; warm: an object that goes there before, or None."""
    if warm:
        warm_up(warm, options)
    before, retransmissions = bytes_of(hosts.summarise()), tcp_retransmissions(hosts)
    meter = Meter()
    begin = time.monotonic()
    result = gmcast_stage(path, RECEIVERS, "measured/", *options)
    seconds = time.monotonic() - begin
    meter.stop()
    retransmissions = tcp_retransmissions(hosts) - retransmissions
    after = bytes_of(hosts.summarise())
    wires = len([end for end in after if end[0] == SOURCE])
    own = [domain["seconds"] for domain in result["domains"].values()]
    return {"result": result["result"], "seconds": seconds, "setup": result["setup_seconds"],
            "gateway_seconds": result["seconds"], "first_verified": min(own),
            "last_verified": max(own), "trees": result.get("trees"),
            "repairs": sum(d["repairs"] for d in result["domains"].values()),
            "full_rate_at": meter.full_rate_at(begin, RATE * wires),
            "tcp_retransmissions": retransmissions,
            "wires": {"%s %s" % key: after[key] - before[key] for key in after}}


@emu.inside
def plan(_hosts, path, warm, options):
    """What is predicted, and then happens; all trees are those of the prediction."""
    warm_up(warm, options)
    planned = gmcast_stage(path, RECEIVERS, "planned/", "--plan", *options)
    begin = time.monotonic()
    result = gmcast_stage(path, RECEIVERS, "measured/", *options)
    return {"seconds": time.monotonic() - begin, "result": result["result"],
            "predicted": planned["plan"]["seconds"], "limit": planned["plan"]["limit_domain"],
            "same_trees": planned["trees"] == result["trees"], "trees": len(result["trees"])}


def predict(name, size, told):
    """told: gateways know their uplinks from their configuration; else they measure them."""
    options = ["--gateways"]
    if not told:
        conf = os.path.join(os.environ["TMPDIR"], "not-told.conf")
        with open(conf, "w") as out:
            out.write("uplink = 0\ndownlink = 0\n")
        options += ["--gateway-conf", conf]
    text = unequal() if name == "unequal" else topology(name, 0)
    result = emu.run(text, plan, make_object(size), make_object(WARM_SIZE), [],
                     options=options, limit=120 + size * 8 / RATE * 60)
    return {**result.value, "kept": result.summary["real_time"]["kept"]}


def measure(name, loss, size, warm=True, seed=1, options=()):
    first = make_object(WARM_SIZE) if warm else None
    result = emu.run(topology(name, loss), stage, make_object(size), first, list(options),
                     seed=seed, options=["--gateways"], limit=120 + size * 8 / RATE * 20)
    value = result.value
    value["kept"] = result.summary["real_time"]["kept"]
    value["late_ms"] = result.summary["real_time"]["mean_ms"]
    value["fraction"] = size * 8 / (RATE * (1 - loss / 100)) / value["seconds"]
    value["first_wire"] = max(value["wires"]["%s %s" % (SOURCE, to)]
                              for to in first_wires(name)) / size
    return value
