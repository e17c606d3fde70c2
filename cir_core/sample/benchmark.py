"""The sample gallery's own benchmark, in FashionIQ's format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cir_core.datasets.files.captions import query_texts
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers import fashioniq
from cir_core.datasets.records import Benchmark, BenchmarkQuery, CaptionMode
from cir_core.errors import DatasetError
from cir_core.sample.atelier.captions import PER_CATEGORY, make_triplets
from cir_core.sample.atelier.catalogue import catalogue


def read_benchmark(
    path: Path, *, split: str | None = None, caption_mode: CaptionMode | None = None,
    faults: ValidationIssues | None = None,
) -> Benchmark:
    """Queries and pools of the rendered garments in ``path``.

    ``split`` is by default the one held out from the bundled encoder's training, and
    ``caption_mode`` "joined". Ids, pools and errors are those of :func:`fashioniq.read_benchmark`.
    """
    from cir_core.sample.gallery import SPLIT

    split = split or SPLIT
    if not (path / "captions").is_dir():
        raise DatasetError(f"{path} does not contain the sample benchmark. Draw it with `cirque sample build {path}`.")
    queries, pools, notes = fashioniq.read_categories(
        path, split, caption_mode or "joined", faults or ValidationIssues(), union=False, may_hide_targets=False,
    )
    return Benchmark("sample", split, queries, pools, image_paths, notes)


def image_paths(image_id: str) -> tuple[str, ...]:
    return (f"images/{image_id}.jpg",)


def redrawn(benchmark: Benchmark, seed: int) -> Benchmark:
    """``benchmark`` with other queries over the same garments, drawn by ``seed``; none of them is one of its own. What
    was chosen by looking at the released queries is reported on these."""
    known = {(query.reference_id, target) for query in benchmark.queries for target in query.target_ids}
    inside = {image_id for pool in benchmark.pools.values() for image_id in pool or ()}
    garments = [one for one in catalogue() if one.item_id in inside]
    found = [one for one in make_triplets(garments, seed, 2 * PER_CATEGORY["test"])
             if (one.reference_id, one.target_id) not in known]
    queries = list[BenchmarkQuery]()
    for category in benchmark.pools:
        of_category = [one for one in found if one.category == category][:PER_CATEGORY["test"]]
        queries += [BenchmarkQuery(f"{category}:draw{seed}:{number}", one.reference_id,
                                   query_texts(one.captions, "joined")[0], (one.target_id,), "joined",
                                   pool=category)
                    for number, one in enumerate(of_category)]
    if not queries:
        raise DatasetError("The sample has no other queries over its garments. Draw all of it: cirque sample build.")
    return replace(benchmark, queries=queries)
