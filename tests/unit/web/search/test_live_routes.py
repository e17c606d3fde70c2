"""Long actions: followed, stopped, failing; without a browser."""

from __future__ import annotations

import threading

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from cir_core.errors import SearchError
from cir_core.types.composition import ReflectionRound
from cir_core.types.records import Hit
from web.http import long_actions
from web.http.long_actions import LiveWatch, Progress, Runs, follow
from web.search.presenters.reflection import progress
from web.search.routes import live_routes
from web.ui.static_files import fill

PATIENCE = 20.0  # seconds; only a failing test waits that long


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(long_actions, "FIRST_AFTER", 0.02)
    monkeypatch.setattr(long_actions, "EVERY", 0.001)


def finish(running):
    """The progress that was drawn, and the result."""
    seen = []
    while True:
        try:
            seen.append(next(running))
        except StopIteration as over:
            return seen, over.value


def test_what_is_quick_shows_nothing(monkeypatch):
    monkeypatch.setattr(long_actions, "FIRST_AFTER", PATIENCE)
    assert finish(follow(lambda: 7, LiveWatch(), Runs())) == ([], 7)


def test_what_is_slow_is_seen_step_by_step():
    watch, drawn, may_end = LiveWatch("in red", planned=2), threading.Event(), threading.Event()

    def job():
        watch.stage("reflect")
        watch.partial("reflect", {"intent": "some"})
        assert drawn.wait(PATIENCE)
        watch.reflected(ReflectionRound(1, "a red shirt"))
        assert may_end.wait(PATIENCE)
        return "done"

    running = follow(job, watch, Runs())
    first = next(running)
    while first.partial is None:
        first = next(running)
    assert (first.text, first.stage, first.partial, first.rounds) == ("in red", "reflect", {"intent": "some"}, ())
    drawn.set()
    later = next(running)
    while not later.rounds:
        later = next(running)
    assert [one.query for one in later.rounds] == ["a red shirt"]
    assert later.partial is None  # what was being written is a round now
    may_end.set()
    assert finish(running)[1] == "done"


def test_a_silent_run_is_drawn_again_so_that_its_clock_goes_on(monkeypatch):
    monkeypatch.setattr(long_actions, "SILENT", 0.001)
    may_end = threading.Event()

    def job():
        may_end.wait(PATIENCE)

    running = follow(job, LiveWatch(), Runs())
    seconds = [next(running).seconds for _ in range(3)]
    may_end.set()
    finish(running)
    assert seconds == sorted(seconds) and seconds[0] > 0


def test_an_error_comes_out_where_it_is_followed():
    def job():
        raise SearchError("No such thing.")

    with pytest.raises(SearchError, match="No such thing"):
        finish(follow(job, LiveWatch(), Runs()))


def test_a_run_can_be_stopped_while_it_runs_and_not_afterwards():
    app, runs, watch, started = FastAPI(), Runs(), LiveWatch(), threading.Event()
    app.include_router(live_routes(runs))
    page = TestClient(app)

    def job():
        started.set()
        assert watch._stop.wait(PATIENCE)
        return "what there was"

    running = follow(job, watch, runs)
    shown = next(running)
    assert started.wait(PATIENCE)
    assert page.post("/runs/somebody-elses/stop").status_code == 404
    assert not watch.stopped
    assert page.post(f"/runs/{shown.run_id}/stop").status_code == 204
    seen, result = finish(running)
    assert result == "what there was" and watch.stopped
    assert all(one.stopping for one in seen)
    assert page.post(f"/runs/{shown.run_id}/stop").status_code == 404


def test_nobody_looking_on_does_not_end_a_run():
    watch, may_end, ended = LiveWatch(), threading.Event(), threading.Event()

    def job():
        assert may_end.wait(PATIENCE)
        ended.set()

    running = follow(job, watch, Runs())
    next(running)
    running.close()
    may_end.set()
    assert ended.wait(PATIENCE)


def test_a_secret_run_shows_how_far_it_is_and_nothing_else():
    watch = LiveWatch("in red", total=3, secret=True)
    watch.stage("reflect")
    watch.partial("reflect", {"query": "red"})
    watch.found([Hit("a", 1.0, 1)])
    watch.reflected(ReflectionRound(1, "red"))
    watch.part_done()
    shown = watch.progress
    assert (shown.done, shown.total, shown.stage, shown.partial, shown.hits, shown.rounds) == (1, 3, "", None, (), ())


def drawn(shown: Progress) -> dict:
    return progress(shown, "g", "v", lambda image_id: None)


def test_progress_speaks_plainly():
    hits = tuple(Hit(f"i{n}", 0.5, n + 1) for n in range(20))
    shown = drawn(Progress("r", "in red", "reflect", planned=2, looks_at=5, hits=hits, rounds=(
        ReflectionRound(1, "a red shirt", looked_at=("a", "b", "c"), pictures=2, milliseconds=1234),
    )))
    assert (shown["stage"], shown["round"]) == ("Examining the top five…", "Round 2 of 2")
    assert [p["id"] for p in shown["rounds"][0]["pictures"]] == ["a", "b"]
    assert shown["rounds"][0]["time"] == "1.2 s"
    assert len(shown["writing"]["pictures"]) == 5 and len(shown["tiles"]) == 12
    assert drawn(Progress("r", stage="caption"))["stage"] == "Captioning the reference…"
    assert drawn(Progress("r", done=1, total=3))["stage"] == "1 of 3 methods done"
    assert drawn(Progress("r", stage="reflect", stopping=True))["stage"] == "Stopping…"


def test_a_half_written_answer_of_any_shape_is_shown_as_text():
    nasty = "<img src=x onerror=alert(1)>"
    hits = (Hit("i", 0.5, 1),)
    odd = {"intent": nasty, "satisfied": [nasty, 3, None, ""], "problems": "not a list", "query": {"a": 1}}
    shown = drawn(Progress("r", stage="reflect", planned=1, looks_at=5, hits=hits, partial=odd))
    assert shown["writing"]["satisfied"] == [nasty]
    assert shown["writing"]["problems"] == [] and shown["writing"]["query"] == ""
    html = fill("search/progress.html", live=shown, view=None)
    assert "<img src=x" not in html and html.count("&lt;img src=x") == 2
