"""Records to what templates show."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from cir_core.errors import SearchError
from cir_core.evaluation.metrics.consistency import RankSetback, RepeatedText
from cir_core.methods.declared import builtin_methods
from cir_core.search.protocol import make_card
from cir_core.sessions.target import TargetTrace
from cir_core.types.composition import Adjustment, Composition, Marks, Usage
from cir_core.types.methods import Reflection, SoftFilter
from cir_core.types.records import Branch, EncoderIdentity, Hit, MethodSettings, SearchSession, Turn
from web.search.events import as_error
from web.search.presenters import methods, results, steps, target
from web.search.presenters.soft_filter import moves as ranking_moves
from web.search.view import UiState
from web.ui.static_files import fill

NASTY = "\"><img src=x onerror=alert(1)> ${alert(2)} `{{7*7}}` & 'quoted'"


def turn(turn_id: str, number: int, branch: str, parent: str | None, ids: list[str], text: str = "in red") -> Turn:
    hits = tuple(Hit(i, 0.5 - n / 100, n + 1, (("text", 0.5 - n / 100),)) for n, i in enumerate(ids))
    return Turn(
        turn_id, "s", branch, parent, number, "ref/1", text, "a shirt", "a red shirt", (), np.zeros(2, np.float32),
        hits, (), None, {"search": 1.0, "caption": 2.0, "total": 4.0}, "d", datetime(2026, 1, 1, tzinfo=UTC),
    )


@pytest.fixture
def session() -> SearchSession:
    card = make_card(
        gallery="g", gallery_size=9, gallery_digest="0" * 16, split="test",
        encoder=EncoderIdentity("e", "1" * 16, 2), language_model="built-in/1", method=MethodSettings(),
    )
    shared = [f"i{n}" for n in range(10)]
    return SearchSession(
        "s", "g", MethodSettings(), card, branches=(Branch("b1", "s", 1, ""), Branch("b2", "s", 2, "mine")),
        turns=(
            turn("t1", 1, "b1", None, shared), turn("t2", 2, "b1", "t1", shared),
            turn("t3", 2, "b2", "t1", shared[5:] + [f"j{n}" for n in range(5)]),
        ),
    )


def test_an_id_of_any_kind_survives_the_address() -> None:
    url = results.media_url("thumb", "my photos", "../a b/ü?&#%.jpg", "v1")
    query = parse_qs(urlsplit(url).query)
    assert query == {"gallery": ["my photos"], "image": ["../a b/ü?&#%.jpg"], "v": ["v1"]}


def test_strip_shows_one_branch_and_where_it_is_viewed(session: SearchSession) -> None:
    strip = results.strip(session, "b1", "t1", "v", max_turns=6)
    assert [(t["number"], t["current"], t["later"]) for t in strip["turns"]] == [(1, True, False), (2, False, True)]
    assert strip["long"] == 0
    assert results.strip(session, "b1", "t2", "v", max_turns=1)["long"] == 1


@pytest.mark.parametrize(("length", "viewed", "folds"), [
    (1, 1, (0, 1, 0)), (4, 1, (0, 4, 0)), (4, 4, (0, 4, 0)),
    (5, 5, (2, 3, 0)), (12, 12, (9, 3, 0)), (12, 10, (9, 3, 0)), (12, 9, (8, 3, 1)), (12, 1, (0, 3, 9)),
])
def test_a_long_branch_keeps_one_line_with_the_viewed_turn_in_it(session, length, viewed, folds):
    turns = tuple(turn(f"t{n}", n, "b1", f"t{n - 1}" if n > 1 else None, ["i1"]) for n in range(1, length + 1))
    strip = results.strip(replace(session, turns=turns), "b1", f"t{viewed}", "v", max_turns=6)
    assert tuple(one["end"] - one["begin"] for one in strip["folds"]) == folds
    assert [one["begin"] for one in strip["folds"][1:]] == [one["end"] for one in strip["folds"][:-1]], "each turn once"
    line = strip["folds"][1]
    assert viewed in [one["number"] for one in strip["turns"][line["begin"]:line["end"]]]
    html = fill("search/strip.html", strip=strip)
    assert html.count('data-act="turn"') == length and html.count("<details") == sum(map(bool, (folds[0], folds[2])))
    for count, name in ((folds[0], "earlier"), (folds[2], "later")):
        said = f"<summary>{count} {name} turn{'' if count == 1 else 's'}</summary>"
        assert (said in html) == bool(count)


def test_branches_fold_into_one_line_two_of_them_on_narrow_screens_alone(session):
    two = fill("search/strip.html", strip=results.strip(session, "b1", "t2", "v", max_turns=6))
    assert 'data-keep="branches" data-unfold="wide" open>' in two and two.count('data-act="branch"') == 2
    three = replace(session, branches=(*session.branches, Branch("b3", "s", 3, "")),
                    turns=(*session.turns, turn("t4", 2, "b3", "t1", ["i1"])))
    html = fill("search/strip.html", strip=results.strip(three, "b2", "t3", "v", max_turns=6))
    assert '<details class="cq-otherturns" data-keep="branches">' in html and html.count('data-act="branch"') == 3
    assert "<b>3 branches</b><span>mine</span>" in html


def test_branch_rows_line_up_at_the_fork(session: SearchSession) -> None:
    rows = results.branch_rows(session, "b2", "t3")
    assert [(row["name"], row["forked"], [d["number"] for d in row["dots"]]) for row in rows] == [
        ("Branch 1", 0, [1, 2]), ("mine", 1, [2]),
    ]


def test_comparison_counts_what_both_found(session: SearchSession) -> None:
    sides = results.comparison(session, "b1", "b2", "v", lambda _: None)
    assert (sides["shared"], sides["overlap"]) == (5, "0.50")
    left = sides["columns"][0]["tiles"]
    assert [tile["only"] for tile in left] == [True] * 5 + [False] * 5
    assert left[5]["there"] == 1


def test_rank_plot_is_logarithmic_with_rank_one_on_top() -> None:
    plot = target.rank_plot([1000, 100, 10, 1])
    heights = [point["y"] for point in plot["points"]]
    steps = np.diff(heights)
    assert steps == pytest.approx([steps[0]] * 3, abs=0.11)  # a decade is a decade; tenths are rounded
    assert heights[-1] == plot["top"]
    assert [p["hit"] for p in plot["points"]] == [False, False, True, True]
    assert [tick["label"] for tick in plot["ticks"]] == ["1", "10", "100", "1,000"]


@pytest.mark.parametrize("ranks", [[1], [7, 7], [99_999]])
def test_rank_plot_stays_inside(ranks: list[int]) -> None:
    plot = target.rank_plot(ranks)
    assert all(plot["left"] <= p["x"] <= plot["right"] and plot["top"] <= p["y"] <= plot["bottom"]
               for p in plot["points"])


def test_trace_says_which_turn_broke_what() -> None:
    found = TargetTrace("x", (5, 80), (RankSetback(2, 5, 80),), (RepeatedText(2, 1, 0.934),))
    notes = target.trace(found)["notes"]
    assert "rank 5 to 80" in notes[0] and "ε" in notes[0]
    assert "turn 1" in notes[1] and "0.93" in notes[1]


@pytest.mark.parametrize(("ranks", "beyond"), [((26,), 10), ((3, 11), 10), ((26, 10), 0), ((1,), 0), ((), 0)])
def test_a_last_rank_that_no_score_counts_is_known(ranks: tuple[int, ...], beyond: int) -> None:
    assert target.trace(TargetTrace("x", ranks, (), ()))["beyond"] == beyond


def test_timings_are_in_order_and_shares_of_the_whole(session: SearchSession) -> None:
    rows = results.timings(session.turns[0])
    assert [(row["name"], row["share"]) for row in rows] == [("Caption", 50.0), ("Search", 25.0), ("Total", 100.0)]


def test_numbers_are_typeset() -> None:
    assert results.score_text(-0.1234) == "−0.123"
    assert math.isclose(float(results.score_text(0.5)), 0.5)


def test_templates_escape_what_people_and_files_say(session: SearchSession) -> None:
    tile = results.tile(Hit(NASTY, 0.5, 1), NASTY, "v", NASTY)
    html = fill("search/parts/tile.html", tile=tile, moves=None, feedback=True)
    assert "<img src=x" not in html
    assert html.count("<img") == 1
    how = results.how_found(session, turn("t9", 1, "b1", None, ["i"], text=NASTY))
    assert "<img src=x" not in fill("search/how.html", view=UiState("g"), how=how, changed=False)


def test_a_toast_shows_a_text_as_a_text() -> None:
    assert as_error(SearchError("No image “<b>x</b>”.")).message == "No image “&lt;b&gt;x&lt;/b&gt;”."


# --- methods, their cost and their warnings --------------------------------------------------

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
