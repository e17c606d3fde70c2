"""The construction that this server runs in the background: one at a time, with the code of the command.

Its journal survives a killed process, so it is abandoned at shutdown after a moment, and resumed by a person.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cir_core.construct.sessions.estimate import check_language
from cir_core.construct.sessions.run import construct_sessions
from cir_core.errors import DatasetError
from cir_core.jobs.estimate import Pace
from cir_core.jobs.job import JobOptions
from cir_core.jobs.journal import is_half_made, read_progress
from cir_core.jobs.recorder import JobRecorder
from cir_core.jobs.records import JobRecords
from cir_core.jobs.spending import Spending
from cir_core.support.texts import quoted
from cir_core.types.composition import Usage
from web.benchmarks.requests import ConstructionRequest
from web.http.background import CONSTRUCTIONS, BackgroundJob, BackgroundPool, JobState
from web.services import Services

_log = logging.getLogger("cirque.benchmarks")
STOPPED = "stopped on the screen"
_RESTARTED = "the server was stopped"


@dataclass(frozen=True, kw_only=True)
class ConstructionState(JobState):
    """``done`` of ``total`` sessions."""

    name: str
    text: str
    pace: Pace = field(default_factory=Pace)
    usage: Usage = Usage()


class ConstructionJobs:
    """Thread-safe."""

    def __init__(self, services: Services, root: Path, threads: BackgroundPool = CONSTRUCTIONS) -> None:
        self._services, self._root, self._threads = services, root, threads
        self._records = JobRecords(services.settings.home)
        self._lock = threading.Lock()
        self._job: BackgroundJob[ConstructionState] | None = None
        self._spending: Spending | None = None

    def state(self) -> ConstructionState | None:
        """Of the job at work, or of the last one."""
        job = self._job
        return job.state if job else None

    def begin(self, request: ConstructionRequest, *, resume: bool, started_by: str = "") -> None:
        """Construct ``request`` in the background, for this person. Raises ``DatasetError`` while another construction
        is at work, or if there is a benchmark of its name (and no ``resume``)."""
        folder = self._root / request.name
        with self._lock:
            if (at_work := self.state()) is not None and not at_work.finished:
                raise DatasetError(f"This server is constructing {quoted(at_work.name)}, and constructs one "
                                   "benchmark at a time. Wait until it is done, or stop it: what it has finished is "
                                   "kept.")
            if not resume and folder.exists() and not is_half_made(folder):
                raise DatasetError(f"The benchmark {quoted(request.name)} already exists. Choose another name.")
            job = BackgroundJob(ConstructionState(name=request.name, text="Reading the data set and the gallery"))
            self._job, self._spending = job, None
        recorder = JobRecorder(
            self._records, lambda: self._records.begin(request.command(folder), str(self._root), started_by,
                                                       screen=True), lambda: self._stop_job(job))
        try:
            self._threads.submit(lambda: self._recorded(job, recorder, lambda: self._construct(
                job, recorder, request, folder, resume)))
        except RuntimeError as error:
            job.change(finished=True, problem="The server is being stopped.")
            raise DatasetError("No construction can be started while the server is being stopped.") from error

    def stop(self, name: str) -> bool:
        """Let the job end before its next request; False if no job of this name is at work."""
        job = self._job
        return job is not None and job.state.name == name and self._stop_job(job)

    def _stop_job(self, job: BackgroundJob[ConstructionState]) -> bool:
        with self._lock:
            if job is not self._job or job.state.finished:
                return False
            spending = self._spending
            job.change(stopping=True)
        if spending is not None:
            spending.stop(STOPPED)
        return True

    def shutdown(self) -> None:
        """The server ends: stop, without waiting for requests under way."""
        with self._lock:
            spending = self._spending
            if self._job is not None:
                self._job.change(stopping=True)
        if spending is not None:
            spending.stop(_RESTARTED)
            spending.shutdown()

    def _recorded(
        self, job: BackgroundJob[ConstructionState], recorder: JobRecorder, work: Callable[[], str]
    ) -> None:
        recorder.progress(job.state.text, 0, None)
        try:
            job.run(work, _log, "Sessions could not be constructed")
        finally:
            why = self._spending.reason if self._spending is not None else ""
            problem = job.state.problem
            recorder.end("stopped" if why and (problem or why == STOPPED) else "failed" if problem else "done", problem)

    def _construct(
        self, job: BackgroundJob[ConstructionState], recorder: JobRecorder, request: ConstructionRequest,
        folder: Path, resume: bool,
    ) -> str:
        """Returns why it ended before its end; "" if it did not, or if a person stopped it."""
        services = self._services
        construction = request.construction(services)
        chosen = construction.subsets.chosen(request.subsets)
        wanted = construction.wanted(chosen, request.limit)
        check_language(construction, read_progress(folder / "journal.jsonl").left(wanted) if resume else wanted)

        def started(spending: Spending) -> None:
            with self._lock:
                self._spending = spending
            if job.state.stopping:
                spending.stop(STOPPED)

        def progressed(done: int, total: int, usage: Usage) -> None:
            job.state.pace.update(done)
            job.change(done=done, total=total, usage=usage)
            recorder.progress(job.state.text, done, total)

        workers = request.at_a_time(services, construction)
        job.change(text="Constructing", pace=Pace(workers))
        report = construct_sessions(
            construction, folder, subsets=request.subsets, limit=request.limit,
            options=JobOptions(workers, request.budget, resume, retry_failed=resume,
                               progress=progressed, started=started))
        return "" if report.outputs or report.stopped == STOPPED else f"Stopped: {report.stopped}."
