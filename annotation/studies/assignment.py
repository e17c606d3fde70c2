"""Who judges what: a study's plan laid out in seats, and what a late seat takes over.

Both are pure and draw only from the study's seed, so the same study gives the same plan again.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import TypeVar

from annotation.records import Assignment, Item, OpenAssignments, PlannedAssignment, Reassignment, Seat, StudyPlan
from cir_core.errors import StudyError
from cir_core.support.texts import quoted

_KEPT_AHEAD = 3  # of somebody at work: these may be on the screen or loaded already
_T = TypeVar("_T")


def plan_places(items: Sequence[Item], plan: StudyPlan) -> list[PlannedAssignment]:
    """Every item outside the agreement block to ``plan.overlap`` seats, the block to every seat.

    Loads of any two seats differ by one item at most. Strata, and the items that two seats share,
    are spread as evenly as a greedy choice can. Each seat has an order of its own, with the block
    evenly through it. Raises ``StudyError`` for a plan that cannot be laid out.
    """
    _check(items, plan)
    ordered = sorted(items, key=lambda item: item.number)
    block = [item.item_id for item in ordered if item.in_block]
    own = _deal([item for item in ordered if not item.in_block], plan)
    places = []
    for seat in range(1, plan.seats + 1):
        rng = random.Random(f"{plan.seed}/order/{seat}")
        order = _spread(_shuffled(own[seat], rng), _shuffled(block, rng))
        places += [PlannedAssignment(item_id, seat, position) for position, item_id in enumerate(order)]
    return places


def hand_over(work: OpenAssignments) -> list[Reassignment]:
    """What a seat that has nothing left to do takes over: its fair share of all open work, the
    whole agreement block as far as it lacks it.

    The share comes from people away for longer than the plan's lease first, then from seats that
    nobody has taken, then from whoever has most left, from the end of their order and never the
    next three. Positions go on from the number of items the seat has or had.
    """
    rng = random.Random(f"{work.study.plan.seed}/hand over/{work.seat}/{len(work.mine)}")
    left = open_by_seat(work)
    idle = idle_first(work, left)
    givers = {number: left[number][_KEPT_AHEAD:] for number in sorted(left) if number not in idle}
    # A seat nobody has taken waits for somebody who will want a share too; one whose person went away does not.
    waiting = sum(1 for seat in work.seats if seat.number in left and not _away(seat, work))
    share = ceil(sum(map(len, left.values())) / (waiting + 1))

    from_seat: dict[str, int] = {}
    for number in idle:
        for assignment in left[number]:
            if len(from_seat) < share and assignment.item_id not in work.mine:
                from_seat.setdefault(assignment.item_id, number)
    still = {number: len(left[number]) for number in givers}
    while len(from_seat) < share and any(givers.values()):
        number = max((n for n in givers if givers[n]), key=lambda n: (still[n], -n))
        item_id = givers[number].pop().item_id
        if item_id not in work.mine and item_id not in from_seat:
            from_seat[item_id] = number
            still[number] -= 1

    block = [item_id for item_id in work.block if item_id not in work.mine]
    order = _spread(_shuffled(list(from_seat), rng), _shuffled(block, rng))
    return [Reassignment(item_id, position, from_seat.get(item_id)) for position, item_id in enumerate(order,
                                                                                                       len(work.mine))]


def _check(items: Sequence[Item], plan: StudyPlan) -> None:
    if not items:
        raise StudyError("There is no item to judge. Choose other categories, or a larger sample.")
    if plan.seats < 1 or plan.overlap < 1:
        raise StudyError(f"A plan needs one person and one judgement per item at least, not {plan.seats} people and "
                         f"an overlap of {plan.overlap}.")
    if plan.overlap > plan.seats:
        raise StudyError(f"An overlap of {plan.overlap} needs {plan.overlap} people, and the plan has {plan.seats}. "
                         "Plan for more people, or a smaller overlap.")
    for what, values in (("id", [item.item_id for item in items]), ("number", [item.number for item in items])):
        value, times = Counter(values).most_common(1)[0]
        if times > 1:
            raise StudyError(f"{times} items have the {what} {quoted(value)}. Every item needs its own.")


def _deal(items: Sequence[Item], plan: StudyPlan) -> dict[int, list[str]]:
    """Items by seat. Each goes to the seats with the lowest load; among those to the ones with fewest
    of its stratum and fewest items shared with the seats chosen for it before, both together: one
    after the other, whichever comes second can be far off where the plan is small."""
    rng = random.Random(f"{plan.seed}/places")
    dealt: dict[int, list[str]] = {seat: [] for seat in range(1, plan.seats + 1)}
    of_stratum: Counter[tuple[str, int]] = Counter()
    shared: Counter[tuple[int, int]] = Counter()
    # Strata in turn, so that a seat's share of each grows evenly.
    for item in _in_turn(items, rng):
        chosen: list[int] = []
        for _ in range(plan.overlap):
            free = [seat for seat in dealt if seat not in chosen]
            least = min(len(dealt[seat]) for seat in free)
            seat = min(
                (seat for seat in free if len(dealt[seat]) == least),
                key=lambda seat: (of_stratum[item.stratum, seat] + sum(shared[seat, other] for other in chosen),
                                  rng.random()),
            )
            chosen.append(seat)
            dealt[seat].append(item.item_id)
            of_stratum[item.stratum, seat] += 1
        shared.update((a, b) for a in chosen for b in chosen if a != b)
    return dealt


def _in_turn(items: Sequence[Item], rng: random.Random) -> list[Item]:
    strata: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        strata[item.stratum].append(item)
    order: list[Item] = []
    for name in sorted(strata):
        order = _spread(order, _shuffled(strata[name], rng))
    return order


def open_by_seat(work: OpenAssignments) -> dict[int, list[Assignment]]:
    """What the other seats have left, each in its own order."""
    left: dict[int, list[Assignment]] = defaultdict(list)
    for assignment in sorted(work.open, key=lambda a: (a.seat, a.position)):
        if assignment.seat != work.seat:
            left[assignment.seat].append(assignment)
    return left


def idle_first(work: OpenAssignments, left: Iterable[int]) -> list[int]:
    """Seats at which nobody is at work: those away the longest first, then those never taken."""
    long_ago = datetime.min.replace(tzinfo=work.now.tzinfo)
    seats = [seat for seat in work.seats if seat.number in left]
    away = sorted((seat for seat in seats if _away(seat, work)),
                  key=lambda seat: (seat.seen_at or seat.joined_at or long_ago, seat.number))
    return [seat.number for seat in away] + sorted(seat.number for seat in seats if seat.annotator is None)


def _away(seat: Seat, work: OpenAssignments) -> bool:
    if seat.annotator is None:
        return False
    last = seat.seen_at or seat.joined_at
    return last is None or work.now - last > timedelta(hours=work.study.plan.lease_hours)


def _shuffled(values: Sequence[_T], rng: random.Random) -> list[_T]:
    order = list(values)
    rng.shuffle(order)
    return order


def _spread(many: Sequence[_T], few: Sequence[_T]) -> list[_T]:
    """Both in their own order, evenly through each other: the i-th of n stands at (i + 1/2) / n."""
    placed = [((index + 0.5) / len(values), which, value)
              for which, values in enumerate((few, many)) for index, value in enumerate(values)]
    return [value for _, _, value in sorted(placed, key=lambda entry: entry[:2])]
