"""Methods, their cost and their warnings, in words."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from cir_core.methods.declared import builtin_methods
from cir_core.search.protocol import make_card
from cir_core.types.composition import Adjustment, Composition, Marks, Usage
from cir_core.types.methods import MethodSettings, Reflection, SoftFilter
from cir_core.types.records import Branch, EncoderIdentity, Hit, SearchSession, Turn
from web.search.presenters import methods, results, steps
from web.search.presenters.moves import moves as ranking_moves
from web.search.view import UiState
from web.ui.templating import fill

METHODS = builtin_methods()
AXIS = np.eye(2, dtype=np.float32)[0]


def a_turn(composition: Composition | None, notes: tuple[str, ...] = (), digest: str = "d") -> Turn:
    return Turn("t", "s", "b", None, 1, "ref", "in red", "a shirt", "a red shirt", notes, AXIS, (), (), None,
                {"total": 4.0}, digest, datetime(2026, 1, 1, tzinfo=UTC), composition)


def a_session(turn: Turn, model: str = "built-in/2") -> SearchSession:
    card = make_card(
        gallery="g", gallery_size=9, gallery_digest="0" * 16, split="test", encoder=EncoderIdentity("e", "1" * 16, 2),
        language_model=model, method=MethodSettings(),
    )
    return SearchSession("s", "g", MethodSettings(), card, branches=(Branch("b", "s", 1, ""),), turns=(turn,))


def made(**parts) -> Composition:
    return Composition(AXIS, (("text", AXIS),), **parts)


@pytest.mark.parametrize(("name", "line"), [
    ("cirevl", "CIReVL · α 0.08 · β 0.29 · γ 0.44"),
    ("weighted", "CIReVL, weighted turns · decay 0.8"),
    ("slerp-soft", "Slerp + SoFT · text 0.8 · α 0.08 · β 0.29 · γ 0.44 · λ 1"),
    ("corr", "CIReVL + CoRR · α 0.08 · β 0.29 · γ 0.44 · 2 rounds"),
])
def test_a_method_in_one_line(name, line):
    assert methods.method_line(METHODS[name].settings, METHODS) == line


def test_a_method_without_a_name_says_what_it_does():
    settings = MethodSettings(base="slerp", reflection=Reflection(rounds=1), soft_filter=SoftFilter(0.2), gamma=0.5)
    assert methods.method_line(settings, METHODS) == (
        "Custom: Slerp + CoRR + SoFT · text 0.8 · α 0.08 · β 0.29 · γ 0.5 · 1 round · λ 0.2")


def test_every_method_has_rows_for_the_protocol_card():
    for method in METHODS.values():
        rows = dict(methods.method_rows(method.settings))
        assert ("Filter" in rows) == (method.settings.soft_filter is not None)
        assert ("Reflection" in rows) == (method.settings.reflection is not None)
        assert ("Feedback" in rows) == (method.settings.history == "feedback")
    assert dict(methods.method_rows(METHODS["corr-soft"].settings))["Reflection"] == (
        "CoRR, 2 rounds, 5 images, 10 captions, slerp, history 0.8")


def test_rules_cost_nothing_and_this_is_said():
    how = results.how_found(a_session(turn := a_turn(made())), turn)
    assert how["usage"]["rules"]
    assert "Built-in rules, no calls." in fill("search/how.html", view=UiState("g"), how=how, changed=False)


def test_what_a_server_was_asked_is_counted():
    used = Usage(calls=3, cached=1, prompt_tokens=12_000, completion_tokens=345, cost=0.0325,
                 models=("m@host", "built-in/2"))
    turn = a_turn(made(usage=used))
    shown = results.how_found(a_session(turn, "m@host"), turn)["usage"]
    assert (shown["prompt"], shown["answer"], shown["cost"]) == ("12,000", "345", "0.0325")
    assert shown["models"] == ["built-in/2"]
    assert methods.usage(replace(used, cost=None), "m@host")["cost"] == ""
    assert methods.usage(replace(used, cost=0.0), "m@host")["cost"] == "0"
    how = results.how_found(a_session(turn, "m@host"), turn)
    html = fill("search/how.html", view=UiState("g"), how=how, changed=False)
    assert "12,000 in, 345 out" in html and "Built-in rules" not in html


def test_turns_of_an_earlier_version_have_no_cost_and_no_marks():
    how = results.how_found(a_session(turn := a_turn(None)), turn)
    assert how["usage"] is None and how["marks"] is None
    assert "Language model</h3>" not in fill("search/how.html", view=UiState("g"), how=how, changed=False)


def test_marked_images_are_shown_with_the_turn():
    turn = a_turn(made(marks=Marks(("a", "b"), ("c",))))
    html = fill("search/how.html", view=UiState("g"), how=results.how_found(a_session(turn), turn, "v"), changed=False)
    assert html.count("Marked: more like this") == 2 and html.count("Marked: less like this") == 1


def test_the_card_of_a_kept_turn_has_its_own_filter_and_digest():
    turn = a_turn(made(soft_filter=SoftFilter(0.3)), digest="of the kept one")
    how = results.how_found(a_session(turn), turn)
    assert how["digest"] == "of the kept one" and dict(how["rows"])["Filter"] == "SoFT, λ 0.3, both"


def test_warnings_are_notes_that_change_what_the_results_are():
    notes = ("Not understood, used as typed: “frobbed”", "stopped after 1 of 2 rounds of reflection",
             "the built-in language model answered instead of m@host: it is away",
             "round 2 of reflection failed, the results are those before it: no JSON",
             "there are no constraints to filter by: no JSON")
    again = "the built-in language model answered instead of m@host: it was busy before."
    assert methods.warnings((*notes, again)) == list(notes[1:])


def test_moves_of_a_small_ranking():
    # Without the filter a b c d; with it c a e b, of which the first three are shown.
    then = [Hit(image, 1 - n / 10, n + 1) for n, image in enumerate("abcd")]
    now = [Hit(image, 1 - n / 10, n + 1) for n, image in enumerate("caeb")]
    moves = ranking_moves(then, now, 3, "g", "v", lambda _: None)
    assert {image: move["text"] for image, move in moves["tiles"].items()} == {"c": "↑2", "a": "↓1", "e": "new"}
    assert [(item["id"], item["then"], item["now"]) for item in moves["gone"]] == [("d", 4, "beyond 4")]


def test_the_bar_of_changes_says_which():
    assert steps.changes(UiState("g")) is None
    view = UiState("g", adjustment=Adjustment(soft_filter=SoftFilter(0.5), rounds=1), undo=(Adjustment(),))
    assert steps.changes(view) == {"unkept": True, "undo": True, "what": "reflection, filter"}
    assert steps.changes(replace(view, adjustment=Adjustment()))["unkept"] is False
