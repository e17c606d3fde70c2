"""A program that listens for webhooks on this machine."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Message(NamedTuple):
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def content(self):
        return json.loads(self.body)

    def is_signed(self, secret: str) -> bool:
        """By the specification's own words, apart from the product's code."""
        signed = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}.".encode() + self.body
        key = base64.b64decode(secret.partition("_")[2])
        return self.headers["webhook-signature"] == "v1," + base64.b64encode(
            hmac.digest(key, signed, hashlib.sha256)).decode()


class Receiver:
    """Keeps what it gets; ``status``: of its next answers, the last one for good."""

    def __init__(self):
        self.got, self.status, receiver = [], [204], self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append(Message(self.path, dict(self.headers), body))
                status = receiver.status.pop(0) if len(receiver.status) > 1 else receiver.status[0]
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def close(self):
        """May be called twice."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
