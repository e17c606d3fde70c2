"""Who judges what: plans that are balanced, the same again, and kept whole by late joins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.records import (
    Assignment,
    Item,
    OpenAssignments,
    PlannedAssignment,
    Reassignment,
    Seat,
    Study,
    StudyPlan,
)
from annotation.studies.assignment import plan_places, reassign
from cir_core.errors import StudyError

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def items(count: int, block: int = 0, strata: int = 2) -> list[Item]:
    return [Item(f"item{n}", "study", n, f"key{n}", f"stratum {n % strata}", n < block, {}, {}) for n in range(count)]


def seats_of(places: Sequence[PlannedAssignment]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place in places:
        found.setdefault(place.item_id, []).append(place.seat)
    return found


@st.composite
def plans(draw: st.DrawFn) -> tuple[list[Item], StudyPlan]:
    seats = draw(st.integers(1, 12))
    count = draw(st.integers(1, 120))
    block = draw(st.integers(0, min(count, 15)))
    plan = StudyPlan(seats, draw(st.integers(1, min(seats, 5))), block, draw(st.integers(0, 10**6)))
    return items(count, block, draw(st.integers(1, 6))), plan


@settings(max_examples=150, deadline=None)
@given(plans())
def test_a_plan_keeps_its_promises_at_any_size(case: tuple[list[Item], StudyPlan]) -> None:
    given_items, plan = case
    places = plan_places(given_items, plan)
    by_item = seats_of(places)
    for item in given_items:
        seats = by_item[item.item_id]
        assert len(seats) == len(set(seats)) == (plan.seats if item.in_block else plan.overlap)
    for seat in range(1, plan.seats + 1):
        mine = sorted(place.position for place in places if place.seat == seat)
        assert mine == list(range(len(mine)))
    loads = Counter(place.seat for place in places)
    of_seats = [loads[seat] for seat in range(1, plan.seats + 1)]
    assert max(of_seats) - min(of_seats) <= 1


@settings(max_examples=60, deadline=None)
@given(plans())
def test_strata_and_shared_items_are_spread_evenly(case: tuple[list[Item], StudyPlan]) -> None:
    given_items, plan = case
    stratum = {item.item_id: item.stratum for item in given_items if not item.in_block}
    by_item = {i: seats for i, seats in seats_of(plan_places(given_items, plan)).items() if i in stratum}
    seats = range(1, plan.seats + 1)
    for name in set(stratum.values()):
        counts = Counter(seat for i, of_item in by_item.items() if stratum[i] == name for seat in of_item)
        assert max(counts[seat] for seat in seats) - min(counts[seat] for seat in seats) <= 6
    pairs = Counter(pair for of_item in by_item.values() for pair in combinations(sorted(of_item), 2))
    shared = [pairs[pair] for pair in combinations(seats, 2)]
    if shared:
        assert max(shared) - min(shared) <= 6


def test_sixteen_people_and_1600_items_judged_twice() -> None:
    # 1600 * 2 / 16 = 200 each, 100 of either stratum; 1600 shared items over 120 pairs of seats: 13.3 each.
    places = plan_places(items(1600), StudyPlan(16, 2, 0, 1))
    assert set(Counter(place.seat for place in places).values()) == {200}
    strata = Counter((place.seat, int(place.item_id[4:]) % 2) for place in places)
    assert set(strata.values()) == {100}
    pairs = Counter(tuple(sorted(seats)) for seats in seats_of(places).values())
    assert len(pairs) == 120 and min(pairs.values()) >= 11 and max(pairs.values()) <= 16


def test_the_same_seed_gives_the_same_plan_and_another_one_another() -> None:
    plan = StudyPlan(4, 2, 5, seed=3)
    once = plan_places(items(60, block=5), plan)
    assert plan_places(items(60, block=5), plan) == once
    assert plan_places(list(reversed(items(60, block=5))), plan) == once
    assert plan_places(items(60, block=5), replace(plan, seed=4)) != once


def test_ids_do_not_change_the_plan_only_numbers_do() -> None:
    plan = StudyPlan(3, 1, 0, seed=3)
    renamed = [replace(item, item_id=f"zz{99 - item.number}") for item in items(30)]
    assert [int(p.item_id[4:]) for p in plan_places(items(30), plan)] == \
        [99 - int(p.item_id[2:]) for p in plan_places(renamed, plan)]


def test_each_seat_has_an_order_of_its_own_with_the_block_evenly_through_it() -> None:
    # 40 others and 10 of the block: one of the block in every stretch of 50 / 10 = 5.
    places = plan_places(items(50, block=10), StudyPlan(3, 3, 10, seed=1))
    orders = [[p.item_id for p in places if p.seat == seat] for seat in (1, 2, 3)]
    assert len({tuple(order) for order in orders}) == 3
    blocks = []
    for order in orders:
        for start in range(0, 50, 5):
            assert sum(int(item_id[4:]) < 10 for item_id in order[start:start + 5]) == 1
        blocks.append(tuple(item_id for item_id in order if int(item_id[4:]) < 10))
    assert len(set(blocks)) == 3   # the block's order is each seat's own too


@settings(max_examples=40, deadline=None)
@given(plans(), st.randoms())
def test_in_the_order_of_the_table_everybody_goes_from_top_to_bottom(case: tuple[list[Item], StudyPlan], rng) -> None:
    """Whatever the order in which items come; who judges what is as with a random order."""
    given_items, plan = case
    random_order = plan_places(given_items, plan)
    rng.shuffle(given_items)
    places = plan_places(given_items, replace(plan, order="table"))
    number = {item.item_id: item.number for item in given_items}
    for seat in range(1, plan.seats + 1):
        mine = sorted((place for place in places if place.seat == seat), key=lambda place: place.position)
        assert [place.position for place in mine] == list(range(len(mine)))
        assert all(number[one.item_id] < number[other.item_id] for one, other in pairwise(mine))
    assert {(place.item_id, place.seat) for place in places} == {(place.item_id, place.seat) for place in random_order}


def test_work_that_is_taken_over_follows_in_the_order_of_the_table() -> None:
    table = Table(items(60, block=6), StudyPlan(3, 1, 6, seed=5, order="table"))
    taken = table.join(4)
    numbers = [table.numbers[one.item_id] for one in sorted(taken, key=lambda one: one.position)]
    assert numbers == sorted(numbers) and len([one for one in taken if one.from_seat is None]) == 6 < len(taken)


@pytest.mark.parametrize("by_turns", [True, False])
def test_no_position_tells_the_stratum_whatever_the_order_of_the_source(by_turns: bool) -> None:
    """800 items of two strata, which take turns in the source or stand one after the other; 200 for each seat."""
    given_items = [replace(item, stratum="one" if (n % 2 if by_turns else n < 400) else "two")
                   for n, item in enumerate(items(800))]
    stratum = {item.item_id: item.stratum for item in given_items}
    places = plan_places(given_items, StudyPlan(4, 1, 0, seed=5))
    orders = [[stratum[p.item_id] for p in sorted(places, key=lambda p: p.position) if p.seat == seat]
              for seat in (1, 2, 3, 4)]
    for order in orders:
        assert Counter(order) == {"one": 100, "two": 100}
        # By chance 50 of the first hundred positions, and of the odd ones, hold "one": hypergeometric with a
        # standard deviation of sqrt(100 * 1/2 * 1/2 * 100/199) = 3.5. Half of the 199 neighbours are alike, +- 7.
        assert abs(order[:100].count("one") - 50) < 4 * 3.5
        assert abs(order[::2].count("one") - 50) < 4 * 3.5
        assert abs(sum(one == after for one, after in pairwise(order)) - 99.5) < 4 * 7.1
    # At half of the positions any two seats differ: 100, +- sqrt(200 / 4) = 7.
    for mine, other in combinations(orders, 2):
        assert abs(sum(one != two for one, two in zip(mine, other, strict=True)) - 100) < 4 * 7.1


@pytest.mark.parametrize(("count", "plan", "sentence"), [
    (5, StudyPlan(2, 3, 0, 1), "An overlap of 3 needs 3 people, but the plan has 2"),
    (5, StudyPlan(0, 1, 0, 1), "at least one person and one judgement per item, not 0 people"),
    (5, StudyPlan(2, 0, 0, 1), "an overlap of 0"),
    (0, StudyPlan(2, 1, 0, 1), "There is no item to judge"),
])
def test_a_plan_that_cannot_be_is_refused(count: int, plan: StudyPlan, sentence: str) -> None:
    with pytest.raises(StudyError, match=sentence):
        plan_places(items(count), plan)


def test_items_with_one_id_or_number_are_refused() -> None:
    twice = [items(2)[0], replace(items(2)[1], item_id="item0")]
    with pytest.raises(StudyError, match="2 items have the id 'item0'"):
        plan_places(twice, StudyPlan(1, 1, 0, 1))
    with pytest.raises(StudyError, match="2 items have the number 0"):
        plan_places([items(2)[0], replace(items(2)[1], number=0)], StudyPlan(1, 1, 0, 1))


# --- taking over -------------------------------------------------------------------------


class Table:
    """A study's seats and assignments in memory, to see what hand-overs leave behind."""

    def __init__(self, given_items: list[Item], plan: StudyPlan) -> None:
        self.study = Study("study", "Study", "validity", "circus/1", plan, True, {}, {}, "local", NOW)
        self.block = [item.item_id for item in given_items if item.in_block]
        self.numbers = {item.item_id: item.number for item in given_items}
        self.seats = {n: Seat("study", n, f"person {n}", NOW, NOW) for n in range(1, plan.seats + 1)}
        self.rows = {(place.item_id, place.seat): Assignment(
            place.item_id, place.seat, place.position, "open", f"person {place.seat}")
            for place in plan_places(given_items, plan)}

    def work(self, seat: int) -> OpenAssignments:
        return OpenAssignments(
            self.study, seat, list(self.seats.values()),
            [a for a in self.rows.values() if a.state == "open" and a.seat != seat and a.item_id not in self.block],
            frozenset(a.item_id for a in self.rows.values() if a.seat == seat), self.block, NOW, self.numbers,
        )

    def join(self, seat: int) -> list[Reassignment]:
        taken = reassign(self.work(seat))
        self.seats.setdefault(seat, Seat("study", seat, f"person {seat}", NOW, NOW))
        for one in taken:
            if one.from_seat is not None:
                given_up = self.rows[one.item_id, one.from_seat]
                assert given_up.state == "open"
                self.rows[one.item_id, one.from_seat] = replace(given_up, state="handed_on")
            assert (one.item_id, seat) not in self.rows
            self.rows[one.item_id, seat] = Assignment(one.item_id, seat, one.position, "open", f"person {seat}")
        return taken

    def done(self, seat: int, count: int) -> None:
        mine = sorted((a for a in self.rows.values() if a.seat == seat and a.state == "open"), key=lambda a: a.position)
        for assignment in mine[:count]:
            self.rows[assignment.item_id, seat] = replace(assignment, state="done")

    def counting(self) -> Counter[str]:
        return Counter(a.item_id for a in self.rows.values() if a.state != "handed_on" and a.item_id not in self.block)


