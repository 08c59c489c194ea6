#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""gatewayd itself: configuration and reload, certificates, ways to connect, privileges, the end,
recordings."""

import glob
import os
import pwd
import shutil
import signal
import socket
import struct
import subprocess

import lib

SEEDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz", "corpus", "fuzz_gwd_replay")


def run_gatewayd(domain, *arguments):
    domain.write_conf()
    return subprocess.run([lib.GATEWAYD, "-c", domain.conf_path, *arguments], capture_output=True,
                          text=True, timeout=20)


def said(domain, words, limit=20):
    lib.wait(lambda: words in domain.log(), lambda: "%s says '%s'" % (domain.name, words), limit)


def peer_of(grid, at, other):
    for peer in grid[at].peers()["peers"]:
        if peer["domain"] == grid.dns(other):
            return peer
    return {"up": False}


def test_check():
    with lib.Grid("ab", start=False) as grid:
        done = run_gatewayd(grid["a"], "-T")
        lib.check(done.returncode == 0, done.stderr)
        grid["a"].options["top"] = 'cash = 64M\nworkers = none'
        os.unlink(grid["a"].certificate)
        done = run_gatewayd(grid["a"], "-T")
        lib.check(done.returncode == 1, "a bad file is taken")
        lib.check("conf:10: unknown option 'cash'; did you mean 'cache'?" in done.stderr and
                  "conf:11: 'none' is not right for 'workers'" in done.stderr, done.stderr)
        grid["a"].options["top"] = ""
        done = run_gatewayd(grid["a"], "-T")
        lib.check("conf:12: tls: certificate:" in done.stderr, done.stderr)
        done = run_gatewayd(grid["a"], "--defaults")
        lib.check('# patience = "30s"' in done.stdout, done.stdout)


def test_reload_and_removal():
    with lib.Grid("abc", rate="100M") as grid:
        grid.write("a", "x", 20 << 20)
        running = grid.begin("a", ["x"], "b")
        grid.wait_share("a", running.channel(), "b", 0.1)
        # A bad file is refused, and says so; nothing changes.
        grid["a"].options["top"] = "log = loud"
        grid["a"].reload()
        said(grid["a"], "configuration.kept")
        lib.check("'loud' is not right for 'log'" in grid["a"].log(), grid["a"].log)
        # A good one that takes a peer away: its session ends, the transfer does not notice.
        grid["a"].options["top"] = "workers = 3"
        grid["a"].options["unknown"] = "c"
        grid["a"].reload()
        said(grid["a"], "configuration.reloaded")
        lib.check("options=workers" in grid["a"].log(), grid["a"].log)
        result = grid.stage("a", ["x"], ["c.test"])
        result.expect("failed")
        running.wait().expect("complete")
        grid.same("a", "x", "b", "x")
        # And one that brings it back.
        grid["a"].options["unknown"] = ""
        grid["a"].reload()
        lib.wait(lambda: grid["a"].log().count("configuration.reloaded") == 2, "a second reload")
        grid.stage("a", ["x"], "c").expect("complete")


def test_another_key():
    """In mid-transfer: what runs stays signed with the old key, also to a domain that is added then,
    and to one that is started anew; both see the new key in their sessions."""
    with lib.Grid("abc", rate="30M") as grid:
        a = grid["a"]
        grid.write("a", "x", 40 << 20)
        grid.write("a", "y", 100000)
        running = grid.begin("a", ["x"], "b")
        grid.wait_share("a", running.channel(), "b", 0.1)
        # A pair that does not fit is refused; the old one stays.
        shutil.copy(a.key, a.key + ".kept")
        shutil.copy(grid["b"].key, a.key)
        a.reload()
        said(a, "configuration.kept")
        lib.check("tls: key: %s does not belong to" % a.key in a.log(), a.log)
        os.replace(a.key + ".kept", a.key)
        grid.issue(a)
        a.reload()
        said(a, "key.changed")
        a.gmcast("add", running.channel(), "--to", "c")
        got, whole = grid.progress("a", running.channel(), "b")
        lib.check(got < whole, "it was complete before its session ended")
        grid["b"].kill()
        grid["b"].start()
        running.wait().expect("complete")
        for name in "bc":
            grid.same("a", "x", name, "x")
        grid.stage("a", ["y"], "bc").expect("complete")


def test_revoked_while_running():
    with lib.Grid("abc", rate="100M") as grid:
        grid.write("a", "x", 20 << 20)
        running = grid.begin("a", ["x"], "bc", "--tree", "flat")
        grid.wait_share("a", running.channel(), "c", 0.1)
        grid.revoke("c")
        for name in "ab":
            grid[name].reload()
        said(grid["a"], "certificate revoked")
        result = running.wait().expect("partial")
        lib.check("revoked" in result.domain("c.test")["reason"], lambda: str(result))
        grid.same("a", "x", "b", "x")
        grid.absent("c", "x")
        said(grid["c"], "revoked")


def test_strange_certificates():
    with lib.Grid("abc") as grid:
        other = os.path.join(grid.path, "other")
        grid._run_ca("init", other, "--name", "Another CA")
        grid["c"].stop()
        grid.issue(grid["c"], other)
        grid["c"].start()
        grid.write("a", "x", 100000)
        result = grid.stage("a", ["x"], "bc").expect("partial")
        lib.check("refused" in result.domain("c.test")["reason"], lambda: str(result))
        said(grid["a"], "unable to get local issuer certificate")
        said(grid["c"], "refuses our certificate")
        grid.same("a", "x", "b", "x")
        # A certificate of somebody else.
        grid["c"].stop()
        shutil.copy(grid["b"].certificate, grid["c"].certificate)
        shutil.copy(grid["b"].key, grid["c"].key)
        done = run_gatewayd(grid["c"])
        lib.check(done.returncode == 1 and "is not in the certificate" in done.stderr, done.stderr)


def test_ways_to_connect():
    with lib.Grid("ab", start=False) as grid:
        # b can only dial out; a waits for it.
        grid["a"].options["peer"] = {"b": "  connect = in"}
        grid["a"].options["no_address"] = "b"
        grid["b"].options["peer"] = {"a": "  connect = out"}
        grid.start()
        lib.wait(lambda: peer_of(grid, "a", "b")["up"], "b connected by itself")
        grid.write("a", "x", 3 << 20)
        grid.stage("a", ["x"], "b").expect("complete")
        grid.write("b", "y", 3 << 20)
        grid.stage("b", ["y"], "a").expect("complete")
        lib.check("dialled=here" not in grid["a"].log(), grid["a"].log)
        # It comes back after either side was away.
        grid["a"].kill()
        grid["a"].start()
        lib.wait(lambda: peer_of(grid, "a", "b")["up"], "b connected again")
        grid["b"].kill()
        grid["b"].start()
        grid.write("a", "z", 100)
        grid.stage("a", ["z"], "b").expect("complete")


def test_transports():
    for transport in ("tcp", "udp", "auto"):
        with lib.Grid("abc", peers="  transport = " + transport) as grid:
            grid.write("a", "x", 8 << 20)
            grid.stage("a", ["x"], "bc", "--tree", "chain").expect("complete")
            for name in "bc":
                grid.same("a", "x", name, "x")
            path = peer_of(grid, "a", "b")["path"]
            lib.check((path == "udp") == (transport != "tcp"), "path is " + path)


RECORD_STORED, RECORD_RANDOM, RECORD_SIGN, RECORD_DRAIN = 7, 13, 14, 17  # gatewayd/record.h


def largest_records(path):
    """Of each kind: where its largest record's bytes end, and how many they are."""
    largest = {}
    with open(path, "rb") as file:
        file.readline()
        while len(head := file.read(13)) == 13:
            kind, _, length = struct.unpack(">BQI", head)
            end = file.seek(length, os.SEEK_CUR)
            if length > largest.get(kind, (0, 0))[1]:
                largest[kind] = (end, length)
    return largest


