"""Texts of several searches at once, encoded together."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np

from cir_core.encoders.base import Encoder
from cir_core.types.records import Matrix

ON_ACCELERATOR = 16   # texts of a pass: it takes as long as one of a single text


class TogetherEncoder:
    """``encoder``, whose texts are encoded in passes of exactly ``rows``. Texts that arrive during a pass are encoded
    together in the next one; a pass does not wait for further texts.

    A model's products differ in their last bits with the number of rows and the length of the texts. So a pass that is
    not full is filled up with empty texts, and all are padded (``encode_padded``, if the encoder has it): the vector of
    a text does not depend on who else searches. Where a pass fails, each of those in it has
    one of their own, and its error. Thread-safe.
    """

    def __init__(self, encoder: Encoder, rows: int) -> None:
        self._encoder, self._rows = encoder, rows
        self._gate, self._at_work = threading.Condition(), False
        self._waiting: list[tuple[Sequence[str], Future[Matrix]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        """``[n, dim]`` float32, unit rows, as from the encoder."""
        found: Future[Matrix] = Future()
        with self._gate:
            self._waiting.append((texts, found))
            self._gate.wait_for(lambda: found.done() or not self._at_work)
            if found.done():
                return found.result()
            self._at_work = True
            waiting, self._waiting = self._waiting, []
        try:
            self._encode(waiting)
        finally:
            with self._gate:
                self._at_work = False
                self._gate.notify_all()
        return found.result()

    def _encode(self, waiting: Sequence[tuple[Sequence[str], Future[Matrix]]]) -> None:
        texts = [text for asked, _ in waiting for text in asked]
        try:
            rows = self._passes(texts)
        except BaseException as error:
            if len(waiting) > 1 and isinstance(error, Exception):
                for one in waiting:
                    self._encode([one])
                return
            for _, found in waiting:
                found.set_exception(error)
            return
        start = 0
        for asked, found in waiting:
            found.set_result(rows[start:start + len(asked)])
            start += len(asked)

    def _passes(self, texts: Sequence[str]) -> Matrix:
        parts = [texts[start:start + self._rows] for start in range(0, len(texts), self._rows)]
        encode = getattr(self._encoder, "encode_padded", self._encoder.encode_texts)
        found = [encode([*part, *[""] * (self._rows - len(part))])[:len(part)] for part in parts]
        return np.concatenate(found) if found else self._encoder.encode_texts([])


def together(encoder: Encoder, rows: int = 0) -> Encoder:
    """``encoder`` with passes of ``rows`` texts. 0: of :data:`ON_ACCELERATOR` on a GPU; on a CPU, where a pass takes as
    long as its texts do one by one or nearly, as it is. 1: as it is."""
    device = getattr(getattr(encoder, "device", None), "type", "cpu")
    rows = rows or (1 if device == "cpu" else ON_ACCELERATOR)
    return encoder if rows == 1 else TogetherEncoder(encoder, rows)
