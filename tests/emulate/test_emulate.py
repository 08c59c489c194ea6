#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""sim-wan emulate: hosts that know each other, wires that do what they say, and nothing left."""

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import emu  # noqa: E402
import lib  # noqa: E402

HERE = emu.topology([("s.example", "r"), ("r", "a.example")], routers=("r",), rate="100Mbit",
                    delay="5ms", queue="50ms")
DAEMON = "setsid sh -c 'sleep 1000; : emu-stays'"
Z999 = 3.2905  # a normal variable lies within that many deviations in 99.9 of 100 cases


def everything():
    """What a run could leave: files, namespaces, and processes with its name."""
    found = []
    for folder in ("/run/netns", "/etc/netns", "/run/sim-wan", tempfile.gettempdir()):
        if os.path.isdir(folder):
            found += [folder + "/" + name for name in os.listdir(folder)
                      if name.startswith(("simwan-", "sim-wan-")) or name.isdigit()]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                if b"emu-stays" in file.read():
                    found.append(pid)
        except OSError:
            pass
    return sorted(found)


def emulate(text, words, *options):
    with tempfile.TemporaryDirectory(prefix="gmct-") as folder:
        return subprocess.run(emu.command(folder, text, words, *options), capture_output=True,
                              text=True, timeout=60, env=emu.environment())


def as_another_user(text, words):
    """From a place where that user may read the program, which the build folder need not be."""
    with tempfile.TemporaryDirectory(prefix="gmct-") as folder:
        os.chmod(folder, 0o755)
        command = emu.command(folder, text, words)
        command[0] = shutil.copy(command[0], folder)
        return subprocess.run(command, capture_output=True, text=True, timeout=60, user=65534,
                              group=65534, cwd="/")


def begin(folder, words):
    """An emulation that has come to its command."""
    process = subprocess.Popen(emu.command(folder, HERE, ["sh", "-c", "echo here; " + words]),
                               stdout=subprocess.PIPE, text=True)
    lib.check(process.stdout.readline() == "here\n", "the command runs")
    return process


def test_the_command_is_told_and_its_exit_status_counts():
    before = everything()
    script = "env; cat /etc/hosts; cat /sys/class/net/wan0/mtu 2>/dev/null; exit 7"
    done = emulate(HERE, ["sh", "-c", script])
    lib.check(done.returncode == 7, lambda: "exit %d: %s" % (done.returncode, done.stderr))
    for line in ("SIM_WAN_HOSTS=s.example a.example r.example",
                 "SIM_WAN_ADDRESSES=10.213.0.1 10.213.0.2 10.213.0.3", "SIM_WAN_HOST=s.example",
                 "10.213.0.2 a.example a", "fd67:6d63:6173:7400::2 a.example a"):
        lib.check(line in done.stdout.splitlines(), lambda line=line: "%s in %s" % (line, done))
    done = emulate(HERE, ["sh", "-c", "echo $SIM_WAN_HOST; kill -9 $$"], "--at", "r")
    lib.check((done.returncode, done.stdout) == (137, "r.example\n"), lambda: str(done))
    lib.check(everything() == before, lambda: "left: %s, before: %s" % (everything(), before))


def test_what_cannot_be_is_said():
    for words, options, text in (
            (["/no/such/program"], (), "cannot run /no/such/program"),
            (["true"], ("--at", "nobody"), "is called 'nobody'"),
            (["true"], ("--seed", "x"), "'x' is no seed"),
            (["true"], ("--json", "/no/such/folder/x"), "cannot write /no/such/folder/x"),
            (["true"], ("--clean",), "--clean runs nothing"),
            (["true"], ("--gateway-conf", "/dev/null"), "give --gateways too"),
            (["true"], ("--gateways", "--gateway-conf", "/"), "cannot read /: Is a directory"),
            ([], (), "no command is given")):
        done = emulate(HERE, words, *options)
        lib.check(done.returncode == 125 and text in done.stderr,
                  lambda done=done: "exit %d: %s" % (done.returncode, done.stderr))
    done = emulate("nodes = {a, b}\n", ["true"])
    lib.check(done.returncode == 125 and "no path joins" in done.stderr, lambda: done.stderr)
    done = emulate("nodes = {%s}\n" % ("a" * 256), ["true"])
    lib.check(done.returncode == 125 and "255 at most" in done.stderr, lambda: done.stderr)
    done = as_another_user(HERE, ["true"])
    lib.check(done.returncode == 125 and "run it with sudo" in done.stderr, lambda: str(done))


def test_a_summary_goes_where_it_is_asked_for():
    done = emulate(HERE, ["true"], "--json", "-")
    lib.check(json.loads(done.stdout)["exit_status"] == 0, lambda: str(done))
    with tempfile.TemporaryDirectory(prefix="gmct-") as folder:
        target, link = os.path.join(folder, "target"), os.path.join(folder, "link")
        os.symlink(target, link)
        done = emulate(HERE, ["true"], "--json", link)
        lib.check(done.returncode == 0 and os.path.islink(link), lambda: str(done))
        with open(target) as file:
            lib.check(json.load(file)["hosts"][0] == "s.example", "the summary is behind the link")


