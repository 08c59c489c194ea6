# SPDX-License-Identifier: BSD-2-Clause
"""What tests of deaths, stops and cuts share: trees, what a gateway has, what its log says when."""

import calendar
import re
import time

import lib

BLOCK = 65536


def tree(grid, channel, source="a"):
    """{name: parent's name} of the attached targets of a transfer, by what its source reports."""
    status = grid[source].status(channel)
    domains = (status or {}).get("domains", {})
    return {name.split(".")[0]: domain["parent"].split(".")[0]
            for name, domain in domains.items() if domain["parent"]}


def chain(grid, channel, length=2, source="a"):
    """The targets of a transfer whose tree is a chain, the source's child first."""
    def attached():
        child_of = {parent: name for name, parent in tree(grid, channel, source).items()}
        names = []
        while (names[-1] if names else source) in child_of:
            names.append(child_of[names[-1] if names else source])
        return names if len(names) == length else None
    return lib.wait(attached, "a chain of %d" % length)


def bytes_here(grid, name, channel):
    """What a gateway itself says that it has verified and stored."""
    return (grid[name].local_status(channel) or {}).get("bytes_here", 0)


def wait_here(grid, name, channel, share, limit=lib.LIMIT):
    """Until a gateway has that share of the object, and not all of it; how many bytes."""
    def far_enough():
        status = grid[name].local_status(channel) or {"bytes": 0, "bytes_here": 0}
        enough = status["bytes"] > 0 and status["bytes_here"] >= share * status["bytes"]
        return (status["bytes_here"], status["bytes"]) if enough else None
    got, whole = lib.wait(far_enough, "%s has %g of the object" % (name, share), limit)
    lib.check(got < whole, "%s was complete before anything could happen to it" % name)
    return got


def data_in(grid, name):
    """Bytes of fragments that came in since the start of a gateway, again or not."""
    return grid[name].counters()["data_bytes_in"]


def data_out(grid, name):
    return grid[name].counters()["data_bytes_out"]


_LINE = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d+)Z (\S+) +(\S+)(.*)$")


def log_lines(domain, what):
    """[(Unix time, text)] of the lines of one kind in a gateway's log."""
    found = []
    for line in domain.log().splitlines():
        match = _LINE.match(line)
        if match and match.group(4) == what:
            second = calendar.timegm(time.strptime(match.group(1), "%Y-%m-%dT%H:%M:%S"))
            found.append((second + float("0." + match.group(2)), match.group(5)))
    return found


def wait_log(domain, what, text, since=0, limit=lib.LIMIT):
    """When a line of that kind with that text was written, at `since` or later (Unix time)."""
    def there():
        return [when for when, line in log_lines(domain, what) if text in line and when >= since]
    return lib.wait(there, "%s logs %s %r" % (domain.name, what, text), limit)[0]
