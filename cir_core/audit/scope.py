"""Scope of an audit: the first queries of a benchmark, and the images in a gallery."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import DatasetError, GalleryError
from cir_core.gallery.gallery import Gallery
from cir_core.support.texts import quoted

_NAMED = 3


def limited(benchmark: Benchmark, limit: int | None) -> Benchmark:
    """The first ``limit`` queries of each pool (of each category, if there are several)."""
    if limit is None:
        return benchmark
    seen = Counter[str]()
    kept: list[BenchmarkQuery] = []
    for query in benchmark.queries:
        seen[query.pool] += 1
        if seen[query.pool] <= limit:
            kept.append(query)
    return replace(benchmark, queries=tuple(kept))


def validated_here(validated: Collection[str], benchmark: Benchmark) -> frozenset[str]:
    """Those of the whole data set's ``validated`` queries that are in ``benchmark``, a part of it. Raises
    ``DatasetError`` if there are none."""
    here = frozenset(validated) & {query.query_id for query in benchmark.queries}
    if not here:
        raise DatasetError(f"None of the {len(validated)} validated queries is among the {len(benchmark.queries)} that "
                           "are audited. Raise --limit, or leave it out.")
    return here


def check_targets(benchmark: Benchmark) -> None:
    """Raises ``DatasetError`` if nothing can be audited: no queries, or hidden targets."""
    if not benchmark.queries:
        raise DatasetError(f"{benchmark.name} has no queries. Check which file or split was named.")
    if benchmark.own_galleries:
        raise DatasetError(f"In {benchmark.name} every query has a small gallery of its own, in which the top 10 mean "
                           "little. Audit a data set that ranks a whole gallery.")
    if not any(query.target_ids for query in benchmark.queries):
        raise DatasetError(f"{benchmark.name} hides its targets, so they cannot be ranked. Audit a split that "
                           "has them, such as --split val.")


def over_gallery(benchmark: Benchmark, gallery: Gallery) -> Benchmark:
    """``benchmark`` with pools restricted to the images in ``gallery``, and a note on missing ones. A pool that the
    files do not list becomes the whole gallery. Raises ``GalleryError`` if the gallery has none of a pool's images."""
    pools: dict[str, Sequence[str]] = {}
    missing: list[str] = []
    for name, pool in benchmark.pools.items():
        pools[name] = gallery.ids if pool is None else [image_id for image_id in pool if image_id in gallery]
        missing += [image_id for image_id in pool or () if image_id not in gallery]
        if not pools[name]:
            raise GalleryError(f"Gallery {quoted(gallery.name)} contains none of the {len(pool or ())} images of "
                               f"{quoted(name or benchmark.name)}. Name the gallery that was indexed from this data "
                               f"set with --gallery, or make it: cirque datasets index {benchmark.kind} PATH --images "
                               "ROOT")
    notes = benchmark.notes
    if missing:
        named = ", ".join(missing[:_NAMED]) + (", …" if len(missing) > _NAMED else "")
        notes = (*notes, f"gallery {gallery.name} lacks {len(missing)} images that the data set ranks ({named}): "
                         "ranks are over the others")
    return replace(benchmark, pools=pools, notes=notes)


def counts(benchmark: Benchmark) -> Mapping[str, int]:
    """Number of images per pool, except pools of unknown size."""
    return {name: len(pool) for name, pool in benchmark.pools.items() if pool is not None}
