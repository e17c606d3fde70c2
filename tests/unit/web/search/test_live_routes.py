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
from web.http.long_actions import LiveWatch, Progress, Runs
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
    assert finish(Runs().begin(lambda: 7, LiveWatch()).follow()) == ([], 7)


def test_what_is_slow_is_seen_step_by_step():
    watch, drawn, may_end = LiveWatch("in red", planned=2), threading.Event(), threading.Event()

    def job():
        watch.stage("reflect")
        watch.partial("reflect", {"intent": "some"})
        assert drawn.wait(PATIENCE)
        watch.reflected(ReflectionRound(1, "a red shirt"))
        assert may_end.wait(PATIENCE)
        return "done"

    running = Runs().begin(job, watch).follow()
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

    running = Runs().begin(job, LiveWatch()).follow()
    seconds = [next(running).seconds for _ in range(3)]
    may_end.set()
    finish(running)
    assert seconds == sorted(seconds) and seconds[0] > 0


def test_an_error_comes_out_where_it_is_followed():
    def job():
        raise SearchError("No such thing.")

    with pytest.raises(SearchError, match="No such thing"):
        finish(Runs().begin(job, LiveWatch()).follow())


def test_a_run_can_be_stopped_while_it_runs_and_not_afterwards():
    app, runs, watch, started = FastAPI(), Runs(), LiveWatch(), threading.Event()
    app.include_router(live_routes(runs))
    page = TestClient(app)

    def job():
        started.set()
        assert watch._stop.wait(PATIENCE)
        return "what there was"

    running = runs.begin(job, watch).follow()
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

    running = Runs().begin(job, watch).follow()
    next(running)
    running.close()
    may_end.set()
    assert ended.wait(PATIENCE)


def test_a_run_is_found_by_the_id_that_its_page_chose_while_it_runs_and_afterwards():
    runs, may_end, chosen = Runs(), threading.Event(), "0123456789abcdef" * 2

    def job():
        assert may_end.wait(PATIENCE)
        return "done"

    run = runs.begin(job, LiveWatch(), chosen)
    first, second = run.follow(), runs.find(chosen).follow()
    assert next(first).run_id == next(second).run_id == chosen
    may_end.set()
    assert finish(first)[1] == finish(second)[1] == finish(runs.find(chosen).follow())[1] == "done"


@pytest.mark.parametrize("chosen", ["", "short", "0" * 31, "0" * 33, "A" * 32, "../" + "0" * 29, "0" * 31 + "\n"])
def test_an_id_that_is_none_is_passed_over(chosen):
    runs = Runs()
    assert finish(runs.begin(lambda: 7, LiveWatch(), chosen).follow())[1] == 7
    assert runs.find(chosen) is None


def test_nobody_takes_over_a_run_by_its_id():
    runs, chosen = Runs(), "f" * 32
    finish(runs.begin(lambda: "first", LiveWatch(), chosen).follow())
    finish(runs.begin(lambda: "second", LiveWatch(), chosen).follow())
    assert finish(runs.find(chosen).follow())[1] == "first"


def test_runs_that_are_over_are_forgotten_the_oldest_first_and_those_at_work_never(monkeypatch):
    monkeypatch.setattr(long_actions, "KEPT_OVER", 2)
    runs, may_end, names = Runs(), threading.Event(), [f"{number:032x}" for number in range(5)]
    slow = runs.begin(lambda: may_end.wait(PATIENCE), LiveWatch(), names[0])
    for name in names[1:]:
        finish(runs.begin(lambda: 7, LiveWatch(), name).follow())
    assert [runs.find(name) is not None for name in names] == [True, False, True, True, True]   # the last one is new
    may_end.set()
    assert finish(slow.follow())[1] is True


def test_an_error_is_there_for_a_page_that_asks_later():
    runs, chosen = Runs(), "1" * 32

    def job():
        raise SearchError("No such thing.")

    for run in (runs.begin(job, LiveWatch(), chosen), runs.find(chosen)):
        with pytest.raises(SearchError, match="No such thing"):
            finish(run.follow())


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
