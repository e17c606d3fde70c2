"""Ranks of 10,000 queries over 120,000 images, against the bare product of the same tiles."""

from __future__ import annotations

import statistics
from pathlib import Path

import numpy as np

from benchmarks.memory import own_memory, peak_memory
from benchmarks.timing import HEADER, in_turn
from cir_core.index.flat import FlatIndex
from cir_core.index.rank_many import IMAGES, QUERIES
from cir_core.types.records import Matrix

SIZE, DIM, ASKED = 120_000, 512, 10_000
BAR = 0.70   # of the product rate
_PAIRS = 5
_BLOCK = 10_000
_MAPPED = SIZE * DIM * 4


def run(folder: Path) -> None:
    features, queries = _vectors(folder)
    index = FlatIndex(features, range(SIZE))  # type: ignore[arg-type]
    # Targets from anywhere: most of them are where scores are densest, so that many images are too
    # close for a single-precision product to decide.
    targets = [(int(row),) for row in np.random.default_rng(1).integers(SIZE, size=ASKED)]
    print(f"\nRanks of {ASKED:,} queries, one target each, over {SIZE:,} x {DIM} memory-mapped vectors.")
    print(f"bare: queries @ features.T of the same tiles ({QUERIES:,} x {IMAGES:,}), nothing done with them")
    print(HEADER)
    before = own_memory(_MAPPED)
    operations = 2 * ASKED * SIZE * DIM
    for label, k in (("ranks", 0), ("ranks and the 20 best", 20)):
        with peak_memory(before, _MAPPED) as above:
            index.rank_many(queries, targets, k=k)

        def ours(i: int, k: int = k) -> None:
            index.rank_many(queries, targets, k=k)

        pairs = in_turn(ours, lambda i: _bare(queries, features), _PAIRS)
        rate = operations / statistics.median(pairs.bare) / 1e6
        share = statistics.median(bare / mine for bare, mine in zip(pairs.bare, pairs.ours, strict=True))
        print(pairs.line(label))
        print(f"  product {rate:.0f} GFLOP/s, with ranks {rate * share:.0f} GFLOP/s: {share:.2f} of the product rate "
              f"(bar {BAR:.2f}); peak memory {above():.0f} MB besides the vectors", flush=True)


def _vectors(folder: Path) -> tuple[Matrix, Matrix]:
    """Unit vectors around 100 centres, memory-mapped like a gallery's."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((100, DIM), dtype=np.float32)

    def drawn(count: int) -> Matrix:
        rows = centres[rng.integers(100, size=count)] + rng.standard_normal((count, DIM), dtype=np.float32)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    path = folder / "ranked.f32"
    features = np.memmap(path, dtype="<f4", mode="w+", shape=(SIZE, DIM))
    for start in range(0, SIZE, _BLOCK):
        features[start:start + _BLOCK] = drawn(min(_BLOCK, SIZE - start))
    features.flush()
    del features
    return np.memmap(path, dtype="<f4", mode="r", shape=(SIZE, DIM)), drawn(ASKED)


def _bare(queries: Matrix, features: Matrix) -> None:
    out = np.empty((QUERIES, IMAGES), dtype=np.float32)
    for first in range(0, len(queries), QUERIES):
        block = queries[first:first + QUERIES]
        for start in range(0, len(features), IMAGES):
            rows = features[start:start + IMAGES]
            np.matmul(block, rows.T, out=out[:len(block), :len(rows)])
