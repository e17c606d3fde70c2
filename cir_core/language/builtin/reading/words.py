"""Tokenise and normalise text; punctuation becomes separate tokens."""

from __future__ import annotations

import re
import unicodedata

MOST_WORDS = 200  # per text; a modification has about ten, a long caption sixty
_MOST_READ = 4000  # characters; NFC of a run of accents takes quadratic time while holding the interpreter's lock
_TOKEN = re.compile(r"\d/\d|w/o\b|b/w\b|w/|→|[^\W_]+(?:'[^\W_]+)?|[,.;:!?&\n]")
_BREAKS = frozenset(".;:!?\n")
_BRITISH = (
    (re.compile(r"\bcolor"), "colour"),
    (re.compile(r"\bgray"), "grey"),
    (re.compile(r"\bcolourf?ull\b"), "colourful"),
    (re.compile(r"\bmulticolor"), "multicolour"),
    (re.compile(r"\ba-line\b"), "aline"),  # one word, or its article would be another's
)
_SPELT_OUT = {"w/": ("with",), "w/o": ("without",), "b/w": ("black", "and", "white"), "+": ("and",)}
# Discs, squares and hearts, in the order of the colours.
_SIGNS = {
    "red": "🔴🟥❤", "orange": "🟠🟧🧡", "yellow": "🟡🟨💛", "green": "🟢🟩💚", "blue": "🔵🟦💙🩵", "purple": "🟣🟪💜",
    "brown": "🟤🟫🤎", "black": "⚫⬛🖤", "white": "⚪⬜🤍", "pink": "🩷💗", "grey": "🩶", "→": "➡⇒➔⮕",
}
_OF_SIGN = {ord(sign): f" {word} " for word, signs in _SIGNS.items() for sign in signs}
_ARROW = re.compile(r"[-=]{1,3}>")
_LESS = re.compile(r"\b([^\W\d_]{3,12})-less\b")


def tokenise(text: str) -> list[str]:
    """Lower-case words of ``text``, British spelling; ``,`` and ``.`` mark breaks. Hyphens separate words ("v-neck" is
    two), apostrophes are dropped ("doesn't" is "doesnt"). Signs of colours are words, and an arrow is "from … to"."""
    text = _ARROW.sub(" → ", text[:_MOST_READ].translate(_OF_SIGN))
    text = unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'").replace("\u2018", "'")
    text = _LESS.sub(r"\1less", text)
    for pattern, spelling in _BRITISH:
        text = pattern.sub(spelling, text)
    tokens: list[str] = []
    clause = 0  # where it begins
    for token in _TOKEN.findall(text):
        if token in _BREAKS:
            token = "."
        elif token.endswith("'s"):
            token = token[:-2]  # "it's", "women's"
        if token == "→":
            tokens.insert(clause, "from")
            token = "to"
        tokens += _SPELT_OUT.get(token, (token.replace("'", ""),))
        if token in (".", ","):
            clause = len(tokens)
    return [token for token in tokens if token]
