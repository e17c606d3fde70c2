"""Deal items whose right answer is known: training before a person's own work, gold mixed in unseen. Pure.

Gold stands at random places of a person's open work, all of them as likely, so that neither its order nor its position
tells it from other items.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from annotation.records import Assignment, GoldItem, OpenAssignments, PlannedAssignment, Reassign, Reassignment

ExtraOf = Callable[[random.Random, Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]
"""How an item is shown to its person, as of :meth:`annotation.studies.kinds.StudyKind.dealt_extra`."""
_T = TypeVar("_T")


def deal(
    gold: Iterable[GoldItem], assignments: Iterable[Assignment], extra_of: ExtraOf, seed: object,
) -> list[PlannedAssignment]:
    """The new order of every seat's open work, with the gold items that the seat does not have. Training comes only to
    seats without an answer. A seat without open work gets nothing."""
    gold, places = list(gold), []
    of_seat: dict[int, list[Assignment]] = {}
    for one in assignments:
        of_seat.setdefault(one.seat, []).append(one)
    for seat, mine in sorted(of_seat.items()):
        rng = random.Random(f"{seed}/gold/{seat}/{len(mine)}")
        opened = sorted((one for one in mine if one.state == "open"), key=lambda one: one.position)
        fresh = _fresh(gold, {one.item_id for one in mine}, rng)
        begun = len(opened) < len(mine)
        before = [] if begun else [one for one in fresh if one.role == "training"]
        mixed = [one for one in fresh if one.role == "gold"]
        if not opened or not (before or mixed):
            continue
        trained = [one for one in opened if one.dealt == "training"]
        rest = [one for one in opened if one.dealt != "training"]
        near = opened[0].extra
        start = 1 + max((one.position for one in mine if one.state != "open"), default=-1)
        ordered = [*trained, *before, *_mixed(rest, mixed, rng)]
        for position, each in enumerate(ordered, start):
            if isinstance(each, GoldItem):
                after = _behind(ordered[position - start:], near)
                places.append(PlannedAssignment(each.item_id, seat, position, extra_of(rng, near, after), each.role))
            else:
                near = each.extra
                places.append(PlannedAssignment(each.item_id, seat, position, each.extra, each.dealt))
    return places


def with_gold(reassign: Reassign, extra_of: ExtraOf) -> Reassign:
    """``reassign`` with the gold items that the seat does not have: training first, where it had no work yet."""
    def policy(work: OpenAssignments) -> Sequence[Reassignment]:
        moves = list(reassign(work))
        if not moves or not work.gold:
            return moves
        rng = random.Random(f"{work.study.plan.seed}/gold/{work.seat}/{len(work.mine)}")
        fresh = _fresh(work.gold, {*work.mine, *(one.item_id for one in moves)}, rng)
        before = [] if work.mine else [one for one in fresh if one.role == "training"]
        mixed = _mixed(moves, [one for one in fresh if one.role == "gold"], rng)
        first = min(one.position for one in moves)
        found, near = [], moves[0].extra
        ordered = [*before, *mixed]
        for position, each in enumerate(ordered, first):
            if isinstance(each, GoldItem):
                after = _behind(ordered[position - first:], near)
                found.append(Reassignment(each.item_id, position, None, extra_of(rng, near, after), each.role))
            else:
                near = each.extra
                found.append(Reassignment(each.item_id, position, each.from_seat, each.extra))
        return found

    return policy


def _fresh(gold: Iterable[GoldItem], there: set[str], rng: random.Random) -> list[GoldItem]:
    found = [one for one in gold if one.item_id not in there]
    rng.shuffle(found)
    return found


def _behind(work: Iterable[Assignment | Reassignment | GoldItem], near: Mapping[str, Any]) -> Mapping[str, Any]:
    """``extra`` of the first item of ``work`` that is not gold; else ``near``."""
    return next((one.extra for one in work if not isinstance(one, GoldItem)), near)


def _mixed(work: Sequence[_T], gold: Sequence[GoldItem], rng: random.Random) -> list[_T | GoldItem]:
    places = set(rng.sample(range(len(work) + len(gold)), len(gold)))
    ordinary, known = iter(work), iter(gold)
    return [next(known) if place in places else next(ordinary) for place in range(len(work) + len(gold))]
