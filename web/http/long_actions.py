"""Long actions: run in a thread, report progress, and can be stopped."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any, Generic, TypeVar

from cir_core.methods.observer import TurnObserver
from cir_core.types.composition import ReflectionRound
from cir_core.types.records import Hit, new_id
from web.http.background import BackgroundJob, JobState
from web.http.request_ids import carried

T = TypeVar("T")
FIRST_AFTER = 0.35   # seconds: what is faster than this shows no progress at all
EVERY = 0.12
KEPT_OVER = 100      # actions that are over, whose results a page may still ask for
SILENT = 1.0         # seconds after which a run that reports nothing is drawn again: its clock goes on


@dataclass(frozen=True)
class Progress(JobState):
    """Progress of a running action; its parts are e.g. methods compared."""

    run_id: str = ""
    text: str = ""
    stage: str = ""
    partial: Mapping[str, Any] | None = None       # fields of an answer that is coming in
    rounds: tuple[ReflectionRound, ...] = ()
    planned: int = 0                               # rounds of reflection, if all of them run
    looks_at: int = 0                              # images that each round is shown
    hits: tuple[Hit, ...] = ()
    session_id: str = ""                           # the session it is stored in, once there is one

    @property
    def seconds(self) -> float:
        """Elapsed time in seconds."""
        return monotonic() - self.began


class LiveWatch(BackgroundJob[Progress], TurnObserver):
    """Progress observer that keeps the latest :class:`Progress` for display."""

    def __init__(
        self, text: str = "", total: int = 0, *, planned: int = 0, looks_at: int = 0, secret: bool = False
    ) -> None:
        BackgroundJob.__init__(self, Progress(new_id(), text, total=total, planned=planned, looks_at=looks_at))
        TurnObserver.__init__(self)
        self._secret = secret  # blind: what a method does while it works would name it

    @property
    def progress(self) -> Progress:
        return self.state

    def stored_in(self, session_id: str) -> None:
        """Record the session before its turn exists, so that a reloaded page finds it."""
        self.change(session_id=session_id)

    def stage(self, name: str) -> None:
        self._reveal(stage=name, partial=None)

    def partial(self, role: str, fields: Mapping[str, Any]) -> None:
        self._reveal(partial=dict(fields))

    def found(self, hits: Sequence[Hit]) -> None:
        self._reveal(hits=tuple(hits))

    def reflected(self, finished: ReflectionRound) -> None:
        self._reveal(rounds=(*self.state.rounds, finished), partial=None)

    def part_done(self) -> None:
        """One of ``total`` parts is done; the next one starts afresh."""
        self.change(done=self.state.done + 1, rounds=(), hits=(), partial=None, stage="")

    def stop(self) -> None:
        super().stop()
        self.change(stopping=True)

    def _reveal(self, **fields: Any) -> None:
        if not self._secret:
            self.change(**fields)


class Run(Generic[T]):
    """An action that runs in a thread of its own, whoever looks on. It goes on if nobody does any more, and has its
    result, or its error, for whoever asks later."""

    def __init__(self, job: Callable[[], T], watch: LiveWatch, during: AbstractContextManager[None]) -> None:
        self.watch = watch
        self._result: list[T] = []
        self._failure: list[BaseException] = []

        def work() -> None:
            try:
                with during:
                    self._result.append(job())
            except BaseException as error:  # handed over to the thread that asked
                self._failure.append(error)
            finally:
                watch.change(finished=True)

        self._thread = threading.Thread(target=carried(work), name="cirque-run", daemon=True)
        self._thread.start()

    def follow(self) -> Generator[Progress, None, T]:
        """Yield progress until the action is over; return its result or raise its error."""
        self._thread.join(FIRST_AFTER)
        seen = 0
        while self._thread.is_alive():
            yield self.watch.progress
            self._thread.join(EVERY)
            if self._thread.is_alive():
                seen = self.watch.wait(seen, SILENT)
        if self._failure:
            raise self._failure[0]
        return self._result[0]


class Runs:
    """Actions by id, so that a page can stop its own, and finds it again when it is loaded anew. The id is a secret of
    the page that received or chose it."""

    def __init__(self) -> None:
        self._running: dict[str, LiveWatch] = {}
        self._known: dict[str, Run[Any]] = {}   # the oldest first; of those that are over, the latest
        self._lock = threading.Lock()

    @contextmanager
    def of(self, watch: LiveWatch) -> Iterator[None]:
        run_id = watch.progress.run_id
        self._running[run_id] = watch
        try:
            yield
        finally:
            self._running.pop(run_id, None)

    def begin(self, job: Callable[[], T], watch: LiveWatch, run_id: str = "") -> Run[T]:
        """Run ``job`` in a thread. ``run_id``: the id that the page chose (32 hex digits; anything else, and one that
        is taken, is passed over)."""
        with self._lock:
            over = [name for name, one in self._known.items() if one.watch.progress.finished]
            for name in over[:max(0, len(over) - KEPT_OVER)]:
                del self._known[name]
            if re.fullmatch("[0-9a-f]{32}", run_id) and run_id not in self._known:
                watch.change(run_id=run_id)
            run = self._known[watch.progress.run_id] = Run(job, watch, self.of(watch))
        return run

    def find(self, run_id: str) -> Run[Any] | None:
        """An action that is going on, or was over not long ago."""
        return self._known.get(run_id)

    def at_work(self, session_id: str) -> bool:
        """Whether a search of this session is going on."""
        return any(watch.progress.session_id == session_id for watch in tuple(self._running.values()))

    def __len__(self) -> int:
        return len(self._running)

    def stop(self, run_id: str) -> bool:
        """Ask a run to finish early; False if it has already ended."""
        watch = self._running.get(run_id)
        if watch is None:
            return False
        watch.stop()
        return True
