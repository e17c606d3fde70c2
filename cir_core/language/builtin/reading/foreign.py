"""Recognise text that is not English."""

from __future__ import annotations

import re
import unicodedata

from cir_core.garments.tables import table
from cir_core.language.builtin.reading.vocabulary import phrases

_WORD = re.compile(r"[^\W\d_]+")
_MOST_READ = 1000
_TELLING = frozenset({"value", "step", "part", "noun", "simpler", "shade", "with", "not", "without", "the"})


def is_foreign(text: str) -> bool:
    """Whether ``text`` is in another script, or has more words of other languages than English ones with a meaning."""
    words = _WORD.findall(unicodedata.normalize("NFC", text[:_MOST_READ]).lower())
    letters = "".join(words)
    if letters and sum("LATIN" in unicodedata.name(letter, "") for letter in letters) * 2 < len(letters):
        return True
    known, others = phrases(), frozenset(table("foreign")["words"].split())
    foreign = [word for word in words if word in others]
    english = [word for word in words
               if word not in others and (sense := known.get((word,))) and sense.kind in _TELLING]
    return len(foreign) > len(english)
