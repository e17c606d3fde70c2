"""So many a minute, of each."""

from __future__ import annotations

import pytest

from web.limits.gradio_limits import TooManyRequests
from web.limits.rates import RateLimit


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_so_many_in_any_minute() -> None:
    clock = Clock()
    limit = RateLimit(3, "searches", clock)
    for at in (0, 10, 20):
        clock.now = 1000 + at
        limit.take("Ada")
    clock.now = 1030
    with pytest.raises(TooManyRequests, match=r"searches to 3 a minute.*Wait 30 s") as refused:
        limit.take("Ada")
    assert refused.value.seconds == 30
    limit.take("Bob")                  # another visitor has a minute of their own
    clock.now = 1060                   # the first was a minute ago
    limit.take("Ada")
    with pytest.raises(TooManyRequests, match="Wait 10 s"):
        limit.take("Ada")


def test_several_at_once_are_counted_and_what_is_refused_is_not() -> None:
    limit = RateLimit(3, "searches", Clock())
    limit.take("Ada", 2)
    with pytest.raises(TooManyRequests):
        limit.take("Ada", 2)
    limit.take("Ada")
    with pytest.raises(TooManyRequests):
        limit.take("Ada")


def test_more_than_the_limit_can_be_done_in_an_empty_minute() -> None:
    limit = RateLimit(3, "searches", Clock())
    limit.take("Ada", 6)
    with pytest.raises(TooManyRequests, match="Wait 60 s"):
        limit.take("Ada")


def test_who_went_away_takes_no_memory() -> None:
    clock = Clock()
    limit = RateLimit(3, "searches", clock)
    for number in range(1000):
        limit.take(f"visitor {number}")
    clock.now += 61
    limit.take("Ada")
    assert list(limit._taken) == ["Ada"]