def flip(path, where):
    with open(path, "r+b") as file:
        file.seek(where)
        byte = file.read(1)
        file.seek(where)
        file.write(bytes([byte[0] ^ 1]))


def test_recording_plays_again():
    with lib.Grid("abc", start=False) as grid:
        for domain in grid.domains.values():
            domain.options["arguments"] = ["--record", os.path.join(domain.path, "recording")]
        grid.start()
        grid.write("a", "x", 3 << 20)
        grid.stage("a", ["x"], "bc", "--tree", "chain").expect("complete")
        grid.stage("a", ["x"], "b").expect("partial")
        for name, domain in grid.domains.items():
            lib.check(domain.stop() == 0, domain.log)
            path = os.path.join(domain.path, "recording")
            lib.check(os.stat(path).st_mode & 0o777 == 0o600, "others may read a recording")
            replay = os.path.join(lib.BUILD, "tools", "gmcast-replay")
            done = subprocess.run([replay, path], capture_output=True, text=True, timeout=60)
            lib.check(done.returncode == 0 and "same outputs" in done.stdout,
                      done.stdout + done.stderr)
            # A changed byte is found where outputs depend on it: of what was drawn or sent, and at
            # the source what was read or signed. (A fragment that came twice is none of these.)
            records = largest_records(path)
            kinds = [RECORD_RANDOM, RECORD_DRAIN]
            if name == "a":
                kinds += [RECORD_STORED, RECORD_SIGN]
            for kind in kinds:
                end, _ = records[kind]
                flip(path, end - 1)
                done = subprocess.run([replay, path], capture_output=True, text=True, timeout=60)
                lib.check(done.returncode == 1, "a changed record of kind %d at %s is taken for the "
                          "same: %s" % (kind, name, done.stdout + done.stderr))
                flip(path, end - 1)
            recordings_that_end(replay, path)
        seeds = glob.glob(os.path.join(SEEDS, "*"))
        lib.check(len(seeds) > 10, "there are no seeds in %s" % SEEDS)
        for seed in seeds:
            done = subprocess.run([replay, seed], capture_output=True, text=True, timeout=60)
            lib.check(os.path.basename(seed) == "other_file" or
                      "not a recording of this version" not in done.stdout + done.stderr,
                      "%s teaches a fuzzer nothing" % seed)


