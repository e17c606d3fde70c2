"""A long job over numbered work items, which can be killed, resumed and limited. Work on the items of a job a few at
a time; a failing one fails alone. What the last run of a construction was to do: ``run.json``, so that it can be
watched and resumed.

DIR/journal.jsonl   finished items, in the order in which they finished (see ``journal``)
DIR/protocol.json   what they depend on
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from cir_core.datasets.readers.soft import Confidence
from cir_core.errors import (
    ENDS_A_RUN,
    CirqueError,
    LanguageModelError,
    LanguageModelUnavailable,
    Stopped,
    TryLater,
    UnknownImage,
)
from cir_core.gallery.paths import disk_errors_explained
from cir_core.jobs.journal import ItemResult, JobCard, JobJournal, as_bytes, check_card, lock_folder
from cir_core.jobs.spending import Budget, CountedAnswers, ItemWatch, Spending
from cir_core.language.base import LanguageModel
from cir_core.language.wrappers.cached import SingleFlightLanguageModel
from cir_core.support.files import open_regular, write_atomically
from cir_core.types.composition import Usage

Work = tuple[int, Callable[[ItemWatch], Mapping[str, Any]]]
"""The number of an item in the journal, and what makes its result."""

PATIENCE = 20
"""Items in a row that a language model may fail at before the run ends."""
_WAITS = 30     # for images of too many megapixels at one time


@dataclass(frozen=True)
class _Outcome:
    """An item that is finished; or that is not, with the error that ends the run (None: the run was stopped)."""

    finished: ItemResult | None
    usage: Usage
    error: CirqueError | None = None
    failed_at_model: bool = False


class Workers:
    """``put`` receives every finished item, ``spend`` the usage of an unfinished one; both from the calling
    thread."""

    def __init__(self, spending: Spending, put: Callable[[ItemResult], None], spend: Callable[[Usage], None]) -> None:
        self._spending, self._put, self._spend = spending, put, spend
        self._in_a_row, self._loaded = 0, False

    def run(self, work: Iterable[Work], workers: int) -> None:
        """Returns when all of ``work`` is done, or when the spending is stopped.

        Raises what ends a run (:data:`~cir_core.errors.ENDS_A_RUN`), and ``LanguageModelError`` once
        ``PATIENCE`` items in a row failed at the language model. However it ends, finished items are put.
        """
        waiting: set[Future[_Outcome]] = set()
        with ThreadPoolExecutor(workers, thread_name_prefix="item") as pool:
            try:
                for item in work:
                    if self._spending.stopped:
                        break
                    if len(waiting) >= 2 * workers:
                        self._collect(waiting)
                    waiting.add(pool.submit(self._make, *item))
                while waiting:
                    self._collect(waiting)
            except BaseException as error:
                self._spending.stop()
                if isinstance(error, KeyboardInterrupt | LanguageModelUnavailable):
                    self._spending.shutdown()    # a person waits, or the server does not answer
                for future in waiting:
                    future.cancel()
                for future in wait(waiting).done:
                    if not future.cancelled() and future.exception() is None:
                        self._keep(future.result())
                raise

    def _collect(self, waiting: set[Future[_Outcome]]) -> None:
        """Wait for one or more of ``waiting`` and remove it, once it is kept. Raises what ends the run."""
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            waiting.discard(future)
            outcome = future.result()
            self._keep(outcome)
            if outcome.error is not None:
                raise outcome.error
            self._in_a_row = self._in_a_row + 1 if outcome.failed_at_model else 0
            if self._in_a_row == PATIENCE and outcome.finished:
                raise LanguageModelError(f"The language model failed {PATIENCE} times in a row, the last time: "
                                         f"{outcome.finished.failure} Connect another model "
                                         "(docs/how-to/language-models.md), then continue with --resume "
                                         "--retry-failed.")

    def _keep(self, outcome: _Outcome) -> None:
        if outcome.finished is not None:
            self._put(outcome.finished)
        else:
            self._spend(outcome.usage)

    def _make(self, item: int, make: Callable[[ItemWatch], Mapping[str, Any]]) -> _Outcome:
        watch, began, cold = ItemWatch(self._spending), time.perf_counter(), not self._loaded

        def finished(result: Mapping[str, Any] | None, failure: str = "") -> ItemResult:
            return ItemResult(item, result, failure, watch.usage, time.perf_counter() - began, cold)

        try:
            result = _patiently(lambda: make(watch))
            self._loaded = True
            return _Outcome(finished(result), watch.usage)
        except Stopped:
            return _Outcome(None, watch.usage)
        except UnknownImage as error:   # concerns this item alone, unlike other errors of galleries
            return _Outcome(finished(None, str(error)), watch.usage)
        except ENDS_A_RUN as error:
            self._spending.stop()       # at once: otherwise this thread would begin the next item
            return _Outcome(None, watch.usage, error)
        except LanguageModelError as error:
            return _Outcome(finished(None, str(error)), watch.usage, failed_at_model=True)
        except CirqueError as error:
            return _Outcome(finished(None, str(error)), watch.usage)


def _patiently(make: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """``make``, again after a refusal that is only temporary: too many large images are being decoded."""
    for _ in range(_WAITS):
        try:
            return make()
        except TryLater as error:
            time.sleep(error.seconds)
    return make()


Counts = TypeVar("Counts")
ProgressCallback = Callable[[int, int, Usage], None]
"""Called with the numbers of items done and in all, and the usage of all runs."""


@dataclass(frozen=True)
class JobOptions:
    """``retry_failed``: with ``resume``, try failed items again. ``started`` gets what stops the run, from any thread
    (:meth:`Spending.stop`)."""

    workers: int = 1
    budget: Budget = Budget()
    resume: bool = False
    retry_failed: bool = False
    progress: ProgressCallback | None = None
    started: Callable[[Spending], None] | None = None


@dataclass(frozen=True)
class JobReport:
    """``stopped``: why the run ended before its end, "" if it did not. ``usage`` is of all runs, ``answers`` and
    ``by_role`` of this one."""

    card: Mapping[str, Any]
    done: int
    total: int
    resumed: int
    stopped: str
    usage: Usage
    answers: Mapping[str, int]
    by_role: Mapping[str, Usage]
    seconds: float

    @property
    def complete(self) -> bool:
        return self.done == self.total


@dataclass(frozen=True)
class FilesReport(JobReport, Generic[Counts]):
    """``counts`` and ``outputs`` by subset or by file: what was made, and the files of it, which are () if the run was
    stopped. ``failures``: what failed, each with its "reason"."""

    counts: Mapping[str, Counts]
    outputs: Mapping[str, Sequence[Path]]
    failures: Sequence[Mapping[str, str]]


class Job:
    """One run, while its folder is locked: :func:`open_job`."""

    def __init__(self, journal: JobJournal, options: JobOptions) -> None:
        self.journal = journal
        self._options, self._began = options, time.perf_counter()
        progress = journal.progress
        self._over = frozenset(progress.offsets) - (progress.failed if options.retry_failed else frozenset())
        self.spending = Spending(options.budget, progress.usage)
        self._total = self._done = 0
        if options.started:
            options.started(self.spending)

    def language(self, model: LanguageModel) -> LanguageModel:
        """``model``, with its answers counted; requests that coincide are shared."""
        return SingleFlightLanguageModel(CountedAnswers(model, self.spending))

    def run(self, wanted: Sequence[int], make: Callable[[int, ItemWatch], Mapping[str, Any]]) -> JobReport:
        """Make the items ``wanted`` that are not over yet. ``make`` returns the result as JSON, and raises
        ``CirqueError`` if there is none. Raises what ends a run; finished items are kept."""
        self._total = len(wanted)
        self._done = resumed = sum(item in self._over for item in wanted)
        self._update()

        def put(finished: ItemResult) -> None:
            self.journal.put(finished)
            self._done += 1
            self._update()

        work = ((item, partial(make, item)) for item in wanted if item not in self._over)
        Workers(self.spending, put, self.journal.spend).run(work, self._options.workers)
        stopped = "" if self._done == self._total else self.spending.reason or "stopped"
        return JobReport(self.journal.card, self._done, self._total, resumed, stopped, self.journal.progress.usage,
                         self.spending.answers, self.spending.by_role, time.perf_counter() - self._began)

    def _update(self) -> None:
        if self._options.progress:
            self._options.progress(self._done, self._total, self.spending.total)


@contextmanager
def open_job(folder: Path, card: JobCard, options: JobOptions, doing: str) -> Iterator[Job]:
    """A run of ``card`` in ``folder``, to which its results may be written meanwhile.

    Raises:
        DatasetError: ``folder`` has results (and no ``resume``) or those of another card, or another process uses it.
        GalleryError: the disk is full.
    """
    check_card(folder / "journal.jsonl", card, resume=options.resume)
    with (disk_errors_explained(folder, card.kept, f"finished {card.kept}"), lock_folder(folder, doing) as path,
          closing(JobJournal(path, card)) as journal):
        write_atomically(folder / "protocol.json", as_bytes(journal.card))
        yield Job(journal, options)


RUN_FILE = "run.json"
_MOST_BYTES = 2**20


@dataclass(frozen=True)
class RunRecord:
    """``subsets``: (): all. ``limit``: queries of each subset. ``total`` of them all; ``complete``: all are over.
    ``others``: queries in the journal that this run did not want. ``thresholds``: of the files of targets that this run
    and earlier ones wrote, by their name."""

    subsets: tuple[str, ...] = ()
    limit: int | None = None
    total: int = 0
    workers: int = 1
    budget: Budget = Budget()
    complete: bool = False
    others: int = 0
    thresholds: Mapping[str, Confidence] = field(default_factory=dict)


_ADAPTER = TypeAdapter(RunRecord)


def write_run(folder: Path, record: RunRecord) -> None:
    write_atomically(folder / RUN_FILE, json.dumps(asdict(record), indent=1, ensure_ascii=False).encode() + b"\n")


def read_run(folder: Path) -> RunRecord | None:
    """None if there is none that can be read: constructions of earlier versions have none."""
    path = folder / RUN_FILE
    try:
        if path.is_symlink() or path.stat().st_size > _MOST_BYTES:
            return None
        with open_regular(path) as file:
            return _ADAPTER.validate_json(file.read(_MOST_BYTES))
    except (OSError, ValidationError):
        return None
