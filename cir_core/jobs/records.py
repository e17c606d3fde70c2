"""Records of long jobs, one small file each, whichever process runs the job: for a list of all of them.

    <home>/jobs/<id>.json   what the job is, how far it is, its last lines (see ``recorder``, which writes it)
    <home>/jobs/<id>.stop   somebody asked it to stop
    <home>/jobs/lock        held while a job is begun, resumed or forgotten

A record is never needed to continue a job: that is what its journal is for.
"""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from cir_core.errors import DatasetError
from cir_core.gallery.paths import try_lock
from cir_core.jobs.commands import again, command_of, plain, recordable
from cir_core.support.files import open_regular, write_atomically
from cir_core.support.texts import quoted
from cir_core.types.records import new_id

State = Literal["running", "stopped", "failed", "done", "interrupted"]
KEPT = 100              # records of jobs that are over
SILENT = 120.0          # seconds after which a job of another machine is taken for dead
_MOST_BYTES = 2**18
_JITTER = 3.0           # seconds: the system tells the beginning of a process by the clock
_PATIENCE = 500         # looks at the lock: not every file system has locks
_ID = re.compile(r"[0-9a-z]{8}\Z")


@dataclass(frozen=True)
class JobRecord:
    """``command``: what follows "cirque", to be run in ``folder``. ``screen``: begun or resumed there by the account
    ``started_by``; else by that account of the system, on a command line. ``left``: seconds, as
    :class:`~cir_core.jobs.estimate.TimeRange` has them, at ``alive_at``. Moments are seconds since 1970."""

    job_id: str
    kind: str
    command: tuple[str, ...]
    folder: str
    started_by: str
    screen: bool = False
    state: State = "running"
    stage: str = ""
    done: int = 0
    total: int = 0
    rate: float | None = None
    left: tuple[float, float, float] | None = None
    log: tuple[str, ...] = ()
    error: str = ""
    host: str = ""
    process: int = 0
    process_began: float = 0.0
    began_at: float = 0.0
    alive_at: float = 0.0

    @property
    def running(self) -> bool:
        return self.state == "running"

    @property
    def resumable(self) -> bool:
        """Whether it ended before its end, and may be run again."""
        return self.state in ("stopped", "failed", "interrupted") and again(self.command) is not None

    @property
    def resumes(self) -> bool:
        """Whether it would continue, and not begin anew."""
        command = command_of(self.command)
        return command is not None and command.resumes


_ADAPTER = TypeAdapter(JobRecord)


