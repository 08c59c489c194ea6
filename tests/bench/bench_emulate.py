# SPDX-License-Identifier: BSD-2-Clause
"""How exact sim-wan emulate is, what it carries, and the simulator beside it: `make bench-emulate`.

    GMC_EMULATE_PARTS=accuracy,capacity,simulator    [all]

Ends with 1 when a limit is missed.
"""

import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "emulate"))
import emu  # noqa: E402
import lib  # noqa: E402
import parts  # noqa: E402
import wan_stage  # noqa: E402

PARTS = [word for word in os.environ.get("GMC_EMULATE_PARTS",
                                         "accuracy,capacity,simulator").split(",") if word]
PING_BYTES = 84
Z999 = 3.2905  # a normal variable lies within that many deviations in 99.9 of 100 cases
RECEIVERS = emu.names(6)
SEEDS = 9


# ---- accuracy ----

@emu.inside
def measure(hosts, rate_bps, delay_ns, send_bps, seconds):
    with hosts.serve("a.example"):
        ping = subprocess.run(["ping", "-c", "200", "-i", "0.02", "-q",
                               hosts.address("a.example")], capture_output=True, text=True)
        flood = hosts.probe("flood", hosts.address("a.example"), emu.PORT, send_bps, seconds,
                            rate_bps, delay_ns)
    return {"ping": ping.stdout, "flood": flood}


def accuracy():
    print("round trips of 200 packets, in ms (within 0.3 of the configured); rate of a full wire "
          "(within 0.5 %)")
    for rate, delay in ((10e6, 50e-3), (100e6, 15e-3), (100e6, 1e-3), (500e6, 5e-3)):
        text = emu.topology([("s.example", "a.example")], rate="%dMbit" % (rate / 1e6),
                            delay="%gms" % (delay * 1e3), queue="50ms")
        result = emu.run(text, measure, int(rate), int(delay * 1e9), int(rate * 1.1), 5)
        trips = re.search("= ([0-9.]+)/([0-9.]+)/([0-9.]+)/([0-9.]+)", result.value["ping"])
        least, mean, most, spread = (float(one) for one in trips.groups())
        configured = 2 * (delay + PING_BYTES * 8 / rate) * 1e3
        carried = result.value["flood"]["rate_bps"]
        ok = abs(mean - configured) <= 0.3 and abs(carried / rate - 1) <= 0.005
        print("  %3.0f Mbit/s %2.0f ms: RTT %.3f configured, %.3f mean (%.3f to %.3f, deviation %.3f); "
              "rate %.3f %%  %s" %
              (rate / 1e6, delay * 1e3, configured, mean, least, most, spread, carried / rate * 100,
               parts.verdict("%g Mbit/s, %g ms" % (rate / 1e6, delay * 1e3), ok,
                             result.summary["real_time"]["kept"])), flush=True)
    print("loss of a fixed seed, twice (within the 99.9 % interval, and the same)")
    for loss in (0.001, 0.01, 0.05, 0.2):
        text = emu.topology([("s.example", "a.example")], rate="200Mbit", delay="1ms",
                            queue="200ms", loss="%g%%" % (loss * 100))
        counts = [emu.run(text, measure, 200000000, 1000000, 100000000, 5).value["flood"]
                  for _ in range(2)]
        sent = counts[0]["sent"]
        share = 1 - counts[0]["received"] / sent
        bound = Z999 * math.sqrt(loss * (1 - loss) / sent)
        ok = abs(share - loss) <= bound and counts[0]["received"] == counts[1]["received"]
        print("  %5.1f %%: %.3f %% of %d, +- %.3f, lost %d and %d  %s" %
              (loss * 100, share * 100, sent, bound * 100, sent - counts[0]["received"],
               sent - counts[1]["received"], parts.verdict("loss %g" % loss, ok)), flush=True)


# ---- capacity ----

