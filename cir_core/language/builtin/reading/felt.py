"""Values that a text refuses in words that no table has, by the classifier of attitudes: "who decided it needs a
bow"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cir_core.language.builtin.reading.edits import Edit, Edits
from cir_core.language.builtin.reading.reader import read
from cir_core.language.intents import THING, classifier, of_attitudes

#: Probability from which a value that is read as wanted is refused: in a text of which every word was understood, and in
#: others.
PLAINLY, REFUSED = 0.7, 0.5
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
    """``edits`` of ``text``, with a value that is wanted by them taken for refused where the classifier is sure."""
    if not any(edit.operation == "set" for edit in edits.edits):
        return edits
    words, places = things(text)
    if len(words) > _MOST_WORDS:
        return edits
    named = [(edit.group, edit.value) for edit in edits.edits]
    sure = REFUSED if edits.unused else PLAINLY
    return replace(edits, edits=tuple(
        Edit("drop", *pair)
        if edit.operation == "set" and edit.group != "category" and named.count(pair) == 1
        and len(at := places.get(pair, ())) == 1 and _refused(words, at[0]) >= sure else edit
        for edit, pair in zip(edits.edits, named, strict=True)))


def _refused(words: Sequence[str], place: int) -> float:
    return classifier("attitudes").probabilities(of_attitudes(words, place, "set"))["-"]
