"""A question that people answer on a form, put to a language model with the same words, choices and images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from pydantic import Field

from cir_core.language.tasks.base import Answer, Picture, Task, Wording
from cir_core.support.texts import quoted

FieldType = Literal["choice", "choices", "number", "yes", "text"]
"""One of the options, some of them, one of them as a whole number, true or false, or a text."""


@dataclass(frozen=True)
class FormField:
    """``about``: the question, in words. ``options``: of a choice; of numbers those allowed."""

    name: str
    type: FieldType
    about: str
    options: tuple[str | int, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """As JSON schema, with the keywords that strict servers know."""
        match self.type:
            case "choice":
                return {"type": "string", "enum": list(self.options)}
            case "choices":
                return {"type": "array", "items": {"type": "string", "enum": list(self.options)}}
            case "number":
                return {"type": "integer", "enum": list(self.options)}
        return {"type": "boolean" if self.type == "yes" else "string"}

    def fault(self, value: object) -> str:
        """What is wrong with an answer; "" if nothing."""
        listed = ", ".join(map(str, self.options))
        match self.type:
            case "choice":
                return "" if isinstance(value, str) and value in self.options else f"it must be one of {listed}"
            case "choices":
                fits = isinstance(value, list) and all(isinstance(one, str) and one in self.options for one in value)
                return "" if fits else f"it must be a list of some of {listed}, or an empty one"
            case "number":
                fits = isinstance(value, int) and not isinstance(value, bool) and value in self.options
                return "" if fits else f"it must be one of the whole numbers {listed}"
            case "yes":
                return "" if isinstance(value, bool) else "it must be true or false"
        return "" if isinstance(value, str) else "it must be a text"

    @property
    def line(self) -> str:
        form = {"choice": "one of", "choices": "list of some of, or empty:", "number": "one of", "yes": "true or false",
                "text": "text"}[self.type]
        listed = ", ".join(f'"{one}"' if isinstance(one, str) else str(one) for one in self.options)
        return f'- "{self.name}" ({" ".join(filter(None, (form, listed)))}): {self.about}'


@dataclass(frozen=True)
class Form:
    """``instructions``: what people read before they answer. Both are words of cirque and of who made a study: they
    are orders, unlike what an item shows."""

    instructions: str = ""
    fields: tuple[FormField, ...] = ()


class FormAnswer(Answer):
    reason: str = Field(min_length=1, description="One or two sentences on what decides it.")
    answers: dict[str, Any] = Field(description="An object with an answer to each of the questions, by its name.")


@dataclass(frozen=True)
class FormTask(Task[FormAnswer]):
    """``utterances``: the texts of the item, in order; ``names`` of ``candidates``, its images. ``complaint``: why an
    earlier answer was refused; "" for a first one."""

    role: ClassVar[str] = "form"
    answer_type: ClassVar[type[Answer]] = FormAnswer

    form: Form = field(default_factory=Form)
    utterances: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    candidates: tuple[Picture, ...] = ()
    complaint: str = ""

    def inputs(self) -> dict[str, Any]:
        return {"instructions": Wording(self.form.instructions), "utterances": list(self.utterances),
                "questions": Wording("\n".join(one.line for one in self.form.fields)), "names": list(self.names),
                "complaint": self.complaint}

    def schemas(self) -> Mapping[str, Mapping[str, Any]]:
        return {"answers": {one.name: one.schema for one in self.form.fields}}

    def fault(self, answer: FormAnswer) -> tuple[str, str] | None:
        names: Sequence[str] = [one.name for one in self.form.fields]
        for one in self.form.fields:
            if one.name not in answer.answers:
                return f"answers.{one.name}", "required, but it is not there"
            if found := one.fault(answer.answers[one.name]):
                return f"answers.{one.name}", found
        if unknown := [name for name in answer.answers if name not in names]:
            return "answers", f"there is no question {quoted(unknown[0])}"
        return None
