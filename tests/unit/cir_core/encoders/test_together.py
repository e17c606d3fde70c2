"""Texts of several searches in one pass: who is in it, and that nobody's vector depends on who is."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from cir_core.encoders import load_encoder
from cir_core.encoders.together import TogetherEncoder, together
from cir_core.index.flat import FlatIndex
from cir_core.types.records import Matrix
from tests.fakes.patience import wait_for


class Passes:
    """Notes its passes; the first one lasts until it is let go. A text's vector depends on the pass's size, as that of
    a real model does in its last bits."""

    dim = 2

    def __init__(self) -> None:
        self.seen: list[list[str]] = []
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.failing = False

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        self.seen.append(list(texts))
        if len(self.seen) == 1:
            self.begun.set()
            self.go_on.wait()
        if self.failing or "bad" in texts:
            raise RuntimeError("out of memory")
        return np.array([[len(text), 1 + len(texts) / 1000] for text in texts], dtype=np.float32).reshape(-1, 2)


def crowd(encoder: Any, inner: Passes, asked: Sequence[Sequence[str]]) -> list[Any]:
    """What each of ``asked`` gets; all but the first come while that one is being encoded."""
    with ThreadPoolExecutor(len(asked)) as threads:
        first = threads.submit(encoder.encode_texts, asked[0])
        inner.begun.wait()
        others = [threads.submit(encoder.encode_texts, one) for one in asked[1:]]
        wait_for(lambda: len(encoder._waiting) == len(others))
        inner.go_on.set()
        return [one.exception() or one.result() for one in (first, *others)]


def test_who_waits_is_in_the_next_pass_with_all_others() -> None:
    inner = Passes()
    found = crowd(TogetherEncoder(inner, 4), inner, [["a"], ["bb", "ccc"], ["dddd"], ["eeeee", "ffffff"]])  # type: ignore[arg-type]
    assert inner.seen[0] == ["a", "", "", ""]
    assert sorted(len(one) for one in inner.seen) == [4, 4, 4]            # never another size
    assert sorted(text for one in inner.seen[1:] for text in one if text) == ["bb", "ccc", "dddd", "eeeee", "ffffff"]
    assert [rows[:, 0].tolist() for rows in found] == [[1], [2, 3], [4], [5, 6]]
    assert {float(value) for rows in found for value in rows[:, 1]} == {np.float32(1.004)}
    assert TogetherEncoder(inner, 4).encode_texts([]).shape == (0, 2)  # type: ignore[arg-type]


def test_whoever_is_done_does_not_wait_for_those_who_came_later() -> None:
    class Held(Passes):
        def __init__(self) -> None:
            super().__init__()
            self.turns = threading.Semaphore(0)
            self.go_on.set()

        def encode_texts(self, texts: Sequence[str]) -> Matrix:
            rows = super().encode_texts(texts)
            self.turns.acquire()
            return rows

    inner = Held()
    encoder = TogetherEncoder(inner, 4)  # type: ignore[arg-type]
    with ThreadPoolExecutor(8) as threads:
        try:
            first = [threads.submit(encoder.encode_texts, ["a"])]
            for count, asked in enumerate((["b", "c"], ["d", "e", "f"]), 1):
                wait_for(lambda count=count: len(inner.seen) == count)
                later = [threads.submit(encoder.encode_texts, [text]) for text in asked]
                wait_for(lambda later=later: len(encoder._waiting) == len(later))
                inner.turns.release()
                wait_for(lambda first=first: all(one.done() for one in first))
                first = later
        finally:
            inner.turns.release(9)


def test_a_text_that_fails_does_so_for_whom_it_is_alone() -> None:
    inner = Passes()
    _, bad, good, worse = crowd(TogetherEncoder(inner, 4), inner, [["a"], ["bad"], ["bb"], ["bad"]])  # type: ignore[arg-type]
    assert good.tolist() == [[2, pytest.approx(1.004)]]
    assert type(bad) is type(worse) is RuntimeError and bad is not worse


def test_a_failure_goes_to_all_of_its_pass_and_not_to_the_next_one() -> None:
    inner = Passes()
    inner.failing = True
    encoder = TogetherEncoder(inner, 4)  # type: ignore[arg-type]
    assert [type(one) for one in crowd(encoder, inner, [["a"], ["b"]])] == [RuntimeError, RuntimeError]
    inner.failing = False
    assert encoder.encode_texts(["b"]).tolist() == [[1, pytest.approx(1.004)]]


def test_hits_and_scores_are_the_same_alone_and_in_company() -> None:
    """With the real model, whose vectors differ in their last bits between passes of other sizes."""
    model = load_encoder("atelier")
    texts = [f"{colour}, {more}" for colour in ("in red", "navy") for more in ("striped", "longer", "with a belt")]
    encoder = TogetherEncoder(model, 4)
    alone = np.concatenate([encoder.encode_texts([text]) for text in texts])
    for size, order in ((3, texts), (6, texts[::-1])):
        rows = np.concatenate([encoder.encode_texts(order[at:at + size]) for at in range(0, len(order), size)])
        assert np.array_equal(rows if order is texts else rows[::-1], alone), size
    rng = np.random.default_rng(0)
    features = rng.standard_normal((200, model.dim), dtype=np.float32)
    index = FlatIndex(features / np.linalg.norm(features, axis=1, keepdims=True), [f"i{row}" for row in range(200)])
    company = encoder.encode_texts(texts)
    for one, other in zip(alone, company, strict=True):
        assert [(hit.image_id, hit.score) for hit in index.search(one, 20)] == [
            (hit.image_id, hit.score) for hit in index.search(other, 20)]


def test_where_texts_are_encoded_together() -> None:
    class OnGpu(Passes):
        class device:
            type = "cuda"

    model: Any = Passes()
    assert together(model) is model and together(model, 1) is model
    gpu: Any = OnGpu()
    assert isinstance(together(gpu), TogetherEncoder) and together(gpu).dim == 2
    assert isinstance(together(model, 4), TogetherEncoder)
