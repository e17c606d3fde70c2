"""Match words to known phrases, longest match first. Words outside the vocabulary, as a phrase appended to the
description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cir_core.language.builtin.reading.frames import Frame, framed
from cir_core.language.builtin.reading.rewording import adjectives_beside_nouns
from cir_core.language.builtin.reading.vocabulary import MOST_WORDS, Sense, phrases, respell, tokenise

_LONGEST = 8
_WORD = Sense("word")


@dataclass(frozen=True)
class ReadItem:
    sense: Sense
    words: tuple[str, ...]

    @property
    def kind(self) -> str:
        return self.sense.kind

    @property
    def text(self) -> str:
        return " ".join(self.words)

    def value_of(self, group: str) -> str | None:
        """The value this item gives to ``group``."""
        return dict(self.sense.pairs).get(group)


def read(text: str) -> tuple[tuple[ReadItem, ...], tuple[str, ...]]:
    """``text`` as items, with notes on words that were corrected."""
    tokens = tokenise(text)
    notes = []
    if len(tokens) > MOST_WORDS:
        notes.append(f"Only the first {MOST_WORDS} words were read")
        tokens = tokens[:MOST_WORDS]
    spelt = [respell(token) for token in tokens]
    notes += [f"treated '{old}' as '{new}'" for old, (new, *more) in zip(tokens, spelt, strict=True)
              if old != new and not more]
    words = adjectives_beside_nouns([word for parts in spelt for word in parts])
    table = phrases()
    items = []
    place = 0
    while place < len(words):
        for length in range(min(_LONGEST, len(words) - place), 0, -1):
            phrase = tuple(words[place : place + length])
            if (sense := table.get(phrase)) is not None:
                break
        else:
            phrase, sense = (words[place],), _WORD
        if (frame := framed(words[place:])) and frame[0] > (0 if sense is _WORD else len(phrase)):
            phrase, sense = tuple(words[place : place + frame[0]]), _stepping(frame[1])
        items.append(ReadItem(sense, phrase))
        place += len(phrase)
    return tuple(items), tuple(dict.fromkeys(notes))


def _stepping(frame: Frame) -> Sense:
    return Sense("step", group=frame.group, direction=frame.direction)


CHATTY = 40  # words; in a longer text the unknown ones are talk, not the description of a garment
_INSIDE = frozenset({"stop", "a", "the", "with", "in", "head"})
_PREPOSITIONS = frozenset({"in", "on", "of", "for", "at", "by", "from", "to", "like", "about"})


@dataclass(frozen=True)
class ExtraRun:
    core: str    # "dragon on the back", for notes
    phrase: str  # "with a dragon on the back", for the description
    end: int     # the position after it


def extra_run(items: Sequence[ReadItem], place: int) -> ExtraRun:
    """The unknown words from ``place`` on, including small words between and before them."""
    end = look = place + 1
    while look < len(items) and (items[look].kind == "word" or items[look].kind in _INSIDE):
        look += 1
        if items[look - 1].kind == "word":
            end = look
    core = " ".join(item.text for item in items[place:end]).replace("aline", "a-line")
    lead: list[str] = []
    back = place - 1
    while back >= 0 and items[back].kind in ("a", "the", "more", "less") and len(lead) < 3:
        lead.insert(0, items[back].text)
        back -= 1
    if back >= 0:
        before = items[back]
        if before.kind == "with" or before.text in ("has", "have", "add", "put"):
            lead.insert(0, "with")
        elif before.text in _PREPOSITIONS:
            lead.insert(0, before.text)
    return ExtraRun(core, " ".join([*lead, core]), end)