def test_an_interrupted_run_leaves_nothing():
    before = everything()
    for number in (signal.SIGINT, signal.SIGTERM):
        with tempfile.TemporaryDirectory(prefix="gmct-") as folder:
            # The daemon that the command starts goes too; a command that ends by itself decides.
            process = begin(folder, DAEMON + " & exec sleep 1000")
            process.send_signal(number)
            status = process.wait(20)
        lib.check(status == 128 + number, "exit %d after signal %d" % (status, number))
        lib.check(everything() == before, lambda: "left: %s, before: %s" % (everything(), before))


def test_who_reads_is_gone():
    """As with `2>&1 | head -1`: the words are lost, and nothing else."""
    before = everything()
    for words, options, status in ((["/no/such/program"], (), 125),
                                   (["sh", "-c", "sleep 0.3; exit 7"], ("--json", "-"), 7)):
        with tempfile.TemporaryDirectory(prefix="gmct-") as folder:
            process = subprocess.Popen(emu.command(folder, HERE, words, *options),
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdout.close()
            process.stderr.close()
            ended = process.wait(20)
        lib.check(ended == status, "exit %d, not %d" % (ended, status))
        lib.check(everything() == before, lambda: "left: %s, before: %s" % (everything(), before))


def test_clean_removes_what_a_killed_run_left():
    # What somebody else's run left would be counted too.
    subprocess.run([emu.SIM_WAN, "emulate", "--clean"], capture_output=True, check=True)
    before = everything()
    with tempfile.TemporaryDirectory(prefix="gmct-") as folder:
        alive = begin(folder, "exec sleep 1000")
        during = everything()
        process = begin(folder, DAEMON + " & exec sleep 1000")
        process.kill()
        process.wait()
        lib.check(everything() != during, "a killed run leaves something, or this tests nothing")
        done = subprocess.run([emu.SIM_WAN, "emulate", "--clean"], capture_output=True, text=True)
        lib.check(done.returncode == 0 and "1 killed" in done.stdout, lambda: str(done))
        lib.check(everything() == during, lambda: "left: %s, not %s" % (everything(), during))
        lib.check(alive.poll() is None, "a run that lives is let live")
        alive.terminate()
        alive.wait(20)
    lib.check(everything() == before, lambda: "left: %s, before: %s" % (everything(), before))


# ---- accuracy ----

@emu.inside
def measure(hosts, rate_bps, delay_ns):
    with hosts.serve("a.example", "b.example"):
        ping = subprocess.run(["ping", "-c", "40", "-i", "0.02", hosts.address("a.example")],
                              capture_output=True, text=True)
        ping6 = subprocess.run(["ping", "-c", "3", "-i", "0.02", "-q",
                                hosts.address6("a.example")], capture_output=True, text=True)
        full = hosts.probe("flood", hosts.address("a.example"), emu.PORT, int(rate_bps * 1.2), 2,
                           rate_bps, delay_ns)
        lossy = hosts.probe("flood", hosts.address("b.example"), emu.PORT, 50000000, 2, rate_bps,
                            delay_ns)
    return {"ping": ping.stdout, "ping6": ping6.stdout, "full": full, "lossy": lossy}


def median_of_ping(text):
    times = sorted(float(one) for one in re.findall(r"time=([0-9.]+) ms", text))
    return times[len(times) // 2]


@lib.timed
def test_rate_delay_and_loss_are_those_of_the_topology():
    rate, delay, loss = 100e6, 15e-3, 0.2
    text = emu.topology([("s.example", "a.example"),
                         ("s.example", "b.example", {"loss": "20%"})],
                        rate="100Mbit", delay="15ms", queue="50ms")
    result = emu.run(text, measure, int(rate), int(delay * 1e9))
    trip = median_of_ping(result.value["ping"])
    own = 2 * 84 * 8 / rate * 1e3  # both packets on the wire
    print("RTT %.3f ms, configured %.3f" % (trip, 2 * delay * 1e3 + own))
    lib.check(abs(trip - 2 * delay * 1e3 - own) <= 0.3, "RTT %.3f ms" % trip)
    lib.check(" 0% packet loss" in result.value["ping6"], lambda: result.value["ping6"])
    full, lossy = result.value["full"], result.value["lossy"]
    print("rate %.3f Mbit/s, configured %.3f" % (full["rate_bps"] / 1e6, rate / 1e6))
    lib.check(abs(full["rate_bps"] / rate - 1) <= 0.005, "rate %.0f" % full["rate_bps"])
    share = 1 - lossy["received"] / lossy["sent"]
    bound = Z999 * math.sqrt(loss * (1 - loss) / lossy["sent"])
    print("loss %.4f of %d, configured %.4f +- %.4f; late by %.3f ms in the mean" %
          (share, lossy["sent"], loss, bound, lossy["late_mean_ms"]))
    lib.check(abs(share - loss) <= bound, "loss %.4f" % share)
    lib.check(result.summary["real_time"]["kept"], lambda: json.dumps(result.summary))
    for one in result.summary["wires"]:
        use = one["bytes"] * 8 / rate / result.summary["seconds"]
        lib.check(abs(use - one["utilisation"]) < 1e-6 and one["marked"] == 0, lambda: str(one))
        kept = one["delivered_packets"] + one["dropped_loss"] + one["dropped_queue"]
        lib.check(abs(one["packets"] - kept) <= 2, lambda one=one: "lost count: %s" % one)


@emu.inside
def flood_between_pauses(hosts, rate_bps, delay_ns):
    emulator, over = os.getppid(), threading.Event()

    def stop_and_go():
        while not over.wait(0.1):
            os.kill(emulator, signal.SIGSTOP)
            time.sleep(0.005)
            os.kill(emulator, signal.SIGCONT)

    with hosts.serve("a.example"):
        pauses = threading.Thread(target=stop_and_go)
        pauses.start()
        try:
            return hosts.probe("flood", hosts.address("a.example"), emu.PORT, int(rate_bps * 0.98), 3,
                               rate_bps, delay_ns)
        finally:
            over.set()
            pauses.join()


@lib.timed
def test_a_full_wire_makes_up_for_a_pause_of_the_emulator():
    """Packets that enter as late as they are read would queue for good: 98 % full, a wire has 2 ms of
    each 105 to spare for the 5 that it stood still."""
    rate, delay = 100e6, 15e-3
    text = emu.topology([("s.example", "a.example")], rate="100Mbit", delay="15ms", queue="500ms")
    flood = emu.run(text, flood_between_pauses, int(rate), int(delay * 1e9)).value
    late = flood["late_mean_ms"]
    print("late by %.3f ms in the mean, %.3f at most" % (late, flood["late_max_ms"]))
    lib.check(flood["late_max_ms"] > 3, "the pauses were none, or this tests nothing")
    lib.check(late < 2, "late by %.3f ms in the mean" % late)


# ---- gateways ----

@emu.inside
def stage(hosts, path):
    done = subprocess.run(["gmcast", "stage", path, "--to", "a,b:there/", "--json"],
                          capture_output=True, text=True)
    folders = {name: os.path.join(hosts.directory, name, "in") for name in hosts.names}
    lib.assert_same(path, os.path.join(folders["a.example"], os.path.basename(path)))
    lib.assert_same(path, os.path.join(folders["b.example"], "there", os.path.basename(path)))
    return json.loads(done.stdout.splitlines()[-1])


def test_gateways_just_work():
    if not os.access(lib.GATEWAYD, os.X_OK):
        print("without daemons, left out")
        return
    before = everything()
    with tempfile.TemporaryDirectory(prefix="gmct-") as folder:
        path = os.path.join(folder, "object")
        with open(path, "wb") as out:
            lib.write_pattern(out, 3000000, "emulate")
        result = emu.run(emu.star(2, rate="100Mbit", delay="5ms", queue="50ms", loss="1%"), stage,
                         path, options=["--gateways"])
    lib.check(result.value["result"] == "complete", lambda: json.dumps(result.value))
    lib.check(result.wire("s.example", "a.example")["bytes"] > 3000000, "it went over the wires")
    lib.check(everything() == before, lambda: "left: %s, before: %s" % (everything(), before))


def test_a_gateway_that_does_not_come_up_ends_the_run():
    if not os.access(lib.GATEWAYD, os.X_OK):
        print("without daemons, left out")
        return
    before = everything()
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as extra:
        extra.write("nonsense = 1\n")
        extra.flush()
        done = emulate(HERE, ["true"], "--gateways", "--gateway-conf", extra.name)
    lib.check(done.returncode == 125 and "nonsense" in done.stderr and "came up" in done.stderr,
              lambda: str(done))
    lib.check(everything() == before, lambda: "left: %s, before: %s" % (everything(), before))


def test_a_socket_whose_name_is_too_long_is_named_before_anything_runs():
    if not os.access(lib.GATEWAYD, os.X_OK):
        print("without daemons, left out")
        return
    done = emulate("nodes = {%s}\n" % ("a" * 60), ["true"], "--gateways")
    lib.check(done.returncode == 125 and "too long; rename it" in done.stderr, lambda: str(done))


def test_rates_may_be_said_otherwise():
    """Gateways know their uplinks from the topology, unless the lines for all say something else."""
    if not os.access(lib.GATEWAYD, os.X_OK):
        print("without daemons, left out")
        return
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as extra:
        extra.write("log = warn\n  uplink = 0\ndownlink=0\n")
        extra.flush()
        done = emulate(HERE, ["true"], "--gateways", "--gateway-conf", extra.name)
    lib.check(done.returncode == 0, lambda: str(done))


def test_programs_that_are_not_there_are_named():
    with tempfile.TemporaryDirectory(prefix="gmct-") as folder:
        words = emu.command(folder, HERE, ["true"], "--gateways")
        done = subprocess.run(words, capture_output=True, text=True, timeout=60,
                              env={**os.environ, "GMCAST": "/no/such/gmcast"})
    lib.check(done.returncode == 125 and "name the programs in GMCAST and GATEWAYD" in done.stderr,
              lambda: str(done))


if __name__ == "__main__":
    emu.main(globals())
