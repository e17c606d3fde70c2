"""Stage 1 over a whole data set: a long job that can be killed, resumed and limited.

The folder has the journal (see ``jobs.job``), ``run.json`` and, at the end, the files of
:mod:`cir_core.construct.targets.files` and ``failures.json``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from cir_core.construct.inputs import Pictures, TextsAlone
from cir_core.construct.sessions.subsets import Subset, Subsets, subsets_of
from cir_core.construct.targets.files import label_of, write_stage_one
from cir_core.construct.targets.finder import TargetFinder
from cir_core.construct.targets.given import GivenCandidates, captions_of, read_given, to_ask
from cir_core.construct.targets.provenance import QueryCandidates, TargetCounts, from_json
from cir_core.construct.targets.settings import (
    ATTEMPTS,
    CONFIDENCE_TOKENS,
    GROUPS,
    THRESHOLD,
    MultiTargetCard,
    TargetSettings,
)
from cir_core.datasets.records import Benchmark, caption_mode_of
from cir_core.encoders.base import Encoder
from cir_core.errors import DatasetError, SettingsError
from cir_core.gallery.gallery import Gallery
from cir_core.index.flat import FlatIndex
from cir_core.jobs.estimate import Estimate, Prices, RoleEstimate, asked, estimate_job, is_free, prompt_tokens
from cir_core.jobs.job import FilesReport, Job, JobOptions, RunRecord, open_job, read_run, write_run
from cir_core.jobs.journal import JobJournal, JobProgress, as_bytes
from cir_core.jobs.spending import ItemWatch
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import ConfidenceTask, Picture, TwoSentencesTask
from cir_core.language.wrappers.base import conditions_of
from cir_core.language.wrappers.routed import answering
from cir_core.search.protocol import TIE_RULE
from cir_core.support.files import write_atomically
from cir_core.types.records import Domain
from cir_core.version import __version__

_SENTENCES = 50     # tokens of an answer


@dataclass(frozen=True, kw_only=True)
class SubsetTargets(TargetCounts):
    """``queries`` that were wanted of one subset; those that ``failed`` or are not over have no number of targets."""

    failed: int

    @property
    def dropped(self) -> int:
        """Queries that no image answers."""
        return self.by_targets.get(0, 0)


@dataclass(frozen=True)
class MultiTargets:
    """A data set with everything its targets are found with. ``given``: a folder of candidates in SoFT's format;
    ``scores``: one of their confidences.

    Raises ``SettingsError`` for a language model that sees no images.
    """

    benchmark: Benchmark
    gallery: Gallery
    encoder: Encoder
    language: LanguageModel
    settings: TargetSettings = TargetSettings()
    domain: Domain = "garment"
    given: Path | None = None
    only: tuple[str, ...] = ()      # subsets; (): all
    scores: Path | None = None
    subsets: Subsets = field(init=False)

    def __post_init__(self) -> None:
        scoring = answering(self.language, "confidence")
        if scoring.name.startswith("built-in/") or not scoring.sees:
            raise SettingsError("Confidences need a language model that sees images: "
                                f"{scoring.name} does not. Set CIRQUE_LLM_BASE_URL, CIRQUE_LLM_MODEL and "
                                "CIRQUE_LLM_SEES=true (docs/how-to/language-models.md).")
        self.gallery.check_encoder(self.encoder)
        object.__setattr__(self, "subsets", subsets_of(self.benchmark, self.gallery))

    @cached_property
    def chosen(self) -> tuple[Subset, ...]:
        """Raises ``DatasetError`` for an unknown subset."""
        return self.subsets.chosen(self.only)

    @cached_property
    def candidates(self) -> Mapping[str, GivenCandidates]:
        """By subset; empty if none were given. Raises ``DatasetError``."""
        if self.given is None:
            return {}
        return {one.name: read_given(self.given, label_of(one), self.scores) for one in self.chosen}

    @property
    def card(self) -> MultiTargetCard:
        tasks: tuple[Any, ...] = (TwoSentencesTask(domain=self.domain), ConfidenceTask(domain=self.domain))
        asked = tasks[1:] if self.given else tasks
        found = self.encoder.identity
        return MultiTargetCard(
            self.benchmark.name, self.benchmark.split, self.benchmark.digest, caption_mode_of(self.benchmark.queries),
            self.gallery.name, self.gallery.digest, self.domain, {"spec": found.spec, "revision": found.revision},
            self.language.name, {task.role: conditions_of(self.language, task).prompt_version for task in asked},
            self.settings, {name: one.digest for name, one in self.candidates.items()}, TIE_RULE, __version__)

    def wanted(self, limit: int | None) -> dict[str, list[int]]:
        """Subset to the positions of its first ``limit`` queries."""
        return {one.name: list(one.positions[:limit]) for one in self.chosen}

    def finders(self, job: Job) -> dict[str, TargetFinder]:
        language, encoder = job.language(self.language), TextsAlone(self.encoder)
        pictures = Pictures(self.gallery, language, self.domain)
        found = {}
        for one in self.chosen:
            rows = [self.gallery.row_of(image_id) for image_id in one.image_ids]
            index = FlatIndex(self.gallery.features[rows], one.image_ids)
            found[one.name] = TargetFinder(self.gallery, index, encoder, language, pictures, self.settings, self.domain,
                                           self.candidates.get(one.name))
        return found


def find_targets(
    about: MultiTargets, folder: Path, *, threshold: float = THRESHOLD, limit: int | None = None,
    options: JobOptions = JobOptions(),
) -> FilesReport[SubsetTargets]:
    """Find the targets of each query, the first ``limit`` of each subset, and write SoFT's files.

    Finished queries are kept in ``folder``, whatever happens; ``options.resume`` goes on with them, and with another
    ``threshold`` writes the files anew without asking anything again. The files depend neither on the workers nor on
    where earlier runs ended. A query that fails is listed with its reason.

    Raises:
        SettingsError: a threshold outside of 0 to 1.
        DatasetError: ``folder`` has results (and no ``resume``) or those of other settings; unsuitable candidates.
        LanguageModelUnavailable, EncoderUnavailable: nothing is lost; run it again with ``resume``.
        GalleryError: the disk is full.
    """
    if not 0 <= threshold <= 1:
        raise SettingsError(f"The threshold is {threshold:g}; give a number from 0 to 1.")
    wanted = about.wanted(limit)
    subset_of = {position: name for name, positions in wanted.items() for position in positions}
    with open_job(folder, about.card, options, "finds targets") as job:
        earlier = read_run(folder)
        thresholds = dict(earlier.thresholds) if earlier else {}
        record = RunRecord(about.only, limit, len(subset_of), options.workers, options.budget,
                           others=len(job.journal.progress.offsets.keys() - subset_of.keys()), thresholds=thresholds)
        write_run(folder, record)
        finders = about.finders(job)

        def find(position: int, watch: ItemWatch) -> Mapping[str, Any]:
            return finders[subset_of[position]].find(about.benchmark.queries[position], watch).as_json()

        run = job.run(list(subset_of), find)
        counts, outputs, failures = {}, {}, []
        for subset in about.chosen:
            positions = wanted[subset.name]
            found, failed = _results(job.journal, about.benchmark, positions)
            counts[subset.name] = _counts(found, len(positions), len(failed), threshold)
            failures += [{"subset": subset.name, "query_id": about.benchmark.queries[position].query_id,
                          "reason": reason} for position, reason in failed]
            if run.complete:
                outputs[subset.name] = write_stage_one(folder, label_of(subset), found, threshold, about.settings.keep)
                thresholds[label_of(subset)] = threshold
        write_atomically(folder / "failures.json", as_bytes(failures))
        write_run(folder, replace(record, complete=run.complete))
        return FilesReport(**vars(run), counts=counts, outputs=outputs, failures=failures)


def _results(
    journal: JobJournal, benchmark: Benchmark, positions: Sequence[int]
) -> tuple[list[QueryCandidates], list[tuple[int, str]]]:
    found, failed = [], []
    for one in journal.results(positions):
        if one.result is None:
            failed.append((one.item, one.failure))
        else:
            # Journals of earlier versions have captions that the model did not read.
            found.append(replace(from_json(one.result), captions=captions_of(benchmark.queries[one.item])))
    return found, failed


def _counts(found: Sequence[QueryCandidates], queries: int, failed: int, threshold: float) -> SubsetTargets:
    targets = [(one, one.targets(threshold)) for one in found]
    return SubsetTargets(
        queries, Counter(len(chosen) for _, chosen in targets),
        sum(one.original_target not in chosen for one, chosen in targets if chosen),
        sum(one.reference in chosen for one, chosen in targets), failed=failed)


def estimate_targets(
    about: MultiTargets, left: Sequence[int], *, workers: int, prices: Prices = Prices(),
    before: JobProgress = JobProgress(),
) -> Estimate:
    """Requests, tokens, cost and time to find the targets of the queries at ``left``; nothing is sent. The numbers are
    those of ``before``, a journal, if enough is over; else they follow from the prompts."""
    n, roles = len(left), dict[str, RoleEstimate]()
    if left:
        text = about.benchmark.queries[left[0]].modification_text
        scored = min(about.settings.scored, max(len(one.image_ids) for one in about.chosen))
        names = tuple(f"candidate {number}" for number in range(1, scored + 1))
        sizes = _sizes(about, left) if about.given else Counter({scored: len(GROUPS) * n})
        groups, images = sizes.total(), sum(size * count for size, count in sizes.items())
        tokens = sum(count * prompt_tokens(about.language, ConfidenceTask(
            Picture(), text, names[:size], (Picture(),) * size, about.domain)) for size, count in sizes.items())
        if about.given is None and not is_free(about.language, "two-sentences"):
            task = TwoSentencesTask(Picture(), text, about.domain)
            roles["two-sentences"] = asked(n, n, prompt_tokens(about.language, task), _SENTENCES)
        roles["confidence"] = RoleEstimate(groups, groups * ATTEMPTS, tokens, CONFIDENCE_TOKENS * images)
    return estimate_job(n, roles, "the length of the prompts", workers=workers, prices=prices, before=before,
                        things=("query", "queries"))


def _sizes(about: MultiTargets, left: Sequence[int]) -> Counter[int]:
    """Of given candidates the numbers of images that are asked about in one request. Queries that the files lack ask
    nothing."""
    sizes, wanted = Counter[int](), frozenset(left)
    for subset in about.chosen:
        given, there = about.candidates[subset.name], frozenset(subset.image_ids)
        for query in (about.benchmark.queries[at] for at in subset.positions if at in wanted):
            try:
                records = given.of(query)
            except DatasetError:
                continue
            for group, record in records.items():
                _, unknown = to_ask(record.image_ids, there, query, given.known(query, group), about.settings.scored)
                sizes[len(unknown)] += bool(unknown)
    return +sizes
