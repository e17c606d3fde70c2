"""Contents of files of each kind: counts, notes, image ids, and the benchmark if there is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.files.json_files import read_document
from cir_core.datasets.records import Benchmark, CaptionMode, ImagePaths
from cir_core.evaluation.runs.records import Run
from cir_core.registry import counting


@dataclass(frozen=True)
class Source:
    """Location of a data set and reading options; None uses the reader's default."""

    path: Path
    faults: ValidationIssues
    split: str | None = None
    caption_mode: CaptionMode | None = None
    pool: Path | None = None          # the gallery's list, if the data set's files have none
    annotations: Path | None = None   # of the benchmark that a submission answers
    union: bool | None = None         # FashionIQ: rank the references and targets only


@dataclass(frozen=True)
class Content:
    """``image_ids`` are all named in the files, each once; () for files without their own."""

    counts: counting.Counts
    notes: Sequence[str] = ()
    benchmark: Benchmark | None = None
    image_ids: Sequence[str] = ()
    image_paths: ImagePaths | None = None


Reader = Callable[[Source], Content]


def of_benchmark(benchmark: Benchmark, counts: counting.Counts | None = None) -> Content:
    return Content(
        counting.benchmark_counts(benchmark) if counts is None else counts, benchmark.notes, benchmark,
        benchmark.image_ids, benchmark.image_paths,
    )


def circled(source: Source) -> Content:
    from cir_core.datasets.readers.circled import read_sessions, single_turn_benchmark

    sessions = read_sessions(source.path, source.faults)
    content = of_benchmark(single_turn_benchmark(sessions), counting.session_counts(sessions))
    later = [turn.reference_id for session in sessions for turn in session.turns]
    ids = tuple(dict.fromkeys([*content.image_ids, *later]))
    return Content(content.counts, content.notes, content.benchmark, ids, content.image_paths)


def hp_fashioniq(source: Source) -> Content:
    from cir_core.datasets.readers.hp_fashioniq import image_paths, read_questions

    questions = read_questions(source.path, source.faults)
    paths: dict[str, dict[str, None]] = {}
    for question in questions:
        for image_id, path in image_paths(question):
            paths.setdefault(image_id, {}).setdefault(path)

    def found(image_id: str) -> tuple[str, ...]:
        own = tuple(paths[image_id])
        return (*own, *(path.removeprefix("image_data/") for path in own), f"images/{image_id}.png")

    notes = ("The released form does not say which questions people called invalid: all are counted.",)
    return Content(counting.hp_counts(questions), notes, None, tuple(paths), found)


def soft_multi_target(source: Source) -> Content:
    from cir_core.datasets.readers.soft import read_multi_target
    from cir_core.datasets.readers.soft_benchmark import multi_target_benchmark

    benchmark = multi_target_benchmark(
        source.path, pool=_pool(source), split=source.split or "val", caption_mode=source.caption_mode,
        faults=source.faults,
    )
    records = read_multi_target(source.path, ValidationIssues(collect=True))  # its faults are reported already
    return of_benchmark(benchmark, counting.multi_target_counts(records, benchmark))


def soft_single_target(source: Source) -> Content:
    from cir_core.datasets.readers.soft import read_single_target
    from cir_core.datasets.readers.soft_benchmark import single_target_benchmark

    benchmark = single_target_benchmark(
        source.path, pool=_pool(source), split=source.split or "val", faults=source.faults,
    )
    records = read_single_target(source.path, ValidationIssues(collect=True))
    content = of_benchmark(benchmark, counting.single_target_counts(records, benchmark))
    shown = [name for one in records for name in (one.original_target_id, *one.distractor_ids, *one.scores) if name]
    return Content(content.counts, content.notes, benchmark, tuple(dict.fromkeys([*content.image_ids, *shown])),
                   content.image_paths)


def soft_candidates(source: Source) -> Content:
    from cir_core.datasets.readers.soft import read_candidates
    from cir_core.datasets.readers.soft_benchmark import soft_image_paths

    records = read_candidates(source.path, source.faults)
    ids = dict.fromkeys(name for one in records for name in (one.reference_id, one.target_id, *one.image_ids))
    return Content(counting.candidate_counts(records), (), None, tuple(ids), soft_image_paths)


def soft_scores(source: Source) -> Content:
    from cir_core.datasets.readers.soft_benchmark import soft_image_paths
    from cir_core.datasets.readers.soft_scores import read_scores

    records = read_scores(source.path, source.faults)
    ids = dict.fromkeys(name for one in records for name in (one.reference_id, one.target_id, *one.scores))
    return Content(counting.score_counts(records), (), None, tuple(ids), soft_image_paths)


def soft_constraints(source: Source) -> Content:
    from cir_core.datasets.readers.soft_constraints import read_constraints

    return Content(counting.constraint_counts(read_constraints(source.path, source.faults)))


def trec_run(source: Source) -> Content:
    from cir_core.evaluation.runs.trec import read_trec_run

    run = read_trec_run(source.path, source.faults)
    return Content(counting.run_counts(run), run.notes)


def trec_qrels(source: Source) -> Content:
    from cir_core.datasets.readers.qrels import read_qrels

    return Content(counting.qrels_counts(read_qrels(source.path, source.faults)))


def circo_submission(source: Source) -> Content:
    from cir_core.datasets.readers.circo import read_benchmark
    from cir_core.evaluation.runs.submissions import read_circo_submission

    return _submission(source, read_benchmark, read_circo_submission)


def cirr_submission(source: Source) -> Content:
    from cir_core.datasets.readers.cirr import read_benchmark
    from cir_core.evaluation.runs.submissions import read_cirr_submission

    return _submission(source, read_benchmark, read_cirr_submission)


def _submission(source: Source, read_benchmark: Callable[..., Benchmark], read: Callable[..., Run]) -> Content:
    benchmark = read_benchmark(source.annotations, split=source.split) if source.annotations else None
    run = read(source.path, benchmark, source.faults)
    unchecked = "Query and image ids were not compared with the benchmark: give --annotations for that."
    return Content(counting.run_counts(run), (*run.notes, *(() if benchmark else (unchecked,))))


def _pool(source: Source) -> tuple[str, ...] | None:
    return None if source.pool is None else read_pool(source.pool, source.faults)


def read_pool(path: Path, faults: ValidationIssues) -> tuple[str, ...] | None:
    """Image names of a split file: a JSON array, or an object of names and paths as CIRR's. None after a fault."""
    content = read_document(path, faults)
    if isinstance(content, Mapping):
        return tuple(content)
    if isinstance(content, list) and all(isinstance(name, str) and name for name in content):
        return tuple(content)
    if content is not None:
        faults.add(path, "", "it is no list of image names", "Give the split file of the gallery")
    return None
