"""SoFT task: constraints from image and text, required and excluded (section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import Field

from cir_core.language.tasks.base import Answer, Domain, Picture, Task


class ConstraintsAnswer(Answer):
    keep: tuple[str, ...] = Field(default=(), description="Attribute values of the image that stay.")
    add: tuple[str, ...] = Field(default=(), description="Attribute values the text asks for.")
    remove: tuple[str, ...] = Field(default=(), description="Attribute values of the image that must go.")
    prescriptive: str = Field(description="A short concrete caption of the wanted image, from keep and add.")
    proscriptive: str = Field(
        description="A short positive caption of the image as it is, from remove; empty if nothing must go."
    )


@dataclass(frozen=True)
class ConstraintsTask(Task[ConstraintsAnswer]):
    """Split the request into what is kept, added and removed, and express both sides as captions."""

    role: ClassVar[str] = "constraints"
    answer_type: ClassVar[type[Answer]] = ConstraintsAnswer

    reference: Picture = Picture()
    caption: str = ""              # of the reference, if known
    modification_text: str = ""
    domain: Domain = "garment"

    def inputs(self) -> dict[str, Any]:
        return {"caption": self.caption, "modification_text": self.modification_text, "domain": self.domain}