def recordings_that_end(replay, path):
    """One of a gateway that was killed ends inside of a record; one whose lengths or kinds are wrong
    is damaged, which is told from that."""
    def replayed(content):
        with open(path + ".spoilt", "wb") as out:
            out.write(content)
        done = subprocess.run([replay, path + ".spoilt"], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout
    with open(path, "rb") as file:
        whole = file.read()
    half = len(whole) // 2
    for size in range(half, half + 20):
        status, said = replayed(whole[:size])
        lib.check(status == 0 and "same outputs" in said, "cut at %d: %s" % (size, said))
    lib.check("its gateway was killed" in replayed(whole[:-1])[1], "a cut is not said")
    for spoilt, words in ((b"\x01" + bytes(8) + b"\xff" * 4, "longer than any record"),
                          (b"\xee" + bytes(12), "no known kind"), (bytes(13), "no known kind")):
        status, said = replayed(whole + spoilt)
        lib.check(status == 1 and words in said, said)


def test_stop_and_start_in_the_middle():
    with lib.Grid("ab", rate="100M") as grid:
        grid.write("a", "x", 20 << 20)
        running = grid.begin("a", ["x"], "b")
        grid.wait_share("a", running.channel(), "b", 0.2)
        lib.check(grid["b"].stop() == 0, grid["b"].log)
        lib.check("unwritten=0" in grid["b"].log(), grid["b"].log)
        grid.absent("b", "x")
        grid["b"].start()
        running.wait().expect("complete")
        grid.same("a", "x", "b", "x")
        grid.nothing_left("b")
        # Asked twice it ends at once, whatever it does.
        process = grid["b"].process
        grid["b"].freeze()
        grid["b"].signal(signal.SIGTERM)
        grid["b"].signal(signal.SIGINT)
        grid["b"].thaw()
        lib.check(process.wait(10) in (0, 1), "does not end")
        grid["b"].process = None


def test_sockets_after_a_crash():
    with lib.Grid("a") as grid:
        second = subprocess.run([lib.GATEWAYD, "-c", grid["a"].conf_path], capture_output=True,
                                text=True, timeout=20)
        lib.check(second.returncode == 1 and "ss -tulnp" in second.stderr, second.stderr)
        grid["a"].gmcast("peers")
        grid["a"].kill()
        lib.check(os.path.exists(os.path.join(grid["a"].path, "c")), "no stale socket to test with")
        grid["a"].start()
        lib.check(grid["a"].stop() == 0, grid["a"].log)
        lib.check(not os.path.exists(os.path.join(grid["a"].path, "c")), "its socket is left")


def test_one_daemon_for_each_state():
    with lib.Grid("ab", start=False) as grid:
        grid["b"].state = grid["a"].state
        grid["a"].start()
        grid["b"].start(wait_ready=False)
        lib.check(grid["b"].process.wait(20) == 1, "two run on one state directory")
        lib.check("is in use by another daemon" in grid["b"].log(), grid["b"].log)
        grid["a"].kill()
        grid["b"].process = None
        grid["b"].start()


def test_says_when_ready():
    with lib.Grid("a", start=False) as grid:
        path = os.path.join(grid.path, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.bind(path)
            notify.settimeout(20)
            os.environ["NOTIFY_SOCKET"] = path
            try:
                grid["a"].start(wait_ready=False)
            finally:
                del os.environ["NOTIFY_SOCKET"]
            lib.check(notify.recv(100) == b"READY=1", "is not ready")
            grid["a"].gmcast("peers")
            grid["a"].stop()
            lib.check(notify.recv(100) == b"STOPPING=1", "does not say that it stops")


def test_root_may_not_write():
    # In a chroot that is no mount, root has no mount namespace either.
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        print("needs root and mount namespaces")
        return
    with lib.Grid("a", start=False) as grid:
        grid["a"].write_conf()
        there = grid["a"].state
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o ro none "$0" && exec "$@"', there,
             lib.GATEWAYD, "-T", "-c", grid["a"].conf_path],
            capture_output=True, text=True, timeout=20)
        lib.check("state: user root may not write to" in done.stderr, done.stderr)


