"""Load driver: sixteen users over loopback from one process, with minimal overhead.

The driver shares the processor with the server it measures. So it implements HTTP/1.1 itself over
keep-alive connections, parses no more of a response than it must, and reports its own processor
time. Bodies are read whole; there is no cache and no pipelining.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlsplit

Act = Callable[[], Awaitable[None]]


@dataclass
class Timings:
    """Milliseconds of each action, over ``seconds`` of wall time. Accumulates over slices."""

    people: int
    milliseconds: list[float] = field(default_factory=list)
    seconds: float = 0.0
    driver_seconds: float = 0.0     # processor time of the driver itself

    @property
    def rate(self) -> float:
        """Actions per second, of all users together."""
        return len(self.milliseconds) / self.seconds if self.seconds else 0.0

    def quantile(self, share: float) -> float:
        ordered = sorted(self.milliseconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


class Refused(RuntimeError):
    """A response other than 200; the message contains all of it."""


class _HungUp(Refused):
    """The connection was closed before any response."""


class Connection(asyncio.Protocol):
    """One keep-alive connection. One request at a time."""

    def __init__(self, address: str, cookie: str = "") -> None:
        parts = urlsplit(address)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        common = f"Host: {parts.netloc}\r\nConnection: keep-alive\r\n"
        self._common = (common + (f"Cookie: {cookie}\r\n" if cookie else "")).encode()
        self._buffer = bytearray()
        self._waiting: asyncio.Future[bytes] | None = None
        self._transport: asyncio.Transport | None = None

    async def open(self) -> Self:
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_connection(lambda: self, self._host, self._port)
        return self

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def get(self, path: str) -> Awaitable[bytes]:
        """The body. Raises :class:`Refused`."""
        return self._send(b"GET " + path.encode() + b" HTTP/1.1\r\n" + self._common + b"\r\n")

    def post(self, path: bytes, body: bytes, kind: bytes = b"application/json") -> Awaitable[bytes]:
        """The response body. ``kind`` is the content type of ``body``. Raises :class:`Refused`."""
        return self._send(b"POST %b HTTP/1.1\r\n%bContent-Type: %b\r\nContent-Length: %d\r\n\r\n%b"
                          % (path, self._common, kind, len(body), body))

    async def _send(self, request: bytes) -> bytes:
        if self._transport is None or self._transport.is_closing():
            await self.open()
        try:
            return await self._sent(request)
        except _HungUp:   # servers close idle connections; retry on a new one, as browsers do
            await self.open()
            return await self._sent(request)

    def _sent(self, request: bytes) -> asyncio.Future[bytes]:
        assert self._transport is not None
        self._buffer.clear()
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._waiting

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0 or self._waiting is None or self._waiting.done():
            return
        body = self._body(end)
        if body is None:
            return
        if self._buffer[9:12] == b"200":
            self._waiting.set_result(body)
        else:
            self._waiting.set_exception(Refused(bytes(self._buffer[:end]).decode("latin-1") + "\n"
                                                + body[:2000].decode("utf-8", "replace")))

    def _body(self, end: int) -> bytes | None:
        """The body once it is complete; chunked ones still with their chunk lengths."""
        head = bytes(self._buffer[:end]).lower()
        start = head.find(b"\r\ncontent-length:")
        if start >= 0:
            length = int(head[start + 17:].split(b"\r\n", 1)[0])
            complete = len(self._buffer) >= end + 4 + length
        else:
            complete = self._buffer.endswith(b"0\r\n\r\n")
        return bytes(self._buffer[end + 4:]) if complete else None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(_HungUp(f"The server hung up: {exc}"))


def dechunked(body: bytes) -> bytes:
    """Decode a chunked body."""
    whole, at = bytearray(), 0
    while (end := body.find(b"\r\n", at)) >= 0 and (length := int(body[at:end], 16)):
        whole += body[end + 2:end + 2 + length]
        at = end + 4 + length
    return bytes(whole)


class Lanes:
    """A browser's connections to one server: six in parallel."""

    def __init__(self, connections: Sequence[Connection]) -> None:
        self._connections = connections

    async def fetch(self, paths: Iterable[str]) -> None:
        """Fetch all of ``paths``, reading each to its end."""
        left = list(paths)[::-1]

        async def lane(connection: Connection) -> None:
            while left:
                await connection.get(left.pop())

        await asyncio.gather(*map(lane, self._connections))


async def drive(acts: Sequence[Act], seconds: float, into: Timings) -> None:
    """Repeat all ``acts`` concurrently without pause until the time is over; adds to ``into``."""
    processor, started = time.process_time(), time.perf_counter()
    until = started + seconds

    async def one(act: Act) -> None:
        before = time.perf_counter()
        while before < until:
            await act()
            now = time.perf_counter()
            into.milliseconds.append((now - before) * 1000)
            before = now

    await asyncio.gather(*map(one, acts))
    into.seconds += time.perf_counter() - started
    into.driver_seconds += time.process_time() - processor
