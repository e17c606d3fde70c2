"""Find-a-target mode: challenges, and how an attempt went."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cir_core.errors import SearchError
from cir_core.evaluation.metrics.consistency import RankSetback, RepeatedText
from cir_core.gallery.gallery import Gallery
from cir_core.index.near_duplicates import FOLD_AT
from cir_core.search.searcher import Searcher
from cir_core.support.texts import quoted
from cir_core.types.records import Matrix, SearchSession, Turn

# The start is ranked beyond the first page around the target but within its
# neighbourhood: near enough to describe the difference, too far to see the target at once.
NEAREST, FARTHEST = 40, 600
CLOSE = 10
"""An image is close to the target if it is among so many that are most similar to it."""
_ROUNDING = 1e-6   # of a cosine: copies of an image may miss 1


@dataclass(frozen=True)
class Challenge:
    target_id: str
    reference_id: str


@dataclass(frozen=True)
class TargetTrace:
    """``ranks[i]`` is the target's rank after turn i + 1 of the branch."""

    target_id: str
    ranks: tuple[int, ...]
    setbacks: tuple[RankSetback, ...]
    repeats: tuple[RepeatedText, ...]

    @property
    def best(self) -> int | None:
        return min(self.ranks, default=None)


def deal_challenge(searcher: Searcher, seed: int | None = None) -> Challenge:
    """Draw a target, and a reference from its wider neighbourhood."""
    ids = searcher.gallery.ids
    if len(ids) < 2:
        raise SearchError(f"Gallery {quoted(searcher.gallery.name)} needs at least two images for a target.")
    rng = random.Random(seed)
    row = rng.randrange(len(ids))
    order = np.argsort(-(searcher.gallery.features @ searcher.gallery.features[row]), kind="stable")
    order = order[order != row]
    nearest = min(NEAREST, len(order) - 1)
    pool = order[nearest:FARTHEST] if nearest < FARTHEST else order
    return Challenge(ids[row], ids[int(rng.choice(list(pool)))])


@dataclass(frozen=True)
class Nearness:
    """An image and the target: their cosine, and the image's place among all images by it, 1 for the most similar."""

    similarity: float
    place: int

    @property
    def duplicate(self) -> bool:
        return self.similarity >= FOLD_AT - _ROUNDING

    @property
    def close(self) -> bool:
        return self.duplicate or self.place <= CLOSE


def nearness(gallery: Gallery, target_id: str, image_id: str) -> Nearness | None:
    """How near ``image_id`` is to the target, which is another image; None if the gallery lacks one of them."""
    if target_id not in gallery or image_id not in gallery:
        return None
    similar = _similar(gallery, target_id)
    own = float(similar[gallery.row_of(image_id)])
    return Nearness(own, 1 + int((similar > own).sum()))


def duplicates(gallery: Gallery, target_id: str) -> int:
    """How many other images of the gallery are near-duplicates of the target."""
    return int((_similar(gallery, target_id) >= FOLD_AT - _ROUNDING).sum()) if target_id in gallery else 0


def _similar(gallery: Gallery, target_id: str) -> Matrix:
    """Cosines of all images with the target, ``[n]``; of itself the lowest number there is."""
    row = gallery.row_of(target_id)
    similar: Matrix = gallery.features @ gallery.features[row]
    similar[row] = -np.inf
    return similar


def ranked_turns(path: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns of ``path`` that count towards the target: those before its end."""
    return tuple(turn for turn in path if turn.target_rank is not None)


def attempt(session: SearchSession) -> tuple[Turn, ...]:
    """The path to the last turn that counts."""
    counted = ranked_turns(session.turns)
    return ranked_turns(session.path_to(counted[-1].turn_id)) if counted else ()


