# SPDX-License-Identifier: BSD-2-Clause
"""A domain's local network: a gateway and its nodes on a bridge, a network namespace each, ports that
can be shaped and lose packets; and a source domain on a wire of its own to the gateway.

    wires.enter()
    with lan.LanGrid(["n1", "n2"], rate="200mbit", loss=0.05) as grid:
        grid.stage("s", [...], "g")

With branch = ["n3"] that node is on a bridge of its own, and this process's namespace, where both bridges
are, routes between the two: multicast does not pass. With it everything ends.
"""

import json
import os
import shutil
import subprocess

import lib
import wires

SOURCE, GATEWAY = "s", "g"
PREFIX = "10.78.1."  # of the bridge; the wire of the source is 10.78.2
BRANCH = "10.78.3."
ROUTER = "254"
PREFIX6 = "fd78::"
# What a port holds beyond its rate: 10 ms, as switches have at 200 Mbit/s and more.
QUEUE_SECONDS = 0.010
BURST = 70000  # bytes: what the kernel's segmentation makes packets of goes through in one piece


def run(*words, stdin=None):
    done = subprocess.run(words, capture_output=True, text=True, input=stdin, check=False)
    lib.check(done.returncode == 0, lambda: "%s: %s" % (" ".join(words), done.stderr))
    return done.stdout


def inside(name, *words):
    """What runs this command in the namespace of a host."""
    return ["nsenter", "--net=/run/netns/" + name, *words]


