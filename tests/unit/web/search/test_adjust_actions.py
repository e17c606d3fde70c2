"""Changing a finished turn on the screen: chips, λ, rounds, undo, keep; marks; settings."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from cir_core.errors import (
    RULES_CAN,
    CirqueError,
    EncoderUnavailable,
    LanguageModelRefused,
    LanguageModelUnavailable,
    MethodError,
    SearchError,
    Stopped,
)
from cir_core.language.tasks import ConstraintsAnswer, MergeAnswer, ReflectAnswer
from cir_core.methods.declared import Method, builtin_methods
from cir_core.types.composition import Adjustment, Constraints, Marks
from cir_core.types.methods import MethodSettings, Reflection, SoftFilter
from tests.fakes.colours import NAME
from tests.fakes.language import ReplayingLanguageModel, ScriptedLanguageModel
from web.search.actions.adjust import marks_of
from web.search.actions.base import begin, perform
from web.search.presenters import methods, reflection, soft_filter
from web.search.presenters.arranged import shown_turn
from web.search.presenters.soft_filter import moves as ranking_moves
from web.search.screen import Screen
from web.search.view import UiState

METHODS = builtin_methods()
BOTH = METHODS["corr-soft"].settings
SAID = {
    "reflect": [ReflectAnswer(intent="redder", query="red"), ReflectAnswer(intent="bluer", query="blue")],
    "constraints": [ConstraintsAnswer(keep=("green",), add=("red",), remove=("blue",), prescriptive="red green",
                                      proscriptive="blue")],
}


@pytest.fixture
def replies():
    return dict(SAID)


@pytest.fixture
def language(replies):
    return ReplayingLanguageModel(replies)


def searched(services, method=BOTH, text="red", view=None, **data):
    view = view or UiState(gallery=NAME, reference_id="r0g3b0", method=method)
    _, job = begin(services, view, "search", {"text": text, **data})
    return job()


def repeated(services, view):
    _, job = begin(services, view, "by_rules", {})
    return job()


def test_a_refused_search_is_repeated_by_rules_for_that_turn_alone(services, replies, monkeypatch):
    refusal = LanguageModelRefused("The model declined.")
    services.language._replies["merge"] = [refusal, MergeAnswer(query="red")]
    monkeypatch.setattr("cir_core.search.searcher.by_rules", lambda encoder: ScriptedLanguageModel())
    settings = METHODS["cirevl"].settings
    refused = searched(services, settings, text="red", more=["r3g0b0"])
    assert refused.problem == "The model declined. The built-in rules can answer in its place." == str(refusal)
    assert refused.turn_id is None and refused.refused == {"text": "red", "more": ["r3g0b0"]}
    view = repeated(services, refused)
    turn = turn_of(services, view)
    assert (view.problem, view.refused, turn.modification_text, turn.merged_text) == ("", None, "red", "a garment red")
    assert "this turn continues with the language model scripted/1" in turn.notes[0]
    following = turn_of(services, searched(services, settings, text="blue", view=view))
    assert following.number == 2 and following.merged_text == "red"
    # A text in place of the shown turn's is asked again in its place, not in that of the turn before.
    services.language._replies["merge"] = [refusal]
    instead = searched(services, settings, text="purple", view=replace(view, refused=None), instead=True)
    assert instead.turn_id == view.turn_id
    assert turn_of(services, repeated(services, instead)).parent_id is None
    # Whatever is done instead, the offer is withdrawn.
    assert perform(services, refused, "fold", {"on": True}).refused is None
    assert perform(services, refused, "sessions", {}).refused is not None
    with pytest.raises(SearchError, match=r"no search to repeat|no session yet"):
        begin(services, replace(refused, refused=None), "by_rules", {})


def test_a_turn_of_which_a_part_was_refused_is_repeated_beside_it(services, monkeypatch):
    services.language._replies["constraints"] = [LanguageModelRefused("The model declined.")]
    rules = ReplayingLanguageModel(SAID, name="rules/1")
    monkeypatch.setattr("cir_core.search.searcher.by_rules", lambda encoder: rules)
    view = searched(services, METHODS["slerp-soft"].settings, text="red")
    turn = turn_of(services, view)
    [warning] = methods.warnings(turn.notes)
    assert warning.endswith(RULES_CAN) and turn.composition.constraints == Constraints()
    again = turn_of(services, repeated(services, view))
    assert (again.number, again.parent_id, again.modification_text) == (1, None, "red")
    assert again.composition.constraints.prescriptive == ("red green",)
    assert again.branch_id != turn.branch_id and rules.asked_as("constraints")


def turn_of(services, view):
    return services.search.session(view.session_id).turn(view.turn_id)


def shown_of(services, view):
    return shown_turn(services.search, services.search.loaded(view.session_id, view.turn_id), view)


def ids(turn):
    return [hit.image_id for hit in turn.hits]


def chips(view, services, **sides):
    constraints = shown_of(services, view).shown.composition.constraints
    return {side: list(getattr(replace(constraints, **sides), side))
            for side in ("keep", "add", "remove", "prescriptive", "proscriptive")}


def test_an_edited_attribute_writes_the_texts_anew_and_ranks_again(services):
    view = searched(services)
    asked = len(services.language.asked)
    changed = perform(services, view, "adjust",
                      {"constraints": chips(view, services, add=("blue",)), "edited": "attributes"})
    assert changed.adjustment.constraints == Constraints(("green",), ("blue",), ("blue",), ("green, blue",), ("blue",),
                                                         edited=True)
    assert ids(shown_of(services, changed).shown) != ids(turn_of(services, changed))
    assert len(services.language.asked) == asked


def test_an_edited_text_stays_as_it_was_typed(services):
    view = searched(services)
    sides = chips(view, services, proscriptive=("  green\n", "green", ""))
    changed = perform(services, view, "adjust", {"constraints": sides, "edited": "texts"})
    assert changed.adjustment.constraints.proscriptive == ("green",)
    assert changed.adjustment.constraints.prescriptive == ("red green",)


def test_lambda_and_mode_join_what_was_changed_before(services):
    view = searched(services)
    view = perform(services, view, "adjust", {"constraints": chips(view, services, add=()), "edited": "attributes"})
    view = perform(services, view, "adjust", {"weight": 0.25})
    view = perform(services, view, "adjust", {"mode": "penalty"})
    assert view.adjustment.soft_filter == SoftFilter(0.25, "penalty")
    assert view.adjustment.constraints.add == ()
    assert len(view.undo) == 3


def test_one_gesture_is_one_step_to_undo(services):
    view = searched(services)
    for number, weight in enumerate((0.9, 0.8, 0.7)):
        view = perform(services, view, "adjust", {"weight": weight, "going_on": number > 0})
    assert (view.adjustment.soft_filter.weight, len(view.undo)) == (0.7, 1)
    assert perform(services, view, "undo", {}).adjustment == Adjustment()


def test_back_to_what_was_stored_is_no_change(services):
    view = searched(services)
    there = perform(services, view, "adjust", {"weight": 0.5})
    back = perform(services, there, "adjust", {"weight": 1.0})
    assert not back.adjustment
    sides = chips(view, services)
    assert not perform(services, view, "adjust", {"constraints": sides, "edited": "texts"}).adjustment


def test_reset_can_be_undone_and_an_empty_undo_says_so(services):
    view = perform(services, searched(services), "adjust", {"weight": 0.5})
    reset = perform(services, view, "reset", {})
    assert not reset.adjustment
    assert perform(services, reset, "undo", {}).adjustment == view.adjustment
    assert "nothing to undo" in perform(services, searched(services), "undo", {}).notice


def test_rounds_can_be_rewritten_left_out_and_counted_again(services):
    view = searched(services)
    rewritten = perform(services, view, "adjust", {"rounds": 1, "rewritten": " blue "})
    assert (rewritten.adjustment.rounds, rewritten.adjustment.rewritten) == (1, "blue")
    stored, shown = turn_of(services, view), shown_of(services, rewritten).shown
    cards = reflection.reflection(stored, shown, NAME, "v")
    assert [(c["query"], c["counts"], c["edited"]) for c in cards["cards"]] == [("blue", True, True),
                                                                                ("blue", False, False)]
    base = perform(services, rewritten, "adjust", {"rounds": 0, "rewritten": None})
    assert shown_of(services, base).shown.composition.rounds == ()
    again = perform(services, base, "adjust", {"rounds": 2, "rewritten": None})
    assert not again.adjustment
    same = perform(services, view, "adjust", {"rounds": 2, "rewritten": "blue"})  # what round 2 says already
    assert not same.adjustment


def test_a_turn_without_a_filter_can_have_one(services):
    view = searched(services, MethodSettings())
    view = perform(services, view, "filter", {})
    soft = soft_filter.soft_filter(shown_of(services, view).shown)
    assert soft["empty"] and soft["weight"] == "1.00"
    sides = {"proscriptive": ["red"]}
    view = perform(services, view, "adjust", {"constraints": sides, "edited": "texts"})
    assert ids(shown_of(services, view).shown) != ids(turn_of(services, view))


def test_keeping_makes_a_turn_beside_the_old_one(services):
    view = perform(services, searched(services), "adjust", {"weight": 0.5})
    kept = perform(services, view, "keep", {})
    old, new = turn_of(services, view), turn_of(services, kept)
    assert new.branch_id != old.branch_id and new.composition.soft_filter.weight == 0.5
    assert ids(new) == ids(shown_of(services, view).shown)
    assert not kept.adjustment and kept.undo == ()
    assert kept.notice == "Kept as turn 1 on Branch 2. The original turn is unchanged."


def test_a_search_goes_on_from_what_was_shown(services):
    first = perform(services, searched(services), "adjust", {"weight": 0.5})
    after = searched(services, view=replace(first, reference_id="r3g3b0"), text="blue")
    path = services.search.session(after.session_id).path_to(after.turn_id)
    assert [turn.number for turn in path] == [1, 2]
    assert path[0].composition.soft_filter.weight == 0.5
    assert after.notice == "Your changes became turn 1 on Branch 2 first; this search continues from it."


def test_a_search_that_fails_does_not_keep_the_changes_twice(services, replies):
    first = perform(services, searched(services), "adjust", {"weight": 0.5})
    services.language._replies["merge"] = [LanguageModelUnavailable("The server is away.")]
    after = searched(services, view=first)
    assert after.problem == "The server is away." and not after.adjustment
    with pytest.raises(LanguageModelUnavailable):
        searched(services, view=after)
    assert len(services.search.session(first.session_id).turns) == 2


def test_stopped_before_there_was_a_query(services):
    services.language._replies["merge"] = [Stopped("stopped")]
    view = UiState(gallery=NAME, reference_id="r0g3b0", method=BOTH)
    after = searched(services, view=view)
    assert after.turn_id is None and after.session_id is None
    assert "Stopped before" in after.notice and not after.problem


def test_leaving_changes_behind_is_said(services):
    first = searched(services)
    second = searched(services, view=replace(first, reference_id="r3g3b0"), text="blue")
    changed = perform(services, second, "adjust", {"weight": 0.5})
    back = perform(services, changed, "back", {})
    assert back.turn_id == first.turn_id and not back.adjustment and "discarded" in back.notice
    here = perform(services, changed, "turn", {"turn": changed.turn_id})
    assert here.adjustment == changed.adjustment


def test_what_moved_is_against_the_same_turn_without_a_filter(services):
    view = perform(services, searched(services), "moves", {"on": True})
    seen = shown_of(services, view)
    moves = ranking_moves(seen.then, seen.now, 60, NAME, "v", lambda _: None)
    before = {hit.image_id: hit.rank for hit in seen.then}
    for hit in seen.now:
        was, move = before[hit.image_id], moves["tiles"].get(hit.image_id)
        if move is not None:
            assert move["text"] == ("=" if was == hit.rank else "new" if was > 60
                                    else f"↑{was - hit.rank}" if was > hit.rank else f"↓{hit.rank - was}")
    gone = {item["id"] for item in moves["gone"]}
    top_then, top_now = {h.image_id for h in seen.then[:20]}, {h.image_id for h in seen.now[:20]}
    assert gone == top_then - top_now
    still = perform(services, perform(services, view, "adjust", {"weight": 0.0}), "moves", {"on": True})
    seen = shown_of(services, still)
    moves = ranking_moves(seen.then, seen.now, 60, NAME, "v", lambda _: None)
    assert {move["text"] for move in moves["tiles"].values()} == {"="}


@pytest.mark.parametrize("data", [
    {"weight": 1.5}, {"weight": "much"}, {"mode": "everything"}, {"constraints": {"keep": "red"}, "edited": "texts"},
    {"constraints": {"add": [f"text {n}" for n in range(13)]}, "edited": "texts"},
    {"constraints": {"add": ["x" * 1001]}}, {"rounds": 3}, {"rounds": -1}, {"rounds": "1"}, {"rounds": True},
])
def test_what_cannot_be_is_refused_and_changes_nothing(services, data):
    view = searched(services)
    with pytest.raises(SearchError):
        perform(services, view, "adjust", data)


def test_adjusting_needs_a_turn(services):
    with pytest.raises(SearchError, match="no session yet"):
        perform(services, UiState(gallery=NAME), "adjust", {"weight": 0.5})


def test_marks_are_lists_of_ids():
    assert marks_of({"more": ["a", "a", "b"], "less": ["c"]}) == Marks(("a", "b"), ("c",))
    assert marks_of({}) == Marks()
    for bad in ("a", [1], [""], {"a": 1}, [f"i{n}" for n in range(51)]):
        with pytest.raises(SearchError):
            marks_of({"more": bad})


def test_marks_go_with_the_next_search(services):
    first = searched(services, MethodSettings())
    more, less = ids(turn_of(services, first))[3], ids(turn_of(services, first))[5]
    view = replace(first, reference_id=ids(turn_of(services, first))[0])
    after = searched(services, view=view, text="blue", more=[more], less=[less])
    assert turn_of(services, after).composition.marks == Marks((more,), (less,))
    with pytest.raises(SearchError, match="both for and against"):
        searched(services, view=view, text="blue", more=[more], less=[more])


def test_a_method_by_name_with_some_of_its_numbers_changed(services):
    view = UiState(gallery=NAME)
    chosen = perform(services, view, "settings", {
        "method": "corr-soft", "exclude": "none", "rounds": "3", "weight": "0.4", "alpha": "0.2", "decay": "0.1",
        "text_weight": "0.1",
    })
    assert chosen.method == replace(
        BOTH, exclude="none", alpha=0.2, reflection=Reflection(rounds=3), soft_filter=SoftFilter(0.4))
    assert methods.method_title(chosen.method, METHODS) == "Custom"
    back = perform(services, chosen, "settings", {"method": "corr-soft", "rounds": "2", "weight": "1", "alpha": "0.08"})
    assert methods.method_title(back.method, METHODS) == "CIReVL + CoRR + SoFT"
    custom = perform(services, chosen, "settings", {"method": "custom", "k": "30"})
    assert (custom.method, custom.k) == (chosen.method, 30)


@pytest.mark.parametrize(("data", "error"), [
    ({"method": "nothing"}, MethodError), ({"method": "joint"}, EncoderUnavailable),
    ({"method": "corr", "rounds": "0"}, SearchError), ({"method": "corr", "rounds": "1.5"}, SearchError),
    ({"method": "soft", "mode": "x"}, SearchError), ({"method": "cirevl", "beta": "nan"}, SearchError),
])
def test_settings_that_cannot_be_are_refused(services, data, error):
    with pytest.raises(error):
        perform(services, UiState(gallery=NAME), "settings", data)


def test_more_images_count_from_the_next_search_and_this_is_said(services):
    view = searched(services, MethodSettings())
    after = perform(services, view, "settings", {"method": "cirevl", "k": "100"})
    assert after.notice == "The next search shows 100 images." and after.session_id == view.session_id


def test_a_gallery_that_changed_is_said_instead_of_changes(services, monkeypatch):
    view = perform(services, searched(services), "adjust", {"weight": 0.5})

    def changed(*args, **kwargs):
        raise CirqueError("It has changed.")

    monkeypatch.setattr(services.search, "adjust", changed)
    seen = shown_of(services, view)
    assert seen.problem == "It has changed." and seen.shown == seen.stored


def test_a_gallery_indexed_anew_is_said_above_the_results(services):
    view = searched(services)
    screen = Screen(SimpleNamespace(**{**vars(services), "settings": None}))
    loaded = services.search.loaded(view.session_id, view.turn_id)
    assert screen._gallery_changed(loaded) == ""
    before = replace(loaded.session, protocol=replace(loaded.session.protocol, gallery_digest="0" * 64))
    services.search._store._sessions[view.session_id] = before
    said = screen._gallery_changed(replace(loaded, session=before))
    assert "has changed since this session began" in said and "start a new session" in said


def test_the_session_of_a_first_search_is_known_while_it_runs(services):
    view = UiState(gallery=NAME, reference_id="r0g3b0", method=BOTH)
    watch, job = begin(services, view, "search", {"text": "red"})
    assert watch.progress.session_id == ""
    after = job()
    assert watch.progress.session_id == after.session_id != ""


def test_methods_stand_in_their_groups_and_ones_own_apart():
    mine = {**METHODS, "mine": Method("mine", "Mine", "", MethodSettings(base="slerp", text_weight=0.3))}
    groups = methods.choices(METHODS["corr"].settings, mine, "no encoder for it")
    assert [group["title"] for group in groups] == [
        "Guided", "Base methods", "History", "CIRQRS", "SoFT", "CoRR", "Yours"]
    chosen = [one["name"] for group in groups for one in group["methods"] if one["chosen"]]
    assert chosen == ["corr"]
    assert [one["name"] for group in groups for one in group["methods"] if one["reason"]] == [
        "joint", "joint-soft", "joint-corr"]
    unscored = methods.choices(METHODS["corr"].settings, mine, unscored="no model")
    assert [one["name"] for group in unscored for one in group["methods"] if one["reason"] == "no model"] == [
        "guided-cirqrs", "cirqrs", "cirevl-cirqrs"]
    custom = methods.choices(MethodSettings(alpha=0.5), mine)[0]
    assert custom["methods"][0]["name"] == "custom" and "α 0.5" in custom["methods"][0]["source"]
