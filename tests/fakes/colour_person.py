"""A language model that knows colours: enough to construct sessions over the colour gallery."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from cir_core.language.base import Observer
from cir_core.language.tasks import (
    A,
    CaptionAnswer,
    CaptionTask,
    DifferenceAnswer,
    DifferenceTask,
    MergeAnswer,
    MergeTask,
    Picture,
    Task,
)
from cir_core.types.composition import Usage

COLOURS = ("red", "green", "blue")


class ColourPerson:
    """Captions an image as "red red blue", by its features; merges "more red" and "less red" into a caption; names the
    colour that differs most, or the next one at a later attempt.

    Every answer counts as one request of 10 and 2 tokens at ``cost``. ``log`` gets a line for each, ``delay`` seconds
    are slept; ``fail`` may raise for a task. ``most_at_once`` counts requests under way together.
    """

    def __init__(
        self, *, delay: float = 0.0, log: Path | None = None, cost: float | None = None, sees: bool = True,
        fail: Callable[[Task[Any]], None] = lambda task: None, name: str = "colours/1",
    ) -> None:
        self.name, self.sees = name, sees
        self._delay, self._log, self._cost, self._fail = delay, log, cost, fail
        self._lock = threading.Lock()
        self.asked: list[Task[Any]] = []
        self._now = self.most_at_once = 0

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        with self._lock:
            self.asked.append(task)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            if self._log is not None:
                with self._log.open("a", encoding="ascii") as log:
                    log.write(f"{task.role}\n")
        try:
            time.sleep(self._delay)
            if watch is not None:
                watch.spent(Usage(1, 0, 10, 2, self._cost, (self.name,)))
            self._fail(task)
            return cast(A, self._answer(task))
        finally:
            with self._lock:
                self._now -= 1

    def _answer(self, task: Task[Any]) -> Any:
        if isinstance(task, CaptionTask):
            return CaptionAnswer(caption=caption_of(task.picture))
        if isinstance(task, MergeTask):
            return MergeAnswer(query=merged(task.caption, task.modification_text))
        assert isinstance(task, DifferenceTask)
        return DifferenceAnswer(instruction=difference(task))


def caption_of(picture: Picture) -> str:
    if picture.caption:
        return picture.caption
    assert picture.features is not None
    counts = [round(5 * float(share)) for share in picture.features[:3]]
    return " ".join(word for word, count in zip(COLOURS, counts, strict=True) for _ in range(count)) or "black"


def merged(caption: str, text: str) -> str:
    words = Counter(caption.split())
    for change, colour in re.findall(r"(more|less) (\w+)", text.lower()):
        words[colour] = max(0, words[colour] + (2 if change == "more" else -2))
    return " ".join(word for word in (*COLOURS, "black") for _ in range(words[word])) or "black"


def difference(task: DifferenceTask) -> str:
    old, new = (Counter(caption_of(picture).split()) for picture in (task.reference, task.target))
    gaps = sorted(COLOURS, key=lambda colour: (-abs(new[colour] - old[colour]), colour))
    colour = gaps[(task.attempt - 1) % 3]
    return f"{'More' if new[colour] >= old[colour] else 'Less'} {colour}"
