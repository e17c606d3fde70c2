"""A person's default method: chosen in the settings, kept by the browser, begun with by new sessions."""

import json
import re
from dataclasses import replace
from html import unescape

import pytest

from cir_core.errors import CirqueError, EncoderUnavailable, RelevanceUnavailable
from cir_core.methods.declared import builtin_methods
from cir_core.types.methods import method_to_dict
from tests.fakes.colours import NAME
from web.search.actions.base import arrive, begin, open_session, perform
from web.search.actions.settings import preferred_of
from web.search.screen import Screen
from web.search.view import UiState

METHODS = builtin_methods()
SOFT = METHODS["soft"].settings


@pytest.fixture
def view(services):
    return arrive(services, UiState(gallery=NAME), {}, {})


def kept(services, view):
    """What the page keeps, and what the server makes of it when the page is opened again."""
    _, panels = Screen(services).draw(view)
    found = unescape(re.search(r'data-preferred="([^"]*)"', panels["state"]).group(1))
    return preferred_of(services, json.loads(found or "null"))


def test_new_sessions_begin_with_it_in_this_tab_and_the_next(services, view):
    usual = view.method
    mine = perform(services, view, "prefer", {"method": "soft", "soft_filter.weight": "0.4", "weight": "0.4"})
    assert mine.method == mine.preferred != usual and mine.method.soft_filter.weight == 0.4
    assert kept(services, mine) == mine.preferred and mine.notice
    again = arrive(services, UiState(gallery=NAME, preferred=kept(services, mine)), {}, {})
    assert again.method == mine.preferred
    _, job = begin(services, again, "search", {"text": "red"})
    assert services.search.session(job().session_id).method == mine.preferred


def test_a_session_keeps_its_own_method_and_new_begins_with_the_default(services, view):
    started = services.search.start(NAME, method=METHODS["slerp"].settings)
    turn = services.search.run_turn(started.session_id, "red", reference_id="r0g3b0").turn
    empty = services.search.start(NAME, method=METHODS["slerp"].settings, target_id="r3g0b0")
    for one in (started, empty):
        opened = open_session(services.search, replace(view, preferred=SOFT), {"session": one.session_id})
        assert opened.method == METHODS["slerp"].settings
        inside = perform(services, opened, "prefer", {"method": "text-only"})
        assert inside.method == opened.method and inside.session_id == opened.session_id
        new = perform(services, inside, "new", {})
        assert new.method == METHODS["text-only"].settings
    assert turn.session_id == started.session_id


def test_another_choice_holds_until_new(services, view):
    mine = perform(services, view, "prefer", {"method": "soft"})
    other = perform(services, mine, "settings", {"method": "slerp"})
    assert other.method == METHODS["slerp"].settings and other.preferred == SOFT
    assert perform(services, other, "new", {}).method == SOFT
    plain = perform(services, replace(other, preferred=None), "new", {})
    assert plain.method == METHODS["slerp"].settings      # without a default, as before


def test_it_can_be_forgotten(services, view):
    mine = perform(services, view, "prefer", {"method": "soft"})
    off = perform(services, mine, "prefer", {"off": True})
    assert off.preferred is None and off.method == view.method and kept(services, off) is None


@pytest.mark.parametrize(("method", "error"), [
    ("joint", EncoderUnavailable), ("cirevl-cirqrs", RelevanceUnavailable), ("none", CirqueError)])
def test_what_cannot_be_used_here_does_not_become_it(services, view, method, error):
    with pytest.raises(error):
        perform(services, view, "prefer", {"method": method})


@pytest.mark.parametrize("content", [
    None, "", 3, [], "soft", {"base": "magic"}, {"base": "slerp", "shade": 1}, {"alpha": 10**9}, {"soft_filter": 3},
    {"reflection": {"rounds": 10**6}}, method_to_dict(METHODS["cirevl-cirqrs"].settings, whole=True),
])
def test_what_a_browser_kept_that_is_no_method_here_is_ignored(services, content):
    assert preferred_of(services, content) is None


@pytest.mark.parametrize("name", ["soft", "slerp", "corr", "text-only", "guided"])
def test_every_method_comes_back_from_the_browser(services, name):
    settings = METHODS[name].settings
    assert preferred_of(services, json.loads(json.dumps(method_to_dict(settings, whole=True)))) == settings


def test_where_it_is_no_use_the_usual_one_is_begun_with(services):
    joint = UiState(gallery=NAME, preferred=METHODS["joint"].settings)
    assert arrive(services, joint, {}, {}).method == arrive(services, UiState(gallery=NAME), {}, {}).method
