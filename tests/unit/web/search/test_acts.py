"""Texts that are something to do: done in the tree of turns, said, and searched as words where that was meant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cir_core.errors import SearchError
from cir_core.methods.declared import builtin_methods
from tests.fakes.colours import NAME
from web.search.actions.base import begin, perform
from web.search.api import START, run_search
from web.search.screen import Screen
from web.search.view import UiState

SLERP = builtin_methods()["slerp"].settings
FIRST = UiState(gallery=NAME, reference_id="r0g3b0", method=SLERP, k=8, wall=("r0g0b3",), loaded=True)


def say(services, view, text, **data):
    return begin(services, view, "search", {"text": text, **data})[1]()


def turns(services, view):
    return services.search.session(view.session_id).turns


def ids(services, view):
    return [hit.image_id for hit in services.search.loaded(view.session_id, view.turn_id).turn.hits]


@pytest.fixture
def talk(services):
    """The views of three turns, each of which goes on from the first result of the one before."""
    views = [FIRST]
    for text in ("red", "blue", "green"):
        selected = ids(services, views[-1])[0] if views[-1].turn_id else "r0g3b0"
        views.append(say(services, views[-1], text, reference=selected))
    return views[1:]


@pytest.mark.parametrize(("text", "shown"), [
    ("undo", 1), ("No, go back!", 1), ("rückgängig", 1), ("元に戻す", 1), ("undo the last two", 0),
    ("back to the first one", 0), ("back to the second one", 1), ("go back to turn 3", 2),
])
def test_an_earlier_turn_is_shown_as_if_it_were_clicked(services, talk, text, shown):
    view = say(services, talk[-1], text)
    clicked = perform(services, talk[-1], "turn", {"turn": talk[shown].turn_id})
    assert replace(view, taken=None) == clicked
    assert view.taken.text == text and view.taken.said.endswith(f": shows turn {shown + 1}")
    assert len(turns(services, view)) == 3
    # The next search goes on from there, on a branch of its own.
    on = say(services, view, "red")
    assert turns(services, on)[-1].parent_id == (talk[shown].turn_id) and on.taken is None


@pytest.mark.parametrize(("text", "number"), [
    ("start over", 2), ("from scratch", 0), ("undo", 0), ("go back 3 steps", 2),
])
def test_started_over_the_first_reference_is_shown_without_words(services, talk, text, number):
    view = say(services, talk[number], text)
    assert (view.turn_id, view.reference_id, view.session_id) == (None, "r0g3b0", talk[0].session_id)
    assert "shows the first reference, without words" in view.taken.said and len(turns(services, view)) == 3
    _, panels = Screen(services).draw(view)
    assert panels["strip"].count('data-act="turn"') >= 3 and 'aria-current="step"' not in panels["strip"]
    assert "taken as" in panels["results"] and 'data-act="words"' in panels["results"]
    on = say(services, view, "blue")
    assert turns(services, on)[-1].parent_id is None and len(services.search.session(on.session_id).branches) == 2


def test_something_else_searches_the_same_request_without_what_was_shown(services, talk):
    asked = talk[1]
    first = say(services, asked, "something else")
    second = say(services, first, "not those")
    shown = [ids(services, one) for one in (asked, first, second)]
    assert len({image_id for one in shown for image_id in one}) == sum(map(len, shown)) == 24
    *_, before, after = turns(services, second)
    assert {one.modification_text for one in (before, after)} == {"blue"}
    assert before.parent_id == after.parent_id == talk[0].turn_id
    assert before.reference_id == turns(services, asked)[1].reference_id
    assert "without the 9 images that were shown before" in before.notes   # the reference is one of them
    assert second.taken.said == "something else: the request of turn 2 without the images shown"
    # It is undone one by one.
    assert say(services, second, "undo").turn_id == first.turn_id
    assert say(services, say(services, second, "undo"), "undo").turn_id == asked.turn_id
    assert say(services, say(services, second, "undo the last two"), "undo").turn_id == talk[0].turn_id


def test_only_what_was_seen_is_left_out(services, talk):
    shown = ids(services, talk[0])
    view = say(services, talk[0], "others", seen=3)
    assert not set(shown[:3]) & set(ids(services, view)) and ids(services, view)[:5] == shown[3:]
    assert say(services, view, "undo").turn_id == talk[0].turn_id


def test_where_everything_was_shown_that_is_said(services):
    view = say(services, replace(FIRST, k=1000), "red")
    with pytest.raises(SearchError, match="Every image of this gallery has been shown"):
        say(services, view, "something else")
    assert len(turns(services, view)) == 1


@pytest.mark.parametrize(("text", "said"), [
    ("undo", "undo, but there is nothing earlier to go back to"),
    ("something else", "something else, but nothing was searched yet"),
    ("start over", "start over, but there is nothing earlier to go back to"),
])
def test_without_a_turn_there_is_nothing_to_do(services, text, said):
    view = say(services, FIRST, text)
    assert (view.session_id, view.taken.said) == (None, said) and replace(view, taken=None) == FIRST


def test_a_turn_that_is_not_there_is_said(services, talk):
    view = say(services, talk[1], "back to turn 3")
    assert view.turn_id == talk[1].turn_id
    assert view.taken.said == "back to turn 3, but this branch has 2 turns up to here"


def test_the_words_can_be_searched_instead(services, talk):
    taken = say(services, talk[2], "others", reference="r0g0b3")
    assert turns(services, taken)[-1].parent_id == talk[1].turn_id
    view = begin(services, taken, "words", {})[1]()
    last = turns(services, view)[-1]
    assert (last.modification_text, last.parent_id, last.reference_id) == ("others", talk[2].turn_id, "r0g0b3")
    assert view.taken is None
    with pytest.raises(SearchError, match="There is no session yet"):
        begin(services, FIRST, "words", {})
    assert perform(services, taken, "fold", {}).taken is None


def test_what_was_read_by_earlier_turns_can_be_searched_as_typed(services):
    """The reader of anything takes "like the second one" for a result, which becomes the reference."""
    first = say(services, FIRST, "red")
    pointed = say(services, first, "like the second one")
    assert pointed.reference_id == ids(services, first)[1]
    typed = begin(services, replace(pointed, reference_id="r0g3b0"), "words", {})[1]()
    last = turns(services, typed)[-1]
    assert (last.modification_text, last.parent_id) == ("like the second one", first.turn_id)
    assert not last.composition.read_as and not [note for note in last.notes if note.startswith("reference: ")]


def test_undo_takes_back_a_change_to_the_turn_first(services, talk):
    changed = replace(talk[1], undo=(talk[1].adjustment,))
    view = say(services, changed, "undo")
    assert (view.turn_id, view.undo) == (talk[1].turn_id, ()) and "your last change" in view.taken.said


def test_methods_are_not_compared_by_an_act(services, talk):
    with pytest.raises(SearchError, match="'undo' is a command, not a search"):
        begin(services, talk[1], "compare_methods", {"text": "undo", "methods": ["slerp", "text-only"]})


def test_a_program_says_the_same(services):
    first = run_search(services, "r0g3b0", None, "red", "", 8, "slerp")
    session = first["session_id"]
    second = run_search(services, "", None, "blue", session, 8)
    undone = run_search(services, "", None, "undo", session, 8)
    assert (undone["turn_id"], undone["hits"]) == (first["turn_id"], first["hits"])
    assert undone["notes"][0] == "taken as undo: shows turn 1"
    others = run_search(services, "", None, "something else", session, 8, turn=undone["turn_id"])
    assert not {one["image_id"] for one in others["hits"]} & {one["image_id"] for one in first["hits"]}
    start = run_search(services, "", None, "start over", session, 8, turn=second["turn_id"])
    assert (start["turn_id"], start["hits"]) == (START, []) and "r0g3b0" in start["notes"][0]
    again = run_search(services, "", None, "red", session, 8, turn=START)
    assert again["hits"] == first["hits"]
    stored = services.search.session(session).turns
    assert [one.parent_id for one in stored] == [None, first["turn_id"], None, None]
    as_words = run_search(services, "", None, "undo", session, 8, words=True)
    assert services.search.session(session).turns[-1].turn_id == as_words["turn_id"]
    with pytest.raises(SearchError, match=r"nothing earlier to go back to\. Give “words”"):
        run_search(services, "", None, "undo", session, 8, turn=START)
    with pytest.raises(SearchError, match="not part of this session"):
        run_search(services, "", None, "red", session, 8, turn="other")
