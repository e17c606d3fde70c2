"""Constructing sessions, against the encoder, search and language-model calls they contain; memory by their number."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from benchmarks.memory import own_memory, peak_memory
from benchmarks.models import vit_b_32
from benchmarks.synthetic import publish_vectors
from benchmarks.timing import HEADER, in_turn
from cir_core.construct.sessions.run import Construction, construct_sessions
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.encoders.base import Encoder
from cir_core.gallery.gallery import Gallery, open_gallery
from cir_core.jobs.job import JobOptions
from cir_core.language.base import LanguageModel, Observer
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.language.tasks import A, CaptionAnswer, CaptionTask, DifferenceAnswer, MergeAnswer, MergeTask, Task
from cir_core.language.wrappers.base import Wrapper
from cir_core.types.records import EncoderIdentity, Matrix

WITHIN = 1.3    # what cirque may add


@dataclass(frozen=True)
class Size:
    """``garments`` drawn, ``queries`` of a timed construction, ``images`` of the synthetic gallery, ``sessions`` of the
    two runs whose memory is compared."""

    garments: int = 600
    queries: int = 60
    images: int = 10_000
    pairs: int = 7
    sessions: tuple[int, int] = (1_000, 10_000)


FULL = Size()
QUICK = Size(garments=120, queries=12, images=500, pairs=3, sessions=(50, 200))


def run(folder: Path, size: Size = FULL) -> None:
    """Print the tables."""
    print("\nConstructing sessions: sessions a minute, and the time of a construction.")
    print("bare: the same encode_texts calls, answers of the language model and products of the gallery")
    print(HEADER)
    gallery, encoder, queries = _garments(folder, size)
    _ratio(folder, "garments, built-in model", gallery, encoder, BuiltinLanguageModel(encoder), queries, 1, size.pairs)
    clip = vit_b_32(folder)
    vectors = _synthetic(folder, clip, size.images)
    queries = _queries(vectors, size.queries // 5)      # a text takes 60 ms on one core
    _ratio(folder, "ViT-B-32 size, answers of 50 ms, 4 at a time", vectors, clip, Answers(0.05), queries, 4,
           size.pairs // 2)
    _memory(folder, size)


def _ratio(
    folder: Path, label: str, gallery: Gallery, encoder: Encoder, language: LanguageModel, queries: Benchmark,
    workers: int, pairs: int,
) -> None:
    calls = Calls()
    recorded = RecordingEncoder(encoder, calls)
    construction = Construction(queries, gallery, recorded, RecordingModel(language, calls), domain="garment")
    features: Matrix = np.asarray(gallery.features)

    def ours(i: int) -> None:
        calls.clear()
        construct_sessions(construction, folder / "constructed", options=JobOptions(workers=workers))
        shutil.rmtree(folder / "constructed")

    def replay(steps: Sequence[Any]) -> None:
        for step in steps:
            if isinstance(step, Task):
                language.complete(step)
                if isinstance(step, MergeTask):     # each merged text is searched with
                    scores = features @ features[0]
                    np.argpartition(scores, -10)
            else:
                encoder.encode_texts(step)

    def bare(i: int) -> None:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(replay, calls.by_thread()))

    ours(0)
    times = in_turn(ours, bare, pairs)
    rate = len(queries.queries) / (sorted(times.ours)[len(times.ours) // 2] / 60_000)
    verdict = "" if times.ratio <= WITHIN else f"  above {WITHIN:g}"
    print(f"{times.line(label)}  {rate:,.0f} sessions a minute{verdict}", flush=True)


def _memory(folder: Path, size: Size) -> None:
    """Peak of private memory above that after a warm-up, for few and many sessions of one gallery."""
    encoder = Words(64)
    gallery = _synthetic(folder, encoder, size.images)
    print(f"\nMemory while sessions are constructed, {size.images:,} images, a model that answers at once")
    print("| sessions | peak growth | journal | raw file |\n|---|---|---|---|")
    for number, count in enumerate((size.sessions[0], *size.sessions)):
        construction = Construction(_queries(gallery, count), gallery, encoder, Answers(0.0), domain="scene")
        out = folder / "memory"
        before = own_memory(gallery.features.nbytes)
        with peak_memory(before, gallery.features.nbytes) as peak:
            report = construct_sessions(construction, out, options=JobOptions(workers=4))
        if number:      # the first fills the caches, whose size is bounded
            [[raw]] = report.outputs.values()
            sizes = [path.stat().st_size / 1e6 for path in (out / "journal.jsonl", raw)]
            print(f"| {count:,} | {peak():+.1f} MB | {sizes[0]:.1f} MB | {sizes[1]:.1f} MB |", flush=True)
        shutil.rmtree(out)


def _garments(folder: Path, size: Size) -> tuple[Gallery, Encoder, Benchmark]:
    from cir_core.encoders import load_encoder
    from cir_core.gallery.indexing import index_folder
    from cir_core.registry.kinds import read_benchmark
    from cir_core.sample.atelier.build import build_atelier

    home, encoder = folder / "garments", load_encoder("atelier")
    drawn = build_atelier(home / "drawn", limit=size.garments)
    index_folder(drawn.images, name="atelier", encoder=encoder, home=home, split="test")
    benchmark = read_benchmark("sample", drawn.folder, caption_mode="separate")
    return open_gallery("atelier", home=home), encoder, replace(benchmark, queries=benchmark.queries[:size.queries])


def _synthetic(folder: Path, encoder: Encoder, images: int) -> Gallery:
    name = f"vectors-{encoder.dim}-{images}"
    publish_vectors(folder, name, images, encoder)
    return open_gallery(name, home=folder)


def _queries(gallery: Gallery, count: int) -> Benchmark:
    ids = gallery.ids
    queries = tuple(
        BenchmarkQuery(f"q{n}", ids[n * 7 % len(ids)], f"change {n}", (ids[(n * 13 + 5) % len(ids)],), pool="bench")
        for n in range(count))
    return Benchmark("bench", "val", queries, {"bench": None}, lambda image_id: ())


class Answers:
    """A language model that answers after ``seconds``, without looking."""

    name, sees = "answers/1", True

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        time.sleep(self._seconds)
        if isinstance(task, CaptionTask):
            return cast(A, CaptionAnswer(caption=f"a thing of kind {int(task.picture.digest or '0', 16) % 97}"))
        if isinstance(task, MergeTask):
            return cast(A, MergeAnswer(query=f"{task.caption}, {task.modification_text}"))
        said: tuple[str, ...] = getattr(task, "history", ())
        return cast(A, DifferenceAnswer(instruction=f"Change part {len(said)} to {said[-1] if said else 'new'}"[:80]))


class Words:
    """An encoder that only hashes words to vectors."""

    def __init__(self, dim: int) -> None:
        self.dim, self.name = dim, "words"
        self.identity = EncoderIdentity("words", "0" * 16, dim)

    def encode_images(self, images: Sequence[Any]) -> Matrix:
        raise NotImplementedError

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        rows = [np.random.default_rng(list(text.encode())).standard_normal(self.dim) for text in texts]
        return np.stack([row / np.linalg.norm(row) for row in rows]).astype(np.float32)


class Calls:
    """What was asked, by thread, in order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._steps: dict[int, list[Any]] = {}

    def add(self, step: Any) -> None:
        with self._lock:
            self._steps.setdefault(threading.get_ident(), []).append(step)

    def clear(self) -> None:
        self._steps = {}

    def by_thread(self) -> list[list[Any]]:
        return list(self._steps.values())


class RecordingEncoder:
    def __init__(self, inner: Encoder, calls: Calls) -> None:
        self._inner, self._calls = inner, calls
        self.identity, self.name, self.dim = inner.identity, inner.name, inner.dim
        self.encode_images: Callable[..., Matrix] = inner.encode_images

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        self._calls.add(list(texts))
        return self._inner.encode_texts(texts)


class RecordingModel(Wrapper):
    def __init__(self, inner: LanguageModel, calls: Calls) -> None:
        super().__init__(inner)
        self._calls = calls

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        self._calls.add(task)
        return self.inner.complete(task, watch)
