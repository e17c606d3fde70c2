"""CIReVL's two tasks, which CIRCLED uses for every turn: caption, then merge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import Field

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
