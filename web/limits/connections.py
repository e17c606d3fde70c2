"""Timeouts and connection limits of the HTTP server.

uvicorn waits indefinitely for a request's headers, for its body, and for a client that does not read. Proxies such as
nginx have limits of their own; these are for a server that is reached directly, and for what passes the proxy. They
detect stalled transfers; web.http.request_fields limits the size and the whole duration of a request body.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import math
from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import Any

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

_log = logging.getLogger("cirque.server")
_LOOK = 5.0           # seconds between two looks at a connection
_HEADERS = 20.0       # seconds for the headers of a request, from the beginning of the connection or the last answer
_STALLED = 60.0       # seconds of slow transfer, without a break, after which a connection is closed
_STALL_RATE = 1000    # bytes a second, of a request body or a response; less is slow transfer
_LOG_EVERY = 60.0     # seconds between two log lines about refused connections
_LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_RESERVED = 256       # files that the database, galleries and threads may need
_WANTED = 4096        # open connections
_ENOUGH_FILES = _WANTED + _RESERVED


class Connections:
    """Connection counts, in total and per address. ``exempt``: proxies, which many users share."""

    def __init__(self, most: int, exempt: Networks, clock: Callable[[], float] = monotonic) -> None:
        self.most, self._exempt, self._clock = most, exempt, clock
        self._open: Counter[str] = Counter()
        self._log_after = -math.inf

    def enter(self, address: str) -> bool:
        """Whether ``address`` may open one more connection. A single address may use half of all."""
        total = self._open.total()
        if total >= self.most or (self._open[address] >= self.most // 2 and address not in self._exempt):
            if self._clock() >= self._log_after:
                _log.warning("Connections are refused: %s are open, %s of them from the address that asks for more "
                             "(at most %s, and %s from one). This is logged once a minute at most.", total,
                             self._open[address], self.most, self.most // 2)
                self._log_after = self._clock() + _LOG_EVERY
            return False
        self._open[address] += 1
        return True

    def leave(self, address: str) -> None:
        self._open[address] -= 1
        if not self._open[address]:
            del self._open[address]


def most_connections() -> int:
    """Connection limit that the open-file limit allows, after raising that as far as possible. At most 4,096."""
    try:
        import resource
    except ImportError:    # Windows has no such limit
        return _WANTED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < _ENOUGH_FILES:
        wanted = _ENOUGH_FILES if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH_FILES)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        except (ValueError, OSError):
            pass
    return _WANTED if soft == resource.RLIM_INFINITY else max(16, min(_WANTED, soft - _RESERVED))


class TimeoutProtocol(H11Protocol):
    """HTTP/1.1 protocol that closes connections of stalled clients.

    Checked every few seconds: headers incomplete after their timeout, and request or response bodies slower than 1,000
    bytes a second for a minute. Idle streams are left open.
    """

    def __init__(self, connections: Connections, config: Config, server_state: ServerState, app_state: dict[str, Any],
                 _loop: asyncio.AbstractEventLoop | None = None) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._among, self._entered = connections, ""
        self._check_timer: asyncio.TimerHandle | None = None
        self._received = self._seen = 0        # bytes in all, and at the last look
        self._unsent, self._slow, self._idle_since = 0, 0.0, self.loop.time()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        address = self.client[0] if self.client else "unknown"
        if not self._among.enter(address):
            transport.abort()
            return
        self._entered = address
        self._check_timer = self.loop.call_later(_LOOK, self._check_speed)

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._leave()      # another protocol takes over, and the guard refuses it at once
        super().handle_websocket_upgrade(event)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)

    def on_response_complete(self) -> None:
        self._idle_since = self.loop.time()
        super().on_response_complete()

    def _leave(self) -> None:
        if self._check_timer is not None:
            self._check_timer.cancel()
        if self._entered:
            self._among.leave(self._entered)
            self._entered = ""

    def _check_speed(self) -> None:
        self._check_timer = self.loop.call_later(_LOOK, self._check_speed)
        if self.cycle is None or self.cycle.response_complete:
            if self.loop.time() - self._idle_since > _HEADERS:
                if self.timeout_keep_alive_task is None and self._received:
                    self.transport.write(_LATE)
                self.transport.close()
            self._slow = 0.0
        else:
            self._slow = self._slow + _LOOK if self._is_slow() else 0.0
            if self._slow >= _STALLED:
                self.transport.abort()
        self._seen, self._unsent = self._received, self.transport.get_write_buffer_size()

    def _is_slow(self) -> bool:
        """Whether the client has stalled since the last check: data is pending, and little was transferred."""
        wanted = self.cycle.more_body and not self.flow.read_paused and not self.cycle.waiting_for_100_continue
        body = wanted and self._received - self._seen < _STALL_RATE * _LOOK
        unsent = self.transport.get_write_buffer_size()
        answer = self.flow.write_paused and 0 <= self._unsent - unsent < _STALL_RATE * _LOOK
        return body or answer


class Networks:
    """Addresses and networks such as ``127.0.0.1, 10.0.0.0/8``, with a membership test."""

    def __init__(self, text: str) -> None:
        self._networks = [ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip()]

    def __contains__(self, address: object) -> bool:
        try:
            found = ipaddress.ip_address(str(address))
        except ValueError:
            return False
        inner = getattr(found, "ipv4_mapped", None) or found   # ::ffff:127.0.0.1, where IPv6 listens for both
        return any(inner in network for network in self._networks)

    def __bool__(self) -> bool:
        return bool(self._networks)
