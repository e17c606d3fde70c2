"""A study's cost and precision before it begins, with numbers worked out by hand."""

from __future__ import annotations

import pytest

from annotation.records import Item, StudyPlan
from annotation.studies.assignment import plan_places
from annotation.studies.planner import plan_study
from cir_core.errors import StudyError


def test_what_it_costs() -> None:
    # 100 items, 10 of them judged by all 4, the other 90 by 2: 90 * 2 + 10 * 4 = 220 judgements.
    # A person: 180 / 4 = 45, and the 10. 55 * 90 s = 4950 s = 1.375 h; 220 * 90 s = 5.5 h.
    forecast = plan_study(4, 100, 2, 10, seconds_per_item=90)
    assert forecast.judgements == 220
    assert forecast.items_per_person == 55
    assert forecast.hours_per_person == pytest.approx(1.375)
    assert forecast.hours_total == pytest.approx(5.5)
    assert forecast.doubly_judged == 100
    # Pairs: 90 * 1 + 10 * (4 * 3 / 2) = 150.
    assert forecast.pairs == 150


def test_the_person_with_most_is_the_one_the_plan_gives_most() -> None:
    items = [Item(f"i{n}", "s", n, f"k{n}", "", n < 3, {}, {}) for n in range(50)]
    places = plan_places(items, StudyPlan(4, 3, 3, 1))
    # 47 * 3 = 141 over 4 people: 36 for one, 35 for the others; and the 3 of the block.
    assert max(sum(place.seat == seat for place in places) for seat in range(1, 5)) == 39
    forecast = plan_study(4, 50, 3, 3)
    assert forecast.items_per_person == 39 and forecast.judgements == len(places)


def test_how_sure_kappa_will_be() -> None:
    # 100 pairs, half of the items valid, kappa 0.6: 0.5 * 0.5 * (1 - 0.6) = 0.1 of the pairs in each of
    # the cells where they differ, so the table is 40 10 / 10 40; p_o = 0.8, p_e = 0.5.
    # Variance of kappa * n * (1 - p_e)^2 = A + B - C (Fleiss, Cohen and Everitt 1969):
    #   A = 2 * 0.4 * (1 - 1 * 0.4)^2 = 0.288,  B = 0.4^2 * 0.2 * 1 = 0.032,  C = (0.6 - 0.5 * 0.4)^2 = 0.16
    #   = 0.16, so the variance is 0.16 / (100 * 0.25) = 0.0064 and the standard error 0.08.
    # 95 %: 2 * 1.959964 * 0.08 = 0.313594.
    forecast = plan_study(2, 100, 2, valid_rate=0.5, kappa=0.6)
    assert forecast.kappa_width == pytest.approx(0.313594, abs=1e-6)
    assert forecast.kappa_reason == ""


def test_how_sure_the_share_of_valid_items_will_be() -> None:
    # Wilson at 50 of 100: z = 1.959964; z^2 = 3.841459;
    # half = z / (1 + z^2 / 100) * sqrt(0.25 / 100 + z^2 / 40000) = 1.887457 * 0.050951 = 0.096168.
    assert plan_study(2, 100, 1, valid_rate=0.5).rate_width == pytest.approx(2 * 0.096168, abs=2e-5)


def test_four_times_the_pairs_halve_the_interval_of_kappa() -> None:
    for overlap, close in ((2, 1e-9), (3, 0.05)):   # of three and more the studies are drawn
        few, many = plan_study(3, 200, overlap), plan_study(3, 800, overlap)
        assert few.kappa_width is not None and many.kappa_width is not None
        assert few.kappa_width == pytest.approx(2 * many.kappa_width, rel=close)


