# SPDX-License-Identifier: BSD-2-Clause
"""A grid of real gatewayds on loopback for tests: CA, configurations, processes, transfers.

A test file ends in lib.main(globals()), which runs its functions test_*; each makes the grid that
it needs:

    def test_one_file():
        with lib.Grid("abc") as grid:
            grid.write("a", "x", b"hello")
            result = grid.stage("a", ["x"], "bc")
            result.expect("complete")
            grid.same("a", "x", "b", "x")

Nothing here sleeps to synchronise: wait() polls a condition and fails when its limit is reached.
Whatever happens, processes end and directories go away; GMC_KEEP=1 keeps them for a look.
"""

import atexit
import contextlib
import ctypes
import glob
import hashlib
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import traceback

BUILD = os.environ.get("GMC_BUILDDIR", os.getcwd())
GMCAST = os.environ.get("GMCAST", os.path.join(BUILD, "tools", "gmcast"))
GATEWAYD = os.environ.get("GATEWAYD", os.path.join(BUILD, "gatewayd", "gatewayd"))
NODED = os.environ.get("NODED", os.path.join(BUILD, "noded", "gmcast-noded"))
KEEP = bool(os.environ.get("GMC_KEEP"))
SKIP = 77
# Everything that waits, waits at most this long unless it says otherwise.
LIMIT = float(os.environ.get("GMC_LIMIT", "45"))
COMPLETE, REFUSED, PARTIAL, CANCELLED, DETACHED = 0, 1, 2, 3, 4


def counts_memory():
    """Is resident memory the program's own, and not a sanitizer's?"""
    with open(GATEWAYD, "rb") as program:
        image = program.read()
    return b"__asan_init" not in image and b"__tsan_init" not in image


class Failure(Exception):
    """What a test expected is not so."""


def check(condition, message):
    if not condition:
        raise Failure(message() if callable(message) else message)


def threads_of(pid):
    """What each thread of a process does: name, state, the system call it is in, where the kernel keeps it."""
    lines = []
    for task in sorted(glob.glob("/proc/%d/task/*" % pid)):
        line = [os.path.basename(task)]
        for name in ("comm", "stat", "syscall", "wchan"):
            with contextlib.suppress(OSError), open(os.path.join(task, name)) as file:
                text = file.read().strip()
                line.append(text.rpartition(")")[2].split()[0] if name == "stat" else text)
        lines.append("  ".join(line))
    if shutil.which("gdb"):
        lines.append(subprocess.run(["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all backtrace"],
                                    capture_output=True, text=True, timeout=30, check=False).stdout)
    return "\n".join(lines)


def wait(condition, what, limit=LIMIT, interval=0.02):
    """Polls until condition() is true and returns what it gave."""
    end = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failure("not within %g s: %s" % (limit, what() if callable(what) else what))
        time.sleep(interval)


def _die_with_parent():
    # PR_SET_PDEATHSIG: also after kill -9 of the test nothing stays behind.
    ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL, 0, 0, 0)


def _free_port():
    """A number that is free for TCP and UDP on loopback now, with its sockets still bound."""
    while True:
        tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        tcp.bind(("127.0.0.1", 0))
        try:
            udp.bind(("127.0.0.1", tcp.getsockname()[1]))
            return tcp.getsockname()[1], (tcp, udp)
        except OSError:
            tcp.close()
            udp.close()


_open_grids = []


def _clean_up():
    for grid in list(_open_grids):
        grid.close()


atexit.register(_clean_up)


def _on_signal(number, _frame):
    _clean_up()
    os._exit(128 + number)


