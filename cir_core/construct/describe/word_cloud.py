"""Word clouds as figures: sizes by frequency, places so that no word covers another."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cir_core.construct.describe.words import Term
from cir_core.reports.records import Figure

_WIDTH, _HEIGHT = 330, 280      # pixels: a narrow screen; on a wider one words move apart
_LARGEST, _SMALLEST = 34, 11    # pixels of letters
_LETTER, _LINE = 0.62, 1.25     # width and height of a letter, in its size
_MOST = 45
_STEPS = 4000                   # of a spiral, before a word is left out

_Box = tuple[float, float, float, float]


def word_cloud(key: str, title: str, terms: Sequence[Term]) -> Figure:
    """The most frequent of ``terms``; those for which there is no room are left out."""
    placed = places([(term.term, size) for term, size in zip(terms[:_MOST], _sizes(terms[:_MOST]), strict=True)])
    counts = {term.term: term for term in terms}
    words = [word for word, *_ in placed]
    hidden = {"visible": False, "fixedrange": True}
    first = ", ".join(words[:10])
    return Figure(key, title, f"Word cloud. The most frequent words are {first}." if words else "No words.", {
        "data": [{
            "type": "scatter", "mode": "text", "x": [x for _, x, _, _ in placed], "y": [y for _, _, y, _ in placed],
            "text": words, "textfont": {"size": [size for *_, size in placed]}, "cliponaxis": False,
            "hovertext": [f"{word}: {counts[word].count:,} times" for word in words],
            "hovertemplate": "%{hovertext}<extra></extra>", "showlegend": False,
        }],
        "layout": {"height": _HEIGHT, "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
                   "xaxis": hidden | {"range": [-_WIDTH / 2, _WIDTH / 2]},
                   "yaxis": hidden | {"range": [-_HEIGHT / 2, _HEIGHT / 2]}},
    })


def places(words: Sequence[tuple[str, float]]) -> list[tuple[str, float, float, float]]:
    """Word, centre and size of each word, in their order: the first place on a spiral from the middle that is free."""
    boxes: list[_Box] = []
    found = []
    for word, size in words:
        half_width, half_height = len(word) * size * _LETTER / 2, size * _LINE / 2
        for step in range(_STEPS):
            angle, radius = 0.35 * step, 0.45 * math.sqrt(step) * 4
            x, y = radius * math.cos(angle), radius * math.sin(angle)
            box = (x - half_width, y - half_height, x + half_width, y + half_height)
            inside = abs(x) + half_width <= _WIDTH / 2 and abs(y) + half_height <= _HEIGHT / 2
            if inside and not any(_overlap(box, other) for other in boxes):
                boxes.append(box)
                found.append((word, round(x, 1), round(y, 1), size))
                break
    return found


def _sizes(terms: Sequence[Term]) -> list[float]:
    """By the square root of the count, as areas are compared."""
    most = max((term.count for term in terms), default=1)
    return [round(max(_SMALLEST, _LARGEST * math.sqrt(term.count / most)), 1) for term in terms]


def _overlap(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
