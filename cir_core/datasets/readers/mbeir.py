"""M-BEIR's benchmark format (UniIR, Wei et al. 2024): query lines, candidate lines, qrels.

Two dialects are read: M-BEIR's own (``qid``, ``query_txt``, ``did``) and that of converters
(``query_id``, ``query_text``, ``cand_id``; ``gt_cand_list`` holds further targets). Files are
streamed; memory holds one record per query and one path per candidate.

A query names its reference by path and its targets by candidate id. The reference's id is that
of the candidate with its path, or the path if no candidate has it.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import Record, read_lines, validated
from cir_core.datasets.files.layouts import find_files
from cir_core.datasets.readers.qrels import qrels_lines
from cir_core.datasets.records import Benchmark, BenchmarkQuery, CaptionMode
from cir_core.support.texts import quoted


@dataclass
class PoolImages:
    """The images of a pool in file order, and the paths of references outside it.

    Callable as ``Benchmark.image_paths``."""

    paths: dict[str, str] = field(default_factory=dict)   # id → path
    ids: dict[str, str] = field(default_factory=dict)     # path → id, the first one of several
    texts: int = 0                                        # candidates without an image, dropped
    references: dict[str, str] = field(default_factory=dict)

    def __call__(self, image_id: str) -> tuple[str, ...]:
        path = self.paths.get(image_id) or self.references.get(image_id, image_id)
        path = path.replace("\\", "/")
        if path.startswith("/") or path[1:2] == ":":  # converters write absolute paths of their machine
            path = "/".join(path.split("/")[-2:])
        return tuple(dict.fromkeys((path, path.removeprefix("mbeir_images/"))))


class CirqueFields(BaseModel):
    """Fields missing in M-BEIR's format; written under the key ``cirque``."""

    reference_id: str | None = None
    caption_mode: CaptionMode | None = None
    excluded_ids: tuple[str, ...] = ()
    subset_ids: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()


_NOTHING = CirqueFields()


def read_benchmark(
    path: Path, *, split: str | None = None, faults: ValidationIssues = RAISE, pool: Path | None = None,
    qrels: Path | None = None,
) -> Benchmark:
    """Read the queries in ``path``: the query file, or a folder in M-BEIR's layout with pool and qrels.

    Queries other than image plus text, and those whose text is empty, are dropped and counted in the notes, as are
    candidates without an image. Qrels only confirm the targets. The caption mode is "m-beir" for FashionIQ's ids (7:…).
    Raises ``DatasetError``, also if several files match; with ``faults`` that collect, faulty records are dropped.
    """
    files = find_files(path, split, pool, qrels)
    candidates = _read_pool(files.pool, faults) if files.pool else PoolImages()
    name = files.dataset or "mbeir"
    counts: Counter[str] = Counter()
    left_out: set[str] = set()
    queries: dict[str, BenchmarkQuery] = {}
    lines: dict[str, int] = {}
    for place, (line, record) in enumerate(read_lines(files.queries, faults)):
        query = _query(record, name, candidates, files.pool is not None)
        if isinstance(query, BenchmarkQuery) and query.query_id in queries:
            query = _Wrong(f"the query id {quoted(query.query_id)} occurs twice", "Keep one of the two")
        if isinstance(query, _LeftOut):
            counts[query.reason] += 1
            left_out.add(query.query_id)
        elif isinstance(query, _Wrong):
            faults.add(files.queries, f"line {line}", query.problem, query.remedy)
        elif kept := _kept(record, files.queries, line, faults):
            if place > len(queries):
                lines[query.query_id] = place
            queries[query.query_id] = _with(query, kept, candidates) if kept is not _NOTHING else query
    if not queries and not faults.count:
        faults.add(files.queries, "", "it contains no query of an image and a text", "Check that it is a query file")
    if files.qrels:
        _check_qrels(files.qrels, queries, left_out, faults)
    found = tuple(queries.values())
    notes = tuple(_notes(found, candidates, counts, files.pool))
    pools = {name: tuple(candidates.paths) if files.pool else None}
    return Benchmark("mbeir", files.split, found, pools, candidates, notes, files.dataset, lines)


@dataclass(frozen=True)
class _LeftOut:
    query_id: str
    reason: str


@dataclass(frozen=True)
class _Wrong:
    problem: str
    remedy: str = "Check that it is a query file in M-BEIR's format"


