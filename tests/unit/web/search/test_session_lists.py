"""*My sessions* and the branches of one on the search screen: named, searched, taken away and had back."""

import re
from dataclasses import replace

import pytest

from cir_core.errors import SearchError, UnknownSession
from cir_core.methods.declared import builtin_methods
from tests.fakes.colours import NAME
from web.search.actions.base import begin, open_session, perform
from web.search.actions.sessions import Asked, asked
from web.search.api import run_search
from web.search.screen import Screen
from web.search.view import UiState

METHODS = builtin_methods()


@pytest.fixture
def view():
    return UiState(gallery=NAME, reference_id="r0g3b0", method=METHODS["slerp"].settings, method_chosen=True, k=20,
                   loaded=True)


def searched(services, view, text="red", **data):
    _, job = begin(services, view, "search", {"text": text, **data})
    return job()


def listed(services, view, **data):
    _, panels = Screen(services).draw(view, sessions=asked(data))
    return panels["sessions"]


def titles(html):
    return re.findall(r"<b>([^<]*)</b>", html.partition('class="cq-scores"')[0])


def branched(services, view):
    """Turns 1 to 3, and another second turn, which is shown."""
    one = searched(services, view, "red")
    two = searched(services, one, "green")
    three = searched(services, two, "blue")
    other = searched(services, one, "white")
    return one, two, three, other


def test_ten_at_a_time_the_newest_first(services, view):
    for number in range(12):
        view = searched(services, replace(view, session_id=None, turn_id=None), f"red {number}")
    html = listed(services, view)
    assert titles(html) == [f"red {number}" for number in range(11, 1, -1)]
    assert "10 of 12" in html and 'data-count="20"' in html
    html = listed(services, view, count=20)
    assert len(titles(html)) == 12 and "Show 10 more" not in html


@pytest.mark.parametrize(("count", "taken"), [
    (None, 10), ("20", 10), (True, 10), (-5, 10), (20, 20), (10**9, 1000), ([], 10),
])
def test_what_a_browser_sends_of_a_list_is_bounded(count, taken):
    assert asked({"words": "x" * 500, "count": count}) == Asked("x" * 200, taken)
    assert asked({"words": 3}).words == ""


def test_they_are_searched_and_say_what_to_do_where_there_are_none(services, view):
    assert "type what should be different" in listed(services, view)
    view = searched(services, view, "RÖT & <b>")
    assert titles(listed(services, view, words="röt")) == ["RÖT &amp; &lt;b&gt;"]
    html = listed(services, view, words='no"<ne')
    assert titles(html) == [] and 'data-session-do="all"' in html and 'value="no&#34;&lt;ne"' in html


def test_one_is_named_removed_and_had_back_in_a_browser_without_accounts(services, view):
    first = searched(services, view)
    view = searched(services, replace(first, session_id=None, turn_id=None), "green")
    renamed = perform(services, view, "rename_session", {"session": first.session_id, "name": "Mine"})
    assert titles(listed(services, renamed)) == ["green", "Mine"]
    gone = perform(services, renamed, "remove_session", {"session": first.session_id})
    html = listed(services, gone)
    assert titles(html) == ["green"] and gone.session_id == view.session_id
    assert "“Mine” was removed from this list" in html
    assert listed(services, perform(services, gone, "sessions", {})).count('data-session-do="restore"') == 1
    assert open_session(services.search, gone, {"session": first.session_id}).turn_id == first.turn_id
    assert services.search.listed("", [first.session_id])[1] == 1    # somebody else's list is as it was
    back = perform(services, gone, "restore_session", {"session": first.session_id})
    assert titles(listed(services, back)) == ["green", "Mine"] and back.deleted is None


def test_without_the_one_that_is_shown_a_new_search_begins(services, view):
    view = searched(services, view)
    gone = perform(services, view, "remove_session", {"session": view.session_id})
    assert gone.session_id is None and gone.turn_id is None and gone.wall and titles(listed(services, gone)) == []


def test_with_accounts_one_s_own_are_listed_in_every_browser(services, view):
    ann = searched(services, replace(view, person="Ann"), "hers")
    bob = searched(services, replace(view, person="Bob", mine=(ann.session_id,)), "his")
    nobody = searched(services, view, "earlier")
    other_browser = replace(view, person="Ann", mine=(bob.session_id, nobody.session_id))
    assert titles(listed(services, other_browser)) == ["earlier", "hers"]
    assert titles(listed(services, replace(view, person="Bob", mine=bob.mine))) == ["his"]
    gone = perform(services, other_browser, "remove_session", {"session": ann.session_id})
    assert titles(listed(services, gone)) == ["earlier"]
    assert titles(listed(services, replace(view, person="Ann"))) == []
    back = perform(services, gone, "restore_session", {"session": ann.session_id})
    assert titles(listed(services, back)) == ["earlier", "hers"]


