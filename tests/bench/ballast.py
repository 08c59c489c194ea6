# SPDX-License-Identifier: BSD-2-Clause
"""Memory for a benchmark that stores into memory: pages that were in use a moment ago."""

import os
import threading


def free_bytes():
    with open("/proc/meminfo") as info:
        for line in info:
            if line.startswith("MemFree:"):
                return int(line.split()[1]) * 1024
    return 0


class Ballast:
    """Memory that this machine really has, for a run to store into.

    A guest's free memory is often the host's again within a second, and the first touch of a page
    then costs more than all that is measured. A file holds as much as a run will store and shrinks
    as that grows, so both sides are given pages that were in use a moment ago.
    """
    STEP = 64 << 20

    def __init__(self, folder, size):
        self.path = os.path.join(folder, "ballast")
        self.size = size
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._follow)

    def __enter__(self):
        piece = b"\0" * (1 << 20)
        with open(self.path, "wb", buffering=0) as out:
            for _ in range(0, self.size, len(piece)):
                out.write(piece)
        self.thread.start()
        return self

    def _follow(self):
        level = free_bytes()
        while self.size > 0 and not self.ended.wait(0.03):
            gone = level - free_bytes()
            if gone >= self.STEP:
                self.size = max(0, self.size - gone)
                os.truncate(self.path, self.size)

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        os.unlink(self.path)
