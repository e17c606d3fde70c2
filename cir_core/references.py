"""Reference images and the turn before, as a search needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cir_core.language.tasks import Picture
from cir_core.types import Hit, Turn, Vector


@dataclass(frozen=True)
class Reference:
    """``features`` is its unit vector; ``picture`` gives pixels only to who asks for them."""

    image_id: str
    features: Vector = field(compare=False, repr=False)
    picture: Picture = Picture()


@dataclass(frozen=True)
class Previous:
    """What the next turn needs of those before: the query, what the person saw, and each
    turn's own vector for the methods that aggregate them."""

    vector: Vector
    hits: tuple[Hit, ...]
    references: tuple[str, ...]         # of all turns so far, the first one first
    features: tuple[Vector, ...] = ()   # f_1 … f_L; empty where turns hold none

    @classmethod
    def of(cls, path: Sequence[Turn]) -> Previous | None:
        """From the turns of a branch, in order; None before the first turn."""
        if not path:
            return None
        return cls(
            path[-1].vector, path[-1].hits, tuple(turn.reference_id for turn in path),
            # A turn stored before methods were recorded stands for itself by its query.
            tuple(turn.composition.base if turn.composition else turn.vector for turn in path),
        )
