"""Where gold stands in a person's work tells nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from statistics import fmean

from annotation.kinds.preference.answers import Preference
from annotation.quality.dealing import deal
from annotation.records import Assignment, GoldItem

AT = datetime(2026, 1, 2, tzinfo=UTC)


def gold(number: int, role: str = "gold") -> GoldItem:
    return GoldItem("s", f"g{number}", role, {}, "", "Ada", AT)   # type: ignore[arg-type]


def work(seat: int, count: int, answered: int = 0) -> list[Assignment]:
    return [Assignment(f"i{seat}-{number}", seat, number, "done" if number < answered else "open", "Ada")
            for number in range(count)]


def test_positions_follow_each_other_and_everything_keeps_its_order() -> None:
    mine = work(1, 12, answered=4)
    places = deal([gold(1), gold(2), gold(3, "training")], mine, lambda rng, near, after: {}, 7)
    assert [one.position for one in places] == list(range(4, 4 + 8 + 2))   # no training for who has begun
    assert [one.item_id for one in places if one.dealt is None] == [one.item_id for one in mine[4:]]
    assert {one.item_id for one in places if one.dealt} == {"g1", "g2"}


def test_training_comes_before_everything() -> None:
    places = deal([gold(1), gold(2, "training"), gold(3, "training")], work(1, 5), lambda rng, near, after: {}, 7)
    assert [one.dealt for one in places[:2]] == ["training", "training"]
    assert sorted(one.dealt or "" for one in places[2:]) == [""] * 5 + ["gold"]


def test_nobody_gets_an_item_twice_and_an_empty_seat_nothing() -> None:
    mine = [*work(1, 3), Assignment("g1", 1, 3, "open", "Ada")]
    assert deal([gold(1)], mine, lambda rng, near, after: {}, 7) == []
    assert deal([gold(1)], work(1, 3, answered=3), lambda rng, near, after: {}, 7) == []


def test_every_place_is_as_likely() -> None:
    """2 gold items among 8: over many seats the share of gold at each of the 10 places is 0.2. Of 600 seats a share is
    within 4 standard errors, 4 √(0.2 · 0.8 / 600) = 0.065."""
    seats, at = 600, []
    for seed in range(seats):
        places = deal([gold(1), gold(2)], work(1, 8), lambda rng, near, after: {}, seed)
        at += [one.position for one in places if one.dealt]
    shares = [at.count(place) / seats for place in range(10)]
    assert all(abs(share - 0.2) < 0.065 for share in shares), shares
    assert abs(fmean(at) - 4.5) < 0.35   # 4 · 2.87 / √1200 = 0.33


def test_a_gold_item_is_shown_as_its_neighbours_are() -> None:
    """Every question of a survey that always asks for a reason does; the form is that of the question before."""
    asks = [Assignment(f"i{place}", 1, place, "open", "Ada", {"form": 1 + place // 3, "reason": True, "first": 1})
            for place in range(6)]
    for seed in range(20):
        places = deal([gold(1)], asks, Preference().dealt_extra, seed)
        assert all(one.extra["reason"] for one in places)
        assert (forms := [one.extra["form"] for one in places]) == sorted(forms)
    never = [replace(one, extra={**one.extra, "reason": False}) for one in asks]
    assert not any(one.extra["reason"] for one in deal([gold(1)], never, Preference().dealt_extra, 7))
