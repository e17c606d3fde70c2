"""The construction that this server runs in the background: one at a time, with the code of the command.

Its journal survives a killed process, so it is abandoned at shutdown after a moment, and resumed by a person.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic

from cir_core.construct.sessions.estimate import check_language
from cir_core.construct.sessions.run import ConstructionReport, construct_sessions
from cir_core.errors import CirqueError, DatasetError
from cir_core.jobs.job import JobOptions
from cir_core.jobs.journal import is_half_made, read_progress
from cir_core.jobs.spending import Spending
from cir_core.support.texts import quoted
from cir_core.types.composition import Usage
from web.benchmarks.requests import ConstructionRequest
from web.http.background import CONSTRUCTIONS, BackgroundPool
from web.http.public_errors import public_message
from web.http.request_ids import carried
from web.services import Services

_log = logging.getLogger("cirque.benchmarks")
STOPPED = "stopped on the screen"
_RESTARTED = "the server was stopped"


@dataclass(frozen=True)
class JobState:
    """``done`` of ``total`` sessions, of which ``resumed`` were there before (0 of 0: not begun). ``problem``: why it
    ended before its end; ``over``: it has ended."""

    name: str
    text: str
    done: int = 0
    total: int = 0
    resumed: int = 0
    began: float = field(default_factory=monotonic)
    usage: Usage = Usage()
    stopping: bool = False
    over: bool = False
    problem: str = ""

    @property
    def rate(self) -> float | None:
        """Sessions a second of this run; None until one has finished."""
        seconds, new = monotonic() - self.began, self.done - self.resumed
        return new / seconds if new > 0 and seconds > 0 else None


class ConstructionJobs:
    """Thread-safe."""

    def __init__(self, services: Services, root: Path, threads: BackgroundPool = CONSTRUCTIONS) -> None:
        self._services, self._root, self._threads = services, root, threads
        self._lock = threading.Lock()
        self._state: JobState | None = None
        self._spending: Spending | None = None

    def state(self) -> JobState | None:
        """Of the job at work, or of the last one."""
        with self._lock:
            return self._state

    def begin(self, request: ConstructionRequest, *, resume: bool) -> None:
        """Construct ``request`` in the background. Raises ``DatasetError`` while another construction is at work, or if
        there is a benchmark of its name (and no ``resume``)."""
        folder = self._root / request.name
        with self._lock:
            if self._state is not None and not self._state.over:
                raise DatasetError(f"This server is constructing {quoted(self._state.name)}, and constructs one "
                                   "benchmark at a time. Wait until it is done, or stop it: what it has finished is "
                                   "kept.")
            if not resume and folder.exists() and not is_half_made(folder):
                raise DatasetError(f"There is a benchmark {quoted(request.name)} already. Choose another name.")
            self._state, self._spending = JobState(request.name, "Reading the data set and the gallery"), None
        try:
            self._threads.submit(carried(lambda: self._run(request, folder, resume)))
        except RuntimeError as error:
            self._change(over=True, problem="The server is being stopped.")
            raise DatasetError("No construction can be started while the server is being stopped.") from error

    def stop(self, name: str) -> bool:
        """Let the job end before its next request; False if no job of this name is at work."""
        with self._lock:
            state = self._state
            if state is None or state.over or state.name != name:
                return False
            self._state = replace(state, stopping=True)
            spending = self._spending
        if spending is not None:
            spending.stop(STOPPED)
        return True

    def leave(self) -> None:
        """The server ends: stop, without waiting for requests under way."""
        with self._lock:
            spending = self._spending
            if self._state is not None:
                self._state = replace(self._state, stopping=True)
        if spending is not None:
            spending.stop(_RESTARTED)
            spending.shutdown()

    def _run(self, request: ConstructionRequest, folder: Path, resume: bool) -> None:
        problem = "The construction was interrupted."
        try:
            report = self._construct(request, folder, resume)
            problem = "" if report.outputs or report.stopped == STOPPED else f"Stopped: {report.stopped}."
        except CirqueError as error:
            problem = public_message(error)
        except Exception as error:
            _log.exception("Sessions could not be constructed.")
            problem = f"The sessions could not be constructed ({type(error).__name__}). See the server's log."
        finally:
            self._change(over=True, stopping=False, problem=problem)

    def _construct(self, request: ConstructionRequest, folder: Path, resume: bool) -> ConstructionReport:
        services = self._services
        construction = request.construction(services)
        chosen = construction.subsets.chosen(request.subsets)
        wanted = construction.wanted(chosen, request.limit)
        check_language(construction, read_progress(folder / "journal.jsonl").left(wanted) if resume else wanted)
        self._change(text="Constructing")
        return construct_sessions(
            construction, folder, subsets=request.subsets, limit=request.limit,
            options=JobOptions(request.at_a_time(services, construction), request.budget, resume, retry_failed=resume,
                               progress=self._progressed, started=self._started))

    def _started(self, spending: Spending) -> None:
        with self._lock:
            self._spending = spending
            stopping = self._state is not None and self._state.stopping
        if stopping:
            spending.stop(STOPPED)

    def _progressed(self, done: int, total: int, usage: Usage) -> None:
        with self._lock:
            first = self._state is not None and not self._state.total
        self._change(done=done, total=total, usage=usage, **({"resumed": done, "began": monotonic()} if first else {}))

    def _change(self, **fields: object) -> None:
        with self._lock:
            if self._state is not None:
                self._state = replace(self._state, **fields)    # type: ignore[arg-type]
