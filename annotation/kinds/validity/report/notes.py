"""Notes of a validity report: missing and excluded answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Options, Rater, StudyAnswers
from annotation.kinds.validity.report.verdicts import Verdicts

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
