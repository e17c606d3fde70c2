"""Construct the sessions of a whole data set: a long job that can be killed, resumed and limited.

    DIR/journal.jsonl, DIR/protocol.json        finished sessions, and the construction's card (see ``jobs.job``)
    DIR/raw/SUBSET.json     the sessions in CIRCLED's raw format, in the order of the queries; written at the end
    DIR/failures.json       queries without a session, with the reasons
    DIR/run.json            what the last run was to do (see ``run_record``)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cir_core.construct.inputs import TextsAlone
from cir_core.construct.sessions.builder import DIGITS, ConstructedSession, ConstructedTurn, SessionBuilder
from cir_core.construct.sessions.settings import ConstructionCard, ConstructionSettings
from cir_core.construct.sessions.subsets import Subset, Subsets, subsets_of
from cir_core.datasets.readers.circled import released_id
from cir_core.datasets.readers.circled_raw import write_raw
from cir_core.datasets.records import Benchmark, caption_mode_of
from cir_core.encoders.base import Encoder
from cir_core.evaluation.method_runs import StrictLanguageModel
from cir_core.gallery.gallery import Gallery
from cir_core.jobs.job import FilesReport, JobOptions, RunRecord, open_job, write_run
from cir_core.jobs.journal import JobJournal, as_bytes
from cir_core.jobs.spending import CountedAnswers, ItemWatch, Spending
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import CaptionTask, DifferenceTask, MergeTask
from cir_core.language.wrappers.base import conditions_of
from cir_core.language.wrappers.cached import SingleFlightLanguageModel
from cir_core.search.protocol import TIE_RULE
from cir_core.search.searcher import Searcher
from cir_core.support.files import write_atomically
from cir_core.types.records import Domain
from cir_core.version import __version__


@dataclass(frozen=True)
class SubsetCounts:
    queries: int
    sessions: int
    failures: int
    successes: int


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

    def wanted(self, subsets: Sequence[Subset], limit: int | None) -> list[int]:
        """Positions of the first ``limit`` queries of each of ``subsets``."""
        return [position for one in subsets for position in one.positions[:limit]]

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
    options: JobOptions = JobOptions(),
) -> FilesReport[SubsetCounts]:
    """Construct a session from each query of ``subsets`` (default: all), the first ``limit`` of each.

    Finished sessions are kept in ``folder``, whatever happens; ``options.resume`` goes on with them, under the same
    settings. The raw files do not depend on the workers, nor on where earlier runs ended. A failing session is listed
    with its reason.

    Raises:
        DatasetError: an unknown subset; ``folder`` holds sessions (and no ``resume``), those of other settings, or is
            used by another process.
        LanguageModelUnavailable, EncoderUnavailable: nothing is lost; run it again with ``resume``.
        GalleryError: the disk is full.
    """
    chosen = construction.subsets.chosen(subsets)
    wanted = {one.name: list(one.positions[:limit]) for one in chosen}
    subset_of = {position: name for name, positions in wanted.items() for position in positions}
    with open_job(folder, construction.card, options, "constructs sessions") as job:
        record = RunRecord(tuple(subsets), limit, len(subset_of), options.workers, options.budget,
                           others=len(job.journal.progress.offsets.keys() - subset_of.keys()))
        write_run(folder, record)
        builders = construction.builders(chosen, job.spending)

        def construct(position: int, watch: ItemWatch) -> Mapping[str, Any]:
            subset = subset_of[position]
            return _raw_result(builders[subset].build(construction.benchmark.queries[position], watch), subset)

        run = job.run(list(subset_of), construct)
        outputs = _write(folder, chosen, wanted, job.journal) if run.complete else {}
        failures = [{"subset": subset_of[one.item], "query_id": construction.benchmark.queries[one.item].query_id,
                     "reason": one.failure}
                    for one in job.journal.results(at for at in subset_of if at in job.journal.progress.failed)]
        write_atomically(folder / "failures.json", as_bytes(failures))
        write_run(folder, replace(record, complete=run.complete))
        return FilesReport(**vars(run), counts=_counts(wanted, job.journal), outputs=outputs, failures=failures)


def _write(
    folder: Path, chosen: Sequence[Subset], wanted: Mapping[str, Sequence[int]],
    journal: JobJournal,
) -> dict[str, tuple[Path]]:
    outputs = {}
    for subset in chosen:
        positions = list(wanted[subset.name])
        failed = sum(position in journal.progress.failed for position in positions)
        head = {
            "dataset_name": "circo" if subset.name == "circo_val" else subset.name, "config": journal.card,
            "data_completeness": {"queries": len(positions), "sessions": len(positions) - failed, "failed": failed,
                                  "images": len(subset.image_ids)},
        }
        path = folder / "raw" / f"{subset.name}.json"
        write_raw(path, head, (found.result for found in journal.results(positions) if found.result is not None))
        outputs[subset.name] = (path,)
    return outputs


def _counts(wanted: Mapping[str, Sequence[int]], journal: JobJournal) -> dict[str, SubsetCounts]:
    counts = {}
    for name, positions in wanted.items():
        done = [position for position in positions if position in journal.progress.offsets]
        failed = sum(position in journal.progress.failed for position in done)
        successes = sum(bool(found.result and found.result["success"]) for found in journal.results(done))
        counts[name] = SubsetCounts(len(positions), len(done) - failed, failed, successes)
    return counts


def _raw_result(session: ConstructedSession, subset: str) -> dict[str, Any]:
    """The session as a member of ``results``. ``text_similarity``, ``similar_turn`` (from 0, as ``turn``),
    ``image_sha256`` and ``notes`` of a turn are not in the release."""
    query = session.query
    targets = query.target_ids
    return {
        "query_id": query.query_id,
        "reference_image_id": released_id(subset, query.reference_id),
        "target_image_id": released_id(subset, targets[0]),
        "ground_truth_ids": [released_id(subset, target) for target in targets],
        "original_query": session.turns[0].text,
        "success": session.success,
        "success_turn": len(session.turns) - 1 if session.success else -1,
        "turns": [_raw_turn(number, turn, session, subset) for number, turn in enumerate(session.turns)],
    }


def _raw_turn(number: int, turn: ConstructedTurn, session: ConstructedSession, subset: str) -> dict[str, Any]:
    later = number > 0
    return {
        "turn": number,
        "query_text": turn.merged,
        "search_results": [[released_id(subset, hit.image_id), round(hit.score, DIGITS)] for hit in turn.hits],
        "selected_image": released_id(subset, turn.reference_id) if later else None,
        "selected_image_caption": turn.caption if later else None,
        "relative_caption": turn.text if later else None,
        "gt_rankings": {released_id(subset, target): turn.ranks.get(target, -1)
                        for target in session.query.target_ids},
        "best_gt_rank": min(turn.ranks.values()),
        "text_similarity": turn.closest.similarity if turn.closest else None,
        "similar_turn": turn.closest.turn - 1 if turn.closest else None,
        "image_sha256": turn.digest,
        **({"notes": list(turn.notes)} if turn.notes else {}),
    }
