"""Table of the supported kinds of data-set files: readers, evaluators, domains, command-line help."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from cir_core.audit.circus import aggregate_files, traces
from cir_core.datasets.content import Content, Reader, Source, of_benchmark
from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.readers import (
    circled,
    circo,
    cirr,
    fashioniq,
    hp_fashioniq,
    mbeir,
    multi_turn_fashioniq,
    qrels,
    soft,
    soft_benchmark,
    soft_constraints,
    soft_scores,
)
from cir_core.datasets.readers.coco import genecis, lasco
from cir_core.datasets.readers.soft_benchmark import is_cirr_name
from cir_core.datasets.records import Benchmark, CaptionMode
from cir_core.errors import DatasetError
from cir_core.evaluation.evaluators import single_turn
from cir_core.evaluation.evaluators.single_turn import Evaluator, of_rankings
from cir_core.evaluation.evaluators.single_turn import cirr as measure_cirr
from cir_core.evaluation.runs import submissions, trec
from cir_core.evaluation.runs.records import Run
from cir_core.sample import benchmark as sample
from cir_core.support.texts import quoted
from cir_core.types.records import Domain

Option = Literal["split", "caption_mode", "pool", "annotations", "union"]
Submit = Callable[[Path, Run, Benchmark], submissions.Submission]
Copy = Callable[[Path, Path], Sequence[str]]
"""Reads the first path, writes the second, and gives notes. Raises ``DatasetError`` at the first fault."""
_Content = TypeVar("_Content")
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True)
class Kind:
    """One kind of data-set files.

    ``expects`` describes PATH, ``options`` the reader's other arguments, ``domain`` what prompts say the images show;
    of a form that many data sets have, ``parts`` names those that a benchmark holds. Kinds with an ``evaluator`` have
    queries that can be ranked; ``measures`` is the help of their ``cirque evaluate``. ``copy`` writes the released
    format again, ``submit`` files for the benchmark's server into a folder.
    """

    name: str
    title: str
    expects: str
    read: Reader
    options: tuple[Option, ...] = ()
    evaluator: Evaluator | None = None
    measures: str = ""
    domain: Domain | None = None
    parts: Callable[[Benchmark], Sequence[str]] = lambda benchmark: (benchmark.kind,)
    copy: Copy | None = None
    submit: Submit | None = None

    @property
    def is_benchmark(self) -> bool:
        return self.evaluator is not None


def _benchmark(read: Callable[..., Benchmark], *options: Option, evaluator: Evaluator = Evaluator()) -> dict[str, Any]:
    """A benchmark's reader, which also takes ``faults`` and ``options``."""

    def content(source: Source) -> Content:
        given = {option: value for option in options if (value := getattr(source, option)) is not None}
        return of_benchmark(read(source.path, faults=source.faults, **given))

    return {"read": content, "options": options, "evaluator": evaluator}


def _submission(read_benchmark: Callable[..., Benchmark], read: Callable[..., Run]) -> Reader:
    def content(source: Source) -> Content:
        benchmark = read_benchmark(source.annotations, split=source.split) if source.annotations else None
        found: Content = read(source.path, benchmark, source.faults).content
        unchecked = "Query and image ids were not compared with the benchmark: give --annotations for that."
        return found if benchmark else replace(found, notes=(*found.notes, unchecked))

    return content


def _copy(
    read: Callable[[Path], _Content], write: Callable[[Path, _Content], None],
    notes: Callable[[_Content], Sequence[str]] = lambda content: (),
) -> Copy:
    def copied(path: Path, out: Path) -> Sequence[str]:
        content = read(path)
        write(out, content)
        return notes(content)

    return copied


def _soft_parts(benchmark: Benchmark) -> Sequence[str]:
    """SoFT's files name no data set: CIRR's and FashionIQ's images are called differently."""
    return [("cirr" if is_cirr_name(query.reference_id) else "fashioniq") for query in benchmark.queries[:1]]


