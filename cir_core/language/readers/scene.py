"""What the words of a request can point at: the results on the screen, and the references of earlier turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cir_core.types.records import Hit, Turn

_SEEN = 12   # results of a turn among which a description is looked for
_NUMBERS = {word: number for number, words in enumerate(
    ("first 1st", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th", "sixth", "seventh", "eighth", "ninth",
     "tenth"), start=1) for word in words.split()}
_PICTURES = frozenset({"picture", "image", "photo"})
_TURNS = frozenset({"turn", "reference"})
_RESULTS = frozenset({"result", "hit", "number", "no", "option", "suggestion"})
_PREVIOUS = frozenset({"one before", "one from before", "one earlier", "earlier one", "previous turn", "last turn"})
_SIDES = {"one on the left": "left", "one on the right": "right", "one in the middle": "middle", "top left": "left",
          "top right": "right", "left": "left", "right": "right", "middle": "middle"}


class Unclear(Exception):
    """Words of which the image is not certain, and why."""

    def __init__(self, words: str, reason: str) -> None:
        super().__init__(f"{words}: {reason}")
        self.words, self.reason = words, reason


@dataclass(frozen=True)
class Found:
    """``held``: the requests of so many turns still hold, going on from this image; None: of all."""

    image_id: str
    name: str   # "result 2"
    held: int | None = None
    further: tuple[str, ...] = ()   # references beside it

    @property
    def note(self) -> str:
        return "reference: " + self.name.replace("the reference of", "that of")


def revoked_after(path: Sequence[Turn], turns: Sequence[Turn]) -> Turn | None:
    """The last of all ``turns`` of a session, where it went on from ``path`` and is not part of it any more."""
    last = turns[-1] if turns else None
    return last if last is not None and last.parent_id == (path[-1].turn_id if path else None) else None


@dataclass(frozen=True)
class Scene:
    """``turns`` of the branch, in order: the results of the last are on the screen, in rows of ``columns`` (0:
    unknown). ``captions`` are those of images, "" where there is none. With ``further`` references "the second
    picture" is one of these."""

    turns: Sequence[Turn]
    reference_id: str | None
    captions: Callable[[Sequence[str]], Sequence[str]]
    columns: int = 0
    further: tuple[str, ...] = ()   # references beside ``reference_id``
    revoked: Turn | None = None     # the turn that was made last, after these, and taken back

    @property
    def hits(self) -> Sequence[Hit]:
        return self.turns[-1].hits if self.turns else ()

    def caption(self, image_id: str) -> str:
        return self._said_before(image_id) or next(iter(self.captions([image_id])), "")

    def _said_before(self, image_id: str) -> str:
        """The caption in a turn of which it was the one reference."""
        return next((turn.caption for turn in self.turns
                     if turn.reference_id == image_id and turn.caption and not turn.further), "")

    def named(self, words: Sequence[str], *, back: bool = False, part: bool = False) -> Found:
        """The image that ``words`` name: "second one". After "back to" it is one of earlier turns, and so is a picture
        of which only a ``part`` is meant. Raises ``Unclear``."""
        said, noun = " ".join(words), words[-1]
        number = _NUMBERS.get(words[0], 0)
        if noun.isdecimal():
            number, noun = int(noun), words[0]
        if said in _PREVIOUS or words[0] in ("previous", "earlier"):
            return self._previous(said)
        if words[0] == "original":
            return self._reference(1, said)
        if self.further and not back and (given := self._given(words[0], number, noun, said, part)):
            return given
        if (side := _SIDES.get(said) or _SIDES.get(" ".join(words[:-1]))) and noun != "row":
            return self._side(side, said)
        of_turn = noun in _TURNS or (noun in _PICTURES and (part or back)) or (back and noun not in _RESULTS)
        if words[0] == "last" and noun != "row":
            if noun in _PICTURES and not of_turn:
                raise Unclear(said, "say “the last result” or “the last reference”")
            return self._previous(said) if of_turn else self._result(len(self.hits), said)
        if not number or noun == "row":
            raise Unclear(said, "select the image that is meant, and describe the change")
        if of_turn:
            return self._reference(number, said)
        if noun in _PICTURES and len(self.turns) >= number:
            result, reference = self._result(number, said), self._reference(number, said)
            if result.image_id != reference.image_id:
                raise Unclear(said, f"say “result {number}” or “turn {number}”")
            return result
        return self._result(number, said)

    def undone(self, words: str) -> Found:
        """The reference of the last turn, without what was asked in it. Raises ``Unclear``."""
        if not self.turns:
            raise Unclear(words, "there is no earlier turn")
        return _reference_of(self.turns[-1])

    def described(self, words: str, shows: Callable[[str], bool]) -> Found:
        """The one earlier reference, or else the one result, whose caption ``shows`` what ``words`` say. Raises
        ``Unclear``."""
        references = {turn.reference_id: _reference_of(turn)
                      for turn in self.turns if turn.reference_id != self.reference_id}
        results = {hit.image_id: _result_of(turn, hit, turn is self.turns[-1])
                   for turn in self.turns for hit in turn.hits[:_SEEN] if hit.image_id not in references}
        for images in (references, results):
            fitting = [found for found, caption in zip(images.values(), self._captions(list(images)), strict=True)
                       if caption and shows(caption)]
            if len(fitting) == 1:
                return fitting[0]
            if fitting:
                names = ", ".join(found.name for found in fitting[:4])
                more = f" and {len(fitting) - 4} more" if len(fitting) > 4 else ""
                raise Unclear(words, f"it may be {names}{more}: select the one that is meant")
        raise Unclear(words, "no earlier reference or result of this branch fits: select the image that is meant")

    def _captions(self, image_ids: Sequence[str]) -> list[str]:
        known = {one: caption for one in image_ids if (caption := self._said_before(one))}
        missing = [one for one in image_ids if one not in known]
        if missing:
            known |= zip(missing, self.captions(missing) or [""] * len(missing), strict=True)
        return [known[one] for one in image_ids]

    def _given(self, first: str, number: int, noun: str, said: str, part: bool) -> Found | None:
        """One of several references: "the second picture"; "the second one", too, where that cannot be a result."""
        known = [image_id for image_id in (self.reference_id, *self.further) if image_id]
        place = len(known) if first == "last" else number
        if not place or noun in _RESULTS or noun == "row" or noun == "turn":
            return None
        if noun not in (*_PICTURES, "reference"):
            if self.hits and part:
                raise Unclear(said, f"say “picture {place}” or “result {place}”")
            if self.hits:
                return None
        if place > len(known):
            raise Unclear(said, f"there are {len(known)} reference pictures")
        return Found(known[place - 1], f"picture {place}")

    def _result(self, number: int, said: str) -> Found:
        if not self.hits:
            raise Unclear(said, "there are no results yet")
        if not 1 <= number <= len(self.hits):
            raise Unclear(said, f"there are {len(self.hits)} results")
        return Found(self.hits[number - 1].image_id, f"result {number}")

    def _reference(self, number: int, said: str) -> Found:
        if number == len(self.turns) + 1 and self.turns and self.reference_id:
            return Found(self.reference_id, "the present reference")
        if not 1 <= number <= len(self.turns):
            raise Unclear(said, f"this branch has {len(self.turns)} turn{'' if len(self.turns) == 1 else 's'}")
        return _reference_of(self.turns[number - 1])

    def _previous(self, said: str) -> Found:
        before = next((turn for turn in reversed(self.turns) if turn.reference_id != self.reference_id), None)
        if before is None:
            raise Unclear(said, "there is no earlier reference")
        return _reference_of(before)

    def _side(self, side: str, said: str) -> Found:
        """In the first row."""
        row = min(self.columns, len(self.hits)) or (1 if side == "left" else 0)
        if not row or (side == "middle" and row % 2 == 0):
            raise Unclear(said, "say its number, for example “the third one”")
        return self._result({"left": 1, "right": row, "middle": row // 2 + 1}[side], said)


def _reference_of(turn: Turn) -> Found:
    return Found(turn.reference_id, f"the reference of turn {turn.number}", turn.number - 1, turn.further)


def _result_of(turn: Turn, hit: Hit, last: bool) -> Found:
    name = f"result {hit.rank}"
    return Found(hit.image_id, name) if last else Found(hit.image_id, f"{name} of turn {turn.number}", turn.number)
