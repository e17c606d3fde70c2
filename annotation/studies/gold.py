"""Make gold of adjudicated items, or of the answers of somebody who knows, in one step; and training of some."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from annotation.quality.care import Care
from annotation.quality.dealing import ExtraOf, deal
from annotation.records import Assignment, GoldItem, PlannedAssignment, Study, same_person
from annotation.studies.store import StudyStore
from cir_core.errors import StudyError
from cir_core.support.texts import counted, quoted


@dataclass(frozen=True)
class MadeGold:
    """``dealt``: to how many people or free seats any of it was given."""

    gold: int
    training: int
    dealt: int


def make_gold(
    store: StudyStore, study: Study, extra_of: ExtraOf, *, training: int = 0, most: int | None = None,
    person: str | None = None, care: Care | None = None, by: str,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> MadeGold:
    """Make gold of the study's adjudicated items that are none yet, drawn at random, and deal them into open work. An
    adjudicator's decision counts more than the answers of ``person``.

    Args:
        training: how many of them are for training, with the reason of the decision as what is said of an answer.
        most: how many at most; None: all.
        person: whose answers are right, too, where they were sure.
        care: the study's further settings of training and gold.

    Raises ``StudyError`` for a ``person`` without answers, where nothing is adjudicated, and for a number of training
    items that there are not.
    """
    right = {} if person is None else {
        one.item_id: (one.answer, str(one.answer.get("note") or one.answer.get("reason") or ""))
        for one in store.judgements(study.study_id)
        if same_person(one.annotator, person) and not one.answer.get("unsure")}
    if person is not None and not right:
        raise StudyError(f"{quoted(person)} has given no definite answer in {study.name}. Check the name in the list "
                         "of its people.")
    right |= {one.item_id: (one.answer, one.reason) for one in store.decisions(study.study_id)}
    if training < 0 or (most is not None and most < 1):
        raise StudyError("The number of training items is 0 or more, and that of all gold items 1 or more.")
    at, seats = clock(), set[int]()

    def policy(
        there: Sequence[GoldItem], assignments: Sequence[Assignment],
    ) -> tuple[Sequence[GoldItem], Sequence[PlannedAssignment]]:
        known = {one.item_id for one in there}
        fresh = [item_id for item_id in right if item_id not in known]
        random.Random(f"{study.plan.seed}/gold/{len(known)}").shuffle(fresh)
        fresh = fresh[:most]
        if not fresh:
            raise StudyError(f"{study.name} has no adjudicated item that is not gold already. Decide some on the page "
                             "Adjudicate, or name somebody whose answers are right.")
        if training > len(fresh):
            raise StudyError(f"{counted(len(fresh), 'item with a known answer is', 'items with a known answer are')} "
                             f"not gold yet; {training} were asked for training.")
        made = [GoldItem(study.study_id, item_id, "training" if number < training else "gold", *right[item_id], by, at)
                for number, item_id in enumerate(fresh)]
        places = deal([*there, *made], assignments, extra_of, study.plan.seed)
        seats.update(one.seat for one in places)
        return made, places

    made = store.make_gold(study.study_id, policy, by=by)
    if care is not None or not study.settings.get("care"):
        store.change_settings(study.study_id, {"care": (care or Care()).as_settings()}, by=by)
    trained = sum(one.role == "training" for one in made)
    return MadeGold(len(made) - trained, trained, len(seats))


