"""Construct the sessions of a whole data set: a long job that can be killed, resumed and limited.

    DIR/journal.jsonl       finished sessions, in the order in which they finished (see ``journal``)
    DIR/protocol.json       the construction's card
    DIR/raw/SUBSET.json     the sessions in CIRCLED's raw form, in the order of the queries; written at the end
    DIR/failures.json       queries without a session, with the reasons
    DIR/run.json            what the last run was to do (see ``run_record``)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from cir_core.construct.sessions.builder import SessionBuilder
from cir_core.construct.sessions.job import Progress as Progress
from cir_core.construct.sessions.journal import ConstructionJournal, Finished, as_bytes, check_card, in_folder
from cir_core.construct.sessions.raw_records import raw_name, raw_result
from cir_core.construct.sessions.run_record import RunRecord, write_run
from cir_core.construct.sessions.settings import ConstructionCard, ConstructionSettings
from cir_core.construct.sessions.spending import Budget, CountedAnswers, Spending
from cir_core.construct.sessions.subsets import Subset, Subsets, subsets_of
from cir_core.construct.sessions.texts import TextsAlone
from cir_core.construct.sessions.workers import Work, Workers
from cir_core.datasets.readers.circled_raw import write_raw
from cir_core.datasets.records import Benchmark, BenchmarkQuery, caption_mode_of
from cir_core.encoders.base import Encoder
from cir_core.evaluation.strict_model import QueryWatch, StrictLanguageModel
from cir_core.gallery.gallery import Gallery
from cir_core.gallery.paths import disk_errors_explained
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import CaptionTask, DifferenceTask, MergeTask
from cir_core.language.wrappers.conditions import conditions_of
from cir_core.language.wrappers.single_flight import SingleFlightLanguageModel
from cir_core.search.protocol import TIE_RULE
from cir_core.search.searcher import Searcher
from cir_core.support.files import write_atomically
from cir_core.types.composition import Usage
from cir_core.types.domains import Domain
from cir_core.version import __version__


@dataclass(frozen=True)
class SubsetCounts:
    queries: int
    sessions: int
    failures: int
    successes: int


@dataclass(frozen=True)
class ConstructionReport:
    """``outputs``: subset to its raw file; empty if the run was stopped before its end, for the reason ``stopped``.
    ``usage`` is of all runs, ``answers`` and ``by_role`` of this one."""

    card: Mapping[str, Any]
    counts: Mapping[str, SubsetCounts]
    outputs: Mapping[str, Path]
    failures: Sequence[Mapping[str, str]]
    notes: Sequence[str]
    stopped: str
    done: int
    total: int
    resumed: int
    usage: Usage
    answers: Mapping[str, int]
    by_role: Mapping[str, Usage]
    seconds: float


@dataclass(frozen=True)
class Construction:
    """A data set with everything sessions are constructed with. ``selecting`` and ``diversity`` are the encoders of
    captions and of modification texts; by default the gallery's."""

    benchmark: Benchmark
    gallery: Gallery
    encoder: Encoder
    language: LanguageModel
    settings: ConstructionSettings = ConstructionSettings()
    selecting: Encoder | None = None
    diversity: Encoder | None = None
    domain: Domain = "garment"
    subsets: Subsets = field(init=False)

    def __post_init__(self) -> None:
        self.gallery.check_encoder(self.encoder)
        found = subsets_of(self.benchmark, self.gallery, fold_duplicates=self.settings.fold_duplicates)
        object.__setattr__(self, "subsets", found)

    @property
    def card(self) -> ConstructionCard:
        encoders = {"search": self.encoder, "select": self.selecting or self.encoder,
                    "diversity": self.diversity or self.encoder}
        tasks = (CaptionTask(domain=self.domain), MergeTask(domain=self.domain), DifferenceTask(domain=self.domain))
        return ConstructionCard(
            self.benchmark.name, self.benchmark.split, self.benchmark.digest, caption_mode_of(self.benchmark.queries),
            self.gallery.name, self.gallery.digest, self.domain,
            {use: {"spec": one.identity.spec, "revision": one.identity.revision} for use, one in encoders.items()},
            self.language.name, {task.role: conditions_of(self.language, task).prompt_version for task in tasks},
            self.settings, TIE_RULE, __version__,
        )

    def builders(self, subsets: Sequence[Subset], spending: Spending) -> dict[str, SessionBuilder]:
        """One for each subset; they share the language model, whose answers ``spending`` counts."""
        language = SingleFlightLanguageModel(CountedAnswers(self.language, spending))
        encoder = TextsAlone(self.encoder)
        selecting = TextsAlone(self.selecting) if self.selecting else encoder
        diversity = TextsAlone(self.diversity) if self.diversity else encoder
        return {
            one.name: SessionBuilder(
                Searcher(self.gallery, encoder, StrictLanguageModel(language), within=one.image_ids,
                         domain=self.domain),
                self.settings, selecting=selecting, diversity=diversity, language=language,
            ) for one in subsets
        }


