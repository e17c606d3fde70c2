"""Columns on the screen: what a blind judge may not read is not in the page."""

import dataclasses
import json

import pytest

from cir_core.errors import LanguageModelError, SearchError
from cir_core.language.tasks import ConstraintsAnswer, ConstraintsTask
from cir_core.methods.declared import builtin_methods
from cir_core.types.composition import Adjustment, Marks
from cir_core.types.records import SoftFilter
from tests.fakes.colours import NAME
from tests.fakes.language import ScriptedLanguageModel
from web.search.actions.columns import COLUMN_ACTIONS, COLUMN_LONG
from web.search.presenters.columns import chooser, columns
from web.search.screen import Screen
from web.search.view import UiState
from web.ui.static_files import fill

METHODS = builtin_methods()


class Filtering(ScriptedLanguageModel):
    """Knows that red is wanted and green is not."""

    def complete(self, task, watch=None):
        if isinstance(task, ConstraintsTask):
            return ConstraintsAnswer(add=("red",), remove=("green",), prescriptive="red", proscriptive="green")
        return super().complete(task, watch)


COMPARED = ["text-only", "image-only", "soft"]


@pytest.fixture
def language():
    return Filtering("green")


def compared(services, *, blind=True, methods=COMPARED):
    view = UiState(gallery=NAME, reference_id="r0g3b0")
    watch, job = COLUMN_LONG["compare_methods"](
        services, view, {"methods": methods, "text": "red", "blind": blind, "who": "me"})
    return job(), watch


def drawn(services, view, who="me"):
    comparison = services.compare.comparison(view.comparison_id)
    shown = columns(comparison, services.votes.votes(comparison.comparison_id), who, METHODS, "v", lambda _: None)
    return comparison, shown, fill("search/columns.html", view=view, columns=shown)


def test_a_blind_page_names_nothing_before_the_vote(services):
    view, _ = compared(services)
    comparison, shown, html = drawn(services, view)
    payload = (json.dumps(shown) + html).lower()
    for name in COMPARED:
        assert name not in payload and METHODS[name].title.lower() not in payload
    secrets = [column.protocol.digest for column in comparison.columns] + ["green red", "reward", "penalty", " ms"]
    scores = [f"{hit.score:.3f}" for column in comparison.columns for hit in column.hits[:10]]
    for secret in secrets + scores:
        assert secret not in payload, secret
    assert html.count("data-choice") == len(COMPARED) + 1
    assert 'data-act="layout"' not in html and 'data-act="fold"' not in html   # neither a map nor folds


def test_the_vote_uncovers_the_names_for_who_voted_alone(services):
    view, _ = compared(services)
    COLUMN_ACTIONS["vote"](services, view, {"choice": "1"})
    comparison, shown, html = drawn(services, view)
    assert shown["columns"][1]["chosen"] and METHODS[comparison.columns[1].method].title in html
    (vote,) = services.votes.votes()
    assert (vote.chosen, vote.blind, vote.shown) == (
        comparison.columns[1].method, True, tuple(column.method for column in comparison.columns))
    _, other, _ = drawn(services, view, who="somebody else")
    assert not other["named"] and "title" not in other["columns"][0]


def test_a_changed_mind_after_the_names_is_not_blind(services):
    view, _ = compared(services)
    COLUMN_ACTIONS["vote"](services, view, {"choice": "0"})
    COLUMN_ACTIONS["vote"](services, view, {"choice": "none"})
    (vote,) = services.votes.votes()
    assert vote.chosen is None and not vote.blind


@pytest.mark.parametrize("choice", ["3", "-1", "x", "", "1e0"])
def test_a_vote_for_nothing_shown_is_refused(services, choice):
    view, _ = compared(services)
    with pytest.raises(SearchError, match="Reload"):
        COLUMN_ACTIONS["vote"](services, view, {"choice": choice})
    assert services.votes.votes() == []


def test_progress_of_a_blind_run_is_silent(services):
    _, watch = compared(services)
    assert watch.progress.done == len(COMPARED)
    assert (watch.progress.stage, watch.progress.rounds, watch.progress.partial) == ("", (), None)


