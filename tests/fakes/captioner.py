"""A language model that captions by a rule given to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

from cir_core.language.base import Observer
from cir_core.language.tasks import A, CaptionAnswer, CaptionTask, Task


def numbered(task: CaptionTask) -> str:
    return f"caption {task.sample} of {task.picture.digest[:6]}"


class ScriptedCaptioner:
    """``say`` gives the caption of a task, or raises. ``asked`` holds (digest, sample) of every
    task, and ``log`` a line with them as soon as it is asked."""

    def __init__(
        self, say: Callable[[CaptionTask], str] = numbered, *, name: str = "scripted/1", sees: bool = True,
        log: Path | None = None, delay: float = 0.0,
    ) -> None:
        self.say, self.name, self.sees = say, name, sees
        self.asked: list[tuple[str, int]] = []
        self._log, self._delay = log, delay

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        assert isinstance(task, CaptionTask)
        self.asked.append((task.picture.digest, task.sample))
        if self._log is not None:
            with self._log.open("a", encoding="ascii") as log:
                log.write(f"{task.picture.digest} {task.sample}\n")
        time.sleep(self._delay)
        return cast(A, CaptionAnswer(caption=self.say(task)))
