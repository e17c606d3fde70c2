"""Records to what templates show."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from cir_core.errors import SearchError
from cir_core.evaluation.metrics.consistency import RankSetback, RepeatedText
from cir_core.search.protocol import make_card
from cir_core.sessions.target import TargetTrace
from cir_core.types.records import Branch, EncoderIdentity, Hit, MethodSettings, SearchSession, Turn
from web.search.events import as_error
from web.search.presenters import results, target
from web.search.view import UiState
from web.ui.templating import fill

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
