"""Which index a gallery has. ``index.json`` in its folder, replaced atomically, names it; without that file search is
exact. The index itself is the folder ``index-<id>`` beside it, and whatever its engine keeps elsewhere.

An index of other vectors than the gallery's is not used: search is exact until it has been built again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cir_core.errors import GalleryError
from cir_core.gallery.gallery import Gallery
from cir_core.gallery.paths import read_header
from cir_core.index.approximate import PAGE, ApproximateIndex, directions_of
from cir_core.index.engines import engine_of, maker_of
from cir_core.index.flat import FlatIndex
from cir_core.index.measuring import Figures
from cir_core.support.files import write_durably
from cir_core.support.texts import quoted
from cir_core.types.records import Matrix

FILE = "index.json"
RECALL = 0.95
_BLOCK = 8192


@dataclass(frozen=True)
class StoredIndex:
    """Content of index.json."""

    kind: str                       # engine and variant
    folder: str                     # its name, in the gallery's
    generation: str                 # of the gallery whose rows it has
    vectors: str                    # digest of those (:func:`digest_of`)
    data: Mapping[str, Any]         # the engine's own
    description: str
    digest: str                     # 16 hex
    settings: Mapping[str, int]     # of searches, chosen by measuring
    figures: Figures
    made_at: str                    # ISO 8601, UTC
    asked: str                      # the kind that was asked for, "faiss:auto"
    recall: float                   # that it had to reach

    @property
    def row(self) -> str:
        """For protocol cards: all that lists depend on. Not the address of a server."""
        settings = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        first, page = self.figures.worst
        name = engine_of(self.kind)[0] if "://" in self.kind else self.kind
        return (f"{name} ({self.description}; {settings}; recall@10 {first:.3f}, recall@60 {page:.3f}; combined "
                f"scores among {directions_of(PAGE, self.settings):,} candidates or more for each direction), index "
                f"{self.digest}")


def digest_of(vectors: Matrix) -> str:
    """16 hex of SHA-256, read block by block."""
    digest = hashlib.sha256(repr(vectors.shape).encode())
    for start in range(0, len(vectors), _BLOCK):
        digest.update(vectors[start:start + _BLOCK].astype("<f4", copy=False).tobytes())
    return digest.hexdigest()[:16]


def read_index(folder: Path) -> StoredIndex | None:
    """What index.json in a gallery's folder says; None if there is none. Raises ``GalleryError`` if it is damaged."""
    try:
        content = json.loads((folder / FILE).read_text(encoding="utf-8"))
        figures = content.pop("figures")
        recall = {kind: (float(first), float(page)) for kind, (first, page) in figures.pop("recall").items()}
        return StoredIndex(**content, figures=Figures(recall=recall, **figures))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise GalleryError(f"{folder / FILE} is damaged ({error}). Build the index again: cirque galleries index "
                           f"{folder.name} KIND") from error


def write_index(folder: Path, stored: StoredIndex) -> None:
    write_durably(folder / FILE, json.dumps(asdict(stored), indent=1).encode())


def stamp_of(folder: Path) -> str:
    """Changes when the gallery gets another index."""
    try:
        found = (folder / FILE).stat()
        return f"{found.st_ino}-{found.st_mtime_ns}"
    except OSError:
        return ""


def is_of(stored: StoredIndex, generation: str) -> bool:
    """Whether the index has the rows of this generation of its gallery."""
    return stored.generation == generation


def state_of(folder: Path) -> tuple[str, StoredIndex | None]:
    """For lists of galleries: what the gallery in ``folder`` is searched with, and the index if it is used."""
    try:
        stored, header = read_index(folder), read_header(folder)
    except GalleryError:
        return "exact (the index is damaged)", None
    if stored is None or header is None:
        return "exact", None
    if not is_of(stored, header.generation):
        return f"exact ({stored.kind} is out of date)", None
    return f"{stored.kind}, recall@10 {stored.figures.worst[0]:.3f}", stored


def figures_in_words(stored: StoredIndex) -> list[tuple[str, str]]:
    """Titles and values, for people."""
    figures = stored.figures
    recall = ", ".join(f"{kind} {first:.3f} and {page:.3f}" for kind, (first, page) in figures.recall.items())
    settings = ", ".join(f"{name} {value}" for name, value in stored.settings.items())
    return [
        ("Built with", f"{stored.description}, in {figures.seconds:,.0f} s, {stored.made_at[:10]}"),
        ("Size", f"{figures.size / 1e6:,.1f} MB"),
        ("Searches with", settings),
        ("Recall@10 and @60", f"{recall} ({figures.queries:,} queries, against exact search)"),
        ("Time of a search", f"{figures.p50_ms:.1f} ms, 95th percentile {figures.p95_ms:.1f} ms; exact search "
                             f"{figures.exact_p50_ms:.1f} ms"),
    ]


def open_index(gallery: Gallery) -> tuple[FlatIndex, str]:
    """The gallery's index, and why it is the exact one although another was built ("" if it is not so). Raises
    ``IndexUnavailable`` if a server is needed and cannot be reached."""
    exact = FlatIndex(gallery.features, gallery.ids)
    try:
        stored = read_index(gallery.folder)
        if stored is None:
            return exact, ""
        if not is_of(stored, gallery.generation):
            return exact, (
                f"The index {stored.kind} of gallery {quoted(gallery.name)} was built from other vectors than those it "
                f"has now, so search is exact. To build it again: cirque galleries index {gallery.name} {stored.asked}")
        engine = maker_of(engine_of(stored.kind)[0]).open(
            gallery.folder / stored.folder, stored.data, gallery.features.shape[1])
    except GalleryError as error:
        return exact, str(error)
    return ApproximateIndex(gallery.features, gallery.ids, engine, stored.settings, stored.row), ""
