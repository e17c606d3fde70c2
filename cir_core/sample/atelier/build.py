"""Render the sample gallery to a folder, in FashionIQ's layout; an interrupted build resumes."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import cv2

from cir_core.errors import DatasetError, GalleryError
from cir_core.garments.lexicon import CATEGORY
from cir_core.sample.atelier.captions import PER_CATEGORY, make_triplets
from cir_core.sample.atelier.catalogue import DEFAULT_SEED, DEFAULT_SIZES, Garment, catalogue, families
from cir_core.sample.atelier.draw import render
from cir_core.sample.atelier.ground_truth import write_attributes
from cir_core.support.files import write_atomically
from cir_core.support.texts import quoted

#: Increased whenever rendering or catalogue change, so that old builds are not mixed with new ones.
VERSION = 2
JPEG_QUALITY = 92
_CHUNK = 16
_TOGETHER = 8  # garments of a family that a trial begins with

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class AtelierPaths:
    """File layout of a built gallery."""

    folder: Path

    @property
    def images(self) -> Path:
        return self.folder / "images"

    @property
    def manifest(self) -> Path:
        return self.folder / "manifest.csv"

    @property
    def marker(self) -> Path:
        """The file that marks the build as complete."""
        return self.folder / "build.json"

    def image(self, item_id: str) -> Path:
        return self.images / f"{item_id}.jpg"

    def captions(self, category: str, split: str) -> Path:
        return self.folder / "captions" / f"cap.{category}.{split}.json"

    def split(self, category: str, split: str) -> Path:
        return self.folder / "image_splits" / f"split.{category}.{split}.json"


def build_atelier(
    folder: Path, *, seed: int = DEFAULT_SEED, splits: Sequence[str] = ("test",),
    limit: int | None = None, workers: int | Literal["auto"] = 1, progress: Progress | None = None,
    sizes: Mapping[str, int] = DEFAULT_SIZES,
) -> AtelierPaths:
    """Render the ``splits`` to ``folder`` and write lists, captions and the ground truth.

    Existing images of the same seed and version are reused. ``limit`` is the number
    of garments per split, for trials. ``progress`` is called with the
    number of images done and the total. ``build.json`` is written last. More than
    one worker means spawned processes: a script must then guard its main module.

    Raises ``DatasetError`` for an unknown split, ``GalleryError`` when the disk fails.
    """
    paths = AtelierPaths(folder)
    recipe = {"seed": seed, "version": VERSION, "sizes": dict(sizes)}
    everything = catalogue(seed, sizes)
    chosen: dict[str, list[Garment]] = {}
    for split in splits:
        of_split = [garment for garment in everything if garment.split == split]
        if not of_split:
            raise DatasetError(f"The catalogue has no split {quoted(split)}; it has {', '.join(sizes)}.")
        chosen[split] = _first(of_split, limit)
    garments = [garment for group in chosen.values() for garment in group]
    counts: dict[str, dict[str, int]] = {}
    try:
        _begin(paths, recipe)
        _draw_all(paths, garments, workers, progress)
        _write_manifest(paths, garments)
        for split, group in chosen.items():
            counts[split] = {"images": len(group), "queries": _write_split(paths, split, group, seed)}
            write_attributes(folder, split, group)
        _write_json(paths.marker, {**recipe, "limit": limit, "counts": counts})
    except OSError as error:
        raise GalleryError(
            f"The sample gallery cannot be drawn to {folder}: {error.strerror or error}. Free some space, or name "
            "a folder that you may write in (CIRQUE_HOME)."
        ) from error
    return paths


def is_complete(folder: Path) -> bool:
    """Whether ``folder`` contains a finished build of the current version."""
    try:
        marker = json.loads((folder / "build.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(marker, dict) and marker.get("version") == VERSION


def _first(garments: Sequence[Garment], limit: int | None) -> list[Garment]:
    """At most ``limit`` garments, some of a family together so that queries remain among them."""
    if limit is None or limit >= len(garments):
        return list(garments)
    together = [(place // _TOGETHER, garment.item_id) for family in families(tuple(garments)).values()
                for place, garment in enumerate(family)]
    kept = {item_id for _, item_id in sorted(together, key=lambda one: one[0])[:limit]}
    return [garment for garment in garments if garment.item_id in kept]


def _begin(paths: AtelierPaths, recipe: Mapping[str, object]) -> None:
    """Mark the folder as being built; delete images of another recipe."""
    paths.images.mkdir(parents=True, exist_ok=True)
    paths.marker.unlink(missing_ok=True)
    stamp = paths.folder / ".recipe"
    digest = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()
    if not stamp.exists() or stamp.read_text("utf-8") != digest:
        for image in paths.images.glob("AT*.jpg"):
            image.unlink()
        write_atomically(stamp, digest.encode())
    for leftover in paths.images.glob(".*.part"):  # of a killed build
        leftover.unlink(missing_ok=True)


def _draw_all(paths: AtelierPaths, garments: Sequence[Garment], workers: int | Literal["auto"],
              progress: Progress | None) -> None:
    jobs = [(str(paths.image(garment.item_id)), dict(garment.attributes), garment.seed)
            for garment in garments if not paths.image(garment.item_id).exists()]
    total, done = len(garments), len(garments) - len(jobs)
    if progress:
        progress(done, total)
    count = min(_worker_count(workers), -(-len(jobs) // _CHUNK))
    for _ in _drawn(jobs, count):
        done += 1
        if progress:
            progress(done, total)


_Job = tuple[str, dict[str, str], int]


def _drawn(jobs: Sequence[_Job], workers: int) -> Iterator[None]:
    """Render the jobs, yielding after each; with a process pool if that pays."""
    if workers <= 1:
        for job in jobs:
            _draw(job)
            yield
        return
    # "spawn" works the same everywhere and under threaded web servers.
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _start_worker)
    try:
        yield from pool.map(_draw, jobs, chunksize=_CHUNK)
    finally:  # even when the caller stops early: do not render the rest first
        pool.shutdown(cancel_futures=True)


def _worker_count(workers: int | Literal["auto"]) -> int:
    return max(1, os.cpu_count() or 1) if workers == "auto" else max(1, workers)


def _start_worker() -> None:
    cv2.setNumThreads(1)


def _draw(job: _Job) -> None:
    path, attributes, seed = job
    picture = render(attributes, seed)
    ok, data = cv2.imencode(".jpg", picture[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    if not ok:
        raise OSError(f"could not encode {path}")
    write_atomically(Path(path), data.tobytes())


def _write_manifest(paths: AtelierPaths, garments: Iterable[Garment]) -> None:
    """Write the list of items: ids and files, without attributes."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("id", "path"))
    for garment in garments:
        rows.writerow((garment.item_id, f"images/{garment.item_id}.jpg"))
    write_atomically(paths.manifest, text.getvalue().encode())


def _write_split(paths: AtelierPaths, split: str, garments: Sequence[Garment], seed: int) -> int:
    """Write FashionIQ's split and caption files; returns the number of queries."""
    triplets = make_triplets(garments, seed, PER_CATEGORY.get(split, PER_CATEGORY["test"]))
    for category in CATEGORY.keys:
        ids = [garment.item_id for garment in garments if garment.category == category]
        _write_json(paths.split(category, split), ids)
        records = [triplet.record() for triplet in triplets if triplet.category == category]
        _write_json(paths.captions(category, split), records)
    return len(triplets)


def _write_json(path: Path, value: object) -> None:
    write_atomically(path, (json.dumps(value, indent=1) + "\n").encode())