@settings(max_examples=80, deadline=None)
@given(plans(), st.lists(st.integers(0, 40), max_size=12), st.integers(1, 4))
def test_late_joins_keep_the_number_of_judgements_per_item(
    case: tuple[list[Item], StudyPlan], done: list[int], late: int,
) -> None:
    given_items, plan = case
    table = Table(given_items, plan)
    for seat, count in enumerate(done[:plan.seats], 1):
        table.done(seat, count)
    before = table.counting()
    for number in range(plan.seats + 1, plan.seats + late + 1):
        taken = table.join(number)
        assert sorted(one.position for one in taken) == list(range(len(taken)))
        assert {one.item_id for one in taken if one.from_seat is None} == set(table.block)
    assert table.counting() == before


def test_a_late_seat_gets_a_fair_share_from_the_ends() -> None:
    # 3 people with 40 open each: 120 / (3 + 1) = 30 for the fourth, 10 from each.
    table = Table(items(120), StudyPlan(3, 1, 0, seed=5))
    taken = table.join(4)
    assert Counter(one.from_seat for one in taken) == {1: 10, 2: 10, 3: 10}
    for one in taken:
        assert one.from_seat is not None and table.rows[one.item_id, one.from_seat].position >= 30


def test_the_next_three_of_somebody_at_work_stay_theirs() -> None:
    # 2 people with 4 open each: 8 / 3 rounds up to 3, but only one of each is further than three away.
    table = Table(items(8), StudyPlan(2, 1, 0, seed=5))
    taken = table.join(3)
    assert {(one.from_seat, table.rows[one.item_id, one.from_seat or 0].position) for one in taken} == {(1, 3), (2, 3)}


