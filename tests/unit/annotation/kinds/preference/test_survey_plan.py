"""The layout of a preference study: loads, sharing, forms, sides and what is given out again."""

import random
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations

import pytest

from annotation.kinds.preference.method_pairs import draw_pairs
from annotation.kinds.preference.survey.plan import (
    Showing,
    SurveyLayout,
    draw_sides,
    plan_survey,
    reassign,
    survey_places,
)
from annotation.kinds.preference.survey.texts import SETTINGS
from annotation.records import Assignment, Item, OpenAssignments, Seat, Study, StudyPlan
from cir_core.errors import StudyError

METHODS = ("cirevl", "image-only", "slerp", "text-only")
NOW = datetime(2026, 5, 1, tzinfo=UTC)


def items(number: int, methods=METHODS, seed: int = 1) -> list[Item]:
    drawn = draw_pairs({f"q{n}": {name: (f"{name}{n}",) for name in methods} for n in range(number)}, methods, seed)
    return [Item(f"i{n}", "s", n, key, "|".join(sorted(pair)), False, {}, {"methods": list(pair)})
            for n, (key, pair) in enumerate(drawn.methods.items())]


def first_method(item: Item, first: int) -> str:
    return item.hidden["methods"][first - 1]


def test_ten_thousand_assignments_are_balanced():
    """8,334 questions, 834 of them (one in ten, rounded up) for three people: 8,334 + 2 · 834 = 10,002 answers of
    201 people, for 200 people with 50 questions give 10,000."""
    layout = SurveyLayout(seed=7)
    of = {item.item_id: item for item in items(8334)}
    places = survey_places(list(of.values()), layout)
    plan = plan_survey(8334, layout)
    assert (plan.shared, plan.answers, plan.people) == (834, 10_002, 201) and len(places) == 10_002

    # Nobody has a question twice; a question has three people or one.
    assert len({(one.seat, one.item_id) for one in places}) == len(places)
    people = Counter(one.item_id for one in places)
    assert Counter(people.values()) == {3: 834, 1: 7500}

    # 10,002 answers of 201 people: 49 or 50 each, one apart, 153 of them 50.
    loads = Counter(one.seat for one in places)
    assert Counter(loads.values()) == {50: 153, 49: 48}

    # Six pairs: 8,334 = 6 · 1,389 questions each, 834 = 6 · 139 shared each: 1,389 + 2 · 139 showings each.
    assert set(Counter(of[one.item_id].stratum for one in places).values()) == {1389 + 2 * 139}
    # Before one person a pair meets 1,667 / 201 = 8.3 times.
    meets = Counter((one.seat, of[one.item_id].stratum) for one in places)
    assert len(meets) == 201 * 6 and set(meets.values()) == {8, 9}

    # One showing apart at most, and exactly even where the number is.
    groups = {
        "person": lambda one: one.seat, "pair": lambda one: of[one.item_id].stratum,
        "question": lambda one: one.item_id,
        "pair before a person": lambda one: (one.seat, of[one.item_id].stratum), "all": lambda one: "",
    }
    for name, group in groups.items():
        more, size = defaultdict(int), Counter(map(group, places))
        for one in places:
            lower = of[one.item_id].stratum.split("|")[0]
            more[group(one)] += 1 if first_method(of[one.item_id], one.extra["first"]) == lower else -1
        assert all(abs(more[member]) == size[member] % 2 for member in size), name


@pytest.mark.parametrize(("number", "shared_by"), [(1, 3), (2, 2), (37, 3), (100, 2), (100, 5), (611, 3)])
def test_uneven_numbers_are_one_apart(number, shared_by):
    layout = SurveyLayout(per_person=13, forms=2, shared_by=shared_by, seed=number)
    of = {item.item_id: item for item in items(number)}
    places = survey_places(list(of.values()), layout)
    plan = plan_survey(number, layout)
    loads = Counter(one.seat for one in places)
    assert set(loads) == set(range(1, plan.people + 1))
    assert max(loads.values()) == plan.per_person <= 13 and max(loads.values()) - min(loads.values()) <= 1
    for pair in {item.stratum for item in of.values()}:
        met = [sum(of[one.item_id].stratum == pair for one in places if one.seat == seat) for seat in loads]
        assert max(met) - min(met) <= 1
    showings = Counter(of[one.item_id].stratum for one in places)
    if len(showings) == 6:
        assert max(showings.values()) - min(showings.values()) <= max(1, shared_by - 1)
    assert Counter(Counter(one.item_id for one in places).values()) == Counter(
        {shared_by: plan.shared, 1: number - plan.shared} if number > plan.shared else {shared_by: number})


def test_a_rare_pair_is_not_shared_more_than_others():
    """Of 100 questions 97 are of one pair; ceil(100 / 10) = 10 are shared, of the rare pair's 3 at most
    ceil(3 / 10) + 1 = 2."""
    found = [replace(item, stratum="a|c", hidden={"methods": ["a", "c"]}) if item.number < 3 else item
             for item in items(100, ("a", "b"))]
    places = survey_places(found, SurveyLayout(seed=1))
    shared = [item_id for item_id, people in Counter(one.item_id for one in places).items() if people > 1]
    assert len(shared) == 10 and sum(int(item_id[1:]) < 3 for item_id in shared) == 2