def test_open_columns_tell_everything(services):
    view, _ = compared(services, blind=False)
    comparison, shown, html = drawn(services, view)
    assert [column["method"] for column in shown["columns"]] == COMPARED
    assert "no server calls" in html and comparison.columns[0].protocol.digest in html
    pairs = {row["pair"]: row["shared"] for row in shown["overlaps"]}
    ids = [{hit.image_id for hit in column.hits[:10]} for column in comparison.columns]
    assert pairs == {"A and B": len(ids[0] & ids[1]), "A and C": len(ids[0] & ids[2]), "B and C": len(ids[1] & ids[2])}
    for place, column in enumerate(shown["columns"]):
        others = set().union(*(ids[i] for i in range(3) if i != place))
        assert [tile["only"] for tile in column["tiles"]] == [tile["id"] not in others for tile in column["tiles"]]


def test_searching_on_with_a_method_begins_a_new_session(services):
    view, _ = compared(services, blind=False)
    on = COLUMN_ACTIONS["use_method"](services, view, {"method": "soft"})
    assert on.method.soft_filter is not None and on.comparison_id is None and on.method.exclude == view.method.exclude


def test_what_a_page_may_send_is_checked(services):
    view = UiState(gallery=NAME, reference_id="r0g3b0")
    for methods in (None, 7, [1, 2], ["nope", "soft"]):
        with pytest.raises(Exception, match=r"Choose|No method"):
            COLUMN_LONG["compare_methods"](services, view, {"methods": methods, "text": "red"})
    with pytest.raises(SearchError, match="reference"):
        COLUMN_LONG["compare_methods"](services, UiState(gallery=NAME), {"methods": COMPARED, "text": "red"})


def test_the_form_ticks_the_own_method(services):
    shown = chooser(UiState(gallery=NAME, method=METHODS["slerp"].settings), METHODS, [])
    ticked = [row["name"] for row in shown["methods"] if row["chosen"]]
    assert "slerp" in ticked and len(ticked) == 3


def test_a_method_that_could_not_run_neither_wins_nor_loses(services):
    view, _ = compared(services, blind=False, methods=["text-only", "image-only", "joint"])
    COLUMN_ACTIONS["vote"](services, view, {"choice": "0"})
    (vote,) = services.votes.votes()
    assert vote.shown == ("text-only", "image-only")
    with pytest.raises(SearchError, match="joint"):
        COLUMN_ACTIONS["vote"](services, view, {"choice": "2"})
    lame, _ = compared(services, blind=False, methods=["text-only", "joint"])
    with pytest.raises(SearchError, match="nothing to choose"):
        COLUMN_ACTIONS["vote"](services, lame, {"choice": "0"})


def test_a_blind_comparison_with_one_result_hides_nothing(services):
    view, _ = compared(services, methods=["text-only", "joint"])
    _, shown, html = drawn(services, view)
    assert shown["named"] and "nothing to vote on" in html and "does not compose" in html
    assert 'data-act="vote"' not in html


def test_that_something_did_not_work_is_said_without_a_name(services):
    class Away(Filtering):
        def complete(self, task, watch=None):
            if isinstance(task, ConstraintsTask):
                raise LanguageModelError("The server broke.")
            return super().complete(task, watch)

    services.search._pool._language_for = lambda encoder: Away("green")
    view, _ = compared(services)
    _, shown, html = drawn(services, view)
    assert shown["away"] and "used a fallback" in html and "server broke" not in html
    COLUMN_ACTIONS["vote"](services, view, {"choice": "0"})
    _, shown, html = drawn(services, view)
    assert not shown["away"] and "The server broke." in html


def test_marks_and_changes_of_the_turn_go_along(services):
    session = services.search.start(NAME, method=METHODS["soft"].settings)
    one = services.search.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    more = one.hits[3].image_id
    view = UiState(gallery=NAME, reference_id=one.hits[0].image_id, session_id=session.session_id, turn_id=one.turn_id,
                method=METHODS["soft"].settings, adjustment=Adjustment(soft_filter=SoftFilter(0.5)))
    _, job = COLUMN_LONG["compare_methods"](
        services, view, {"methods": ["cirevl", "latest"], "text": "blue", "who": "me", "more": [more]})
    after = job()
    comparison, shown, html = drawn(services, after)
    assert comparison.columns[0].composition.marks.more_like == (more,) and shown["marked"] == 1
    assert after.turn_id != one.turn_id and comparison.parent_id == after.turn_id
    assert services.search.session(session.session_id).turn(after.turn_id).composition.soft_filter == SoftFilter(0.5)
    assert "with 1 mark" in html and "kept as a new turn" in html


