"""Size limits of a server's replies, enforced as the bytes arrive.

Applied before anything stores, decompresses or parses a body: whole replies, streams, errors and redirects.
Headers need no limit of ours: the HTTP library stops after 100 kB of them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import openai

# A few bytes of JSON become objects of a kilobyte, so a document's braces, brackets and commas are limited too.
_MOST_PARTS = 30_000
_MOST_EVENTS = 30_000   # per stream: an empty event takes 10 bytes and a tenth of a millisecond


class ReplyRefused(httpx2.TransportError):
    """A reply rejected before its end, with the reason. The connection is closed."""


def bounded_client(most_bytes: int, **options: Any) -> httpx2.AsyncClient:
    """An HTTP client for ``openai.AsyncOpenAI`` that raises ``ReplyRefused`` for replies of more than ``most_bytes``.
    Proxies, certificates, redirects and timeouts are as in the library's default client."""

    async def bound(response: httpx2.Response) -> None:
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("identity", ""):
            # A kilobyte may decompress to a megabyte, which the library would do before it could be counted.
            raise ReplyRefused("its reply is compressed, though it was asked not to compress")
        stream = response.headers.get("content-type", "").strip().lower().startswith("text/event-stream")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Bounded(response.stream, most_bytes, events=stream)

    return openai.DefaultAsyncHttpxClient(event_hooks={"response": [bound]}, **options)


class _Bounded(httpx2.AsyncByteStream):
    """``inner``, up to ``most_bytes``. ``events``: each event of the stream is a separate document."""

    def __init__(self, inner: httpx2.AsyncByteStream, most_bytes: int, *, events: bool) -> None:
        self._inner, self._most, self._events = inner, most_bytes, events
        self._bytes = self._parts = self._line = self._ended = 0
        self._after_cr = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            self._bytes += len(piece)
            if self._bytes > self._most:
                raise ReplyRefused(f"its reply is larger than {self._most / 2**20:g} MB (CIRQUE_LLM_MAX_REPLY_MB)")
            self._count(piece)
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _count(self, piece: bytes) -> None:
        """Raises ``ReplyRefused`` for a document with too many parts."""
        if not self._events:
            self._add(piece)
            return
        if self._after_cr and piece.startswith(b"\n"):
            piece = piece[1:]
        self._after_cr = piece.endswith(b"\r")
        for number, part in enumerate(piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")):
            if number:   # a line has ended; an empty one ends an event
                if not self._line:
                    self._ended, self._parts = self._ended + 1, 0
                self._line = 0
            self._line += len(part)
            self._add(part)
        if self._ended > _MOST_EVENTS:
            raise ReplyRefused(f"its reply is a stream of more than {_MOST_EVENTS:,} events")

    def _add(self, text: bytes) -> None:
        self._parts += text.count(b"{") + text.count(b"[") + text.count(b",")
        if self._parts > _MOST_PARTS:
            raise ReplyRefused(f"its reply has more than {_MOST_PARTS:,} braces, brackets and commas")
