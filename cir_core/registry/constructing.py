"""The queries that a construction begins with: data sets as CIRCLED uses them."""

from __future__ import annotations

from pathlib import Path

from cir_core.datasets.records import Benchmark, CaptionMode
from cir_core.errors import DatasetError
from cir_core.registry.kinds import find_kind, read_benchmark
from cir_core.support.texts import counted, quoted

WITHOUT_PATH = ("sample",)
"""Data sets that need no path: cirque has drawn their images itself."""
_SEPARATE = ("fashioniq", "sample")     # CIRCLED makes a query of each of their captions


def queries_to_construct(
    dataset: str, path: Path, *, split: str | None = None, caption_mode: CaptionMode | None = None,
    pool: Path | None = None,
) -> Benchmark:
    """The single-turn queries of ``dataset`` at ``path``, captions separate where CIRCLED has them so. Raises
    ``DatasetError``, also for queries whose targets are hidden."""
    mode: CaptionMode | None = caption_mode or ("separate" if dataset in _SEPARATE else None)
    benchmark = read_benchmark(dataset, path, split=split, caption_mode=mode, pool=pool)
    refuse_unsuitable(benchmark, "sessions")
    return benchmark


def refuse_unsuitable(benchmark: Benchmark, made: str) -> None:
    """Raises ``DatasetError`` if nothing can be constructed from ``benchmark``: it has no queries, queries without a
    target, or a gallery for each query. ``made``: what is constructed, in the plural."""
    if not benchmark.queries:
        raise DatasetError(f"{benchmark.name} has no queries. Check the annotation file.")
    if without := [query.query_id for query in benchmark.queries if not query.target_ids]:
        raise DatasetError(f"{counted(len(without), 'query', 'queries')} of {len(benchmark.queries):,} in "
                           f"{benchmark.name} have no target, such as {quoted(without[0])}; {made} are constructed "
                           "towards one. Use a split with targets, or take these queries out.")
    if benchmark.own_galleries:
        raise DatasetError(f"In {benchmark.name} every query has a small gallery of its own; {made} need one to "
                           "search. Use another data set.")


def own_path(dataset: str, home: Path) -> Path:
    """Where a data set of :data:`WITHOUT_PATH` is. Raises ``DatasetError`` for others, and before it was drawn."""
    from cir_core.sample.gallery import sample_folder  # loads what draws the gallery

    expects = find_kind(dataset).expects
    if dataset not in WITHOUT_PATH:
        raise DatasetError(f"Say where {dataset} is: {expects}.")
    folder = sample_folder(home)
    if not folder.exists():
        raise DatasetError("The sample gallery has not been drawn yet. Run `cirque demo`, or `cirque sample build`.")
    return folder
