"""The address of a view opens it elsewhere: session, turn, branch, and how it is laid out."""

from __future__ import annotations

import threading
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from cir_core.errors import UnknownSession
from cir_core.methods.declared import builtin_methods
from cir_core.types.composition import Adjustment
from tests.fakes.colours import NAME
from web.http.long_actions import LiveWatch
from web.search.actions.base import arrive, begin, go, perform, resume
from web.search.actions.parts import settle
from web.search.routes import session_routes
from web.search.screen import Screen
from web.search.view import UiState

PATIENCE = 20.0  # seconds; only a failing test waits that long


@pytest.fixture
def view():
    return UiState(gallery=NAME, reference_id="r0g3b0", method=builtin_methods()["slerp"].settings,
                   method_chosen=True, k=20, loaded=True)


def done(services, view, action, **data):
    return begin(services, view, action, data)[1]()


@pytest.fixture
def branched(services, view):
    """Turns 1 and 2, and from 1 another branch, whose turn is shown."""
    first = done(services, view, "search", text="red")
    second = done(services, first, "search", text="green")
    other = done(services, perform(services, second, "turn", {"turn": first.turn_id}), "search", text="blue")
    return first, second, other


def address(view):
    return dict(parse_qsl(view.address))


def opened(services, view, **tab):
    """By a colleague, with the link."""
    return arrive(services, UiState(gallery=NAME), address(view), tab)


def test_the_address_of_a_turn_opens_it_and_its_branch(services, branched):
    first, second, other = branched
    for view in (second, other, replace(first, branch_id=other.branch_id), replace(first, branch_id=second.branch_id)):
        found = opened(services, view)
        assert (found.session_id, found.turn_id, found.branch_id, found.reference_id, found.method, found.notice) == (
            view.session_id, view.turn_id, view.branch_id, view.reference_id, view.method, "")
    assert UiState(gallery=NAME).address == ""
    assert arrive(services, UiState(gallery=NAME), {"session": other.session_id}, {}).turn_id == other.turn_id


def test_the_address_of_a_start_over_shows_the_start_of_its_branch_with_the_reference_that_was_chosen(
        services, branched):
    first, second, _ = branched
    start = begin(services, second, "search", {"text": "start over"})[1]()
    found = opened(services, start)
    assert (found.session_id, found.turn_id, found.branch_id, found.reference_id) == (
        first.session_id, None, second.branch_id, first.reference_id)
    assert found.wall and "search with an image" in Screen(services).draw(found)[1]["results"].lower()
    left = {"session": first.session_id, "shown_turn": "", "shown_reference": "r0g3b0", "search": None}
    for chosen in (opened(services, start, left=left),
                   go(services, second, {"address": address(start), "shown_reference": "r0g3b0"})):
        assert (chosen.turn_id, chosen.branch_id, chosen.reference_id) == (None, second.branch_id, "r0g3b0")


@pytest.mark.parametrize("layout, fold, fold_at", [("list", False, 0.95), ("map", False, 0.95), ("list", True, 0.8),
                                                   ("map", True, 0.99)])
def test_the_address_holds_how_the_results_are_laid_out(services, branched, layout, fold, fold_at):
    found = opened(services, replace(branched[2], layout=layout, fold=fold, fold_at=fold_at))
    assert (found.layout, found.fold) == (layout, fold)
    assert not fold or found.fold_at == fold_at


def test_two_branches_side_by_side_have_an_address(services, branched):
    _, second, other = branched
    beside = perform(services, other, "compare", {})
    assert opened(services, beside).compare == beside.compare == (second.branch_id, other.branch_id)
    assert opened(services, perform(services, beside, "close_compare", {})).compare is None


def test_what_is_not_stored_is_in_no_address(services, branched):
    assert replace(branched[2], adjustment=Adjustment(), problem="no", moves=True).address == branched[2].address


@pytest.mark.parametrize("wrong", [
    {"turn": "nosuchturn"}, {"turn": "' or 1=1"}, {"fold": "nan"}, {"fold": "2"}, {"fold": "x"}, {"layout": "globe"},
    {"branch": "nosuchbranch"}, {"branches": "a,b"}, {"branches": ","}, {"branches": "a"}, {"comparison": "none"},
])
def test_an_address_of_somebodys_own_making_shows_the_session(services, branched, wrong):
    other = branched[2]
    found = arrive(services, UiState(gallery=NAME), address(other) | wrong, {})
    assert (found.session_id, found.turn_id, found.branch_id) == (other.session_id, other.turn_id, other.branch_id)
    assert (found.layout, found.fold, found.compare, found.comparison_id) == ("list", False, None, None)
    assert Screen(services).draw(found)[1]["results"]


def test_a_turn_that_is_gone_is_said(services, branched):
    found = arrive(services, UiState(gallery=NAME), {"session": branched[2].session_id, "turn": "gone"}, {})
    assert "not part of this session any more" in found.notice


def test_the_address_counts_more_than_what_the_tab_showed(services, branched):
    first, second, _ = branched
    left = {"session": first.session_id, "shown_turn": first.turn_id, "shown_reference": "r3g0b0", "search": None}
    assert opened(services, second, left=left).turn_id == second.turn_id
    assert opened(services, first, left=left).reference_id == "r3g0b0"


