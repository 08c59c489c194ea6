# SPDX-License-Identifier: BSD-2-Clause
"""Publishers and subscribers of message channels, as programs beside a daemon, for tests."""

import subprocess

import lib


def accepted(domain):
    """Publishers and subscribers that came so far: those that went may still be counted as there."""
    return domain.counters()["local_clients_accepted"]


def subscribe(domain, *arguments):
    """gmcast sub --json, running; returns when the gateway knows it."""
    before = accepted(domain)
    running = lib.Running([lib.GMCAST, "--gateway", domain.control, "sub", "--json", *arguments],
                          None)
    lib.wait(lambda: accepted(domain) > before, "%s subscribed" % domain.name)
    return running


def publisher(domain, *arguments, stdin=subprocess.PIPE):
    return subprocess.Popen([lib.GMCAST, "--gateway", domain.control, "pub", *arguments],
                            stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def publish(domain, text, *arguments):
    running = publisher(domain, *arguments)
    _, errors = running.communicate(text, timeout=lib.LIMIT)
    return running.returncode, errors


def say(talks, running, *lines):
    """The publisher says them, and the subscriber has got them."""
    before = len(running.lines)
    talks.stdin.write("".join(line + "\n" for line in lines))
    talks.stdin.flush()
    lib.wait(lambda: len(running.lines) == before + len(lines), "%d lines came" % len(lines))


def finish(talks, text=""):
    """The publisher says the rest, and ends in order."""
    _, errors = talks.communicate(text, timeout=lib.LIMIT)
    lib.check(talks.returncode == 0, errors)


def texts(result):
    return [line["text"] for line in result.lines if "text" in line]


def expect_all(running, expected, end="closed"):
    result = running.wait()
    lib.check(result.status == 0, lambda: "sub ended with %s" % result)
    lib.check(texts(result) == expected, lambda: "%d of %d messages, or others: %s" % (
        len(texts(result)), len(expected), result.lines[:3]))
    lib.check(all(line["missed"] == 0 for line in result.lines), "some are said to be missing")
    lib.check(result.last.get("end") == end, lambda: "it ended by %s" % result.last)