_ALL = (
    Kind("sample", "the sample gallery's own benchmark", "the folder it was drawn to (default: cirque's own)",
         **_benchmark(sample.read_benchmark, "split", "caption_mode", evaluator=Evaluator(by_category=True)),
         domain="garment"),
    Kind("fashioniq", "FashionIQ", "the folder with captions/ and image_splits/",
         **_benchmark(fashioniq.read_benchmark, "split", "caption_mode", "union",
                      evaluator=Evaluator(of_rankings(single_turn.fashioniq), by_category=True)),
         measures="FashionIQ: Recall@10 and @50 by category, and their means.", domain="garment"),
    Kind("cirr", "CIRR", "the folder with captions/ and image_splits/, or a cap.rc2 file",
         **_benchmark(cirr.read_benchmark, "split", "caption_mode", evaluator=Evaluator(measure_cirr)),
         measures="CIRR: Recall@k without the reference, and among the image set.", domain="scene",
         submit=submissions.write_cirr),
    Kind("circo", "CIRCO", "the folder with annotations/, or val.json or test.json",
         **_benchmark(circo.read_benchmark, "split", "caption_mode",
                      evaluator=Evaluator(of_rankings(single_turn.circo), as_named=single_turn.circo_ids)),
         measures="CIRCO: mAP@k, Recall@k of the first target, mAP@10 by semantic aspect.", domain="circo",
         submit=lambda folder, run, benchmark: submissions.write_circo(folder / "circo.json", run, benchmark)),
    Kind("genecis", "GeneCIS", "the folder with the four tasks' JSON files, or one of them",
         **_benchmark(genecis.read_benchmark, evaluator=Evaluator(of_rankings(single_turn.genecis), by_category=True)),
         measures="GeneCIS: Recall@1, @2 and @3 over small galleries, by task, and their means.", domain="scene"),
    Kind("lasco", "LaSCo", "the folder, or a lasco_<split>.json", **_benchmark(lasco.read_benchmark, "split"),
         measures="LaSCo: Recall@k, nDCG and MRR.", domain="scene"),
    Kind("mbeir", "anything in M-BEIR's format", "the folder with query/ and cand_pool/, or a query JSONL",
         **_benchmark(mbeir.read_benchmark, "split", "pool"),
         measures="Anything in M-BEIR's format: Recall@k, nDCG and MRR.", parts=lambda benchmark: (benchmark.dataset,)),
    Kind("circled", "CIRCLED's sessions; as a benchmark, their first turns", "a JSON file, public or raw format",
         circled.content, evaluator=Evaluator(), parts=lambda benchmark: tuple(benchmark.pools),
         copy=_copy(circled.read_sessions, circled.write_sessions, lambda sessions: sessions.notes)),
    Kind("multi-turn-fashioniq", "Multi-turn FashionIQ's sessions; as a benchmark, their first turns",
         "a <category>.<split>.json", multi_turn_fashioniq.content, ("caption_mode",), Evaluator(),
         parts=lambda benchmark: ("fashioniq",), domain="garment"),
    Kind("soft-multi-target", "SoFT's multi-target queries", "the JSON file; the gallery's split file as --pool",
         soft_benchmark.multi_target_content, ("split", "caption_mode", "pool"),
         Evaluator(of_rankings(single_turn.multi_target)),
         "SoFT's multi-target queries: mAP@k in SoFT's and in CIRCO's definition.", parts=_soft_parts,
         copy=_copy(soft.read_multi_target, soft.write_multi_target)),
    Kind("soft-single-target", "SoFT's rewritten queries", "the JSON file; the gallery's split file as --pool",
         soft_benchmark.single_target_content, ("split", "pool"), Evaluator(),
         "SoFT's rewritten queries: Recall@k, nDCG and MRR.", parts=_soft_parts,
         copy=_copy(soft.read_single_target, soft.write_single_target)),
    Kind("soft-candidates", "SoFT's candidates", "a by_caption_query, by_joined_query or by_tg_img JSON file",
         soft_benchmark.candidates_content, copy=_copy(soft.read_candidates, soft.write_candidates)),
    Kind("soft-scores", "SoFT's confidences of one group of candidates", "a by_<group>_20_scores JSON file",
         soft_scores.content, copy=_copy(soft_scores.read_scores, soft_scores.write_scores)),
    Kind("soft-constraints", "SoFT's constraint cache", "a <data set>_const_<model>.json",
         soft_constraints.content, copy=_copy(soft_constraints.read_constraints, soft_constraints.write_cache)),
    Kind("hp-fashioniq", "HP-FashionIQ: people's scores of retrieved sets", "hpfiq.json",
         hp_fashioniq.content, copy=_copy(hp_fashioniq.read_questions, hp_fashioniq.write_questions)),
    Kind("trec-run", "a TREC run", "lines: query Q0 image rank score tag",
         lambda source: trec.read_trec_run(source.path, source.faults).content,
         copy=_copy(trec.read_trec_run, trec.write_trec_run, lambda run: run.notes)),
    Kind("trec-qrels", "relevance judgements", "TREC lines, or tabs with a header", qrels.content,
         copy=_copy(qrels.read_qrels, qrels.write_qrels)),
    Kind("circo-submission", "a submission to CIRCO's server", "its JSON file; CIRCO as --annotations",
         _submission(circo.read_benchmark, submissions.read_circo_submission), ("split", "annotations")),
    Kind("cirr-submission", "a submission to CIRR's server", "its JSON file or their folder; CIRR as --annotations",
         _submission(cirr.read_benchmark, submissions.read_cirr_submission), ("split", "annotations")),
    Kind("circus-audit", "a shortcut audit in CIRCUS's format", "the JSON file of one retriever, or of their aggregate",
         aggregate_files.content),
    Kind("circus-traces", "queries of a shortcut audit, validated or shortcut-free", "a JSONL file of traces",
         traces.content),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL}