def test_who_has_most_left_gives_most() -> None:
    # Seat 1 has 10 left, seat 2 40: 50 / 3 rounds up to 17, all from seat 2, which keeps 23.
    table = Table(items(80), StudyPlan(2, 1, 0, seed=5))
    table.done(1, 30)
    assert Counter(one.from_seat for one in table.join(3)) == {2: 17}


def test_work_of_people_away_goes_first_from_its_beginning() -> None:
    table = Table(items(60), StudyPlan(3, 1, 0, seed=5, lease_hours=24))
    table.seats[2] = replace(table.seats[2], seen_at=NOW - timedelta(hours=25))
    table.seats[3] = replace(table.seats[3], seen_at=NOW - timedelta(hours=23))
    # 60 open; seats 1 and 3 are at work and the new one is the third: 20, which is all that seat 2 had.
    assert Counter(one.from_seat for one in table.join(4)) == {2: 20}


def test_seats_nobody_took_come_after_people_away_and_before_people_at_work() -> None:
    table = Table(items(60), StudyPlan(3, 1, 0, seed=5))
    table.seats[3] = Seat("study", 3, None, None, None)
    # 60 open; 1 and 2 are at work, 3 may still be taken, and the new one: 60 / 4 = 15, all of them from seat 3.
    assert Counter(one.from_seat for one in table.join(4)) == {3: 15}


