"""One request for what several threads ask at one time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from cir_core.errors import LanguageModelError
from cir_core.language.tasks import MergeAnswer, MergeTask
from cir_core.language.wrappers.single_flight import SingleFlightLanguageModel


class Gated:
    """Answers with the number of the request, once ``go`` is set; fails at the requests in ``failing``."""

    name, sees = "gated/1", False

    def __init__(self, failing=()):
        self.failing, self.asked = failing, 0
        self.entered, self.go = threading.Event(), threading.Event()
        self._lock = threading.Lock()

    def complete(self, task, watch=None):
        with self._lock:
            self.asked += 1
            number = self.asked
        self.entered.set()
        assert self.go.wait(60)
        if number in self.failing:
            raise LanguageModelError(f"request {number}")
        return MergeAnswer(query=f"{task.modification_text} {number}")


def ask(model, texts):
    """Every text in a thread of its own; the gate opens when the first request is under way and the others wait."""
    single = SingleFlightLanguageModel(model)
    with ThreadPoolExecutor(len(texts)) as pool:
        futures = [pool.submit(single.complete, MergeTask("a", text)) for text in texts]
        assert model.entered.wait(60)
        model.go.set()
        for future in futures:
            future.exception()
    return futures, single


def test_the_same_task_is_asked_once_and_others_are_not_held_up():
    model = Gated()
    single = SingleFlightLanguageModel(model)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(single.complete, MergeTask("a", "red"))
        assert model.entered.wait(60)
        others = [pool.submit(single.complete, MergeTask("a", "red")) for _ in range(3)]
        model.go.set()
        answers = {future.result().query for future in (first, *others)}
    # Whoever came while the first was under way has its answer; each answer is that of one request.
    assert len(answers) == model.asked <= 4 and "red 1" in answers
    model.asked = 0
    assert single.complete(MergeTask("a", "red")).query == "red 1" and model.asked == 1   # it keeps nothing


def test_of_those_that_wait_for_a_failure_each_asks_in_its_own_name():
    model = Gated(failing=(1,))
    futures, single = ask(model, ["red"] * 4)
    failed = [future for future in futures if future.exception() is not None]
    assert [str(future.exception()) for future in failed] == ["request 1"]
    assert all(future.result().query.startswith("red ") for future in futures if future not in failed)
    model.failing = (model.asked + 1,)
    with pytest.raises(LanguageModelError):
        single.complete(MergeTask("a", "blue"))
    assert (single.name, single.sees) == ("gated/1", False)
