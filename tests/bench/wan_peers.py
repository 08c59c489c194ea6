# SPDX-License-Identifier: BSD-2-Clause
"""What others need for the same object over the same emulated wires, as their manuals advise. They
send to all six at once; the BitTorrent swarm of aria2 relays, the others have no relays."""

import contextlib
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "emulate"))
import emu  # noqa: E402
import lib  # noqa: E402
import wan_stage  # noqa: E402
import wan_torrent  # noqa: E402

PORT = 5300


def folder_of(hosts, peer, name):
    path = os.path.join(hosts.directory, peer, name)
    os.makedirs(path)
    return path


def wait_port(hosts, name, port):
    def listens():
        lines = subprocess.run(hosts.at(name, "cat", "/proc/net/tcp", "/proc/net/tcp6"),
                               capture_output=True, text=True).stdout
        return ":%04X " % port in lines
    lib.wait(listens, "a server at " + name)


def rsync(hosts, path, start):
    """Daemons at the receivers; --whole-file, since there is nothing to compare with."""
    for name in wan_stage.RECEIVERS:
        folder = folder_of(hosts, "rsync", name)
        conf = folder + ".conf"
        with open(conf, "w") as out:
            out.write("port = %d\nuse chroot = no\nuid = root\ngid = root\n[in]\npath = %s\n"
                      "read only = no\n" % (PORT, folder))
        start(hosts.at(name, "rsync", "--daemon", "--no-detach", "--config=" + conf))
    for name in wan_stage.RECEIVERS:
        wait_port(hosts, name, PORT)
    return [["rsync", "--whole-file", path, "rsync://%s:%d/in/" % (hosts.address(name), PORT)]
            for name in wan_stage.RECEIVERS]


def globus(hosts, path, start):
    """-fast, four parallel streams, buffers of the bandwidth-delay product."""
    commands = []
    for name in wan_stage.RECEIVERS:
        folder = folder_of(hosts, "globus-url-copy", name)
        os.chmod(folder, 0o777)
        start(hosts.at(name, "globus-gridftp-server", "-aa", "-anonymous-user", "root", "-p", PORT,
                       "-control-interface", hosts.address(name), "-data-interface",
                       hosts.address(name), "-auth-level", "0", "-threads", "1"))
        commands.append(["globus-url-copy", "-fast", "-p", "4", "-tcp-bs", "1M", "file://" + path,
                         "ftp://%s:%d%s/object" % (hosts.address(name), PORT, folder)])
    for name in wan_stage.RECEIVERS:
        wait_port(hosts, name, PORT)
    return commands


def uftp(hosts, path, start):
    """One session per receiver, since no WAN carries groups; the wire's rate is known (-R)."""
    commands = []
    for i, name in enumerate(wan_stage.RECEIVERS):
        folder = folder_of(hosts, "uftp", name)
        start(hosts.at(name, "uftpd", "-d", "-D", folder, "-p", PORT, "-I", "wan0"))
        commands.append(["uftp", "-R", "95000", "-p", str(PORT), "-U", str(i + 1), "-P",
                         hosts.address(name), "-M", hosts.address(name), path])
    return commands


def aria2(hosts, path, start):
    """A swarm: the source seeds, and receivers get pieces from one another until they have all."""
    source = hosts.address(hosts.own)
    torrent = os.path.join(hosts.directory, "object.torrent")
    common = ["aria2c", "--listen-port=%d" % PORT, "--enable-dht=false", "--file-allocation=none",
              "--bt-tracker-connect-timeout=5"]
    tracker = wan_torrent.Tracker(source, PORT + 1)
    wan_torrent.write_torrent(path, "http://%s:%d/announce" % (source, PORT + 1), torrent)
    start([*common, "--dir=" + os.path.dirname(path), "--bt-seed-unverified=true",
           "--seed-ratio=0.0", torrent])
    lib.wait(lambda: 0 in tracker.peers.values(), "the seed")
    return [hosts.at(name, *common, "--dir=" + folder_of(hosts, "aria2c", name), "--seed-time=0",
                     torrent)
            for name in wan_stage.RECEIVERS]


PEERS = {"rsync": rsync, "uftp": uftp, "aria2c": aria2, "globus-url-copy": globus}
# The law of TCP belongs to the host, so what may be chosen is tried.
VARIANTS = (("rsync", "cubic"), ("rsync", "bbr"), ("globus-url-copy", "cubic"),
            ("globus-url-copy", "bbr"), ("aria2c", "cubic"), ("aria2c", "bbr"), ("uftp", None))


def laws():
    """Those that a namespace may have as its default."""
    with open("/proc/sys/net/ipv4/tcp_allowed_congestion_control") as file:
        return file.read().split()


def installed():
    """[(program, law)] of what can be measured here."""
    return [(peer, law) for peer, law in VARIANTS
            if shutil.which(peer) and (law is None or law in laws())]


def set_law(hosts, law):
    for name in hosts.names:
        subprocess.run(hosts.at(name, "sysctl", "-q", "-w",
                                "net.ipv4.tcp_congestion_control=" + law), check=True)


@emu.inside
def copy(hosts, peer, law, path, limit):
    """Seconds until all receivers have the object; None: not within the limit, or not at all."""
    if law is not None:
        set_law(hosts, law)
    with contextlib.ExitStack() as stack:
        def start(words):
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.kill)
        commands = PEERS[peer](hosts, path, start)
        begin = time.monotonic()
        running = [subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL) for words in commands]
        in_time = True
        for process in running:
            try:
                process.wait(max(0.1, begin + limit - time.monotonic()))
            except subprocess.TimeoutExpired:
                in_time = False
                process.kill()
                process.wait()
        seconds = time.monotonic() - begin
    if not in_time:  # a file may have its size before it has all of its pieces
        return None
    for name in wan_stage.RECEIVERS:
        folder = os.path.join(hosts.directory, peer, name)
        sizes = [os.path.getsize(os.path.join(folder, one)) for one in os.listdir(folder)]
        if os.path.getsize(path) not in sizes:
            return None
    return seconds


def measure(variant, topology, loss, size, limit):
    result = emu.run(wan_stage.topology(topology, loss), copy, *variant,
                     wan_stage.make_object(size), limit, limit=limit + 60)
    return result.value
