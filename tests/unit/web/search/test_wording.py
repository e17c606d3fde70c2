"""Caption and query of a turn, edited by a person: ranked again, undone, kept, exported."""


import pytest

from cir_core.errors import LanguageModelUnavailable, SearchError
from cir_core.language.tasks import AspectAnswer, AspectsAnswer
from cir_core.methods.declared import builtin_methods
from cir_core.methods.feedback import EDITED
from cir_core.sessions.export import session_to_circled
from cir_core.types.composition import Wording
from tests.fakes.colours import NAME
from tests.fakes.language import ReplayingLanguageModel
from web.search.actions.base import begin, perform
from web.search.presenters import results
from web.search.presenters import steps as present_steps
from web.search.presenters.arranged import shown_turn
from web.search.view import UiState

METHODS = builtin_methods()
COLOURS = ("red", "green", "blue")


def asks(task):
    """The last colour of the text is asked for."""
    named = [word for word in task.modification_text.split() if word in COLOURS]
    if not named:
        return AspectsAnswer(aspects=())
    others = tuple(colour for colour in COLOURS if colour != named[-1])
    return AspectsAnswer(aspects=(AspectAnswer(name="colour", label=named[-1], asked=True, wanted=named[-1:],
                                               others=others),))


@pytest.fixture
def language():
    return ReplayingLanguageModel({"aspects": [asks]}, caption="green")


def searched(services, text, method="guided", view=None):
    view = view or UiState(gallery=NAME, reference_id="r0g3b0", method=METHODS[method].settings, k=64)
    return begin(services, view, "search", {"text": text})[1]()


def reword(services, view, **texts):
    return begin(services, view, "reword", texts)[1]()


def shown(services, view):
    return shown_turn(services.search, services.search.loaded(view.session_id, view.turn_id), view).shown


@pytest.mark.parametrize("method", ["guided", "cirevl"])
def test_another_query_ranks_again(services, method):
    view = searched(services, "red", method)
    before = shown(services, view)
    assert before.merged_text == "green red"
    after = shown(services, edited := reword(services, view, query="blue"))
    assert after.merged_text == "blue" and after.caption == "green"
    assert [hit.image_id for hit in after.hits] != [hit.image_id for hit in before.hits]
    assert dict(after.hits[0].parts).keys() >= {EDITED}
    assert after.composition.edited == Wording("green", "green red")
    for hit in after.hits[:5]:
        assert sum(value for _, value in hit.parts) == pytest.approx(hit.score, abs=1e-5)
    if method == "guided":   # what the query says now is asked
        assert [one.label for one in after.composition.part("aspects")] == ["blue"]
        assert after.hits[0].image_id.endswith("b3")
    undone = perform(services, edited, "undo", {})
    assert shown(services, undone).hits == before.hits


def test_another_caption_is_merged_anew(services):
    view = searched(services, "red")
    after = shown(services, reword(services, view, caption="blue"))
    assert (after.caption, after.merged_text) == ("blue", "blue red")
    assert [one.label for one in after.composition.part("aspects")] == ["red"]


def test_what_earlier_turns_asked_for_holds_under_another_caption(services):
    later = searched(services, "more", view=searched(services, "red"))
    after = shown(services, reword(services, later, caption="blue"))
    assert [(one.label, one.turn) for one in after.composition.part("aspects")] == [("red", 1)]
    dropped = perform(services, later, "drop_aspect", {"aspect": "colour"})
    assert shown(services, reword(services, dropped, caption="blue")).composition.part("aspects") == ()


def test_the_text_as_it_was_is_no_change(services):
    view = searched(services, "red")
    edited = reword(services, view, query="blue")
    assert not reword(services, edited, query="green red").adjustment
    assert present_steps.changes(edited)["what"] == "query"


def test_it_is_kept_continued_and_exported(services):
    edited = reword(services, searched(services, "red"), caption="blue", query="blue green")
    again = shown(services, edited)
    kept = perform(services, edited, "keep", {})
    turn = services.search.session(kept.session_id).turn(kept.turn_id)
    assert (turn.caption, turn.merged_text, turn.hits) == (again.caption, again.merged_text, again.hits)
    told = results.how_found(services.search.session(kept.session_id), turn)
    assert ("Edited by a person", "caption and query") in told["rows"]
    exported = [one["cirque"]["turns"][-1] for one in session_to_circled(services.search.session(kept.session_id))]
    assert [one.get("edited") for one in exported] == [None, {"caption": "green", "merged_text": "green red"}]
    # Edited once more, it still says what the language model wrote.
    assert shown(services, reword(services, kept, query="red")).composition.edited == Wording("green", "green red")
    # A search from an edited turn keeps it first.
    later = searched(services, "red", view=reword(services, kept, query="red"))
    assert "became" in later.notice and shown(services, later).number == 2


def test_the_calls_of_an_edit_are_counted_once(services):
    view = searched(services, "red")
    before = shown(services, view).composition.usage.calls
    edited = reword(services, view, caption="blue", query="blue green")   # merge, aspects; aspects of both queries
    assert shown(services, edited).composition.usage.calls == before + 4
    kept = perform(services, edited, "keep", {})
    assert services.search.session(kept.session_id).turn(kept.turn_id).composition.usage.calls == 4


def test_what_cannot_be_loses_nothing(services):
    view = searched(services, "red")
    for texts, said in [({"query": " "}, "empty"), ({}, None), ({"caption": "x" * 1001}, "1,001")]:
        if said is None:
            assert reword(services, view, **texts) == view
            continue
        with pytest.raises(SearchError, match=said):
            reword(services, view, **texts)
    other = searched(services, "red", "text-only")
    assert results.wording(shown(services, other), shown(services, other), "text-only") == []
    with pytest.raises(SearchError, match="not made from a caption"):
        reword(services, other, query="blue")
    services.language._replies["aspects"] = [LanguageModelUnavailable("it is away")]
    with pytest.raises(LanguageModelUnavailable):
        reword(services, view, query="blue")


def test_the_screen_shows_both_and_says_which_was_edited(services):
    view = searched(services, "red")
    turn = shown(services, view)
    assert [(one["name"], one["text"], one["edited"]) for one in results.wording(turn, turn, "cirevl")] == [
        ("caption", "green", False), ("query", "green red", False)]
    after = shown(services, reword(services, view, query="blue"))
    assert [one["edited"] for one in results.wording(turn, after, "cirevl")] == [False, True]
