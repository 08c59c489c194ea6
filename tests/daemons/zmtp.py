# SPDX-License-Identifier: BSD-2-Clause
"""A DEALER socket of ZeroMQ by hand (ZMTP 3.0, NULL mechanism), for what the library would not send:
halves of frames, frames that are none."""

import socket
import struct

MORE, LONG, COMMAND = 1, 2, 4


def frame(body, flags=0):
    if len(body) < 256:
        return bytes([flags, len(body)]) + body
    return bytes([flags | LONG]) + struct.pack(">Q", len(body)) + body


class Dealer:
    def __init__(self, path, limit=10):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(limit)
        self._socket.connect(path)
        self.send_raw(b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32))
        self._take(64)
        self.send_raw(frame(b"\x05READY\x0bSocket-Type" + struct.pack(">I", 6) + b"DEALER", COMMAND))
        self._receive()

    def send_raw(self, data):
        self._socket.sendall(data)

    def send(self, body):
        self.send_raw(frame(body))

    def _take(self, count):
        data = b""
        while len(data) < count:
            more = self._socket.recv(count - len(data))
            if not more:
                raise ConnectionError("the other side closed")
            data += more
        return data

    def _receive(self):
        flags = self._take(1)[0]
        length = struct.unpack(">Q", self._take(8))[0] if flags & LONG else self._take(1)[0]
        return flags, self._take(length)

    def receive(self):
        """The next message's bytes; commands are passed over."""
        while True:
            flags, body = self._receive()
            if not flags & COMMAND:
                return body

    def is_closed(self):
        """Has the other side closed, or does within the limit?"""
        try:
            while True:
                self.receive()
        except (ConnectionError, BrokenPipeError):
            return True
        except socket.timeout:
            return False

    def close(self):
        self._socket.close()
