"""Assignment of questions to seats in a preference study: order, forms, and which set is shown first. Left/right
counterbalancing of the two sets, per person, by construction and seeded.

Pure, and randomised by the study's seed. As in :mod:`annotation.studies.assignment`, seats are planned when the
study is created; here a seat has a fixed number of questions, in forms, and a few questions go to several
people.

Position bias cannot be distinguished from a preference for a method that was shown first more often.
Randomisation alone would leave such an imbalance; here it is one showing at most.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, comb
from typing import Any

from annotation.kinds.preference.survey.texts import SETTINGS
from annotation.records import Item, OpenAssignments, PlannedAssignment, Reassignment
from annotation.studies.assignment import idle_first, open_by_seat
from cir_core.errors import StudyError


@dataclass(frozen=True)
class Showing:
    """One question shown to one person. ``pair`` identifies the two methods."""

    seat: int
    pair: str
    item_id: str


def draw_sides(showings: Sequence[Showing], seed: int) -> tuple[bool, ...]:
    """For each showing, whether the first-named method of its pair is shown first.

    This is the case for half of the showings (up to one) of each person, of each pair of methods, of each pair
    per person, of each shared question, and overall.

    Algorithm: showings are matched in pairs within people, and again within pairs of methods, both from the
    smallest group upwards, so that a group leaves at most one unmatched. The union of both matchings consists
    of paths and even cycles, along which sides alternate.
    """
    rng = random.Random(f"{seed}/sides")
    of_people = _partners([(one.seat, one.pair) for one in showings], rng)
    of_pairs = _partners([(one.pair, one.item_id) for one in showings], rng)
    sides: dict[int, bool] = {}
    for start in range(len(showings)):
        if start in sides:
            continue
        sides[start] = rng.random() < 0.5
        waiting = [start]
        while waiting:
            here = waiting.pop()
            for partners in (of_people, of_pairs):
                there = partners.get(here)
                if there is not None and there not in sides:
                    sides[there] = not sides[here]
                    waiting.append(there)
    return tuple(sides[index] for index in range(len(showings)))


def _partners(groups: Sequence[tuple[Hashable, ...]], rng: random.Random) -> Mapping[int, int]:
    """A partner for each index but at most one: from its smallest group if possible, else from the enclosing one.
    ``groups``: per index its nested groups from largest to smallest, all of the same length."""
    partners: dict[int, int] = {}
    alone = list(range(len(groups)))
    for depth in range(len(groups[0]) if groups else 0, -1, -1):
        members: dict[tuple[Hashable, ...], list[int]] = defaultdict(list)
        for index in alone:
            members[groups[index][:depth]].append(index)
        alone = []
        for indices in members.values():   # in the order of the showings
            rng.shuffle(indices)
            for one, other in zip(indices[::2], indices[1::2], strict=False):
                partners[one], partners[other] = other, one
            alone += indices[-1:] if len(indices) % 2 else []
    return partners


@dataclass(frozen=True)
class SurveyLayout:
    """Layout parameters. ``shared_every`` 0: no shared questions; ``reason_every`` 0: no reasons."""

    per_person: int = 50     # maximum of questions
    forms: int = 2           # per person, filled in one after another
    shared_every: int = 10   # one in this many questions is shared
    shared_by: int = 3       # people per shared question
    reason_every: int = 10   # a reason is asked for in one of this many questions
    seed: int = 0

    def settings(self, questions: int) -> dict[str, Any]:
        """Entries of ``Study.settings`` for a study of ``questions`` questions."""
        return {"per_person": self.per_person, "form_size": plan_survey(questions, self).form_size,
                "shared_every": self.shared_every, "shared_by": self.shared_by, "reason_every": self.reason_every}


@dataclass(frozen=True)
class SurveyForecast:
    """Forecast of a study's cost. ``seconds_per_question`` is an assumption."""

    questions: int
    shared: int              # questions that go to ``shared_by`` people each, all others to one
    shared_by: int
    answers: int
    people: int
    per_person: int          # maximum; others have at most one less
    form_size: int           # maximum: questions, divided evenly between the forms
    pairs: int               # pairs of answers to one question
    seconds_per_question: float
    hours_per_person: float
    hours_total: float


def plan_survey(questions: int, layout: SurveyLayout, *, seconds_per_question: float = 40.0) -> SurveyForecast:
    """Plan the number of people, with ``layout.per_person`` questions at most, and enough people for shared ones.
    Raises ``StudyError`` for an impossible plan."""
    _check(questions, layout, seconds_per_question)
    shared = ceil(questions / layout.shared_every) if layout.shared_every else 0
    answers = questions + shared * (layout.shared_by - 1)
    people = max(ceil(answers / layout.per_person), layout.shared_by if shared else 1)
    most = ceil(answers / people)
    return SurveyForecast(
        questions, shared, layout.shared_by if shared else 1, answers, people, most,
        ceil(most / layout.forms), shared * comb(layout.shared_by, 2), seconds_per_question,
        most * seconds_per_question / 3600, answers * seconds_per_question / 3600)


