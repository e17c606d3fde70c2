"""Verdicts of a validity study as code matrices. Notes of a validity report: missing and excluded answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Options, Rater, StudyAnswers
from annotation.analysis.selection import raters, seat_numbers, wrong_kind
from annotation.analysis.statistics.matrix import Ratings
from annotation.kinds.validity.answers import signature
from annotation.kinds.validity.rubric import Rubric, rubric_of
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
    judgements: tuple[tuple[Judgement, int, int], ...] = field(repr=False)    # each with its row and column

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
    rubric = rubric_of(study)
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
                    len(selected.judgements) - len(labelled), codes,
                    tuple((one, row[one.item_id], of_name[name_key(one.annotator)] or 0) for one, _ in labelled))


FEW = 10       # shared items below which kappa is unreliable, and a pair's cell in a heatmap shows their number
_NAMED = 8     # maximum of people in a note


def validity_notes(
    selected: StudyAnswers, found: Verdicts, shared: NDArray[np.int64], options: Options, listed: int,
) -> list[str]:
    """``shared``: ``[people, people]``, number of items that both judged. ``listed``: number of pairs in the report."""
    if not selected.items:
        return ["These filters leave no item. Remove one of them."]
    notes = [_unlabelled(found)] if found.unlabelled else []
    if not found.items:
        return [*notes, f"No verdict yet on any of the {_of(len(selected.items), 'item')}."]
    notes += _items(selected, found)
    notes += _people(found.raters, shared, listed)
    if options.undefined == "one" and len(found.raters) > 1:
        notes.append("If all raters used a single category, agreement beyond chance is undefined; as requested, it "
                     "counts as 1.")
    return notes


def _unlabelled(found: Verdicts) -> str:
    return (f"{_of(found.unlabelled, 'answer')} without a verdict (unsure, or never labelled) "
            f"{'enters' if found.unlabelled == 1 else 'enter'} no number.")


def _items(selected: StudyAnswers, found: Verdicts) -> list[str]:
    notes = []
    if missing := len(selected.items) - len(found.items):
        notes.append(f"{missing:,} of {_of(len(selected.items), 'item')} {_have(missing)} no verdict yet.")
    if alone := int((np.count_nonzero(found.codes >= 0, axis=1) == 1).sum()):
        notes.append(f"{_of(alone, 'item')} {_have(alone)} only one verdict: shares of answers count "
                     f"{'it' if alone == 1 else 'them'}, agreement does not.")
    return notes


def _people(raters: Sequence[Rater], shared: NDArray[np.int64], listed: int) -> list[str]:
    if len(raters) == 1:
        return ["Only one person has given verdicts. Agreement needs two."]
    own = np.diagonal(shared)
    others = shared - np.diag(own)
    pairs = len(raters) * (len(raters) - 1) // 2
    upper = shared[np.triu_indices(len(raters), 1)]
    notes = []
    if apart := int((upper == 0).sum()):
        text = ("No two people have judged the same item, so there is no agreement to measure." if apart == pairs
                else f"{apart:,} of {pairs:,} pairs of people {_have(apart)} no item in common.")
        notes.append(text if listed == pairs else f"{text} The report does not list them.")
    most = others.max(axis=1, initial=0).tolist()
    if few := [f"{rater.name} ({count})" for rater, count in zip(raters, most, strict=True) if 0 < count < FEW]:
        more = f" and {len(few) - _NAMED:,} more" if len(few) > _NAMED else ""
        notes.append(f"People who share fewer than {FEW} items with everyone else (most shared items): "
                     f"{', '.join(few[:_NAMED])}{more}. Their kappas are unreliable.")
    return notes


def _of(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