def test_the_seed_lays_out_the_same_and_ids_do_not():
    one = survey_places(items(60), SurveyLayout(per_person=10, seed=4))
    other_ids = [replace(item, item_id=f"x{997 * item.number % 61}") for item in items(60)]
    numbers = {item.item_id: item.number for item in other_ids}
    other = survey_places(other_ids, SurveyLayout(per_person=10, seed=4))
    assert [(p.seat, p.position, int(p.item_id[1:]), p.extra) for p in one] == [
        (p.seat, p.position, numbers[p.item_id], p.extra) for p in other]
    assert one != survey_places(items(60), SurveyLayout(per_person=10, seed=5))


def test_forms_and_reasons_go_by_position():
    """20 questions in 3 forms: ceil(20 / 3) = 7, 7 and 6 of them; a reason at the 6th, 12th and 18th."""
    layout = SurveyLayout(per_person=20, forms=3, shared_every=0, reason_every=6, seed=1)
    places = survey_places(items(20), layout)
    assert [one.position for one in places] == list(range(20))
    assert [one.extra["form"] for one in places] == [1] * 7 + [2] * 7 + [3] * 6
    assert [one.position for one in places if one.extra["reason"]] == [5, 11, 17]
    assert not any(one.extra["reason"] for one in survey_places(items(20), replace(layout, reason_every=0)))


def test_forms_are_even_where_a_person_has_fewer_questions_than_the_most():
    """At most 50 in 2 forms: what a person really has is halved."""
    layout = SurveyLayout(per_person=50, forms=2, shared_every=2, shared_by=3, seed=1)
    # 12 questions, 6 of them for three people: 6 + 3 · 6 = 24 answers of 3 people, 8 each, 4 in a form.
    assert plan_survey(12, layout).form_size == layout.settings(12)["form_size"] == 4
    places = survey_places(items(12), layout)
    assert Counter((one.seat, one.extra["form"]) for one in places) == {
        (seat, form): 4 for seat in (1, 2, 3) for form in (1, 2)}
    # One person alone with 12: 6 and 6. Of 11 the last form has what is left.
    alone = replace(layout, shared_every=0)
    assert Counter(one.extra["form"] for one in survey_places(items(12), alone)) == {1: 6, 2: 6}
    assert Counter(one.extra["form"] for one in survey_places(items(11), alone)) == {1: 6, 2: 5}


def test_pairs_are_spread_over_a_persons_order():
    """60 questions of six pairs, 10 of each: every run of 12 has one to three of each pair, two on average."""
    of = {item.item_id: item for item in items(60)}
    layout = SurveyLayout(per_person=60, forms=1, shared_every=0, seed=2)
    order = [of[one.item_id].stratum for one in survey_places(list(of.values()), layout)]
    for start in range(0, 60, 12):
        assert set(Counter(order[start:start + 12]).values()) <= {1, 2, 3}


def test_shared_questions_bring_many_people_together():
    """Everybody meets more than the two or four that a single round would bring together."""
    places = survey_places(items(600), SurveyLayout(per_person=50, seed=3))
    people = defaultdict(set)
    for one in places:
        people[one.item_id].add(one.seat)
    met = defaultdict(set)
    for seats in people.values():
        for one, other in combinations(seats, 2):
            met[one].add(other)
            met[other].add(one)
    assert len(met) == 15 and min(map(len, met.values())) >= 6


def test_a_forecast_adds_up():
    # 100 questions, 10 shared by 3: 120 answers, 3 people with 40; 10 · 3 pairs; 120 · 60 s = 2 h, 40 min each.
    plan = plan_survey(100, SurveyLayout(), seconds_per_question=60)
    assert (plan.shared, plan.answers, plan.people, plan.per_person, plan.pairs) == (10, 120, 3, 40, 30)
    assert plan.hours_total == 2 and plan.hours_per_person == pytest.approx(40 / 60)
    alone = plan_survey(100, SurveyLayout(shared_every=0))
    assert (alone.shared, alone.shared_by, alone.answers, alone.people, alone.pairs) == (0, 1, 100, 2, 0)
    # The survey of HS-FashionIQ: 3,050 questions, 50 for each of 61 people, nothing shared.
    assert plan_survey(3050, SurveyLayout(shared_every=0)).people == 61


@pytest.mark.parametrize(("layout", "says"), [
    (SurveyLayout(per_person=0), "0 questions per person"), (SurveyLayout(forms=0), "into 0 forms"),
    (SurveyLayout(per_person=3, forms=4), "into 4 forms"), (SurveyLayout(shared_by=1), "cannot measure agreement"),
    (SurveyLayout(shared_every=-1), "0 for never"), (SurveyLayout(reason_every=-1), "0 for never")])
def test_a_layout_that_cannot_be_is_refused(layout, says):
    with pytest.raises(StudyError, match=says):
        plan_survey(10, layout)


def test_no_question_is_no_study():
    with pytest.raises(StudyError, match="no question"):
        survey_places([], SurveyLayout())


