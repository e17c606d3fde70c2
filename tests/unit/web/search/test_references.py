"""Choosing several references on the screen and by the named call, and cutting a region out of one."""

import json
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest
from PIL import Image

from cir_core.errors import CirqueError, SearchError, UnknownImage
from cir_core.images.uploads import is_upload
from cir_core.methods.declared import builtin_methods
from cir_core.types.composition import Cut
from tests.fakes.colours import NAME
from web.search.actions.base import arrive, begin, followed, perform, resume
from web.search.api import check_search, run_search
from web.search.presenters import results
from web.search.screen import Screen
from web.search.view import UiState

METHODS = builtin_methods()
WHOLE = [0.0, 0.0, 1.0, 1.0]


@pytest.fixture
def view():
    return UiState(gallery=NAME, reference_id="r0g3b0", method=METHODS["slerp"].settings, method_chosen=True, k=20,
                   loaded=True)


def searched(services, view, **data):
    _, job = begin(services, view, "search", {"text": "red", **data})
    return job()


def upload(services, colour="blue", edge=64):
    return services.search.add_upload(Image.new("RGB", (edge, edge), colour))


def test_pictures_are_added_and_removed(services, view):
    two = perform(services, view, "add_reference", {"image": "r3g0b0"})
    three = perform(services, two, "add_reference", {"image": upload(services)})
    assert three.reference_id == "r0g3b0" and three.further[0] == "r3g0b0" and is_upload(three.further[1])
    assert perform(services, three, "remove_reference", {"image": "r3g0b0"}).further == three.further[1:]
    nothing = UiState(gallery=NAME, loaded=True)
    assert perform(services, nothing, "add_reference", {"image": "r3g0b0"}).reference_id == "r3g0b0"


@pytest.mark.parametrize(("image", "said"), [
    ("r0g3b0", "already one of"), ("r3g0b0", "already one of"), ("nowhere", "No image"), ("", "No image"),
    ("upload:" + "0" * 32, "no longer on the server"),
])
def test_what_cannot_be_added(services, view, image, said):
    view = perform(services, view, "add_reference", {"image": "r3g0b0"})
    with pytest.raises(CirqueError, match=said):
        perform(services, view, "add_reference", {"image": image})


def test_four_are_the_most(services, view):
    for image in ("r3g0b0", "r0g0b3", "r1g1b1"):
        view = perform(services, view, "add_reference", {"image": image})
    with pytest.raises(SearchError, match="at most 4"):
        perform(services, view, "add_reference", {"image": "r2g2b2"})
    assert "disabled" in Screen(services).draw(view)[1]["rail"]


def test_another_first_picture_keeps_the_added_ones_and_going_on_from_a_result_does_not(services, view):
    view = perform(services, view, "add_reference", {"image": "r3g0b0"})
    other = perform(services, view, "reference", {"image": "r1g1b1"})
    assert (other.reference_id, other.further) == ("r1g1b1", ("r3g0b0",))
    assert perform(services, view, "reference", {"image": "r3g0b0"}).further == ()
    assert perform(services, view, "reference", {"image": "r1g1b1", "alone": True}).further == ()
    assert perform(services, view, "add_reference", {"image": "r1g1b1", "reference": "r2g2b2"}).further == ("r1g1b1",)
    assert "r3g0b0" not in (perform(services, view, "surprise", {}).reference_id,)


def test_a_search_uses_them_all_and_the_turn_brings_them_back(services, view):
    view = perform(services, view, "add_reference", {"image": "r3g0b0"})
    found = searched(services, view)
    turn = services.search.session(found.session_id).latest
    assert (turn.reference_id, turn.further, found.further) == ("r0g3b0", ("r3g0b0",), ("r3g0b0",))
    on = searched(services, found, reference=turn.hits[0].image_id)
    assert on.further == ()
    assert perform(services, on, "back", {}).further == ("r3g0b0",)
    opened = perform(services, UiState(gallery=NAME, loaded=True), "open_session", {"session": found.session_id})
    assert opened.reference_id == on.reference_id and opened.further == ()
    _, panels = Screen(services).draw(found)
    assert "2 reference pictures" in panels["strip"] and "2 pictures: the mean" in panels["how"]


