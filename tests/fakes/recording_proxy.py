"""Every byte a server sends, written down on its way: a proxy between a browser and the app."""

from __future__ import annotations

import http.client
import io
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_ENCODING = re.compile(rb"(?i)\r\nAccept-Encoding:")
_LENGTH = re.compile(rb"(?i)\r\nContent-Length:[ ]*(\d+)")


@dataclass(frozen=True)
class Answer:
    """One response: the address it was asked for at, its status line and headers, and its body unchunked."""

    target: str
    status: int
    head: str
    body: bytes


@dataclass
class _Wire:
    """One connection: what each side has sent so far."""

    sent: bytearray = field(default_factory=bytearray)
    received: bytearray = field(default_factory=bytearray)


class RecordingProxy:
    """Forwards ``url`` to the server at ``upstream``. Answers come uncompressed, whatever the browser asks for."""

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        self._upstream = (parts.hostname or "127.0.0.1", parts.port or 80)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._wires: list[_Wire] = []
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def raw(self) -> bytes:
        """All that browsers received, as it went over the wire."""
        return b"\n".join(bytes(wire.received) for wire in list(self._wires))

    def answers(self) -> list[Answer]:
        """All responses so far. One that has not ended yet, such as a stream of events, is given as far as it is."""
        return [answer for wire in list(self._wires) for answer in _answers(wire)]

    def close(self) -> None:
        for each in (self._listener, *self._sockets):
            with suppress(OSError):   # close() alone would not wake a thread that waits in recv()
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        while True:
            try:
                browser, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._upstream)
            wire = _Wire()
            self._wires.append(wire)
            self._sockets += [browser, server]
            for source, sink, record in ((browser, server, wire.sent), (server, browser, wire.received)):
                threading.Thread(target=self._pump, args=(source, sink, record), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, record: bytearray) -> None:
        with suppress(OSError):   # the other side has hung up
            while chunk := source.recv(65536):
                record += chunk   # before it is passed on: nobody can have seen what is not recorded
                sink.sendall(_ENCODING.sub(b"\r\nX-Asked-Encoding:", chunk))
        for side in (source, sink):
            with suppress(OSError):   # the other side has hung up
                side.shutdown(socket.SHUT_RDWR)


def _answers(wire: _Wire) -> Iterator[Answer]:
    stream = io.BytesIO(bytes(wire.received))
    for method, target in _requests(bytes(wire.sent)):
        response = http.client.HTTPResponse(_Sent(stream), method=method)  # type: ignore[arg-type]
        try:
            response.begin()
        except (http.client.HTTPException, ConnectionError, ValueError):
            return   # no answer yet
        try:
            body = response.read()
        except http.client.IncompleteRead as cut:
            body = cut.partial
        head = "\n".join([str(response.reason), *(f"{name}: {value}" for name, value in response.getheaders())])
        yield Answer(target, response.status, head, body)


def _requests(sent: bytes) -> Iterator[tuple[str, str]]:
    """Method and address of each request, one after another over one connection."""
    start = 0
    while (end := sent.find(b"\r\n\r\n", start)) >= 0:
        head = sent[start:end]
        method, target, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
        yield method, target
        length = _LENGTH.search(head)
        start = end + 4 + (int(length[1]) if length else 0)


class _Sent:
    """What ``HTTPResponse`` takes for a socket."""

    def __init__(self, stream: io.BytesIO) -> None:
        self._stream = _Unclosed(stream)

    def makefile(self, _mode: str) -> io.BufferedIOBase:
        return self._stream  # type: ignore[return-value]


class _Unclosed:
    """Each response closes its file; the next one goes on reading it."""

    def __init__(self, stream: io.BytesIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def close(self) -> None:
        pass

    def flush(self) -> None:
        pass
