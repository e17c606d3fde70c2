"""What was understood of a turn: chips that can be dropped, and ticks on the results."""

import re
from dataclasses import replace
from html import unescape

import pytest

from cir_core.errors import CirqueError, SearchError
from cir_core.language.tasks import AspectAnswer, AspectsAnswer
from cir_core.methods.guidance import Aspect, ticks
from cir_core.methods.steps import STEPS
from cir_core.search.having import Had
from cir_core.types.composition import Adjustment, Marks
from cir_core.types.records import Hit
from tests.fakes.colours import NAME
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel
from web.search.actions.base import begin, perform
from web.search.actions.sessions import asked
from web.search.api import run_search
from web.search.presenters import methods
from web.search.presenters import steps as present_steps
from web.search.presenters.arranged import shown_turn
from web.search.presenters.guidance import GuidancePresenter
from web.search.presenters.having import having
from web.search.presenters.results import tile
from web.search.screen import PANELS, Screen
from web.search.view import UiState

RED = AspectAnswer(name="colour", label="red", asked=True, wanted=("red",), others=("green", "blue"))
RED_ASKED = Aspect("colour", "red", ("red",), ("green", "blue"), turn=1)
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
    back = begin(services, second, "search", {"text": "back to turn 1, the same"})[1]()
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


BLUISH = Aspect("tint", "blue", ("blue",), ("green",), turn=1)
WIDE = Aspect("size", "wide", ("wide",), ("red", "green", "blue"), turn=1)   # of which no colour is one


def asking(services, view, *aspects):
    """The panel of results and its having, where the turn asks for ``aspects``."""
    view = replace(view, adjustment=Adjustment().with_parts({"aspects": aspects}))
    return view, unescape(Screen(services).draw(view)[1]["results"])


def parts(html):
    return re.findall(r'<div class="cq-part" role="group" aria-label="([^"]*)">', html)


def ranks(html):
    return [int(rank) for rank in re.findall(r'data-rank="(\d+)"', html)]


def test_what_the_gallery_has_is_said_and_the_order_stays(services, searched):
    view, html = asking(services, searched, RED_ASKED, BLUISH)
    turn = shown_turn(services.search, services.search.loaded(view.session_id, view.turn_id), view).shown
    lacks = [sum(tick != "yes" for _, tick in one) for one in ticks(turn.composition, (hit.parts for hit in turn.hits))]
    assert ranks(html) == list(range(1, 64))
    assert re.search(rf"{lacks.count(0)} of 63 images have all that was asked", html)
    assert parts(html)[0].endswith(("one thing", "one thing or more"))
    # The heading is behind the last that has all.
    before, after = html.split('class="cq-part"', 1)
    assert ranks(before)[-1] == max(place for place, lack in enumerate(lacks, start=1) if not lack)
    assert ranks(before) + ranks(after) == ranks(html)


def test_the_rarest_wish_can_be_taken_back_and_undone(services, searched):
    view, html = asking(services, searched, RED_ASKED, WIDE)
    assert "None of 63 images has all that was asked. The nearest lack one thing. None shows “wide”." in html
    [(name, gain)] = re.findall(r'data-aspect="([^"]*)" title="[^"]*">Take back “wide”: (.*?)<', html)
    left = drop(services, view, name)
    assert [one.label for one in left.adjustment.part("aspects")] == ["red"]
    again = unescape(Screen(services).draw(left)[1]["results"])
    [count] = re.findall(r"(\d+) of 63 images have “red”", again)
    assert gain == f"{count} images have the rest" and "Take back" not in again
    assert unescape(Screen(services).draw(perform(services, left, "undo", {}))[1]["results"]) == html


def test_with_one_request_nothing_can_be_taken_back(services, searched):
    _, html = asking(services, searched, WIDE)
    assert "None of 63 images has “wide”." in html and "Take back" not in html and not parts(html)


@pytest.mark.parametrize("aspects", [(), (Aspect("hue", "green", ("green",), ("blue",)),)])
def test_without_requests_nothing_is_said_of_the_gallery(services, searched, aspects):
    _, html = asking(services, searched, *aspects)
    assert "cq-having" not in html and not parts(html) and ranks(html) == list(range(1, 64))


def test_where_all_results_have_all_nothing_is_said(services, searched):
    _, html = asking(services, replace(searched, k=3), RED_ASKED)
    assert ranks(html) == [1, 2, 3] and "cq-having" not in html and not parts(html)


def test_on_a_map_there_is_the_line_alone():
    tiles = [{"ticks": [("red", "yes")]}, {"ticks": [("red", "no")]}]
    found = Had(63, 1, 1, 0, 0, (), RED_ASKED, 63, 1)
    assert [len(part["tiles"]) for part in having(found, tiles, True)["parts"]] == [1, 1]
    on_map = having(found, tiles, False)
    assert on_map["text"] and on_map["parts"] == [{"title": "", "tiles": tiles}]


