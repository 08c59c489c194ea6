# SPDX-License-Identifier: BSD-2-Clause
"""Tests and benchmarks on emulated networks: topologies, and a function that runs inside.

    @emu.inside
    def rtt(hosts, count):
        with hosts.serve("a"):
            return hosts.probe("rtt", hosts.address("a"), 5000, count)

    result = emu.run(emu.star(1, rate="100Mbit", delay="15ms"), rtt, 100).value

A function marked inside() is called in a process of its own at the first host, with a Hosts object
before its arguments; arguments and result go through JSON. A file with such functions ends in
emu.main(globals(), ...).
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemons"))
import lib  # noqa: E402

SIM_WAN = os.environ.get("SIM_WAN", os.path.join(lib.BUILD, "sim-wan", "sim-wan"))
PROBE = os.path.join(lib.BUILD, "tests", "emulate", "wire_probe")
PORT = 5000

_inside = {}


# ---- topologies ----

def wire(**options):
    """The options of a wire, e.g. rate="100Mbit", delay="15ms", loss="1%", queue="50ms"."""
    return "  ".join("%s = %s" % (name.replace("_", "-"), value)
                     for name, value in options.items())


def topology(links, routers=(), **options):
    """links: pairs of hosts, or triples with the options of that link. The first host comes first."""
    nodes = []
    for link in links:
        nodes += [name for name in link[:2] if name not in nodes and name not in routers]
    lines = ["nodes = {%s}" % ", ".join(nodes)]
    if routers:
        lines.append("routers = {%s}" % ", ".join(routers))
    lines.append('wire "all" { %s }' % wire(**options))
    for link in links:
        own = wire(**link[2]) if len(link) > 2 else ""
        lines.append("link { between = {%s, %s}  wire = all  %s }" % (link[0], link[1], own))
    return "\n".join(lines) + "\n"


def names(count):
    return ["%c.example" % (ord("a") + i) for i in range(count)]


def star(count, **options):
    return topology([("s.example", name) for name in names(count)], **options)


# ---- outside ----

class Result:
    """How a run of the emulator ended."""

    def __init__(self, status, value, summary, errors):
        self.status = status
        self.value = value  # what the function gave
        self.summary = summary
        self.errors = errors

    def wire(self, source, target):
        for one in self.summary["wires"]:
            if (one["from"], one["to"]) == (source, target):
                return one
        raise KeyError((source, target))


def missing():
    """Why there can be no emulation here; None."""
    if os.geteuid() != 0:
        return "needs root"
    if not shutil.which("nsenter") or not os.path.exists("/dev/net/tun"):
        return "needs nsenter and /dev/net/tun"
    if not os.access(SIM_WAN, os.X_OK) or not os.access(PROBE, os.X_OK):
        return "sim-wan or wire_probe is not built here"
    with tempfile.TemporaryDirectory(prefix="gmct-") as folder:
        done = subprocess.run(command(folder, star(1), ["true"]), capture_output=True, text=True)
    refused = re.search("root|/dev/net/tun|namespace|TUN device|mounts", done.stderr)
    return done.stderr.strip() if done.returncode == 125 and refused else None


def command(folder, text, words, *options):
    """The command line of an emulation of that topology."""
    path = os.path.join(folder, "topology.conf")
    with open(path, "w") as out:
        out.write(text)
    return [SIM_WAN, "emulate", path, *options, "--", *words]


def environment():
    return {**os.environ, "GMCAST": lib.GMCAST, "GATEWAYD": lib.GATEWAYD,
            "GMC_BUILDDIR": lib.BUILD}


def run(text, function, *arguments, seed=1, options=(), limit=120):
    """Calls the function inside of an emulation of that topology."""
    with tempfile.TemporaryDirectory(prefix="gmct-", dir=os.environ.get("GMC_TMPDIR")) as folder:
        summary = os.path.join(folder, "summary.json")
        value = os.path.join(folder, "value.json")
        words = [sys.executable, os.path.abspath(sys.argv[0]), "--inside", function.__name__,
                 json.dumps(arguments), value]
        process = subprocess.Popen(command(folder, text, words, "--seed", str(seed), "--json",
                                           summary, *options),
                                   stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                   env={**environment(), "EMU_SUMMARY": summary})
        try:
            errors = process.communicate(timeout=limit)[1]
        except subprocess.TimeoutExpired:
            process.terminate()
            raise lib.Failure("not over within %g s: %s" %
                              (limit, process.communicate()[1])) from None
        lib.check(process.returncode == 0, lambda: "exit %d: %s" % (process.returncode, errors))
        with open(summary) as file, open(value) as given:
            return Result(process.returncode, json.load(given), json.load(file), errors)


# ---- inside ----

def inside(function):
    _inside[function.__name__] = function
    return function


class Hosts:
    """The hosts as a command in the emulation sees them."""

    def __init__(self):
        def words(name):
            return os.environ["SIM_WAN_" + name].split()
        self.names = words("HOSTS")
        self.own = os.environ["SIM_WAN_HOST"]
        self.directory = os.environ["SIM_WAN_DIRECTORY"]
        self._addresses = dict(zip(self.names, words("ADDRESSES")))
        self._addresses6 = dict(zip(self.names, words("ADDRESSES6")))
        self._namespaces = dict(zip(self.names, words("NAMESPACES")))

    def address(self, name):
        return self._addresses[name]

    def address6(self, name):
        return self._addresses6[name]

    def at(self, name, *words):
        """A command line that runs those words at a host."""
        return ["nsenter", "--net=/run/netns/" + self._namespaces[name], *map(str, words)]

    def probe(self, *words):
        """What wire_probe says."""
        return json.loads(subprocess.run([PROBE, *map(str, words)], check=True, text=True,
                                         stdout=subprocess.PIPE).stdout)

    def probes(self, lines):
        """The same of several at once."""
        running = [subprocess.Popen([PROBE, *map(str, words)], text=True, stdout=subprocess.PIPE)
                   for words in lines]
        return [json.loads(process.communicate()[0]) for process in running]

    @contextlib.contextmanager
    def serve(self, *targets):
        """wire_probe answers at these hosts."""
        running = []
        try:
            for name in targets:
                running.append(subprocess.Popen(self.at(name, PROBE, "serve", PORT), text=True,
                                                stdout=subprocess.PIPE))
                lib.check(running[-1].stdout.readline() == "ready\n", "no server at " + name)
            yield
        finally:
            for process in running:
                process.kill()
                process.wait()

    def summarise(self):
        """The emulator's summary so far."""
        path = os.environ["EMU_SUMMARY"]
        before = os.stat(path).st_mtime_ns if os.path.exists(path) else 0
        os.kill(os.getppid(), signal.SIGUSR1)
        lib.wait(lambda: os.path.exists(path) and os.stat(path).st_mtime_ns != before, path)
        with open(path) as file:
            return json.load(file)


def _call_inside(name, arguments, path):
    value = _inside[name](Hosts(), *json.loads(arguments))
    with open(path, "w") as out:
        json.dump(value, out)


def main(found, run_all=None):
    """The end of a file: its function inside, when it was started for one; else run_all(), or its
    functions test_*."""
    if sys.argv[1:2] == ["--inside"]:
        _call_inside(*sys.argv[2:5])
        return
    why = missing()
    if why is not None:
        print("skipped: " + why)
        sys.exit(lib.SKIP)
    if run_all is not None:
        sys.exit(run_all())
    lib.main(found)