def test_back_leads_to_the_turn_before_and_to_the_reference_it_began_with(services, view, branched):
    first, second, other = branched
    turned = go(services, other, {"address": address(second)})
    assert (turned.turn_id, turned.branch_id, turned.reference_id) == (
        second.turn_id, second.branch_id, second.reference_id)
    begun = go(services, first, {"address": {}, "shown_reference": "r0g3b0", "shown_further": '["r3g0b0"]'})
    assert (begun.session_id, begun.turn_id, begun.reference_id, begun.further, begun.method) == (
        None, None, "r0g3b0", ("r3g0b0",), view.method)
    assert begun.wall
    again = go(services, begun, {"address": address(first)})
    assert (again.session_id, again.turn_id) == (first.session_id, first.turn_id)


def test_back_leads_before_the_first_turn_of_a_target_and_out_of_a_comparison_there(services, view):
    dealt = perform(services, view, "deal", {})
    turned = done(services, dealt, "search", text="red")
    back = go(services, turned, {"address": address(dealt), "shown_reference": dealt.reference_id})
    assert (back.session_id, back.turn_id, back.reference_id) == (dealt.session_id, None, dealt.reference_id)
    assert back.wall
    aside = replace(back, comparison_id="c")
    assert go(services, aside, {"address": address(dealt)}).comparison_id is None


def test_back_says_what_it_discards(services, branched):
    first, second, _ = branched
    changed = replace(second, adjustment=Adjustment(rounds=0))
    assert go(services, changed, {"address": address(second)}).adjustment == changed.adjustment
    for where in (address(first), {}):
        left = go(services, changed, {"address": where})
        assert not left.adjustment and "discarded" in left.notice


@pytest.mark.parametrize("data", [{}, {"address": 7}, {"address": {"session": 3}}, {"address": {"turn": "x"}}])
def test_back_to_nothing_is_the_start(services, branched, data):
    assert go(services, branched[2], data).session_id is None


def test_back_to_what_is_gone_is_an_error(services, branched):
    for where in ({"session": "gone"}, {"session": branched[2].session_id, "turn": "gone"}):
        with pytest.raises(UnknownSession):
            go(services, branched[2], {"address": where})


@pytest.mark.parametrize("blind", [True, False])
def test_a_comparison_is_there_again(services, branched, blind):
    """In a tab that is loaded again, with its vote; for a colleague, unnamed until they vote."""
    made = done(services, branched[2], "compare_methods", methods=["text-only", "slerp"], text="red", blind=blind,
                who="me")
    perform(services, made, "vote", {"choice": "1"})
    again = opened(services, made, who="me")
    assert (again.comparison_id, again.session_id, again.turn_id, again.annotator) == (
        made.comparison_id, made.session_id, made.turn_id, "me")
    results = Screen(services).draw(again)[1]["results"]
    assert "Your choice" in results and "Slerp" in results
    colleague = opened(services, made, who="somebody else")
    results = Screen(services).draw(colleague)[1]["results"]
    assert "Your choice" not in results and ("Slerp" in results) is not blind
    perform(services, colleague, "vote", {"choice": "0"})
    assert {vote.annotator for vote in services.votes.votes()} == {"me", "somebody else"}
    closed = perform(services, again, "close_columns", {})
    assert opened(services, closed).comparison_id is None
    assert resume(services, UiState(gallery=NAME), address(made), {"shown_turn": made.turn_id, "who": "me"}
                  ).comparison_id == made.comparison_id
    assert go(services, closed, {"address": address(made)}).comparison_id == made.comparison_id


def test_a_comparison_before_the_first_search_is_there_again(services, view):
    made = done(services, view, "compare_methods", methods=["text-only", "slerp"], text="red", who="me")
    again = opened(services, made)
    assert (again.session_id, again.comparison_id, again.reference_id) == (None, made.comparison_id, "r0g3b0")


def test_what_is_new_in_a_session_is_told_to_a_page_that_shows_less(services, branched):
    first, _, other = branched
    app = FastAPI()
    app.include_router(session_routes(services))
    page = TestClient(app)

    def news(turns, session=first.session_id):
        return page.get(f"/session/{session}/news", params={"turns": turns})

    assert news(3).json() == {"turns": 3, "newest": "", "running": False}
    for turns in (0, 1, 2, -1):
        assert news(turns).json() == {"turns": 3, "newest": other.turn_id, "running": False}
    assert news(4).json()["newest"] == ""
    assert (news(1, "nosuchsession").status_code, news("x").status_code) == (404, 422)
    watch = LiveWatch("red")
    watch.stored_in(first.session_id)
    with services.runs.of(watch):
        assert news(3).json()["running"]
    assert perform(services, first, "turn", {"turn": other.turn_id}).turn_id == other.turn_id


def test_a_first_page_waits_for_no_encoder_that_is_being_loaded(services, monkeypatch):
    loads, may_end, load = threading.Event(), threading.Event(), services.search._pool._load_encoder

    def slowly(spec):
        loads.set()
        assert may_end.wait(PATIENCE)
        return load(spec)

    monkeypatch.setattr(services.search._pool, "_load_encoder", slowly)
    warming = threading.Thread(target=services.search.searcher, args=(NAME,))
    assert not services.search.opening(NAME)
    warming.start()
    assert loads.wait(PATIENCE)
    drawn, panels = Screen(services).draw(arrive(services, UiState(gallery=NAME), {}, {}))
    assert drawn.early and drawn.reference_id and len(drawn.wall) > 3
    assert panels["results"].count("data-act=\"reference\"") == len(drawn.wall) and "cq-text" in panels["rail"]
    may_end.set()
    warming.join(PATIENCE)
    settled, panels = Screen(services).draw(settle(services.search, drawn))
    assert not settled.early and "results" not in panels                # nothing that is looked at is drawn again
    assert settled.method == services.search.usual(NAME).settings and settled.reference_id == drawn.reference_id
    assert not arrive(services, UiState(gallery=NAME), {}, {}).early
