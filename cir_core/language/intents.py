"""What a text wants done, and what is thought of a thing it names, by linear classifiers over its words.

Rules read what they have words for; people find others for "undo" and "without". The classifiers are trained on such
texts (``benchmarks/training/intents``, ``python -m benchmarks.training intents``), by logistic regression over hashed
n-grams of words, and of the letters of a word. They ask no model and read nothing but words, so that they decide only
what the readers leave to them (:mod:`cir_core.language.readers.dialogue.intended`,
:mod:`cir_core.language.builtin.reading.attitudes`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np

from cir_core.types.records import Matrix, Vector

RECORD = Path(__file__).with_name("intents.safetensors")
THING, THIS = "<thing>", "<this>"
#: What a text as a whole asks for. "wish": a change of the garment; "talk": nothing.
ACTS = ("wish", "talk", "undo", "start over", "others", "earlier")
#: Of a thing that a text names: wanted, refused, liked as it is, only mentioned, or in an earlier turn.
ATTITUDES = ("+", "-", "=", "?", "@")
ROWS = 2**14   # of the weights: features are hashed to them
_NEAR = 10     # words on either side of a thing
_LETTERS = (3, 4, 5)


@dataclass(frozen=True)
class WordClassifier:
    """The probabilities of ``labels`` are the softmax of the mean row of ``weights`` ``[ROWS, labels]`` over the
    features of a text, times the root of their number, + ``offsets`` ``[labels]``."""

    labels: tuple[str, ...]
    weights: Matrix
    offsets: Vector

    def probabilities(self, features: Iterable[str]) -> dict[str, float]:
        rows = rows_of(features)
        scores = self.weights[rows].astype(np.float64).sum(axis=0) / np.sqrt(max(1, len(rows))) + self.offsets
        shares = np.exp(scores - scores.max())
        return dict(zip(self.labels, (shares / shares.sum()).tolist(), strict=True))


def rows_of(features: Iterable[str]) -> list[int]:
    return sorted({crc32(one.encode()) % ROWS for one in features})


def of_acts(words: Sequence[str]) -> list[str]:
    """Features of a whole text, in which :data:`THING` stands for each thing that is named."""
    return [*_runs(("<", *words, ">")), *_letters(words)]


def of_attitudes(words: Sequence[str], place: int, read_as: str) -> list[str]:
    """Features of the thing at ``place``; words of other sentences than its own count less than those of its own.
    ``read_as``: the operation that the rules made of it, "none" for nothing."""
    start = max((at + 1 for at in range(place) if words[at] == "."), default=0)
    end = next((at for at in range(place, len(words)) if words[at] == "."), len(words))
    before, after = words[max(start, place - _NEAR) : place], words[place + 1 : min(end, place + 1 + _NEAR)]
    others = (*words[max(0, start - _NEAR) : start], *words[end : end + _NEAR])
    return [
        *_runs(("<", *before, THIS, *after, ">")), f"read {read_as}",
        *(f"b {word}" for word in before), *(f"a {word}" for word in after),
        *(f"b{at} {word}" for at, word in enumerate(reversed(before[-3:]))),
        *(f"a{at} {word}" for at, word in enumerate(after[:3])), *(f"o {word}" for word in others),
    ]


def _runs(words: Sequence[str]) -> Iterator[str]:
    """One, two and three words in a row, and two with one between them."""
    for length in (1, 2, 3):
        for start in range(len(words) - length + 1):
            yield " ".join(words[start : start + length])
    for first, last in zip(words, words[2:], strict=False):
        yield f"{first} _ {last}"


def _letters(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        if word != THING:
            whole = f"^{word}$"
            for length in _LETTERS:
                for start in range(len(whole) - length + 1):
                    yield f":{whole[start : start + length]}"


def save(classifiers: Mapping[str, WordClassifier], path: Path) -> None:
    from safetensors.numpy import save_file

    kinds = {"weights": np.float16, "offsets": np.float32}
    tensors = {f"{name}.{part}": np.ascontiguousarray(getattr(one, part), dtype=kind)
               for name, one in classifiers.items() for part, kind in kinds.items()}
    save_file(tensors, path, {name: json.dumps(one.labels) for name, one in classifiers.items()})


@cache
def classifier(name: str) -> WordClassifier:
    """``"acts"``, over :data:`ACTS`, or ``"attitudes"``, over :data:`ATTITUDES`."""
    from safetensors import safe_open

    with safe_open(RECORD, framework="numpy") as file:
        labels = json.loads(file.metadata()[name])
        return WordClassifier(tuple(labels), file.get_tensor(f"{name}.weights"), file.get_tensor(f"{name}.offsets"))
