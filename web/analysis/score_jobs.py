"""Background jobs that compute scores: one at a time, at most one per study."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable
from contextlib import ExitStack
from dataclasses import dataclass, replace

from cachetools import FIFOCache

from cir_core.errors import CirqueError, StudyError
from web.http.background import SCORES, BackgroundPool
from web.http.long_actions import LiveWatch, Runs
from web.http.public_errors import public_message
from web.http.request_ids import carried

_log = logging.getLogger("cirque.analysis")
_KEPT = 100   # runs that are over and can still be asked for


@dataclass(frozen=True)
class ScoreRun:
    """State of a job: ``done`` of ``total`` queries (0 of 0: unknown). ``problem``: why it ended without scores."""

    run_id: str
    text: str
    done: int = 0
    total: int = 0
    finished: bool = False
    problem: str = ""


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


@dataclass(frozen=True)
class _AtWork:
    run_id: str
    of: Computation


class ScoreRuns:
    """Queue of score jobs. ``runs`` lets the page stop a running or waiting job."""

    def __init__(self, runs: Runs, threads: BackgroundPool = SCORES) -> None:
        self._runs, self._threads = runs, threads
        self._lock = threading.Lock()
        self._states: dict[str, ScoreRun] = {}   # of those at work
        self._ended: FIFOCache[str, ScoreRun] = FIFOCache(_KEPT)
        self._at_work: dict[str, _AtWork] = {}   # by study

    def begin(self, study_id: str, wanted: Computation) -> str:
        """Start or queue a job and return its run id; an equal job is reused.

        Raises ``StudyError`` while the study has another job, or if no job can be started.
        """
        with self._lock:
            if (there := self._at_work.get(study_id)) is not None:
                if there.of.key == wanted.key:
                    return there.run_id
                raise StudyError(f"“{there.of.name}” is being computed for this study ({self._how_far(there.run_id)}). "
                                 "Wait until it is done, or stop it and start again.")
            watch = LiveWatch(wanted.text)
            run_id = watch.progress.run_id
            self._at_work[study_id] = _AtWork(run_id, wanted)
            text = "Waiting for another study's computation" if self._threads.busy else wanted.text
            self._states[run_id] = ScoreRun(run_id, text)
        stoppable = ExitStack()
        stoppable.enter_context(self._runs.of(watch))
        try:
            self._threads.submit(carried(lambda: self._run(study_id, watch, wanted, stoppable)))
        except RuntimeError as error:
            watch.stop()   # a pool that finds no thread for it may find one later
            stoppable.close()
            problem = f"No computation can be started now ({error}). Try again later."
            self._over(study_id, run_id, problem)
            raise StudyError(problem) from error
        return run_id

    def state(self, run_id: str) -> ScoreRun | None:
        with self._lock:
            return self._states.get(run_id) or self._ended.get(run_id)

    def _run(self, study_id: str, watch: LiveWatch, wanted: Computation, stoppable: ExitStack) -> None:
        run_id = watch.progress.run_id
        problem = "The computation was interrupted."
        try:
            with stoppable:
                if watch.stopped:
                    problem = "It was stopped before it started."
                    return
                self._tell(run_id, wanted.text)
                wanted.work(watch, lambda text, done, total: self._tell(run_id, text, done, total))
            problem = ""
        except CirqueError as error:
            problem = public_message(error)
        except Exception as error:
            _log.exception("Scores could not be computed.")
            problem = f"The scores could not be computed ({type(error).__name__}). See the server's log."
        finally:
            self._over(study_id, run_id, problem)

    def _over(self, study_id: str, run_id: str, problem: str) -> None:
        with self._lock:
            if (there := self._at_work.get(study_id)) is not None and there.run_id == run_id:
                del self._at_work[study_id]
                self._ended[run_id] = replace(self._states.pop(run_id), finished=True, problem=problem)

    def _tell(self, run_id: str, text: str, done: int = 0, total: int = 0) -> None:
        with self._lock:
            self._states[run_id] = replace(self._states[run_id], text=text, done=done, total=total)

    def _how_far(self, run_id: str) -> str:
        state = self._states[run_id]
        return f"{state.done:,} of {state.total:,} queries" if state.total else state.text[:1].lower() + state.text[1:]
