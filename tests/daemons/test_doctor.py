#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""gmcast doctor on loopback: what it says when all is well, of what is configured, of what limits, and
while no gateway runs. What a firewall does to links is in test_blocked.py."""

import json
import os
import socket
import subprocess

import lib

UNWELL = 5


def doctor(domain, *arguments, expect=(lib.COMPLETE, UNWELL)):
    """(exit status, findings) as programs get them."""
    code, out, errors = domain.gmcast("doctor", "--json", *arguments, check_status=False)
    lib.check(code in expect, lambda: "exit %d: %s%s" % (code, out, errors))
    findings = json.loads(out)
    for finding in findings:
        lib.check(set(finding) == {"check", "level", "subject", "value", "unit", "text", "advice"} and
                  finding["level"] in ("ok", "warn", "fail") and
                  (finding["unit"] is None) == (finding["value"] is None) and
                  (finding["level"] == "ok") == (finding["advice"] is None), str(finding))
    worst = any(finding["level"] == "fail" for finding in findings)
    lib.check((code == UNWELL) == worst, lambda: "exit %d of %s" % (code, out))
    return code, findings


def find(findings, check, subject=None):
    """The first of this kind."""
    for finding in findings:
        if finding["check"] == check and subject in (None, finding["subject"]):
            return finding
    raise lib.Failure("no %s of %s in %s" % (check, subject, json.dumps(findings, indent=1)))


def expect(findings, check, subject, level, words=""):
    found = find(findings, check, subject)
    lib.check(found["level"] == level and words in found["text"] + str(found["advice"]), str(found))
    return found


def test_all_is_well():
    with lib.Grid("abc") as grid:
        _, findings = doctor(grid["a"])
        expect(findings, "gateway", "a.test", "ok")
        expect(findings, "config", grid["a"].conf_path, "ok")
        lib.check(expect(findings, "certificate", grid["a"].certificate, "ok")["value"] >= 89,
                  str(findings))
        expect(findings, "certificate-name", "a.test", "ok")
        expect(findings, "crl", None, "ok")
        expect(findings, "port", "127.0.0.1:%d" % grid["a"].port, "ok")
        for name in "bc":
            domain = name + ".test"
            expect(findings, "session", domain, "ok", "dialled from")
            expect(findings, "path", domain, "ok", "over UDP")
            expect(findings, "udp-out", domain, "ok")
            expect(findings, "udp-in", domain, "ok")
            expect(findings, "mtu", domain, "ok")
        expect(findings, "limit", "a.test", "ok", "nothing is being sent")
        lib.check(all(finding["level"] != "fail" or finding["check"] == "storage"
                      for finding in findings), str(findings))
        # For people: a line each.
        out = grid["a"].gmcast("doctor", check_status=False)[1]
        lib.check(len(out.splitlines()) >= len(findings) - 2 and
                  "ok    session" in out and "over UDP" in out, out)


def test_who_is_looked_at():
    with lib.Grid("abc") as grid:
        _, findings = doctor(grid["a"], "b")  # an alias
        expect(findings, "session", "b.test", "ok")
        lib.check(not [f for f in findings if f["subject"] == "c.test"], str(findings))
        find(findings, "certificate")  # the host is looked at as well
        _, findings = doctor(grid["a"], "c.test", "b.test")
        find(findings, "session", "c.test")
        for name, words in (("nowhere", 'a.test knows no domain "nowhere"'),
                            ("a.test", "is this domain itself")):
            code, out, errors = grid["a"].gmcast("doctor", "--json", name, check_status=False)
            lib.check(code == lib.REFUSED and words in errors and out == "", out + errors)


def test_a_neighbour_is_down():
    with lib.Grid("ab", start=False) as grid:
        grid["a"].start()
        code, findings = doctor(grid["a"])
        lib.check(code == UNWELL, str(findings))
        expect(findings, "session", "b.test", "fail", "start gatewayd there")
        # It comes: the next look dials it.
        grid["b"].start()
        _, findings = doctor(grid["a"])
        expect(findings, "session", "b.test", "ok")
        expect(findings, "path", "b.test", "ok", "over UDP")


def test_only_one_side_dials():
    with lib.Grid("ab", start=False) as grid:
        grid["a"].options["peer"] = {"b": "  connect = in"}
        grid["b"].options["peer"] = {"a": "  connect = out"}
        grid["a"].start()
        _, findings = doctor(grid["a"])
        expect(findings, "session", "b.test", "fail", "it is to dial us")
        grid["b"].start()
        lib.wait(lambda: find(doctor(grid["a"])[1], "session", "b.test")["level"] == "ok",
                 "b dials a")
        expect(doctor(grid["a"])[1], "session", "b.test", "ok", "dialled from there")
        expect(doctor(grid["b"])[1], "session", "a.test", "ok", "as configured")


def test_within_tls_as_asked():
    with lib.Grid("ab", peers="  transport = tcp") as grid:
        _, findings = doctor(grid["a"])
        expect(findings, "path", "b.test", "ok", "as configured")
        lib.check(not [f for f in findings if f["check"].startswith("udp-")], str(findings))


def test_certificates_run_out():
    with lib.Grid("a", start=False) as grid:
        domain = grid["a"]
        grid.issue(domain, days=6)
        domain.start()
        found = expect(doctor(domain)[1], "certificate", domain.certificate, "warn", "this week")
        lib.check(found["value"] in (5, 6) and found["unit"] == "days", str(found))
        # A new one lies there and was not read yet.
        grid.issue(domain)
        _, findings = doctor(domain)
        expect(findings, "reload", domain.certificate, "warn", "systemctl reload")
        expect(findings, "certificate", domain.certificate, "warn")
        domain.reload()
        lib.wait(lambda: "configuration.reloaded" in domain.log(), domain.log)
        _, findings = doctor(domain)
        expect(findings, "certificate", domain.certificate, "ok")
        lib.check(not [f for f in findings if f["check"] == "reload"], str(findings))
        # Nor does it speak of it while it does not run.
        grid.issue(domain, days=1)
        domain.stop()
        _, findings = without_gateway(domain)
        expect(findings, "certificate", domain.certificate, "warn", "today")


def test_the_configuration_was_changed():
    with lib.Grid("a") as grid:
        domain = grid["a"]
        domain.options["cache"] = "32M"
        domain.write_conf()
        _, findings = doctor(domain)
        expect(findings, "reload", domain.conf_path, "warn")
        expect(findings, "restart", domain.conf_path, "warn", "cache")
        # Also when a reload took what it could.
        domain.reload()
        lib.wait(lambda: "configuration.reloaded" in domain.log(), domain.log)
        expect(doctor(domain)[1], "restart", domain.conf_path, "warn", "cache")
        domain.options["top"] = "nonsense = 1"
        domain.write_conf()
        code, findings = doctor(domain)
        expect(findings, "config", domain.conf_path, "fail", "unknown option 'nonsense'")
        lib.check(code == UNWELL, str(findings))


def test_what_limits():
    with lib.Grid("ab") as grid:
        grid.write("a", "x", 64 << 20)
        run = grid.begin("a", ["x"], "b", "--rate", "20M")
        channel = run.channel()
        lib.wait(lambda: (grid["a"].local_status(channel) or {}).get("state") == "running",
                 "it runs")
        found = lib.wait(lambda: [f for f in doctor(grid["a"])[1] if f["check"] == "limit" and
                                  f["subject"] == "b.test"], "something limits")
        lib.check("--rate" in found[0]["text"], str(found))
        grid["a"].gmcast("cancel", channel)
        run.wait().expect("cancelled")


# ---- no gateway ----

def without_gateway(domain, *arguments):
    """gatewayd is found in PATH."""
    path = os.path.dirname(lib.GATEWAYD) + ":" + os.environ["PATH"]
    done = subprocess.run([lib.GMCAST, "--gateway", domain.control, "doctor", "--json", "--config",
                           domain.conf_path, *arguments], capture_output=True, text=True,
                          timeout=lib.LIMIT, check=False, env={**os.environ, "PATH": path})
    lib.check(done.returncode == UNWELL, done.stdout + done.stderr)
    findings = json.loads(done.stdout)
    expect(findings, "gateway", domain.control, "fail", "is gatewayd running?")
    return done.returncode, findings


def test_no_gateway_runs():
    with lib.Grid("a", start=False) as grid:
        domain = grid["a"]
        domain.release_port()
        domain.write_conf()
        _, findings = without_gateway(domain)
        expect(findings, "config", domain.conf_path, "ok")
        expect(findings, "certificate", domain.certificate, "ok")
        expect(findings, "port", None, "ok", "is free")
        # Somebody else has its port.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("127.0.0.1", domain.port))
            _, findings = without_gateway(domain)
            taken = [f["text"] for f in findings if f["check"] == "port" and f["level"] == "fail"]
            lib.check(len(taken) == 1 and "UDP" in taken[0], str(findings))
        domain.options["top"] = "workers = 0"
        domain.write_conf()
        expect(without_gateway(domain)[1], "config", domain.conf_path, "fail", "workers")
        os.unlink(domain.conf_path)
        expect(without_gateway(domain)[1], "config", domain.conf_path, "fail")


if __name__ == "__main__":
    lib.main(globals())
