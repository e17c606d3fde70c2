"""Write any benchmark in M-BEIR's format, converters' dialect."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cir_core.datasets.readers.mbeir import usual_mode
from cir_core.datasets.readers.qrels import write_qrels
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import DatasetError
from cir_core.support.files import write_atomically
from cir_core.support.texts import quoted


def write_mbeir(folder: Path, benchmark: Benchmark) -> tuple[Path, ...]:
    """Write query file, candidate pool and qrels of each of the benchmark's pools, in M-BEIR's layout.

    Deterministic, byte for byte. Fields missing in the format (CIRR's subsets and
    exclusions, aspects, a reference's id that its path does not determine) are written under the
    key ``cirque``, which :func:`cir_core.datasets.readers.mbeir.read_benchmark` reads and others skip.
    Paths are the first of ``Benchmark.image_paths``. Raises ``DatasetError`` if a pool is not
    listed, since its file would have to be invented.
    """
    if missing := [name for name, pool in benchmark.pools.items() if pool is None]:
        raise DatasetError(f"The files of {benchmark.name} do not list the images of the pool {quoted(missing[0])}, "
                           "which M-BEIR's format needs. Add the data set's list of images.")
    if benchmark.own_galleries:
        raise DatasetError(f"In {benchmark.name} every query has a gallery of its own; M-BEIR's format has one for "
                           "all. Convert it to trec-qrels instead.")
    split = benchmark.split or "test"
    written: list[Path] = []
    for name, pool in benchmark.pools.items():
        label = benchmark.dataset or benchmark.kind.replace("_", "-")  # a data set's own name round-trips
        if len(benchmark.pools) > 1:
            label = f"{label}-{name}".replace("_", "-")
        stem = f"mbeir_{label}_task7_{split}"
        queries = [query for query in benchmark.queries if query.pool == name]
        paths = {image_id: _path(benchmark, image_id) for image_id in pool or ()}
        ids: dict[str, str] = {}
        for image_id, path in paths.items():
            ids.setdefault(path, image_id)
        files = (folder / "query" / split / f"{stem}.jsonl", folder / "cand_pool" / "local" / f"{stem}_cand_pool.jsonl",
                 folder / "qrels" / split / f"{stem}_qrels.tsv")
        write_atomically(files[0], _lines(query_record(benchmark, query, ids) for query in queries))
        write_atomically(files[1], _lines({"cand_id": image_id, "img_path": path} for image_id, path in paths.items()))
        write_qrels(files[2], {q.query_id: dict.fromkeys(q.target_ids, 1) for q in queries}, header=True)
        written += files
    return tuple(written)


def query_record(benchmark: Benchmark, query: BenchmarkQuery, ids: Mapping[str, str]) -> dict[str, Any]:
    """One line of a query file. ``ids``: path to image id, of the matching pool."""
    path = _path(benchmark, query.reference_id)
    record: dict[str, Any] = {"query_id": query.query_id, "query_text": query.modification_text,
                              "query_img_path": path, "pos_cand_list": list(query.target_ids[:1])}
    if len(query.target_ids) > 1:
        record["gt_cand_list"] = list(query.target_ids)
    kept: dict[str, Any] = {
        "reference_id": query.reference_id if ids.get(path, path) != query.reference_id else None,
        "caption_mode": query.caption_mode,
        "excluded_ids": query.excluded_ids, "subset_ids": query.subset_ids, "aspects": query.aspects,
    }
    if query.caption_mode == usual_mode(query.query_id):
        del kept["caption_mode"]
    if kept := {name: value for name, value in kept.items() if value}:
        record["cirque"] = kept
    return record


def _path(benchmark: Benchmark, image_id: str) -> str:
    paths: Sequence[str] = benchmark.image_paths(image_id)
    return paths[0] if paths else image_id


def _lines(records: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    return (json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)
