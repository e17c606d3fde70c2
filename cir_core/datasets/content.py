"""Contents of data-set files: counts, as papers print them, notes, image ids, and the benchmark if there is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.files.json_files import read_document
from cir_core.datasets.records import Benchmark, CaptionMode, ImagePaths, group_of

Counts = Mapping[str, int | float | str]


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

    counts: Counts
    notes: Sequence[str] = ()
    benchmark: Benchmark | None = None
    image_ids: Sequence[str] = ()
    image_paths: ImagePaths | None = None


Reader = Callable[[Source], Content]


def of_benchmark(benchmark: Benchmark, counts: Counts | None = None, shown: Iterable[str] = ()) -> Content:
    """``shown``: images that are in the files and neither ranked nor referenced."""
    return Content(benchmark_counts(benchmark) if counts is None else counts, benchmark.notes, benchmark,
                   tuple(dict.fromkeys([*benchmark.image_ids, *shown])), benchmark.image_paths)


def benchmark_counts(benchmark: Benchmark) -> Counts:
    """Queries, images by pool, targets per query. "not listed": missing in the files."""
    queries = benchmark.queries
    counts: dict[str, int | float | str] = {"queries": len(queries)}
    by_pool = Counter(query.pool for query in queries)
    if benchmark.own_galleries:
        counts |= _of_own_galleries(benchmark)
    for name, pool in benchmark.pools.items() if not benchmark.own_galleries else ():
        label = f", {name}" if len(benchmark.pools) > 1 else ""
        if label:
            counts[f"queries{label}"] = by_pool[name]
        counts[f"images{label}"] = "not listed" if pool is None else len(pool)
    counts["reference images"] = len({query.reference_id for query in queries})
    targets = [len(query.target_ids) for query in queries if query.target_ids]
    if targets:
        counts["target images"] = len({name for query in queries for name in query.target_ids})
        counts["targets of a query, mean"] = mean(targets)
        counts["targets of a query, most"] = max(targets)
    if hidden := len(queries) - len(targets):
        counts["queries without targets"] = hidden
    if counted := sum(bool(query.subset_ids) for query in queries):
        counts["queries with a subset"] = counted
    counts["words of a text, mean"] = mean(len(query.modification_text.split()) for query in queries)
    aspects = Counter(aspect for query in queries for aspect in query.aspects)
    return counts | {f"aspect {name}": number for name, number in sorted(aspects.items())}


def _of_own_galleries(benchmark: Benchmark) -> Counts:
    """By group: queries, and the sizes of their galleries."""
    sizes: dict[str, list[int]] = {}
    for name, pool in benchmark.pools.items():
        sizes.setdefault(group_of(name), []).append(len(pool or ()))
    counts = {"images": len({image_id for pool in benchmark.pools.values() for image_id in pool or ()})}
    for group, of in sizes.items():
        counts |= {f"queries, {group}": len(of), **ends(f"images of a query, {group}", of)}
    return counts


def ends(what: str, numbers: Sequence[int]) -> dict[str, int]:
    """The least and the most; 0 of nothing, for a file without records."""
    return {f"{what}, least": min(numbers, default=0), f"{what}, most": max(numbers, default=0)}


def mean(numbers: Iterable[float]) -> float:
    """The mean; 0.0 of nothing."""
    known = list(numbers)
    return sum(known) / len(known) if known else 0.0


def read_pool(path: Path | None, faults: ValidationIssues) -> tuple[str, ...] | None:
    """Image names of a split file: a JSON array, or an object of names and paths as CIRR's. None after a fault, and
    without a file."""
    content = None if path is None else read_document(path, faults)
    if path is None or content is None:
        return None
    if isinstance(content, Mapping) or (
            isinstance(content, list) and all(isinstance(name, str) and name for name in content)):
        return tuple(content)
    faults.add(path, "", "it is not a list of image names", "Give the split file of the gallery")
    return None