def _query(record: Record, pool: str, candidates: PoolImages, known: bool) -> BenchmarkQuery | _LeftOut | _Wrong:
    query_id = _id(_first(record, "qid", "query_id", "id"))
    if query_id is None:
        return _Wrong(f"it has no query id (qid, query_id or id), but {', '.join(record) or 'nothing'}")
    modality = record.get("query_modality")
    if modality is not None and modality not in ("image,text", "text,image"):
        return _LeftOut(query_id, f"are of modality {quoted(str(modality))}")
    if "query_txt" not in record and "query_text" not in record:
        return _Wrong(f"query {quoted(query_id)} has no text (query_txt or query_text)")
    text = _first(record, "query_txt", "query_text")
    if text is not None and not isinstance(text, str):
        return _Wrong(f"the text of query {quoted(query_id)} is not a text")
    path = record.get("query_img_path")
    if not isinstance(path, str) or not path:
        return _Wrong(f"query {quoted(query_id)} has no reference image (query_img_path)")
    targets: dict[str, None] = {}
    for value in (*_listed(record, "pos_cand_list"), *_listed(record, "gt_cand_list")):
        target = _id(value)
        if target is None and value != "":
            return _Wrong(f"a target of query {quoted(query_id)} is not a candidate id")
        if target is not None:
            targets[sys.intern(target)] = None  # a large file repeats image ids
    if known and (unknown := [target for target in targets if target not in candidates.paths]):
        return _Wrong(f"query {quoted(query_id)} has targets that are not in the pool: {', '.join(unknown[:5])}",
                      "Check that queries and pool are of the same release and split")
    if text is None or not text.strip():
        return _LeftOut(query_id, "have no text")
    reference = candidates.ids.get(path) or candidates.references.setdefault(path, path)
    return BenchmarkQuery(query_id, reference, text, tuple(targets), usual_mode(query_id), pool)


def usual_mode(query_id: str) -> CaptionMode:
    """Default caption mode of a record without one: ids of FashionIQ, M-BEIR's data set 7, are "7:…"."""
    return "m-beir" if query_id.startswith("7:") else "single"


def _kept(record: Record, path: Path, line: int, faults: ValidationIssues) -> CirqueFields | None:
    value = record.get("cirque")
    return validated(CirqueFields, value, path, f"line {line}", faults) if isinstance(value, dict) else _NOTHING


def _with(query: BenchmarkQuery, kept: CirqueFields, candidates: PoolImages) -> BenchmarkQuery:
    reference = kept.reference_id or query.reference_id
    if reference not in candidates.paths:
        candidates.references[reference] = candidates.paths.get(query.reference_id, query.reference_id)
    return BenchmarkQuery(
        query.query_id, reference, query.modification_text, query.target_ids, kept.caption_mode or query.caption_mode,
        query.pool, kept.excluded_ids, kept.subset_ids, kept.aspects,
    )


def _read_pool(path: Path, faults: ValidationIssues) -> PoolImages:
    candidates = PoolImages()
    for line, record in read_lines(path, faults):
        image_id = _id(_first(record, "did", "cand_id", "doc_id", "id"))
        image = record.get("img_path")
        if image_id is None:
            problem = f"it has no candidate id (did, cand_id, doc_id or id), but {', '.join(record) or 'nothing'}"
        elif image_id in candidates.paths:
            problem = f"the candidate id {quoted(image_id)} occurs twice"
        elif isinstance(image, str) and image:
            candidates.paths[sys.intern(image_id)] = image
            candidates.ids.setdefault(image, image_id)
            continue
        elif record.get("modality") == "text" or record.get("txt"):
            candidates.texts += 1
            continue
        else:
            problem = f"candidate {quoted(image_id)} has no image (img_path)"
        faults.add(path, f"line {line}", problem, "Check that it is a candidate pool in M-BEIR's format")
    if not candidates.paths and not faults.count:
        faults.add(path, "", "it contains no candidate with an image", "Check that it is a candidate pool")
    return candidates


def _check_qrels(path: Path, queries: dict[str, BenchmarkQuery], left_out: set[str], faults: ValidationIssues) -> None:
    """Check that targets and qrels agree; otherwise one of the two files is of another release."""
    remedy = "Take queries and qrels of the same release and split"
    confirmed: Counter[str] = Counter()
    for line, query_id, image_id, grade in qrels_lines(path, faults):
        if grade <= 0 or query_id in left_out:
            continue
        if query_id not in queries:
            faults.add(path, f"line {line}", f"query {quoted(query_id)} is not in the query file", remedy)
        elif image_id not in queries[query_id].target_ids:
            faults.add(path, f"line {line}", f"{quoted(image_id)} is not a target of query {quoted(query_id)} there",
                       remedy)
        else:
            confirmed[query_id] += 1
    for query_id, query in queries.items():
        if confirmed[query_id] != len(query.target_ids):
            faults.add(path, f"query {quoted(query_id)}",
                       f"it has {confirmed[query_id]} of the query's {len(query.target_ids)} targets", remedy)


def _notes(
    queries: tuple[BenchmarkQuery, ...], candidates: PoolImages, counts: Counter[str], pool: Path | None
) -> Iterator[str]:
    if pool is None:
        yield "No candidate pool was found: all images of the gallery are ranked, and image ids are not checked."
    for reason, count in counts.items():
        yield f"{count} queries are left out: they {reason}."
    if candidates.texts:
        yield f"{candidates.texts} candidates without an image are left out of the pool."
    if more := len(candidates.paths) - len(candidates.ids):
        yield f"{more} candidates share their image's path with another one."
    if hidden := sum(not query.target_ids for query in queries):
        yield f"{hidden} queries have no target in the file: they can be searched, not scored."


def _first(record: Record, *names: str) -> Any:
    for name in names:
        if (value := record.get(name)) is not None:
            return value
    return None


def _id(value: Any) -> str | None:
    """An id as text; numbers are valid ids."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def _listed(record: Record, name: str) -> list[Any]:
    value = record.get(name)
    return value if isinstance(value, list) else [] if value is None else [value]
