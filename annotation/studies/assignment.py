"""Assignment of items to seats, and reassignment of open work.

Both are pure and random only by the study's seed, so the same study always gets the same plan.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import TypeVar

from annotation.records import Assignment, Item, OpenAssignments, PlannedAssignment, Reassignment, Seat, StudyPlan
from cir_core.errors import StudyError
from cir_core.support.texts import quoted

_RESERVED_AHEAD = 3  # next items of an active person: may be shown or preloaded already
_T = TypeVar("_T")


def plan_places(items: Sequence[Item], plan: StudyPlan) -> list[PlannedAssignment]:
    """Assign each item to ``plan.overlap`` seats, and items of the agreement set to every seat.

    Loads of any two seats differ by one item at most. Strata, and the items that two seats share,
    are balanced greedily. Each seat has its own random order, with the agreement set spread evenly
    through it, or that of the table. Raises ``StudyError`` for an impossible plan.
    """
    _check(items, plan)
    ordered = sorted(items, key=lambda item: item.number)
    block = [item.item_id for item in ordered if item.in_block]
    own = _assign([item for item in ordered if not item.in_block], plan)
    numbers = {item.item_id: item.number for item in ordered}
    assignments = []
    for seat in range(1, plan.seats + 1):
        rng = random.Random(f"{plan.seed}/order/{seat}")
        order = _ordered(own[seat], block, plan, rng, numbers)
        assignments += [PlannedAssignment(item_id, seat, position) for position, item_id in enumerate(order)]
    return assignments


def reassign(work: OpenAssignments) -> list[Reassignment]:
    """Reassign open work to a seat without any: a fair share of all open items, and the missing items
    of the agreement set.

    The share is taken first from people inactive for longer than the plan's lease, then from free
    seats, then from the seat with most open items, from the end of its order and never its next
    three. Positions continue from the number of items the seat has or had.
    """
    rng = random.Random(f"{work.study.plan.seed}/hand over/{work.seat}/{len(work.mine)}")
    left = open_by_seat(work)
    idle = idle_first(work, left)
    donors = {number: left[number][_RESERVED_AHEAD:] for number in sorted(left) if number not in idle}
    # A free seat will be taken by somebody who needs a share too; a seat of an inactive person will not.
    waiting = sum(1 for seat in work.seats if seat.number in left and not _is_inactive(seat, work))
    share = ceil(sum(map(len, left.values())) / (waiting + 1))

    from_seat: dict[str, int] = {}
    for number in idle:
        for assignment in left[number]:
            if len(from_seat) < share and assignment.item_id not in work.mine:
                from_seat.setdefault(assignment.item_id, number)
    remaining = {number: len(left[number]) for number in donors}
    while len(from_seat) < share and any(donors.values()):
        number = max((n for n in donors if donors[n]), key=lambda n: (remaining[n], -n))
        item_id = donors[number].pop().item_id
        if item_id not in work.mine and item_id not in from_seat:
            from_seat[item_id] = number
            remaining[number] -= 1

    block = [item_id for item_id in work.block if item_id not in work.mine]
    order = _ordered(list(from_seat), block, work.study.plan, rng, work.numbers)
    return [Reassignment(item_id, position, from_seat.get(item_id)) for position, item_id in enumerate(order,
                                                                                                       len(work.mine))]


def _ordered(
    own: Sequence[str], block: Sequence[str], plan: StudyPlan, rng: random.Random, numbers: Mapping[str, int],
) -> list[str]:
    if plan.order == "table":
        return sorted([*own, *block], key=numbers.__getitem__)
    return _spread(_shuffled(own, rng), _shuffled(block, rng))


def _check(items: Sequence[Item], plan: StudyPlan) -> None:
    if not items:
        raise StudyError("There is no item to judge. Choose other categories, or a larger sample.")
    if plan.seats < 1 or plan.overlap < 1:
        raise StudyError(f"A plan needs at least one person and one judgement per item, not {plan.seats} people and "
                         f"an overlap of {plan.overlap}.")
    if plan.overlap > plan.seats:
        raise StudyError(f"An overlap of {plan.overlap} needs {plan.overlap} people, but the plan has {plan.seats}. "
                         "Plan for more people, or a smaller overlap.")
    for what, values in (("id", [item.item_id for item in items]), ("number", [item.number for item in items])):
        value, times = Counter(values).most_common(1)[0]
        if times > 1:
            raise StudyError(f"{times} items have the {what} {quoted(value)}. Every item needs its own.")


def _assign(items: Sequence[Item], plan: StudyPlan) -> dict[int, list[str]]:
    """Items by seat. Each goes to the seats with the lowest load; ties are broken by the sum of the items of its
    stratum and the items shared with the seats already chosen for it. The sum, because a lexicographic order would
    unbalance the second criterion in small plans."""
    rng = random.Random(f"{plan.seed}/places")
    assigned: dict[int, list[str]] = {seat: [] for seat in range(1, plan.seats + 1)}
    of_stratum: Counter[tuple[str, int]] = Counter()
    shared: Counter[tuple[int, int]] = Counter()
    # Strata interleaved, so that a seat's share of each grows evenly.
    for item in _in_turn(items, rng):
        chosen: list[int] = []
        for _ in range(plan.overlap):
            free = [seat for seat in assigned if seat not in chosen]
            least = min(len(assigned[seat]) for seat in free)
            seat = min(
                (seat for seat in free if len(assigned[seat]) == least),
                key=lambda seat: (of_stratum[item.stratum, seat] + sum(shared[seat, other] for other in chosen),
                                  rng.random()))
            chosen.append(seat)
            assigned[seat].append(item.item_id)
            of_stratum[item.stratum, seat] += 1
        shared.update((a, b) for a in chosen for b in chosen if a != b)
    return assigned


def _in_turn(items: Sequence[Item], rng: random.Random) -> list[Item]:
    strata: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        strata[item.stratum].append(item)
    order: list[Item] = []
    for name in sorted(strata):
        order = _spread(order, _shuffled(strata[name], rng))
    return order


def open_by_seat(work: OpenAssignments) -> dict[int, list[Assignment]]:
    """Open assignments of the other seats, each in its order."""
    left: dict[int, list[Assignment]] = defaultdict(list)
    for assignment in sorted(work.open, key=lambda a: (a.seat, a.position)):
        if assignment.seat != work.seat:
            left[assignment.seat].append(assignment)
    return left


def idle_first(work: OpenAssignments, left: Iterable[int]) -> list[int]:
    """Idle seats: by longest inactivity beyond the lease, then free ones."""
    long_ago = datetime.min.replace(tzinfo=work.now.tzinfo)
    seats = [seat for seat in work.seats if seat.number in left]
    inactive = sorted((seat for seat in seats if _is_inactive(seat, work)),
                  key=lambda seat: (seat.seen_at or seat.joined_at or long_ago, seat.number))
    return [seat.number for seat in inactive] + sorted(seat.number for seat in seats if seat.annotator is None)


def _is_inactive(seat: Seat, work: OpenAssignments) -> bool:
    if seat.annotator is None:
        return False
    last = seat.seen_at or seat.joined_at
    return last is None or work.now - last > timedelta(hours=work.study.plan.lease_hours)


def _shuffled(values: Sequence[_T], rng: random.Random) -> list[_T]:
    order = list(values)
    rng.shuffle(order)
    return order


def _spread(many: Sequence[_T], few: Sequence[_T]) -> list[_T]:
    """Interleave two sequences evenly, each in its order: the i-th of n is at (i + 1/2) / n."""
    placed = [((index + 0.5) / len(values), which, value)
              for which, values in enumerate((few, many)) for index, value in enumerate(values)]
    return [value for _, _, value in sorted(placed, key=lambda entry: entry[:2])]