def survey_places(items: Sequence[Item], layout: SurveyLayout) -> list[PlannedAssignment]:
    """Assign each shared question to ``shared_by`` seats, and each other one to one seat.

    Guarantees: seats differ by at most one question, in total and per pair of methods; nobody gets a question
    twice; the method shown first is balanced as in :func:`annotation.kinds.preference.survey.side_order.draw_sides`. If
    numbers of questions per pair of methods differ by at most one, their numbers of showings differ by at most
    ``max(1, shared_by - 1)``.

    ``PlannedAssignment.extra`` is ``{"first": 1 or 2, "form": from 1, "reason": bool}``. ``items`` need ``stratum``
    (the pair of methods) and the methods of their stored sets, ``hidden["methods"]``.
    """
    plan = plan_survey(len(items), layout)
    ordered = sorted(items, key=lambda item: item.number)
    strata: dict[str, list[str]] = defaultdict(list)
    for item in ordered:
        strata[item.stratum].append(item.item_id)
    shared = _shared(strata, plan, layout)
    assigned = _assign(strata, shared, plan, layout.seed)
    stratum_of = {item.item_id: item.stratum for item in ordered}
    showings = [Showing(seat, stratum_of[item_id], item_id) for seat in sorted(assigned)
                for item_id in _in_order(assigned[seat], stratum_of, random.Random(f"{layout.seed}/order/{seat}"))]
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
    """Reassign abandoned questions to a seat without work, ``per_person`` at most, not necessarily whole forms.

    They are taken from people inactive for longer than the plan's lease, longest first, then from free seats;
    never from active people, whose survey would become shorter. The order of the sets is kept, so that sides
    stay balanced over the study, each pair of methods and each shared question, though not necessarily for the
    new person.
    """
    settings = work.study.settings
    left = open_by_seat(work)
    reassigned: dict[str, Reassignment] = {}
    for seat in idle_first(work, left):
        for assignment in left[seat]:
            if assignment.item_id in work.mine or assignment.item_id in reassigned:
                continue
            if len(reassigned) == int(settings.get("per_person") or len(work.open)):
                return list(reassigned.values())
            position = len(work.mine) + len(reassigned)
            reassigned[assignment.item_id] = Reassignment(
                assignment.item_id, position, seat, {**assignment.extra, **_of_position(position, settings)})
    return list(reassigned.values())


def _of_position(position: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    form_size, every = (int(settings.get(name, SETTINGS[name])) for name in ("form_size", "reason_every"))
    return {"form": position // form_size + 1 if form_size else 1, "reason": every > 0 and (position + 1) % every == 0}


def _check(questions: int, layout: SurveyLayout, seconds: float) -> None:
    if questions < 1:
        raise StudyError("There is no question to ask. Choose more queries, or methods that differ.")
    if layout.per_person < 1 or not 1 <= layout.forms <= layout.per_person:
        raise StudyError(f"{layout.per_person} questions per person cannot be divided into {layout.forms} forms. "
                         "Choose at least 1 question, and no more forms than questions.")
    if layout.shared_every < 0 or layout.reason_every < 0:
        raise StudyError("The intervals of shared questions and of reasons must be 1 or more, or 0 for never.")
    if layout.shared_every and layout.shared_by < 2:
        raise StudyError(f"A question for {layout.shared_by} people cannot measure agreement. Share questions "
                         "between 2 people or more, or none at all (interval 0).")
    if not 0 < seconds <= 86_400:
        raise StudyError(f"{seconds:g} seconds per question are impossible. Enter what a person needs, such as 40.")


def _shared(strata: Mapping[str, Sequence[str]], plan: SurveyForecast, layout: SurveyLayout) -> frozenset[str]:
    """Shared questions: equal numbers per stratum; remainders go to strata with fewer showings, and rare strata get at
    most one above their share."""
    rng = random.Random(f"{layout.seed}/shared")
    most = {name: min(len(ids), ceil(len(ids) / layout.shared_every) + 1) if layout.shared_every else 0
            for name, ids in sorted(strata.items())}
    quota = dict.fromkeys(most, 0)
    for _ in range(plan.shared):
        name = min((name for name in quota if quota[name] < most[name]),
                   key=lambda name: (quota[name], len(strata[name]), rng.random()))
        quota[name] += 1
    return frozenset(item_id for name, size in quota.items() for item_id in rng.sample(strata[name], size))


def _assign(
    strata: Mapping[str, Sequence[str]], shared: Collection[str], plan: SurveyForecast, seed: int
) -> dict[int, list[str]]:
    """Items by seat. A stratum's showings are assigned round-robin, least loaded seats first, in a new order per
    stratum: this balances loads and strata, and varies which people share questions."""
    rng = random.Random(f"{seed}/places")
    assigned: dict[int, list[str]] = {seat: [] for seat in range(1, plan.people + 1)}
    with_others: Counter[int] = Counter()
    names = sorted(strata)
    rng.shuffle(names)
    for name in names:
        ids = list(strata[name])
        rng.shuffle(ids)
        # Showings of a shared question are consecutive, and fit into one round.
        round_ = sorted(assigned, key=lambda seat: (len(assigned[seat]), with_others[seat], rng.random()))
        several = [item_id for item_id in ids if item_id in shared for _ in range(plan.shared_by)]
        for place, item_id in enumerate([*several, *(item_id for item_id in ids if item_id not in shared)]):
            seat = round_[place % len(round_)]
            assigned[seat].append(item_id)
            with_others[seat] += item_id in shared
    return assigned


def _in_order(item_ids: Sequence[str], stratum_of: Mapping[str, str], rng: random.Random) -> list[str]:
    """A random order that spreads each stratum: the i-th of n is somewhere in the i-th of n equal parts."""
    members: dict[str, list[str]] = defaultdict(list)
    for item_id in item_ids:
        members[stratum_of[item_id]].append(item_id)
    placed = []
    for ids in members.values():
        rng.shuffle(ids)
        placed += [((index + rng.random()) / len(ids), item_id) for index, item_id in enumerate(ids)]
    return [item_id for _, item_id in sorted(placed)]
