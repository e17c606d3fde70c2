"""Background jobs that compute scores: one at a time, at most one per study."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable
from contextlib import ExitStack
from dataclasses import dataclass

from cachetools import FIFOCache

from cir_core.errors import StudyError
from web.http.background import SCORES, BackgroundPool
from web.http.long_actions import LiveWatch, Progress, Runs

_log = logging.getLogger("cirque.analysis")
_KEPT = 100   # runs that are over and can still be asked for


Tell = Callable[[str, int, int], None]
"""What is being done, and how many of how many queries are."""
Compute = Callable[[LiveWatch, Tell], None]


@dataclass(frozen=True)
class Computation:
    """A requested computation. ``key``: equal for equal scores; ``name``: for display; ``text``: the first step."""

    key: Hashable
    name: str
    text: str
    work: Compute


class ScoreRuns:
    """Queue of score jobs. ``runs`` lets the page stop a running or waiting job."""

    def __init__(self, runs: Runs, threads: BackgroundPool = SCORES) -> None:
        self._runs, self._threads = runs, threads
        self._lock = threading.Lock()
        self._at_work: dict[str, tuple[LiveWatch, Computation]] = {}   # by study
        self._ended: FIFOCache[str, Progress] = FIFOCache(_KEPT)

    def begin(self, study_id: str, wanted: Computation) -> str:
        """Start or queue a job and return its run id; an equal job is reused.

        Raises ``StudyError`` while the study has another job, or if no job can be started.
        """
        with self._lock:
            self._forget_finished(study_id)
            if study_id in self._at_work:
                watch, there = self._at_work[study_id]
                if there.key == wanted.key:
                    return watch.state.run_id
                raise StudyError(f"“{there.name}” is being computed for this study ({_how_far(watch.state)}). "
                                 "Wait until it is done, or stop it and start again.")
            watch = LiveWatch("Waiting for another study's computation" if self._threads.busy else wanted.text)
            self._at_work[study_id] = watch, wanted
        stoppable = ExitStack()
        stoppable.enter_context(self._runs.of(watch))
        try:
            self._threads.submit(lambda: self._run(study_id, watch, wanted, stoppable))
        except RuntimeError as error:
            watch.stop()   # a pool that finds no thread for it may find one later
            problem = f"No computation can be started now ({error}). Try again later."
            stoppable.close()
            watch.change(finished=True, problem=problem)
            raise StudyError(problem) from error
        return watch.state.run_id

    def state(self, run_id: str) -> Progress | None:
        """``done`` of ``total`` queries. ``problem``: why it ended without scores."""
        with self._lock:
            at_work = (watch.state for watch, _ in self._at_work.values() if watch.state.run_id == run_id)
            return next(at_work, None) or self._ended.get(run_id)

    def _run(self, study_id: str, watch: LiveWatch, wanted: Computation, stoppable: ExitStack) -> None:
        def compute() -> str:
            with stoppable:
                if watch.stopped:
                    return "It was stopped before it started."
                watch.change(text=wanted.text)
                wanted.work(watch, lambda text, done, total: watch.change(text=text, done=done, total=total))
                return ""

        try:
            watch.run(compute, _log, "Scores could not be computed")
        finally:
            with self._lock:
                self._forget_finished(study_id)

    def _forget_finished(self, study_id: str) -> None:
        """Of those that are finished only the last ones are kept. Called with the lock."""
        if study_id in self._at_work and (state := self._at_work[study_id][0].state).finished:
            del self._at_work[study_id]
            self._ended[state.run_id] = state


def _how_far(state: Progress) -> str:
    return f"{state.done:,} of {state.total:,} queries" if state.total else state.text[:1].lower() + state.text[1:]
