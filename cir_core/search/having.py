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

from cir_core.language.readers.choosing import undescribed
from cir_core.methods.guidance import SURE, Aspect, Guidance, Tick, read_request, requests_of
from cir_core.search.searcher import Searcher
from cir_core.types.composition import Composition
from cir_core.types.records import Matrix

_ALIKE = 6   # results, about a row
_CHUNK = 65_536
_KEPT = 32 * 2**20   # bytes
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
    """Counts over galleries. Which images show a request is kept for the turns to come. Thread-safe."""

    def __init__(self) -> None:
        self._seen: LRUCache[tuple[object, ...], _Seen] = LRUCache(_KEPT, getsizeof=len)   # a byte an image
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
        gallery = searcher.gallery
        key = (gallery.name, gallery.digest, searcher.encoder.identity.revision, one.wanted, one.others, temperature)
        with self._lock:
            seen = self._seen.get(key)
        if seen is None:
            blocks = (np.asarray(gallery.features[start:start + _CHUNK], dtype=np.float32)
                      for start in range(0, len(gallery), _CHUNK))
            seen = np.concatenate([_read(searcher, one, block, temperature) for block in blocks])
            with self._lock:
                if len(seen) <= self._seen.maxsize:
                    self._seen[key] = seen
        return seen


def _read(searcher: Searcher, one: Aspect, features: Matrix, temperature: float) -> _Seen:
    """``[n]``, by the rules of :func:`cir_core.methods.guidance.ticks`."""
    p, sure = read_request(one, features, searcher.encoder), SURE
    if p is None:
        texts = tuple(dict.fromkeys((*one.wanted, *one.others)))
        scaled = features @ searcher.text_vectors(texts).T / np.float32(temperature)
        shares = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        p, sure = shares[:, :len(set(one.wanted))].sum(axis=1) / shares.sum(axis=1), 0.5
    return np.where(p >= sure, _YES, np.where(p <= 1 - sure, _NO, _UNSURE)).astype(np.int8)