class Result:
    """How a stage, watch or resume ended."""

    def __init__(self, status, lines, errors):
        self.status = status
        self.lines = lines
        self.errors = errors
        self.last = lines[-1] if lines else {}

    def __str__(self):
        return "exit %s, %s\n%s" % (self.status, json.dumps(self.last, indent=1), self.errors)

    @property
    def channel(self):
        for line in self.lines:
            if line.get("channel"):
                return line["channel"]
        return None

    def domain(self, name):
        return self.last["domains"][name]

    def expect(self, result):
        """The result, with the exit status that belongs to it."""
        codes = {"complete": COMPLETE, "partial": PARTIAL, "cancelled": CANCELLED,
                 "failed": REFUSED}
        check(self.last.get("result") == result and self.status == codes[result],
              lambda: "expected %s (exit %d), got %s" % (result, codes[result], self))
        return self


class Running:
    """A command that writes JSON lines, while it runs."""

    def __init__(self, arguments, environment):
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, env=environment, text=True,
                                        preexec_fn=_die_with_parent)
        self.lines = []
        self.errors = ""
        self._threads = [threading.Thread(target=self._read_out, daemon=True),
                         threading.Thread(target=self._read_errors, daemon=True)]
        for thread in self._threads:
            thread.start()

    def _read_out(self):
        for line in self.process.stdout:
            self.lines.append(json.loads(line))

    def _read_errors(self):
        for line in self.process.stderr:
            self.errors += line

    def channel(self, limit=LIMIT):
        def known():
            if not self.lines and self.process.poll() is not None:
                self._join()
                check(self.lines, lambda: "ended before it began: " + self.errors)
            return self.lines and self.lines[0].get("channel")
        return wait(known, lambda: "a channel was named: " + self.errors, limit)

    def wait(self, limit=LIMIT):
        # Its words end when it does. Popen.wait alone looks only twenty times a second.
        until = time.monotonic() + limit
        self._threads[0].join(limit)
        try:
            status = self.process.wait(max(0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure("not over within %g s; last: %s %s" % (
                limit, json.dumps(self.lines[-1:], indent=1), self.errors)) from None
        self._join()
        return Result(status, self.lines, self.errors)

    def _join(self):
        for thread in self._threads:
            thread.join()

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Domain:
    """One domain: its directories, its configuration, its gatewayd."""

    def __init__(self, grid, name):
        self.grid = grid
        self.name = name
        self.path = os.path.join(grid.path, name)
        self.data = os.path.join(self.path, "data")
        self.incoming = os.path.join(self.path, "in")
        self.public = os.path.join(self.path, "public")
        self.state = os.path.join(self.path, "state")
        for path in (self.path, self.data, self.incoming, self.public, self.state):
            os.makedirs(path)
        self.control = "ipc://" + os.path.join(self.path, "c")
        self.events = "ipc://" + os.path.join(self.path, "e")
        self.log_path = os.path.join(self.path, "log")
        self.conf_path = os.path.join(self.path, "conf")
        self.certificate = os.path.join(self.path, "crt.crt")
        self.key = os.path.join(self.path, "crt.key")
        self.host = "127.0.0.1"
        self.port, self._sockets = _free_port()
        self.options = {}
        self.process = None
        self.stopping = False

    @property
    def dns(self):
        return self.grid.dns(self.name)

    def log(self):
        try:
            with open(self.log_path, errors="replace") as log:
                return log.read()
        except FileNotFoundError:
            return ""

    def write_conf(self):
        with open(self.conf_path, "w") as conf:
            conf.write(self.grid.conf_of(self))

    def release_port(self):
        for held in self._sockets:
            held.close()

    def start(self, wait_ready=True):
        check(self.process is None, "%s runs already" % self.name)
        self.release_port()
        self.write_conf()
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.options.get("prefix", []) +
                                            [self.options.get("program", GATEWAYD), "-c",
                                             self.conf_path] + self.options.get("arguments", []),
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ,
                                                 **self.options.get("environment", {})},
                                            cwd=self.path, preexec_fn=_die_with_parent)
        if wait_ready:
            self.ready()
        return self

    def ready(self):
        def answers():
            check(self.process.poll() is None, lambda: "gatewayd of %s ended with %s:\n%s" % (
                self.name, self.process.returncode, self.log()))
            return self.gmcast("peers", "--json", check_status=False)[0] == COMPLETE
        wait(answers, lambda: "gatewayd of %s answers:\n%s" % (self.name, self.log()), 15)

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        """kill -9: nothing is said, nothing is flushed by it."""
        self.process.kill()
        self.process.wait()
        self.process = None

    def freeze(self):
        self.signal(signal.SIGSTOP)

    def thaw(self):
        self.signal(signal.SIGCONT)

    def stop(self, limit=10):
        """A graceful end; the exit status."""
        if self.process is None:
            return None
        process, self.process = self.process, None
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGCONT)
            if not self.stopping:
                process.terminate()
        self.stopping = False
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(limit / 2)
            print("---- threads of %s, which does not end" % self.name)
            print(threads_of(process.pid), flush=True)
            return process.wait(limit / 2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return "killed"

    def reload(self):
        self.write_conf()
        self.signal(signal.SIGHUP)

    def gmcast(self, *arguments, check_status=True, timeout=LIMIT):
        """(exit status, standard output, standard error) of the command at this domain."""
        done = subprocess.run([GMCAST, "--gateway", self.control, *arguments],
                              capture_output=True, text=True, timeout=timeout,
                              stdin=subprocess.DEVNULL, cwd=self.data)
        if check_status:
            check(done.returncode == COMPLETE, lambda: "gmcast %s: exit %d: %s" % (
                " ".join(arguments), done.returncode, done.stderr))
        return done.returncode, done.stdout, done.stderr

    def status(self, channel):
        """One transfer as this gateway reports it; None when it knows none."""
        code, out, _ = self.gmcast("status", channel, "--json", check_status=False)
        return json.loads(out) if code == COMPLETE and out else None

    def local_status(self, channel):
        """What this gateway itself knows of a transfer; nobody else is asked. None: nothing."""
        _, out, _ = self.gmcast("status", "--json", check_status=False)
        for line in out.splitlines():
            transfer = json.loads(line)
            if transfer["channel"] == channel:
                return transfer
        return None

    def peers(self):
        return json.loads(self.gmcast("peers", "--json")[1])

    def counters(self):
        return json.loads(self.gmcast("status", "--counters", "--json")[1])

    def bytes_sent(self):
        return {peer["domain"]: peer["bytes_sent"] for peer in self.peers()["peers"]}

    def cpu_seconds(self):
        with open("/proc/%d/stat" % self.process.pid) as stat_file:
            words = stat_file.read().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self):
        with open("/proc/%d/statm" % self.process.pid) as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Grid:
    """Domains by one-letter or longer names; their DNS names end in ".test"."""

    def __init__(self, names, start=True, nodes=None, **options):
        """nodes: names of nodes, by domain. options: lines for all configurations (top="..."), per pair or per domain see conf_of;
        cache, rate (fixed congestion control), patience are written as they are."""
        self.path = tempfile.mkdtemp(prefix="gmct-", dir=os.environ.get("GMC_TMPDIR", "/tmp"))
        _open_grids.append(self)
        self.options = options
        self.ca = os.path.join(self.path, "ca")
        self.started_at = time.monotonic()
        self.domains = {}
        self.node_of = {node: name for name, inside in (nodes or {}).items() for node in inside}
        try:
            self._run_ca("init", self.ca, "--name", "Test CA")
            for name in [*names, *self.node_of]:
                self.domains[name] = Domain(self, name)
            for node in self.node_of:
                self.domains[node].options["program"] = NODED
            for domain in self.domains.values():
                self.issue(domain)
            if start:
                self.start()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, kind, _value, _trace):
        try:
            if kind is None:
                self.end()
        except Failure:
            kind = Failure
            raise
        finally:
            if kind is not None:
                self.print_logs()
            self.close()

    def end(self):
        """All gateways that should run do, and stop in order: sanitizers speak up here."""
        running = [domain for domain in self.domains.values() if domain.process is not None]
        for domain in running:
            code = domain.process.poll()
            check(code is None, "gatewayd of %s ended by itself with %s" % (domain.name, code))
            domain.thaw()
            domain.signal(signal.SIGTERM)
            domain.stopping = True  # a second signal would end it at once
        for domain in running:
            code = domain.stop()
            check(code == 0, "gatewayd of %s stopped with %s" % (domain.name, code))

    def __getitem__(self, name):
        return self.domains[name]

    def dns(self, name):
        return name + ".test"

    def _run_ca(self, *arguments):
        done = subprocess.run([GMCAST, "ca", *arguments], capture_output=True, text=True)
        check(done.returncode == 0, lambda: "gmcast ca: " + done.stderr)

    def issue(self, domain, ca=None, days=90):
        for path in (domain.certificate, domain.key):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        self._run_ca("issue", ca or self.ca, domain.dns, "--out",
                     os.path.join(domain.path, "crt"), "--days", str(days))

    def revoke(self, name):
        """Revokes and renews the list, which all domains read when they reload."""
        self._run_ca("revoke", self.ca, self.dns(name))

    def conf_of(self, domain):
        """A configuration in which everybody may send to and be asked by everybody. options of the
        grid or domain: top (lines), peer[name] (lines in that section), no_receive (names),
        unknown (names without a section), no_address (names), token (a node's file; it gets no
        certificate)."""
        options = {**self.options, **domain.options}
        lines = ['domain = "%s"' % domain.dns,
                 'listen = "%s:%d"' % (options.get("listen", domain.host), domain.port),
                 'state = "%s"' % domain.state, 'control = "%s"' % domain.control,
                 'events = "%s"' % domain.events, 'log = "%s"' % options.get("log", "debug"),
                 'patience = "%s"' % options.get("patience", "10s"),
                 'cache = "%s"' % options.get("cache", "64M"),
                 'export = {"%s"}' % domain.data]
        if "rate" in options:
            lines += ['congestion = "fixed"', 'rate = "%s"' % options["rate"]]
        lines += [options.get("top", "")]
        if "token" in options:
            lines += ['token = "%s"' % options["token"]]
        else:
            lines += ["tls {", '  certificate = "%s"' % domain.certificate,
                      '  key = "%s"' % domain.key, '  ca = "%s/ca.crt"' % options.get("ca", self.ca),
                      '  crl = "%s/ca.crl"' % options.get("ca", self.ca), "}"]
        if domain.name in self.node_of:
            lines += self._node_sections(domain)
            return "\n".join(lines) + "\n"
        for other in self.domains.values():
            if other is domain or other.name in options.get("unknown", ()):
                continue
            if other.name not in self.node_of:
                lines += self._sections(domain, other, options)
            elif self.node_of[other.name] == domain.name and "token" not in other.options:
                lines += ['node "%s" {' % other.dns, "}"]
        return "\n".join(lines) + "\n"

    def _node_sections(self, node):
        gateway = self[self.node_of[node.name]]
        return ['node_of = "%s"' % gateway.dns, 'peer "%s" {' % gateway.dns,
                '  address = "%s:%d"' % (gateway.host, gateway.port), "}",
                'receive "*" {', '  directory = "%s"' % node.incoming, "}"]

    def _sections(self, domain, other, options):
        address = '  address = "%s:%d"' % (other.host, other.port)
        if other.name in options.get("no_address", ()):
            address = ""
        lines = ['peer "%s" {' % other.dns, '  alias = "%s"' % other.name, address,
                 options.get("peer", {}).get(other.name, options.get("peers", "")), "}"]
        if other.name not in options.get("no_receive", ()):
            lines += ['receive "%s" {' % other.dns, '  directory = "%s"' % domain.incoming,
                      '  quota = "%s"' % options["quota"] if "quota" in options else "", "}"]
        if other.name not in options.get("no_serve", ()):
            lines += ['serve "%s" {' % other.dns, '  directory = "%s"' % domain.public, "}"]
        return lines

    def start(self):
        for domain in self.domains.values():
            domain.start(wait_ready=False)
        for domain in self.domains.values():
            domain.ready()

    def close(self):
        if self in _open_grids:
            _open_grids.remove(self)
        for domain in self.domains.values():
            if domain.process is not None:
                with contextlib.suppress(ProcessLookupError):
                    domain.process.kill()
                domain.process.wait()
                domain.process = None
        if KEEP:
            print("kept: " + self.path)
        else:
            shutil.rmtree(self.path, ignore_errors=True)

    def print_logs(self, lines=40):
        for domain in self.domains.values():
            tail = domain.log().splitlines()[-lines:]
            print("---- log of %s\n%s" % (domain.name, "\n".join(tail)), file=sys.stderr)

    # ---- files ----

    def write(self, name, path, content=b"", mode=None, mtime_ns=None, folder="data"):
        """A file in the data of a domain; bytes or a length of patterned bytes."""
        full = os.path.join(os.fsencode(getattr(self[name], folder)), os.fsencode(path))
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as out:
            if isinstance(content, int):
                write_pattern(out, content, path)
            else:
                out.write(content)
        if mode is not None:
            os.chmod(full, mode)
        if mtime_ns is not None:
            os.utime(full, ns=(mtime_ns, mtime_ns))
        return os.fsdecode(full)

    def incoming(self, name, path=""):
        return os.path.join(os.fsencode(self[name].incoming), os.fsencode(path))

    def same(self, source, path, target, target_path=None):
        """The file or tree stands at the target as it stands at the source."""
        where = self.incoming(target, path if target_path is None else target_path)
        assert_same(os.path.join(os.fsencode(self[source].data), os.fsencode(path)), where)

    def refuses(self, name, top, word):
        """With these lines on top its configuration is not right, which -T says in these words."""
        self[name].options["top"] = top
        self[name].write_conf()
        daemon = NODED if name in self.node_of else GATEWAYD
        done = subprocess.run([daemon, "-T", "-c", self[name].conf_path],
                              capture_output=True, text=True, check=False)
        check(done.returncode == 1 and word in done.stderr, done.stderr)

    def absent(self, target, path):
        where = self.incoming(target, path)
        check(not os.path.lexists(where), lambda: "%r exists at %s" % (path, target))

    def nothing_left(self, name):
        """No temporary tree of an unfinished transfer in the granted directory."""
        left = [entry for entry in os.listdir(self[name].incoming) if entry.startswith(".gmcast")]
        check(not left, lambda: "left at %s: %s" % (name, left))

    # ---- transfers ----

    def begin(self, source, paths, targets, *options):
        """gmcast stage --json at the source, running. targets: names, or a list of TARGETs."""
        domain = self[source]
        words = [path if ":" in path else os.path.join(domain.data, path) for path in paths]
        return Running([GMCAST, "--gateway", domain.control, "stage", *words, "--to",
                        ",".join(targets), "--json", *options], dict(os.environ))

    def stage(self, source, paths, targets, *options, limit=LIMIT):
        return self.begin(source, paths, targets, *options).wait(limit)

    def watch(self, source, channel, limit=LIMIT):
        return Running([GMCAST, "--gateway", self[source].control, "watch", channel, "--json"],
                       dict(os.environ)).wait(limit)

    def resume(self, source, channel, limit=LIMIT):
        return Running([GMCAST, "--gateway", self[source].control, "resume", channel, "--json"],
                       dict(os.environ)).wait(limit)

    def progress(self, source, channel, target):
        """(bytes at the target, bytes of the object), 0, 0 when not known yet."""
        status = self[source].status(channel)
        member = (status or {}).get("domains", {}).get(self.dns(target))
        return (member["bytes"], status["bytes"]) if member else (0, 0)

    def wait_share(self, source, channel, target, share, limit=LIMIT):
        """Until the target has this share (0..1) of the object, and not all of it; returns it."""
        def far_enough():
            got, whole = self.progress(source, channel, target)
            return got / whole if whole and got >= share * whole else None
        reached = wait(far_enough, "%s has %g of the object" % (target, share), limit)
        check(reached < 1, "%s was complete before anything could happen to it" % target)
        return reached


