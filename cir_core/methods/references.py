"""Reference images and previous turns, as input of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cir_core.errors import SearchError
from cir_core.gallery.gallery import Gallery
from cir_core.language.tasks import Picture
from cir_core.support.texts import quoted
from cir_core.types.composition import Composition, Marks
from cir_core.types.records import Exclude, Hit, Turn, Vector


@dataclass(frozen=True)
class Reference:
    """``features`` is its unit vector; ``picture`` decodes pixels on demand."""

    image_id: str
    features: Vector = field(compare=False, repr=False)
    picture: Picture = Picture()


@dataclass(frozen=True)
class Previous:
    """State carried over from earlier turns: the query, the hits the user saw, and each
    turn's own vector for methods that aggregate them."""

    vector: Vector
    hits: tuple[Hit, ...]
    references: tuple[str, ...]         # of all turns so far, oldest first
    features: tuple[Vector, ...] = ()   # f_1 … f_L; empty if turns have none
    composition: Composition | None = None   # of the last turn whose requests hold

    @classmethod
    def after(cls, earlier: Previous | None, vector: Vector, hits: tuple[Hit, ...], references: tuple[str, ...],
              composition: Composition) -> Previous:
        """From a finished turn, whose reference is the last of ``references``, and the state before it."""
        return cls(vector, hits, references, (*(earlier.features if earlier else ()), composition.base), composition)

    @classmethod
    def of(cls, path: Sequence[Turn], held: int | None = None) -> Previous | None:
        """From the turns of a branch, in order; None before the first turn. The requests of the first ``held`` turns
        hold (None: of all)."""
        if not path:
            return None
        holding = path[:held]
        return cls(
            path[-1].vector, path[-1].hits, tuple(turn.reference_id for turn in path),
            # A turn stored before methods were recorded is represented by its query.
            tuple(turn.composition.base if turn.composition else turn.vector for turn in path),
            holding[-1].composition if holding else None,
        )


def check_marks(gallery: Gallery, reference: Reference, marks: Marks) -> None:
    """Raises ``SearchError`` for an image marked both ways, ``UnknownImage`` for an unknown one."""
    both = set(marks.less_like) & {reference.image_id, *marks.more_like}
    if both:
        raise SearchError(f"{quoted(sorted(both)[0])} is marked both for and against. Take one mark away.")
    for image_id in (*marks.more_like, *marks.less_like):
        gallery.row_of(image_id)


def excluded_ids(
    gallery: Gallery, reference: Reference, previous: Previous | None, exclude: Exclude
) -> tuple[str, ...]:
    """The gallery images excluded from the results."""
    if exclude == "none":
        return ()
    ids = [reference.image_id]
    if exclude == "history" and previous is not None:
        ids = [*previous.references, *ids]
    return tuple(dict.fromkeys(image_id for image_id in ids if image_id in gallery))
