"""LaSCo (Levy et al., AAAI 2024): 389,305 queries over COCO's 2014 images.

``lasco_<split>.json`` is an array of ``{qid, query-image: [id, path], query-text, target-image: [id, path]}``. The
ranked images are in ``lasco_<split>_corpus.json``: an array of ``{id, path}`` for val, an object of id and path for
train. The corpus of val prefixes the queries' paths with ``val/``.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import Record, first_byte, read_array, read_object
from cir_core.datasets.files.layouts import check_folder, find_file, split_of_file
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.support.texts import quoted

POOL = "lasco"
_SPLITS = ("train", "val", "test")


@dataclass
class CocoPaths:
    """Path by image id. Callable as ``Benchmark.image_paths``."""

    paths: dict[str, str] = field(default_factory=dict)

    def __call__(self, image_id: str) -> tuple[str, ...]:
        path = self.paths.get(image_id, image_id)
        folder, _, rest = path.partition("/")
        return (rest, path) if folder in _SPLITS and rest else (path,)


def read_benchmark(path: Path, *, split: str | None = None, faults: ValidationIssues = RAISE) -> Benchmark:
    """Read the queries in ``path``: the data set's folder (or its ``downloads``), or the query file.

    The default split is "val". Image ids are COCO's numbers as text. Queries without text are dropped and
    counted in the notes. A repeated ``qid`` gets the suffix "#2", "#3", also noted. Targets must be
    in the corpus, if present. Raises ``DatasetError`` unless ``faults`` collects.
    """
    queries, split = _query_file(path, split)
    corpus = queries.with_name(f"{queries.stem}_corpus.json")
    paths = CocoPaths()
    pool = _read_corpus(corpus, paths, faults) if corpus.is_file() else None
    known = None if pool is None else frozenset(pool)
    times: dict[str, int] = {}
    found, empty, again = [], 0, 0
    for number, record in read_array(queries, faults):
        query = _query(record, paths, known)
        if isinstance(query, _Wrong):
            faults.add(queries, number, query.problem, query.remedy)
        elif not query.modification_text.strip():
            empty += 1
        else:
            times[query.query_id] = seen = times.get(query.query_id, 0) + 1
            again += seen > 1
            found.append(query if seen == 1 else replace(query, query_id=f"{query.query_id}#{seen}"))
    if not found and not faults.count:
        faults.add(queries, "", "it contains no query", "Check that it is a query file of LaSCo")
    return Benchmark("lasco", split, tuple(found), {POOL: pool}, paths, tuple(_notes(pool, corpus, empty, again)))


@dataclass(frozen=True)
class _Wrong:
    problem: str
    remedy: str = "Check that it is a query file of LaSCo"


def _query(record: Record, paths: CocoPaths, known: Container[str] | None) -> BenchmarkQuery | _Wrong:
    query_id, text = record.get("qid"), record.get("query-text")
    if isinstance(query_id, bool) or not isinstance(query_id, int | str) or query_id == "":
        return _Wrong(f"it has no 'qid', but {', '.join(record) or 'nothing'}")
    if not isinstance(text, str):
        return _Wrong(f"query {query_id} has no 'query-text'")
    images = []
    for name in ("query-image", "target-image"):
        if name == "target-image" and name not in record:
            continue
        image = _image(record.get(name))
        if image is None:
            return _Wrong(f"{quoted(name)} of query {query_id} is not an id and a path")
        images.append(image)
    if known is not None and len(images) == 2 and images[1][0] not in known:
        return _Wrong(f"the target {images[1][0]} of query {query_id} is not in the corpus",
                      "Take queries and corpus of the same release and split")
    for image_id, path in images:
        paths.paths.setdefault(image_id, path)
    return BenchmarkQuery(str(query_id), images[0][0], text, tuple(image_id for image_id, _ in images[1:]), pool=POOL)


def _image(value: Any) -> tuple[str, str] | None:
    """Id and path of ``[id, path]`` or ``{"id": …, "path": …}``."""
    if isinstance(value, dict):
        value = [value.get("id"), value.get("path")]
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], str) or not value[1]:
        return None
    if isinstance(value[0], bool) or not isinstance(value[0], int | str) or value[0] == "":
        return None
    return sys.intern(str(value[0])), value[1]  # a large file repeats image ids


def _query_file(path: Path, split: str | None) -> tuple[Path, str]:
    if path.is_file():
        named = path.stem.removeprefix("lasco_")
        return path, split_of_file(path, named if named in _SPLITS else None, split)
    check_folder(path)
    split = split or "val"
    options = [f"{folder}lasco_{split}.json" for folder in ("", "downloads/", "annotations/", "captions/")]
    return find_file(path, options, f"LaSCo's queries of the split {quoted(split)}"), split


def _read_corpus(path: Path, paths: CocoPaths, faults: ValidationIssues) -> tuple[str, ...]:
    records: Iterator[tuple[str | int, Any]]
    if first_byte(path) == b"[":
        records = iter(read_array(path, faults))
    else:
        records = ((f"key {quoted(key)}", [key, value]) for key, value in read_object(path, faults).items())
    for where, record in records:
        image = _image(record)
        if image is None:
            faults.add(path, where, "it is not an id and a path", "Check that it is a corpus of LaSCo")
        elif image[0] in paths.paths:
            faults.add(path, where, f"the image id {image[0]} occurs twice", "Keep one of the two")
        else:
            paths.paths[image[0]] = image[1]
    if not paths.paths and not faults.count:
        faults.add(path, "", "it lists no image", "Check that it is a corpus of LaSCo")
    return tuple(paths.paths)


def _notes(pool: tuple[str, ...] | None, corpus: Path, empty: int, again: int) -> Iterator[str]:
    if pool is None:
        yield f"{corpus.name} is missing: all images of the gallery are ranked."
    if empty:
        yield f"{empty} queries are left out: they have no text."
    if again:
        yield f"{again} queries repeat the qid of another one; #2, #3 … behind the id tells them apart."
