"""Scores that are being computed, each in a thread of its own, one at a time for a study."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from cir_core.errors import CirqueError
from web.live import LiveWatch, Runs

_log = logging.getLogger("cirque.analysis")
_KEPT = 100   # runs whose end can still be asked for


@dataclass(frozen=True)
class ScoreRun:
    """``done`` of ``total`` queries; 0 of 0 until that is known. ``problem``: why it ended without scores."""

    run_id: str
    text: str
    done: int = 0
    total: int = 0
    finished: bool = False
    problem: str = ""


Tell = Callable[[str, int, int], None]
"""What is being done, and how many of how many queries are."""


class ScoreRuns:
    """``runs`` lets the page stop one, as it stops a search."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._lock = threading.Lock()
        self._states: OrderedDict[str, ScoreRun] = OrderedDict()
        self._at_work: dict[str, str] = {}   # run by study

    def begin(self, study_id: str, text: str, work: Callable[[LiveWatch, Tell], None]) -> str:
        """Returns the run's id at once: that of the one at work, if the study has one already."""
        with self._lock:
            if study_id in self._at_work:
                return self._at_work[study_id]
            watch = LiveWatch(text)
            run_id = watch.progress.run_id
            self._at_work[study_id] = run_id
            self._states[run_id] = ScoreRun(run_id, text)
            while len(self._states) > _KEPT:
                self._states.popitem(last=False)
        threading.Thread(target=self._run, args=(study_id, watch, work), name="cirque-scores", daemon=True).start()
        return run_id

    def state(self, run_id: str) -> ScoreRun | None:
        with self._lock:
            return self._states.get(run_id)

    def _run(self, study_id: str, watch: LiveWatch, work: Callable[[LiveWatch, Tell], None]) -> None:
        run_id, problem = watch.progress.run_id, ""
        try:
            with self._runs.of(watch):
                work(watch, lambda text, done, total: self._put(run_id, text=text, done=done, total=total))
        except CirqueError as error:
            problem = str(error)
        except Exception as error:
            _log.exception("Scores could not be computed.")
            problem = f"The scores could not be computed ({type(error).__name__}). The server's log says more."
        with self._lock:
            del self._at_work[study_id]
        self._put(run_id, finished=True, problem=problem)

    def _put(self, run_id: str, **changes: str | int | bool) -> None:
        with self._lock:
            if (state := self._states.get(run_id)) is not None:
                self._states[run_id] = replace(state, **changes)   # type: ignore[arg-type]
