"""A long job over numbered work items, which can be killed, resumed and limited.

    DIR/journal.jsonl   finished items, in the order in which they finished (see ``journal``)
    DIR/protocol.json   what they depend on
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from cir_core.gallery.paths import disk_errors_explained
from cir_core.jobs.journal import ItemResult, JobCard, JobJournal, as_bytes, check_card, lock_folder
from cir_core.jobs.spending import Budget, CountedAnswers, ItemWatch, Spending
from cir_core.jobs.workers import Workers
from cir_core.language.base import LanguageModel
from cir_core.language.wrappers.single_flight import SingleFlightLanguageModel
from cir_core.support.files import write_atomically
from cir_core.types.composition import Usage

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