# --- what is given out again ---------------------------------------------------------------------

LAYOUT = SurveyLayout(per_person=4, forms=2, reason_every=3, seed=1)


def a_seat(number: int, annotator: str | None, hours_ago: float | None) -> Seat:
    seen = None if hours_ago is None else NOW - timedelta(hours=hours_ago)
    return Seat("s", number, annotator, seen, seen)


def work(seats, still_open, mine=(), seat=9) -> OpenAssignments:
    study = Study("s", "S", "preference", "hs-fashioniq/1", StudyPlan(4, 1, 0, 1, 3.0), True,
                  {**SETTINGS, **LAYOUT.settings(8)}, {}, "local", NOW)
    assignments = [Assignment(item, number, position, "open", None, {"first": 2, "form": 1, "reason": False})
                   for number, names in still_open.items() for position, item in enumerate(names)]
    return OpenAssignments(study, seat, seats, assignments, frozenset(mine), (), NOW)


def test_abandoned_forms_are_given_out_again_and_nobody_at_work_loses_any():
    """The lease is 3 hours: seats 2 and 3 are away, 3 the longer; seat 1 is at work, seat 4 was never taken."""
    seats = [a_seat(1, "Ada", 2.9), a_seat(2, "Bo", 3.1), a_seat(3, "Cy", 30), a_seat(4, None, None)]
    left = {1: ["a", "b"], 2: ["c", "d"], 3: ["e"], 4: ["f", "g"]}
    taken = reassign(work(seats, left))
    assert [(one.item_id, one.from_seat, one.position) for one in taken] == [
        ("e", 3, 0), ("c", 2, 1), ("d", 2, 2), ("f", 4, 3)]      # 4 per person
    # Two in a form, every third with a reason; the set that stood first still does.
    assert [one.extra["form"] for one in taken] == [1, 1, 2, 2]
    assert [one.extra["reason"] for one in taken] == [False, False, True, False]
    assert {one.extra["first"] for one in taken} == {2}
    assert reassign(work(seats[:1], {1: ["a", "b"]})) == []


def test_positions_go_on_and_a_question_is_not_given_twice():
    seats = [a_seat(2, "Bo", 5), a_seat(3, "Cy", 4), a_seat(9, "Di", 0)]
    taken = reassign(work(seats, {2: ["c", "shared"], 3: ["shared", "mine"], 9: ["own"]}, mine=("mine", "own")))
    assert [(one.item_id, one.from_seat, one.position) for one in taken] == [("c", 2, 2), ("shared", 2, 3)]
    assert [one.extra["form"] for one in taken] == [2, 2]


# --- which set stands first ------------------------------------------------------------------

def surplus(showings, sides, group) -> dict:
    """By group, how many more showings have the first-named method first than the other one."""
    found = defaultdict(int)
    for showing, side in zip(showings, sides, strict=True):
        found[group(showing)] += 1 if side else -1
    return found


GROUPS = {
    "person": lambda one: one.seat, "pair": lambda one: one.pair,
    "pair before a person": lambda one: (one.seat, one.pair),
    "question": lambda one: one.item_id, "all": lambda one: "",
}


def showings(number: int, people: int, pairs: int, seed: int, shared: float = 0.1) -> list[Showing]:
    """At random, so that no group has a size that suits; some questions are before three people."""
    rng = random.Random(seed)
    found: list[Showing] = []
    while len(found) < number:
        item, pair = f"i{len(found)}", f"p{rng.randrange(pairs)}"
        for seat in rng.sample(range(people), 3 if rng.random() < shared else 1):
            found.append(Showing(seat, pair, item))
    rng.shuffle(found)
    return found


@pytest.mark.parametrize(("number", "people", "pairs", "shared"), [
    (10_000, 200, 6, 0.1), (10_000, 61, 45, 0.1), (10_000, 3, 1, 1.0), (501, 500, 6, 0.0), (7, 3, 2, 1.0)])
def test_sides_are_balanced_within_one_showing(number, people, pairs, shared):
    """The bound is exact: an even group is halved, an odd one has one more of either side."""
    given = showings(number, people, pairs, seed=number, shared=shared)
    sides = draw_sides(given, seed=5)
    for name, group in GROUPS.items():
        sizes = defaultdict(int)
        for one in given:
            sizes[group(one)] += 1
        for member, more in surplus(given, sides, group).items():
            assert abs(more) == sizes[member] % 2, f"{name} {member}"


def test_the_seed_decides():
    given = showings(300, 10, 6, seed=1)
    assert draw_sides(given, 1) == draw_sides(given, 1) != draw_sides(given, 2)


def test_each_showing_may_stand_either_way():
    """Over 400 seeds each of 12 showings has its first method first in 200 ± 50: five standard deviations."""
    given = showings(12, 3, 2, seed=4)
    times = [sum(drawn) for drawn in zip(*(draw_sides(given, seed) for seed in range(400)), strict=True)]
    assert all(150 <= one <= 250 for one in times)


def test_nothing_is_drawn_for_nobody():
    assert draw_sides([], 1) == ()
    assert len(draw_sides([Showing(1, "a|b", "i")], 1)) == 1
