"""CIReVL's two tasks, which CIRCLED uses for every turn: caption, then merge. Task of guided search: the aspects of
the wanted image, each with what satisfies it and the alternatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from cir_core.language.tasks.base import Answer, Domain, Picture, Task


class CaptionAnswer(Answer):
    caption: str = Field(description="One or two sentences; empty if the model cannot tell.")


class MergeAnswer(Answer):
    query: str = Field(min_length=1, description="A short caption of the wanted image.")


@dataclass(frozen=True)
class CaptionTask(Task[CaptionAnswer]):
    """Describe an image (CIReVL step 1, CIRCLED f_caption).

    ``picture.caption``, from the gallery's manifest, is the answer if there is one. ``sample`` above 0 requests an
    alternative wording, sampled deterministically by number: CoRR's caption optimisation chooses among M of them.
    """

    role: ClassVar[str] = "caption"
    answer_type: ClassVar[type[Answer]] = CaptionAnswer

    picture: Picture = Picture()
    domain: Domain = "garment"
    sample: int = 0

    def inputs(self) -> dict[str, Any]:
        return {"domain": self.domain, "sample": self.sample}


@dataclass(frozen=True)
class MergeTask(Task[MergeAnswer]):
    """Apply the modification text to the caption (CIReVL step 2, CIRCLED f_merge)."""

    role: ClassVar[str] = "merge"
    answer_type: ClassVar[type[Answer]] = MergeAnswer

    caption: str = ""
    modification_text: str = ""
    domain: Domain = "garment"

    def inputs(self) -> dict[str, Any]:
        return {"caption": self.caption, "modification_text": self.modification_text, "domain": self.domain}


class AspectAnswer(BaseModel):
    """One aspect, e.g. the colour. ``wanted`` and ``others`` are captions of one form: "a red dress"."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(min_length=1, max_length=60, description="The aspect in a word or two, e.g. colour.")
    label: str = Field(min_length=1, max_length=80, description="What is wanted, in a word or two, e.g. red.")
    asked: bool = Field(description="True if the text asks for it, false if the image shows it and the text leaves it.")
    wanted: tuple[str, ...] = Field(min_length=1, description="Short captions, any of which satisfies it.")
    others: tuple[str, ...] = Field(min_length=1, description="Captions of the same form, of the alternatives.")
    held: SkipJsonSchema[bool] = False   # stays, and the text names a part of it: the rules alone tell
    needed: SkipJsonSchema[bool] = False   # stays, and what is asked is there only with it: they alone tell that, too
    near: SkipJsonSchema[int] = Field(default=0, ge=0)   # of ``others``, the first: near to what is wanted; likewise


class AspectsAnswer(Answer):
    aspects: tuple[AspectAnswer, ...]
    unused: tuple[str, ...] = Field(default=(), description="Words of the text that nothing was made of, as typed.")
    choices: tuple[str, ...] = Field(
        default=(), description="Concrete texts, any of which may be meant, where the text is vague.")


@dataclass(frozen=True)
class AspectsTask(Task[AspectsAnswer]):
    """What the text asks for and what of the image stays, aspect by aspect."""

    role: ClassVar[str] = "aspects"
    answer_type: ClassVar[type[Answer]] = AspectsAnswer

    reference: Picture = Picture()
    caption: str = ""              # of the reference, if known
    modification_text: str = ""
    domain: Domain = "garment"

    def inputs(self) -> dict[str, Any]:
        return {"caption": self.caption, "modification_text": self.modification_text, "domain": self.domain}

    def pictures(self) -> Sequence[Picture]:
        return (self.reference,)
