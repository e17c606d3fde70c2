"""Match words to known phrases, longest match first."""

from __future__ import annotations

from dataclasses import dataclass

from cir_core.language.builtin.reading.vocabulary import Sense, phrases, respell
from cir_core.language.builtin.reading.words import MOST_WORDS, tokenise

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
    words = [word for parts in spelt for word in parts]
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
        items.append(ReadItem(sense, phrase))
        place += len(phrase)
    return tuple(items), tuple(dict.fromkeys(notes))
