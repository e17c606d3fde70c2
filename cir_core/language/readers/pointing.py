"""Words that point at results and earlier turns, as reference and text.

"Like the second one but in green" is "in green" from result 2; "back to the striped one, but longer" is "longer" from
the earlier reference that is striped; "the collar of the first picture with this colour" is "with a collar, in blue"
from the present reference, if that is blue. Where more than one image may be meant, nothing is changed and a note says
so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from cir_core.garments.lexicon import NONE
from cir_core.language.builtin.captions import parse_caption
from cir_core.language.builtin.phrases import phrase
from cir_core.language.builtin.reading.parse import parse_edits
from cir_core.language.builtin.reading.reader import ReadItem, read
from cir_core.language.readers.reader import WHOLE, Pointed
from cir_core.language.readers.scene import Found, Scene, Unclear

_BACK = frozenset({"back to", "go back to"})
_NOT_MEANT = frozenset({"not", "without", "instead", "except", "less"})
_BEFORE = frozenset({"the", "as", "same", "to", "verb", "from", "more", "keep"})
_SMALL = frozenset({"like", "of", "on", "i", "me", "love", "please", "take", "exactly", "just", "about", "my", "would",
                    "similar", "use", "using", "with", "go", "going", "something", "pls", "think"})
_LEADING = frozenset({"but", "and", ",", ".", "please", "pls"})
_BEFORE_IT = frozenset({"as before", "from before", "like before"})   # no image: "long sleeves, as before"
_DESCRIBED = frozenset({"picture", "image", "photo", "result", "option", "reference"})


_ORDINALS = frozenset({"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
                       "1st", "2nd", "3rd", "4th", "5th", "last", "previous", "original"})
_LINKS = frozenset({"of", "from", "like", "as", "same", "similar", "identical"})   # "the same sleeves as"
_IN_LINKS = frozenset({"on", "in", "to", "that", "ones"})   # "sleeves like those of", "as in", "similar to"
_PARTS = frozenset({"sleeve", "sleeves", "neck", "neckline", "collar", "pattern", "print", "length", "fit", "trim"})
_REMOVABLE = frozenset({"sleeves", "neckline", "pattern", "trim"})
_OTHERWISE = frozenset({"or", "step", "more", "shade"})   # "longer sleeves like the first one"
_SPELLINGS = (   # "the second one's sleeves": the s of the possessive, or of "is", becomes a word
    (re.compile(r"\b(one|picture|image|photo|result|option|hit|reference|suggestion|turn|dress|shirt|left|right|middle"
                r"|\d{1,2})[’']s\b", re.I), r"\1 s"),
)
_OF_SEVERAL = (   # reference pictures
    (re.compile(r"\b(of|from) the (first|second|third|fourth|1st|2nd|3rd|4th)"
                r"(?= (?:and|but|with)\b| ?[,.;]| ?$)", re.I), r"\1 the \2 picture"),
)


def _spelled_out(text: str, several: bool) -> str:
    """"The sleeves from the first" of several as "the sleeves from the first picture"."""
    for pattern, spelling in (*_SPELLINGS, *(_OF_SEVERAL if several else ())):
        text = pattern.sub(spelling, text)
    return text


def follow(text: str, scene: Scene) -> Pointed:
    """The reference and the text that ``text`` means in ``scene``. Never fails."""
    items, _ = read(_spelled_out(text, bool(scene.further)))
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
        notes.insert(0, reader.chosen.note)
    return Pointed(reader.rest() or WHOLE, image_id, tuple(notes), held, further)


class _Reader:
    """One pass over the items; ``said`` is what each becomes."""

    def __init__(self, items: Sequence[ReadItem], scene: Scene) -> None:
        self.items, self.scene = items, scene
        self.said = ["" if item.text == "s" else item.text for item in items]
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
        item, end = self.items[place], self._from_the_side(place)
        owned, first, end = self._owned(place, end)
        found = self.scene.named(item.words, back=back, part=bool(owned))
        if not owned:
            self._choose(found, place)
            self._clear(self._start(place), end)
        elif self._wanted(owned, first, place, end):
            texts = [self._taken(self.items[at], found, item.text) for at in owned]
            self.borrowed = True
            start = first
            while start and self.items[start - 1].kind in ("the", "with", "verb", "in", "same"):
                start -= 1
            self._clear(start, end)
            self.said[first] = f"{', '.join(texts)},"
        else:
            self.notes += [f"{self.items[at].text} of {found.name}: not taken" for at in owned]
            self._clear(first, end)
            self.said[first] = " and ".join(self.items[at].text for at in owned)
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
        if span and span[0].text in _ORDINALS:
            if span[1:] and span[1].kind not in ("with", "in", "without") and span[1].text not in ("please", "again"):
                raise Unclear(" ".join(item.text for item in span), "say “back to turn 1”, or “result 1”")
            self._choose(self.scene.named((span[0].text, "turn"), back=True), place)
            self._clear(place, start + 1)
            return start + 1
        if any(item.kind in ("head", "noun") or item.value_of("category") or item.text in _DESCRIBED for item in span):
            words = " ".join(item.text for item in span)
            self._choose(self.scene.described(words, _shows(words)), place)
            self._clear(place, end)
        else:
            self._clear(place, start)   # "back to stripes" asks for stripes
        return end

    def _choose(self, found: Found, place: int) -> None:
        words = self.items[place].text
        if any(item.kind in _NOT_MEANT for item in self._clause(place)):
            raise Unclear(words, "say what the wanted image should be like")
        if self.chosen is not None and self.chosen.image_id != found.image_id:
            raise Unclear(words, "only one image can be the reference")
        self.chosen = found

    def _clause(self, place: int) -> Sequence[ReadItem]:
        """What is said before ``place`` in the same clause."""
        start = place
        while start and self.items[start - 1].kind not in ("but", "break") and self.items[start - 1].text != ",":
            start -= 1
        return self.items[start:place]

    def _owned(self, place: int, end: int) -> tuple[list[int], int, int]:
        """Places of the attributes in "the collar and the sleeves of the first picture", "the same collar as the first
        one" and "the first one's collar", and the first and the last place (exclusive) of the whole."""
        if self.items[end : end + 1] and self.items[end].text == "s":
            after = end + 1
            while after < len(self.items) and (_is_owned(self.items[after]) or self.items[after].text == "and"):
                after += 1
            while after > end + 1 and not _is_part(self.items[after - 1]):   # "the second one's red": is
                after -= 1
            owned = [at for at in range(end + 1, after) if self.items[at].kind != "and"]
            return owned, place, max(after, end + 1)
        back, links = place - 1, set[str]()
        while back >= 0 and (self.items[back].kind == "the" or self.items[back].text in _LINKS | _IN_LINKS or (
                links & _LINKS and self.items[back].kind == "verb")):   # "the sleeves should be like"
            links.add(self.items[back].text)
            back -= 1
        of_it = bool(links & {"of", "from"})
        if back < 0 or not links & _LINKS:
            return [], place, end
        if not (of_it or _is_part(self.items[back]) or (back and self.items[back - 1].kind == "same")):
            return [], place, end   # "in red like the first one"
        owned = []
        while back >= 0 and (_is_owned(self.items[back]) or self.items[back].kind in ("and", "the")):
            if not of_it and self.items[back].kind in ("and", "the") and not (
                    self.items[back].text == "and" and back and _is_part(self.items[back - 1])):
                break   # "in red, sleeves like the first one"
            if _is_owned(self.items[back]):
                owned.insert(0, back)
            back -= 1
        return owned, owned[0] if owned else place, end

    def _wanted(self, owned: Sequence[int], first: int, place: int, end: int) -> bool:
        """Whether the attributes are asked for; not in "remove the collar of the first result". Raises ``Unclear``."""
        near = first - 1
        while near >= 0 and self.items[near].kind in ("the", "a"):
            near -= 1
        before, kind = self._clause(first), self.items[near].kind if near >= 0 else ""
        against = [item.kind for item in before if item.kind in _NOT_MEANT | {"other"}]
        change = max((at for at, item in enumerate(before) if item.kind in ("alter", "replace")), default=len(before))
        goal = any(item.kind in ("to", "with") or item.text == "for" for item in before[change:])
        after = end
        while after < len(self.items) and self.items[after].kind == "verb":
            after += 1
        rest = self.items[after : after + 1]
        # "Without the sleeves of the first one" may mean without sleeves, or with others.
        if against == ["without"] and kind == "without" and all(_group(self.items[at]) in _REMOVABLE and (
                self.items[at].kind == "value" or self.items[near].text != "without") for at in owned):
            return False
        otherwise = kind in _OTHERWISE or any(self.items[at].kind == "step" for at in owned)
        refused = any(item.kind == "away" or (item.kind == "not" and item.text != "no")
                      or (item.text == "too" and after > end) for item in rest)   # "are too long"
        if against or otherwise or refused or (change < len(before) and not goal):
            words = " ".join(self.items[at].text for at in owned)
            raise Unclear(f"{words} of {self.items[place].text}", "say what the wanted image should be like")
        return True

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
        group = _group(item)
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


