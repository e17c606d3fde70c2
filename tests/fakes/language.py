"""A language model that answers from a script and remembers what it was asked."""

from __future__ import annotations

from typing import cast

from cir_core.language.tasks import A, CaptionAnswer, CaptionTask, MergeAnswer, MergeTask, Task
from cir_core.language.watch import Watch


class ScriptedLanguageModel:
    """Captions with ``caption``; merges by joining. ``asked`` holds every task."""

    name = "scripted/1"
    sees = False

    def __init__(self, caption: str = "a garment", notes: tuple[str, ...] = ()) -> None:
        self.caption, self.notes = caption, notes
        self.asked: list[object] = []

    def complete(self, task: Task[A], watch: Watch | None = None) -> A:
        self.asked.append(task)
        if isinstance(task, CaptionTask):
            return cast(A, CaptionAnswer(caption=self.caption, notes=self.notes))
        assert isinstance(task, MergeTask)
        return cast(A, MergeAnswer(query=f"{task.caption} {task.modification_text}".strip()))
