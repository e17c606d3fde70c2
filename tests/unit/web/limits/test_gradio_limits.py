"""Which sessions are begun, kept and let go, by a clock of its own."""

from __future__ import annotations

import pytest

from web.limits.gradio_limits import ConnectionTable, Limits, TooManyRequests
from web.limits.rates import RateLimit

SMALL = Limits(begun=4, each=2, in_all=5)


@pytest.fixture
def now() -> list[float]:
    return [1000.0]


@pytest.fixture
def table(now: list[float]) -> ConnectionTable:
    return ConnectionTable(SMALL, lambda: now[0])


def let_go(table: ConnectionTable, *busy: str) -> list[str]:
    return list(table.surplus(lambda session: session in busy))


def test_a_person_begins_so_many_sessions_a_minute(table: ConnectionTable, now: list[float]) -> None:
    for number in range(4):
        now[0] = 1000.0 + 10 * number
        table.use("Ann", f"session {number}")
    with pytest.raises(TooManyRequests, match="4 sessions within a minute") as refused:
        table.use("Ann", "one more")
    assert refused.value.seconds == 30, "the first of the four was begun 30 of the 60 seconds ago"
    table.use("Ann", "session 0")     # none that begins
    table.use("Bob", "his own")       # another person's
    now[0] += 30
    table.use("Ann", "one more")
    with pytest.raises(TooManyRequests):
        table.use("Ann", "and another")


def test_of_a_person_the_least_recently_used_are_let_go(table: ConnectionTable) -> None:
    for session in ("a", "b", "a", "c"):
        table.use("Ann", session)
    assert let_go(table) == ["b"] and len(table) == 2
    assert let_go(table) == []


def test_what_is_busy_stays_and_what_is_open_goes_last(table: ConnectionTable) -> None:
    table.use("Ann", "a")
    table.use("Ann", "b")
    with table.opened("a"):
        table.use("Ann", "c")
        assert let_go(table) == ["b"], "a is older, and a page has it open"
        table.use("Ann", "d")
        assert let_go(table, "c") == ["a"], "a page finds its way back, an event does not"
    assert let_go(table) == [] and len(table) == 2


def test_where_all_are_busy_none_goes_and_the_one_used_now_stays(table: ConnectionTable, now: list[float]) -> None:
    for session in "abc":
        table.use("Ann", session)
    assert let_go(table, "a", "b", "c") == []
    assert let_go(table, "a", "b") == [], "c was used last"
    assert let_go(table) == ["a"]


def test_of_everybody_the_least_recently_used_are_let_go(table: ConnectionTable) -> None:
    people = [(name, f"{name} {number}") for number in range(2) for name in ("Ann", "Bob", "Cyd")]
    for name, session in people[:5]:
        table.use(name, session)
        assert let_go(table) == []
    table.use(*people[5])      # the sixth of five
    assert let_go(table) == ["Ann 0"] and len(table) == 5
    table.use("Ann", "Ann 2")
    assert let_go(table) == ["Bob 0"]


def test_letting_one_go_does_not_look_at_all_sessions(now: list[float]) -> None:
    table, looked = ConnectionTable(Limits(begun=1000, each=300, in_all=3000), lambda: now[0]), list[str]()
    for number in range(301):
        table.use("Ann", f"session {number}")
    assert list(table.surplus(lambda session: bool(looked.append(session)))) == ["session 0"] == looked


# --- so many a minute, of each ---------------------------------------------------------------

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
