"""What images have of what a turn asks for, as the encoder reads them: results in groups, and counts over all of the
gallery. An image of which it is not sure is not counted among those that have a thing."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from cir_core.language.readers.choosing import aspect_reader, undescribed
from cir_core.methods.guidance import SURE, Aspect, Guidance, Tick, requests_of
from cir_core.search.searcher import Searcher
from cir_core.types.composition import Composition
from cir_core.types.records import Matrix, Vector

_ALIKE = 6   # results, about a row
_CHUNK = 65_536
_KEPT = 64 * 2**20   # bytes
_YES, _UNSURE, _NO = 1, 0, -1
_Seen = npt.NDArray[np.int8]   # [n], of these


@dataclass(frozen=True)
class Group:
    """Consecutive results, ``size`` of them. Each is not seen to have at least ``fewest`` and at most ``most`` of the
    requests: ``missing`` if one is seen to lack something, ``unsure`` if of one this is not sure."""

    size: int
    fewest: int
    most: int
    missing: bool
    unsure: bool


def groups_of(read: Sequence[Sequence[tuple[str, Tick]]]) -> tuple[Group, ...]:
    """Results in their order, as :func:`cir_core.methods.guidance.ticks` read them: those up to the last one that has
    all, then groups of which each image lacks more than all before, and in front of a group as many as lack the same.
    Nothing is reordered, so that any group may be mixed. Empty if nothing was read."""
    requests = max((len(one) for one in read), default=0)
    if not requests:
        return ()
    lacks = np.array([sum(tick != "yes" for _, tick in one) if one else requests for one in read])
    start = int(np.flatnonzero(lacks == 0).max(initial=-1)) + 1
    most, least = np.maximum.accumulate(lacks[start:]), np.minimum.accumulate(lacks[:start - len(lacks) - 1:-1])[::-1]
    cuts = {0, start, len(lacks), *(start + 1 + np.flatnonzero(most[:-1] < least[1:])).tolist()}
    ends = [0, *(1 + np.flatnonzero(np.diff(lacks))).tolist(), len(lacks)]
    cuts |= {end for first, end in pairwise(ends) if first >= start and first in cuts and end - first >= _ALIKE}
    return tuple(_group(read[first:end], lacks[first:end].tolist()) for first, end in pairwise(sorted(cuts)))


def _group(read: Sequence[Sequence[tuple[str, Tick]]], lacks: Sequence[int]) -> Group:
    said = [{tick for _, tick in one} or {"not sure"} for one in read]
    return Group(len(read), min(lacks), max(lacks), any("no" in one for one in said),
                 any("no" not in one and "not sure" in one for one in said))


@dataclass(frozen=True)
class Had:
    """Of ``images`` that a turn could show, ``whole`` have all of its ``requests``, ``perhaps`` more may, and each
    lacks at least ``fewest``. ``unseen``: labels of requests that no image has. ``rarest``: the request without which
    most images have all others, ``without`` of them; ``own`` have it."""

    images: int
    requests: int
    whole: int
    perhaps: int
    fewest: int
    unseen: tuple[str, ...]
    rarest: Aspect
    without: int
    own: int


class Having:
    """Counts over galleries. What the images of one are read to show is kept for the turns to come. Thread-safe."""

    def __init__(self) -> None:
        self._shares: LRUCache[tuple[object, ...], _Shares] = LRUCache(_KEPT, getsizeof=lambda one: one.shares.nbytes)
        self._lock = threading.Lock()

    def of(
        self, searcher: Searcher, composition: Composition | None, excluded: Collection[str] = (), *, enough: int
    ) -> Had | None:
        """Counts over the gallery without ``excluded``; None for a turn without requests, and where ``enough`` images
        or more have all."""
        requests, gallery = requests_of(composition), searcher.gallery
        hidden = [gallery.row_of(one) for one in set(excluded) if one in gallery]
        if composition is None or not requests or len(gallery) == len(hidden):
            return None
        settings = composition.part("guidance") or Guidance()
        seen = np.stack([self._of_one(searcher, one, settings.temperature) for one in requests], axis=1)
        seen[hidden] = _NO
        whole = (seen == _YES).all(axis=1)
        if np.count_nonzero(whole) < enough:
            # What the encoder does not know has nothing, whatever is read of it.
            near = np.flatnonzero((seen != _NO).all(axis=1))
            seen[near[undescribed(gallery.features[near], searcher.encoder)] if len(near) else near] = _NO
            whole = (seen == _YES).all(axis=1)
        if (count := int(np.count_nonzero(whole))) >= enough:
            return None
        lacks = (seen != _YES).sum(axis=1)
        own = (seen == _YES).sum(axis=0)
        others = (seen[lacks == 1] != _YES).sum(axis=0)   # images that lack this request alone
        # Of several without which as many images have the rest, the one that fewest have, then the latest.
        place = max(range(len(requests)), key=lambda one: (others[one], -own[one], requests[one].turn, one))
        return Had(
            len(gallery) - len(hidden), len(requests), count,
            int(np.count_nonzero((seen != _NO).all(axis=1))) - count, int(lacks.min()),
            tuple(one.label for one, number in zip(requests, own, strict=True) if not number),
            requests[place], count + int(others[place]), int(own[place]),
        )

    def _of_one(self, searcher: Searcher, one: Aspect, temperature: float) -> _Seen:
        """``[n]``, by the rules of :func:`cir_core.methods.guidance.ticks`."""
        reader = aspect_reader(searcher.encoder)
        columns = reader.columns(one.wanted, one.others) if reader else None
        if columns is not None:
            vectors, offsets, satisfying = columns
            sure = SURE
        else:
            texts = tuple(dict.fromkeys((*one.wanted, *one.others)))
            vectors = searcher.text_vectors(texts) / np.float32(temperature)
            offsets, satisfying, sure = np.zeros(len(texts), np.float32), len(set(one.wanted)), 0.5
        p = self._likely(searcher, vectors, offsets, satisfying)
        return np.where(p >= sure, _YES, np.where(p <= 1 - sure, _NO, _UNSURE)).astype(np.int8)

    def _likely(self, searcher: Searcher, vectors: Matrix, offsets: Vector, satisfying: int) -> Vector:
        """``[n]``: how likely the first ``satisfying`` of the values are. The same values are kept for any of them."""
        gallery = searcher.gallery
        values = [vector.tobytes() + offset.tobytes() for vector, offset in zip(vectors, offsets, strict=True)]
        key = (gallery.name, gallery.digest, frozenset(values))
        with self._lock:
            known = self._shares.get(key)
        if known is None:
            blocks = (np.asarray(gallery.features[start:start + _CHUNK], dtype=np.float32)
                      for start in range(0, len(gallery), _CHUNK))
            known = _Shares(values, np.concatenate([_shares(block, vectors, offsets) for block in blocks], axis=1))
            with self._lock:
                if known.shares.nbytes <= self._shares.maxsize:
                    self._shares[key] = known
        total: Vector = known.shares[[known.values.index(value) for value in values[:satisfying]]].sum(axis=0)
        return total


@dataclass(frozen=True)
class _Shares:
    """``shares`` ``[m, n]``: how likely each of m ``values`` is in each of n images, next to the others of them."""

    values: list[bytes]
    shares: Matrix


def _shares(features: Matrix, vectors: Matrix, offsets: Vector) -> Matrix:
    scores = vectors @ features.T + offsets[:, None]
    shares = np.exp(scores - scores.max(axis=0))
    return np.asarray(shares / shares.sum(axis=0), dtype=np.float32)
