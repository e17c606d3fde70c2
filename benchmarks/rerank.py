"""Reranking a finished turn (λ or a chip changed), against the product and encoding it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.models import vit_b_32
from benchmarks.timing import HEADER, Pairs, in_turn
from benchmarks.turns import TEXTS, RecordingEncoder, synthetic_gallery
from cir_core.encoders.base import Encoder
from cir_core.gallery.gallery import Gallery
from cir_core.index.flat import FlatIndex
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.methods.soft_filter import SoftScore
from cir_core.search.searcher import Searcher
from cir_core.types.composition import Adjustment, Constraints
from cir_core.types.records import Matrix, MethodSettings, SoftFilter

METHOD = MethodSettings(base="slerp", soft_filter=SoftFilter())
CHIPS = Constraints(prescriptive=("a red dress with long sleeves",), proscriptive=("a dress with a belt",))


def run(folder: Path, sizes: list[int], pairs: int) -> None:
    encoder = vit_b_32(folder)
    print(f"\nReranking a finished turn, ViT-B-32 size, {encoder.dim} dimensions, top 60.")
    print("bare: the encode_texts calls it contains + one product of the gallery with three vectors")
    print(HEADER)
    for size in sizes:
        gallery = synthetic_gallery(folder, size, encoder)
        for label, change in (("λ moved", _weight), ("a chip edited", _chip)):
            print(_rerank(gallery, encoder, change, pairs).line(f"{size:>9,} images, {label}"), flush=True)
        print(_ranking(gallery, encoder, pairs).line(f"{size:>9,} images, ranking alone"), flush=True)


def _weight(i: int) -> Adjustment:
    return Adjustment(soft_filter=SoftFilter(weight=0.05 + 0.9 * (i % 7) / 7))


def _chip(i: int) -> Adjustment:
    # A text that is not cached: otherwise there would be no encoding.
    return Adjustment(constraints=replace(CHIPS, prescriptive=(f"a dress {TEXTS[i % len(TEXTS)]}, number {i}",)))


def _rerank(gallery: Gallery, encoder: Encoder, change: Callable[[int], Adjustment], pairs: int) -> Pairs:
    recorded = RecordingEncoder(encoder)
    searcher = Searcher(gallery, recorded, BuiltinLanguageModel(recorded))
    turn = searcher.turn(searcher.gallery_reference(gallery.ids[0]), TEXTS[0], METHOD)
    found = searcher.adjust(turn, METHOD, Adjustment(constraints=CHIPS))
    features: Matrix = np.asarray(gallery.features)
    vectors = np.ascontiguousarray(features[:3])

    def ours(i: int) -> None:
        recorded.calls.clear()
        searcher.adjust(found, METHOD, change(i), k=60)

    def bare(i: int) -> None:
        # The calls of the previous adjustment: the same number, texts of the same length.
        for texts in recorded.calls:
            encoder.encode_texts(texts)
        features @ vectors.T

    return in_turn(ours, bare, pairs)


def _ranking(gallery: Gallery, encoder: Encoder, pairs: int) -> Pairs:
    """Ranking without the encoding, which dominates: the filtered search and the product."""
    index = FlatIndex(gallery.features, gallery.ids)
    features: Matrix = np.asarray(gallery.features)
    constraints = encoder.encode_texts([*CHIPS.prescriptive, *CHIPS.proscriptive])
    vectors = np.stack([features[0], *constraints])

    def ours(i: int) -> None:
        index.search_scored(SoftScore(vectors, SoftFilter(weight=0.05 + 0.9 * (i % 7) / 7)), 60)

    def bare(i: int) -> None:
        features @ vectors.T

    return in_turn(ours, bare, pairs)
