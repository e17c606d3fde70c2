"""SoFT's files as benchmarks: multi-target queries, and rewritten single-target ones.

Neither file lists a gallery: it is the validation split of FashionIQ's category, or CIRR's. The
original target is a target only if the file lists it. Where the gallery excludes the reference, as
CIRR's does, the reference is not a target either, and a query left without any is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from cir_core.datasets.content import Content, Source, benchmark_counts, ends, mean, of_benchmark, read_pool
from cir_core.datasets.files.captions import query_texts
from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.readers import fashioniq
from cir_core.datasets.readers.soft import (
    MultiTarget,
    SingleTarget,
    numbered_multi_target,
    numbered_single_target,
    read_candidates,
    read_multi_target,
    read_single_target,
)
from cir_core.datasets.records import Benchmark, BenchmarkQuery, CaptionMode
from cir_core.errors import DatasetError
from cir_core.support.texts import quoted

POOL = "gallery"
_CIRR_NAME = re.compile(r"(?:train|dev|test1?)-\d+-\d+-img\d+")


def multi_target_benchmark(
    path: Path, *, exclude_reference: bool | None = None, pool: Sequence[str] | None = None, split: str = "val",
    caption_mode: CaptionMode | None = None, faults: ValidationIssues = RAISE,
) -> Benchmark:
    """The multi-target file as a benchmark. Query ids are positions in the file.

    ``exclude_reference``: whether the gallery excludes the reference; None decides by the image names:
    CIRR's does, FashionIQ's does not. With a ``pool``, images outside it are faults. Captions are
    joined by " and " unless ``caption_mode`` is given.

    Raises ``DatasetError``, or collects into ``faults``.
    """
    records = numbered_multi_target(path, faults)
    drops = _drops_reference((record.reference_id for _, record in records), exclude_reference)
    known = None if pool is None else frozenset(pool)
    queries: list[BenchmarkQuery] = []
    counts = {"reference": 0, "empty": 0, "original": 0, "below": 0}
    for number, record in records:
        targets = record.target_ids
        counts["below"] += sum(bool(name) for name in record.scores) - len(targets)
        counts["original"] += record.original_target_id not in targets
        if record.reference_id in targets:
            counts["reference"] += 1
            if drops:
                targets = tuple(name for name in targets if name != record.reference_id)
        if not targets:
            counts["empty"] += 1
        elif not _strangers(path, number, (record.reference_id, *targets), known, faults):
            queries.extend(_queries(path, number, record, targets, drops, caption_mode, faults))
    return _benchmark("soft-multi-target", split, queries, pool, _multi_notes(records, counts, drops))


def single_target_benchmark(
    path: Path, *, exclude_reference: bool | None = None, pool: Sequence[str] | None = None, split: str = "val",
    faults: ValidationIssues = RAISE,
) -> Benchmark:
    """The single-target file as a benchmark; the text is the rewritten one. See
    :func:`multi_target_benchmark` for the rest."""
    records = numbered_single_target(path, faults)
    drops = _drops_reference((record.reference_id for _, record in records), exclude_reference)
    known = None if pool is None else frozenset(pool)
    queries = []
    skipped = 0
    for number, record in records:
        if drops and record.target_id == record.reference_id:
            skipped += 1
        elif not _strangers(path, number, (record.reference_id, record.target_id), known, faults):
            queries.append(BenchmarkQuery(
                str(number), record.reference_id, record.refined_caption, (record.target_id,), pool=POOL,
                excluded_ids=(record.reference_id,) if drops else (),
            ))
    notes = single_notes(records)
    if skipped:
        notes.append(f"{skipped} queries are left out: their only target is the reference, which the gallery drops.")
    return _benchmark("soft-single-target", split, queries, pool, notes)


def single_notes(records: Sequence[tuple[int, SingleTarget]]) -> list[str]:
    """Notes on a single-target file: targets that are their own reference, texts split into letters."""
    notes = []
    if same := [number for number, record in records if record.target_id == record.reference_id]:
        notes.append(f"In {len(same)} records the target is the reference itself (record {_named(same)}).")
    notes.extend(
        f"Record {number} (reference {record.reference_id}, target {record.target_id}): its text is spelled out "
        f"letter by letter or marked as refined: {quoted(record.refined_caption)}. It is used unchanged."
        for number, record in records if record.spelled_out
    )
    return notes


def multi_target_content(source: Source) -> Content:
    """The file's own counts, before the reference is excluded, and then the benchmark's."""
    benchmark = multi_target_benchmark(
        source.path, pool=read_pool(source.pool, source.faults), split=source.split or "val",
        caption_mode=source.caption_mode, faults=source.faults)
    records = read_multi_target(source.path, ValidationIssues(collect=True))  # its faults are reported already
    targets = [len(record.target_ids) for record in records]
    return of_benchmark(benchmark, {
        "records": len(records),
        "targets of a record, mean": mean(targets),
        "targets of a record, most": max(targets, default=0),
        "records with three targets or more": sum(number >= 3 for number in targets),
        "records without the original target": sum(one.original_target_id not in one.target_ids for one in records),
        "records with the reference as a target": sum(one.reference_id in one.target_ids for one in records),
        "confidence, least": min((score for one in records for score in one.scores.values()), default=0.0),
        **benchmark_counts(benchmark),
    })


def single_target_content(source: Source) -> Content:
    benchmark = single_target_benchmark(
        source.path, pool=read_pool(source.pool, source.faults), split=source.split or "val", faults=source.faults)
    records = read_single_target(source.path, ValidationIssues(collect=True))
    shown = (name for one in records for name in (one.original_target_id, *one.distractor_ids, *one.scores) if name)
    return of_benchmark(benchmark, {
        "records": len(records),
        **ends("distractors of a record", [len(record.distractor_ids) for record in records]),
        "records that keep the original target": sum(one.target_id == one.original_target_id for one in records),
        "records whose target is the reference": sum(one.target_id == one.reference_id for one in records),
        **benchmark_counts(benchmark),
    }, shown)


def candidates_content(source: Source) -> Content:
    records = read_candidates(source.path, source.faults)
    ids = dict.fromkeys(name for one in records for name in (one.reference_id, one.target_id, *one.image_ids))
    return Content({
        "queries": len(records),
        "queries with a text": sum(record.query is not None for record in records),
        **ends("candidates of a query", [len(record.image_ids) for record in records]),
        "queries that found the target": sum(record.target_id in record.image_ids for record in records),
    }, (), None, tuple(ids), soft_image_paths)


def soft_image_paths(image_id: str) -> tuple[str, ...]:
    """Paths of an image in the releases of CIRR and FashionIQ, determined by its name."""
    if is_cirr_name(image_id):
        folder = image_id.split("-")[0]
        return (f"{folder}/{image_id}.png", f"img_raw/{folder}/{image_id}.png")
    return fashioniq.image_paths(image_id)


def is_cirr_name(image_id: str) -> bool:
    """Whether ``image_id`` has the form of CIRR's names; FashionIQ has no such ids."""
    return _CIRR_NAME.fullmatch(image_id) is not None