def find_kind(name: str) -> Kind:
    """Raises ``DatasetError`` listing the known kinds."""
    if name not in KINDS:
        raise DatasetError(f"There is no kind of data set {quoted(name)}. There are: {', '.join(KINDS)}.")
    return KINDS[name]


def checked_kind(name: str, source: Source) -> Kind:
    """The kind that reads ``source``. Raises ``DatasetError`` for an unknown kind, an unsupported
    option, and a missing path."""
    kind = find_kind(name)
    for option in get_args(Option):
        if getattr(source, option) is not None and option not in kind.options:
            raise DatasetError(f"{name} takes no {option.replace('_', ' ')}. Leave it out.")
    for path in (source.path, source.pool, source.annotations):
        if path is not None and not path.exists():
            raise DatasetError(f"{path} is missing. Check the path.")
    return kind


def read_benchmark(
    kind: str, path: Path, *, split: str | None = None, caption_mode: CaptionMode | None = None,
    pool: Path | None = None, union: bool | None = None, faults: ValidationIssues = RAISE,
) -> Benchmark:
    """The data set at ``path`` as queries and pools.

    ``pool`` lists the gallery for kinds whose files do not; ``union`` is FashionIQ's other protocol.
    Raises ``DatasetError`` as :func:`checked_kind` does, for a kind without queries to rank, and at
    the first fault unless ``faults`` collects.
    """
    source = Source(path, faults, split, caption_mode, pool, union=union)
    found = checked_kind(kind, source)
    if not found.is_benchmark:
        names = ", ".join(name for name, one in KINDS.items() if one.is_benchmark)
        raise DatasetError(f"{kind} has no queries that could be ranked. Benchmarks are: {names}.")
    benchmark = found.read(source).benchmark
    assert benchmark is not None, kind
    if not benchmark.queries and not source.faults.count:
        raise DatasetError(f"{path} contains no query of {kind}. Expected: {found.expects}.")
    return benchmark


def evaluator_of(benchmark: Benchmark) -> Evaluator:
    """How runs over ``benchmark`` are measured. Raises ``DatasetError`` for a kind that is no benchmark's."""
    evaluator = find_kind(benchmark.kind).evaluator
    if evaluator is None:
        raise DatasetError(f"{benchmark.kind} has no queries that could be ranked, so it has no measures.")
    return evaluator


def domain_of(benchmark: Benchmark) -> Domain | None:
    """What language models are told that the images show; None where the data set does not say, and where its
    parts differ."""
    kind = KINDS.get(benchmark.kind)
    found = {domain_named(name) for name in (kind.parts(benchmark) if kind else ())}
    return found.pop() if len(found) == 1 else None


def domain_of_targets(files: Iterable[tuple[str, str]]) -> Domain | None:
    """:func:`domain_of` of files in SoFT's formats: of each its name, such as "shirt", and the id of an image, by which
    CIRR's image names are recognised under any file name."""
    found = {domain_named("cirr" if is_cirr_name(image_id) else "fashioniq" if name in fashioniq.CATEGORIES else name)
             for name, image_id in files}
    return found.pop() if len(found) == 1 else None


def domain_named(dataset: str) -> Domain | None:
    """That of a data set or of a part of one, such as "cirr_val" or "fashioniq_dress"; None for others."""
    first = _WORD.match(dataset.casefold())
    kind = KINDS.get(first[0]) if first else None
    return kind.domain if kind else None