# ---- comparing ----

def write_pattern(out, length, seed):
    """length bytes that repeat nowhere near and depend on the seed."""
    block = hashlib.sha256(repr(seed).encode()).digest() * 2048  # 64 KiB
    count = 0
    while length > 0:
        head = count.to_bytes(8, "big")
        piece = (head + block[8:])[:length]
        out.write(piece)
        length -= len(piece)
        count += 1


def digest_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for piece in iter(lambda: file.read(1 << 20), b""):
            digest.update(piece)
    return digest.digest()


def assert_same(a, b):
    """Same type, permission bits, modification time, content, names, link targets; recursively."""
    a, b = os.fsencode(a), os.fsencode(b)
    sa, sb = os.lstat(a), _lstat(b)
    check(sb is not None, lambda: "%r is missing" % b)
    check(stat.S_IFMT(sa.st_mode) == stat.S_IFMT(sb.st_mode), lambda: "%r is of another type" % b)
    if stat.S_ISLNK(sa.st_mode):
        check(os.readlink(a) == os.readlink(b), lambda: "%r points elsewhere" % b)
        return
    check(sa.st_mode & 0o777 == sb.st_mode & 0o777,
          lambda: "%r has mode %o, not %o" % (b, sb.st_mode & 0o777, sa.st_mode & 0o777))
    check(sa.st_mtime_ns == sb.st_mtime_ns,
          lambda: "%r has mtime %d, not %d" % (b, sb.st_mtime_ns, sa.st_mtime_ns))
    if stat.S_ISDIR(sa.st_mode):
        names, others = sorted(os.listdir(a)), sorted(os.listdir(b))
        check(names == others, lambda: "%r holds %s, not %s" % (b, others, names))
        for name in names:
            assert_same(os.path.join(a, name), os.path.join(b, name))
        return
    check(sa.st_size == sb.st_size, lambda: "%r has %d bytes, not %d" % (b, sb.st_size, sa.st_size))
    check(digest_of(a) == digest_of(b), lambda: "%r has another content" % b)