def test_more_people_on_one_item_do_not_make_it_two_items() -> None:
    # As many people as there may be know each item's own chance to be called valid, but not those of other
    # items. With shares of 0.5 and kappa 0.5 the chance is Beta(0.5, 0.5), and kappa is 4 var(chance) in the
    # limit, whose standard error over n items is 4 sd((c - 0.5)^2) / sqrt(n). With u = (c - 0.5)^2 of that
    # arcsine law: E u = 1/8, E u^2 = 3/128, sd u = sqrt(3/128 - 1/64) = 0.0884; 4 * 0.0884 = 0.3536 over n = 50
    # items: 0.05, and the interval 2 * 1.96 * 0.05 = 0.196. Pairs counted as independent would make it 0.08.
    width = plan_study(60, 50, 1, 50, valid_rate=0.5, kappa=0.5).kappa_width
    assert width == pytest.approx(0.196, rel=0.08)
    # Of two people the drawn interval is the large-sample one.
    from annotation.studies.planner import drawn_width
    assert drawn_width({2: 400}, 0.36, 0.46) == pytest.approx(plan_study(2, 400, 2).kappa_width, rel=0.06)


def test_a_plan_tells_the_same_twice() -> None:
    assert plan_study(9, 593, 1, 50) == plan_study(9, 593, 1, 50)


@pytest.mark.parametrize(("people", "overlap", "block"), [(5, 1, 0), (1, 1, 20)])
def test_without_two_people_on_one_item_there_is_no_agreement_to_measure(people: int, overlap: int, block: int) -> None:
    forecast = plan_study(people, 100, overlap, block)
    assert forecast.kappa_width is None and forecast.doubly_judged == 0 and forecast.pairs == 0
    assert "No item is judged by more than one person" in forecast.kappa_reason


def test_a_block_alone_is_enough_for_agreement() -> None:
    # CIRCUS: 9 people, 50 items that all of them judged: 50 * 36 = 1800 pairs.
    forecast = plan_study(9, 50, 1, 50)
    assert forecast.pairs == 1800 and forecast.doubly_judged == 50 and forecast.kappa_width is not None


def test_nine_people_and_593_items_each() -> None:
    # 593 minutes = 9.883 hours; 5337 items, Wilson's interval of 0.36: about 2 * 1.96 * sqrt(0.36 * 0.64 / 5337).
    forecast = plan_study(9, 9 * 593, 1)
    assert forecast.items_per_person == 593 and forecast.hours_per_person == pytest.approx(593 / 60)
    assert forecast.rate_width == pytest.approx(2 * 1.96 * (0.36 * 0.64 / 5337) ** 0.5, rel=1e-3)


def test_what_was_assumed_is_told() -> None:
    forecast = plan_study(2, 10, 2, 1, seconds_per_item=30, valid_rate=0.4, kappa=0.5)
    assert (forecast.people, forecast.items, forecast.overlap, forecast.agreement_items) == (2, 10, 2, 1)
    assert (forecast.seconds_per_item, forecast.valid_rate, forecast.kappa) == (30, 0.4, 0.5)


def test_perfect_agreement_leaves_no_doubt() -> None:
    assert plan_study(2, 100, 2, kappa=1).kappa_width == pytest.approx(0)


@pytest.mark.parametrize(("changes", "sentence"), [
    ({"people": 0}, "not 0 people"),
    ({"items": 0}, "0 items"),
    ({"overlap": 3}, "An overlap of 3 needs 3 people, but the plan has 2"),
    ({"agreement_items": 11}, "11 of 10 items cannot be the agreement set"),
    ({"agreement_items": -1}, "-1 of 10 items"),
    ({"seconds_per_item": 0}, "0 seconds per item are impossible"),
    ({"seconds_per_item": float("nan")}, "nan seconds per item"),
    ({"valid_rate": 1.0}, "A share of valid items of 1 leaves nothing to estimate"),
    ({"kappa": 1.5}, "A kappa of 1.5 is impossible"),
    ({"kappa": -0.9, "valid_rate": 0.1}, "A kappa of -0.9 is impossible with a share of 0.1"),
])
def test_numbers_that_make_no_plan_are_refused(changes: dict[str, float], sentence: str) -> None:
    with pytest.raises(StudyError, match=sentence):
        plan_study(**{"people": 2, "items": 10, "overlap": 2, "agreement_items": 0} | changes)  # type: ignore[arg-type]
