"""Tokenise and normalise text; punctuation becomes separate tokens."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from cir_core.garments.tables import table

MOST_WORDS = 200  # per text; a modification has about ten, a long caption sixty
_MOST_READ = 4000  # characters; NFC of a run of accents takes quadratic time while holding the interpreter's lock
_TOKEN = re.compile(r"\d/\d|w/o\b|b/w\b|w/|[→✗]|[^\W_]+(?:'[^\W_]+)?|[,.;:!?&\n]"
                    r"|[\U0001F300-\U0001FAFF\u2600-\u27bf\u2b00-\u2bff]|[\U0001F1E6-\U0001F1FF]{1,2}")
_BREAKS = frozenset(".;:!?\n")
_BRITISH = (
    (re.compile(r"\bcolor"), "colour"),
    (re.compile(r"\bgray"), "grey"),
    (re.compile(r"\bcolourf?ull\b"), "colourful"),
    (re.compile(r"\bmulticolor"), "multicolour"),
    (re.compile(r"\ba-line\b"), "aline"),  # one word, or its article would be another's
)
_SPELT_OUT = {"w/": ("with",), "w/o": ("without",), "b/w": ("black", "and", "white"), "+": ("and",)}
_ARROW = re.compile(r"[-=]{1,3}>")
_FACES = (*range(0x1F600, 0x1F645), *range(0x1F910, 0x1F930), *range(0x1F970, 0x1F97B))
_UNSEEN = (*range(0x1F3FB, 0x1F400), *range(0xFE00, 0xFE10), 0x200D)   # skin tones, variation selectors, the joiner
_AFTER_IT = frozenset({"in", "and", "but", "with"})   # "🎀❌ in red": what stands before the sign is to go
_LESS = re.compile(r"\b([^\W\d_]{3,12})-less\b")


@cache
def _of_sign() -> dict[int, str]:
    """Signs to words."""
    signs = table("signs")
    nothing = dict.fromkeys((*_FACES, *map(ord, signs["small"]["signs"])), " ") | dict.fromkeys(_UNSEEN, "")
    return nothing | {ord(sign): f" {word} " for word, ones in signs["words"].items() for sign in ones}


def tokenise(text: str) -> list[str]:
    """Lower-case words of ``text``, British spelling; ``,`` and ``.`` mark breaks. Hyphens separate words ("v-neck" is
    two), apostrophes are dropped ("doesn't" is "doesnt"). Emoji are words or stay as they are, and an arrow is "from …
    to"."""
    text = _ARROW.sub(" → ", text[:_MOST_READ].translate(_of_sign()))
    text = unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'").replace("\u2018", "'")
    text = _LESS.sub(r"\1less", text)
    for pattern, spelling in _BRITISH:
        text = pattern.sub(spelling, text)
    tokens: list[str] = []
    clause = 0  # where it begins
    found = _TOKEN.findall(text)
    for place, token in enumerate(found):
        if token in _BREAKS:
            token = "."
        elif token.endswith("'s"):
            token = token[:-2]  # "it's", "women's"
        if token == "→":
            tokens.insert(clause, "from")
            token = "to"
        elif token == "✗":
            ahead = found[place + 1 : place + 2]
            token = "without" if ahead and ahead[0] not in _BREAKS | _AFTER_IT | {","} else "removed"
        tokens += _SPELT_OUT.get(token, (token.replace("'", ""),))
        if token in (".", ","):
            clause = len(tokens)
    return [token for token in tokens if token]
