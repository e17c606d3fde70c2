"""The queries that a construction begins with: data sets as CIRCLED uses them."""

from __future__ import annotations

from pathlib import Path

from cir_core.datasets.records import Benchmark, CaptionMode
from cir_core.errors import DatasetError
from cir_core.evaluation.evaluators.checks import refuse_hidden
from cir_core.registry.kinds import find_kind, read_benchmark

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
    refuse_hidden(benchmark)
    if benchmark.own_galleries:
        raise DatasetError(f"In {benchmark.name} every query has a small gallery of its own; sessions need one to "
                           "search. Take another data set.")
    return benchmark


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
