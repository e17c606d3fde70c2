"""What was understood of a turn: chips that can be dropped, and ticks on the results."""

from dataclasses import replace

import pytest

from cir_core.errors import CirqueError, SearchError
from cir_core.language.tasks import AspectAnswer, AspectsAnswer
from cir_core.methods.guidance import Aspect, ticks
from cir_core.methods.steps import STEPS
from cir_core.search.suggestions import Scarce, scarce
from cir_core.types.composition import Marks
from cir_core.types.records import Hit
from tests.fakes.colours import NAME
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel
from web.search.actions.base import begin, perform
from web.search.api import run_search
from web.search.presenters import methods
from web.search.presenters import steps as present_steps
from web.search.presenters.arranged import shown_turn
from web.search.presenters.guidance import GuidancePresenter
from web.search.presenters.methods import scarce_notes
from web.search.presenters.results import tile
from web.search.screen import PANELS, Screen
from web.search.view import UiState

RED = AspectAnswer(name="colour", label="red", asked=True, wanted=("red",), others=("green", "blue"))
KEPT = AspectAnswer(name="hue", label="green", asked=False, wanted=("green",), others=("blue",))


@pytest.fixture
def language():
    replies = [AspectsAnswer(aspects=(RED, KEPT), unused=("beach party",), choices=("in green", "in blue")),
               AspectsAnswer(aspects=())]
    return ReplayingLanguageModel({"aspects": replies}, caption="a thing")


@pytest.fixture
def searched(services):
    _, job = begin(services, UiState(gallery=NAME, reference_id="r0g3b0", k=64), "search", {"text": "red"})
    return job()


def drop(services, view, name):
    return perform(services, view, "drop_aspect", {"aspect": name})


def understood(services, view):
    found = shown_turn(services.search, services.search.loaded(view.session_id, view.turn_id), view)
    guidance = GuidancePresenter(STEPS["guidance"])
    return guidance.panel(found.stored, found.shown, NAME, "v")


def test_chips_say_what_is_asked_and_what_stays(services, searched):
    panel = understood(services, searched)
    assert [(one["label"], one["earlier"]) for one in panel["asked"]] == [("red", False)]
    assert [one["title"] for one in panel["kept"]] == ["hue, as in the reference"]


def test_words_that_nothing_was_made_of_are_named_and_choices_offered(services, searched):
    panel = understood(services, searched)
    assert (panel["unused"], panel["choices"]) == (["beach party"], ["in green", "in blue"])
    _, job = begin(services, searched, "search", {"text": "more"})
    later = understood(services, job())
    assert (later["unused"], later["choices"]) == ([], [])


def test_a_choice_replaces_the_turn_it_was_offered_for(services, searched):
    _, job = begin(services, drop(services, searched, "colour"), "search", {"text": "in green", "instead": True})
    view = job()
    session = services.search.session(view.session_id)
    turn = session.turn(view.turn_id)
    assert (turn.number, turn.parent_id, turn.reference_id, turn.modification_text) == (1, None, "r0g3b0", "in green")
    assert len(session.turns) == 2 and not view.notice


def test_words_may_choose_the_reference(services, searched):
    first = services.search.session(searched.session_id).turn(searched.turn_id)
    _, job = begin(services, searched, "search", {"text": "like the second one but in blue", "columns": 4})
    view = job()
    turn = services.search.session(view.session_id).turn(view.turn_id)
    assert turn.reference_id == view.reference_id == first.hits[1].image_id
    assert turn.modification_text == "like the second one but in blue" and turn.composition.read_as == "in blue"
    assert turn.merged_text == "a thing in blue"
    assert methods.warnings(turn.notes) == ["reference: result 2"]
    _, job = begin(services, view, "search", {"text": "the one on the right", "columns": "x"})
    view_later = job()
    later = services.search.session(view.session_id).turn(view_later.turn_id)
    assert later.reference_id == view.reference_id
    assert methods.warnings(later.notes)[0].startswith("not understood: one on the right (say its number")


def test_back_at_an_earlier_reference_what_was_asked_since_is_given_up(services, searched):
    second = begin(services, searched, "search", {"text": "like the second one"})[1]()
    assert [one["label"] for one in understood(services, second)["asked"]] == ["red"]
    back = begin(services, second, "search", {"text": "back to turn 1", "words": True})[1]()
    assert back.reference_id == "r0g3b0" and understood(services, back) is None


def test_an_earlier_request_is_marked_and_can_be_dropped(services, searched):
    _, job = begin(services, searched, "search", {"text": "more"})
    later = job()
    panel = understood(services, later)
    assert [(one["label"], one["earlier"], one["title"]) for one in panel["asked"]] == [
        ("red", True, "colour, asked in turn 1")]
    dropped = drop(services, later, "colour")
    assert understood(services, dropped)["asked"] == []
    assert present_steps.changes(dropped)["what"] == "requests"
    assert understood(services, perform(services, dropped, "undo", {}))["asked"]
    with pytest.raises(SearchError, match="Reload"):
        drop(services, dropped, "colour")


def test_ticks_are_what_the_encoder_sees_more_likely_than_not(services, searched):
    turn = services.search.session(searched.session_id).turn(searched.turn_id)
    searcher = services.search.searcher(NAME)
    red, green, blue = FakeEncoder().encode_texts(["red", "green", "blue"])
    for hit in turn.hits:
        x = searcher.features_of([hit.image_id])[0].astype(float)
        rest = sum(2.718281828459045 ** ((x @ other - x @ red) / 0.02) for other in (green, blue))
        if abs(rest - 1) > 1e-3:   # p = 1 / (1 + rest)
            assert list(ticks(turn.composition, [hit.parts])) == [[("red", "yes" if rest < 1 else "no")]], hit.image_id


