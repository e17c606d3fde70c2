"""Reference images and previous turns, as input of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cir_core.errors import SearchError
from cir_core.gallery.gallery import Gallery
from cir_core.images.pixels import side_by_side
from cir_core.language.tasks import Picture
from cir_core.methods.feedback import name_key
from cir_core.support.maths import unit
from cir_core.support.texts import quoted
from cir_core.types.composition import Composition, Marks
from cir_core.types.records import Exclude, Hit, Turn, Vector

MOST_FURTHER = 3   # references of a turn beside the first


@dataclass(frozen=True)
class Reference:
    """``features`` is its unit vector; ``picture`` decodes pixels on demand.

    Several images may be one reference (see :func:`join`): ``image_id`` is that of the first, ``joined`` are all.
    """

    image_id: str
    features: Vector = field(compare=False, repr=False)
    picture: Picture = Picture()
    joined: tuple[Reference, ...] = ()

    @property
    def parts(self) -> tuple[Reference, ...]:
        """The images it consists of; itself if it is one."""
        return self.joined or (self,)

    @property
    def image_ids(self) -> tuple[str, ...]:
        return tuple(part.image_id for part in self.parts)


def join(references: Sequence[Reference]) -> Reference:
    """One reference of 1 to 4: its vector is the normalised mean of theirs, its picture shows them side by side.

    Raises ``SearchError``: too many, one twice, vectors that cancel out.
    """
    first = references[0]
    check_further(first.image_id, [one.image_id for one in references[1:]])
    if len(references) == 1:
        return first
    total = np.sum(np.stack([one.features for one in references]), axis=0)
    if not np.any(total):
        raise SearchError("The vectors of these pictures cancel out. Remove one of them.")
    features = unit(total)
    pictures = [one.picture for one in references]
    loads = [picture.load for picture in pictures if picture.load is not None]
    digest = "+".join(picture.digest for picture in pictures) if all(one.digest for one in pictures) else ""
    shown = Picture(None, digest, features,
                    (lambda: side_by_side([load() for load in loads])) if len(loads) == len(pictures) else None)
    return Reference(first.image_id, features, shown, tuple(references))


def check_further(reference_id: str, further: Sequence[str]) -> None:
    """Raises ``SearchError`` for too many references beside ``reference_id``, or one that is there twice."""
    if len(further) > MOST_FURTHER:
        raise SearchError(f"A search takes at most {MOST_FURTHER + 1} reference pictures; there are "
                          f"{len(further) + 1}. Remove some.")
    ids = (reference_id, *further)
    twice = next((image_id for place, image_id in enumerate(ids) if image_id in ids[:place]), None)
    if twice is not None:
        raise SearchError(f"{quoted(twice)} is already one of the reference pictures. Choose a different one.")


@dataclass(frozen=True)
class Previous:
    """State carried over from earlier turns: the query, the hits the user saw, and each
    turn's own vector for methods that aggregate them."""

    vector: Vector
    hits: tuple[Hit, ...]
    references: tuple[str, ...]         # of all turns so far, oldest first
    features: tuple[Vector, ...] = ()   # f_1 … f_L; empty if turns have none
    composition: Composition | None = None   # of the last turn whose requests hold
    further: tuple[str, ...] = ()       # references beside the first, of all turns

    @classmethod
    def after(cls, earlier: Previous | None, reference_ids: Sequence[str], vector: Vector, hits: tuple[Hit, ...],
              composition: Composition) -> Previous:
        """From a finished turn, whose reference is one image or several together, and the state before it."""
        before = earlier or cls(vector, hits, ())
        return cls(vector, hits, (*before.references, reference_ids[0]), (*before.features, composition.base),
                   composition, (*before.further, *reference_ids[1:]))

    @classmethod
    def of(cls, path: Sequence[Turn], held: int | None = None, released: Sequence[str] = ()) -> Previous | None:
        """From the turns of a branch, in order; None before the first turn. The requests of the first ``held`` turns
        hold (None: of all), without those about the aspects ``released``."""
        if not path:
            return None
        holding = path[:held]
        return cls(
            path[-1].vector, path[-1].hits, tuple(turn.reference_id for turn in path),
            # A turn stored before methods were recorded is represented by its query.
            tuple(turn.composition.base if turn.composition else turn.vector for turn in path),
            _without(holding[-1].composition if holding else None, released),
            tuple(image_id for turn in path for image_id in turn.further),
        )


def _without(composition: Composition | None, released: Sequence[str]) -> Composition | None:
    """The aspects of these names want nothing any more."""
    aspects = composition.part("aspects") if composition and released else None
    if composition is None or not aspects:
        return composition
    names = set(map(name_key, released))
    return composition.with_parts({"aspects": tuple(
        replace(one, turn=0, wanted=()) if name_key(one.name) in names else one for one in aspects)})


def check_marks(gallery: Gallery, reference: Reference, marks: Marks) -> None:
    """Raises ``SearchError`` for an image marked both ways, ``UnknownImage`` for an unknown one."""
    both = set(marks.less_like) & {*reference.image_ids, *marks.more_like}
    if both:
        raise SearchError(f"{quoted(sorted(both)[0])} is marked both for and against. Remove one mark.")
    for image_id in (*marks.more_like, *marks.less_like):
        gallery.row_of(image_id)


def excluded_ids(
    gallery: Gallery, reference: Reference, previous: Previous | None, exclude: Exclude, without: Sequence[str] = (),
) -> tuple[str, ...]:
    """The gallery images excluded from the results: those that ``exclude`` says, and those of ``without``."""
    ids = list(reference.image_ids) if exclude != "none" else []
    if exclude == "history" and previous is not None:
        ids = [*previous.references, *previous.further, *ids]
    return tuple(dict.fromkeys(image_id for image_id in (*ids, *without) if image_id in gallery))
