"""Verdicts of a validity study as code matrices."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.people import raters, seat_numbers
from annotation.analysis.records import Rater, StudyAnswers
from annotation.analysis.selection import wrong_kind
from annotation.analysis.statistics.matrix import Ratings
from annotation.kinds.validity.answers import signature
from annotation.kinds.validity.rubric import Rubric, load_rubric
from annotation.records import Item, Judgement, name_key

BINARY, SIGNATURE = "binary", "signature"
_NO, _YES = "no", "yes"


@dataclass(frozen=True)
class Verdicts:
    """Answers with a verdict; others are only counted, in ``unlabelled``. ``labels``: observed signatures (flags in
    order of severity, joined by "+"), most frequent first."""

    rubric: Rubric = field(repr=False)
    items: tuple[Item, ...]        # with any verdict, by number
    raters: tuple[Rater, ...]      # with any verdict, by seat
    labels: tuple[str, ...]
    counts: tuple[int, ...]        # judgements with each
    unlabelled: int
    codes: NDArray[np.int16] = field(repr=False)   # [items, raters]: indices into ``labels``; -1 without a verdict

    @property
    def keys(self) -> tuple[str, ...]:
        """Comparable labels: "binary", the flags from most to least severe, "signature"."""
        return (BINARY, *self.rubric.severity, SIGNATURE)

    def ratings(self, key: str) -> Ratings:
        """Ratings of one of ``keys``. With two categories, the second is valid, or the flag set."""
        if key == SIGNATURE:
            return Ratings(self.codes, self.labels)
        said = [label == self.rubric.valid.code if key == BINARY else key in label.split("+") for label in self.labels]
        # One extra entry for the code -1, which indexes the last.
        table = np.array([*said, -1], dtype=np.int16)
        return Ratings(table[self.codes], (_NO, _YES))


def verdicts(selected: StudyAnswers, *, hide_names: bool = False) -> Verdicts:
    """Verdicts of a selection. Raises ``StudyError`` for a study of another kind."""
    study = selected.study
    if study.kind != "validity":
        raise wrong_kind(study, "has no validity judgements")
    rubric = load_rubric(study.protocol)
    known: dict[tuple[bool | None, tuple[str, ...]], str] = {}   # cache: few distinct labels, many judgements

    def label(judgement: Judgement) -> str:
        said = (judgement.answer.get("validated"), tuple(judgement.answer.get("flags", ())))
        if said not in known:
            known[said] = "+".join(signature(judgement.answer, rubric) or ())
        return known[said]

    labelled = [(one, said) for one in selected.judgements if (said := label(one))]
    people = raters(selected, (one for one, _ in labelled), hide=hide_names)
    counts = Counter(said for _, said in labelled)
    labels = sorted(counts, key=lambda said: (-counts[said], said))
    judged = {one.item_id for one, _ in labelled}
    items = tuple(sorted((item for item in selected.items if item.item_id in judged), key=lambda item: item.number))
    row = {item.item_id: place for place, item in enumerate(items)}
    column = {rater.seat: place for place, rater in enumerate(people)}
    of_name = {name: column.get(seat) for name, seat in seat_numbers(selected.seats).items()}
    code = {said: place for place, said in enumerate(labels)}
    codes = np.full((len(items), len(people)), -1, dtype=np.int16)
    for one, said in labelled:
        codes[row[one.item_id], of_name[name_key(one.annotator)]] = code[said]
    valid = (codes == code.get(rubric.valid.code, len(labels))).sum(axis=0)
    people = tuple(replace(one, positive=int(number)) for one, number in zip(people, valid, strict=True))
    return Verdicts(rubric, items, people, tuple(labels), tuple(counts[said] for said in labels),
                    len(selected.judgements) - len(labelled), codes)