def test_that_the_gallery_has_none_is_said_only_where_it_is_so(services, searched):
    turn = services.search.session(searched.session_id).turn(searched.turn_id)
    searcher = services.search.searcher(NAME)
    assert scarce(searcher, turn.composition, turn.hits) == [], "some results show it"
    unseen = [hit for hit in turn.hits if next(ticks(turn.composition, [hit.parts])) == [("red", "no")]]
    assert scarce(searcher, turn.composition, unseen) == [], "the gallery has it, beyond these results"
    zebra = Aspect("colour", "red", ("zebra",), ("red", "green", "blue"), 1)   # no image is nearest to it but the black
    never = turn.composition.with_parts({"aspects": (zebra, *turn.composition.part("aspects")[1:])})
    assert unseen
    assert scarce(searcher, never, unseen) == [Scarce("red", 1)]
    assert scarce_notes([Scarce("a bow", 0)], 6000) == [
        "Perhaps the gallery has none: the encoder sees “a bow” in none of its 6,000 images"]
    assert "in 3 of its 64 images" in scarce_notes([Scarce("a bow", 3)], 64)[0]


def test_an_action_draws_only_what_it_changes(services, searched):
    screen = Screen(services)
    view, panels = screen.draw(searched)
    assert set(panels) == set(PANELS) - {"sessions"}

    def drawn(name, data):
        return screen.draw(perform(services, view, name, data), sessions=name == "sessions")

    assert set(drawn("reference", {"image": "r3g0b0"})[1]) == {"state", "rail"}
    assert set(drawn("drop_aspect", {"aspect": "colour"})[1]) == {"state", "results", "how"}
    assert set(drawn("sessions", {})[1]) == {"state", "sessions"}
    missed = replace(view, drawn={})
    assert set(screen.draw(missed)[1]) == set(panels), "a page that missed a drawing gets all"


def test_a_search_starts_from_the_result_that_the_page_names(services, searched):
    _, job = begin(services, searched, "search", {"text": "more", "reference": "r3g0b0", "more": ["r3g0b0", "r2g0b0"]})
    view = job()
    turn = services.search.session(view.session_id).turn(view.turn_id)
    assert turn.reference_id == "r3g0b0" and view.reference_id == "r3g0b0"
    assert turn.composition.marks.more_like == ("r2g0b0",), "the reference is no mark"
    with pytest.raises(CirqueError, match="r9"):
        begin(services, searched, "search", {"text": "more", "reference": "r9"})


def read_tone(task):
    colour = "red" if task.reference.features[0] > task.reference.features[2] else "blue"
    others = tuple(one for one in ("red", "green", "blue") if one != colour)
    return AspectsAnswer(aspects=(
        AspectAnswer(name="tone", label=colour, asked=False, wanted=(colour,), others=others),))


def test_what_marked_images_share_is_shown_as_chips_that_can_be_dropped(services, searched, language):
    language._replies["aspects"] = [read_tone]
    _, job = begin(services, searched, "search", {"text": "more", "more": ["r3g0b0"], "less": ["r0g0b3"]})
    view = job()
    panel = understood(services, view)
    assert [(one["label"], one["earlier"]) for one in panel["asked"]] == [("red", True)]
    chips = [(one["label"], one["earlier"], one["title"]) for one in panel["marked"]]
    assert chips == [("red (tone)", False, "tone: what the images marked “more like this” for this turn share")]
    left = drop(services, view, panel["marked"][0]["name"])
    assert understood(services, left)["marked"] == []
    # Another process takes it up from the store.
    again = services.search.loaded(view.session_id, view.turn_id).turn
    assert [one.marked for one in again.composition.part("aspects") if one.turn == 2] == ["more"]


def test_a_program_marks_likewise(services, language):
    language._replies["aspects"] = [read_tone]
    first = run_search(services, "r0g3b0", None, "more", "", 8)
    bare, marked = (run_search(services, "r0g3b0", None, "more", first["session_id"], 8, marks=marks)
                    for marks in (Marks(), Marks(("r3g0b0",), ())))
    assert "asked because of the marked images: red" in marked["notes"]
    reds = [sum(hit["image_id"] > "r2" for hit in one["hits"]) for one in (bare, marked)]
    assert reds[1] > reds[0]


def test_many_ticks_are_counted_and_what_is_missing_is_named():
    hit = Hit("a", 0.5, 1, ())
    few = [("red (rot)", "yes"), ("long", "no"), ("belt", "not sure")]
    many = [*few, ("bow", "yes")]
    shown = {"red (rot)", "belt", "bow"}     # a cross is shown always
    missing = [("long", "no"), ("belt", "not sure")]
    assert tile(hit, NAME, "v", None, few, shown)["shown_ticks"] == [("red", "yes"), *missing]
    assert tile(hit, NAME, "v", None, many, shown)["shown_ticks"] == [("2 of 4", "yes"), *missing]
    assert tile(hit, NAME, "v", None, many, shown)["ticks"] == many, "a screen reader hears all of them"
    assert tile(hit, NAME, "v", None, [("red", "yes")], ())["shown_ticks"] == []
