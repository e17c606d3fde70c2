"""Image domain of a data set."""

from __future__ import annotations

import re
from collections.abc import Mapping

from cir_core.datasets.readers.soft_benchmark import is_cirr_name
from cir_core.datasets.records import Benchmark
from cir_core.types.domains import Domain

_DOMAINS: Mapping[str, Domain] = {
    "sample": "garment", "fashioniq": "garment", "cirr": "scene", "lasco": "scene", "circo": "circo",
}
_WORD = re.compile(r"[a-z0-9]+")


def domain_of(benchmark: Benchmark) -> Domain | None:
    """Domain of a benchmark's images, for prompts. Determined by the kind or, where many data
    sets share that form, by its content: M-BEIR's by its name, CIRCLED's by its subsets, SoFT's by
    the names of its images. None if unknown, and if subsets differ."""
    if benchmark.kind.startswith("soft-"):
        first = next(iter(benchmark.queries), None)
        return None if first is None else "scene" if is_cirr_name(first.reference_id) else "garment"
    names = benchmark.pools if benchmark.kind == "circled" else (benchmark.dataset or benchmark.kind,)
    found = {domain_named(name) for name in names}
    return found.pop() if len(found) == 1 else None


def domain_named(dataset: str) -> Domain | None:
    """Domain of a data set or of a part of one, such as "cirr_val" or "fashioniq_dress"; None for others."""
    first = _WORD.match(dataset.casefold())
    return _DOMAINS.get(first[0]) if first else None
