"""CoRR task: inspect the candidates and refine the query (section 3.2), and its ablations by prompt (table 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import Field

from cir_core.language.tasks.base import Answer, Domain, Picture, Task


class ReflectAnswer(Answer):
    """The reasoning precedes the query, so that a model that writes in order reasons first."""

    intent: str = Field(description="What the person wants, in one sentence.")
    satisfied: tuple[str, ...] = Field(default=(), description="What the candidates already show.")
    problems: tuple[str, ...] = Field(
        default=(), description="What they lack, show against the request, or what was asked too strictly."
    )
    strategy: str = Field(default="", description="How the new query goes about it, in one sentence.")
    query: str = Field(min_length=1, description="The refined query: a concise caption of the wanted image.")


class FreeReflectAnswer(Answer):
    reasoning: str = Field(description="How the query comes about, in a few sentences.")
    query: str = Field(min_length=1, description="The refined query: a concise caption of the wanted image.")


class SilentReflectAnswer(Answer):
    query: str = Field(min_length=1, description="The refined query: a concise caption of the wanted image.")


@dataclass(frozen=True)
class ReflectTask(Task[ReflectAnswer]):
    """One round over the best candidates of the previous round. ``candidates`` are the K shown as images; ``captions``
    belong to the best N, in the same order. ``previous_query`` is given only if the method shows it."""

    role: ClassVar[str] = "reflect"
    answer_type: ClassVar[type[Answer]] = ReflectAnswer

    reference: Picture = Picture()
    reference_caption: str = ""
    modification_text: str = ""
    candidates: tuple[Picture, ...] = ()
    captions: tuple[str, ...] = ()
    previous_query: str | None = None
    domain: Domain = "garment"
    round_number: int = 1

    def inputs(self) -> dict[str, Any]:
        return {
            "reference_caption": self.reference_caption, "modification_text": self.modification_text,
            "captions": list(self.captions), "previous_query": self.previous_query, "domain": self.domain,
            "round_number": self.round_number,
        }


@dataclass(frozen=True)
class FreeReflectTask(ReflectTask):
    """A round without the four steps: the model reasons in its own way ("w/o CoT")."""

    role: ClassVar[str] = "reflect-free"
    answer_type: ClassVar[type[Answer]] = FreeReflectAnswer


@dataclass(frozen=True)
class SilentReflectTask(ReflectTask):
    """A round in which the model writes none of its reasoning down ("w/o think process")."""

    role: ClassVar[str] = "reflect-silent"
    answer_type: ClassVar[type[Answer]] = SilentReflectAnswer