def _lstat(path):
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


# ---- running ----

TIMED_ATTEMPTS = 3


def timed(test):
    """For tests that hold a time against a bound: whatever else the machine does only makes times
    longer, so the bound has to hold in one of a few attempts, and each failure is shown."""
    test.attempts = TIMED_ATTEMPTS
    return test


def run_test(name, test):
    attempts = getattr(test, "attempts", 1)
    for attempt in range(1, attempts + 1):
        begun = time.monotonic()
        try:
            test()
            print("ok    %s (%.1f s)" % (name, time.monotonic() - begun), flush=True)
            return True
        except Exception:  # pylint: disable=broad-except
            print("FAIL  %s (%.1f s, attempt %d of %d)" %
                  (name, time.monotonic() - begun, attempt, attempts), flush=True)
            traceback.print_exc()
    return False


def main(names):
    """Runs the functions test_* (or those named on the command line); the exit status says how."""
    if not os.access(GATEWAYD, os.X_OK) or not os.access(GMCAST, os.X_OK):
        print("gatewayd or gmcast is not built here")
        sys.exit(SKIP)
    signal.signal(signal.SIGTERM, _on_signal)
    signal.signal(signal.SIGINT, _on_signal)
    tests = [(name, test) for name, test in names.items() if name.startswith("test_")]
    wanted = sys.argv[1:]
    failed = [name for name, test in tests
              if (not wanted or name in wanted) and not run_test(name, test)]
    if failed:
        print("failed: %s\nrepeat: %s %s" % (", ".join(failed), sys.argv[0], failed[0]))
    sys.exit(1 if failed else 0)
