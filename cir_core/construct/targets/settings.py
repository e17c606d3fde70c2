"""Settings of SoFT's pipeline, and the cards of its two stages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from cir_core.construct.sessions.settings import DatasetCard
from cir_core.errors import SettingsError
from cir_core.jobs.journal import JobCard

Group = Literal["caption_query", "joined_query", "tg_img"]
"""Where candidates come from: the first sentence, both joined, the image of the original target. SoFT's names."""
GROUPS: tuple[Group, ...] = get_args(Group)
THRESHOLD = 0.85
LEAST_TARGETS, DISTRACTORS = 3, 2   # of a query that stage 2 rewrites; the target is drawn beside two distractors
SEED = 42
ATTEMPTS = 3
CONFIDENCE_TOKENS = 12      # of an answer, for each image

Check = Literal["confidence", "text"]
"""How a rewritten text is checked: its words and, by a model that sees, confidences; or its words alone."""


@dataclass(frozen=True)
class TargetSettings:
    """Of each group ``keep`` candidates are written down, and the first ``scored`` get a confidence (k in the
    paper). Raises ``SettingsError``."""

    keep: int = 20
    scored: int = 10

    def __post_init__(self) -> None:
        if not 1 <= self.scored <= self.keep <= 1000:
            raise SettingsError(f"Of {self.keep} candidates {self.scored} cannot be scored: keep 1 to 1000, and score "
                                "as many or fewer.")


@dataclass(frozen=True)
class MultiTargetCard(DatasetCard):
    """What candidates and their confidences depend on. The threshold decides only what is written at the end."""

    kept: ClassVar[str] = "candidates"

    encoder: dict[str, str]                 # spec and revision
    language_model: str
    prompts: dict[str, str]                 # role: version of its prompt; "" for a model without prompts
    settings: TargetSettings
    candidates: dict[str, str]              # digests of candidates' files that were given instead of a search
    tie_rule: str
    version: str = field(compare=False)     # of cirque when the job began


@dataclass(frozen=True)
class SingleTargetCard(JobCard):
    """What rewritten texts depend on."""

    kept: ClassVar[str] = "rewritten texts"

    sources: dict[str, str]                 # name to digest of the multi-target file
    gallery: str
    gallery_digest: str
    domain: str
    language_model: str
    prompts: dict[str, str]
    seed: int
    check: str
    attempts: int
    keep_reference: bool
    version: str = field(compare=False)
