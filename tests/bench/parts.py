# SPDX-License-Identifier: BSD-2-Clause
"""A bench in parts: each prints a table, with a word for every figure that has a limit; what missed
its limit is named again at the end, and the exit status says so."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "emulate"))
import emu  # noqa: E402
import lib  # noqa: E402

_missed = []


def verdict(what, ok, kept=True):
    """A word for the table. kept: False when the emulator was late, so that the figure may not be the
    program's."""
    late = "" if kept else " (late)"
    if not ok:
        _missed.append(what + late)
    return ("yes" if ok else "NO") + late


def _run(parts, wanted):
    unknown = [part for part in wanted if part not in parts]
    lib.check(not unknown, "no part is called %s; there are %s" % (unknown, ", ".join(parts)))
    for part in wanted:
        parts[part]()
    if _missed:
        print("\nmissed:\n  " + "\n  ".join(_missed))
    return 1 if _missed else 0


def main(found, parts, wanted, emulated=True):
    """The end of a bench: its function inside, when it was started for one; else the wanted parts.
    emulated: False when not all of them need the emulator."""
    if sys.argv[1:2] == ["--inside"]:
        emu.main(found)
        return
    # Objects, and what arrives of them, are in memory.
    with tempfile.TemporaryDirectory(prefix="gmct-", dir=os.environ.get(
            "GMC_TMPDIR", "/dev/shm")) as folder:
        os.environ["TMPDIR"] = folder
        if not emulated:
            sys.exit(_run(parts, wanted))
        emu.main(found, lambda: _run(parts, wanted))