class Lan:
    """Hosts on a bridge, named; PREFIX + "1" is the first. Those of `branch` are on another one."""

    def __init__(self, names, rate_bps=None, branch=()):
        self.names = list(names)
        self.rate_bps = rate_bps
        self.branch = set(branch)
        self._bridge("lan0", PREFIX)
        try:
            if branch:
                self._bridge("lan1", BRANCH)
                with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="ascii") as forward:
                    forward.write("1")
            for i, name in enumerate(self.names):
                self._plug(i + 1, name)
        except BaseException:
            self.close()
            raise

    def _bridge(self, device, prefix):
        for table in ("iptables", "ip6tables"):  # a switch filters nothing
            path = "/proc/sys/net/bridge/bridge-nf-call-" + table
            if os.path.exists(path):
                with open(path, "w", encoding="ascii") as call:
                    call.write("0")
        run("ip", "link", "add", device, "type", "bridge", "mcast_snooping", "0")
        run("ip", "address", "add", prefix + ROUTER + "/24", "dev", device)
        run("ip", "link", "set", device, "up")

    def _prefix(self, name):
        return BRANCH if name in self.branch else PREFIX

    def address(self, name):
        return self._prefix(name) + str(self.names.index(name) + 1)

    def address6(self, name):
        return PREFIX6 + "%x" % (self.names.index(name) + 1)

    def joined(self, name, is_ipv6):
        """(group, source) of each source-specific join at a host, in hexadecimal digits."""
        table = run(*inside(name, "cat", "/proc/net/mcfilter" + ("6" if is_ipv6 else "")))
        return [tuple(word.removeprefix("0x") for word in line.split()[2:4])
                for line in table.splitlines()[1:]]

    def _plug(self, number, name):
        port = "port-" + name
        run("ip", "netns", "add", name)
        run("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
        prefix = self._prefix(name)
        run("ip", "link", "set", port, "master", "lan1" if name in self.branch else "lan0", "up")
        for words in (("address", "add", "%s%d/24" % (prefix, number), "brd", "+", "dev", "eth0"),
                      ("address", "add", "%s%x/64" % (PREFIX6, number), "dev", "eth0", "nodad"),
                      ("link", "set", "eth0", "up"), ("link", "set", "lo", "up"),
                      ("route", "add", "224.0.0.0/4", "dev", "eth0"),
                      ("route", "add", "10.78.0.0/16", "via", prefix + ROUTER)):
            run("ip", "-n", name, *words)
        if self.rate_bps:
            self._shape(["tc"], port)
            self._shape(["tc", "-n", name], "eth0")

    def _each_datagram(self, name):
        """By itself over the wire: a lost super-packet would be many datagrams."""
        run("ip", "-n", name, "link", "set", "eth0", "gso_max_segs", "1")
        run("ip", "link", "set", "port-" + name, "gso_max_segs", "1")

    def set_mtu(self, bytes_):
        """Of all ports, before daemons start."""
        for name in self.names:
            run("ip", "-n", name, "link", "set", "eth0", "mtu", str(bytes_))
            run("ip", "link", "set", "port-" + name, "mtu", str(bytes_))

    def _shape(self, tc, device):
        run(*tc, "qdisc", "add", "dev", device, "root", "tbf", "rate", "%dbit" % self.rate_bps,
            "burst", str(BURST), "limit", str(int(self.rate_bps / 8 * QUEUE_SECONDS) + BURST))

    def rules(self, name, *lines):
        """Puts these nftables rules before what comes in at a host, in place of earlier ones."""
        table = "table inet test\ndelete table inet test\n"
        if lines:
            table += "table inet test {\nchain in {\ntype filter hook input priority 0\n%s\n}\n}\n" % \
                "\n".join(lines)
        run(*inside(name, "nft", "-f", "-"), stdin=table)

    def lose(self, name, share):
        """Each datagram by itself, as it comes in; 0 for none."""
        if share:
            for each in self.names:
                self._each_datagram(each)
        self.rules(name, *(["meta l4proto udp numgen random mod 1000 < %d drop" %
                            round(share * 1000)] if share else []))

    def sent_bytes(self, name):
        """By the host into the bridge."""
        stats = json.loads(run("ip", "-n", name, "-j", "-s", "link", "show", "eth0"))
        return stats[0]["stats64"]["tx"]["bytes"]

    def close(self):
        for name in self.names:
            # A namespace takes its end of the wire along, but not at once.
            subprocess.run(["ip", "link", "del", "port-" + name], capture_output=True, check=False)
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
        for device in ("lan0", "lan1"):
            subprocess.run(["ip", "link", "del", device], capture_output=True, check=False)


class LanGrid(lib.Grid):
    """Domain s with the data, domain g with these nodes."""

    def __init__(self, nodes, rate_bps=None, start=True, branch=(), **options):
        super().__init__([SOURCE, GATEWAY], start=False, nodes={GATEWAY: nodes}, **options)
        self.nodes = list(nodes)
        self.lan = None
        try:
            self.lan = Lan([GATEWAY, *nodes], rate_bps, branch)
            for name in [GATEWAY, *nodes]:
                self[name].host = self.lan.address(name)
                self[name].options["prefix"] = inside(name)
            self._wire_source()
            if start:
                self.start()
        except BaseException:
            self.close()
            raise

    def _wire_source(self):
        run("ip", "netns", "add", SOURCE)
        run("ip", "-n", SOURCE, "link", "add", "eth0", "type", "veth", "peer", "name", "wan0",
            "netns", GATEWAY)
        for name, device, address in ((SOURCE, "eth0", "10.78.2.1"), (GATEWAY, "wan0", "10.78.2.2")):
            run("ip", "-n", name, "address", "add", address + "/24", "dev", device)
            run("ip", "-n", name, "link", "set", device, "up")
        run("ip", "-n", SOURCE, "link", "set", "lo", "up")
        run("ip", "-n", SOURCE, "route", "add", "default", "via", "10.78.2.2")
        self[SOURCE].host = "10.78.2.1"
        self[SOURCE].options["prefix"] = inside(SOURCE)

    def speak_ipv6(self):
        """All listen on an IPv6 address and nothing else; before they start."""
        for name, device, address in ((SOURCE, "eth0", "fd79::1"), (GATEWAY, "wan0", "fd79::2")):
            run("ip", "-n", name, "address", "add", address + "/64", "dev", device, "nodad")
        run("ip", "-n", SOURCE, "route", "add", PREFIX6 + "/64", "via", "fd79::2")
        self[SOURCE].host = "[fd79::1]"
        for name in self.lan.names:
            self[name].host = "[%s]" % self.lan.address6(name)

    def close(self):
        super().close()
        subprocess.run(["ip", "netns", "del", SOURCE], capture_output=True, check=False)
        if self.lan is not None:
            self.lan.close()


def enter():
    """As wires.enter(), and nft is needed."""
    wires.enter()
    if (shutil.which("nft") is None or
            subprocess.run(["nft", "list", "ruleset"], capture_output=True, check=False).returncode != 0):
        wires.skip("needs nft")
