"""Requests that the gallery can hardly satisfy, by the encoder's reading of all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cir_core.methods.guidance import Aspect, ticks
from cir_core.search.searcher import Searcher
from cir_core.types.composition import Composition
from cir_core.types.records import Hit, Vector

FEWEST = 5       # images that show what is asked, in a gallery that has it
_CHUNK = 65_536


@dataclass(frozen=True)
class Scarce:
    """``seen``: number of images that are nearer to the request ``label`` than to any alternative."""

    label: str
    seen: int


def scarce(searcher: Searcher, composition: Composition | None, hits: Sequence[Hit]) -> list[Scarce]:
    """Requests that none of ``hits`` shows and fewer than ``FEWEST`` images of the gallery do. The gallery is read
    only for the former: a guided ranking puts what there is on the first page, unless other requests weigh more."""
    shown: dict[str, bool] = {}
    for read in ticks(composition, (hit.parts for hit in hits)):
        for label, seen in read:
            shown[label] = shown.get(label, False) or seen == "yes"
    aspects: Sequence[Aspect] = (composition.part("aspects") or ()) if composition else ()
    counted = [Scarce(one.label, _count(searcher, one)) for one in aspects if not shown.get(one.label, True)]
    return [one for one in counted if one.seen < FEWEST]


def _count(searcher: Searcher, aspect: Aspect) -> int:
    wanted, others = _vectors(searcher, aspect.wanted), _vectors(searcher, aspect.others)
    count = 0
    for start in range(0, len(searcher.gallery), _CHUNK):
        features = np.asarray(searcher.gallery.features[start:start + _CHUNK], dtype=np.float32)
        count += int(np.sum((features @ wanted).max(axis=1) >= (features @ others).max(axis=1, initial=-np.inf)))
    return count


def _vectors(searcher: Searcher, texts: Sequence[str]) -> Vector:
    return np.stack([searcher.text_vector(text) for text in texts], axis=1) if texts else np.empty(
        (searcher.encoder.dim, 0), np.float32)
