"""Disputed items, as linked from the cells of an agreement matrix."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Options, Selection, StudyAnswers
from annotation.analysis.selection import name_of, select
from annotation.kinds.validity.answers import primary, signature
from annotation.kinds.validity.report.records import Disputed
from annotation.kinds.validity.report.verdicts import SIGNATURE, Verdicts, verdicts
from annotation.kinds.validity.rubric import UNLABELLED
from annotation.records import Decision, Item, Judgement, category_of, dataset_of, name_key
from cir_core.errors import StudyError
from cir_core.support.texts import shortened


def disputed(
    answers: StudyAnswers, selection: Selection = Selection(), options: Options = Options(), *,
    a: int | None = None, b: int | None = None, key: str = SIGNATURE,
) -> list[Disputed]:
    """Items on which the people of ``selection`` disagree, most disputed first, then by number.

    Most disputed are items with the smallest majority share of verdicts.

    Args:
        a, b: seat numbers of two people; only items on which these disagree, with everybody's answers. Without
            them, all items with any disagreement.
        key: compared label: "binary" (valid or not), a flag's code, or "signature" (the whole set of flags).

    Answers without a verdict ("UNLABELLED") are listed, but are not disagreements.
    Raises ``StudyError`` for a preference study, and for a key, a seat or a selection that the study does not have.
    """
    selected = select(answers, selection)
    found = verdicts(selected, hide_names=options.hide_names)
    if key not in found.keys:
        raise StudyError(f"“{shortened(key)}” is not a question of this study. Choose one of "
                         f"{', '.join(found.keys)}.")
    ratings = found.ratings(key)
    codes = ratings.codes
    if a is None and b is None:
        people = codes
    else:
        people = codes[:, [place for place in _columns(answers, found, a, b) if place is not None]]
    differ = np.flatnonzero(_differ(people))
    share = _majority_share(codes[differ], len(ratings.categories))
    order = differ[np.argsort(share, kind="stable")]   # items are sorted by number
    items = [found.items[place] for place in order.tolist()]
    signatures, decided = _signatures_by_item(selected, items, found, options), _decided(selected, found)
    return [_of(selected, item, signatures[item.item_id], decided.get(item.item_id)) for item in items]


def _columns(answers: StudyAnswers, found: Verdicts, a: int | None, b: int | None) -> list[int | None]:
    """Column indices of two seats; None for a person without a verdict in this selection."""
    if a is None or b is None or a == b:
        raise StudyError("Disagreement needs two different people. Give two seats, or none for everyone.")
    taken = [seat.number for seat in answers.seats if seat.annotator is not None]
    for seat in (a, b):
        if seat not in taken:
            raise StudyError(f"Nobody has seat {seat} in {answers.study.name}. Choose two people of its report.")
    places = {rater.seat: place for place, rater in enumerate(found.raters)}
    return [places.get(a), places.get(b)]


def _differ(codes: NDArray[np.int16]) -> NDArray[np.bool_]:
    highest = codes.max(axis=1, initial=-1)
    return np.asarray(((codes >= 0) & (codes != highest[:, None])).any(axis=1))


def _majority_share(codes: NDArray[np.int16], categories: int) -> NDArray[np.float64]:
    """``[items]``: share of the most frequent answer."""
    most = np.zeros(len(codes), dtype=np.int64)
    for code in range(categories):
        np.maximum(most, np.count_nonzero(codes == code, axis=1), out=most)
    return np.asarray(most / np.maximum(np.count_nonzero(codes >= 0, axis=1), 1))


def _signatures_by_item(
    selected: StudyAnswers, items: list[Item], found: Verdicts, options: Options,
) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Names and signatures by item, by seat."""
    seats = {name_key(seat.annotator): seat for seat in selected.seats if seat.annotator is not None}
    of_item: dict[str, list[Judgement]] = {item.item_id: [] for item in items}
    for judgement in selected.judgements:
        if judgement.item_id in of_item:
            of_item[judgement.item_id].append(judgement)
    signatures = {}
    for item_id, judgements in of_item.items():
        by_seat = sorted(((seats[name_key(one.annotator)], one) for one in judgements), key=lambda one: one[0].number)
        signatures[item_id] = tuple(
            (name_of(seat, hide=options.hide_names), "+".join(signature(one.answer, found.rubric) or (UNLABELLED,)))
            for seat, one in by_seat)
    return signatures


def _decided(selected: StudyAnswers, found: Verdicts) -> Mapping[str, str]:
    """Primary categories of the latest decisions with a verdict."""
    latest: dict[str, Decision] = {}
    for decision in sorted(selected.decisions, key=lambda one: one.revision):
        latest[decision.item_id] = decision
    of_item = {item_id: primary(one.answer, found.rubric) for item_id, one in latest.items()}
    return {item_id: category for item_id, category in of_item.items() if category != UNLABELLED}


def _of(selected: StudyAnswers, item: Item, answers: tuple[tuple[str, str], ...], decided: str | None) -> Disputed:
    shown = item.shown
    return Disputed(
        item.item_id, item.key, dataset_of(item), category_of(item), str(shown.get("text", "")),
        str(shown.get("reference", "")), str(shown.get("target", "")), answers, decided)
