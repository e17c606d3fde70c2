"""Settings of a construction: CIRCLED's section 4, and the readings on which its paper and its code differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from cir_core.errors import SettingsError
from cir_core.evaluation.metrics.consistency import TAU
from cir_core.jobs.journal import JobCard
from cir_core.types.methods import MethodSettings, method_to_dict

TurnCount = Literal["all", "after-first"]
History = Literal["all", "generated"]
DifferenceTarget = Literal["best", "first"]
Selection = Literal["caption", "image"]


@dataclass(frozen=True)
class ConstructionSettings:
    """Everything about a construction that a person chooses, except data and models.

    The first value of each reading is the paper's. Weights are those of the released code; the paper gives none.
    """

    max_turns: int = 6
    count_turns: TurnCount = "all"              # the code counts the turns after the first
    history: History = "all"                    # the code leaves T_1 out of what is shown and compared
    difference_target: DifferenceTarget = "best"    # of several targets: the best-ranked; the code takes the first
    select_by: Selection = "caption"            # eq. 5; "image": by image vectors, which the paper advises against
    k: int = 10
    tau: float = TAU                            # a text this close to an earlier one is requested again
    attempts: int = 3
    fold_duplicates: bool = False               # keep one of byte-identical images, as in the release
    alpha: float = 0.08
    beta: float = 0.29
    gamma: float = 0.44

    def __post_init__(self) -> None:
        for name, value, least, most in (("max turns", self.max_turns, 1, 50), ("k", self.k, 1, 1000),
                                         ("attempts", self.attempts, 1, 10), ("tau", self.tau, 0, 1),
                                         ("alpha", self.alpha, 0, 2), ("beta", self.beta, 0, 2),
                                         ("gamma", self.gamma, 0, 2)):
            if not least <= value <= most:
                raise SettingsError(f"{name} is {value:g}; give a number from {least} to {most}.")

    @property
    def total_turns(self) -> int:
        """The longest possible session, turn 1 included."""
        return self.max_turns + (self.count_turns == "after-first")

    @property
    def method(self) -> MethodSettings:
        """The constructing method: CIReVL with eq. 9. Nothing is excluded from the results."""
        return MethodSettings(alpha=self.alpha, beta=self.beta, gamma=self.gamma, feedback_depth=self.k, exclude="none")


@dataclass(frozen=True)
class DatasetCard(JobCard):
    """What all depends on that is made of a data set's queries over a gallery."""

    dataset: str
    split: str
    dataset_digest: str
    caption_mode: str
    gallery: str
    gallery_digest: str
    domain: str


@dataclass(frozen=True)
class ConstructionCard(DatasetCard):
    """What constructed sessions depend on: the protocol card of a construction, written beside its sessions."""

    kept: ClassVar[str] = "sessions"

    encoders: dict[str, dict[str, Any]]     # search, select, diversity: spec and revision
    language_model: str
    prompts: dict[str, str]                 # role: version of its prompt; "" for a model without prompts
    settings: ConstructionSettings
    tie_rule: str
    version: str = field(compare=False)     # of cirque when the construction began

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, with the settings of the method in full."""
        return super().as_json() | {"method": method_to_dict(self.settings.method)}
