"""Exact search and approximate indexes side by side: build, size, time of a search, recall.

Vectors are clustered, 512 numbers each: 1,000 centres, and around them 32 directions, which groups of centres share,
with a little noise in all. Random vectors without such directions have no neighbours worth finding. Queries are those
with which cirque measures an index when it is built.

``make bench`` measures 100,000 and a million. Ten million are a row of their own: 26 GB of disk, an hour:

    python -m benchmarks indexes --sizes 10000000 --kinds faiss:auto
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from types import SimpleNamespace
from typing import cast

import numpy as np

from benchmarks.embedded_milvus import embedded_milvus
from cir_core.errors import IndexUnavailable
from cir_core.gallery.gallery import Gallery
from cir_core.index.approximate import PAGE, ApproximateIndex
from cir_core.index.engines import engine_of, maker_of
from cir_core.index.flat import FlatIndex
from cir_core.index.measuring import measure, sample_queries
from cir_core.types.records import Matrix

DIM, CENTRES, DIRECTIONS, GROUPS = 512, 1000, 32, 16
SIZES = (100_000, 1_000_000)
MILVUS = "milvus:embedded"   # a server that is started for it; another one: milvus:http://HOST:19530
KINDS = ("faiss:hnsw", "faiss:ivf-sq", "faiss:ivf-pq", MILVUS)   # of what is measured beside exact search
_HNSW_UP_TO = 200_000   # as "auto" has it: its build takes longest
_GOAL = {SIZES[0]: 0.98, SIZES[1]: 0.98}   # recall, 0.95 beyond
_BLOCK, _SEARCHES = 50_000, 40


@dataclass(frozen=True)
class Timed:
    """Milliseconds of single searches, and their processor time, which other work on the machine does not change."""

    milliseconds: list[float]
    processor: float

    def line(self) -> str:
        p50, p95 = np.quantile(self.milliseconds, [0.5, 0.95])
        return f"{p50:8.1f} {p95:8.1f} {self.processor:8.1f}"


def run(folder: Path, sizes: Sequence[int] = SIZES, kinds: Sequence[str] = KINDS) -> None:
    print(f"\nIndexes: clustered vectors of {DIM}, top {PAGE}, single searches. Build in seconds, its processor "
          "time, MB, milliseconds.")
    print(f"{'':<28} {'build':>8} {'cpu':>8} {'MB':>8} {'p50':>8} {'p95':>8} {'cpu':>8} {'of exact':>9} "
          f"{'recall@10':>9} {'@60':>6}  searched with")
    for size in sizes:
        features = clustered(folder / f"clustered-{size}.f32", size)
        exact = FlatIndex(features, range(size))   # type: ignore[arg-type]
        queries = sample_queries(features)
        some = np.concatenate([vectors[:_SEARCHES // len(queries)] for vectors in queries.values()])
        bare = _searches(exact, some if size <= SIZES[-1] else some[::10])   # beyond memory each takes many seconds
        print(f"{size:>11,} exact{'':<11} {'':>8} {'':>8} {4e-6 * size * DIM:8,.0f} {bare.line()}", flush=True)
        for kind in kinds:
            if kind == "faiss:hnsw" and size > _HNSW_UP_TO:
                continue
            if kind == MILVUS:
                with embedded_milvus(folder / f"{size}-milvus-data") as address:
                    _measure(folder, f"milvus:{address}", size, features, exact, queries, some, bare)
            else:
                _measure(folder, kind, size, features, exact, queries, some, bare)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        print(f"{'':<28} peak memory so far, mapped files included: {peak / 2**30:.1f} GiB", flush=True)


def _measure(folder: Path, kind: str, size: int, features: Matrix, exact: FlatIndex, queries: Mapping[str, Matrix],
             some: Matrix, bare: Timed) -> None:
    """Print the row of one index. Processor time is this process's: a server's own is not in it."""
    engine, wanted = engine_of(kind)
    maker = maker_of(engine)
    variant = maker.variant(wanted, size, DIM)
    shown = f"{engine}:{variant.name.rpartition('=')[2]}"
    work = folder / f"{size}-{shown.replace(':', '-')}"
    work.mkdir()
    vectors = cast(Gallery, SimpleNamespace(name=work.name, generation="bench", digest=f"{size:016x}",
                                            features=features, ids=exact.ids, folder=folder))
    with _clock() as build:
        made = maker.build(vectors, variant.name, work, lambda done, total: None)
    try:
        opened = maker.open(work, made.data, DIM)
        settings, figures = measure(opened, exact, features, queries, variant.ladder, _GOAL.get(size, 0.95))
        found = _searches(ApproximateIndex(features, exact.ids, opened, settings), some)
    except IndexUnavailable as error:   # an embedded server is no match for a large gallery
        print(f"{size:>11,} {shown:<16} {build[0]:8,.0f} {build[1]:8,.0f} {made.size / 1e6:8,.0f}  {error}", flush=True)
        return
    first, page = figures.worst
    print(f"{size:>11,} {shown:<16} {build[0]:8,.0f} {build[1]:8,.0f} "
          f"{made.size / 1e6:8,.0f} {found.line()} {found.processor / bare.processor:9.3f} {first:9.3f} "
          f"{page:6.3f}  {', '.join(f'{name} {value}' for name, value in settings.items())}", flush=True)
    maker.discard(work, in_use=True)


def clustered(path: Path, size: int, seed: int = 0) -> Matrix:
    """``[size, DIM]`` unit vectors in the file ``path``, mapped; the same every time."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((CENTRES, DIM), dtype=np.float32)
    directions = rng.standard_normal((GROUPS, DIRECTIONS, DIM), dtype=np.float32) / np.float32(DIRECTIONS**0.5)
    features = np.memmap(path, dtype="<f4", mode="w+", shape=(size, DIM))
    for start in range(0, size, _BLOCK):
        count = min(_BLOCK, size - start)
        of = rng.integers(CENTRES, size=count)
        rows = centres[of] + 0.2 * rng.standard_normal((count, DIM), dtype=np.float32)
        along = rng.standard_normal((count, DIRECTIONS), dtype=np.float32)
        for group in range(GROUPS):
            here = of % GROUPS == group
            rows[here] += along[here] @ directions[group]
        features[start:start + count] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    features.flush()
    return np.memmap(path, dtype="<f4", mode="r", shape=(size, DIM))


def _searches(index: FlatIndex, queries: Matrix) -> Timed:
    index.search(queries[0], PAGE)
    began, times = process_time(), list[float]()
    for query in queries:
        started = perf_counter()
        index.search(query, PAGE)
        times.append(1000 * (perf_counter() - started))
    return Timed(times, 1000 * (process_time() - began) / len(queries))


@contextmanager
def _clock() -> Iterator[list[float]]:
    """Seconds, and processor seconds, of the block when it has ended."""
    found: list[float] = []
    wall, processor = perf_counter(), process_time()
    yield found
    found += [perf_counter() - wall, process_time() - processor]
