"""A chat server on a real socket that answers from a script and remembers what it was asked."""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.fakes.patience import PATIENCE

USAGE = {"prompt_tokens": 120, "completion_tokens": 8, "total_tokens": 128}


@dataclass(frozen=True)
class Reply:
    """What the server does with one request.

    ``text`` is the model's answer, sent whole or, when a stream is asked for, in
    ``pieces``. ``hold`` is waited for before the first byte, ``longest_hold`` seconds at
    most; ``between`` is called before each piece; ``cut`` drops the connection after so
    many pieces. ``drip`` instead sends nothing but signs of life, one every so many seconds:
    comments in a stream, blanks in a whole reply. ``begin`` is sent instead of a completion, and after it ``endless``
    again and again, until the client hangs up or ``most`` bytes went out.
    """

    text: str = "{}"
    status: int = 200
    body: Any = None                          # instead of a completion
    headers: dict[str, str] = field(default_factory=dict)
    pieces: int = 4
    usage: dict[str, int] | None = field(default_factory=lambda: dict(USAGE))
    finish: str | None = "stop"
    hold: threading.Event | None = None
    longest_hold: float = PATIENCE
    between: Callable[[int], None] | None = None
    cut: int | None = None
    drip: float | None = None
    stream: bool = True                       # False: answers whole whatever was asked
    begin: bytes = b""
    endless: bytes = b""
    most: int = 400 * 2**20


def refusal(status: int, message: str, param: str | None = None, code: str | None = None) -> Reply:
    return Reply(status=status, body={"error": {"message": message, "param": param, "code": code}})


class ChatServer:
    """Use as ``with ChatServer(replies) as server``. ``replies`` are used in turn, or a
    function makes one for each request; the last one is used again and again. ``port`` 0 is any that is free."""

    def __init__(self, replies: Iterable[Reply] | Callable[[dict[str, Any]], Reply], port: int = 0) -> None:
        self.play(replies)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self.hung_up = threading.Event()      # a client did not wait for its answer
        self._http = _Server(("127.0.0.1", port), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})

    def play(self, replies: Iterable[Reply] | Callable[[dict[str, Any]], Reply]) -> None:
        """Answer by another script from now on."""
        self._script = replies if callable(replies) else list(replies)

    @property
    def in_flight(self) -> int:
        return self._now

    @property
    def port(self) -> int:
        return self._http.server_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def next(self, request: dict[str, Any], headers: dict[str, str], path: str) -> Reply:
        with self._lock:
            self.requests.append(request)
            self.headers.append(headers)
            self.paths.append(path)
            if callable(self._script):
                return self._script(request)
            return self._script[min(len(self.requests), len(self._script)) - 1]

    def entered(self, change: int) -> None:
        with self._lock:
            self._now += change
            self.most_at_once = max(self.most_at_once, self._now)


class _Server(ThreadingHTTPServer):
    daemon_threads = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up are part of the play."""


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = PATIENCE

        def do_POST(self) -> None:
            server.entered(+1)
            try:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                reply = server.next(request, dict(self.headers), self.path)
                if reply.hold is not None:
                    until = time.monotonic() + reply.longest_hold
                    while not (reply.hold.wait(0.01) or self._left() or time.monotonic() > until):
                        pass
                with suppress(OSError):
                    self._send(reply, request)
            finally:
                server.entered(-1)
                self.close_connection = True

        def _left(self) -> bool:
            """Whether the client hung up, or the play is over."""
            if select.select([self.connection], [], [], 0)[0] and not self.connection.recv(1, socket.MSG_PEEK):
                server.hung_up.set()
            return server.hung_up.is_set() or server.closing.is_set()

        def _drip(self, content: bytes, seconds: float) -> None:
            try:
                while not self._left():
                    self._chunk(content)
                    server.closing.wait(seconds)
            except OSError:
                server.hung_up.set()

        def _flood(self, reply: Reply) -> None:
            block, sent = reply.endless * max(1, 2**16 // len(reply.endless)), 0
            try:
                self._chunk(reply.begin + block)
                while sent < reply.most and not server.closing.is_set():
                    self._chunk(block)
                    sent += len(block)
            except OSError:
                server.hung_up.set()

        def _send(self, reply: Reply, request: dict[str, Any]) -> None:
            if reply.drip is not None:
                streams = bool(request.get("stream"))
                kind = "text/event-stream" if streams else "application/json"
                self._start(reply, kind, {"Transfer-Encoding": "chunked"})
                self._drip(b": keep-alive\n\n" if streams else b" ", reply.drip)
                return
            if reply.endless:
                kind = "text/event-stream" if request.get("stream") and reply.stream else "application/json"
                self._start(reply, kind, {"Transfer-Encoding": "chunked"})
                self._flood(reply)
                return
            if reply.body is not None or not (request.get("stream") and reply.stream):
                body = reply.body if reply.body is not None else _completion(reply, request)
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self._start(reply, "application/json", {"Content-Length": str(len(content))})
                self.wfile.write(content)
                return
            self._start(reply, "text/event-stream", {"Transfer-Encoding": "chunked"})
            size = max(1, -(-len(reply.text) // reply.pieces))
            texts = [reply.text[start:start + size] for start in range(0, len(reply.text), size)]
            for number, text in enumerate(texts):
                if reply.between is not None:
                    reply.between(number)
                if reply.cut is not None and number >= reply.cut:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self._event(_chunk(request, {"content": text}))
            self._event(_chunk(request, {}, finish=reply.finish))
            if reply.usage and (request.get("stream_options") or {}).get("include_usage"):
                self._event(_chunk(request, None, usage=reply.usage))
            self._chunk(b"data: [DONE]\n\n")
            self.wfile.write(b"0\r\n\r\n")

        def _start(self, reply: Reply, kind: str, headers: dict[str, str]) -> None:
            self.send_response(reply.status)
            for name, value in {"Connection": "close", "Content-Type": kind, **headers, **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()

        def _event(self, data: dict[str, Any]) -> None:
            self._chunk(b"data: " + json.dumps(data).encode() + b"\n\n")

        def _chunk(self, content: bytes) -> None:
            self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
            self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def _completion(reply: Reply, request: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": request["model"], "choices": [choice],
            "usage": reply.usage}


def _chunk(
    request: dict[str, Any], delta: dict[str, Any] | None, finish: str | None = None,
    usage: dict[str, int] | None = None,
) -> dict[str, Any]:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": request["model"],
            "choices": choices, "usage": usage}
