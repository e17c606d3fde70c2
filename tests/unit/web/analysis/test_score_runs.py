"""Computations of scores: which may begin, which wait, what becomes of those that fail or are stopped."""

from __future__ import annotations

import threading

import pytest
from cachetools import FIFOCache

from cir_core.errors import StudyError
from tests.fakes.patience import wait_for
from web.analysis.metric_scores import Computation, ScoreRuns
from web.http.background import BackgroundPool
from web.http.long_actions import Runs


class Work:
    """Tells how far it is and waits for ``go``."""

    def __init__(self, *, error: BaseException | None = None, waits: bool = True):
        self.go, self.began, self.error = threading.Event(), threading.Event(), error
        if not waits:
            self.go.set()

    def __call__(self, watch, tell):
        tell("Slerp", 12, 70)
        self.began.set()
        assert self.go.wait(60)
        if self.error is not None:
            raise self.error


@pytest.fixture
def runs():
    return Runs()


@pytest.fixture
def scores(runs):
    return ScoreRuns(runs, BackgroundPool(1, "test"))


def computation(work, name="slerp in atelier"):
    return Computation(name, name, "Opening the gallery atelier", work)


def finished(scores, run_id):
    wait_for(lambda: scores.state(run_id).finished)
    return scores.state(run_id)


def test_the_same_is_one_run_and_another_is_refused(scores):
    work = Work()
    run_id = scores.begin("s1", computation(work))
    assert work.began.wait(60)
    assert scores.begin("s1", computation(Work())) == run_id
    with pytest.raises(StudyError, match=r"“slerp in atelier” is being computed for this study \(12 of 70 queries\)\. "
                                         "Wait until it is done, or stop it"):
        scores.begin("s1", computation(Work(), "cirevl in atelier"))
    work.go.set()
    assert finished(scores, run_id).problem == ""
    again = scores.begin("s1", computation(Work(waits=False), "cirevl in atelier"))
    assert again != run_id and finished(scores, again).problem == ""


def test_one_at_a_time_over_all_studies(scores, runs):
    first, second, third = Work(), Work(), Work()
    one = scores.begin("s1", computation(first))
    assert first.began.wait(60)
    two, three = scores.begin("s2", computation(second)), scores.begin("s3", computation(third))
    assert scores.state(two).text == "Waiting for another study's computation" and not second.began.is_set()
    with pytest.raises(StudyError, match=r"for this study \(waiting for another study's computation\)"):
        scores.begin("s2", computation(Work(), "other"))
    assert runs.stop(three)                                        # one that waits can be stopped
    first.go.set()
    assert second.began.wait(60) and scores.state(two).text == "Slerp"
    second.go.set()
    assert (finished(scores, one).problem, finished(scores, two).problem) == ("", "")
    assert finished(scores, three).problem == "It was stopped before it started." and not third.began.is_set()
    assert not any(runs.stop(run_id) for run_id in (one, two, three))


@pytest.mark.parametrize(("error", "said"), [
    (StudyError("There is nothing."), "There is nothing."), (ValueError("x"), "could not be computed (ValueError)"),
    (SystemExit(), "interrupted"),
])
def test_however_it_ends_the_study_is_free_again(scores, error, said):
    run_id = scores.begin("s1", computation(Work(error=error, waits=False)))
    assert said in finished(scores, run_id).problem
    assert finished(scores, scores.begin("s1", computation(Work(waits=False), "other"))).problem == ""


def test_what_cannot_begin_leaves_nothing_behind(runs):
    class Full(BackgroundPool):
        def submit(self, work):
            self.given = work
            raise RuntimeError("can't start new thread")

    threads = Full(1, "test")
    scores, work = ScoreRuns(runs, threads), Work(waits=False)
    for _ in range(2):
        with pytest.raises(StudyError, match=r"can't start new thread\)\. Try again later\."):
            scores.begin("s1", computation(work))
    threads.given()   # the pool has found a thread after all
    assert not work.began.is_set()


def test_only_runs_that_are_over_are_forgotten(scores, monkeypatch):
    monkeypatch.setattr(scores, "_ended", FIFOCache(6))
    work = Work()
    running = scores.begin("s0", computation(work))
    waiting = [scores.begin(f"s{number}", computation(Work(waits=False))) for number in range(1, 6)]
    assert all(scores.state(run_id) is not None for run_id in (running, *waiting))
    work.go.set()
    for run_id in (running, *waiting):
        finished(scores, run_id)
    for number in range(4):
        assert finished(scores, scores.begin(f"t{number}", computation(Work(waits=False)))).problem == ""
    assert [scores.state(run_id) is not None for run_id in (running, *waiting)] == [False] * 4 + [True] * 2
