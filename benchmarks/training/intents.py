"""Train the classifiers of :mod:`cir_core.language.intents` on the texts in ``intents/``, and measure them on the texts
of writers that they were not trained on.

A line of a file is a label of ``ACTS``, a tab, and the text. In it, each thing that is named stands in brackets behind
its sign of ``ATTITUDES``: ``[-belt]``. Each file has a writer of its own, who knew nothing of the reader.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from cir_core.language.builtin.reading.attitudes import things
from cir_core.language.builtin.reading.edits import Edit
from cir_core.language.builtin.reading.foreign import is_foreign, translate
from cir_core.language.builtin.reading.parse import read_by_rules
from cir_core.language.builtin.reading.rewording import plain_text
from cir_core.language.intents import ACTS, ATTITUDES, ROWS, THING, WordClassifier, of_acts, of_attitudes, rows_of
from cir_core.sample.atelier.catalogue import catalogue
from cir_core.sample.atelier.relative import relative_captions
from cir_core.sample.request_file import WrittenTurn, read_request_file

FOLDER = Path(__file__).with_name("intents")
REQUESTS = Path(__file__).parents[1] / "requests"
MENDED = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
          "twelfth", "thirteenth", "fourteenth")
_ACTS = {"undo": "undo", "other": "others", "back": "earlier", "start over": "start over"}
_THING = re.compile(r"\[([-+=?@])([^\[\]]*)\]")
_STRENGTH = 15.0   # C of scikit-learn, the inverse of the penalty
_STEPS = 2000
_PAIRS, _SEED = 400, 20261130
_FOREIGN = "languages"   # the file whose texts say nothing of attitudes, which are read in English


@dataclass(frozen=True)
class Example:
    features: tuple[str, ...]
    label: str


@dataclass(frozen=True)
class Line:
    """A text with its label; things in brackets."""

    label: str
    marked: str

    @property
    def text(self) -> str:
        return _THING.sub(r"\2", self.marked)

    @cached_property
    def act(self) -> Example:
        return Example(tuple(of_acts(things(translate(self.text).text)[0])), self.label)

    @cached_property
    def attitudes(self) -> tuple[Example, ...]:
        """Of each thing."""
        return tuple(self._attitudes())

    def _attitudes(self) -> Iterator[Example]:
        found = list(_THING.finditer(self.marked))
        plain = plain_text(self.text)
        edits = read_by_rules(self.text).edits if found else ()
        for one in found:
            named = read_by_rules(one[2]).edits
            words, places = things(plain)
            at = next((places.get((edit.group, edit.value), []) for edit in named), [])
            if len(at) != 1:
                before, after = (things(_THING.sub(r"\2", self.marked[part]))[0] for part in (
                    slice(one.start()), slice(one.end(), None)))
                words, at = [*before, THING, *after], [len(before)]
            yield Example(tuple(of_attitudes(words, at[0], read_as(edits, named))), one[1])


def read_as(edits: Sequence[Edit], named: Sequence[Edit]) -> str:
    """The operation that ``edits`` have for what ``named`` sets; "none" without one."""
    values = {(edit.group, edit.value) for edit in named if edit.operation == "set"}
    return next((edit.operation for edit in reversed(edits) if (edit.group, edit.value) in values), "none")


def lines(path: Path) -> list[Line]:
    """Of one file. Raises ``ValueError`` for a line without a label that is known."""
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        label, _, text = line.partition("\t")
        if label not in ACTS or not text.strip():
            raise ValueError(f"{path.name}, line {number}: a label and a tab are missing")
        found.append(Line(label, text))
    return found


def written(folder: Path = REQUESTS) -> tuple[list[Example], list[Example]]:
    """Acts and attitudes in the written requests and dialogues that the rules were mended with."""
    acts, attitudes = list[Example](), list[Example]()
    for name in MENDED:
        for entry in read_request_file(folder / f"{name}.toml").entries:
            for turn in entry.turns:
                acts.append(Example(tuple(of_acts(things(translate(turn.text).text)[0])), _ACTS.get(turn.act, "wish")))
                if not is_foreign(turn.text) and not translate(turn.text).pieces:
                    attitudes += _wanted(turn)
    captions = list(captioned())
    return [*acts, *(Line("wish", text).act for text, _ in captions)], [
        *attitudes, *(one for text, target in captions for one in _true(text, target))]


def captioned() -> Iterator[tuple[str, Mapping[str, str]]]:
    """Relative captions of pairs of garments that the sample does not have, each with the attributes of the target."""
    garments = [one for one in catalogue() if one.split == "train"][: 2 * _PAIRS]
    rng = random.Random(_SEED)
    for reference, target in zip(garments[::2], garments[1::2], strict=True):
        for text in relative_captions(reference.attributes, target.attributes, rng):
            yield text, target.attributes


def _true(text: str, target: Mapping[str, str]) -> Iterator[Example]:
    """Of each value of ``target`` that the rules read in ``text`` as wanted."""
    words, places = things(text)
    wanted = [(edit.group, edit.value) for edit in read_by_rules(text).edits if edit.operation == "set"]
    for pair, at in places.items():
        if len(at) == 1 and pair in wanted and target[pair[0]] == pair[1]:
            yield Example(tuple(of_attitudes(words, at[0], "set")), "+")


def _wanted(turn: WrittenTurn) -> Iterator[Example]:
    """Of each value that is named once, by what the turn wants."""
    words, places = things(plain_text(turn.text))
    edits = read_by_rules(turn.text).edits
    for (group, value), at in places.items():
        values = turn.wants.get(group, "").split("|") if len(at) == 1 else []
        plain = [one.removeprefix("!") for one in values]
        if value in plain:
            sign = "-" if values[0].startswith("!") else "+"
            yield Example(tuple(of_attitudes(words, at[0], read_as(edits, [Edit("set", group, value)]))), sign)


def examples(texts: Mapping[str, Sequence[Line]]) -> dict[str, list[Example]]:
    """Of files by their name."""
    return {
        "acts": [line.act for some in texts.values() for line in some],
        "attitudes": [one for name, some in texts.items() if name != _FOREIGN for line in some if line.label == "wish"
                      for one in line.attitudes],
    }


_LABELS = {"acts": ACTS, "attitudes": ATTITUDES}


def fitted(some: Sequence[Example], labels: Sequence[str]) -> WordClassifier:
    """Rare acts weigh as much as wishes; how often a thing is refused is kept as it is."""
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    rows = [rows_of(one.features) for one in some]
    ends = np.cumsum([0, *map(len, rows)])
    values = np.concatenate([np.full(len(one), 1 / np.sqrt(max(1, len(one)))) for one in rows])
    table = csr_matrix((values, np.concatenate(rows).astype(int), ends), shape=(len(rows), ROWS))
    present = [label for label in labels if any(one.label == label for one in some)]
    codes = [present.index(one.label) for one in some]
    weight = "balanced" if "undo" in labels else None
    model = LogisticRegression(C=_STRENGTH, max_iter=_STEPS, class_weight=weight).fit(table, codes)
    weights, offsets = model.coef_.T, model.intercept_
    if len(present) == 2:   # scikit-learn keeps the second alone
        weights, offsets = np.hstack([0 * weights, weights]), np.append(0, offsets)
    return WordClassifier(tuple(present), weights.astype(np.float16).astype(np.float32), offsets.astype(np.float32))


def train(folder: Path = FOLDER) -> dict[str, WordClassifier]:
    """On all files of ``folder``."""
    texts = {path.stem: lines(path) for path in sorted(folder.glob("*.txt"))}
    more = dict(zip(_LABELS, written(), strict=True))
    return {name: fitted([*some, *more[name]], _LABELS[name]) for name, some in examples(texts).items()}


@dataclass(frozen=True)
class Share:
    """Of the examples of a label, ``found`` are read as it with a probability of at least ½; of all that are, ``right``
    have it."""

    name: str
    label: str
    count: int
    found: float
    right: float


def by_writer(folder: Path = FOLDER) -> Iterator[Share]:
    """The texts of each writer read by classifiers that were trained without them."""
    texts = {path.stem: lines(path) for path in sorted(folder.glob("*.txt"))}
    for name, more in zip(_LABELS, written(), strict=True):
        pairs = list[tuple[str, str]]()
        for writer in texts:
            held_out = examples({writer: texts[writer]})[name]
            others = examples({one: some for one, some in texts.items() if one != writer})[name]
            if held_out:
                model = fitted([*others, *more], _LABELS[name])
                pairs += [(one.label, _likeliest(model, one)) for one in held_out]
        for label in _LABELS[name]:
            of_label, read = [pair for pair in pairs if pair[0] == label], [pair for pair in pairs if pair[1] == label]
            right = sum(pair[0] == label for pair in read)
            if of_label:
                yield Share(name, label, len(of_label), right / len(of_label), right / len(read) if read else 0.0)


def _likeliest(model: WordClassifier, one: Example) -> str:
    """The label with a probability of at least ½, or none."""
    return next((label for label, p in model.probabilities(one.features).items() if p >= 0.5), "")
