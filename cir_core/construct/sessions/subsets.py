"""Subsets of a data set, their galleries, and the queries to construct sessions from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cir_core.datasets.records import Benchmark
from cir_core.errors import DatasetError, GalleryError
from cir_core.gallery.gallery import Gallery
from cir_core.support.texts import counted, quoted


@dataclass(frozen=True)
class Subset:
    """``image_ids`` are ranked, in the order that decides ties. ``positions``: its queries in the benchmark."""

    name: str
    pool: str
    image_ids: Sequence[str]
    positions: Sequence[int]


@dataclass(frozen=True)
class Subsets:
    """``notes``: what was left out of the galleries."""

    subsets: tuple[Subset, ...]
    notes: tuple[str, ...] = ()

    def chosen(self, names: Sequence[str]) -> tuple[Subset, ...]:
        """Those named, or all. Raises ``DatasetError`` for an unknown name."""
        known = {name: one for one in self.subsets for name in (one.name, one.pool)}
        for name in names:
            if name not in known:
                raise DatasetError(f"There is no subset {quoted(name)} in this data set. There are: "
                                   f"{', '.join(one.name for one in self.subsets)}.")
        wanted = {known[name].name for name in names}
        return tuple(one for one in self.subsets if not names or one.name in wanted)


def subset_name(benchmark: Benchmark, pool: str) -> str:
    """The release's form: "fashioniq_dress_val", "cirr_val", "circo_val"."""
    dataset = (benchmark.dataset or benchmark.kind).lower()
    parts = (dataset, pool if pool.lower() != dataset else "", benchmark.split)
    return "_".join(part.replace(" ", "-") for part in parts if part)


def subsets_of(benchmark: Benchmark, gallery: Gallery, *, fold_duplicates: bool = False) -> Subsets:
    """One subset for each pool of ``benchmark``, over the images that ``gallery`` holds.

    ``fold_duplicates`` keeps the first of byte-identical images over the whole data set, as the release does: the ids
    of the others vanish from every pool, targets included. Raises ``GalleryError`` if the gallery has none of the
    images.
    """
    gone = _copies(benchmark, gallery) if fold_duplicates else frozenset()
    members: dict[str, list[int]] = {name: [] for name in benchmark.pools}
    for position, query in enumerate(benchmark.queries):
        members.setdefault(query.pool, []).append(position)
    found, missing, listed = [], 0, 0
    for pool, positions in members.items():
        ids = benchmark.pools.get(pool)
        named = gallery.ids if ids is None else tuple(dict.fromkeys(ids))
        there = tuple(image_id for image_id in named if image_id in gallery and image_id not in gone)
        missing += sum(image_id not in gallery for image_id in named)
        listed += len(named)
        if not there:
            raise GalleryError(f"Gallery {quoted(gallery.name)} contains no image of {subset_name(benchmark, pool)}. "
                               "Make a gallery of the data set's own images: cirque datasets index")
        found.append(Subset(subset_name(benchmark, pool), pool, there, tuple(positions)))
    notes = []
    if missing:
        notes.append(f"The gallery lacks {missing:,} of the {listed:,} images of the data set; ranks are over the "
                     "others.")
    if fold_duplicates:
        notes.append(f"{counted(len(gone), 'image is', 'images are')} left out: byte for byte the same as another one.")
    return Subsets(tuple(found), tuple(notes))


def _copies(benchmark: Benchmark, gallery: Gallery) -> frozenset[str]:
    first: dict[str, str] = {}
    copies = set()
    for image_id in _every_image(benchmark.pools, gallery):
        kept = first.setdefault(gallery.image(gallery.row_of(image_id)).sha256, image_id)
        if kept != image_id:
            copies.add(image_id)
    return frozenset(copies)


def _every_image(pools: Mapping[str, Sequence[str] | None], gallery: Gallery) -> Iterable[str]:
    for ids in pools.values():
        yield from (image_id for image_id in (gallery.ids if ids is None else ids) if image_id in gallery)

