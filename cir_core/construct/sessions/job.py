"""A long job over numbered pieces of work, which can be killed, resumed and limited.

    DIR/journal.jsonl   finished pieces, in the order in which they finished (see ``journal``)
    DIR/protocol.json   what they depend on
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cir_core.construct.sessions.journal import (
    Card,
    ConstructionJournal,
    Finished,
    as_bytes,
    check_card,
    in_folder,
)
from cir_core.construct.sessions.spending import Budget, CountedAnswers, SessionWatch, Spending
from cir_core.construct.sessions.workers import Workers
from cir_core.gallery.paths import disk_errors_explained
from cir_core.language.base import LanguageModel
from cir_core.language.wrappers.single_flight import SingleFlightLanguageModel
from cir_core.support.files import write_atomically
from cir_core.types.composition import Usage

Progress = Callable[[int, int, Usage], None]
"""Called with the numbers of pieces done and in all, and the usage of all runs."""
Make = Callable[[int, SessionWatch], Mapping[str, Any]]
"""The result of the piece at a position, as JSON. Raises ``CirqueError`` if there is none."""


@dataclass(frozen=True)
class JobOptions:
    """``retry_failed``: with ``resume``, try failed pieces again."""

    workers: int = 1
    budget: Budget = Budget()
    resume: bool = False
    retry_failed: bool = False
    progress: Progress | None = None


@dataclass(frozen=True)
class JobReport:
    """``stopped``: why the run ended before its end, "" if it did not. ``usage`` is of all runs, ``answers`` of this
    one, by role."""

    card: Mapping[str, Any]
    done: int
    total: int
    resumed: int
    stopped: str
    usage: Usage
    answers: Mapping[str, int]
    seconds: float

    @property
    def complete(self) -> bool:
        return self.done == self.total


class Job:
    """One run, while its folder is locked: :func:`long_job`."""

    def __init__(self, journal: ConstructionJournal, options: JobOptions) -> None:
        self.journal = journal
        self._options, self._began = options, time.perf_counter()
        self._over = frozenset(journal.tally.offsets) - (journal.tally.failed if options.retry_failed else frozenset())
        self.spending = Spending(options.budget, journal.tally.usage)
        self._total = self._done = self._resumed = 0

    def language(self, model: LanguageModel) -> LanguageModel:
        """``model``, with its answers counted; requests that coincide are shared."""
        return SingleFlightLanguageModel(CountedAnswers(model, self.spending))

    def run(self, wanted: Sequence[int], make: Make) -> JobReport:
        """Make the pieces at ``wanted`` that are not over yet. Raises what ends a run; finished pieces are kept."""
        self._total = len(wanted)
        self._done = self._resumed = sum(position in self._over for position in wanted)
        self._update()

        def put(finished: Finished) -> None:
            self.journal.put(finished)
            self._done += 1
            self._update()

        def bound(position: int) -> Callable[[SessionWatch], Mapping[str, Any]]:
            return lambda watch: make(position, watch)

        work = ((position, bound(position)) for position in wanted if position not in self._over)
        Workers(self.spending, put, self.journal.spend).run(work, self._options.workers)
        stopped = "" if self._done == self._total else self.spending.reason or "stopped"
        return JobReport(self.journal.card, self._done, self._total, self._resumed, stopped, self.journal.tally.usage,
                         self.spending.answers, time.perf_counter() - self._began)

    def _update(self) -> None:
        if self._options.progress:
            self._options.progress(self._done, self._total, self.spending.total)


@contextmanager
def long_job(folder: Path, card: Card, options: JobOptions, doing: str) -> Iterator[Job]:
    """A run of ``card`` in ``folder``, to which its results may be written meanwhile.

    Raises:
        DatasetError: ``folder`` has results (and no ``resume``) or those of another card, or another process uses it.
        GalleryError: the disk is full.
    """
    check_card(folder / "journal.jsonl", card, resume=options.resume)
    with (disk_errors_explained(folder, card.kept, f"finished {card.kept}"), in_folder(folder, doing) as path,
          closing(ConstructionJournal(path, card)) as journal):
        write_atomically(folder / "protocol.json", as_bytes(journal.card))
        yield Job(journal, options)
