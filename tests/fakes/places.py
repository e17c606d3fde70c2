"""Places of bulk work that need no cluster, and encoders that show where they ran."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from cir_core.bulk.shards import Shards
from cir_core.encoders.base import Encoder
from cir_core.encoders.specs import EncoderLoader
from tests.fakes.encoder import FakeEncoder


class Apart:
    """Each part alone, from its pickle, the last one first; results are packed. ``lost``: so many parts are stored and
    not joined, but for the first result of the last of them, before the process ends with RuntimeError."""

    is_here = False

    def __init__(self, lost: int = 0) -> None:
        self._lost = lost

    def found(self, work, job):
        shards = Shards(str(job.folder), job.name)
        for name in shards.names():
            yield from work.unpack(shards.read(name))
            shards.remove(name)

    def run(self, work, parts, job):
        numbered = list(enumerate(pickle.loads(pickle.dumps(list(parts)))))[::-1]
        there = pickle.loads(pickle.dumps(work))
        there.prepare()
        shards = Shards(str(job.folder), job.name)
        for at, (number, part) in enumerate(numbered):
            name = shards.write(number, there.pack(list(there((part,)))))
            if at + 1 == self._lost:
                yield work.unpack(shards.read(name))[0]
                raise RuntimeError("the driver died")
            if at >= self._lost:
                yield from work.unpack(shards.read(name))
                shards.remove(name)


class ByBatch(FakeEncoder):
    """Vectors depend on the other images of their batch, as the last bits of a model's do."""

    def encode_images(self, images):
        vectors = super().encode_images(images)
        return self._unit(list(vectors + vectors.mean(axis=0) / 64 + len(images) / 512))


@dataclass(frozen=True)
class Loading:
    """Loads a :class:`ByBatch`."""

    dim: int = 32

    def __call__(self) -> Encoder:
        return ByBatch(self.dim)


@dataclass(frozen=True)
class Dying:
    """Loads an encoder (``bundled``: a real one) whose process kills itself with SIGKILL in its second batch; so do
    ``deaths`` processes, and each leaves a file in ``folder``."""

    folder: Path
    deaths: int
    bundled: bool = False

    def __call__(self) -> Encoder:
        return _dying(self)


@lru_cache(maxsize=1)
def _dying(dying: Dying) -> Encoder:
    return _Dying(dying)


class _Dying:
    def __init__(self, dying: Dying) -> None:
        self._dying, self._calls = dying, 0
        self._encoder = EncoderLoader("atelier", "cpu")() if dying.bundled else ByBatch()
        self.identity, self.name, self.dim = self._encoder.identity, self._encoder.name, self._encoder.dim

    def encode_images(self, images: Sequence[object]) -> np.ndarray:
        self._calls += 1
        if self._calls == 2:
            for death in range(self._dying.deaths):
                try:
                    (self._dying.folder / f"death-{death}").open("x").close()
                except FileExistsError:
                    continue
                os.kill(os.getpid(), signal.SIGKILL)
        return self._encoder.encode_images(images)

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        return self._encoder.encode_texts(texts)
