"""Relevance scores of one query with 100,000 candidates, against the bare product over the same bytes.

The candidates are half-precision numbers, which processors multiply in single precision. The bare product converts a
block into a buffer that it uses again, multiplies it with the query, and does nothing with the products: no reading, no
scores. It is timed with several sizes of blocks, and the fastest counts. The same product by PyTorch's half-precision
kernel is printed too; its products are rounded to half precision, so scores cannot be made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt
import torch

from benchmarks.memory import own_memory, peak_memory
from cir_core.relevance.scores import READINGS, gallery_scores

FULL, QUICK = 100_000, 5_000   # candidates
TOKENS, DIM = 32, 256
BAR, MEMORY = 1.3, 2048        # of the bare product; MiB beside the file
_BARE_BLOCKS = (32, 64, 128, 256, 512, 2048)   # candidates
_ROUNDS = 15
_WRITTEN = 2_000

Candidates = npt.NDArray[np.float16]


def run(folder: Path, size: int = FULL) -> None:
    """Prints the fastest time of each, of rounds in which all take turns: what disturbs them only adds time."""
    candidates, query = _candidates(folder, size)
    mapped = candidates.nbytes
    print(f"\nRelevance scores: 1 query, {size:,} candidates of {TOKENS} x {DIM} half-precision numbers, mapped, "
          f"{mapped / 2**20:,.0f} MiB in the page cache, {torch.get_num_threads()} threads.")
    print(f"bare: blocks converted to single precision and multiplied, the fastest of {_BARE_BLOCKS} candidates")
    before = own_memory(mapped)
    calls: dict[str, Callable[[], object]] = {
        reading: lambda reading=reading: gallery_scores(query, candidates, reading)  # type: ignore[misc]
        for reading in READINGS
    }
    with peak_memory(before, mapped) as above:
        for call in calls.values():
            call()
    rows = torch.from_numpy(candidates).view(-1, DIM)
    calls |= {f"bare {block}": lambda block=block: _bare(query, rows, block)  # type: ignore[misc]
              for block in _BARE_BLOCKS}
    calls["half"] = lambda: rows @ torch.from_numpy(query).half()
    best = _fastest(calls)
    block = min(_BARE_BLOCKS, key=lambda block: best[f"bare {block}"])
    bare = best[f"bare {block}"]
    print(f"{'bare product':<28} {bare:9.1f} ms, {block} candidates a block, {mapped / bare / 1e6:.1f} GB/s")
    print(f"{'in half precision':<28} {best['half']:9.1f} ms, {best['half'] / bare:.2f} of the bare product")
    for reading in READINGS:
        print(f"{f'scores, reading {reading}':<28} {best[reading]:9.1f} ms, {best[reading] / bare:.2f} of the bare "
              f"product (bar {BAR:.1f})")
    print(f"peak memory {above() * 1e6 / 2**20:.0f} MiB beside the file (bar {MEMORY:,})", flush=True)


def _fastest(calls: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Milliseconds; every other round in the opposite order."""
    best: dict[str, float] = {}
    for number in range(_ROUNDS):
        for name in sorted(calls, reverse=bool(number % 2)):
            started = perf_counter()
            calls[name]()
            best[name] = min(best.get(name, np.inf), (perf_counter() - started) * 1000)
    return best


def _bare(query: npt.NDArray[np.float32], rows: torch.Tensor, block: int) -> None:
    vector, size = torch.from_numpy(query), block * TOKENS
    buffer, products = torch.empty(size, DIM), torch.empty(size)
    for start in range(0, len(rows), size):
        part = rows[start:start + size]
        converted = buffer[:len(part)].copy_(part)
        torch.mv(converted, vector, out=products[:len(part)])


def _candidates(folder: Path, size: int) -> tuple[Candidates, npt.NDArray[np.float32]]:
    """Unit rows in a new file, all of it read once."""
    rng, path = np.random.default_rng(0), folder / "relevance.f16"
    with path.open("wb") as file:
        for start in range(0, size, _WRITTEN):
            rows = rng.standard_normal((min(_WRITTEN, size - start), TOKENS, DIM), dtype=np.float32)
            rows /= np.linalg.norm(rows, axis=2, keepdims=True)
            rows.astype("<f2").tofile(file)
    candidates = np.memmap(path, dtype="<f2", mode="c", shape=(size, TOKENS, DIM))
    candidates.view(np.uint16).max()
    query = rng.standard_normal(DIM, dtype=np.float32)
    return candidates, np.asarray(query / np.linalg.norm(query), np.float32)