def test_the_only_one_left_takes_everything_that_others_abandoned() -> None:
    table = Table(items(30, block=4), StudyPlan(2, 2, 4, seed=5))
    table.done(1, 30)
    table.seats[2] = replace(table.seats[2], seen_at=NOW - timedelta(days=30))
    # Seat 1 has judged all 30 itself: nothing that seat 2 has left is new to it.
    assert reassign(table.work(1)) == []
    # A third person gets the 26 of seat 2 and the whole block.
    taken = table.join(3)
    assert Counter(one.from_seat for one in taken) == {2: 26, None: 4}


def test_more_work_goes_behind_what_a_seat_has_without_the_block_again() -> None:
    table = Table(items(44, block=4), StudyPlan(2, 1, 4, seed=5))
    table.done(1, 24)
    taken = table.join(1)
    # 20 open with seat 2, who goes on: 20 / 2 = 10; seat 1 had 20 + 4 items, so positions begin at 24.
    assert len(taken) == 10 and all(one.from_seat == 2 for one in taken)
    assert sorted(one.position for one in taken) == list(range(24, 34))


def test_an_item_two_people_have_open_is_taken_once() -> None:
    table = Table(items(20), StudyPlan(2, 2, 0, seed=5))
    taken = table.join(3)
    assert len({one.item_id for one in taken}) == len(taken) == 14   # 40 / 3, rounded up


def test_taking_over_is_the_same_each_time_whatever_the_order_of_rows() -> None:
    table = Table(items(60, block=5), StudyPlan(4, 2, 5, seed=5))
    work = table.work(5)
    once = reassign(work)
    assert reassign(replace(work, open=list(reversed(work.open)), seats=list(reversed(work.seats)))) == once
