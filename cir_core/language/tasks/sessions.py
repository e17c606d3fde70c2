"""CIRCLED tasks: construct sessions with f_diff (section 3), and judge them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field

from cir_core.language.tasks.base import Answer, Domain, Picture, Task

Score = Annotated[int, Field(ge=1, le=5)]


class DifferenceAnswer(Answer):
    instruction: str = Field(
        min_length=1, description="One imperative sentence that turns the first image into the second."
    )


@dataclass(frozen=True)
class DifferenceTask(Task[DifferenceAnswer]):
    """A modification text from ``reference`` to ``target``, unlike any earlier one. ``attempt`` above 1 means the
    previous answer was too similar to ``history``: the prompt then insists on another aspect."""

    role: ClassVar[str] = "difference"
    answer_type: ClassVar[type[Answer]] = DifferenceAnswer

    reference: Picture = Picture()
    target: Picture = Picture()
    history: tuple[str, ...] = ()
    domain: Domain = "garment"
    attempt: int = 1

    def inputs(self) -> dict[str, Any]:
        return {
            "history": list(self.history), "domain": self.domain, "attempt": self.attempt,
            "reference_caption": self.reference.caption or "", "target_caption": self.target.caption or "",
        }


class JudgeAnswer(Answer):
    """Each from 1 to 5; ``redundancy`` is high if little is repeated."""

    reason: str = Field(min_length=1, description="One or two sentences on what speaks for and against the session.")
    naturalness: Score
    coherence: Score
    progress: Score
    redundancy: Score
    overall: Score


@dataclass(frozen=True)
class JudgeTask(Task[JudgeAnswer]):
    """Rate a whole session: images and texts, turn by turn, and the target."""

    role: ClassVar[str] = "judge"
    answer_type: ClassVar[type[Answer]] = JudgeAnswer

    references: tuple[Picture, ...] = ()
    utterances: tuple[str, ...] = ()   # as many as references
    target: Picture = Picture()

    def inputs(self) -> dict[str, Any]:
        return {"utterances": list(self.utterances)}
