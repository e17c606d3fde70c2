"""The sample gallery's own benchmark, in FashionIQ's format."""

from __future__ import annotations

from pathlib import Path

from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers import fashioniq
from cir_core.datasets.records import Benchmark, CaptionMode
from cir_core.errors import DatasetError


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
        raise DatasetError(f"{path} does not hold the sample benchmark. Draw it with `cirque sample build {path}`.")
    queries, pools, notes = fashioniq.read_categories(
        path, split, caption_mode or "joined", faults or ValidationIssues(), union=False, may_hide_targets=False,
    )
    return Benchmark("sample", split, queries, pools, image_paths, notes)


def image_paths(image_id: str) -> tuple[str, ...]:
    return (f"images/{image_id}.jpg",)
