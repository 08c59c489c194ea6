#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Wires without a limit, where thousands of datagrams come at once. Skipped without namespaces."""

import lib
import wires

BYTES = 300 << 20
NEEDLESS = 0.003


def dropped(domain):
    """Datagrams for which the socket had no room."""
    with open("/proc/%d/net/snmp" % domain.process.pid) as snmp:
        names, values = [line.split() for line in snmp if line.startswith("Udp:")]
    return int(values[names.index("RcvbufErrors")])


@lib.timed
def test_what_came_is_not_sent_again():
    with wires.WiredGrid("ab") as grid:
        grid.write("a", "x", BYTES)
        for i in range(2):
            grid.stage("a", ["x"], ["b:%d" % i]).expect("complete")
        peer = next(each for each in grid["a"].peers()["peers"] if each["domain"] == "b.test")
        sent, lost, full = peer["packets_sent"], peer["packets_lost"], dropped(grid["b"])
        print("  %d packets, %d taken for lost, %d dropped by the socket" % (sent, lost, full))
        lib.check(sent > 2 * BYTES // 65536, "few packets: %d" % sent)
        lib.check(lost <= full + NEEDLESS * sent, "%d of %d are sent again" % (lost, sent))


if __name__ == "__main__":
    wires.enter()
    lib.main(globals())