def test_an_open_page_tells_a_restarted_server(services, view):
    data = {"shown_reference": "r0g3b0", "shown_further": '["r3g0b0", "nowhere", 7, "r0g0b3"]'}
    assert resume(services, UiState(gallery=NAME), {}, data).further == ("r3g0b0", "r0g0b3")
    for broken in ("[", "7", "{}", "[" * 5000, None):
        assert resume(services, UiState(gallery=NAME), {}, {**data, "shown_further": broken}).further == ()


def left_behind(view, **more):
    """What a tab keeps of ``view``."""
    return {"session": view.session_id or "", "shown_turn": view.turn_id, "shown_reference": view.reference_id,
            "shown_further": json.dumps(view.further), "search": None, **more}


def arrived(services, session, left):
    return arrive(services, UiState(gallery=NAME), {"session": session or ""}, {"left": left})


def test_a_tab_that_is_loaded_again_goes_on_where_it_was(services, view):
    before = perform(services, view, "add_reference", {"image": "r3g0b0"})
    again = arrived(services, "", left_behind(before))
    assert (again.reference_id, again.further, again.interrupted) == ("r0g3b0", ("r3g0b0",), None)
    first = searched(services, before)
    second = searched(services, first)
    at_first = perform(services, second, "turn", {"turn": first.turn_id})
    again = arrived(services, first.session_id, left_behind(at_first))
    assert again.turn_id == first.turn_id != second.turn_id
    elsewhere = arrived(services, "", left_behind(at_first))    # sent to another address
    assert elsewhere.session_id is None and elsewhere.turn_id is None


@pytest.mark.parametrize("left", [
    7, [], {}, {"session": 3}, {"session": "", "shown_reference": "nowhere"}, {"session": "", "search": "red"},
    {"session": "", "shown_reference": {"a": 1}, "shown_further": 4, "search": {"text": ["red"]}},
    {"session": "", "search": {"text": "  "}}, {"session": "", "search": {"text": "red " * 5000}},
])
def test_what_a_tab_kept_may_be_anything(services, left):
    view = arrived(services, "", left)
    assert view.loaded and view.reference_id is not None and view.interrupted is None


def test_a_search_that_lost_its_connection_is_offered_again(services, view):
    asked = {"text": "red", "reference": "r0g3b0"}
    again = arrived(services, "", left_behind(view, search=asked))
    again = replace(again, method=view.method)
    assert "data-act=\"again\"" in Screen(services).draw(again)[1]["results"]
    _, job = begin(services, again, "again", {})
    found = job()
    [turn] = services.search.session(found.session_id).turns
    assert (turn.reference_id, turn.modification_text, found.interrupted) == ("r0g3b0", "red", None)
    # It was over before the connection was lost: the turn is shown, and nothing is offered.
    over = arrived(services, found.session_id, {**left_behind(view, search=asked),
                                                                 "session": found.session_id})
    assert over.turn_id == turn.turn_id and over.interrupted is None
    assert "data-turns=\"1\"" in Screen(services).draw(found)[1]["state"]
    instead = searched(services, found, text="red", instead=True)    # a branch of its own, beside the shown turn
    again = arrived(services, found.session_id,
                    left_behind(found, search={**asked, "instead": True, "turns": 1}))
    assert again.turn_id == instead.turn_id and again.interrupted is None
    # The same words once more are another search.
    more = arrived(services, found.session_id, left_behind(found, search={**asked, "turns": 2}))
    assert more.interrupted is not None
    assert perform(services, more, "surprise", {}).interrupted is None
    with pytest.raises(SearchError, match="no search to repeat"):
        begin(services, found, "again", {})


def test_marks_leave_the_references_out(services, view):
    found = searched(services, view)
    hits = [hit.image_id for hit in services.search.session(found.session_id).latest.hits]
    view = perform(services, found, "add_reference", {"image": hits[3]})
    searched(services, view, less=[hits[3], hits[4]])
    assert services.search.session(found.session_id).latest.further == (hits[3],)


