"""Parse text into edits: one pass over the items with a small amount of state. Notes on words of which nothing, or
not everything, was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache

from cir_core.garments.lexicon import NONE
from cir_core.garments.tables import listed, table
from cir_core.language.builtin.reading.attitudes import felt, judged
from cir_core.language.builtin.reading.colours import JOINERS, ColourRun, colour_run
from cir_core.language.builtin.reading.constructions import constructed
from cir_core.language.builtin.reading.edits import Edit, Edits, beyond, step, target
from cir_core.language.builtin.reading.foreign import is_foreign, translate
from cir_core.language.builtin.reading.operate import (
    Operators,
    fronted,
    is_recoloured,
    is_reference,
    is_unliked,
    is_worn_with,
    owner_near,
    shaded_at,
)
from cir_core.language.builtin.reading.parts import (
    crossed,
    edged,
    halved,
    is_piece,
    likened,
    piece_after,
    shades_second,
    shows_second,
)
from cir_core.language.builtin.reading.reader import CHATTY, ReadItem, extra_run, read
from cir_core.language.builtin.reading.rewording import plain_text, says_all_stays

_MOST = 12  # words in a note
_MOST_SHOWN = 300  # characters of a text

NOTHING = "no change recognised in your text"
AS_IT_IS = "nothing to change: the description already says that"
FOREIGN = ("the built-in language model reads English only, and words of German, French, Spanish, Italian, Portuguese, "
           "Dutch, Polish, Japanese and Chinese: write the request in one of these, or connect a language model "
           "(docs/how-to/language-models.md), which is asked to translate")


def used_as_typed(words: Sequence[str]) -> str:
    """The words that were added to the query as they are."""
    return f"used as typed: {_listed(words)}"


def left_out(words: Sequence[str]) -> str:
    """The words of a long text that were not added to the query."""
    return f"left out: {_listed(words)}"


def pointed(words: Sequence[str]) -> str:
    """References to results, which the words alone do not resolve."""
    return f"not understood: {_listed(words)} (select the image that is meant, and describe the change)"


def _listed(words: Sequence[str]) -> str:
    once = list(dict.fromkeys(words))
    more = f" and {len(once) - _MOST} more" if len(once) > _MOST else ""
    return ", ".join(once[:_MOST]) + more


def in_english(text: str) -> str:
    """What a text in another language was read as."""
    return f"read in English as: {text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + ' …'}"


ALWAYS_TWO = "a pattern or trim shows only in another colour than the fabric's, so its colour was left open"
ALWAYS_ALIKE = "the pattern and the trim of a garment have one colour here, so they are alike already"
_LINKING = frozenset({"on", "both", "exactly", "also", "all"})


def no_place(words: Sequence[str]) -> str:
    """Colours and patterns of pieces that no attribute holds."""
    return (f"no attribute holds it: {_listed(words)} (a garment has a main colour and a second one, "
            "that of its pattern or trim; single pieces, such as sleeves or a collar, have none of their own)")


def either_order(colours: Sequence[str]) -> str:
    """Two colours of which either may be the main one."""
    return f"either may be the main colour: {_listed(colours)}"


_SHOWN = frozenset({"cleavage", "decolletage"})   # what "I do not want to show"
_SIGN = {
    ("length", "short"): -1, ("length", "long"): 1, ("fit", "slim"): -1, ("fit", "loose"): 1,
    ("sleeves", "short"): -1, ("sleeves", "long"): 1, ("neckline", "turtleneck"): -1,
}
_OWNED = {("neckline", "fit"), ("neckline", "length"), ("length", "neckline")}  # "the hem should be higher"
_AS_SLEEVES = {"short": "short", "medium": "elbow", "long": "long"}


def interpret(text: str, *, is_caption: bool = False) -> Edits:
    """The edits in ``text``. In a caption "the dress" is the described garment, not the reference."""
    items, notes = read(text if is_caption else plain_text(text))
    items = judged(items if is_caption else constructed(items), is_caption)
    items = fronted(items) if is_caption else likened(crossed(halved(edged(fronted(items)))))
    return _Interpreter(items, list(notes), is_caption).run()


@lru_cache(maxsize=256)
def parse_edits(text: str) -> Edits:
    """The edits requested by ``text``. Never fails: words that are not understood become extras."""
    edits = read_by_rules(text)
    if says_all_stays(translate(text).text):
        keeps = () if any(target(one) in ("colour", "second_colour") for one in edits.edits) else (
            Edit("keep", "colour", words="colour"),)
        edits = replace(edits, whole=True, edits=(*edits.edits, *keeps))
    return edits if is_foreign(text) or translate(text).pieces else felt(edits, text)


def read_by_rules(text: str) -> Edits:
    """The same without the classifier of attitudes."""
    if is_foreign(text):
        text = " ".join(text.split())
        return Edits(extras=(text,), unused=(text,), notes=(FOREIGN, used_as_typed([text])))
    translated = translate(text)
    edits = interpret(translated.text)
    return replace(edits, notes=(in_english(translated.text), *edits.notes)) if translated.pieces else edits


@cache
def _alone() -> dict[str, tuple[str, str]]:
    """Group and value of words that are a whole request: a letter of a neckline, a place where a hem ends."""
    places = table("comparatives")["places"]["length"]
    return {"v": ("neckline", "vneck"), **{word: ("length", value) for value, words in places.items()
                                           for word in listed(words)}}


class _Interpreter(Operators):
    """The words with content."""

    def run(self) -> Edits:
        place = 0
        while place < len(self.items):
            item = self.items[place]
            handler = getattr(self, f"on_{item.kind}", None)
            place = (handler(place, item) if handler and place not in self.taken else None) or place + 1
        extras = tuple(dict.fromkeys(self.extras))
        if not self.is_caption and self.pointers:
            self.notes.append(pointed(self.pointers))
        chatty = len(self.items) > CHATTY and not self.is_caption
        if chatty:
            self.unused, self.unwanted, extras = [*self.unused, *self.unwanted], [], ()
        if not self.is_caption and self.unused:
            self.notes.append(left_out(self.unused) if chatty else used_as_typed(self.unused))
        if self.pieces:
            self.notes.append(no_place(self.pieces))
        rest = tuple(word for place, item in enumerate(self.items) for word in item.words
                     if place not in self.of_pieces)
        unwanted, unused, notes, pieces = (tuple(dict.fromkeys(texts)) for texts in (
            self.unwanted, [*self.pointers, *self.pieces, *self.unused], self.notes, self.pieces))
        return Edits(tuple(self.edits), self.noun, extras, unwanted, unused, notes, pieces, rest if pieces else ())

    def on_step(self, place: int, item: ReadItem) -> None:
        nearby = self.items[place + 1].text if place + 1 < len(self.items) else ""
        owner = "" if self.is_caption else owner_near(self.items, place)
        group = "sleeves" if place in self.sleeves_at else item.sense.group
        direction = item.sense.direction * (-1 if is_unliked(self.items, place) else 1)
        if (group == "shade" or item.text == "deeper") and not self.negation and self._is_of_colour(place):
            group = "shade"
        if nearby in ("fabric", "material", "weight", "cloth"):
            self.taken.add(place + 1)
            self._keep_as_typed(f"{item.text} {nearby}", f"in {item.text} {nearby}")
        elif owner == "sleeves" and group == "fit":
            self._keep_as_typed(f"{item.text} sleeves", f"with {item.text} sleeves")  # no attribute says how wide
        elif group == "neckline" and place + 1 < len(self.items) and self.items[place + 1].value_of("colour"):
            pass  # "deeper red"
        elif not self.negation and not self.is_caption:
            if (owner, group) in _OWNED or (owner, group) == ("sleeves", "neckline"):
                group = owner   # "the hem should be higher", "sleeves that go lower"
            elif group == "shade" and shades_second(self.items, place):
                group = "second_shade"
            self._step(group, direction * self.rungs)
        self.keep, self.degree, self.rungs = False, 0, 1

    def _is_of_colour(self, place: int) -> bool:
        """Whether the colour before ``place`` is the garment's, which is then not asked for: "make the blue darker"."""
        last = self.edits[-1] if self.edits else None
        if shaded_at(self.items, place) is None or last is None or (last.operation, last.group) != ("set", "colour"):
            return False
        self.edits.pop()
        return True

    def on_covering(self, place: int, item: ReadItem) -> None:
        if not self.negation and not self.is_caption:
            self.edits.append(Edit("covering", direction=item.sense.direction))

    def on_simpler(self, place: int, item: ReadItem) -> None:
        if not self.negation and not self.is_caption:
            self.edits.append(Edit("simpler"))

    def on_patterned(self, place: int, item: ReadItem) -> None:
        """"Busier", "more details": whichever pattern or trim there is."""
        group, value = ("pattern", "plain") if item.kind == "patterned" else ("trim", NONE)
        if not self.is_caption and self.negation != "instead":
            whole = Edit("drop", group, "" if self.negation else value)
            self.edits.append(Edit("simpler") if self.degree < 0 else whole)
        self.degree = 0

    on_decorated = on_patterned

    def on_shade(self, place: int, item: ReadItem) -> int | None:
        ahead = self.items[place + 1] if place + 1 < len(self.items) else None
        if ahead is not None and ahead.value_of("colour"):
            if not self.negation and not self.keep:
                self.notes.append(f"treated '{item.text} {ahead.text}' as '{ahead.value_of('colour')}'")
        elif self.degree:
            self._degree("shade", item.sense.direction)
        elif not self.negation and not self.keep:
            self._keep_as_typed(item.text, item.text)
        return None

    def on_alike(self, place: int, item: ReadItem) -> None:
        """"The same colour as the bow", of the garment or of another part."""
        of_part = self._is_of_part(place)
        if self._is_negated() or self.keep:
            self.edits += [Edit("keep", item.sense.group, words=item.text)] if self.keep else []
        elif item.sense.group == "colour":
            self.notes += [ALWAYS_TWO] if of_part else []
        elif of_part:
            self.notes.append(ALWAYS_ALIKE)
        else:
            self.edits.append(Edit("match", "colour"))

    def _is_of_part(self, place: int) -> bool:
        back = place - 1
        while back >= 0 and (self.items[back].kind in ("verb", "a", "the", "in") or self.items[back].text in _LINKING):
            back -= 1
        return back >= 0 and shows_second(self.items[back])

    def on_noun(self, place: int, item: ReadItem) -> None:
        refers = self.keep or bool(self.negation) or is_worn_with(self.items, place) or (
            not self.is_caption and is_reference(self.items, place))
        if not refers:
            self.noun = item.text
        self.spent = True

    def on_part(self, place: int, item: ReadItem) -> None:
        group = item.sense.group
        if self.keep:
            self._kept(item, group)
        elif self.degree < 0 and group in ("pattern", "trim"):
            self.edits.append(Edit("simpler"))
        elif self._is_negated() and self.excepting:
            self.edits.append(Edit("other", group))
        elif self._is_negated():
            if item.text in _SHOWN:
                self._step("neckline", -1)
            if group == "second_colour":
                self._set(Edit("set", "pattern", "plain"))
            elif group in ("sleeves", "pattern", "trim") and self.negation != "instead":
                self.edits.append(Edit("drop", group))
                self.spent = True
        elif group == "sleeves" and not self.is_caption:
            self.edits.append(Edit("sleeved", "sleeves"))
        self.degree = 0

    def on_value(self, place: int, item: ReadItem) -> int | None:
        if item.value_of("colour") and len(item.sense.pairs) == 1:   # more: a little black dress
            return self._colours(place)
        group, value = item.sense.pairs[0]
        if group == "pattern" and not self.is_caption and not self.keep and not self._is_negated() \
                and (on := self._piece_of_pattern(place)) is not None:
            self._piece(" ".join(one.text for one in self.items[place : on + 1]), place, on + 1)
            return on + 1
        of_sleeves = place in self.sleeves_at or (group == "length" and self._are_ones(place))
        if of_sleeves:
            group, value = "sleeves", _AS_SLEEVES[value]
        if self._is_measure(place, group, value):
            return None
        if self.degree and (group, value) in _SIGN:
            if group == "fit" and owner_near(self.items, place) == "neckline":
                self._degree("neckline", _SIGN[group, value])   # "a less tight neck"
                return None
            self._degree(group, _SIGN[group, value])
            return None
        if group == "category" and not self.is_caption and is_reference(self.items, place):
            self.spent = True
        elif self.keep:
            self._kept(item, group, value)
        elif self._is_negated() or self.degree < 0:
            self.negated_at.add(place)
            if group != "category" or not self.spent:  # "not a long dress" still means a dress
                self.edits.append(Edit("drop", group, value))
            self.spent = True
        else:
            for pair in ((group, value),) if of_sleeves else item.sense.pairs:
                self._set(Edit("set", *pair, either=item.sense.either,
                               definite=place > 0 and self.items[place - 1].kind == "the"))
            if item.sense.loosely:
                self.notes.append(f"treated '{item.text}' as '{value}'")
        self.degree = 0
        return None

    def _piece_of_pattern(self, place: int) -> int | None:
        """Where the piece is that alone has the pattern at ``place``: "stripes on the sleeves", "a floral collar"."""
        ahead = place + 1
        beside = ahead < len(self.items) and is_piece(self.items[ahead]) and ahead not in self.bound
        closed = self.items[ahead + 1].kind if ahead + 1 < len(self.items) else ""
        if beside and closed != "head" and not (closed == "value" and self.items[ahead + 1].value_of("category")):
            return ahead
        return piece_after(self.items, ahead)

    def _piece(self, words: str, start: int, end: int) -> None:
        """``words`` of the items from ``start`` to ``end``, which no attribute holds."""
        if self.is_caption:
            self._keep_as_typed(words, f"with {words}")
            return
        while start and self.items[start - 1].kind in ("a", "the", "with", "in", "verb", "shade"):
            start -= 1
        self.extras.append(f"with {words}")
        self.pieces.append(words)
        self.of_pieces.update(range(start, end))

    def on_word(self, place: int, item: ReadItem) -> int:
        alone = not self.is_caption and all(
            one.kind in ("break", "and", "a", "the", "stop") for one in (*self.items[:place], *self.items[place + 1 :]))
        if alone and (found := _alone().get(item.text)):
            self._set(Edit("set", *found))   # "V?", "knee"
            return place + 1
        beside = [one.kind for one in (*self.items[max(0, place - 1) : place], *self.items[place + 1 : place + 2])]
        if item.text == "v" and not self.is_caption and not self._is_negated() and beside[:1] in (["a"], ["and"]) \
                and self.items[max(0, place - 2)].text != "of" \
                and beside[1:] in ([], ["break"], ["and"], ["but"], ["with"]):
            self._set(Edit("set", "neckline", "vneck"))   # "short sleeves and a V"
            return place + 1
        run = extra_run(self.items, place)
        if self._is_negated():
            self.unwanted.append(run.core)
            self.spent = True
        elif not self.keep:
            self._keep_as_typed(run.core, run.phrase)
        self.degree = 0
        return run.end

    def _colours(self, place: int) -> int:
        joiners = JOINERS
        if self.negation in ("not", "without") or self.degree < 0:
            joiners = frozenset()  # "not red and white" removes the red
        elif self.negation:
            joiners = frozenset({"and", "&"})  # "replace the white with red", "instead of red, blue"
        if self._is_measure(place, "colour", self.items[place].value_of("colour") or ""):
            return place + 1
        run = colour_run(self.items, place, self.negated_at, joiners)
        wished = {edit.value: edit.group for edit in self.edits if self.negation == "instead"
                  and edit.operation == "set" and edit.group in ("colour", "second_colour")}
        if not wished.keys().isdisjoint(run.colours[1:]):   # "green rather than pink and green and yellow stripes"
            run = colour_run(self.items, place, self.negated_at, frozenset())
        if not self.negation and self._is_compared(place):
            return run.end   # "more orange than red"
        if self.keep:
            colour = self.items[place].value_of("colour") or ""
            self._kept(self.items[place], "" if run.of else "colour", colour)
        elif self._is_negated() or self.degree < 0:
            second = run.end + 2   # "swap the red and the black"
            apart = [item.kind for item in self.items[run.end : second]] == ["and", "the"] and (
                second < len(self.items) and self.items[second].value_of("colour"))
            if self.swapping and (len(run.colours) > 1 or apart):
                self.edits.append(Edit("swap", "colour"))
                self.taken.update(range(run.end, second + 1) if apart else ())
            elif not run.of:
                # "Red, with white dots instead of red": what the dots were, not what is asked for.
                of_second = "second_colour" in wished.values()
                self.edits += [Edit("drop", "colour", colour, traded=self.trading) for colour in run.colours
                               if not (of_second and wished.get(colour) == "colour")]
                self.spent, self.trading = True, False
            self.negated_at.update(range(place, run.end))
        else:
            self._set_colours(run, place)
        self.degree = 0
        return run.end

    def _set_colours(self, run: ColourRun, place: int) -> None:
        last = self.edits[-1] if self.edits else None
        bare = len(run.colours) == 1 and not run.of and not run.piece
        replaced = last if bare and last and is_recoloured(last, self.items, place, self.negated_at) else None
        if replaced is not None and replaced.group in ("sleeves", "neckline"):
            self.edits.remove(replaced)  # "change the collar to red"
            self._piece(f"{run.colour} {replaced.value or replaced.group}", self._begin(place), run.end)
        elif replaced is not None:
            self.edits.remove(replaced)  # "change the stripes to yellow": they stay
            if replaced.value:
                self._set(Edit("set", replaced.group, replaced.value))
            self._set(Edit("set", "second_colour", run.colour, of_trim=replaced.group == "trim"))
        else:
            self._lay_on(place)
            if run.of == "print":
                self._set(Edit("set", "pattern", "graphic"))
            elif run.of:
                self._share_owner(run)
            self._set_run(run)
        if run.piece:
            before = run.piece_end == run.end and run.piece_at is None   # "the collar in red"
            if before and self.edits and self.edits[-1].operation == "sleeved":
                self.edits.pop()   # they are there
            self._piece(run.piece, self._begin(place) if before else place, run.piece_end)
            if run.piece_at is not None:
                self.taken.add(run.piece_at)
        for item in self.items[place : run.end]:
            if item.sense.loosely:
                self.notes.append(f"treated '{item.text}' as '{item.value_of('colour')}'")

    def _set_run(self, run: ColourRun) -> None:
        named = any((edit.operation, edit.group) == ("set", "colour") for edit in self.edits)
        of_trim = run.of == "trim"
        several = len(run.colours) > 1 and not self.is_caption and not run.piece
        if several and run.added and run.of not in ("", "second") and (named or of_trim):
            second, *others = run.colours   # "a blue dress with red and white stripes"
            self._set(Edit("set", "second_colour", second, of_trim=of_trim, either=tuple(others)))
            return
        if several and of_trim and not run.equal and run.joined:
            second, *others = run.colours   # "red and white buttons"
            self._set(Edit("set", "second_colour", second, of_trim=True, either=tuple(others)))
            return
        either = run.colours if several and run.equal else ()
        if run.colour:
            self._set(Edit("set", "colour", run.colour, either=either))
        if run.second:
            self._set(Edit("set", "second_colour", run.second, of_trim=of_trim, either=either or run.others))
        if either:
            self.notes.append(either_order(either))

    def _is_compared(self, place: int) -> bool:
        """Whether the colour at ``place`` follows "than", behind a colour that was asked for."""
        while place and (self.items[place - 1].kind == "the" or self.items[place - 1].text == "that"):
            place -= 1   # "than this green"
        before = self.items[place - 1].text if place else ""
        last = self.edits[-1] if self.edits else None
        return before == "than" and last is not None and (last.operation, last.group) == ("set", "colour")

    def _begin(self, place: int) -> int:
        """Where the clause of ``place`` begins."""
        while place and self.items[place - 1].kind not in ("and", "but", "break"):
            place -= 1
        return place

    def _lay_on(self, place: int) -> None:
        """"Red on white": the first is the second colour."""
        before = [item.text for item in self.items[max(0, place - 2) : place] if item.kind not in ("a", "the")]
        last = self.edits[-1] if self.edits else None
        if before[-1:] == ["on"] and last and (last.operation, last.group) == ("set", "colour"):
            self.edits[-1] = replace(last, group="second_colour")
        elif before[-1:] == ["on"] and last and last.group == "second_colour" and last.either and len(self.edits) > 1:
            del self.edits[-2]   # "red and blue on white"
            self.notes.remove(either_order(last.either))

    def _share_owner(self, run: ColourRun) -> None:
        """"Red or orange stripes": the red belongs to the stripes, too."""
        last = self.edits[-1] if self.edits else None
        if self.or_else and last and (last.operation, last.group) == ("set", "colour") and not run.colour:
            self.edits[-1] = replace(last, group="second_colour", of_trim=run.of == "trim")

    def _set(self, edit: Edit) -> None:
        """Add ``edit``, as an alternative to the last one after "or"."""
        last = self.edits[-1] if self.edits else None
        if self.or_else and last is not None and last.operation == "set" and last.group == edit.group:
            either = dict.fromkeys((*last.either, edit.value, *edit.either))
            self.edits[-1] = replace(last, either=tuple(either))
        else:
            self.edits.append(edit)

    def _step(self, group: str, direction: int) -> None:
        last = self.edits[-1] if self.edits else None
        if self.or_else and last is not None and (last.group, group) == ("sleeves", "length"):
            group = "sleeves"  # "sleeves to the elbow or longer"
        if self.or_else and last is not None and last.operation == "set" and last.group == group:
            either = (*last.either, *sorted(beyond(group, last.value, 1 if direction > 0 else -1)))
            self.edits[-1] = replace(last, either=either)  # "knee-length or longer"
        else:
            self.edits.append(Edit("step", group, direction=direction))

    def _is_measure(self, place: int, group: str, value: str) -> bool:
        """"Longer than short sleeves", "darker than grey": all beyond is asked for."""
        scale = "shade" if group == "colour" else group
        last = self.edits[-1] if self.edits else None
        before = place - 1 if place and self.items[place - 1].kind != "the" else place - 2   # "than this blue"
        if not (before >= 0 and self.items[before].words[-1] == "than") or last is None or last.operation != "step" \
                or last.group not in (scale, "length" if group == "sleeves" else scale):
            return False
        sign = 1 if last.direction > 0 else -1
        nearest, found = step(scale, value, sign), beyond(scale, value, sign)
        if nearest is None or nearest not in found:
            nearest = min(found, default=None)
        if nearest is not None:
            words = f"{self.items[before].text} {self.items[place].text}"
            self.edits[-1] = Edit("set", group, nearest, either=tuple(sorted(found - {nearest})), words=words)
        return True

    def _degree(self, group: str, sign: int) -> None:
        if not self.is_caption:
            self._step(group, sign * self.degree * self.rungs)
        self.negation, self.degree, self.rungs = "", 0, 1

    def _is_negated(self) -> bool:
        if self.negation in ("not", "without") and self.spent:
            self.negation = ""
        return bool(self.negation)

    def _are_ones(self, place: int) -> bool:
        """Whether "long" occurs as in "short sleeves instead of long ones": sleeves are many, a dress is one."""
        return any(item.text == "ones" for item in self.items[place + 1 : place + 2])

    def _kept(self, item: ReadItem, group: str, value: str = "") -> None:
        if group == "category" or not group or self.is_caption:
            return  # "the same dress" is the one in the picture
        self.edits.append(Edit("keep", group, value, either=item.sense.either, words=item.text))

    def _keep_as_typed(self, core: str, phrase: str) -> None:
        self.extras.append(phrase)
        self.unused.append(core)
