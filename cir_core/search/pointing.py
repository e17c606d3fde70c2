"""Words that point at results and earlier turns, as reference and text.

"Like the second one but in green" is "in green" from result 2; "back to the striped one, but longer" is "longer" from
the earlier reference that is striped; "the collar of the first picture with this colour" is "with a collar, in blue"
from the present reference, if that is blue. Where more than one image may be meant, nothing is changed and a note says
so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cir_core.garments.lexicon import NONE
from cir_core.language.builtin.captions import parse_caption
from cir_core.language.builtin.phrases import phrase
from cir_core.language.builtin.reading.reader import ReadItem, read
from cir_core.search.scene import Found, Scene, Unclear

_BACK = frozenset({"back to", "go back to"})
_NOT_MEANT = frozenset({"not", "without", "instead", "except", "less"})
_BEFORE = frozenset({"the", "as", "same", "to", "verb", "from", "more", "keep"})
_SMALL = frozenset({"like", "of", "on", "i", "me", "love", "please", "take", "exactly", "just", "about", "my", "would",
                    "similar", "use", "using", "with", "go", "going", "something", "pls", "think"})
_LEADING = frozenset({"but", "and", ",", ".", "please", "pls"})
_WHOLE = "the same"   # the text of a request that names an image and nothing else
_BEFORE_IT = frozenset({"as before", "from before", "like before"})   # no image: "long sleeves, as before"
_DESCRIBED = frozenset({"picture", "image", "photo", "result", "option", "reference"})


_ORDINAL = "first|second|third|fourth|1st|2nd|3rd|4th"
_PART = "colours?|colors?|sleeves|neckline|neck|collar|pattern|print|length|fit|trim"
_SPELLINGS = (   # of several reference pictures
    (re.compile(rf"\b(of|from) the ({_ORDINAL})(?= (?:and|but|with)\b| ?[,.;]| ?$)", re.I), r"\1 the \2 picture"),
    (re.compile(rf"\bthe ({_ORDINAL}) (picture|image|photo|one)[’']s ({_PART})\b", re.I), r"the \3 of the \1 \2"),
    (re.compile(rf"\b(?:the )?same ({_PART}) (?:as|of|like) the ({_ORDINAL}) (picture|image|photo|one)\b", re.I),
     r"the \1 of the \2 \3"),
)


def _spelled_out(text: str) -> str:
    """"The sleeves from the first", "the first picture's sleeves" as "the sleeves of the first picture"."""
    for pattern, spelling in _SPELLINGS:
        text = pattern.sub(spelling, text)
    return text


@dataclass(frozen=True)
class Pointed:
    """``text`` without what points; it is the text as it was where nothing does, or where that is unclear. Back at an
    earlier image, the requests of the first ``held`` turns alone still hold."""

    text: str
    reference_id: str | None
    notes: tuple[str, ...] = ()
    held: int | None = None
    further: tuple[str, ...] | None = None   # references beside it, where the words choose the reference

    @property
    def unclear(self) -> bool:
        return any(note.startswith("not understood") for note in self.notes)


def follow(text: str, scene: Scene) -> Pointed:
    """The reference and the text that ``text`` means in ``scene``. Never fails."""
    items, _ = read(_spelled_out(text) if scene.further else text)
    if not any(item.kind == "pointer" and item.text not in _BEFORE_IT for item in items):
        return Pointed(text, scene.reference_id)
    reader = _Reader(items, scene)
    try:
        reader.run()
    except Unclear as problem:
        return Pointed(text, scene.reference_id, (f"not understood: {problem.words} ({problem.reason})",))
    image_id, notes, held, further = scene.reference_id, list(reader.notes), None, None
    if reader.chosen is not None:
        image_id, held, further = reader.chosen.image_id, reader.chosen.held, reader.chosen.further
        notes.insert(0, "reference: " + reader.chosen.name.replace("the reference of", "that of"))
    return Pointed(reader.rest() or _WHOLE, image_id, tuple(notes), held, further)


class _Reader:
    """One pass over the items; ``said`` is what each becomes."""

    def __init__(self, items: Sequence[ReadItem], scene: Scene) -> None:
        self.items, self.scene = items, scene
        self.said = [item.text for item in items]
        self.chosen: Found | None = None
        self.borrowed = False
        self.notes: list[str] = []

    def run(self) -> None:
        place = 0
        while place < len(self.items):
            item = self.items[place]
            if item.kind == "pointer" and item.text not in _BEFORE_IT:
                place = self._back(place) if item.text in _BACK else self._point(place)
            else:
                place += 1
        if self.borrowed or self.chosen is not None:
            self._keep_this()

    def rest(self) -> str:
        words = [word for word in self.said if word]
        while words and words[0] in _LEADING:
            words.pop(0)
        while words and words[-1] in _LEADING:
            words.pop()
        parts = (part.strip() for part in " ".join(words).replace(" .", ".").split(","))
        return ", ".join(part for part in parts if part)

    def _point(self, place: int, *, back: bool = False) -> int:
        """The pointer at ``place``, and the attributes that are said to be its."""
        item, owned = self.items[place], self._owned(place)
        end = self._from_the_side(place)
        found = self.scene.named(item.words, back=back, part=bool(owned))
        if owned:
            texts = [self._taken(self.items[at], found, item.text) for at in owned]
            self.borrowed = True
            start = owned[0]
            while start and self.items[start - 1].kind in ("the", "with", "verb", "in"):
                start -= 1
            self._clear(start, end)
            self.said[owned[0]] = f"{', '.join(texts)},"
        else:
            self._choose(found, place)
            self._clear(self._start(place), end)
        return end

    def _back(self, place: int) -> int:
        """"Back to" a turn, or to an image that is described."""
        start = place + 1
        while start < len(self.items) and self.items[start].kind == "the":
            start += 1
        end = start
        while end < len(self.items) and self.items[end].kind not in ("and", "but", "break"):
            end += 1
        if start < end and self.items[start].kind == "pointer":
            after = self._point(start, back=True)
            self._clear(place, start)
            return after
        span = self.items[start:end]
        if any(item.kind in ("head", "noun") or item.value_of("category") or item.text in _DESCRIBED for item in span):
            self._choose(self.scene.described(" ".join(item.text for item in span)), place)
            self._clear(place, end)
        else:
            self._clear(place, start)   # "back to stripes" asks for stripes
        return end

    def _choose(self, found: Found, place: int) -> None:
        words = self.items[place].text
        clause = place
        while clause and self.items[clause - 1].kind not in ("but", "break") and self.items[clause - 1].text != ",":
            clause -= 1
        if any(item.kind in _NOT_MEANT for item in self.items[clause:place]):
            raise Unclear(words, "say what the wanted image should be like")
        if self.chosen is not None and self.chosen.image_id != found.image_id:
            raise Unclear(words, "only one image can be the reference")
        self.chosen = found

    def _owned(self, place: int) -> list[int]:
        """Places of the attributes in "the collar and the sleeves of the first picture"."""
        back = place - 1
        while back >= 0 and self.items[back].kind == "the":
            back -= 1
        if back < 0 or self.items[back].text not in ("of", "from"):
            return []
        owned: list[int] = []
        back -= 1
        while back >= 0 and self.items[back].kind in ("part", "value", "and", "the"):
            if self.items[back].kind in ("part", "value"):
                owned.insert(0, back)
            back -= 1
        return owned

    def _from_the_side(self, place: int) -> int:
        """The place after "second one from the left"."""
        after = [item.text for item in self.items[place + 1 : place + 4]]
        if after[:2] == ["from", "the"] and after[2:]:
            if after[2] != "left":
                raise Unclear(f"{self.items[place].text} {' '.join(after)}", "count from the left")
            return place + 4
        return place + 1

    def _start(self, place: int) -> int:
        """Where the words begin that lead to the pointer: "more like the …"."""
        while place and (self.items[place - 1].kind in _BEFORE or self.items[place - 1].text in _SMALL):
            place -= 1
        return place

    def _keep_this(self) -> None:
        """"This colour" is the present reference's, which is then asked for."""
        for place, item in enumerate(self.items[1:], start=1):
            if item.kind == "part" and self.items[place - 1].text == "this" and self.said[place]:
                here = Found(self.scene.reference_id or "", "the present reference")
                said = self._taken(item, here, "this")
                others = (Found(one, here.name) for one in self.scene.further)
                if any(self._taken(item, other, "this", note=False) != said for other in others):
                    raise Unclear(f"this {item.text}", "the reference pictures differ in it: say of which one")
                self.said[place] = said
                self._clear(self._start(place), place)

    def _taken(self, item: ReadItem, found: Found, words: str, *, note: bool = True) -> str:
        """An attribute of ``found`` as a request."""
        if found.further:
            raise Unclear(f"{item.text} of {words}", f"{found.name} is several pictures: say what it should be like")
        group = item.sense.group or item.sense.pairs[0][0]
        slots = parse_caption(self.scene.caption(found.image_id)).slots
        value, asked = slots.get(group, NONE), item.value_of(group)
        if asked not in (None, value):
            raise Unclear(f"{item.text} of {words}", f"{found.name} shows no {item.text}")
        if value == NONE:
            raise Unclear(f"{item.text} of {words}", f"the caption of {found.name} says nothing about it")
        text = request(group, value, slots.get("category", "dress"))
        if note:
            self.notes.append(f"{item.text} of {found.name}: {text}")
        return text

    def _clear(self, start: int, end: int) -> None:
        self.said[start:end] = [""] * (end - start)


def request(group: str, value: str, category: str = "dress") -> str:
    """A text that asks for ``value`` of ``group``: "with a collar", "in red"."""
    words = phrase(group, value, category)
    if group == "colour":
        return f"in {words}"
    if group == "category":
        return f"as a {words}"
    if group in ("sleeves", "neckline", "trim") and value != "sleeveless":
        return f"with {words}" if words.endswith("s") else f"with a {words}"
    return words