def test_privileges():
    if os.geteuid() != 0:
        print("needs root")
        return
    nobody = pwd.getpwnam("nobody")
    with lib.Grid("ab", start=False, top='user = "nobody"') as grid:
        done = run_gatewayd(grid["a"], "-T")
        for what in ("state", 'receive "b.test"'):
            lib.check(what + ": user nobody may not write to" in done.stderr, done.stderr)
        lib.check(done.returncode == 1, "a folder that cannot be written is taken")
        for domain in grid.domains.values():
            for path in (domain.state, domain.incoming, domain.data, domain.path):
                os.chown(path, nobody.pw_uid, nobody.pw_gid)
            os.chmod(grid.path, 0o755)
        grid.start()
        for domain in grid.domains.values():
            with open("/proc/%d/status" % domain.process.pid) as status:
                lines = dict(line.split(":", 1) for line in status)
            lib.check(lines["Uid"].split() == [str(nobody.pw_uid)] * 4, lines["Uid"])
            lib.check(lines["Gid"].split() == [str(nobody.pw_gid)] * 4, lines["Gid"])
            lib.check(int(lines["CapEff"], 16) == 0, lines["CapEff"])
        grid.write("a", "x", 1000000, mode=0o644)
        grid.stage("a", ["x"], "b").expect("complete")
        owner = os.stat(grid.incoming("b", "x")).st_uid
        lib.check(owner == nobody.pw_uid, "written by %d" % owner)
        # What it may not read it says.
        grid.write("a", "secret", b"s", mode=0o600)
        result = grid.stage("a", ["secret"], "b").expect("failed")
        lib.check("Permission denied" in str(result), lambda: str(result))


def test_idle_is_small():
    if not lib.counts_memory():
        print("a sanitizer's memory is not counted")
        return
    with lib.Grid("ab") as grid:
        for domain in grid.domains.values():
            size = domain.resident_bytes()
            lib.check(size < 20e6, "an idle gateway has %d bytes resident" % size)


lib.main(globals())
