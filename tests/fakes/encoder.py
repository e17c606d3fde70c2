"""An encoder without a model: colours to the first three axes, words to axes of their own."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from cir_core.types.records import EncoderIdentity, Matrix

COLOURS = {"red": 0, "green": 1, "blue": 2}
_REST = 3  # the axis of what says nothing: black images, empty texts


class FakeEncoder:
    """Deterministic, one image at a time. ``words`` maps words to axes; other words get one
    by their hash. A red image and the text "red" point the same way.

    ``log`` receives a line with the number of images of each call, ``delay`` seconds are
    slept for each image, ``fail_at`` raises RuntimeError at that call (from 1), and
    ``stay_at`` never ends at that one.
    """

    def __init__(
        self, dim: int = 32, *, words: Mapping[str, int] | None = None, revision: str | None = None,
        spec: str = "fake", log: Path | None = None, delay: float = 0.0, fail_at: int = 0,
        stay_at: int = 0,
    ) -> None:
        if dim < 5:
            raise ValueError("FakeEncoder needs at least 5 dimensions")
        self.words = {**COLOURS, **(words or {})}
        self.calls = 0
        self.images = 0
        self._log, self._delay, self._fail_at, self._stay_at = log, delay, fail_at, stay_at
        self._identity = EncoderIdentity(spec, revision or f"{dim:016x}", dim)

    @property
    def identity(self) -> EncoderIdentity:
        return self._identity

    @property
    def name(self) -> str:
        return f"fake-{self.dim}"

    @property
    def dim(self) -> int:
        return self._identity.dim

    def encode_images(self, images: Sequence[Image.Image]) -> Matrix:
        self.calls += 1
        if self.calls == self._fail_at:
            raise RuntimeError("out of memory")
        if self.calls == self._stay_at:
            threading.Event().wait()
        time.sleep(self._delay * len(images))
        self.images += len(images)
        if self._log is not None:
            with self._log.open("a", encoding="ascii") as log:
                log.write(f"{len(images)}\n")
        return self._unit([self._of_image(image) for image in images])

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        return self._unit([self._of_text(text) for text in texts])

    def axis(self, word: str) -> int:
        """The axis of ``word``."""
        word = word.lower()
        if word in self.words:
            return self.words[word]
        return 4 + int(hashlib.sha256(word.encode()).hexdigest(), 16) % (self.dim - 4)

    def _of_image(self, image: Image.Image) -> np.ndarray:
        assert image.mode == "RGB", image.mode
        vector = np.zeros(self.dim)
        vector[:3] = np.asarray(image, dtype=np.float64).mean(axis=(0, 1)) / 255
        vector[_REST] = 0.05
        return vector

    def _of_text(self, text: str) -> np.ndarray:
        vector = np.zeros(self.dim)
        vector[_REST] = 0.05
        for word in re.findall(r"\w+", text):
            vector[self.axis(word)] += 1
        return vector

    def _unit(self, vectors: list[np.ndarray]) -> Matrix:
        if not vectors:
            return np.empty((0, self.dim), dtype=np.float32)
        stacked = np.stack(vectors)
        return (stacked / np.linalg.norm(stacked, axis=1, keepdims=True)).astype(np.float32)


class CountingEncoder(FakeEncoder):
    """Counts the ``texts`` that it has encoded."""

    texts = 0

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        self.texts += len(texts)
        return super().encode_texts(texts)
