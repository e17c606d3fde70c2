"""What many ask for is made once: by how many, when, and what becomes of failures."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from web.analysis_cache import Shared


class Counted:
    """Makes the numbers 1, 2, …; may be made to wait or to fail."""

    def __init__(self) -> None:
        self.calls = 0
        self.go = threading.Event()
        self.go.set()
        self.error: Exception | None = None

    def __call__(self) -> int:
        self.calls += 1
        number = self.calls
        assert self.go.wait(5)
        if self.error is not None:
            raise self.error
        return number


def in_threads(many, ask, begun):
    """Ask ``many`` times at once; ``begun`` is called when all have had time to ask."""
    standing = threading.Barrier(many + 1)

    def one():
        standing.wait(5)
        return ask()

    with ThreadPoolExecutor(many) as pool:
        found = [pool.submit(one) for _ in range(many)]
        standing.wait(5)
        threading.Event().wait(0.1)
        begun()
        return [(each.exception() or each.result()) for each in found]


def test_sixteen_who_ask_at_once_cost_one():
    kept, make = Shared(4), Counted()
    make.go.clear()
    assert in_threads(16, lambda: kept.get("a", make), make.go.set) == [1] * 16
    assert kept.get("a", make) == 1 and make.calls == 1 and kept.has("a") and not kept.has("b")


def test_a_failure_goes_to_all_who_wait_and_is_not_kept():
    kept, make = Shared(4), Counted()
    make.go.clear()
    make.error = ValueError("no")
    found = in_threads(8, lambda: kept.get("a", make), make.go.set)
    assert make.calls == 1 and {str(one) for one in found} == {"no"}
    make.error = None
    assert kept.get("a", make) == 2


def test_others_do_not_wait():
    kept, make = Shared(4), Counted()
    make.go.clear()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(kept.get, "slow", make)
        assert kept.get("quick", lambda: 7) == 7
        make.go.set()
        assert waiting.result(5) == 1


def test_what_was_not_used_for_longest_goes():
    kept = Shared(2)
    for key in "ab":
        kept.get(key, lambda key=key: key)
    kept.get("a", lambda: "again")
    kept.get("c", lambda: "c")
    assert [kept.get(key, lambda: "anew") for key in "ac"] == ["a", "c"]
    assert kept.get("b", lambda: "anew") == "anew"


def test_what_is_being_made_stays():
    kept, make = Shared(1), Counted()
    make.go.clear()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(kept.get, "slow", make)
        while not make.calls:
            pass
        assert not kept.has("slow")
        kept.get("other", lambda: 0)
        second = pool.submit(kept.get, "slow", make)
        make.go.set()
        assert (first.result(5), second.result(5), make.calls) == (1, 1, 1)


def test_a_value_lasts_from_when_its_making_began():
    now = [0.0]
    kept, make = Shared(4, lasts=2.0, clock=lambda: now[0]), Counted()
    seen = []
    for now[0] in (0.0, 1.9, 2.0, 3.9, 4.1):
        seen.append(kept.get("a", make))
    assert seen == [1, 1, 2, 2, 3]


def test_who_asks_after_it_was_forgotten_gets_a_new_one():
    kept, make = Shared(4, lasts=60.0), Counted()
    make.go.clear()
    with ThreadPoolExecutor(2) as pool:
        before = pool.submit(kept.get, "a", make)
        while not make.calls:
            pass
        kept.forget("a")
        after = pool.submit(kept.get, "a", make)
        while make.calls < 2:
            pass
        make.go.set()
        assert (before.result(5), after.result(5)) == (1, 2)
    assert kept.get("a", make) == 2


def test_an_interrupted_making_is_not_kept():
    kept = Shared(4)

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kept.get("a", interrupted)
    assert kept.get("a", lambda: 3) == 3
