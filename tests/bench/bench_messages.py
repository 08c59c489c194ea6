# SPDX-License-Identifier: BSD-2-Clause
"""Messages through real gatewayds beside plain ZeroMQ and the link's delay: `make bench-messages`.

    GMC_MESSAGES_PARTS=local,wan,rate   [all; wan needs root and TUN]
    GMC_MESSAGES_SECONDS=20             of each measurement

Ends with 1 when a limit is missed. The first second of each measurement is not counted.
"""

import contextlib
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "emulate"))
import emu  # noqa: E402
import lib  # noqa: E402
import parts  # noqa: E402
import wan_share  # noqa: E402
import wan_stage  # noqa: E402

LOAD = os.path.join(lib.BUILD, "tests", "bench", "message_load")
PARTS = os.environ.get("GMC_MESSAGES_PARTS", "local,wan,rate").split(",")
SECONDS = int(os.environ.get("GMC_MESSAGES_SECONDS", "20"))
BYTES, RATE = 1024, 1000
FAST_BYTES, FAST_RATE, FAST_SUBSCRIBERS = 256, 100000, 4
MEDIAN_TIMES, P99_TIMES = 3, 5
DELAY_MS = 1e3 * wan_stage.DELAY
OVER_MS = {"alone": 1, "beside bulk": 2}


# ---- programs ----