def construct_sessions(
    construction: Construction, folder: Path, *, subsets: Sequence[str] = (), limit: int | None = None,
    workers: int = 1, budget: Budget = Budget(), resume: bool = False, retry_failed: bool = False,
    progress: Progress | None = None, started: Callable[[Spending], None] | None = None,
) -> ConstructionReport:
    """Construct a session from each query of ``subsets`` (default: all), the first ``limit`` of each.

    ``started`` gets what stops the run, from any thread (:meth:`Spending.stop`).

    Finished sessions are kept in ``folder``, whatever happens; ``resume`` goes on with them, under the same settings.
    The raw files do not depend on ``workers``, nor on where earlier runs ended. A failing session is listed with its
    reason; ``retry_failed`` tries those of earlier runs again.

    Raises:
        DatasetError: an unknown subset; ``folder`` holds sessions (and no ``resume``), those of other settings, or is
            used by another process.
        LanguageModelUnavailable, EncoderUnavailable: nothing is lost; run it again with ``resume``.
        GalleryError: the disk is full.
    """
    began = time.perf_counter()
    chosen = construction.subsets.chosen(subsets)
    wanted = {one.name: list(one.positions[:limit]) for one in chosen}
    check_card(folder / "journal.jsonl", construction.card, resume=resume)
    with (disk_errors_explained(folder, "sessions", "finished sessions"), in_folder(folder) as path,
          closing(ConstructionJournal(path, construction.card)) as journal):
        write_atomically(folder / "protocol.json", as_bytes(journal.card))
        tally = journal.tally
        over = frozenset(tally.offsets) - (tally.failed if retry_failed else frozenset())
        spending = Spending(budget, tally.usage)
        total = sum(map(len, wanted.values()))
        others = len(tally.offsets.keys() - {position for positions in wanted.values() for position in positions})
        record = RunRecord(tuple(subsets), limit, total, workers, budget, others=others)
        write_run(folder, record)
        done = resumed = sum(position in over for positions in wanted.values() for position in positions)

        def put(finished: Finished) -> None:
            nonlocal done
            journal.put(finished)
            done += 1
            if progress:
                progress(done, total, spending.total)

        if started:
            started(spending)
        if progress:
            progress(done, total, spending.total)
        builders = construction.builders(chosen, spending)
        Workers(spending, put, journal.spend).run(_left(construction, wanted, over, builders), workers)
        complete = done == total
        outputs = _write(folder, construction, chosen, wanted, journal) if complete else {}
        failures = _failures(construction, wanted, journal)
        write_atomically(folder / "failures.json", as_bytes(failures))
        write_run(folder, replace(record, complete=complete))
        return ConstructionReport(
            journal.card, _counts(wanted, journal), outputs, failures, construction.subsets.notes,
            "" if complete else spending.reason, done, total, resumed, tally.usage, spending.answers,
            spending.by_role, time.perf_counter() - began,
        )


def _left(
    construction: Construction, wanted: Mapping[str, Sequence[int]], over: frozenset[int],
    builders: Mapping[str, SessionBuilder],
) -> Iterator[Work]:
    for name, positions in wanted.items():
        for position in positions:
            if position not in over:
                query = construction.benchmark.queries[position]
                yield position, partial(_construct, builders[name], query, name)


def _construct(builder: SessionBuilder, query: BenchmarkQuery, subset: str, watch: QueryWatch) -> dict[str, Any]:
    return raw_result(builder.build(query, watch), subset)


def _write(
    folder: Path, construction: Construction, chosen: Sequence[Subset], wanted: Mapping[str, Sequence[int]],
    journal: ConstructionJournal,
) -> dict[str, Path]:
    outputs = {}
    for subset in chosen:
        positions = list(wanted[subset.name])
        failed = sum(position in journal.tally.failed for position in positions)
        head = {
            "dataset_name": raw_name(subset.name), "config": journal.card,
            "data_completeness": {"queries": len(positions), "sessions": len(positions) - failed, "failed": failed,
                                  "images": len(subset.image_ids)},
        }
        outputs[subset.name] = folder / "raw" / f"{subset.name}.json"
        results = (found.result for found in map(journal.read, positions) if found.result is not None)
        write_raw(outputs[subset.name], head, results)
    return outputs


def _failures(
    construction: Construction, wanted: Mapping[str, Sequence[int]], journal: ConstructionJournal
) -> list[dict[str, str]]:
    return [
        {"subset": name, "query_id": construction.benchmark.queries[position].query_id,
         "reason": journal.read(position).failure}
        for name, positions in wanted.items() for position in positions if position in journal.tally.failed
    ]


def _counts(wanted: Mapping[str, Sequence[int]], journal: ConstructionJournal) -> dict[str, SubsetCounts]:
    counts = {}
    for name, positions in wanted.items():
        done = [position for position in positions if position in journal.tally.offsets]
        failed = sum(position in journal.tally.failed for position in done)
        successes = sum(bool(found.result and found.result["success"]) for found in map(journal.read, done))
        counts[name] = SubsetCounts(len(positions), len(done) - failed, failed, successes)
    return counts