def _shows(words: str) -> Callable[[str], bool]:
    """Whether a caption shows what ``words`` say. Raises ``Unclear``."""
    edits = parse_edits(words)
    wanted = [edit for edit in edits.edits if edit.operation == "set"]
    if not (wanted or edits.unused) or any(edit.operation != "set" for edit in edits.edits):
        raise Unclear(words, "say what it shows, for example “back to the striped one”")

    def fits(caption: str) -> bool:
        slots = parse_caption(caption).slots
        return all(word in caption.lower() for word in edits.unused) and all(
            {edit.value, *edit.either} & {slots.get(edit.group), *_second(edit.group, slots)} for edit in wanted)

    return fits


def _second(group: str, slots: dict[str, str]) -> tuple[str, ...]:
    """A red and green dress is "the green one", too."""
    return (slots.get("second_colour", ""),) if group == "colour" else ()


def _group(item: ReadItem) -> str:
    return item.sense.group or item.sense.pairs[0][0]


def _is_part(item: ReadItem) -> bool:
    """Whether the words name something of a garment: "sleeves", "longer sleeves", "collar"; not "red", "dress"."""
    named = item.kind in ("value", "step") and (item.sense.is_noun or item.words[-1] in _PARTS)
    return named or item.kind == "part"


def _is_owned(item: ReadItem) -> bool:
    return item.kind == "value" or _is_part(item)


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
