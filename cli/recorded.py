"""The record that a long command keeps while it runs (:mod:`cir_core.jobs`), and how it stops when it is asked to."""

from __future__ import annotations

import getpass
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import typer

from cir_core.errors import CirqueError
from cir_core.jobs.commands import command_of
from cir_core.settings import get_settings, is_first_process

if TYPE_CHECKING:
    from cir_core.jobs.recorder import JobRecorder
    from cir_core.jobs.records import JobRecord

_GRACE = 10.0       # seconds in which a job that is asked to stop comes to the end of a batch
_INTERRUPTED = 130  # what typer makes of Ctrl-C
_current: JobRecorder | None = None
_listeners: list[list[str]] = []


class Stopped(typer.Exit):
    """The end of a command that has come to its budget, with exit code 1. ``why``: the end of a sentence."""

    def __init__(self, why: str) -> None:
        super().__init__(1)
        self.why = why


def progress(stage: str, done: float | None, total: float | None) -> None:
    """How far the command is, for its record. Raises ``KeyboardInterrupt`` if it was asked to stop, as Ctrl-C would."""
    if _current is None:
        return
    _current.progress(stage, None if done is None else int(done), None if total is None else int(total))
    if _current.stopping and threading.current_thread() is threading.main_thread():
        raise KeyboardInterrupt


def log(line: str) -> None:
    """A line for the record."""
    for lines in _listeners:
        lines.append(line)
    if _current is not None:
        _current.log(line)


@contextmanager
def listening() -> Iterator[list[str]]:
    """The lines for the record within the block."""
    lines: list[str] = []
    _listeners.append(lines)
    try:
        yield lines
    finally:
        _listeners.remove(lines)


@contextmanager
def recorded(
    arguments: Sequence[str], *, job_id: str = "", started_by: str = "", screen: bool = False
) -> Iterator[None]:
    """Keep a record of the command ``arguments`` (without "cirque") from its first progress on, if it is a long one
    and none is kept already. ``job_id``: continue this one, from the beginning on; then it raises ``DatasetError`` if
    it is running."""
    global _current
    if _current is not None or command_of(arguments) is None or not is_first_process():
        yield
        return
    from cir_core.jobs.recorder import JobRecorder
    from cir_core.jobs.records import JobRecords

    records = JobRecords(get_settings().home)

    def begin() -> JobRecord:
        return records.begin(arguments, str(Path.cwd()), started_by or _account(), screen=screen, job_id=job_id)

    _current = recorder = JobRecorder(records, begin, _interrupt_later)
    try:
        if job_id:
            recorder.begin()
        with _terminated_as_interrupted():
            yield
        recorder.end("done")
    except BaseException as error:
        _end(recorder, error)
        raise
    finally:
        _current = None


def _end(recorder: JobRecorder, error: BaseException) -> None:
    """A command that a person stopped may end with an exit code and a sentence."""
    code = getattr(error, "exit_code", getattr(error, "code", None))
    if isinstance(error, typer.Exit | SystemExit) and not code:
        recorder.end("done")
    elif isinstance(error, Stopped):
        recorder.end("stopped", f"Stopped: {error.why}. With a larger limit it continues.")
    elif isinstance(error, KeyboardInterrupt) or isinstance(error.__context__, KeyboardInterrupt) or (
            code == _INTERRUPTED):
        recorder.end("stopped")
    elif isinstance(error, typer.Exit | SystemExit):    # what it could not do it has printed
        recorder.end("failed", recorder.last_line)
    elif isinstance(error, CirqueError):
        recorder.end("failed", str(error))
    else:
        recorder.end("failed", f"{type(error).__name__}: {error}")


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM ends the command as Ctrl-C does; a second one ends the process."""
    if threading.current_thread() is not threading.main_thread() or (
            signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL):
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt_later() -> None:
    """For a batch that takes long, such as a request that nobody answers: Ctrl-C would not wait for it either."""
    recorder = _current

    def interrupt() -> None:
        if recorder is _current and recorder is not None:
            if hasattr(signal, "pthread_kill"):
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            else:
                signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(_GRACE, interrupt)
    timer.daemon = True
    timer.start()


def _account() -> str:
    with suppress(Exception):   # an account without a name
        return getpass.getuser()
    return ""
