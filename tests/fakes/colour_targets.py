"""SoFT's stage 1 over the colour gallery: a model that sees, and queries that several colours answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from cir_core.construct.targets.multi_target import MultiTargets
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import Observer
from cir_core.language.tasks import (
    A,
    ConfidenceAnswer,
    ConfidenceTask,
    Picture,
    RewriteAnswer,
    RewriteTask,
    Task,
    TwoSentencesAnswer,
    TwoSentencesTask,
)
from cir_core.types.composition import Usage
from tests.fakes.encoder import FakeEncoder

COLOURS = ("red", "green", "blue")


class ColourAssessor:
    """A candidate's confidence is the share of the wanted colour in it; a text is rewritten by naming the target's
    colours. ``leave_out``: names that a first answer about several candidates lacks; ``log`` gets a line for each
    request, ``delay`` seconds are slept."""

    name, sees = "assessor/1", True

    def __init__(
        self, *, leave_out: tuple[str, ...] = (), delay: float = 0.0, log: Path | None = None,
        rewrites: Callable[[RewriteTask], str] | None = None, fail: Callable[[Task[Any]], None] = lambda task: None,
    ) -> None:
        self._leave_out, self._delay, self._rewrites, self._fail = leave_out, delay, rewrites, fail
        self._lock = threading.Lock()
        self.asked: list[Task[Any]] = []

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        with self._lock:
            self.asked.append(task)
        time.sleep(self._delay)
        if watch is not None:
            watch.spent(Usage(1, 0, 10, 2, None, (self.name,)))
        self._fail(task)
        return cast(A, self._answer(task))

    def asked_as(self, role: str) -> list[Any]:
        return [task for task in self.asked if task.role == role]

    def _answer(self, task: Task[Any]) -> Any:
        if isinstance(task, TwoSentencesTask):
            colour = colour_of(task.modification_text)
            return TwoSentencesAnswer(modification=colour, kept="black" if "kept" in task.modification_text else "")
        if isinstance(task, ConfidenceTask):
            colour = colour_of(task.modification_text)
            scores = {name: shares(one)[colour] for name, one in zip(task.names, task.candidates, strict=True)}
            if len(scores) > 2:
                scores = {name: score for name, score in scores.items() if name not in self._leave_out}
            return ConfidenceAnswer(scores=scores)
        assert isinstance(task, RewriteTask)
        if self._rewrites is not None:
            return RewriteAnswer(refined_caption=self._rewrites(task))
        return RewriteAnswer(refined_caption=f"{task.modification_text}, with {shares(task.target)}")


def colour_of(text: str) -> str:
    return next(colour for colour in COLOURS if colour in text)


def shares(picture: Picture) -> Mapping[str, float]:
    """Of each colour in a plain image: 1 of pure red is red."""
    found = np.asarray(picture.features)[:3].astype(float)
    return {colour: round(float(one), 2) for colour, one in zip(COLOURS, found, strict=True)}


def colour_targets(gallery: Gallery, language: Any, count: int = 12, **more: Any) -> MultiTargets:
    ids = [one for one in gallery.ids if one != "r0g0b0"]
    queries = tuple(
        BenchmarkQuery(f"q{n}", ids[n], f"more {COLOURS[n % 3]}{' kept' if n % 2 else ''}", (ids[-n - 1],), pool="cirr",
                       captions=(f"more {COLOURS[n % 3]}", " kept" if n % 2 else ""))
        for n in range(count))
    benchmark = Benchmark("cirr", "val", queries, {"cirr": None}, lambda image_id: ())
    return MultiTargets(more.pop("benchmark", benchmark), gallery, FakeEncoder(), language, domain="scene", **more)
