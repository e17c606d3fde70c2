"""Search method settings as plain records, as in protocol cards and TOML files."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from cir_core.types.parts import Parts, StepParts, flat, flat_whole

Exclude = Literal["none", "reference", "history"]
"""Images excluded from the results: none (CIRCLED), the turn's reference (CIRR, the
search screen), or every reference the session has used so far."""

Base = Literal["cirevl", "slerp", "joint", "text-only", "image-only"]
"""How one turn's image and text become a vector: ``cirevl`` captions, merges and encodes; ``slerp`` interpolates
between the image's and the text's vector; ``joint`` uses an encoder that composes by itself (pseudo-word inversion,
MagicLens); the other two are the single-modality baselines."""

History = Literal["feedback", "latest", "average", "weighted"]
"""How the turns of a session become one query: CIRCLED's eq. 9, or an aggregation of the
single turns' vectors, as its experiments use for single-turn retrievers."""

FilterMode = Literal["both", "reward", "penalty"]
Fusion = Literal["slerp", "linear", "replace", "pseudo-feedback"]

Reasoning = Literal["steps", "free", "silent"]
"""How a language model reasons in a round of reflection: in the paper's four steps, written down; in its own way,
written down ("w/o CoT"); in the four steps, but writing the query alone ("w/o think process")."""

StopRule = Literal["never", "same-results", "nothing-missing"]
"""When reflection ends before its last round: when the images shown to the model did not change, or when it found no
problem. The paper calls its criterion optional and does not define it (algorithm 1, line 16)."""

Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0, le=2)]


@dataclass(frozen=True)
class SoftFilter:
    """SoFT: rescoring by prescriptive and proscriptive constraints (eq. 1 and 2)."""

    weight: Share = 1.0          # λ: 0 leaves the base ranking, 1 filters fully
    mode: FilterMode = "both"    # "reward" and "penalty" are the ablation's variants


@dataclass(frozen=True)
class Reflection:
    """CoRR: a language model inspects the candidates and rewrites the query (section 3).

    ``pseudo-feedback`` is the paper's ablation without a language model: the mean vector of
    the best ``images`` takes the place of the rewritten query.
    """

    rounds: Annotated[int, Field(ge=1, le=10)] = 2        # T
    images: Annotated[int, Field(ge=1, le=20)] = 5        # K candidates shown as images
    captions: Annotated[int, Field(ge=0, le=50)] = 10     # N candidates shown as captions
    fusion: Fusion = "slerp"
    history_weight: Share = 0.8  # α: 1 keeps the old query, 0 takes the new one
    show_query: bool = False     # whether the model sees the previous query (not listed in the paper)
    reasoning: Reasoning = "steps"
    stop: StopRule = "never"


@dataclass(frozen=True)
class MethodSettings(StepParts):
    """How a session searches. Defaults: CIRCLED's released weights (paper eq. 9 gives none)."""

    base: Base = "cirevl"
    alpha: Weight = 0.08  # eq. 9: picked images
    beta: Weight = 0.29   # eq. 9: mean of the images not picked
    gamma: Weight = 0.44  # eq. 9: merged text of this turn
    feedback_depth: Annotated[int, Field(ge=1, le=1000)] = 10  # K: top results counted as "seen"
    exclude: Exclude = "reference"
    text_weight: Share = 0.8       # slerp base: 1 is the text alone, 0 the image alone
    history: History = "feedback"
    decay: Share = 0.8             # a of the weighted aggregation
    reflection: Reflection | None = None
    soft_filter: SoftFilter | None = None
    step_parts: Parts = ()         # settings of further kinds of steps, by name


def method_to_dict(method: MethodSettings, *, whole: bool = False) -> dict[str, Any]:
    """Plain types, for JSON; every step is a key of its own. Without ``whole`` some settings at their defaults are left
    out (:func:`cir_core.types.parts.flat`)."""
    return asdict(method, dict_factory=flat_whole if whole else flat)
