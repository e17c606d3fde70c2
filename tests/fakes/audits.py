"""A small benchmark over the colour gallery, retrievers that do as they are told, and a store."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from PIL import Image

from cir_core.audit.records import QueryAudit, Ranking, RunCard, StoredRun, Variant
from cir_core.audit.retrievers.method_retriever import MethodRetriever
from cir_core.audit.retrievers.models import Models
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.evaluation.query_steps import Problem
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.methods.declared import Method
from cir_core.types.records import Matrix, MethodSettings
from tests.fakes.encoder import FakeEncoder

COLOURS = ("red", "green", "blue")


def a_query(query_id: str, reference: str, text: str, *targets: str, pool: str = "") -> BenchmarkQuery:
    return BenchmarkQuery(query_id, reference, text, targets, pool=pool)


def a_benchmark(queries: Sequence[BenchmarkQuery], pools: Mapping[str, Sequence[str] | None]) -> Benchmark:
    return Benchmark("colours", "val", tuple(queries), pools, lambda image_id: (f"{image_id}.png",))


def colour_benchmark(gallery: Gallery, n: int = 30) -> Benchmark:
    """Every reference with each of three words in turn; the target is another image of the gallery."""
    ids = gallery.ids
    queries = [a_query(f"q{i}", ids[7 * i % len(ids)], COLOURS[i % 3], ids[(11 * i + 5) % len(ids)]) for i in range(n)]
    return a_benchmark(queries, {"": ids})


class ComposingFakeEncoder(FakeEncoder):
    """Adds up the image's and the text's vector; ``composed`` has all it was given."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self.composed: list[tuple[Image.Image, str]] = []

    def encode_composed(self, images: Sequence[Image.Image], texts: Sequence[str]) -> Matrix:
        self.composed += zip(images, texts, strict=True)
        both = self.encode_images(images) + self.encode_texts(texts)
        return np.asarray(both / np.linalg.norm(both, axis=1, keepdims=True), dtype=np.float32)


class SlowTextEncoder(FakeEncoder):
    """Takes ``seconds`` for every batch of texts and writes a line with their number to ``log``. After ``most`` batches
    the next one never ends."""

    def __init__(self, seconds: float = 0.0, log: Path | None = None, most: int | None = None) -> None:
        super().__init__()
        self._seconds, self._texts_log, self._left = seconds, log, most

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                threading.Event().wait()
        if self._texts_log is not None:
            with self._texts_log.open("a", encoding="ascii") as log:
                log.write(f"{len(texts)}\n")
        time.sleep(self._seconds)
        return super().encode_texts(texts)


def a_method(name: str = "slerp", **settings: object) -> Method:
    return Method(name, name, "", MethodSettings(**settings))  # type: ignore[arg-type]


def method_retriever(
    gallery: Gallery, benchmark: Benchmark, method: Method, encoder: FakeEncoder, language: LanguageModel,
    *, workers: int = 1, **options: object,
) -> MethodRetriever:
    models = Models(lambda spec: encoder, lambda late: language, workers=workers)
    return MethodRetriever(method.name, method, benchmark, lambda: gallery, models, **options)  # type: ignore[arg-type]


class ScriptedRetriever:
    """``outcome`` of each query and variant; what it raises is raised. ``asked`` has each batch."""

    def __init__(
        self, name: str, benchmark: Benchmark, outcome: Callable[[str, Variant], Ranking | Problem],
    ) -> None:
        self.name, self._benchmark, self._outcome = name, benchmark, outcome
        self.asked: list[tuple[str, ...]] = []
        self.closed = 0

    def card(self) -> RunCard:
        return a_card(self.name, dataset_digest=self._benchmark.digest)

    def rank(self, queries: Sequence[BenchmarkQuery], variant: Variant) -> Sequence[Ranking | Problem]:
        self.asked.append(tuple(query.query_id for query in queries))
        return [self._outcome(query.query_id, variant) for query in queries]

    def close(self) -> None:
        self.closed += 1


def a_card(retriever: str = "one", **changes: object) -> RunCard:
    card = RunCard("colours-val", "d" * 16, "e" * 16, retriever, {"kind": "scripted", "version": 1}, "black", None,
                   "single")
    return replace(card, **changes)  # type: ignore[arg-type]


class InMemoryAuditStore:
    def __init__(self) -> None:
        self.cards: dict[str, tuple[RunCard, int, datetime]] = {}
        self.finished: dict[str, datetime] = {}
        self.queries: dict[str, dict[int, QueryAudit]] = {}

    def begin(self, card: RunCard, total: int) -> None:
        self.cards.setdefault(card.digest, (card, total, datetime.now(UTC)))

    def stored(self, card: RunCard) -> Mapping[int, QueryAudit]:
        return dict(self.queries.get(card.digest, {}))

    def put(self, card: RunCard, first: int, queries: Sequence[QueryAudit]) -> None:
        self.queries.setdefault(card.digest, {}).update(enumerate(queries, start=first))

    def finish(self, card: RunCard) -> None:
        self.finished.setdefault(card.digest, datetime.now(UTC))

    def runs(self) -> Sequence[StoredRun]:
        found = []
        for digest, (card, total, begun_at) in reversed(self.cards.items()):
            queries = self.queries.get(digest, {}).values()
            found.append(StoredRun(card, total, len(queries), sum(bool(query.problem) for query in queries), begun_at,
                                   self.finished.get(digest)))
        return found
