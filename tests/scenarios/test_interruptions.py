#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What an interruption costs: a wire is cut, a relay is killed or stopped for a while in the middle of
a transfer to tree3, and the transfer takes no longer than without it, the interruption, and a
little to notice and to come back. Messages are late, and none is lost, also where there are more than
a wire carries. Of several seeds each."""

import json
import os
import subprocess
import sys
import tempfile

SIM_WAN = os.environ.get("SIM_WAN",
                         os.path.join(os.environ.get("GMC_BUILDDIR", "."), "sim-wan", "sim-wan"))
SEEDS = 6
MEDIAN_MAX, MOST_MAX = 2.0, 3.0  # seconds beside the interruption
SCENARIO = """
nodes = {s, a, b, c, d, e, f}
warm-up = yes
limit = 120s
wire wan { rate = 100Mbit  delay = 15ms  queue = 50ms  loss = 1% }
link { between = {s, a}  wire = wan }
link { between = {a, b}  wire = wan }
link { between = {a, c}  wire = wan }
link { between = {b, d}  wire = wan }
link { between = {b, e}  wire = wan }
link { between = {c, f}  wire = wan }
transfer object { from = s  size = 50MB }
"""
CUT = "fault { what = wire-down  between = {%s}  at = 1500ms  for = %gs }"
# A relay that goes to another parent and back, while what it sent last is lost on the way.
MESSAGES = """
nodes = {s, a, b, c, d, e}
limit = 60s
wire wan { rate = 100Mbit  delay = 15ms  queue = 50ms  loss = 5% }
link { between = {s, a}  wire = wan }
link { between = {a, b}  wire = wan }
link { between = {b, c}  wire = wan }
link { between = {b, d}  wire = wan }
link { between = {b, e}  wire = wan }
channel alarms { from = s  every = 1ms  size = 256  at = 1s  for = 8s }
fault { what = break  between = {a, b}  at = 3s }
fault { what = break  between = {a, b}  at = 6s }
fault { what = break  between = {a, b}  at = 8s }
"""
MESSAGE_SEEDS = 24
# More than the wire carries, so that the publisher has to wait, of messages of many packets.
OVERLOAD = """
nodes = {s, a}
limit = 120s
link { between = {s, a}  rate = 100Mbit  delay = 15ms  queue = 50ms  loss = 2% }
channel large { from = s  every = 10ms  size = 1MB  at = 1s  for = 1s }
"""
# Newcomers to a channel that is busy already, over wires that lose the word where they begin.
BUSY = MESSAGES.split("channel")[0] + """
channel busy { from = s  every = 200us  size = 64  at = 1s  for = 3s }
"""
# Only messages, over a wire that carries a twentieth for some seconds: the link has to find that it
# carries all again.
SLOWED = """
nodes = {s, a}
limit = 100s
wire far { rate = 10Mbit  delay = 100ms  queue = 100ms  loss = 0.5%  reorder = 2%  reorder-by = 20ms }
link { between = {s, a}  wire = far }
channel large { from = s  every = 1400ms  size = 1MB  at = 1s  for = 4s }
fault { what = wire  between = {s, a}  at = 2413ms  for = 5s  rate = 500kbit }
"""
NODE = "fault { what = %s  node = %s  at = 1500ms  for = %gs }"


def run(folder, scenario, seeds):
    """A summary for each seed; all have to be complete."""
    path, summary = os.path.join(folder, "scenario.conf"), os.path.join(folder, "summary.json")
    with open(path, "w") as out:
        out.write(scenario)
    done = subprocess.run([SIM_WAN, "run", "-q", "--seeds", "1..%d" % seeds, "--json", summary, path],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("FAILED: exit %d\n%s%s%s" %
                 (done.returncode, scenario, done.stdout, done.stderr))
    with open(summary) as lines:
        runs = [json.loads(line) for line in lines]
    return [one for one in runs if "seed" in one]


def seconds(folder, fault):
    return [one["completion_seconds"] for one in run(folder, SCENARIO + fault + "\n", SEEDS)]


def messages(folder, name, scenario, seeds, limit):
    """None is lost, for a run in which one is would not be complete; nor later than the limit."""
    late = [one["latency_max_seconds"] for summary in run(folder, scenario, seeds)
            for one in summary["subscribers"]]
    ok = max(late) <= limit
    print("messages, %s: none lost, the latest %.2f s late%s" %
          (name, max(late), "" if ok else "  FAILED"))
    return ok


def main():
    cases = [("cut %s %g s" % (ends, span), CUT % (ends, span), span)
             for ends in ("s, a", "a, b") for span in (0.5, 2, 5)]
    cases += [("%s %s %g s" % (what, node, span), NODE % (what, node, span), span)
              for what, node, span in (("kill", "a", 1), ("kill", "a", 3), ("kill", "b", 1),
                                       ("kill", "b", 3), ("freeze", "a", 3), ("freeze", "b", 3),
                                       ("freeze", "d", 3))]
    with tempfile.TemporaryDirectory() as folder:
        failed = not messages(folder, "relay that changes its parent", MESSAGES, MESSAGE_SEEDS, 4)
        failed = not messages(folder, "overload", OVERLOAD, 4, 10) or failed
        failed = not messages(folder, "newcomers", BUSY, 4, 2) or failed
        failed = not messages(folder, "wire that is slow for 5 s", SLOWED, SEEDS, 14) or failed
        without = max(seconds(folder, ""))
        print("without: %.2f s" % without)
        for name, fault, span in cases:
            took = sorted(seconds(folder, fault))
            median, most = took[len(took) // 2] - without - span, took[-1] - without - span
            ok = median <= MEDIAN_MAX and most <= MOST_MAX
            failed = failed or not ok
            print("%-14s median %+.2f s, most %+.2f s beside the interruption%s" %
                  (name, median, most, "" if ok else "  FAILED"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
