"""What reads the requests of a gallery, whatever its images show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cir_core.language.readers.scene import Scene
from cir_core.types.records import Matrix, Vector
from cir_core.types.vectors import TextEncoder

WHOLE = "the same"   # the text of a request that names an image and nothing else
TAKEN = "taken as: "   # begins the note on words that were read in the light of earlier turns


@dataclass(frozen=True)
class Pointed:
    """``text`` without what points; it is the text as it was where nothing does, or where that is unclear. Back at an
    earlier image, the requests of the first ``held`` turns alone still hold, and in any case none about the attributes
    ``released``."""

    text: str
    reference_id: str | None
    notes: tuple[str, ...] = ()
    held: int | None = None
    further: tuple[str, ...] | None = None   # references beside it, where the words choose the reference
    released: tuple[str, ...] = ()

    @property
    def unclear(self) -> bool:
        return any(note.startswith("not understood") for note in self.notes)

    def with_notes(self, notes: Sequence[str]) -> tuple[str, ...]:
        """Its notes, then ``notes`` of the search for its text without those that deny what its own say."""
        told = self.text == WHOLE and any(note.startswith(TAKEN) for note in self.notes)
        denied = (*(["not understood"] if self.unclear else []), *(["no change recognised"] if told else []))
        return *self.notes, *(note for note in notes if not note.startswith(denied))


class AspectReader(Protocol):
    """Reads values of aspects off an encoder's vectors, better than a comparison with texts does."""

    def columns(self, wanted: Sequence[str], others: Sequence[str]) -> tuple[Matrix, Vector, int] | None:
        """Vectors ``[m, dim]`` and offsets ``[m]`` of the values that the captions name, those ``wanted`` first, and
        their number: the softmax of products and offsets is the probability of each. None if it cannot read them."""
        ...


class RequestReader(Protocol):
    """Reads what people ask of a gallery. What it does not understand it says in notes, and leaves as it is."""

    def follow(self, text: str, scene: Scene) -> Pointed:
        """The reference and the text that ``text`` means in ``scene``. Never fails."""
        ...

    def in_english(self, text: str) -> str:
        """``text`` for an encoder that knows English: the words of other languages that are known in it."""
        ...

    def suggestions(self, gallery: Matrix, encoder: TextEncoder) -> Callable[[Vector], tuple[str, ...]]:
        """What finds texts to suggest for a reference's vector ``[dim]``, each with enough answers among the vectors
        ``gallery`` ``[n, dim]``, which are read once."""
        ...
