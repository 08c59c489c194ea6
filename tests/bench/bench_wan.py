# SPDX-License-Identifier: BSD-2-Clause
"""Real gatewayds over an emulated WAN beside their limits: `make bench-wan`.

    GMC_WAN_PARTS=stage,cold,large,plan,peers,tcp,background,links,full   [all but large]
    GMC_WAN_TOPOLOGIES=flat,tree3,shared    GMC_WAN_LOSSES=0,1,5,10,20
    GMC_WAN_QUICK=1     losses 0 and 20, TCP for 15 s
    GMC_WAN_RATE=100    Mbit/s of the wires of stage, cold, large and plan, and MB of the object
    GMC_WAN_OPTIONS=    of gmcast stage, e.g. "--tree chain"

Ends with 1 when a limit is missed. A figure of a run that did not keep real time says so: repeat it
on a machine that does nothing else.
"""

import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "emulate"))
import parts  # noqa: E402
import wan_peers  # noqa: E402
import wan_share  # noqa: E402
import wan_stage  # noqa: E402

QUICK = bool(os.environ.get("GMC_WAN_QUICK"))
SIZE = int(wan_stage.RATE)
LARGE = 10 * SIZE
PLAN_FARTHEST = 0.15
RTT = 2 * wan_stage.DELAY
PEER_LIMIT = 120


def words(name, default):
    return [word for word in os.environ.get("GMC_WAN_" + name, default).split(",") if word]


PARTS = words("PARTS", "stage,cold,plan,peers,tcp,background,links,full")
TOPOLOGIES = words("TOPOLOGIES", "flat,tree3,shared")
LOSSES = [float(word) for word in words("LOSSES", "0,20" if QUICK else "0,1,5,10,20")]
OPTIONS = os.environ.get("GMC_WAN_OPTIONS", "").split()

def limit_of(loss, size):
    """The least share of rate * (1 - loss)."""
    if size >= LARGE:
        return 0.93 if loss <= 1 else 0.92 if loss <= 5 else 0.90
    return 0.90 if loss <= 1 else 0.88 if loss <= 5 else 0.84


# ---- staging ----

def print_heads():
    print("%-7s %5s %8s %9s %6s %9s %6s %8s %7s %8s %8s %5s  %s" %
          ("topo", "loss", "seconds", "fraction", "limit", "1st wire", "limit", "vs flat", "full",
           "repairs", "tcp rtx", "ms", "ok"))


def judge(name, loss, size, value, flat):
    """What of the limits is missed."""
    if value["result"] != "complete":
        return ["complete"]
    missed = []
    if value["fraction"] < limit_of(loss, size):
        missed.append("fraction")
    if value["first_wire"] > 1.10 / (1 - loss / 100):
        missed.append("first wire")
    if flat and value["seconds"] > flat * {"flat": 1, "tree3": 1.05, "shared": 1.10}[name]:
        missed.append("vs flat")
    if loss <= 1 and (value["full_rate_at"] is None or value["full_rate_at"] > 0.5):
        missed.append("start")
    return missed


def seconds_of(value):
    return "-" if value is None else "%.2f" % value


def stage(size, warm):
    print("\n%s: %d bytes to six, %s; fraction of rate * (1 - loss), bytes on S's first wire / object,"
          % ("gmcast stage", size, "gateways connected" if warm else "gateways just started"))
    print("seconds from the command to the full rate, TCP segments sent again, mean lateness")
    print_heads()
    for loss in LOSSES:
        flat = None
        for name in TOPOLOGIES:
            value = wan_stage.measure(name, loss, size, warm, options=OPTIONS)
            missed = judge(name, loss, size, value, flat) if warm else []
            flat = value["seconds"] if name == "flat" else flat
            ok = parts.verdict("%s %g %%, %d bytes: %s" % (name, loss, size, ", ".join(missed)),
                               not missed, value["kept"])
            print("%-7s %4g%% %8.2f %9.3f %6.2f %9.3f %6.3f %8s %7s %8d %8d %5.2f  %s%s" %
                  (name, loss, value["seconds"], value["fraction"], limit_of(loss, size),
                   value["first_wire"], 1.10 / (1 - loss / 100),
                   "%.3f" % (value["seconds"] / flat) if flat else "-",
                   seconds_of(value["full_rate_at"]), value["repairs"],
                   value["tcp_retransmissions"], value["late_ms"], ok,
                   ": " + ", ".join(missed) if missed else ""), flush=True)


def cold():
    """From the command to the first full rate, and the whole time, when nothing is known yet."""
    print("\ncold start, 100 MB: set-up as the gateway counts it, and the time to the full rate")
    for loss in LOSSES:
        for name in TOPOLOGIES:
            value = wan_stage.measure(name, loss, SIZE, False, options=OPTIONS)
            full = value["full_rate_at"]
            print("%-7s %4g%%  set-up %6.2f s (%4.0f round trips)  full rate %6s s (%4s round trips)  "
                  "complete %6.2f s%s" %
                  (name, loss, value["setup"], value["setup"] / RTT, seconds_of(full),
                   "-" if full is None else "%.0f" % (full / RTT), value["seconds"],
                   "" if value["kept"] else " (late)"), flush=True)


