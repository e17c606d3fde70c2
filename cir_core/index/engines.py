"""The seam of approximate indexes: what an engine does, which there are, and how an index is named.

An engine only finds candidates. Scores, order, ranks and ledgers are computed by
:class:`~cir_core.index.approximate.ApproximateIndex` from the stored vectors, by the arithmetic of exact search, so an
engine can leave an image out of a list, and do nothing else to it.

A kind is ``exact``, ``ENGINE`` or ``ENGINE:VARIANT``: ``faiss:auto``, ``faiss:hnsw``. To add an engine, write a module
with an :class:`IndexMaker` and add it to :data:`ENGINES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from cir_core.errors import GalleryError
from cir_core.gallery.gallery import Gallery
from cir_core.index.scoring import Rows
from cir_core.support.checksums import NO_ROWS
from cir_core.support.texts import quoted
from cir_core.types.records import Matrix

EXACT = "exact"
OVERSAMPLING = "oversampling"
Settings = Mapping[str, int]
"""Of a search. :data:`OVERSAMPLING`, candidates for each result, is every engine's; the others are its own."""

Progress = Callable[[int, int], None]
"""Called with the numbers of vectors indexed and in all."""


class Engine(Protocol):
    """The index of one gallery, opened for searches. Thread-safe."""

    def candidates(self, vectors: Matrix, k: int, settings: Settings, hidden: Rows = NO_ROWS) -> Sequence[Rows]:
        """For each of ``vectors`` ``[m, dim]``, of any length, the rows of about the ``k`` images with the largest
        inner products, each row once, in any order; fewer if it finds fewer. Rows in ``hidden`` are dropped by the
        caller: an engine may leave them out, and finds ``k`` others. Raises ``IndexUnavailable``."""


@dataclass(frozen=True)
class Made:
    """An index that was built. ``data``: what the engine needs to open it, besides its folder, as JSON.
    ``description``: engine, version and parameters of the build, for people and protocol cards. ``digest``: 16 hex,
    another one for an index that may find other candidates. ``size``: bytes."""

    data: Mapping[str, Any]
    description: str
    digest: str
    size: int


@dataclass(frozen=True)
class Variant:
    """``ladder``: settings of a search from the cheapest to the most thorough, of which the first that reaches the
    recall is used."""

    name: str
    ladder: tuple[Settings, ...] = field(default=({OVERSAMPLING: 1},))


class IndexMaker(Protocol):
    """Builds and opens indexes of one engine."""

    def variant(self, name: str, size: int, dim: int) -> Variant:
        """The variant ``name`` for so many vectors, with "auto" and "" replaced by the one that is chosen for them.
        Raises ``GalleryError`` if there is none of that name, or what it needs is not installed."""

    def build(self, gallery: Gallery, variant: str, work: Path, progress: Progress) -> Made:
        """Index ``gallery.features``, row by row. ``work`` is an own folder, which is published with all that is in it
        when the index has been measured. A run that was killed finds it as it left it, for the same vectors
        and variant, and goes on or begins again. Raises ``GalleryError`` and ``IndexUnavailable``."""

    def open(self, folder: Path, data: Mapping[str, Any], dim: int) -> Engine:
        """The index that :meth:`build` left in ``folder``, wherever that is now. Raises ``GalleryError`` if it is
        damaged, ``IndexUnavailable`` if a server is."""

    def is_there(self, folder: Path, data: Mapping[str, Any]) -> bool:
        """Whether what lies outside the folder is still as :meth:`build` left it. Raises ``IndexUnavailable``."""

    def put_in_use(self, data: Mapping[str, Any]) -> None:
        """Called when the index has been measured, just before the gallery gets it. Raises ``IndexUnavailable``."""

    def discard(self, folder: Path, *, in_use: bool = False) -> bool:
        """Delete what lies outside the folder of an index, finished or not; the caller deletes the folder. False: a
        process searches it, and ``in_use`` ones are to stay. Raises ``IndexUnavailable``."""


ENGINES: dict[str, str] = {"faiss": "cir_core.index.faiss_index", "milvus": "cir_core.index.milvus.engine"}
"""Engine to the module whose ``MAKER`` makes it; imported when it is needed."""


def engine_of(kind: str) -> tuple[str, str]:
    """``faiss:hnsw`` to ``("faiss", "hnsw")``, ``faiss`` to ``("faiss", "")``. Raises ``GalleryError``."""
    engine, _, variant = kind.partition(":")
    if engine not in ENGINES:
        raise GalleryError(f"There is no index {quoted(kind)}. Choose {EXACT}, or one of these engines, optionally "
                           f"with a variant after a colon: {', '.join(ENGINES)}.")
    return engine, variant


def maker_of(engine: str) -> IndexMaker:
    return cast(IndexMaker, import_module(ENGINES[engine]).MAKER)
