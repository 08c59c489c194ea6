# SPDX-License-Identifier: BSD-2-Clause
"""A grid whose gateways have a network of their own each, and a wire to a router in the middle that
can be cut without a word. The router is this process's network."""

import os
import shutil
import subprocess
import sys

import lib


def _run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    lib.check(done.returncode == 0, lambda: "%s: %s" % (" ".join(words), done.stderr))


def enter():
    """Goes on in a private network and mount namespace, both of which end with the test; exits as
    skipped where that cannot be."""
    if os.environ.get("GMC_IN_NAMESPACE"):
        _run("mount", "--make-rprivate", "/")
        os.makedirs("/run/netns", exist_ok=True)
        _run("mount", "-t", "tmpfs", "none", "/run/netns")
        _run("ip", "link", "set", "lo", "up")
        with open("/proc/sys/net/ipv4/ip_forward", "w") as forward:
            forward.write("1")
        return
    if not shutil.which("unshare") or not shutil.which("nsenter") or not shutil.which("ip"):
        skip("needs unshare, nsenter and ip")
    unshare = ["unshare", "--net", "--mount"] + (["-r"] if os.geteuid() != 0 else [])
    trial = "mkdir -p /run/netns && mount -t tmpfs none /run/netns && ip netns add t && " \
            "ip link add v type veth peer name w netns t && ip rule add pref 9 iif v blackhole"
    done = subprocess.run([*unshare, "sh", "-c", trial], capture_output=True, text=True)
    if done.returncode != 0:
        skip("needs network namespaces: " + done.stderr.strip())
    os.environ["GMC_IN_NAMESPACE"] = "1"
    os.execvp(unshare[0], [*unshare, sys.executable, *sys.argv])


def skip(why):
    print("skipped: " + why)
    sys.exit(lib.SKIP)


class WiredGrid(lib.Grid):
    """Domain number i is 10.77.i.2 behind the router's 10.77.i.1."""

    def __init__(self, names, **options):
        super().__init__(names, start=False, **options)
        self.cut_off = set()
        try:
            for i, name in enumerate(names):
                self._wire(i, name)
            self.start()
        except BaseException:
            self.close()
            raise

    def _wire(self, i, name):
        domain = self[name]
        domain.host = "10.77.%d.2" % i
        domain.subnet = "10.77.%d.0/30" % i
        domain.wire = "wire-" + name
        domain.options["prefix"] = ["nsenter", "--net=/run/netns/" + name]
        _run("ip", "netns", "add", name)
        _run("ip", "link", "add", domain.wire, "type", "veth", "peer", "name", "eth0", "netns",
             name)
        _run("ip", "address", "add", "10.77.%d.1/30" % i, "dev", domain.wire)
        _run("ip", "link", "set", domain.wire, "up")
        for words in (("address", "add", domain.host + "/30", "dev", "eth0"),
                      ("link", "set", "eth0", "up"), ("link", "set", "lo", "up"),
                      ("route", "add", "default", "via", "10.77.%d.1" % i)):
            _run("ip", "-n", name, *words)

    def cut(self, name):
        """The router drops all that comes from there and goes there; nobody is told."""
        self._rules("add", self[name])
        self.cut_off.add(name)

    def mend(self, name):
        self._rules("del", self[name])
        self.cut_off.remove(name)

    @staticmethod
    def _rules(verb, domain):
        _run("ip", "rule", verb, "pref", "10", "iif", domain.wire, "blackhole")
        _run("ip", "rule", verb, "pref", "11", "to", domain.subnet, "blackhole")

    def close(self):
        super().close()
        for name in list(self.cut_off):
            self.mend(name)  # the rules go by names and addresses, which the next grid has too
        for name in self.domains:
            # A namespace takes its end of the wire along, but not at once.
            subprocess.run(["ip", "link", "del", "wire-" + name], capture_output=True)
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
