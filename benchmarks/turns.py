"""A search turn, with storage, against the encode and faiss calls it requires."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.models import vit_b_32
from benchmarks.synthetic import publish_vectors
from benchmarks.timing import HEADER, Pairs, in_turn
from cir_core.encoders.base import Encoder
from cir_core.gallery.gallery import Gallery, open_gallery
from cir_core.images.uploads import UploadFolder
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.methods.declared import builtin_methods
from cir_core.methods.references import Previous
from cir_core.search.adjusting import TurnResult
from cir_core.search.searcher import Searcher
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.service import SearchService
from cir_core.types.records import Matrix, MethodSettings
from storage.engine.database import open_database
from storage.migrations.run import migrate
from storage.sessions.store import SqlSessionStore

TEXTS = ("in red with long sleeves", "striped and longer", "without the belt", "with a white collar",
         "darker and more fitted", "the same but sleeveless", "with dots instead of checks")

_DRAWN, _NOISE = 240, 0.004   # garments, and standard deviation of each number of a vector around one of theirs
_WARM = 60                    # turns before the first that is timed
_GUIDED = builtin_methods()["guided"].settings


def run(folder: Path, sizes: list[int], pairs: int) -> None:
    import faiss

    encoder = vit_b_32(folder)
    print(f"\nSearch turn, ViT-B-32 size, {encoder.dim} dimensions, top 60, one person.")
    print("bare: the encode_texts calls a turn contains + faiss IndexFlatIP.search of one query")
    print(HEADER)
    for size in sizes:
        gallery = synthetic_gallery(folder, size, encoder)
        index = faiss.IndexFlatIP(encoder.dim)
        index.add(np.ascontiguousarray(gallery.features))
        for label, first_only in (("first turn", True), ("second turn (eq. 9)", False)):
            pairs_of_times = _turns(folder, gallery, encoder, index, pairs, first_only=first_only)
            print(pairs_of_times.line(f"{size:>9,} images, {label}"), flush=True)
        del index
    _guided(folder, sizes, pairs)


def _guided(folder: Path, sizes: list[int], pairs: int) -> None:
    """The default method over vectors of garments, with the bundled encoder, without storage."""
    import faiss

    from cir_core.encoders import load_encoder
    from cir_core.images.load import for_encoder, process_image
    from cir_core.sample.atelier.build import build_atelier

    encoder = load_encoder("atelier")
    drawn = build_atelier(folder / "drawn", limit=_DRAWN)
    garments = encoder.encode_images([process_image(path, for_encoder, max_megapixels=1)
                                      for path in sorted(drawn.images.iterdir())])
    print(f"\nTurn of guided, bundled encoder, {encoder.dim} dimensions, top 60, without storage.")
    print("bare: encode_texts of the request + faiss IndexFlatIP.search of one query")
    print(HEADER)
    for size in sizes:
        name = f"garments-{size}"
        publish_vectors(folder, name, size, encoder, around=garments, noise=_NOISE)
        gallery = open_gallery(name, home=folder)
        index = faiss.IndexFlatIP(encoder.dim)
        index.add(np.ascontiguousarray(gallery.features))
        for label, times in _guided_pairs(gallery, encoder, index, pairs):
            print(times.line(f"{size:>9,} images, {label}"), flush=True)


def _guided_pairs(gallery: Gallery, encoder: Encoder, index: Any, pairs: int) -> Iterator[tuple[str, Pairs]]:
    searcher = Searcher(gallery, encoder, BuiltinLanguageModel(encoder))
    step = len(gallery) // (_WARM + pairs + 2)

    def bare(i: int) -> None:
        index.search(encoder.encode_texts([TEXTS[i % len(TEXTS)]]), 60)

    def turn(i: int, previous: Previous | None) -> TurnResult:
        reference = searcher.gallery_reference(gallery.ids[i * step])
        return searcher.turn(reference, TEXTS[i % len(TEXTS)], _GUIDED, previous=previous)

    for i in range(_WARM):   # a server that has been used
        turn(pairs + 1 + i, None)
    first = turn(0, None)
    yield "first turn", in_turn(lambda i: turn(i, None), bare, pairs)
    before = Previous.after(None, gallery.ids[:1], first.vector, first.hits, first.composition)
    yield "second turn", in_turn(lambda i: turn(i, before), bare, pairs)


def _turns(folder: Path, gallery: Gallery, encoder: Encoder, index, pairs: int, *, first_only: bool):  # type: ignore[no-untyped-def]
    engine = open_database(f"sqlite:///{folder / 'bench.db'}")
    migrate(engine)
    recorded = RecordingEncoder(encoder)
    language = BuiltinLanguageModel(recorded)
    pool = SearcherPool(folder, lambda _: language, lambda _: recorded)
    service = SearchService(pool, SqlSessionStore(engine), UploadFolder(folder / "uploads", max_megapixels=64))
    warm = pool.searcher(gallery.name)
    warm.turn(warm.gallery_reference(gallery.ids[0]), TEXTS[0], MethodSettings())  # the model's own prompts
    references = list(gallery.ids[:: max(1, len(gallery) // (pairs + 2))])
    session = service.start(gallery.name)
    parent: str | None = None
    if not first_only:
        parent = service.run_turn(session.session_id, TEXTS[0], reference_id=references[0]).turn.turn_id

    def ours(i: int) -> None:
        recorded.calls.clear()
        service.run_turn(session.session_id, TEXTS[i % len(TEXTS)], reference_id=references[i],
                         parent_id=parent, k=60)

    def bare(i: int) -> None:
        # The calls of the previous turn: the same number, texts of the same length.
        for texts in recorded.calls:
            vector = encoder.encode_texts(texts)
        index.search(vector, 60)

    result = in_turn(ours, bare, pairs)
    engine.dispose()
    return result


class RecordingEncoder:
    """Encoder wrapper that records the texts."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.calls: list[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        self.calls.append(list(texts))
        return self._encoder.encode_texts(texts)


def synthetic_gallery(folder: Path, size: int, encoder: Encoder) -> Gallery:
    """A published gallery of random unit vectors; search needs no images."""
    name = f"vectors-{size}"
    publish_vectors(folder, name, size, encoder)
    return open_gallery(name, home=folder)