class Load:
    """message_load, running; ready when this is made."""

    def __init__(self, *words):
        self.process = subprocess.Popen([LOAD, *map(str, words)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        lib.check(self.process.stdout.readline() == "ready\n", lambda: "did not begin: %s" % (words,))

    def start(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def result(self):
        out = self.process.communicate(timeout=lib.LIMIT + 4 * SECONDS)[0]
        lib.check(self.process.returncode == 0, "message_load ended with %s" % self.process.returncode)
        return json.loads(out)

    def kill(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def loads():
    """A function that starts one; all end with the block."""
    running = []

    def start(*words):
        running.append(Load(*words))
        return running[-1]
    try:
        yield start
    finally:
        for load in running:
            load.kill()


def cpu_seconds(pid):
    """Of all threads, so far."""
    total = 0
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/schedstat" % (pid, task)) as file:
            total += int(file.read().split()[0])
    return total / 1e9


def figures(start, subscriber_words, publisher_words):
    """What the subscriber saw of RATE messages of BYTES a second."""
    subscriber = start("sub", *subscriber_words, RATE)
    publisher = start("pub", *publisher_words, RATE, BYTES, RATE * SECONDS)
    time.sleep(1)  # plain ZeroMQ does not say when a subscription has reached the publisher
    publisher.start()
    publisher.result()
    return subscriber.result()


# ---- one machine ----

def through_gateways():
    with lib.Grid("ab", log="info") as grid, loads() as start:
        return figures(start, ["gmcast", grid["b"].control, "news"],
                       ["gmcast", grid["a"].control, "news", "b"])


def through_proxies():
    """PUB, two proxies, SUB: ipc inside a domain, TCP between them."""
    with lib.Grid("ab", start=False) as grid, loads() as start:
        def ipc(name):
            return "ipc://" + os.path.join(grid.path, name)
        between = "tcp://127.0.0.1:%d" % grid["b"].port
        for domain in grid.domains.values():
            domain.release_port()
        start("proxy", between, ipc("out"))
        start("proxy", ipc("in"), "+" + between)
        return figures(start, ["zmq", ipc("out")], ["zmq", ipc("in")])


def show(name, value):
    print("%-24s %8d %6d %10.0f %10.0f %10.0f %10.0f" %
          (name, value["messages"], value["missed"], value["median_us"], value["p90_us"],
           value["p99_us"], value["max_us"]), flush=True)


def print_head(text):
    print("\n%s\n%-24s %8s %6s %10s %10s %10s %10s" %
          (text, "", "messages", "lost", "median us", "p90 us", "p99 us", "most us"))


def local():
    print_head("two gateways on one machine, %d B, %d a second, publisher to subscriber" % (BYTES, RATE))
    peer = through_proxies()
    show("PUB-PROXY-PROXY-SUB", peer)
    ours = through_gateways()
    show("gmcast", ours)
    for key, times in (("median_us", MEDIAN_TIMES), ("p99_us", P99_TIMES)):
        share = ours[key] / peer[key]
        print("  %-9s %5.2f times, limit %d: %s" %
              (key[:-3], share, times, parts.verdict("local " + key, share <= times)))
    print("  none lost: " + parts.verdict("local, lost", ours["missed"] == 0))


# ---- a link ----

@emu.inside
def over_link(hosts, bulk):
    """The same between two domains over the emulated link; bulk: a file that fills it."""
    source, target = wan_stage.SOURCE, "a.example"

    def control(name):
        return "ipc://" + os.path.join(hosts.directory, name, "control")
    wan_share.connect(hosts, source, target)
    with loads() as start:
        flow = None
        if bulk:
            flow = wan_share.Flow(hosts, source, target, bulk, "big/")
            time.sleep(wan_share.SETTLE)
            flow.begin()
        value = figures(start, ["gmcast", control(target), "news"],
                        ["gmcast", control(source), "news", target])
        return {**value, "bulk_bps": flow.bps() if flow else 0}


def wan():
    why = emu.missing()
    if why is not None:
        print("\nover an emulated link: skipped: " + why)
        return
    print_head("over an emulated link of 100 Mbit/s and %g ms" % DELAY_MS)
    size = int(wan_stage.RATE / 8 * (SECONDS + 12))
    for name, limit in OVER_MS.items():
        bulk = wan_stage.make_object(size) if name == "beside bulk" else None
        result = emu.run(wan_stage.topology("flat", 0), over_link, bulk, options=["--gateways"],
                         limit=120 + 3 * SECONDS)
        value = result.value
        late = "" if result.summary["real_time"]["kept"] else " (late)"
        over = value["median_us"] / 1e3 - DELAY_MS
        show(name, value)
        print("  median %.2f ms over the delay, limit %g: %s%s%s" %
              (over, limit, parts.verdict("link " + name, over <= limit), late,
               "; bulk %.1f Mbit/s" % (value["bulk_bps"] / 1e6) if bulk else ""))
        print("  none lost: " + parts.verdict("link %s, lost" % name, value["missed"] == 0))


# ---- one gateway ----

def rate():
    """Lossless: a publisher waits for the gateway, and each subscriber has its own queue."""
    count = FAST_RATE * SECONDS
    with lib.Grid("a", log="info") as grid, loads() as start:
        control = grid["a"].control
        subscribers = [start("sub", "gmcast", control, "fast", FAST_RATE)
                       for _ in range(FAST_SUBSCRIBERS)]
        publisher = start("pub", "gmcast", control, "fast", "-", FAST_RATE, FAST_BYTES, count)
        before = cpu_seconds(grid["a"].process.pid)
        publisher.start()
        sent = publisher.result()
        results = [subscriber.result() for subscriber in subscribers]
        used = cpu_seconds(grid["a"].process.pid) - before
    print_head("one gateway, %d messages of %d B a second to %d subscribers" %
               (FAST_RATE, FAST_BYTES, FAST_SUBSCRIBERS))
    for i, value in enumerate(results):
        show("subscriber %d" % (i + 1), value)
    whole = all(value["messages"] == count and value["missed"] == 0 for value in results)
    reached = count / max(value["seconds"] for value in results)
    print("  %.0f messages a second: %s; none lost: %s" %
          (reached, parts.verdict("rate", reached >= 0.99 * FAST_RATE),
           parts.verdict("rate, lost", whole)))
    print("  CPU per message: gateway %.2f us, publisher %.2f us, a subscriber %.2f us" %
          (1e6 * used / count, 1e6 * sent["cpu_seconds"] / count,
           1e6 * sum(value["cpu_seconds"] for value in results) / count / len(results)))


if __name__ == "__main__":
    parts.main(globals(), {"local": local, "wan": wan, "rate": rate}, PARTS, emulated=False)
