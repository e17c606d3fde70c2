"""Images fetched from the addresses in a table: few at a time, not too fast, and again where that may help."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from cir_core.errors import ImageUnreadable
from cir_core.gallery.sources.source import SourceAway
from cir_core.support import downloads
from cir_core.support.downloads import ImageRefused

RATE = 20.0         # images a second
_SECONDS = 30.0     # for one image
_MOST = 64 * 2**20  # bytes of one image
_PAUSES = (1.0, 4.0)    # seconds before each further try
_IN_A_ROW = 50          # failures of the network that stop a run


class Addresses:
    """``rate``: downloads that may begin in a second, tries included. ``tries``: a screen waits for one only."""

    def __init__(self, rate: float = RATE, *, tries: int = 1 + len(_PAUSES)) -> None:
        self._every, self._tries = 1 / rate, tries
        self._next, self._failures = 0.0, 0
        self._lock = threading.Lock()

    def fetched(self, address: str, most: int) -> bytes:
        """Raises ``ImageUnreadable``, which says why and does not repeat the address: it may hold a password;
        ``SourceAway`` if the network seems to be away."""
        if not address.lower().startswith(("http://", "https://")):
            raise ImageUnreadable("has no http or https address in its table.")
        most = min(most, _MOST)
        for number in range(self._tries):
            self._wait()
            try:
                content = self._downloaded(address, most)
                self._failures = 0
                return content
            except ImageRefused as error:
                if not error.again or number + 1 == self._tries:
                    self._failures = self._failures + 1 if error.again else 0
                    if self._failures >= _IN_A_ROW:
                        raise SourceAway(f"None of the last {_IN_A_ROW} images could be fetched. Check the connection, "
                                         "then run the same command again: encoded images are kept.") from None
                    reason = error.reason.removesuffix(" Check the URL, or upload the image.")
                    raise ImageUnreadable(f"cannot be fetched: {reason}") from None
                time.sleep(_PAUSES[number])
        raise AssertionError("unreachable")

    @staticmethod
    def _downloaded(address: str, most: int) -> bytes:
        """In a thread of its own: that of the caller may have an event loop that runs."""
        def run() -> bytes:
            return asyncio.run(downloads.download(
                address, _whole(most), most=most, seconds=_SECONDS, validate=downloads.public_address))

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(run).result()

    def _wait(self) -> None:
        with self._lock:
            now = time.monotonic()
            begins = self._next = max(now, self._next + self._every)
        if begins > now:
            time.sleep(begins - now)


def _whole(most: int) -> Callable[[str, AsyncIterator[bytes]], Awaitable[bytes]]:
    async def receive(name: str, pieces: AsyncIterator[bytes]) -> bytes:
        content = bytearray()
        async for piece in pieces:
            content += piece
            if len(content) > most:
                raise downloads.too_large(most)
        return bytes(content)

    return receive
