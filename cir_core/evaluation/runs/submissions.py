"""Submission files of the CIRCO and CIRR servers, with the servers' own checks.

CIRCO: ``{"0": [50 image ids], …}``. CIRR: two files ``{"version": "rc2", "metric": …, pairid:
[names], …}``, "recall" with 50 names and "recall_subset" with 3 of the query's image set.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import read_object
from cir_core.datasets.readers.circo import canonical_id
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import DatasetError
from cir_core.evaluation.runs.records import Run
from cir_core.support.files import write_durably
from cir_core.support.texts import quoted

DEPTH = 50
SUBSET_DEPTH = 3
VERSION = "rc2"
LARGEST = 5_000_000  # bytes; CIRR's server takes at most 5 MB
CIRR_FILES = ("recall.json", "recall_subset.json")
_DEPTHS = {"recall": DEPTH, "recall_subset": SUBSET_DEPTH}
_WRITE_AGAIN = "Write the submission again"

Content = Mapping[str, Any]
_Problem = tuple[str, str]  # problem and remedy


@dataclass(frozen=True)
class Submission:
    """Written files. ``notes``: remarks on what the server accepts without complaint."""

    paths: tuple[Path, ...]
    notes: tuple[str, ...] = ()


def write_circo(path: Path, run: Run, benchmark: Benchmark) -> Submission:
    """The best 50 of each query, ids as numbers. Raises ``DatasetError`` if the server would reject
    it; then nothing is written."""
    content = {
        name: [one if (number := canonical_id(one)) is None else int(number) for one in run.rankings[name][:DEPTH]]
        for name in _in_order(run.rankings, benchmark)
    }
    notes = _check_circo(path, content, benchmark, RAISE).notes
    _write(path, _encoded(content))
    return Submission((path,), notes)


def write_cirr(target: Path | tuple[Path, Path], run: Run, benchmark: Benchmark) -> Submission:
    """Two files: ``target`` is their folder, or their paths, recall first.

    The reference is removed from rankings that contain it, as in the benchmark. The second
    file is from ``run.subset_rankings``, or from the part of a ranking in the query's image set.
    Raises ``DatasetError`` if the server would reject either; then nothing is written.
    """
    paths = target if isinstance(target, tuple) else (target / CIRR_FILES[0], target / CIRR_FILES[1])
    recall: dict[str, Any] = {"version": VERSION, "metric": "recall"}
    subset: dict[str, Any] = {"version": VERSION, "metric": "recall_subset"}
    queries = {query.query_id: query for query in benchmark.queries}
    for name in _in_order(run.rankings, benchmark):
        recall[name] = _without_excluded(run.rankings[name], queries.get(name))[:DEPTH]
    for name in _in_order({**run.rankings, **run.subset_rankings}, benchmark):
        ranking = run.subset_rankings.get(name) or [
            one for one in run.rankings.get(name, ()) if name not in queries or one in queries[name].subset_ids
        ]
        subset[name] = _without_excluded(ranking, queries.get(name))[:SUBSET_DEPTH]
    encoded = []
    for path, content in zip(paths, (recall, subset), strict=True):
        _check_cirr(path, content, benchmark, RAISE)
        encoded.append(_encoded(content))
        _check_size(path, len(encoded[-1]), RAISE)
    for path, one in zip(paths, encoded, strict=True):
        _write(path, one)
    return Submission(paths)


def read_circo_submission(path: Path, benchmark: Benchmark | None = None, faults: ValidationIssues = RAISE) -> Run:
    """A CIRCO submission; ids may be numbers or strings. Without ``benchmark`` the number of
    queries and the images are not checked. Raises ``DatasetError`` unless ``faults`` collects."""
    content = _read(path, faults)
    return Run(path.stem, {}) if content is None else _check_circo(path, content, benchmark, faults)


def read_cirr_submission(path: Path, benchmark: Benchmark | None = None, faults: ValidationIssues = RAISE) -> Run:
    """A CIRR submission: either file, whose names go to ``rankings`` or ``subset_rankings``, or the
    folder that :func:`write_cirr` wrote both to. Raises ``DatasetError`` unless ``faults`` collects."""
    if not path.is_dir():
        return _read_cirr(path, benchmark, faults)
    there = [path / name for name in CIRR_FILES if (path / name).is_file()]
    if not there:
        raise DatasetError(f"{path} contains neither {' nor '.join(CIRR_FILES)}. Give a submission file.")
    runs = [_read_cirr(one, benchmark, faults) for one in there]
    rankings = {name: ids for run in runs for name, ids in run.rankings.items()}
    subsets = {name: ids for run in runs for name, ids in run.subset_rankings.items()}
    return Run(path.name, rankings, subset_rankings=subsets)


def _read_cirr(path: Path, benchmark: Benchmark | None, faults: ValidationIssues) -> Run:
    content = _read(path, faults)
    if content is None:
        return Run(path.stem, {})
    _check_size(path, path.stat().st_size, faults)
    return _check_cirr(path, content, benchmark, faults)


def _read(path: Path, faults: ValidationIssues) -> Content | None:
    """None if the file as a whole is unreadable, so that it is one fault rather than one per query."""
    before = faults.count
    content = read_object(path, faults)
    return None if not content and faults.count > before else content


def _check_circo(path: Path, content: Content, benchmark: Benchmark | None, faults: ValidationIssues) -> Run:
    count = len(content) if benchmark is None else len(benchmark.queries)
    pool = _pool(benchmark)
    rankings: dict[str, tuple[str, ...]] = {}
    for name in _expected(path, content, [str(number) for number in range(count)], faults):
        ids = [canonical_id(one) for one in content[name]] if isinstance(content[name], list) else None
        if ids is None or None in ids:
            faults.add(path, f"key {quoted(name)}", "its value is not a list of image ids (numbers)", _WRITE_AGAIN)
            continue
        ranking = tuple(one for one in ids if one is not None)
        if (problem := _list_problem(ranking, pool)) is not None:
            faults.add(path, f"key {quoted(name)}", *problem)
        else:
            rankings[name] = ranking
    other = sum(len(ranking) != DEPTH for ranking in rankings.values())
    note = f"{other} of {len(rankings)} lists do not have {DEPTH} images, which the server expects but does not check."
    return Run(path.stem, rankings, notes=(note,) if other else ())


def _check_cirr(path: Path, content: Content, benchmark: Benchmark | None, faults: ValidationIssues) -> Run:
    version, metric = content.get("version"), content.get("metric")
    if version is None and metric is None:
        faults.add(path, "", "it has neither 'version' nor 'metric'", "Check that it is a submission to CIRR's server")
        return Run(path.stem, {})
    if version != VERSION:
        faults.add(path, "key 'version'", f"it is {quoted(version)}, not {quoted(VERSION)}",
                   "Set the version of the annotations")
    depth = _DEPTHS.get(metric) if isinstance(metric, str) else None
    if depth is None:
        faults.add(path, "key 'metric'", f"it is {quoted(metric)}", f"Set it to one of {', '.join(map(repr, _DEPTHS))}")
        return Run(path.stem, {})
    lists = {name: value for name, value in content.items() if name not in ("version", "metric")}
    queries = {query.query_id: query for query in benchmark.queries} if benchmark else {}
    pool = _pool(benchmark)
    rankings: dict[str, tuple[str, ...]] = {}
    for name in _expected(path, lists, list(queries) if benchmark else _pairids(lists), faults):
        value = lists[name]
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            faults.add(path, f"key {quoted(name)}", "its value is not a list of image names", _WRITE_AGAIN)
            continue
        problem = (_length_problem(value, depth) or _list_problem(value, pool)
                   or _query_problem(value, queries.get(name), metric))
        if problem is not None:
            faults.add(path, f"key {quoted(name)}", *problem)
        else:
            rankings[name] = tuple(value)
    return Run(path.stem, rankings) if metric == "recall" else Run(path.stem, {}, subset_rankings=rankings)


def _expected(path: Path, lists: Content, names: Sequence[str], faults: ValidationIssues) -> list[str]:
    """The keys of ``lists`` that are among ``names``, which must match exactly."""
    wanted = dict.fromkeys(names)
    for name in lists:
        if name not in wanted:
            faults.add(path, f"key {quoted(name)}", f"it is not a query of these {len(wanted)}",
                       "Check the split, or remove it")
    for name in wanted:
        if name not in lists:
            faults.add(path, f"key {quoted(name)}", "it is missing",
                       "A submission ranks every query of the split; add it")
    return [name for name in lists if name in wanted]


def _pairids(lists: Content) -> list[str]:
    return [name for name in lists if canonical_id(name) == name]


def _length_problem(ranking: Sequence[str], depth: int) -> _Problem | None:
    if len(ranking) == depth:
        return None
    return f"its list has {len(ranking)} names, not {depth}", f"Give the best {depth}, from a run that is deep enough"


def _list_problem(ranking: Sequence[str], pool: set[str] | None) -> _Problem | None:
    if len(set(ranking)) < len(ranking):
        twice = next(one for number, one in enumerate(ranking) if one in ranking[:number])
        return f"the image {quoted(twice)} occurs twice", "Rank each image once"
    unknown = [one for one in ranking if pool is not None and one not in pool]
    return (f"the image {quoted(unknown[0])} is not in this split", "Rank the images of the split, by its names") \
        if unknown else None


def _query_problem(ranking: Sequence[str], query: BenchmarkQuery | None, metric: object) -> _Problem | None:
    if query is None:
        return None
    if query.reference_id in ranking:
        return f"it ranks its own reference {quoted(query.reference_id)}", "Take the reference out before ranking"
    strange = [one for one in ranking if metric == "recall_subset" and one not in query.subset_ids]
    return (f"the image {quoted(strange[0])} is not in the query's image set", "Rank its five other members only") \
        if strange else None


def _pool(benchmark: Benchmark | None) -> set[str] | None:
    """Ids that may be ranked; None if the files do not list them."""
    listed = list(benchmark.pools.values()) if benchmark else [None]
    return None if None in listed else {image_id for pool in listed for image_id in pool or ()}


def _check_size(path: Path, size: int, faults: ValidationIssues) -> None:
    if size > LARGEST:
        faults.add(path, "", f"it has {size:,} bytes, and the server takes at most {LARGEST:,}", "Write it compactly")


def _in_order(rankings: Content, benchmark: Benchmark) -> list[str]:
    """Ranked queries: the benchmark's in its order, then unknown ones, for the check to report."""
    wanted = [query.query_id for query in benchmark.queries if query.query_id in rankings]
    return list(dict.fromkeys([*wanted, *rankings]))


def _without_excluded(ranking: Sequence[str], query: BenchmarkQuery | None) -> list[str]:
    return [one for one in ranking if query is None or one not in query.excluded_ids]


def _write(path: Path, content: bytes) -> None:
    try:
        write_durably(path, content)
    except OSError as error:
        raise DatasetError(f"{path} cannot be written: {error.strerror or error}. Choose another place.") from error


def _encoded(content: Content) -> bytes:
    return json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