@pytest.mark.parametrize(("action", "data"), [
    ("rename_session", {"name": "mine"}), ("remove_session", {}), ("restore_session", {}),
    ("delete_branch", {}), ("restore_branch", {}), ("name_branch", {"name": "mine"}),
])
def test_nobody_takes_away_what_belongs_to_another(services, view, action, data):
    *_, hers = branched(services, replace(view, person="Ann"))
    branch = hers.branch_id
    theirs = open_session(services.search, replace(view, person="Bob"), {"session": hers.session_id})
    with pytest.raises(SearchError, match="belongs to Ann"):
        perform(services, theirs, action, {"session": hers.session_id, "branch": branch, **data})
    assert len(services.search.session(hers.session_id).branches) == 2
    assert searched(services, theirs, "black").session_id == hers.session_id     # but searches on


def test_target_sessions_and_calls_belong_to_the_account_too(services, view):
    aimed = perform(services, replace(view, person="Ann"), "deal", {})
    run_search(services, "r0g3b0", None, "red", "", 5, "slerp", person="Ann")
    run_search(services, "r0g3b0", None, "red", "", 5, "slerp")
    rows, count = services.search.listed("Ann", ())
    assert count == 2 and aimed.session_id in {row.session_id for row in rows}


def test_a_branch_is_deleted_and_had_back(services, view):
    *_, three, other = branched(services, view)
    gone = perform(services, other, "delete_branch", {"branch": other.branch_id})
    assert gone.turn_id == three.turn_id and gone.reference_id == three.reference_id   # where it began, to the end
    _, panels = Screen(services).draw(gone)
    assert "Branch 2 was deleted" in panels["results"] and "cq-tree" not in panels["strip"]
    back = perform(services, gone, "restore_branch", {"branch": other.branch_id, "turn": other.turn_id})
    assert back.turn_id == other.turn_id and back.branch_id == other.branch_id and back.deleted is None
    _, panels = Screen(services).draw(back)
    assert panels["strip"].count('data-act="delete_branch"') == 2 and "was deleted" not in panels["results"]


def test_one_that_is_not_shown_leaves_the_view_as_it_is(services, view):
    one, _, three, other = branched(services, view)
    for shown in (other, perform(services, other, "turn", {"turn": one.turn_id, "branch": other.branch_id})):
        gone = perform(services, shown, "delete_branch", {"branch": three.branch_id})
        assert (gone.turn_id, gone.reference_id, gone.branch_id) == (shown.turn_id, shown.reference_id, other.branch_id)
        turns = services.search.session(gone.session_id).turns
        assert [(turn.number, turn.branch_id) for turn in turns] == [(1, other.branch_id), (2, other.branch_id)]
        Screen(services).draw(gone)
        perform(services, gone, "restore_branch", {"branch": three.branch_id})


def test_the_last_branch_stays(services, view):
    *_, three, other = branched(services, view)
    gone = perform(services, other, "delete_branch", {"branch": other.branch_id})
    with pytest.raises(SearchError, match="only branch"):
        perform(services, gone, "delete_branch", {"branch": three.branch_id})


@pytest.mark.parametrize("branch", ["", "none"])
def test_a_branch_that_is_not_there_is_not_deleted(services, view, branch):
    with pytest.raises(UnknownSession):
        perform(services, branched(services, view)[-1], "delete_branch", {"branch": branch})


def test_changes_that_are_not_kept_are_not_lost_with_their_turn(services, view):
    *_, other = branched(services, replace(view, method=METHODS["soft"].settings))
    changed = replace(other, adjustment=replace(other.adjustment, rounds=0))
    for action, data in (("delete_branch", {"branch": other.branch_id}),
                         ("remove_session", {"session": other.session_id})):
        with pytest.raises(SearchError, match="unsaved changes"):
            perform(services, changed, action, data)


def test_the_list_has_what_the_browser_knows_now(services, view):
    """An import of several, another tab, or a server that was restarted: the page was not loaded again."""
    first = searched(services, view, "red")
    second = searched(services, replace(first, session_id=None, turn_id=None), "green")
    known = {"sessions": [first.session_id, second.session_id, 7, "x" * 65]}
    view = perform(services, replace(view, mine=()), "sessions", known)
    assert view.mine == (first.session_id, second.session_id)
    assert sorted(titles(listed(services, view))) == ["green", "red"]
