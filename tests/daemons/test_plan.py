#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""gmcast stage --plan: trees and times from what is measured, and nothing is sent."""

import lib

SIZE = 20000000


def uplinks(grid, rates):
    """{name: rate}; those that are not named stay unknown."""
    for name, rate in rates.items():
        grid[name].options["top"] = 'uplink = "%s"' % rate


def sent_little(grid, names):
    for name in names:
        lib.check(sum(grid[name].bytes_sent().values()) < SIZE / 10, "%s sent something of it" % name)


def test_what_limits():
    with lib.Grid("abcd", start=False) as grid:
        uplinks(grid, {"a": "100M", "b": "100M", "c": "10M", "d": "10M"})
        grid.start()
        grid.write("a", "f", SIZE)
        result = grid.stage("a", ["f"], "bcd", "--plan")
        plan = result.last["plan"]
        lib.check(result.status == 0 and result.last["result"] == "planned", str(result))
        lib.check(set(result.last["trees"][0]) == {"b.test", "c.test", "d.test"}, str(result))
        lib.check(plan["limit"] == "uplink" and not plan["assumed"], str(plan))
        lib.check(plan["bound_seconds"] <= plan["seconds"] < 10, str(plan))
        # Their sum would carry 73 Mbit/s to each.
        lib.check(40e6 < plan["rate_bps"] < 73e6, str(plan))
        rates = {rate["domain"]: rate for rate in plan["rates"]}
        lib.check(list(rates) == ["a.test", "b.test", "c.test", "d.test"], str(plan))
        lib.check(all(rate["uplink_origin"] == "configured" for rate in rates.values()), str(plan))
        lib.check(rates[plan["limit_domain"]]["uplink_bps"] == plan["limit_bps"], str(plan))
        lib.check(rates["a.test"]["downlink_bps"] is None, str(plan))
        sent_little(grid, "abcd")
        for name in "bcd":
            grid.absent(name, "f")
            grid.nothing_left(name)
        _, text, _ = grid["a"].gmcast("tree", result.channel)
        lib.check("planned, bulk" in text, text)
        # The same sources and targets are staged afterwards as if nothing had been.
        grid.stage("a", ["f"], "bcd").expect("complete")


def test_without_uplinks_it_is_assumed():
    with lib.Grid("abc") as grid:
        grid.write("a", "f", SIZE)
        plan = grid.stage("a", ["f"], "bc", "--plan", "--tree", "flat").last["plan"]
        lib.check(plan["limit"] == "uplink" and plan["assumed"] and plan["copies"] == 2, str(plan))
        lib.check([rate["uplink_origin"] for rate in plan["rates"]] == ["assumed"] * 3, str(plan))
        plan = grid.stage("a", ["f"], "bc", "--plan", "--rate", "1M").last["plan"]
        lib.check(plan["limit"] == "rate" and plan["rate_bps"] == 1000000, str(plan))


def test_who_is_not_there():
    with lib.Grid("abc", start=False) as grid:
        grid["a"].start()
        grid["b"].start()
        grid.write("a", "f", SIZE)
        result = grid.stage("a", ["f"], "bc", "--plan")
        lib.check(result.status == lib.PARTIAL and result.last["result"] == "planned", str(result))
        lib.check(result.domain("c.test")["state"] == "silent", str(result))
        lib.check(result.domain("b.test")["parent"] == "a.test", str(result))


def test_what_is_not_there():
    with lib.Grid("ab") as grid:
        result = grid.stage("a", ["none"], "b", "--plan")
        lib.check(result.status == lib.REFUSED and result.last.get("plan") is None, str(result))


if __name__ == "__main__":
    lib.main(globals())
