"""Stage 2 over files of queries with several targets: a long job that can be killed, resumed and limited.

    DIR/single_target_selection/LABEL_selection_single_target_seed42.json   rewritten queries, in SoFT's format
    DIR/original_texts/LABEL_selection_single_target_seed42.json            the same draws with the texts as they were
    DIR/checks/LABEL.jsonl                                                  of each rewritten query the check
    DIR/failures.json                                                       queries without a text, with the reasons
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from cir_core.construct.inputs import Pictures
from cir_core.construct.targets.files import ENDING, SELECTION
from cir_core.construct.targets.rewriter import Drawn, Rewriter, draw
from cir_core.construct.targets.settings import ATTEMPTS, CONFIDENCE_TOKENS, DISTRACTORS, SEED, Check, SingleTargetCard
from cir_core.datasets.files.captions import query_texts
from cir_core.datasets.readers.soft import MultiTarget, SingleTarget, read_multi_target, write_single_target
from cir_core.errors import DatasetError, SettingsError
from cir_core.gallery.gallery import Gallery
from cir_core.jobs.estimate import Estimate, Prices, RoleEstimate, asked, estimate_job, is_free, prompt_tokens
from cir_core.jobs.job import FilesReport, Job, JobOptions, open_job
from cir_core.jobs.journal import JobProgress, as_bytes
from cir_core.jobs.spending import ItemWatch
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import CaptionTask, ConfidenceTask, Picture, RewriteTask
from cir_core.language.wrappers.base import conditions_of
from cir_core.language.wrappers.routed import answering
from cir_core.support.files import write_atomically
from cir_core.support.texts import quoted
from cir_core.types.records import Domain
from cir_core.version import __version__

_REWRITE, _CAPTION = 30, 60     # tokens of an answer
_TRIES = 1.2                    # texts until one passes the check


@dataclass(frozen=True)
class TargetFile:
    """A file of queries with several targets. ``name``: "shirt" of shirt_multi_target_selection.json."""

    name: str
    records: tuple[MultiTarget, ...]
    digest: str


@dataclass(frozen=True)
class RewrittenCounts:
    """Of one file. ``drawn``: queries of three targets or more; ``again``: texts that were rejected and replaced."""

    queries: int
    drawn: int
    rewritten: int
    failed: int
    again: int


@dataclass(frozen=True)
class Item:
    """``number``: of the record in its file."""

    file: str
    number: int
    record: MultiTarget
    drawn: Drawn


@dataclass(frozen=True)
class SingleTargets:
    """Files with everything their queries are rewritten with, sorted by name: a journal numbers their queries. Raises
    ``SettingsError`` for a model that cannot."""

    files: Sequence[TargetFile]
    gallery: Gallery
    language: LanguageModel
    check: Check = "confidence"
    seed: int = SEED
    domain: Domain = "garment"
    keep_reference: bool = False
    attempts: int = ATTEMPTS

    def __post_init__(self) -> None:
        by_name = sorted(self.files, key=lambda file: f"{file.name}{ENDING}")     # as a folder lists them
        object.__setattr__(self, "files", tuple(by_name))
        scoring = answering(self.language, "confidence")
        if self.check == "confidence" and (scoring.name.startswith("built-in/") or not scoring.sees):
            raise SettingsError(f"Checking rewritten texts by confidence needs a language model that sees images: "
                                f"{scoring.name} does not. Connect one (docs/how-to/language-models.md), or check the "
                                "words alone with --check text.")

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """Queries to rewrite, in the order of the files."""
        return tuple(
            Item(file.name, number, record, drawn) for file in self.files for number, record in enumerate(file.records)
            if (drawn := draw(record, self.seed, keep_reference=self.keep_reference)) is not None)

    @property
    def card(self) -> SingleTargetCard:
        asked: list[Any] = [RewriteTask(domain=self.domain)]
        asked += [ConfidenceTask(domain=self.domain)] if self.check == "confidence" else []
        return SingleTargetCard(
            {file.name: file.digest for file in self.files}, self.gallery.name, self.gallery.digest, self.domain,
            self.language.name, {task.role: conditions_of(self.language, task).prompt_version for task in asked},
            self.seed, self.check, self.attempts, self.keep_reference, __version__)

    def wanted(self, limit: int | None) -> list[int]:
        """Numbers of the first ``limit`` items of each file."""
        found: dict[str, list[int]] = {file.name: [] for file in self.files}
        for at, item in enumerate(self.items):
            found[item.file].append(at)
        return [at for positions in found.values() for at in positions[:limit]]


def read_target_files(paths: Sequence[Path]) -> list[TargetFile]:
    """Files in SoFT's multi-target format, or folders that stage 1 wrote. Raises ``DatasetError``, also for two files
    of one name."""
    found: dict[str, TargetFile] = {}
    for path in (each for one in paths for each in target_paths(one)):
        name = path.stem.removesuffix(ENDING)
        if name in found:
            raise DatasetError(f"Two of the files are called {quoted(name)}. Rename one.")
        records = read_multi_target(path)
        found[name] = TargetFile(name, records, hashlib.sha256(path.read_bytes()).hexdigest()[:16])
    return list(found.values())


def target_paths(path: Path) -> list[Path]:
    """A file itself, or those in a folder that stage 1 wrote. Raises ``DatasetError`` if there are none."""
    if not path.is_dir():
        return [path]
    folder = path / SELECTION if (path / SELECTION).is_dir() else path
    found = sorted(folder.glob(f"*{ENDING}.json"))
    if not found:
        raise DatasetError(f"{path} contains no file of targets. Give a folder that cirque construct multi-target "
                           "wrote, or a file in SoFT's multi-target format.")
    return found


def rewrite_targets(
    about: SingleTargets, folder: Path, *, limit: int | None = None, options: JobOptions = JobOptions(),
) -> FilesReport[RewrittenCounts]:
    """Rewrite each query of three targets and more for one of them, the first ``limit`` of each file.

    Finished texts are kept in ``folder``, and ``options.resume`` goes on with them. The files depend neither on the
    workers nor on where earlier runs ended. A query for which no text passes the check is listed with the reason.

    Raises:
        DatasetError: ``folder`` has texts (and no ``resume``) or those of other settings or other queries.
        LanguageModelUnavailable: nothing is lost; run it again with ``resume``.
        GalleryError: the disk is full.
    """
    wanted = about.wanted(limit)
    with open_job(folder, about.card, options, "rewrites texts") as job:
        _check_drawn(job, about.items, wanted)
        language = job.language(about.language)
        rewriter = Rewriter(language, Pictures(about.gallery, language, about.domain), about.domain, about.check,
                            about.seed, about.attempts)

        def rewrite(at: int, watch: ItemWatch) -> Mapping[str, Any]:
            item = about.items[at]
            return asdict(rewriter.rewrite(item.record, item.drawn, watch))

        run = job.run(wanted, rewrite)
        counts, outputs, failures = {}, {}, []
        for file in about.files:
            mine = [at for at in wanted if about.items[at].file == file.name]
            found, failed = _results(job, about.items, mine)
            again = sum(len(result["rejected"]) for _, result in found)
            counts[file.name] = RewrittenCounts(len(file.records), len(mine), len(found), len(failed), again)
            failures += failed
            if run.complete:
                outputs[file.name] = _write(folder, file.name, found, about.seed)
        write_atomically(folder / "failures.json", as_bytes(failures))
        return FilesReport(**vars(run), counts=counts, outputs=outputs, failures=failures)


def _check_drawn(job: Job, items: Sequence[Item], wanted: Sequence[int]) -> None:
    """Raises ``DatasetError`` for a finished text of another target than the query at its place has."""
    for one in job.journal.results(wanted):
        item, result = items[one.item], one.result
        drawn = item.drawn
        if result and (result["target"], tuple(result["distractors"])) != (drawn.target, drawn.distractors):
            raise DatasetError(f"A finished text belongs to another query than record {item.number} of "
                               f"{quoted(item.file)}: an earlier version of cirque began this folder with the "
                               "files in another order. Choose another folder with --out: answers are cached, and "
                               "not paid for again.")


def _results(
    job: Job, items: Sequence[Item], mine: Sequence[int]
) -> tuple[list[tuple[Item, Mapping[str, Any]]], list[dict[str, str]]]:
    found, failed = [], []
    for one in job.journal.results(mine):
        item = items[one.item]
        if one.result is None:
            failed.append({"file": item.file, "record": str(item.number), "reason": one.failure})
        else:
            found.append((item, one.result))
    return found, failed


def _write(
    folder: Path, name: str, found: Sequence[tuple[Item, Mapping[str, Any]]], seed: int
) -> tuple[Path, ...]:
    file = f"{name}_selection_single_target_seed{seed}.json"
    rewritten = [SingleTarget(
        item.record.reference_id, item.drawn.target, item.record.original_target_id, item.record.captions,
        result["refined"], item.drawn.distractors, item.record.scores[item.drawn.target], item.record.scores,
    ) for item, result in found]
    before = [replace(one, refined_caption=result["text"]) for one, (_, result) in zip(rewritten, found, strict=True)]
    paths = (folder / "single_target_selection" / file, folder / "original_texts" / file,
             folder / "checks" / f"{name}.jsonl")
    write_single_target(paths[0], rewritten)
    write_single_target(paths[1], before)
    write_atomically(paths[2], (
        json.dumps({"record": item.number, "reference": item.record.reference_id, **result},
                   ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n" for item, result in found))
    return paths


def estimate_rewriting(
    about: SingleTargets, left: Sequence[int], *, workers: int, prices: Prices = Prices(),
    before: JobProgress = JobProgress(),
) -> Estimate:
    """Requests, tokens, cost and time of the texts at ``left``; nothing is sent. The numbers are those of ``before``, a
    journal, if enough is over; else they follow from the prompts. Those whose captions are empty ask nothing."""
    n, roles = len(left), dict[str, RoleEstimate]()
    texts = [texts[0] for at in left if (texts := query_texts(about.items[at].record.captions, "joined"))]
    if left and not is_free(about.language, "rewrite"):
        text, calls, most = texts[0] if texts else "", len(texts) * _TRIES, len(texts) * about.attempts
        task = RewriteTask(Picture(), Picture(), (Picture(),) * DISTRACTORS, text, about.domain)
        roles["rewrite"] = asked(calls, most, prompt_tokens(about.language, task), _REWRITE)
        if about.check == "confidence":
            shown = 1 + DISTRACTORS
            names = tuple(f"candidate {number}" for number in range(1, shown + 1))
            each = prompt_tokens(about.language, ConfidenceTask(Picture(), text, names, (Picture(),) * shown,
                                                                about.domain))
            roles["confidence"] = asked(calls, most * ATTEMPTS, each, CONFIDENCE_TOKENS * shown)
        elif not about.language.sees and not is_free(about.language, "caption"):
            images = {name for at in left for name in (about.items[at].record.reference_id,
                                                       about.items[at].drawn.target,
                                                       *about.items[at].drawn.distractors)}
            captions = sum(name in about.gallery and not about.gallery.caption_of(name) for name in images)
            each = prompt_tokens(about.language, CaptionTask(Picture(), about.domain))
            roles["caption"] = asked(captions, captions, each, _CAPTION)
    return estimate_job(n, roles, "the length of the prompts", workers=workers, prices=prices, before=before,
                        things=("query", "queries"))
