"""Thread pool for decoding uploaded images, separate from the threads that serve requests.

A large image may wait a minute for the memory budget of the process. Forty of them would occupy all threads of the app,
and the authentication of every save needs one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from cir_core.errors import DecodingBusy
from web.http.request_ids import carried

T = TypeVar("T")

_MOST = 4   # at a time; the others wait in order, without a thread
_threads = ThreadPoolExecutor(_MOST, thread_name_prefix="cirque-decoding")


async def in_decoding_thread(work: Callable[[float], T], patience: float) -> T:
    """Run ``work`` in a decoding thread. Raises ``DecodingBusy`` if it has not started after ``patience`` seconds.

    ``work`` receives the remaining seconds as a limit for waiting for memory. It is skipped if the caller has gone.
    """
    until = time.monotonic() + patience
    done = _threads.submit(carried(lambda: work(max(0.0, until - time.monotonic()))))
    waiting = asyncio.wrap_future(done)
    try:
        finished, _ = await asyncio.wait([waiting], timeout=patience)
    except asyncio.CancelledError:
        waiting.cancel()
        raise
    if not finished and done.cancel():
        raise DecodingBusy
    return await waiting