class JobRecords:
    """All jobs of a home folder. Usable by several processes."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "jobs"

    def all(self) -> list[JobRecord]:
        """Those that run first, then the latest first. What cannot be read is left out."""
        found = [one for path in self.folder.glob("*.json") if (one := self._read(path)) is not None]
        return sorted(found, key=lambda one: (not one.running, -one.began_at, one.job_id))

    def find(self, job_id: str) -> JobRecord:
        """Raises ``DatasetError`` if there is none."""
        found = self._read(self.folder / f"{job_id}.json") if _ID.match(job_id) else None
        if found is None:
            raise DatasetError(f"There is no job {quoted(job_id)}. cirque jobs lists them.")
        return found

    def begin(
        self, command: Sequence[str], folder: str, started_by: str, *, screen: bool = False, job_id: str = ""
    ) -> JobRecord:
        """A record of this process for a job that begins: a new one, or that of the same job if an earlier run ended
        before its end, or that of ``job_id``. Raises ``DatasetError`` if that one is running; ``OSError``."""
        job, now = command_of(command), time.time()
        with self._locked():
            every = self.all()
            if job_id and self.find(job_id).running:
                raise DatasetError(f"Job {job_id} is running. Stop it first: cirque jobs stop {job_id}")
            earlier = next((one for one in every if one.job_id == job_id or (
                not job_id and not one.running and one.state != "done" and one.folder == folder
                and plain(one.command) == plain(recordable(command)))), None)
            record = JobRecord(
                earlier.job_id if earlier else new_id(8), job.kind if job else "Job", recordable(command), folder,
                started_by, screen, done=earlier.done if earlier else 0, total=earlier.total if earlier else 0,
                log=earlier.log if earlier else (), host=_host(), process=os.getpid(),
                process_began=_began(os.getpid()) or 0.0, began_at=now, alive_at=now)
            self._stop_file(record.job_id).unlink(missing_ok=True)
            for old in [one for one in every if not one.running and one is not earlier][KEPT:]:
                self._remove(old.job_id)
            self.write(record)
        return record

    def add(self, command: Sequence[str], folder: str, started_by: str) -> JobRecord:
        """A record of a job that is to be run by :meth:`begin` with its id. Raises ``OSError``."""
        job, now = command_of(command), time.time()
        record = JobRecord(new_id(8), job.kind if job else "Job", recordable(command), folder, started_by, True,
                           "stopped", began_at=now, alive_at=now)
        with self._locked():
            self.write(record)
        return record

    def write(self, record: JobRecord) -> None:
        """Raises ``OSError``."""
        write_atomically(self.folder / f"{record.job_id}.json", _ADAPTER.dump_json(record, indent=1), private=True,
                         synced=not record.running)
        if not record.running:
            self._stop_file(record.job_id).unlink(missing_ok=True)

    def ask_to_stop(self, job_id: str) -> bool:
        """Let it end before its next batch; False if it is over. Raises ``DatasetError`` if there is no such job, or
        it cannot be asked."""
        if not self.find(job_id).running:
            return False
        try:
            self._stop_file(job_id).touch()
        except OSError as error:
            raise DatasetError(f"Job {job_id} cannot be asked to stop: {error.strerror}. Stop its process "
                               "instead.") from error
        return True

    def asked_to_stop(self, job_id: str) -> bool:
        return self._stop_file(job_id).exists()

    def forget(self, job_id: str) -> None:
        """Remove the record of a job that is over; what it made stays. Raises ``DatasetError``."""
        self.find(job_id)
        with self._locked():
            if self.find(job_id).running:
                raise DatasetError(f"Job {job_id} is running. Stop it first: cirque jobs stop {job_id}")
            self._remove(job_id)

    def _remove(self, job_id: str) -> None:
        with suppress(OSError):
            (self.folder / f"{job_id}.json").unlink(missing_ok=True)
            self._stop_file(job_id).unlink(missing_ok=True)

    def _stop_file(self, job_id: str) -> Path:
        return self.folder / f"{job_id}.stop"

    def _read(self, path: Path) -> JobRecord | None:
        try:
            with open_regular(path) as file:
                record = _ADAPTER.validate_json(file.read(_MOST_BYTES))
        except (OSError, ValidationError):
            return None
        if record.job_id != path.stem:
            return None
        return replace(record, state="interrupted") if record.running and not _is_alive(record) else record

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.folder / "lock").open("a+") as file:
            for _ in range(_PATIENCE):
                if try_lock(file):
                    break
                time.sleep(0.01)    # others hold it for as long as a small file is written
            yield


def _is_alive(record: JobRecord) -> bool:
    """On this machine, whether the process is there, and not another with its number. Where the clock was set, its
    beginning seems to be another one: then it has said lately that it lives."""
    said_lately = abs(time.time() - record.alive_at) < SILENT
    if record.host != _host():
        return said_lately
    began = _began(record.process)
    return began is not None and (abs(began - record.process_began) < _JITTER or said_lately)


def _began(process: int) -> float | None:
    """When a process of this machine began; None if it is over."""
    import psutil

    try:
        found = psutil.Process(process)
        return None if found.status() == psutil.STATUS_ZOMBIE else float(found.create_time())
    except psutil.Error:
        return None


@cache
def _host() -> str:
    return platform.node()
