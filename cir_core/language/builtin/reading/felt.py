"""Values that a text refuses in words that no table has, by the classifier of attitudes: "who decided it needs a
bow"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cir_core.language.builtin.reading.edits import Edit, Edits
from cir_core.language.builtin.reading.reader import read
from cir_core.language.builtin.reading.rewording import plain_text
from cir_core.language.intents import THING, classifier, of_attitudes

REFUSED = 0.7   # probability from which a value that is read as wanted is refused
_MOST_WORDS = 40


def things(text: str) -> tuple[list[str], dict[tuple[str, str], list[int]]]:
    """The words of ``text`` with :data:`THING` for each value and part, and the places of the values; of a part, which
    has none, the value is empty."""
    words: list[str] = []
    places: dict[tuple[str, str], list[int]] = {}
    for item in read(text)[0]:
        if item.kind in ("value", "part"):
            for pair in item.sense.pairs if item.kind == "value" else ((item.sense.group, ""),):
                places.setdefault(pair, []).append(len(words))
            words.append(THING)
        else:
            words += item.words
    return words, places


def felt(edits: Edits, text: str) -> Edits:
    """``edits`` of ``text``, with a value that is wanted by them taken for refused where the classifier is sure, and
    where there are words that the rules do not know."""
    text = plain_text(text)
    items, _ = read(text)
    if not any(edit.operation == "set" for edit in edits.edits) or all(item.kind != "word" for item in items):
        return edits
    words, places = things(text)
    if len(words) > _MOST_WORDS:
        return edits
    owner = any(edit.of_trim for edit in edits.edits)   # of the colour in "the bow goes pink"
    found = []
    for edit in edits.edits:
        pair = (edit.group, edit.value)
        at = places.get(pair, [])
        once = len(at) == 1 and sum((one.group, one.value) == pair for one in edits.edits) == 1
        refused = once and edit.operation == "set" and edit.group != "category" and not (
            owner and edit.group in ("pattern", "trim")) and _refused(words, at[0])
        found.append(Edit("drop", *pair) if refused else edit)
    return replace(edits, edits=tuple(found))


def _refused(words: Sequence[str], place: int) -> bool:
    return classifier("attitudes").probabilities(of_attitudes(words, place, "set"))["-"] >= REFUSED
