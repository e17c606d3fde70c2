"""Byte-pair vocabulary in the file format of open_clip's ``SimpleTokenizer``.

The tokenizer that ships with open_clip has 49,408 entries, nearly all of them unused
in garment captions; at the width of the bundled text tower its embedding
table alone would outweigh the rest of the model. This module learns a short list
of merges from the captions instead. Format and pre-tokenisation follow
``open_clip/tokenizer.py`` (open_clip 3.3), so the file loads with
``open_clip.get_tokenizer("local-dir:…", bpe_path=…)``.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

# The letters and punctuation of English text. open_clip's pattern uses \p{L}, which
# the standard library lacks; the texts counted here are ASCII, so this is the same.
_WORD = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d|[a-z]+|[0-9]|[^\sa-z0-9]+")
_END = "</w>"

# Clothing vocabulary that the captions do not contain. These words get merges of their
# own so that a shopper's sentence stays short; the model learns only
# that they do not describe the rendered attributes.
GENERAL_WORDS: tuple[str, ...] = (
    "add", "also", "and", "another", "any", "are", "as", "at", "be", "better", "blank",
    "bottom", "bright", "brighter", "but", "by", "can", "casual", "change", "chic", "classic",
    "clothes", "clothing", "color", "colour", "coloured", "colourful", "cotton", "cut", "dark",
    "darker", "design", "different", "drape", "easy", "elegant", "evening", "everyday",
    "fabric", "fashion", "feminine", "find", "fine", "finish", "for", "formal", "from", "front",
    "garment", "gently", "girl", "give", "good", "has", "have", "how", "identical", "image",
    "in", "instead", "into", "is", "it", "item", "its", "jacket", "jumper", "just", "keep",
    "kind", "knit", "knitted", "lace", "layered", "lean", "leather", "less", "light", "lighter",
    "like", "linen", "little", "look", "looks", "loves", "lower", "made", "make", "man",
    "material", "matching", "me", "minimal", "model", "modern", "more", "much", "neat", "needs",
    "new", "next", "nice", "not", "of", "office", "one", "only", "or", "other", "outfit",
    "pale", "party", "photo", "photograph", "piece", "please", "pretty", "product", "put",
    "reference", "relaxed", "remove", "replace", "same", "satin", "search", "see", "shade",
    "shape", "sheer", "shop", "show", "silk", "similar", "simple", "skirt", "smart", "smooth",
    "soft", "spring", "studio", "style", "stylish", "subtle", "suit", "summer", "sweater",
    "swap", "take", "tailored", "tank", "texture", "than", "that", "the", "these", "this", "to",
    "tone", "toward", "trousers", "try", "turn", "upper", "very", "version", "vintage", "want",
    "warm", "wear", "wearing", "which", "white", "winter", "with", "without", "woman", "wool",
    "work", "would", "you",
)


def learn_merges(texts: Iterable[str], n_merges: int) -> list[tuple[str, str]]:
    """The ``n_merges`` most frequent merges of ``texts`` (Sennrich et al., 2016).

    Ties go to the alphabetically first pair, so the result depends on the texts only.
    """
    counts = Counter(word for text in texts for word in _WORD.findall(text.lower()))
    words = {word: (*word[:-1], word[-1] + _END) for word in counts}
    merges: list[tuple[str, str]] = []
    while len(merges) < n_merges:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, symbols in words.items():
            for pair in zip(symbols, symbols[1:], strict=False):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        words = {word: _merge(symbols, best) for word, symbols in words.items()}
    return merges


def _merge(symbols: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    out: list[str] = []
    i = 0
    while i < len(symbols):
        if symbols[i : i + 2] == pair:
            out.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return tuple(out)


def write_vocabulary(path: Path, merges: Iterable[tuple[str, str]]) -> None:
    """Write ``merges`` to ``path``; equal merges give equal bytes (no time stamp)."""
    lines = ["#version: cirque atelier", *(" ".join(pair) for pair in merges)]
    with path.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as out:
        # No newline at the end: SimpleTokenizer would read an empty merge there.
        out.write("\n".join(lines).encode("utf-8"))


def train_vocabulary(captions: Iterable[str], path: Path, *, n_merges: int = 1000) -> int:
    """Learn merges from captions and the general words, save them, return their number."""
    texts = list(captions)
    # Counted often enough to be merged after the captions' own words.
    texts.extend(word for word in GENERAL_WORDS for _ in range(2))
    merges = learn_merges(texts, n_merges)
    write_vocabulary(path, merges)
    return len(merges)