def test_folded_results_keep_their_ranks_in_their_groups(services, searched):
    _, html = asking(services, replace(searched, fold=True, fold_at=0.9), RED_ASKED, BLUISH)
    heads = [int(rank) for rank in re.findall(r'class="cq-tile" [^>]*data-rank="(\d+)"', html)]
    assert len(heads) < 63 and heads == sorted(heads) and len(parts(html)) >= 1


def test_a_target_changes_nothing_of_it(services, language):
    """What is said depends on what is asked, not on where the target is."""
    said = set()
    for target in (None, "r3g0b1", "r0g3b3"):
        language._replies["aspects"] = [AspectsAnswer(aspects=(RED,))]
        view = UiState(gallery=NAME, reference_id="r0g3b0", k=64)
        if target:
            view = replace(perform(services, view, "target", {"image": target}), reference_id="r0g3b0")
        view = begin(services, view, "search", {"text": "red"})[1]()
        assert services.search.session(view.session_id).target_id == target
        html = asking(services, view, RED_ASKED, BLUISH)[1]
        said.add((*re.findall(r'<div class="cq-having">.*?</div>', html), *parts(html)))
    assert len(said) == 1 and said.pop()[0]


def test_after_the_gallery_changed_nothing_is_said_of_it(services, searched, monkeypatch):
    session = services.search.session(searched.session_id)
    changed = replace(session, protocol=replace(session.protocol, gallery_digest="another"))
    monkeypatch.setattr(services.search, "session", lambda session_id: changed)
    _, html = asking(services, searched)
    assert "cq-having" not in html and len(ranks(html)) == 63


@pytest.mark.parametrize(("found", "text"), [
    (Had(5999, 3, 1, 0, 0, (), BLUISH, 9, 4), "1 of 5,999 images has all that was asked."),
    (Had(5999, 3, 3, 1, 0, (), BLUISH, 9, 4), "3 of 5,999 images have all that was asked; one more may."),
    (Had(5999, 3, 0, 12, 1, (), BLUISH, 9, 4), "None of 5,999 images has all that was asked; 12 may."),
    (Had(64, 3, 0, 0, 2, (), BLUISH, 9, 4), "None of 64 images has all that was asked. The nearest lack two things."),
    (Had(64, 1, 0, 0, 1, (), BLUISH, 64, 0), "None of 64 images has “blue”."),
])
def test_counts_are_said_in_a_sentence(found, text):
    assert having(found, [], True)["text"] == text


@pytest.mark.parametrize(("requests", "behind", "title"), [
    (1, ["no"], "These lack “blue”"), (1, ["not sure"], "These may lack “blue”"),
    (2, ["no"], "These lack one thing"), (2, ["not sure", "not sure"], "These may lack one thing"),
    (2, ["no", "not sure"], "These lack, or may lack, one thing"),
])
def test_headings_say_what_is_lacking(requests, behind, title):
    others = [("long", "yes")] * (requests - 1)
    tiles = [{"ticks": [("blue", tick), *others]} for tick in ("yes", *behind)]
    found = Had(64, requests, 1, 0, 0, (), BLUISH, 9, 1)
    assert [part["title"] for part in having(found, tiles, True)["parts"]] == ["", title]


def test_a_heading_for_several_things():
    tiles = [{"ticks": [(label, "no" if place < lost else "yes") for place, label in enumerate("abcdefgh")]}
             for lost in (0, 2, 3, 2, 7, 7, 8)]
    parts_of = having(Had(64, 8, 1, 0, 0, (), BLUISH, 9, 1), tiles, True)["parts"]
    assert [(part["title"], len(part["tiles"])) for part in parts_of] == [
        ("", 1), ("These lack two things or more", 3), ("These lack 7 things", 2), ("These lack 8 things", 1)]


@pytest.mark.parametrize(("found", "gain"), [
    (Had(64, 2, 3, 0, 0, (), BLUISH, 27, 4), "27 images have the rest"),
    (Had(64, 2, 0, 0, 1, (), BLUISH, 1, 4), "1 image has the rest"),
    (Had(64, 3, 0, 0, 2, (), BLUISH, 0, 4), "4 images have it"),
    (Had(64, 3, 0, 0, 2, (), BLUISH, 0, 1), "1 image has it"),
    (Had(64, 3, 0, 0, 2, ("blue",), BLUISH, 0, 0), "no image has it"),
    (Had(64, 2, 10, 0, 0, (), BLUISH, 27, 4), None),     # enough of them
    (Had(64, 1, 0, 0, 1, (), BLUISH, 64, 0), None),
])
def test_a_wish_is_taken_back_for_a_gain(found, gain):
    back = having(found, [], True)["back"]
    assert (back and back["gain"]) == gain


def test_an_action_draws_only_what_it_changes(services, searched):
    screen = Screen(services)
    view, panels = screen.draw(searched)
    assert set(panels) == set(PANELS) - {"sessions"}

    def drawn(name, data):
        return screen.draw(perform(services, view, name, data), sessions=asked({}) if name == "sessions" else None)

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
