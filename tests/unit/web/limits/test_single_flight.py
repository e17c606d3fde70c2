"""What many ask for is made once: by how many, when, and what becomes of failures."""

from __future__ import annotations

import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fakes.patience import wait_for
from web.limits.single_flight import LatestVersionCache, SingleFlightCache


class Counted:
    """Makes the numbers 1, 2, …; may be made to wait or to fail."""

    def __init__(self) -> None:
        self.calls = 0
        self.go = threading.Event()
        self.go.set()
        self.began = threading.Semaphore(0)
        self.error: Exception | None = None

    def __call__(self) -> int:
        self.calls += 1
        number = self.calls
        self.began.release()
        assert self.go.wait(60)
        if self.error is not None:
            raise self.error
        return number


def ask_at_once(many, kept, make):
    """What each gets of ``many`` who ask before it is made."""
    make.go.clear()
    with ThreadPoolExecutor(many) as pool:
        found = [pool.submit(kept.get, "a", make) for _ in range(many)]
        assert make.began.acquire(timeout=60)
        wait_for(lambda: len(kept._pending["a"].future._condition._waiters) == many - 1)
        make.go.set()
        return [(each.exception() or each.result()) for each in found]


def test_sixteen_who_ask_at_once_cost_one():
    kept, make = SingleFlightCache(4), Counted()
    assert ask_at_once(16, kept, make) == [1] * 16
    assert kept.get("a", make) == 1 and make.calls == 1 and kept.has("a") and not kept.has("b")


def test_a_failure_goes_to_all_who_wait_and_is_not_kept():
    kept, make = SingleFlightCache(4), Counted()
    make.error = ValueError("no")
    found = ask_at_once(8, kept, make)
    assert make.calls == 1 and {str(one) for one in found} == {"no"}
    make.error = None
    assert kept.get("a", make) == 2


def test_others_do_not_wait():
    kept, make = SingleFlightCache(4), Counted()
    make.go.clear()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(kept.get, "slow", make)
        assert kept.get("quick", lambda: 7) == 7
        make.go.set()
        assert waiting.result(60) == 1


def test_what_was_not_used_for_longest_goes():
    kept = SingleFlightCache(2)
    for key in "ab":
        kept.get(key, lambda key=key: key)
    kept.get("a", lambda: "again")
    kept.get("c", lambda: "c")
    assert [kept.get(key, lambda: "anew") for key in "ac"] == ["a", "c"]
    assert kept.get("b", lambda: "anew") == "anew"


def test_what_is_being_made_stays():
    kept, make = SingleFlightCache(1), Counted()
    make.go.clear()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(kept.get, "slow", make)
        assert make.began.acquire(timeout=60)
        assert not kept.has("slow")
        kept.get("other", lambda: 0)
        second = pool.submit(kept.get, "slow", make)
        make.go.set()
        assert (first.result(60), second.result(60), make.calls) == (1, 1, 1)


def test_a_value_lasts_from_when_its_making_began():
    now = [0.0]
    kept, make = SingleFlightCache(4, lasts={"a": 2.0, "b": 4.0}.__getitem__, clock=lambda: now[0]), Counted()
    seen, other = [], []
    for now[0] in (0.0, 1.9, 2.0, 3.9, 4.1):
        seen.append(kept.get("a", make))
        other.append(kept.get("b", lambda: now[0]))
    assert seen == [1, 1, 2, 2, 3] and other == [0.0, 0.0, 0.0, 0.0, 4.1]


def test_who_asks_after_it_was_dropped_gets_a_new_one():
    kept, make = SingleFlightCache(4, lasts=lambda key: 60.0), Counted()
    make.go.clear()
    with ThreadPoolExecutor(2) as pool:
        before = pool.submit(kept.get, "a", make)
        assert make.began.acquire(timeout=60)
        kept.drop(lambda key: key == "a")
        after = pool.submit(kept.get, "a", make)
        assert make.began.acquire(timeout=60)
        make.go.set()
        assert (before.result(60), after.result(60)) == (1, 2)
    assert kept.get("a", make) == 2


def test_an_interrupted_making_is_not_kept():
    kept = SingleFlightCache(4)

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kept.get("a", interrupted)
    assert kept.get("a", lambda: 3) == 3


def test_what_is_dropped_is_made_anew_and_the_rest_stays():
    kept, make = SingleFlightCache(4), Counted()
    for key in (("a", 1), ("a", 2), ("b", 1)):
        kept.get(key, lambda key=key: key)
    kept.drop(lambda key: key[0] == "a" and key[1] != 2)
    assert [kept.has(key) for key in (("a", 1), ("a", 2), ("b", 1))] == [False, True, True]
    make.go.clear()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(kept.get, ("a", 1), make)
        assert make.began.acquire(timeout=60)
        kept.drop(lambda key: True)
        make.go.set()
        assert waiting.result(60) == 1   # who waited gets it
    assert kept.get(("a", 1), make) == 2


class Large:
    """Stands for a study's answers. Says how many there are at most."""

    alive = most = 0

    def __init__(self):
        Large.alive += 1
        Large.most = max(Large.most, Large.alive)
        weakref.finalize(self, Large.gone)

    @classmethod
    def gone(cls):
        cls.alive -= 1


def test_of_the_newest_there_is_one_at_a_time():
    Large.alive = Large.most = 0
    kept, made, at_once = LatestVersionCache(3), [], []
    one = threading.Lock()

    def make(number):
        at_once.append(one.acquire(blocking=False))
        threading.Event().wait(0.01)
        made.append(number)
        one.release()
        return Large()

    def ask(number):
        for newer in range(number, 50, 5):
            kept.get("study", newer, lambda newer=newer: make(newer))

    with ThreadPoolExecutor(5) as pool:
        for done in [pool.submit(ask, number) for number in range(5)]:
            done.result(60)
    # None was begun beside another one, none was made of what is older, and the old one went before.
    assert all(at_once) and made == sorted(set(made)) and made[-1] == 49
    assert (Large.alive, Large.most) == (1, 1)
    assert kept.has("study", 49) and kept.has("study", 3) and not kept.has("study", 50)


def test_the_newest_of_few_keys_and_nothing_of_a_failure():
    kept = LatestVersionCache(2)
    for key in "abc":
        kept.get(key, 1, lambda key=key: key)
    assert [kept.has(key, 1) for key in "abc"] == [False, True, True]

    def fails():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        kept.get("b", 2, fails)
    assert not kept.has("b", 1) and kept.get("b", 2, lambda: "again") == "again"


def test_what_is_being_made_is_not_let_go_for_others():
    kept, make = LatestVersionCache(1), Counted()
    make.go.clear()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(kept.get, "slow", 1, make)
        assert make.began.acquire(timeout=60)
        assert kept.get("other", 1, lambda: 7) == 7
        second = pool.submit(kept.get, "slow", 1, make)
        make.go.set()
        assert (first.result(60), second.result(60), make.calls) == (1, 1, 1)
