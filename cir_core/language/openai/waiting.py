"""Cancellable waiting for server requests.

A thread blocked in a socket cannot be cancelled, so requests run in an event loop on a separate thread, one per
process. The caller waits in short intervals and checks between them whether to continue; an abandoned request is
cancelled in any state, and its connection closed.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

NAP = 0.1   # seconds between two checks whether to continue
_CLOSING = 5.0
_AHEAD = 64   # items queued for the caller
_END = object()

_starting = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def pieces(source: AsyncIterator[T], still: Callable[[], None]) -> Generator[T, None, None]:
    """The items of ``source`` as they arrive. ``still`` is called before each and in every interval;
    its exception ends the waiting, and ``source`` with it."""
    items: queue.SimpleQueue[Any] = queue.SimpleQueue()

    async def run() -> None:
        async for item in source:
            while items.qsize() >= _AHEAD:   # a server may send faster than the caller reads
                await asyncio.sleep(0.005)
            items.put(item)

    future = _started(run())
    future.add_done_callback(lambda _: items.put(_END))
    try:
        while True:
            still()
            try:
                item = items.get(timeout=NAP)
            except queue.Empty:
                continue
            if item is _END:
                future.result()
                return
            yield item
    finally:
        future.cancel()


def release(end: Callable[[], Coroutine[Any, Any, None]], *, wait: bool) -> None:
    """Run ``end``, which closes open connections. A no-op if there was no request."""
    if _loop is None:
        return
    future = _started(end())
    if wait:
        future.result(_CLOSING)


def _started(work: Coroutine[Any, Any, None]) -> Future[None]:
    global _loop
    with _starting:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="language", daemon=True).start()
    return asyncio.run_coroutine_threadsafe(work, _loop)
