"""SoFT task: constraints from image and text, required and excluded (section 3.1). SoFT's multi-target tasks: two
sentences, confidence of candidates, one sentence for one target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field

from cir_core.language.tasks.base import Answer, Domain, Picture, Task
from cir_core.support.texts import quoted


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


Confidence = Annotated[float, Field(ge=0, le=1)]


class TwoSentencesAnswer(Answer):
    modification: str = Field(min_length=1, description="The change alone, concrete and absolute.")
    kept: str = Field(default="", description="Details of the image that stay and do not conflict; may be empty.")


@dataclass(frozen=True)
class TwoSentencesTask(Task[TwoSentencesAnswer]):
    """Stage 1: the change, and what remains, as two sentences."""

    role: ClassVar[str] = "two-sentences"
    answer_type: ClassVar[type[Answer]] = TwoSentencesAnswer

    reference: Picture = Picture()
    modification_text: str = ""
    domain: Domain = "garment"

    def inputs(self) -> dict[str, Any]:
        return {"modification_text": self.modification_text, "domain": self.domain,
                "reference_caption": self.reference.caption or ""}


class ConfidenceAnswer(Answer):
    scores: Mapping[str, Confidence] = Field(description="Candidate name to confidence, 0 to 1; every name once.")


@dataclass(frozen=True)
class ConfidenceTask(Task[ConfidenceAnswer]):
    """Stage 1: how well each candidate realises reference and text. ``names`` are neutral
    ("candidate 1"), never file names."""

    role: ClassVar[str] = "confidence"
    answer_type: ClassVar[type[Answer]] = ConfidenceAnswer

    reference: Picture = Picture()
    modification_text: str = ""
    names: tuple[str, ...] = ()
    candidates: tuple[Picture, ...] = ()   # as many as names
    domain: Domain = "garment"

    def inputs(self) -> dict[str, Any]:
        return {
            "modification_text": self.modification_text, "names": list(self.names), "domain": self.domain,
            "reference_caption": self.reference.caption or "",
            "captions": [picture.caption or "" for picture in self.candidates],
        }

    def schemas(self) -> Mapping[str, Mapping[str, Any]]:
        return {"scores": {name: {"type": "number"} for name in self.names}}

    def fault(self, answer: ConfidenceAnswer) -> tuple[str, str] | None:
        for name in self.names:
            if name not in answer.scores:
                return "scores", f"{quoted(name)} has no score"
        for name in answer.scores:
            if name not in self.names:
                return "scores", f"there is no candidate {quoted(name)}"
        return None


class RewriteAnswer(Answer):
    refined_caption: str = Field(min_length=1, description="One sentence, true of the target alone.")


@dataclass(frozen=True)
class RewriteTask(Task[RewriteAnswer]):
    """Stage 2: word the request so that only ``target`` satisfies it, not the distractors. ``rejected``: earlier texts
    that did not, each with the reason."""

    role: ClassVar[str] = "rewrite"
    answer_type: ClassVar[type[Answer]] = RewriteAnswer

    reference: Picture = Picture()
    target: Picture = Picture()
    distractors: tuple[Picture, ...] = ()
    modification_text: str = ""
    domain: Domain = "garment"
    rejected: tuple[str, ...] = ()

    def inputs(self) -> dict[str, Any]:
        return {
            "modification_text": self.modification_text, "domain": self.domain,
            "reference_caption": self.reference.caption or "", "target_caption": self.target.caption or "",
            "distractor_captions": [picture.caption or "" for picture in self.distractors],
            "rejected": list(self.rejected),
        }
