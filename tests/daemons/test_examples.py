#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The example programs against real daemons, as they are built here and against what is installed."""

import atexit
import functools
import os
import shutil
import subprocess
import tempfile

import lib

SOURCES = os.path.join(os.environ.get("GMC_SRCDIR", "."), "examples")
CC = os.environ.get("CC", "cc").split()
STRICT = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror"]


class Example:
    """A program at a domain, and the lines that it prints."""

    def __init__(self, domain, *words):
        self.process = subprocess.Popen(list(words), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True,
                                        env={**os.environ, "GMCAST_GATEWAY": domain.control})

    def line(self):
        return self.process.stdout.readline().rstrip("\n")

    def finish(self):
        """All further lines; it has to end well."""
        try:
            out = self.process.communicate(timeout=lib.LIMIT)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise lib.Failure("not over: " + self.process.communicate()[0]) from None
        lib.check(self.process.returncode == 0, lambda: "exit %s: %s" % (self.process.returncode, out))
        return out.splitlines()


def built(name):
    path = os.path.join(lib.BUILD, "examples", name)
    lib.check(os.access(path, os.X_OK), path + " is not built")
    return path


def expect_messages(publisher, subscriber, count=3000):
    with lib.Grid("ab") as grid:
        reads = Example(grid["b"], subscriber, "numbers", "a")
        lib.check(reads.line() == "subscribed", "not subscribed")
        writes = Example(grid["a"], publisher, "numbers", str(count), "b")
        said = writes.finish()
        lib.check(said[-1].startswith("published %d, " % count), lambda: "said: %s" % said)
        lines = [reads.line() for _ in range(count + 1)]
        expected = ["a.test/numbers %d: message %d" % (i, i) for i in range(count)]
        lib.check(lines == expected + ["ended: all published"], lambda: "got %s" % lines[:3])
        lib.check(reads.finish() == [], "there is more")


def test_publisher_and_subscriber():
    expect_messages(built("publisher"), built("subscriber"))


def test_subscriber_quits():
    with lib.Grid("a") as grid:
        reads = Example(grid["a"], built("subscriber"), "silence")
        lib.check(reads.line() == "subscribed", "not subscribed")
        reads.process.stdin.write("quit\n")
        lib.check(reads.finish() == [], "it says something")


def measured(grid):
    watches = Example(grid["b"], built("sensor"), "watch", "volts")
    lib.check(watches.line() == "watching", "does not watch")
    Example(grid["a"], built("sensor"), "measure", "volts", "1500", "b").finish()
    values = [int(line) for line in watches.finish()]
    lib.check(values == sorted(values) and len(values) <= 40, "not some values: %s" % values)
    lib.check(values[-1] == 1500, "the newest is not the last: %s" % values)
    return values


def test_sensor():
    """All values take 1.5 s. Where a gateway got no processor for longer, which its link does not
    survive, the newest alone may be handed on: once more then."""
    with lib.Grid("ab") as grid:
        values = measured(grid)
        if len(values) < 3 and "nothing heard any more" in grid["a"].log() + grid["b"].log():
            values = measured(grid)
        lib.check(len(values) >= 3, "not some values: %s" % values)


def test_no_gateway():
    with lib.Grid("a", start=False) as grid:
        for words in (["publisher", "x", "1"], ["subscriber", "x"], ["sensor", "watch", "x"]):
            example = Example(grid["a"], built(words[0]), *words[1:])
            out = example.process.communicate(timeout=lib.LIMIT)[0]
            lib.check(example.process.returncode == 1 and "is gatewayd running?" in out, out)


# ---- against an installed tree ----

@functools.lru_cache(maxsize=None)
def installed():
    """(folder, flags by pkg-config) of what a development package holds; None with a reason."""
    if not shutil.which("pkg-config"):
        return None, "no pkg-config"
    if not lib.counts_memory():
        return None, "the library needs a sanitizer's runtime"
    folder = tempfile.mkdtemp(prefix="gmct-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    done = subprocess.run(["make", "-C", lib.BUILD, "DESTDIR=" + folder, "install-libLTLIBRARIES",
                           "install-gmcastincludeHEADERS", "install-pkgconfigDATA"],
                          capture_output=True, text=True, env=environment)
    lib.check(done.returncode == 0, lambda: done.stdout + done.stderr)
    for path, _, names in os.walk(folder):
        if "libgmcast.pc" in names:
            return folder, pkg_config(folder, path)
    raise lib.Failure("no libgmcast.pc in " + folder)


def pkg_config(folder, path):
    words = ["pkg-config", "--cflags", "--libs", "libgmcast"]
    done = subprocess.run(words, capture_output=True, text=True,
                          env={**os.environ, "PKG_CONFIG_PATH": path,
                               "PKG_CONFIG_SYSROOT_DIR": folder})
    lib.check(done.returncode == 0, lambda: done.stderr)
    flags = done.stdout.split()
    lib.check(any(flag.startswith("-I" + folder) for flag in flags), lambda: "flags: %s" % flags)
    return flags + ["-Wl,-rpath," + flag[2:] for flag in flags if flag.startswith("-L")]


def compile_example(compiler, name, folder, flags):
    program = os.path.join(folder, name)
    done = subprocess.run([*compiler, *STRICT, os.path.join(SOURCES, name + ".c"), "-o", program, *flags],
                          capture_output=True, text=True)
    lib.check(done.returncode == 0, lambda: done.stderr)
    return program


def test_installed():
    folder, flags = installed()
    if folder is None:
        print("skip  " + flags)
        return
    programs = [compile_example(CC, name, folder, flags)
                for name in ("publisher", "subscriber", "sensor")]
    expect_messages(*programs[:2], count=10)


def test_mpi():
    """Ranks of two clusters broadcast through two gateways; beside it MPI_Bcast over all."""
    folder, flags = installed()
    if folder is None or not shutil.which("mpicc") or not shutil.which("mpirun"):
        print("skip  " + (flags if folder is None else "no mpicc"))
        return
    program = compile_example(["mpicc"], "mpi_bcast", folder, flags)
    with lib.Grid("ab") as grid:
        # Ranks that wait let others run: there are more of them than cores.
        done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca",
                               "mpi_yield_when_idle", "1", "-n", "4", program, grid["a"].control,
                               grid["b"].control, "b", "5"],
                              capture_output=True, text=True, timeout=2 * lib.LIMIT)
        print(done.stdout)
        lib.check(done.returncode == 0 and "all ranks got the same" in done.stdout,
                  lambda: done.stdout + done.stderr)


if __name__ == "__main__":
    lib.main(globals())