def plan():
    print("\nstage --plan, %d bytes: seconds predicted and from the command to the end, their ratio"
          " (0.85 to 1.15)" % SIZE)
    for name in TOPOLOGIES + ["unequal"]:
        for told in (True, False):
            value = wan_stage.predict(name, SIZE, told)
            ratio = value["predicted"] / value["seconds"]
            uplinks = "configured" if told else "measured"
            right = value["result"] == "complete" and abs(ratio - 1) <= PLAN_FARTHEST
            ok = parts.verdict("plan of %s, uplinks %s: %.3f" % (name, uplinks, ratio), right,
                               value["kept"])
            print("%-8s %-10s %8.2f %8.2f %7.3f  %d trees%s, limited by %s  %s" %
                  (name, uplinks, value["predicted"], value["seconds"], ratio, value["trees"],
                   "" if value["same_trees"] else " (not those of the plan)", value["limit"], ok),
                  flush=True)


# ---- others ----

def peers():
    found = wan_peers.installed()
    missing = [name for name in wan_peers.PEERS if name not in [peer for peer, _ in found]]
    print("\nothers, 100 MB, seconds until all six have it (not: not within %d s)%s" %
          (PEER_LIMIT, "; not installed: " + ", ".join(missing) if missing else ""))
    print("%-7s %5s %s" % ("topo", "loss", " ".join("%21s" % " ".join(filter(None, one)) for one in found)))
    for loss in LOSSES:
        for name in TOPOLOGIES:
            times = [wan_peers.measure(peer, name, loss, SIZE, PEER_LIMIT) for peer in found]
            print("%-7s %4g%% %s" % (name, loss, " ".join(
                "%21s" % ("not" if one is None else "%.2f" % one)
                for one in times)), flush=True)


def tcp():
    if not shutil.which("iperf3"):
        print("\nbeside TCP: skipped, iperf3 is not installed")
        return
    print("\none link beside one TCP flow, 100 Mbit/s, 30 ms: Mbit/s and gmcast's share (0.30 to 0.70)")
    for queue in ("50ms", "10packets"):
        for law in ("cubic", "bbr"):
            for order in ("tcp-first", "together", "tcp-later"):
                ours, theirs, kept = wan_share.tcp(law, order, queue, 15 if QUICK else 60, LARGE)
                share = ours / (ours + theirs)
                ok = parts.verdict("%s %s %s: share %.2f" % (law, queue, order, share),
                                   0.3 <= share <= 0.7, kept)
                print("%-6s %-10s %-10s %6.1f %6.1f  %.2f  %s" %
                      (law, queue, order, ours / 1e6, theirs / 1e6, share, ok), flush=True)


def background():
    if not shutil.which("iperf3"):
        print("\nbackground beside TCP: skipped, iperf3 is not installed")
        return
    print("\none link of stage --background beside one TCP flow: Mbit/s and TCP's share (0.90)")
    for queue in ("50ms", "10packets"):
        for law in ("cubic", "bbr"):
            for order in ("tcp-first", "tcp-later"):
                ours, theirs, kept = wan_share.tcp(law, order, queue, 15 if QUICK else 60, LARGE,
                                                   "--background")
                share = theirs / (ours + theirs)
                what = "background beside %s %s %s: share %.2f" % (law, queue, order, share)
                ok = parts.verdict(what,
                                   share >= 0.9, kept)
                print("%-6s %-10s %-10s %6.1f %6.1f  %.2f  %s" %
                      (law, queue, order, ours / 1e6, theirs / 1e6, share, ok), flush=True)


def links():
    print("\ntwo links through one bottleneck of 100 Mbit/s, 30 ms: Mbit/s, Jain's index (0.95)")
    for queue in ("50ms", "10packets"):
        first, second, kept = wan_share.two_links(queue, 15 if QUICK else 60, LARGE)
        index = wan_share.jain([first, second])
        ok = parts.verdict("two links, %s: %.3f" % (queue, index), index >= 0.95, kept)
        print("%-10s %6.1f %6.1f  %.3f  %s" % (queue, first / 1e6, second / 1e6, index, ok),
              flush=True)


def full():
    if not shutil.which("iperf3"):
        print("\nwithout limit: skipped, iperf3 is not installed")
        return
    ours, theirs = wan_share.full(LARGE)
    ok = parts.verdict("without limit: %.2f" % (ours / theirs), ours >= 0.8 * theirs)
    print("\na wire without limit and delay: gmcast %.0f Mbit/s, iperf3 UDP %.0f: %.2f (0.80)  %s" %
          (ours / 1e6, theirs / 1e6, ours / theirs, ok), flush=True)


PARTS_OF = {"stage": lambda: stage(SIZE, True), "cold": cold,
            "large": lambda: stage(LARGE, True), "plan": plan, "peers": peers, "tcp": tcp,
            "background": background, "links": links, "full": full}

if __name__ == "__main__":
    parts.main(globals(), PARTS_OF, PARTS)
