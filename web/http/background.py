"""Work in the background: its state, and thread pools that are abandoned at shutdown. Thread pool for decoding
uploaded images, separate from the threads that serve requests.

Jobs are made for that: they only read (and note it in the action log), store their result in one transaction at the
end, or keep a journal that they can be resumed from.

A large image may wait a minute for the memory budget of the process. Forty of them would occupy all threads of the app,
and the authentication of every save needs one.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Generic, TypeVar

from cir_core.errors import CirqueError, DecodingBusy
from web.http.public_errors import public_message
from web.http.request_ids import carried

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class JobState:
    """``done`` of ``total`` parts (0 of 0: unknown). ``problem``: why it is finished without its result."""

    done: int = 0
    total: int = 0
    stopping: bool = False
    finished: bool = False
    problem: str = ""
    began: float = field(default_factory=monotonic)


S = TypeVar("S", bound=JobState)


class BackgroundJob(Generic[S]):
    """A job whose state is read, changed and waited for from any thread."""

    def __init__(self, state: S) -> None:
        self._state, self._changes = state, 0
        self._changed = threading.Condition()

    @property
    def state(self) -> S:
        return self._state

    def change(self, **fields: Any) -> None:
        """Change fields of the state, and wake all waiters."""
        with self._changed:
            self._state = replace(self._state, **fields)
            self._changes += 1
            self._changed.notify_all()

    def wait(self, seen: int, seconds: float) -> int:
        """Wait for a change after number ``seen``; returns the number of the latest one."""
        with self._changed:
            self._changed.wait_for(lambda: self._changes != seen, seconds)
            return self._changes

    def run(self, work: Callable[[], str], log: logging.Logger, failure: str) -> None:
        """Do ``work``, which returns its problem, "" if it has none. However it ends, the job is finished then.
        ``failure``: "Scores could not be computed"."""
        problem = "It was interrupted."
        try:
            problem = work()
        except CirqueError as error:
            problem = public_message(error)
        except Exception as error:
            log.exception("%s.", failure)
            problem = f"The {failure[0].lower()}{failure[1:]} ({type(error).__name__}). See the server's log."
        finally:
            self.change(finished=True, stopping=False, problem=problem)


class BackgroundPool:
    """Pool of ``workers`` threads with a queue."""

    def __init__(self, workers: int, name: str) -> None:
        self._workers = workers
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix=name)
        self._futures: set[Future[Any]] = set()
        self._lock = threading.Lock()

    @property
    def busy(self) -> bool:
        """Whether a submitted job would have to wait."""
        with self._lock:
            return sum(not future.done() for future in self._futures) >= self._workers

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Queue ``work`` of this request. Raises ``RuntimeError`` if no thread can be started, or after
        :meth:`shutdown`."""
        future = self._pool.submit(carried(work))
        with self._lock:
            self._futures.add(future)
        future.add_done_callback(self._over)
        return future

    def shutdown(self) -> bool:
        """Stop accepting jobs. Returns whether a job is running, which would keep the process alive."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            return any(future.running() for future in self._futures)

    def _over(self, future: Future[Any]) -> None:
        with self._lock:
            self._futures.discard(future)


REPORTS = BackgroundPool(2, "cirque-analysis")
BENCHMARKS = BackgroundPool(2, "cirque-benchmarks")   # reading constructions, whose files others made
SCORES = BackgroundPool(1, "cirque-scores")
CONSTRUCTIONS = BackgroundPool(1, "cirque-construct")   # whose journal survives a killed process


def shutdown() -> bool:
    """All of them, even where the first has something under way."""
    running = [threads.shutdown() for threads in (REPORTS, BENCHMARKS, SCORES, CONSTRUCTIONS)]
    return any(running)


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