def _drops_reference(reference_ids: Iterator[str], wanted: bool | None) -> bool:
    if wanted is not None:
        return wanted
    first = next(reference_ids, None)
    return first is not None and is_cirr_name(first)


def _strangers(path: Path, number: int, names: Sequence[str], known: Collection[str] | None,
               faults: ValidationIssues) -> bool:
    if known is None or all(name in known for name in names):
        return False
    strange = next(name for name in names if name not in known)
    faults.add(path, number, f"image {quoted(strange)} is not in the pool", "Give the gallery this file was made for")
    return True


def _queries(
    path: Path, number: int, record: MultiTarget, targets: tuple[str, ...], drops: bool, mode: CaptionMode | None,
    faults: ValidationIssues,
) -> Iterator[BenchmarkQuery]:
    used: CaptionMode = "single" if len(record.captions) == 1 else mode or "joined"
    try:
        texts = query_texts(record.captions, used)
    except DatasetError as error:
        faults.add(path, number, str(error), "Choose a caption mode")
        return
    if not texts:
        faults.add(path, number, "its captions are empty", "Give the modification text")
    for part, text in enumerate(texts):
        yield BenchmarkQuery(
            f"{number}:{part}" if used == "separate" else str(number), record.reference_id, text, targets, used,
            POOL, (record.reference_id,) if drops else (),
        )


def _multi_notes(records: Sequence[tuple[int, MultiTarget]], counts: dict[str, int], drops: bool) -> list[str]:
    notes = []
    if counts["original"]:
        notes.append(f"The original target is not among the targets of {counts['original']} of {len(records)} records.")
    if counts["reference"]:
        left = "was removed, because the gallery drops it" if drops else "remains a target"
        notes.append(f"The reference is among the targets of {counts['reference']} records; it {left}.")
    if counts["below"]:
        notes.append(f"{counts['below']} images with a confidence below the threshold are not targets.")
    if counts["empty"]:
        notes.append(f"{counts['empty']} queries without any target are left out.")
    return notes


def _benchmark(
    kind: str, split: str, queries: Sequence[BenchmarkQuery], pool: Sequence[str] | None, notes: Sequence[str]
) -> Benchmark:
    gallery = None if pool is None else tuple(pool)
    if gallery is None:
        notes = [*notes, "The file lists no gallery: queries are ranked against all that a gallery contains."]
    return Benchmark(kind, split, tuple(queries), {POOL: gallery}, soft_image_paths, tuple(notes))


def _named(numbers: Sequence[int], most: int = 5) -> str:
    return ", ".join(map(str, numbers[:most])) + (", …" if len(numbers) > most else "")
