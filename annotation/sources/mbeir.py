"""Reader of query files in M-BEIR's format. The queries have no panel, and no label except a ``hidden_category`` in
their records."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from annotation.sources.pictures import Pictures
from annotation.sources.queries import UNKNOWN, Keys, QuerySource, StudyQuery, of_categories, refuse
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.files.json_files import read_lines
from cir_core.datasets.files.layouts import find_files
from cir_core.datasets.readers.mbeir import read_benchmark
from cir_core.datasets.records import Benchmark
from cir_core.gallery.gallery import Gallery
from cir_core.support.texts import counted, quoted

NATIVE = ("qid", "query_modality", "query_src_content", "neg_cand_list", "task_id")
"""Unused fields of M-BEIR's records, which a trace keeps under ``mbeir``."""


def read_mbeir(
    path: Path, *, pool: Path | None = None, images: Path | None = None, gallery: Gallery | None = None,
    categories: Collection[str] = (),
) -> QuerySource:
    """Read queries with a target; those without are counted in the notes.

    Args:
        path: the query file, or a folder in M-BEIR's layout.
        pool: the candidate pool, if it is not beside the queries.

    Raises ``DatasetError`` with file and record of all faults.
    """
    faults = ValidationIssues(collect=True)
    benchmark = read_benchmark(path, split=None, faults=faults, pool=pool)
    refuse(faults, path.name)
    dataset = benchmark.dataset or benchmark.name
    file = find_files(path, None, pool, None).queries
    records, keys = _records(file), Keys(file, faults)
    found = [
        StudyQuery(
            key, dataset, line, query.query_id, label, query.modification_text, query.reference_id,
            query.target_ids[0], query.target_ids, (), _trace(benchmark, position, label, native), query.caption_mode)
        for position, query in enumerate(benchmark.queries) if query.target_ids
        for line, (label, native) in ((benchmark.line_of(position), records.get(query.query_id, (UNKNOWN, {}))),)
        for key in (f"{dataset}::{line}",) if keys.new(key, f"query {quoted(query.query_id)}")
    ]
    refuse(faults, path.name)
    hidden = len(benchmark.queries) - len(found)
    notes = [note for note in benchmark.notes if "have no target" not in note]
    if hidden:
        without = counted(hidden, "query has no target", "queries have no target")
        notes.append(f"{without} and cannot be judged: left out.")
    notes.append("The queries have no panel, because they have no retrieval results. Run `cirque audit` first for "
                 "panels.")
    queries = of_categories(found, categories, free_only=False)
    source = {"form": "mbeir", "file": file.name, "dataset": dataset, "digest": benchmark.digest,
              "gallery": gallery.name if gallery else None}
    return QuerySource(queries, Pictures(benchmark.image_paths, folder=images, gallery=gallery), source, tuple(notes))


def _records(path: Path) -> dict[str, tuple[str, dict[str, Any]]]:
    """Hidden category and native fields by query id, of a file that was already validated."""
    found = {}
    for _, record in read_lines(path, ValidationIssues(collect=True)):
        label = record.get("hidden_category")
        query_id = str(next(record[name] for name in ("qid", "query_id", "id") if record.get(name) is not None))
        found[query_id] = (label if isinstance(label, str) and label else UNKNOWN,
                           {name: record[name] for name in NATIVE if name in record})
    return found


def _trace(benchmark: Benchmark, position: int, category: str, native: Mapping[str, Any]) -> dict[str, object]:
    query = benchmark.queries[position]
    reference, target = (next(iter(benchmark.image_paths(image_id)), image_id)
                         for image_id in (query.reference_id, query.target_ids[0]))
    return {
        "dataset": benchmark.dataset or benchmark.name, "hidden_category": category,
        "query_idx": benchmark.line_of(position), "query_id": query.query_id, "query_text": query.modification_text,
        "full_text": query.modification_text, "query_image_path": reference, "target_image_path": target,
        "target_ids": list(query.target_ids), **({"mbeir": dict(native)} if native else {}),
    }
