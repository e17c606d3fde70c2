"""Who gets which question of a preference study, in which order and with which set first.

Pure, and drawn from the study's seed. Seats are laid out when the study is made, as those of
:mod:`annotation.studies.assignment`; here a seat has a fixed number of questions, in forms, and a few
questions go to several people.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, comb
from typing import Any

from annotation.preference.survey.side_order import Showing, draw_sides
from annotation.preference.survey.texts import SETTINGS
from annotation.records import Item, OpenAssignments, PlannedAssignment, Reassignment
from annotation.studies.assignment import idle_first, open_by_seat
from cir_core.errors import StudyError


@dataclass(frozen=True)
class SurveyLayout:
    """How questions are dealt out. Zero for ``shared_every``: none is shared; for ``reason_every``: no reasons."""

    per_person: int = 50     # questions, at most
    forms: int = 2           # of one person, filled in one after another
    shared_every: int = 10   # one question in so many goes to several people
    shared_by: int = 3       # so many
    reason_every: int = 10   # a person is asked for a reason once in so many questions
    seed: int = 0

    def settings(self, questions: int) -> dict[str, Any]:
        """What ``Study.settings`` holds of it, in a study of so many ``questions``."""
        return {"per_person": self.per_person, "form_size": plan_survey(questions, self).form_size,
                "shared_every": self.shared_every, "shared_by": self.shared_by, "reason_every": self.reason_every}


@dataclass(frozen=True)
class SurveyForecast:
    """What a study will cost its people. ``seconds_per_question`` is assumed."""

    questions: int
    shared: int              # questions that go to ``shared_by`` people each, all others to one
    shared_by: int
    answers: int
    people: int
    per_person: int          # of whoever gets most; others have one less at most
    form_size: int           # of whoever gets most: their questions, divided evenly between the forms
    pairs: int               # of answers of two people to one question
    seconds_per_question: float
    hours_per_person: float
    hours_total: float


def plan_survey(questions: int, layout: SurveyLayout, *, seconds_per_question: float = 40.0) -> SurveyForecast:
    """So many people that nobody gets more than ``layout.per_person`` questions, and enough for shared ones.

    Raises ``StudyError`` for numbers that make no plan.
    """
    _check(questions, layout, seconds_per_question)
    shared = ceil(questions / layout.shared_every) if layout.shared_every else 0
    answers = questions + shared * (layout.shared_by - 1)
    people = max(ceil(answers / layout.per_person), layout.shared_by if shared else 1)
    most = ceil(answers / people)
    return SurveyForecast(
        questions, shared, layout.shared_by if shared else 1, answers, people, most,
        ceil(most / layout.forms), shared * comb(layout.shared_by, 2), seconds_per_question,
        most * seconds_per_question / 3600, answers * seconds_per_question / 3600,
    )


def survey_places(items: Sequence[Item], layout: SurveyLayout) -> list[PlannedAssignment]:
    """Every question to its people, shared ones to ``shared_by``, the others to one.

    Guaranteed: seats differ by one question at most, and so they do in how often a pair of methods
    meets before them; nobody gets a question twice; which method stands first is balanced as
    :func:`annotation.preference.survey.side_order.draw_sides` says. Where pairs of methods have the same number of
    questions, or one apart, the numbers of their showings are ``max(1, shared_by - 1)`` apart at most.

    ``PlannedAssignment.extra`` is ``{"first": 1 or 2, "form": from 1, "reason": bool}``. ``items`` need ``stratum``
    (the pair of methods) and the methods of their stored sets, ``hidden["methods"]``.
    """
    plan = plan_survey(len(items), layout)
    ordered = sorted(items, key=lambda item: item.number)
    strata: dict[str, list[str]] = defaultdict(list)
    for item in ordered:
        strata[item.stratum].append(item.item_id)
    shared = _shared(strata, plan, layout)
    dealt = _deal(strata, shared, plan, layout.seed)
    stratum_of = {item.item_id: item.stratum for item in ordered}
    showings = [Showing(seat, stratum_of[item_id], item_id) for seat in sorted(dealt)
                for item_id in _in_order(dealt[seat], stratum_of, random.Random(f"{layout.seed}/order/{seat}"))]
    methods = {item.item_id: item.hidden["methods"] for item in ordered}
    places, reached, settings = [], Counter[int](), layout.settings(len(items))
    for showing, in_turn in zip(showings, draw_sides(showings, layout.seed), strict=True):
        one, other = methods[showing.item_id]
        position = reached[showing.seat]
        reached[showing.seat] += 1
        places.append(PlannedAssignment(showing.item_id, showing.seat, position, {
            "first": 1 if in_turn == (one <= other) else 2, **_of_position(position, settings)}))
    return places


def reassign(work: OpenAssignments) -> list[Reassignment]:
    """What a seat without work takes over: questions that were abandoned, ``per_person`` at most. They need
    not be whole forms, and of one person's work the last may stay for whoever comes next.

    From people away for longer than the plan's lease, the longest first, then from seats that nobody
    has taken; never from somebody at work, whose survey would become shorter. The same set stands
    first as it did for the one who left, so sides stay balanced over the study, each pair of methods and
    each shared question. For the person who takes over they need not be: they have parts of several plans.
    """
    settings = work.study.settings
    left = open_by_seat(work)
    taken: dict[str, Reassignment] = {}
    for seat in idle_first(work, left):
        for assignment in left[seat]:
            if assignment.item_id in work.mine or assignment.item_id in taken:
                continue
            if len(taken) == int(settings.get("per_person") or len(work.open)):
                return list(taken.values())
            position = len(work.mine) + len(taken)
            taken[assignment.item_id] = Reassignment(
                assignment.item_id, position, seat, {**assignment.extra, **_of_position(position, settings)})
    return list(taken.values())


def _of_position(position: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    form_size, every = (int(settings.get(name, SETTINGS[name])) for name in ("form_size", "reason_every"))
    return {"form": position // form_size + 1 if form_size else 1,
            "reason": every > 0 and (position + 1) % every == 0}


def _check(questions: int, layout: SurveyLayout, seconds: float) -> None:
    if questions < 1:
        raise StudyError("There is no question to ask. Choose more queries, or methods that differ.")
    if layout.per_person < 1 or not 1 <= layout.forms <= layout.per_person:
        raise StudyError(f"{layout.per_person} questions per person cannot be dealt out in {layout.forms} forms. Take "
                         "1 question at least, and no more forms than questions.")
    if layout.shared_every < 0 or layout.reason_every < 0:
        raise StudyError("Once in how many questions one is shared, or a reason asked for, is 1 or more, or 0 for "
                         "never.")
    if layout.shared_every and layout.shared_by < 2:
        raise StudyError(f"A question that {layout.shared_by} people answer shows no agreement. Share questions "
                         "between 2 people or more, or none at all: 0 for one in how many is shared.")
    if not 0 < seconds <= 86_400:
        raise StudyError(f"{seconds:g} seconds per question make no plan. Take what a person needs, such as 40.")


def _shared(strata: Mapping[str, Sequence[str]], plan: SurveyForecast, layout: SurveyLayout) -> frozenset[str]:
    """Equal numbers of every stratum; what does not divide goes to strata with fewer showings. Of a
    rare stratum no more than its share and one."""
    rng = random.Random(f"{layout.seed}/shared")
    most = {name: min(len(ids), ceil(len(ids) / layout.shared_every) + 1) if layout.shared_every else 0
            for name, ids in sorted(strata.items())}
    quota = dict.fromkeys(most, 0)
    for _ in range(plan.shared):
        name = min((name for name in quota if quota[name] < most[name]),
                   key=lambda name: (quota[name], len(strata[name]), rng.random()))
        quota[name] += 1
    return frozenset(item_id for name, size in quota.items() for item_id in rng.sample(strata[name], size))


def _deal(
    strata: Mapping[str, Sequence[str]], shared: Collection[str], plan: SurveyForecast, seed: int
) -> dict[int, list[str]]:
    """Items by seat. A stratum's showings go round all seats, those with fewest questions first, in
    another order for each stratum: so neither loads nor strata are uneven, and people meet others."""
    rng = random.Random(f"{seed}/places")
    dealt: dict[int, list[str]] = {seat: [] for seat in range(1, plan.people + 1)}
    with_others: Counter[int] = Counter()
    names = sorted(strata)
    rng.shuffle(names)
    for name in names:
        ids = list(strata[name])
        rng.shuffle(ids)
        # Shared ones stand together, and a round has room for all people of one.
        round_ = sorted(dealt, key=lambda seat: (len(dealt[seat]), with_others[seat], rng.random()))
        several = [item_id for item_id in ids if item_id in shared for _ in range(plan.shared_by)]
        for place, item_id in enumerate([*several, *(item_id for item_id in ids if item_id not in shared)]):
            seat = round_[place % len(round_)]
            dealt[seat].append(item_id)
            with_others[seat] += item_id in shared
    return dealt


def _in_order(item_ids: Sequence[str], stratum_of: Mapping[str, str], rng: random.Random) -> list[str]:
    """A random order that spreads each stratum: the i-th of n stands somewhere in the i-th of n equal parts."""
    members: dict[str, list[str]] = defaultdict(list)
    for item_id in item_ids:
        members[stratum_of[item_id]].append(item_id)
    placed = []
    for ids in members.values():
        rng.shuffle(ids)
        placed += [((index + rng.random()) / len(ids), item_id) for index, item_id in enumerate(ids)]
    return [item_id for _, item_id in sorted(placed)]