def test_a_comparison_takes_one_and_nothing_is_lost(services, view):
    view = perform(services, view, "add_reference", {"image": "r3g0b0"})
    _, job = begin(services, view, "compare_methods", {"text": "red", "methods": ["slerp", "text-only"]})
    with pytest.raises(SearchError, match="Remove the added ones"):
        job()


# --- a region ----------------------------------------------------------------------------------


def test_a_region_takes_the_place_of_its_picture_and_says_where_it_is_from(services, view):
    part = services.search.cut_out(NAME, "r0g3b0", WHOLE)
    cut = perform(services, view, "cut", {"image": part, "of": "r0g3b0", "region": WHOLE})
    assert cut.reference_id == part and cut.cuts == (Cut(part, "r0g3b0", (0, 0, 1, 1)),)
    assert "cut from r0g3b0" in Screen(services).draw(cut)[1]["rail"]
    found = searched(services, cut)
    assert services.search.session(found.session_id).latest.composition.cuts == cut.cuts
    fresh_tab = perform(services, UiState(gallery=NAME, loaded=True), "open_session", {"session": found.session_id})
    assert "cut from r0g3b0" in Screen(services).draw(fresh_tab)[1]["rail"]
    row = dict(results.how_found(services.search.session(found.session_id),
                                 services.search.session(found.session_id).latest)["rows"])
    assert row["Cut out"] == "100 × 100 % of r0g3b0, 0 % from the left, 0 % from the top"


def test_one_of_several_is_cut_and_an_upload_has_no_name(services, view):
    own = upload(services, "navy")
    view = perform(services, view, "add_reference", {"image": own})
    part = services.search.cut_out(NAME, own, [0, 0, 0.5, 0.5])
    cut = perform(services, view, "cut", {"image": part, "of": own, "region": [0, 0, 0.5, 0.5]})
    assert (cut.reference_id, cut.further) == ("r0g3b0", (part,))
    rail = Screen(services).draw(cut)[1]["rail"]
    assert "cut from your picture" in rail and own not in rail


def test_the_selected_result_is_cut(services, view):
    found = searched(services, perform(services, view, "add_reference", {"image": "r3g0b0"}))
    part = services.search.cut_out(NAME, "r1g1b1", WHOLE)
    cut = perform(services, found, "cut", {"image": part, "of": "r1g1b1", "region": WHOLE, "reference": "r1g1b1"})
    assert (cut.reference_id, cut.further) == (part, ())


@pytest.mark.parametrize(("change", "said"), [
    ({"region": [0, 0, 2, 1]}, "beyond"), ({"region": None}, "four numbers"), ({"of": "nowhere"}, "No image"),
    ({"of": "r3g0b0"}, "no longer one of the reference pictures"), ({"image": "r3g0b0"}, "out of date"),
    ({"image": "upload:" + "0" * 32}, "no longer on the server"),
])
def test_what_cannot_be_cut(services, view, change, said):
    part = services.search.cut_out(NAME, "r0g3b0", WHOLE)
    with pytest.raises(CirqueError, match=said):
        perform(services, view, "cut", {"image": part, "of": "r0g3b0", "region": WHOLE, **change})


def test_the_same_region_twice(services, view):
    part = services.search.cut_out(NAME, "r0g3b0", WHOLE)
    view = perform(services, view, "add_reference", {"image": part})
    with pytest.raises(SearchError, match="already one of"):
        perform(services, view, "cut", {"image": part, "of": "r0g3b0", "region": WHOLE})


def test_a_name_that_another_person_gave_their_upload_is_not_told(services, view):
    """Two people upload the same pixels: the first one's file name is stored, and no screen shows it."""
    own = services.search.add_upload(Image.new("RGB", (64, 64), "navy"), "the secret target.png")
    part = services.search.cut_out(NAME, own, [0, 0, 0.5, 0.5])
    assert [name for *_, name in services.search._store.uploads.values()] == [
        "the secret target.png", "cut from an uploaded picture"]
    view = perform(services, perform(services, view, "reference", {"image": own}), "cut",
                   {"image": part, "of": own, "region": [0, 0, 0.5, 0.5]})
    panels = "".join(Screen(services).draw(searched(services, view))[1].values())
    assert "secret" not in panels


