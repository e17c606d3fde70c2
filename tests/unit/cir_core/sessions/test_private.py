"""Sessions of a public demo belong to the browser that began them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from cir_core.errors import UnknownSession
from cir_core.sessions.private import Owners, PrivateComparisons, PrivateSessions
from cir_core.types.records import Thumb
from tests.fakes.comparison_store import InMemoryComparisonStore
from tests.fakes.comparisons import a_comparison
from tests.fakes.store import InMemorySessionStore
from tests.fakes.turns import a_session, a_turn


class At:
    """Who asks."""

    browser = "Ada"

    def __call__(self) -> str:
        return self.browser


@pytest.fixture
def at() -> At:
    return At()


@pytest.fixture
def owners(at: At) -> Owners:
    return Owners(at)


@pytest.fixture
def store(owners: Owners) -> PrivateSessions:
    return PrivateSessions(InMemorySessionStore(), owners)


ASKED: dict[str, Any] = {
    "session": lambda store, one: store.session(one),
    "add_turn": lambda store, one: store.add_turn(a_turn(one, None)),
    "name_branch": lambda store, one: store.name_branch(one, "b", "mine"),
    "rename_session": lambda store, one: store.rename_session(one, "mine"),
    "owner_of": lambda store, one: store.owner_of(one),
    "remove_branch": lambda store, one: store.remove_branch(one, "b"),
    "remove_session": lambda store, one: store.remove_session(one),
    "reveal_target": lambda store, one: store.reveal_target(one),
    "put_thumb": lambda store, one: store.put_thumb(one, Thumb("t", "a", "Ann", True, datetime.now(UTC))),
    "drop_thumb": lambda store, one: store.drop_thumb(one, "t", "a", "Ann"),
    "set_target_live": lambda store, one: store.set_target_live(one, True),
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("who", ["Bob", ""])
def test_another_browser_s_session_is_as_one_that_is_not_there(
    store: PrivateSessions, at: At, asked: str, who: str,
) -> None:
    store.create_session(a_session(session_id="s1"))
    at.browser = who
    with pytest.raises(UnknownSession) as others:
        ASKED[asked](store, "s1")
    with pytest.raises(UnknownSession) as none:
        ASKED[asked](store, "s2")
    assert str(others.value).replace("s1", "s2") == str(none.value)


def test_one_s_own_are_opened_changed_and_listed(store: PrivateSessions, at: At) -> None:
    store.create_session(a_session(session_id="s1"))
    store.create_session(a_session(session_id="s2"))
    at.browser = "Bob"
    store.create_session(a_session(session_id="s3"))
    assert [one.session_id for one in store.sessions()] == ["s3"]
    assert store.sessions(among=("s1", "s2")) == ()
    at.browser = "Ada"
    assert store.rename_session("s1", "mine").title == "mine" == store.session("s1").title
    assert {one.session_id for one in store.sessions()} == {"s1", "s2"}
    assert [one.session_id for one in store.sessions(among=("s2", "s3"))] == ["s2"]
    at.browser = ""
    assert store.sessions() == ()


def test_the_list_holds_none_of_another_browser(store: PrivateSessions, at: At) -> None:
    store.create_session(a_session(session_id="s1", target_id="image-00001"))
    assert store.listed("", ("s1",))[1] == 1
    at.browser = "Bob"
    assert store.listed("", ("s1",)) == ((), 0)


def test_nobody_s_session_is_nobody_s(store: PrivateSessions, at: At) -> None:
    at.browser = ""
    store.create_session(a_session(session_id="s1"))
    with pytest.raises(UnknownSession):
        store.session("s1")


def test_what_was_removed_is_forgotten(store: PrivateSessions, owners: Owners) -> None:
    store.create_session(a_session(session_id="s1"))
    owners.forget(["s1", "never"])
    assert not owners.own("s1") and owners.all_of() == ()


def test_comparisons_too(owners: Owners, at: At) -> None:
    store = PrivateComparisons(InMemoryComparisonStore(), owners)
    made = store.add_comparison(a_comparison(comparison_id="c1"))
    assert store.comparison("c1") == made
    at.browser = "Bob"
    with pytest.raises(UnknownSession):
        store.comparison("c1")