@emu.inside
def flood_all(hosts, rate_bps, delay_ns, seconds):
    with hosts.serve(*RECEIVERS):
        return hosts.probes([("flood", hosts.address(name), emu.PORT, int(rate_bps * 0.98), seconds,
                              rate_bps, delay_ns) for name in RECEIVERS])


def capacity():
    rate, delay = 200000000, 15000000
    text = emu.star(6, rate="200Mbit", delay="15ms", queue="50ms")
    result = emu.run(text, flood_all, rate, delay, 10)
    late = result.summary["real_time"]
    carried = [one["rate_bps"] / 1e6 for one in result.value]
    outside = [one["late_mean_ms"] for one in result.value]
    ok = late["mean_ms"] < 0.2 and max(outside) < 0.2 and min(carried) > 0.97 * rate / 1e6
    print("six wires of 200 Mbit/s at once: %s Mbit/s; late by %.3f ms in the mean, %.3f in 99 of 100, "
          "as the emulator\nsays, and by %s as the receivers see it (below 0.2); %.0f %% of a core, "
          "%.1f us per packet  %s" %
          (" ".join("%.1f" % one for one in carried), late["mean_ms"], late["p99_ms"],
           " ".join("%.3f" % one for one in outside),
           100 * result.summary["cpu_seconds"] / result.summary["seconds"],
           1e6 * result.summary["cpu_seconds"] / late["packets"], parts.verdict("capacity", ok)),
          flush=True)


# ---- the simulator ----

SCENARIO = """
title = beside-the-emulator
warm-up = yes
limit = 3000s
transfer object { from = s.example  size = %d }
"""


def simulate(topology, loss, size):
    """What the simulator says of the same: completion by seed, and bytes by wire. Where chance loses
    packets one seed is another draw than the emulator's: the middle of several is compared."""
    seeds = SEEDS if loss > 0 else 2  # no chance without; a single run is told in another form
    with tempfile.TemporaryDirectory(prefix="gmct-") as folder:
        scenario, told = os.path.join(folder, "scenario.conf"), os.path.join(folder, "told.json")
        with open(scenario, "w") as out:
            out.write(wan_stage.topology(topology, loss) + SCENARIO % size)
        done = subprocess.run([emu.SIM_WAN, "run", "--seeds", "1..%d" % seeds, "--json", told,
                               scenario], capture_output=True, text=True)
        lib.check(done.returncode == 0, lambda: done.stderr)
        with open(told) as file:
            runs = [run for run in map(json.loads, file) if "seed" in run]
    wires = [{"%s %s" % (one["from"], one["to"]): one["bytes"] for one in run["wires"]}
             for run in runs]
    return ([run["completion_seconds"] for run in runs],
            {key: statistics.median([one[key] for one in wires]) for key in wires[0]})


def simulator():
    print("the same in the simulator, the middle of %d seeds: completion (within 5 %%), bytes per wire "
          "away from S (3 %%)" % SEEDS)
    for name in ("flat", "tree3"):
        for loss in (0, 5):
            by_seed, wires = simulate(name, loss, 100000000)
            seconds = statistics.median(by_seed)
            value = wan_stage.measure(name, loss, 100000000)
            down = [key for key in wires if wires[key] > 50e6]
            apart = max(abs(value["wires"][key] / wires[key] - 1) for key in down)
            ok = abs(value["gateway_seconds"] / seconds - 1) <= 0.05 and apart <= 0.03
            print("  %-6s %g %%: %.2f s simulated (%.2f to %.2f), %.2f emulated (%+.1f %%); bytes "
                  "%.1f %% apart at most  %s" %
                  (name, loss, seconds, min(by_seed), max(by_seed), value["gateway_seconds"],
                   100 * (value["gateway_seconds"] / seconds - 1), 100 * apart,
                   parts.verdict("simulator, %s %g %%" % (name, loss), ok, value["kept"])),
                  flush=True)


if __name__ == "__main__":
    parts.main(globals(), {"accuracy": accuracy, "capacity": capacity, "simulator": simulator},
               PARTS)
