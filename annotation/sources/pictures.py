"""Image files of queries by id, from a folder, a gallery, or both. Fixed-size panels of a validity study: further
retrieved images shown beside each item.

Annotators see the number of images in a panel. A size per query would reveal how far the retrievers agree, and so the
hidden category. So a study has one panel size, which every query can fill.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from annotation.sources.queries import Picture, StudyQuery
from cir_core.datasets.files.image_files import ImageFolder
from cir_core.datasets.records import ImagePaths
from cir_core.gallery.gallery import Gallery
from cir_core.support.texts import quoted


class Pictures:
    """Callable ``FindPicture``. A given folder takes precedence over a gallery.

    Args:
        paths: the source's path of an image, relative to the image root.

    Raises ``DatasetError`` if ``folder`` is not a folder.
    """

    def __init__(self, paths: ImagePaths, *, folder: Path | None = None, gallery: Gallery | None = None) -> None:
        self._folder = ImageFolder(folder, paths) if folder else None
        self._paths, self._gallery = paths, gallery

    def __call__(self, image_id: str) -> Picture | None:
        if self._folder and (found := self._folder.find(image_id)):
            return self._folder.root / found
        if self._gallery is None:
            return None
        there = image_id if image_id in self._gallery else self._by_path(image_id)
        return self._gallery.to_read(there) if there else None

    def _by_path(self, image_id: str) -> str | None:
        """Match by the end of the path, for sources that name images by path (CIRCUS)."""
        for path in self._paths(image_id):
            parts = PurePosixPath(path.replace("\\", "/")).parts
            for start in range(len(parts)):
                if found := self._gallery_paths.get("/".join(parts[start:])):
                    return found
        return None

    @cached_property
    def _gallery_paths(self) -> Mapping[str, str]:
        return {image.path: image.image_id for image in self._gallery.images} if self._gallery else {}


def relative_paths(path: str) -> Sequence[str]:
    """Candidate paths below a root: the whole path, and for another machine's absolute path all its suffixes, longest
    first."""
    plain = path.replace("\\", "/").removeprefix("./")
    parts = [part for part in plain.split("/") if part not in ("", "..")]
    if not plain.startswith("/") and plain[1:2] != ":":
        return tuple(dict.fromkeys(("/".join(parts), "/".join(parts).removeprefix("mbeir_images/"))))
    return tuple("/".join(parts[start:]) for start in range(len(parts)))


MOST_USUAL = 30
Refused = Mapping[str, str]
"""Reasons why an image cannot be shown, by image id."""


@dataclass(frozen=True)
class Panels:
    """Panels: image ids by query key, best first, ``size`` per query. ``wanted`` is the requested size; if that is
    larger, ``shortest`` is the key of a query with no more images. ``missing``: ids without an image file."""

    images: Mapping[str, Sequence[str]]
    size: int
    wanted: int
    shortest: str | None
    missing: frozenset[str]


def usual_size(queries: Sequence[StudyQuery]) -> int:
    """Default panel size: of the longest list of results, at most 30, and at most what all queries can fill."""
    return min(MOST_USUAL, max((min(len(set(query.panel)), len(candidates(query))) for query in queries), default=0))


def candidates(query: StudyQuery) -> list[str]:
    """Candidates for a panel, in order, without reference and target: annotators must not know whether the target was
    retrieved."""
    found = dict.fromkeys((*query.in_turn, *query.panel) if query.in_turn else query.panel)
    return [image_id for image_id in found if image_id not in (query.reference_id, query.target_id)]


def fill_panels(queries: Sequence[StudyQuery], wanted: int, freeze: Callable[[Sequence[str]], Refused]) -> Panels:
    """The first ``wanted`` candidates with an image of each query; fewer for all if one query has fewer. ``freeze``
    copies images on demand, and returns the missing ones."""
    orders = {query.key: candidates(query) for query in queries}
    tried: set[str] = set()
    missing: set[str] = set()
    while True:
        chosen = {key: [image_id for image_id in order if image_id not in missing][:wanted]
                  for key, order in orders.items()}
        new = [image_id for image_id in dict.fromkeys(one for panel in chosen.values() for one in panel)
               if image_id not in tried]
        if not new:
            break
        tried.update(new)
        missing.update(freeze(new))
    shortest = min(chosen, key=lambda key: len(chosen[key]), default=None)
    size = len(chosen[shortest]) if shortest is not None else 0
    return Panels({key: panel[:size] for key, panel in chosen.items()}, size, wanted,
                  shortest if size < wanted else None, frozenset(missing))


def panel_notes(panels: Panels, broad_at: int) -> list[str]:
    """Notes on the panels, for the creator of the study."""
    notes = []
    if panels.shortest is not None:
        shown = (f"Every panel has {panels.size:,} image{'' if panels.size == 1 else 's'}, not {panels.wanted:,}"
                 if panels.size else f"There are no panels, not even of {panels.wanted:,} images")
        notes.append(f"{shown}: for the query {quoted(panels.shortest)} no more were found, and all items show equally "
                     "many, because the number would reveal something about the item. Leave that query out to "
                     "have more.")
    if 0 < panels.size < broad_at:
        notes.append(f"A panel has fewer images than the {broad_at:,} equally good ones that make a query too broad.")
    return notes
