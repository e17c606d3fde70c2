"""``make bench``: cirque's overhead over bare baselines, as ratios within one run.

Absolute times depend on the machine; each figure here is divided by a bare baseline that
is timed alternately with it (A B A B ...), and the median of the pairs is printed.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

# Set before torch is imported: spinning idle worker threads would slow down the other
# half of every pair on a machine with few cores.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

_RERANKED = 100_000  # the largest gallery whose turns are also reranked


def main() -> None:
    from benchmarks import (
        agreement,
        bounds,
        constructing,
        far,
        indexes,
        indexing,
        ranks,
        reading,
        relevance,
        rerank,
        start,
        studies,
        sweeps,
        turns,
    )

    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    everything = ["turns", "ranks", "rerank", "indexing", "reading", "start", "agreement", "studies", "bounds", "far",
                  "constructing", "relevance", "sweeps", "indexes"]
    parser.add_argument("what", nargs="*", default=everything)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--kinds", nargs="+", default=indexes.KINDS, help="of indexes; its sizes: 100,000 and up")
    parser.add_argument("--pairs", type=int, default=21)
    parser.add_argument("--quick", action="store_true",
                        help="start, agreement, studies, bounds, constructing, relevance, sweeps: a few seconds each, "
                             "as a smoke test")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cirque-bench-") as folder:
        if "turns" in options.what:
            turns.run(Path(folder), options.sizes, options.pairs)
        if "ranks" in options.what:
            ranks.run(Path(folder))
        if "rerank" in options.what:
            rerank.run(Path(folder), [size for size in options.sizes if size <= _RERANKED], options.pairs)
        if "indexing" in options.what:
            indexing.run(Path(folder))
        if "reading" in options.what:
            reading.run(Path(folder))
        if "start" in options.what:
            start.run(Path(folder), start.QUICK if options.quick else start.FULL)
        if "agreement" in options.what:
            agreement.run(Path(folder), agreement.QUICK if options.quick else agreement.FULL)
        if "studies" in options.what:
            studies.run(Path(folder), studies.QUICK if options.quick else studies.FULL)
        if "bounds" in options.what:
            bounds.run(Path(folder), bounds.QUICK if options.quick else bounds.FULL)
        if "far" in options.what:
            far.run(Path(folder))
        if "constructing" in options.what:
            constructing.run(Path(folder), constructing.QUICK if options.quick else constructing.FULL)
        if "relevance" in options.what:
            relevance.run(Path(folder), relevance.QUICK if options.quick else relevance.FULL)
        if "sweeps" in options.what:
            sweeps.run(Path(folder), sweeps.QUICK if options.quick else sweeps.FULL)
        if "indexes" in options.what:
            indexes.run(Path(folder), [size for size in options.sizes if size >= indexes.SIZES[0]], options.kinds)


main()
