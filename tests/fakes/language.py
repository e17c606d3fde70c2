"""Language models that answer from a script and remember what they were asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from cir_core.errors import UnsupportedTask
from cir_core.language.base import Observer
from cir_core.language.tasks import (
    A,
    Answer,
    AspectsAnswer,
    AspectsTask,
    CaptionAnswer,
    CaptionTask,
    MergeAnswer,
    MergeTask,
    Task,
)
from cir_core.types.composition import Usage

Reply = Answer | Exception | Callable[[Any], Answer]


class ScriptedLanguageModel:
    """Captions with ``caption``; merges by joining; takes nothing apart. ``asked`` holds every task."""

    name = "scripted/1"
    sees = False

    def __init__(self, caption: str = "a garment", notes: tuple[str, ...] = ()) -> None:
        self.caption, self.notes = caption, notes
        self.asked: list[object] = []

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        self.asked.append(task)
        if isinstance(task, CaptionTask):
            return cast(A, CaptionAnswer(caption=self.caption, notes=self.notes))
        if isinstance(task, AspectsTask):
            return cast(A, AspectsAnswer(aspects=()))
        assert isinstance(task, MergeTask)
        return cast(A, MergeAnswer(query=f"{task.caption} {task.modification_text}".strip()))


class ReplayingLanguageModel(ScriptedLanguageModel):
    """Answers any role: ``replies`` maps roles to what comes in turn, the last of them again
    and again. A reply is an answer, an error to raise, or a function of the task.

    Captions and merges that are not in the script are those of :class:`ScriptedLanguageModel`,
    other roles are not supported. Every request counts as one call to the watch.
    """

    name = "replaying/1"

    def __init__(
        self, replies: Mapping[str, Sequence[Reply]], *, sees: bool = False, caption: str = "a garment",
        name: str = "replaying/1",
    ) -> None:
        super().__init__(caption)
        self.sees, self.name = sees, name
        self._replies = {role: list(said) for role, said in replies.items()}

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        if watch is not None:
            watch.spent(Usage(calls=1, models=(self.name,)))
        left = self._replies.get(task.role)
        if left is None:
            if isinstance(task, (AspectsTask, CaptionTask, MergeTask)):
                return super().complete(task, watch)
            raise UnsupportedTask(f"{self.name} does not fill the role {task.role!r}.")
        self.asked.append(task)
        reply = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(reply, Exception):
            raise reply
        answer = reply if isinstance(reply, Answer) else reply(task)
        assert isinstance(answer, task.answer_type), f"the script gives {task.role} a {type(answer).__name__}"
        return cast(A, answer)

    def asked_as(self, role: str) -> list[Any]:
        """The tasks of one role, in order."""
        return [task for task in self.asked if cast(Task[Any], task).role == role]


class SilentLanguageModel:
    """For what must not ask: every question fails the test."""

    name = "silent/1"
    sees = False

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        raise AssertionError(f"asked for the role {task.role!r}")