def test_without_words_the_request_of_the_turn_is_repeated_from_where_it_was_asked(services):
    session = services.search.start(NAME, method=METHODS["cirevl"].settings)
    one = services.search.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    marked = Marks(more_like=(one.hits[4].image_id,))
    two = services.search.run_turn(session.session_id, "blue", reference_id=one.hits[0].image_id, parent_id=one.turn_id,
                                   marks=marked).turn
    for turn, parent in ((two, one.turn_id), (one, None)):
        view = UiState(gallery=NAME, reference_id=two.hits[2].image_id, session_id=session.session_id,
                       turn_id=turn.turn_id, method=METHODS["cirevl"].settings)
        _, job = COLUMN_LONG["compare_methods"](
            services, view, {"methods": ["cirevl", "latest"], "text": " ", "who": "me"})
        made = services.compare.comparison(job().comparison_id)
        assert (made.modification_text, made.reference_id, made.parent_id) == (
            turn.modification_text, turn.reference_id, parent)
        assert made.columns[0].composition.marks == turn.composition.marks
        same = next(column for column in made.columns if column.method == "cirevl")
        assert [hit.image_id for hit in same.hits] == [hit.image_id for hit in turn.hits[:len(same.hits)]]


def test_without_words_and_without_a_turn_nothing_begins(services):
    with pytest.raises(SearchError, match="Say what should be different"):
        COLUMN_LONG["compare_methods"](services, UiState(gallery=NAME, reference_id="r0g3b0"),
                                       {"methods": ["cirevl", "latest"], "text": ""})


def test_the_form_comes_back_as_it_was(services):
    view, _ = compared(services)
    comparison = services.compare.comparison(view.comparison_id)
    form = chooser(view, METHODS, [], cannot="no encoder composes", comparison=comparison)
    assert {row["name"] for row in form["methods"] if row["chosen"]} == set(COMPARED)
    assert form["blind"] and form["text"] == "red"
    joint = next(row for row in form["methods"] if row["name"] == "joint")
    assert joint["disabled"] and joint["source"] == "no encoder composes"


def test_no_words_are_made_up_for_the_search_that_follows(services):
    view = UiState(gallery=NAME, reference_id="r0g3b0")
    same = dataclasses.replace(METHODS["image-only"], name="image-again")
    services.methods = {**METHODS, "image-again": same}
    _, job = COLUMN_LONG["compare_methods"](services, view, {"methods": ["image-only", "image-again"], "text": ""})
    _, shown, html = drawn(services, job())
    assert shown["text"] == "Like the reference" and html.count('data-text=""') == 2


def test_a_comparison_sends_no_settings_again(services):
    screen = Screen(services)
    view, first = screen.draw(UiState(gallery=NAME, reference_id="r0g3b0"))
    assert 'id="drawer-settings"' in first["drawers"] and 'id="drawer-columns"' in first["chooser"]
    _, job = COLUMN_LONG["compare_methods"](services, view, {"methods": COMPARED, "text": "red", "who": "me"})
    view, panels = screen.draw(job())
    assert "drawers" not in panels and 'value="red"' in panels["chooser"]
    view, panels = screen.draw(view)
    assert not {"drawers", "chooser"} & set(panels)
    view, panels = screen.draw(COLUMN_ACTIONS["vote"](services, view, {"choice": "0"}))
    assert "drawers" not in panels and "Votes so far" in panels["chooser"]
    view, panels = screen.draw(COLUMN_ACTIONS["close_columns"](services, view, {}))
    assert "drawers" not in panels
    _, panels = screen.draw(dataclasses.replace(view, k=30))
    assert "drawers" in panels, "what is set was changed"