# --- the named call ----------------------------------------------------------------------------


def called(services, also, reference="r0g3b0", session_id="", image=None):
    return run_search(services, reference, image, "red", session_id, 5, "slerp", also=also)


def test_the_call_takes_further_references(services, tmp_path):
    first = called(services, ("r3g0b0",))
    turn = services.search.session(first["session_id"]).latest
    assert turn.further == ("r3g0b0",) and not {"r0g3b0", "r3g0b0"} & {hit["image_id"] for hit in first["hits"]}
    again = called(services, (), reference="", session_id=first["session_id"])
    assert services.search.session(again["session_id"]).latest.further == ("r3g0b0",)
    alone = called(services, (), session_id=first["session_id"])
    assert services.search.session(alone["session_id"]).latest.further == ()
    Image.new("RGB", (20, 20), "navy").save(tmp_path / "mine.png")
    with_image = called(services, ("r3g0b0",), reference="", image=str(tmp_path / "mine.png"))
    assert is_upload(services.search.session(with_image["session_id"]).latest.reference_id)


@pytest.mark.parametrize(("also", "error", "said"), [
    (("r0g3b0",), SearchError, "already one of"), (("r3g0b0", "r3g0b0"), SearchError, "already one of"),
    (("r3g0b0", "r1g0b0", "r2g0b0", "r0g1b0"), SearchError, "at most 4"), (("nowhere",), UnknownImage, "No image"),
])
def test_mistakes_of_a_call_begin_no_session(services, also, error, said):
    with pytest.raises(error, match=said):
        called(services, also)
    assert not services.search.sessions()


def test_what_a_tool_sends_is_checked_before_its_image_is_fetched(services):
    given = {"more": [], "less": [], "session_id": "", "method": "", "text": "red", "k": 5, "fold": 0, "image": ""}
    check_search(services, "Ada", {**given, "also": ["r3g0b0"]})
    with pytest.MonkeyPatch.context() as patched:
        def spent(person):
            raise SearchError("You have uploaded 3 images today.")

        patched.setattr(services, "quota", SimpleNamespace(check_pictures=spent))
        check_search(services, "Ada", {**given, "also": []})      # without a picture none is counted
        with pytest.raises(SearchError, match="uploaded 3 images"):
            check_search(services, "Ada", {**given, "also": [], "image": "https://example.org/a.png"})
    for also, said in ((["a"] * 2, "already one of"), ("r3g0b0", "must be a list"), ([7], "must be a list")):
        with pytest.raises(SearchError, match=said):
            check_search(services, "Ada", {**given, "also": also})


def test_a_search_that_still_runs_is_waited_for_by_the_tab_that_is_loaded_again(services, view):
    """Whether the page knew the session already or not; with what it led to, as if the tab had been there."""
    may_end, run_id, first = threading.Event(), "0123456789abcdef" * 2, searched(services, view)
    watch, job = begin(services, first, "search", {"text": "green", "reference": "r0g3b0"})
    run = services.runs.begin(lambda: may_end.wait(20) and job(), watch, run_id)
    left = left_behind(first, search={"text": "green", "turns": 1}, run=run_id)
    again = arrived(services, first.session_id, left)
    assert (again.running, again.turn_id, again.interrupted) == (run_id, first.turn_id, None)
    assert services.runs.at_work(first.session_id) and not services.runs.at_work("another")
    assert arrived(services, "", left).running == ""                  # sent to another address
    may_end.set()
    [*_, found] = results_of(run)
    shown = followed(replace(again, beat=7, mine=("another",)), found)
    assert shown.turn_id == services.search.session(first.session_id).latest.turn_id != first.turn_id
    assert (shown.running, shown.beat, shown.session_id in shown.mine) == ("", 7, True)
    assert not services.runs.at_work(first.session_id)


def results_of(run):
    """Progress, then the result."""
    result = yield from run.follow()
    yield result
