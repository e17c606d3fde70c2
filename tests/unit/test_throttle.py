"""Waiting after wrong passwords: counted in the store, so for all processes and over restarts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from annotation.throttle import Patience, Throttle
from cir_core.errors import TooManyTries
from storage.people import SqlPeopleStore
from tests.fakes.databases import engine_of
from tests.fakes.people import NOON
from tests.fakes.people_store import InMemoryPeopleStore

HERE = "10.0.0.1"


@pytest.fixture(params=["dict", "database"])
def store(request, tmp_path):
    if request.param == "dict":
        yield InMemoryPeopleStore()
        return
    engine = engine_of(tmp_path)
    yield SqlPeopleStore(engine)
    engine.dispose()


def wait_of(throttle, now, name="ada", address=HERE):
    with pytest.raises(TooManyTries) as caught:
        throttle.check(name, address, now)
    return caught.value


def test_five_wrong_ones_are_free_then_the_wait_doubles_up_to_a_limit(store):
    throttle, now = Throttle(store, Patience(5, longest=10)), NOON
    for _ in range(5):
        throttle.check("ada", HERE, now)
        throttle.failed("ada", HERE, now)
    waits = []
    for _ in range(6):
        waits.append(wait_of(throttle, now).seconds)
        now += timedelta(seconds=waits[-1])
        throttle.check("ada", HERE, now)
        throttle.failed("ada", HERE, now)
    assert waits == [1, 2, 4, 8, 10, 10]   # 2^0, 2^1, 2^2, 2^3, then the longest


def test_another_process_counts_on(store):
    """Two throttles over one store are two processes: five free tries together, not each."""
    one, other = Throttle(store), Throttle(store)
    for number in range(5):
        (one if number % 2 else other).failed("ada", HERE, NOON)
    assert wait_of(one, NOON).seconds == wait_of(other, NOON).seconds == 1


def test_the_sentence_says_how_long(store):
    throttle, said = Throttle(store, Patience(1)), []
    for _ in range(11):
        throttle.failed("ada", HERE, NOON)
        said.append(str(wait_of(throttle, NOON)))
    assert said[0] == "Too many wrong passwords. Wait a second and try again."
    assert said[2] == "Too many wrong passwords. Wait 4 seconds and try again."
    assert said[-1] == "Too many wrong passwords. Wait 5 minutes and try again."


def test_others_do_not_wait_and_a_right_one_or_an_hour_makes_good(store):
    throttle = Throttle(store, Patience(1))
    throttle.failed("ada", HERE, NOON)
    throttle.check("bob", HERE, NOON)
    throttle.check("ada", "10.0.0.2", NOON)
    throttle.succeeded("ada", HERE)
    throttle.check("ada", HERE, NOON)
    for _ in range(8):
        throttle.failed("ada", HERE, NOON)
    later = NOON + timedelta(hours=1, seconds=1)
    throttle.failed("ada", HERE, later)   # the first one again: a second
    assert wait_of(throttle, later).seconds == 1
    throttle.check("ada", HERE, later + timedelta(seconds=1))


def test_an_address_waits_whatever_names_it_tries_also_after_a_right_one(store):
    throttle = Throttle(store, by_address=Patience(3))
    for name in ("ada", "bob", "eve"):
        throttle.failed(name, HERE, NOON)
    throttle.succeeded("ada", HERE)
    assert wait_of(throttle, NOON, "dan").seconds == 1
    throttle.check("dan", "10.0.0.2", NOON)


def test_a_clock_that_is_set_back_makes_nobody_wait_longer_than_the_wait(store):
    throttle = Throttle(store, Patience(1))
    throttle.failed("ada", HERE, NOON)
    assert wait_of(throttle, NOON - timedelta(days=1)).seconds == 1


def test_what_is_old_goes_and_names_are_not_kept(tmp_path):
    engine = engine_of(tmp_path)
    store = SqlPeopleStore(engine)
    throttle = Throttle(store)
    throttle.failed("correct horse", HERE, NOON)   # a password, typed into the field of the name
    throttle.failed("ada", "10.0.0.9", NOON + timedelta(hours=2))
    with engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT key, tries FROM wrong_tries").all()
    assert len(rows) == 2 and all(len(key) == 64 for key, _ in rows)   # the later one's, two keys
    engine.dispose()
    assert b"correct horse" not in b"".join(path.read_bytes() for path in tmp_path.glob("cirque.db*"))


def test_none_is_lost_among_many_at_once(tmp_path):
    engine = engine_of(tmp_path)
    store = SqlPeopleStore(engine)

    def fail(_):
        for _ in range(10):
            store.add_wrong_try(["b", "a"], NOON, NOON)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(fail, range(4)))
    assert {key: wrong.count for key, wrong in store.wrong_tries(["a", "b"]).items()} == {"a": 40, "b": 40}
    engine.dispose()
