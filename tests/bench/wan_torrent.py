# SPDX-License-Identifier: BSD-2-Clause
"""What a BitTorrent swarm needs beside its clients: a torrent, and a tracker (BEP 3, BEP 23)."""

import hashlib
import http.server
import os
import socket
import struct
import threading
import urllib.parse

PIECE = 256 << 10
ANNOUNCE_SECONDS = 2  # so that those who came first hear of the others


def bencode(value):
    if isinstance(value, int):
        return b"i%de" % value
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return b"%d:%s" % (len(value), value)
    return b"d%se" % b"".join(bencode(key) + bencode(value[key]) for key in sorted(value))


def write_torrent(path, announce, torrent):
    """Of one file."""
    with open(path, "rb") as file:
        pieces = b"".join(hashlib.sha1(piece).digest() for piece in iter(lambda: file.read(PIECE), b""))
    with open(torrent, "wb") as out:
        out.write(bencode({"announce": announce,
                           "info": {"length": os.path.getsize(path), "name": os.path.basename(path),
                                    "piece length": PIECE, "pieces": pieces}}))


class Tracker(http.server.ThreadingHTTPServer):
    """Tells each client of one torrent where the others are; runs until the process ends."""

    daemon_threads = True

    def __init__(self, address, port):
        super().__init__((address, port), Announce)
        self.peers = {}  # compact address: left
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Announce(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query, encoding="latin-1")
        own = socket.inet_aton(self.client_address[0]) + struct.pack(">H", int(asked["port"][0]))
        with self.server.lock:
            if asked.get("event") == ["stopped"]:
                self.server.peers.pop(own, None)
            else:
                self.server.peers[own] = int(asked["left"][0])
            others = b"".join(peer for peer in self.server.peers if peer != own)
        answer = bencode({"interval": ANNOUNCE_SECONDS, "peers": others})
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass
