"""Tokenise and normalise text; punctuation becomes separate tokens."""

from __future__ import annotations

import re
import unicodedata

MOST_WORDS = 200  # per text; a modification has about ten, a long caption sixty
_MOST_READ = 4000  # characters; NFC of a run of accents takes quadratic time while holding the interpreter's lock
_TOKEN = re.compile(r"\d/\d|[^\W_]+(?:'[^\W_]+)?|[,.;:!?&\n]")
_BREAKS = frozenset(".;:!?\n")
_BRITISH = (
    (re.compile(r"\bcolor"), "colour"),
    (re.compile(r"\bgray"), "grey"),
    (re.compile(r"\bcolourf?ull\b"), "colourful"),
    (re.compile(r"\bmulticolor"), "multicolour"),
)


def tokenise(text: str) -> list[str]:
    """Lower-case words of ``text``, British spelling; ``,`` and ``.`` mark breaks. Hyphens separate words ("v-neck" is
    two), apostrophes are dropped ("doesn't" is "doesnt")."""
    text = unicodedata.normalize("NFKC", text[:_MOST_READ]).lower().replace("\u2019", "'").replace("\u2018", "'")
    for pattern, spelling in _BRITISH:
        text = pattern.sub(spelling, text)
    tokens = []
    for token in _TOKEN.findall(text):
        if token in _BREAKS:
            token = "."
        elif token.endswith("'s"):
            token = token[:-2]  # "it's", "women's"
        tokens.append(token.replace("'", ""))
    return [token for token in tokens if token]
