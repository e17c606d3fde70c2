"""Search method settings as plain records, as in protocol cards and TOML files. Records in which kinds of steps keep
something, each under a name. Image domains of galleries, by which prompts and captions are worded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Annotated, Any, Literal, Self, cast, get_args

from pydantic import Field

Domain = Literal["garment", "dress", "shirt", "toptee", "scene", "circo"]
"""``scene`` is CIRR's photos of anything, ``circo`` CIRCO's everyday photos."""

DOMAINS: tuple[Domain, ...] = get_args(Domain)
Parts = tuple[tuple[str, Any], ...]
"""Name and value, in the order of the names. A tuple, so that the record can be hashed."""


class StepParts:
    """Mix-in of a frozen dataclass with a field ``step_parts``. Soft filter and reflection have typed fields of their
    own; what any other kind of step keeps is in ``step_parts``. Here both are reached by name."""

    step_parts: Parts

    def part(self, name: str) -> Any:
        """What is kept under ``name``; None if nothing is."""
        return getattr(self, name) if name in _typed(self) else dict(self.step_parts).get(name)

    def with_parts(self, parts: Mapping[str, Any]) -> Self:
        """A copy with ``parts`` in place of those of the same names; None takes one away."""
        typed = {name: value for name, value in parts.items() if name in _typed(self)}
        others = dict(self.step_parts) | {name: value for name, value in parts.items() if name not in typed}
        left = tuple((name, others[name]) for name in sorted(others) if others[name] is not None)
        return cast(Self, replace(cast(Any, self), **typed, step_parts=left))


_LATER = {"reasoning": "steps", "stop": "never"}
"""Settings that records got after digests were made of them, with their defaults."""


def flat(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A ``dict_factory`` for :func:`dataclasses.asdict`: the names in ``step_parts`` become keys beside the fields.
    Where there are none, nothing shows that there could be, nor do settings that were added later show at their
    defaults: digests of methods without them do not change."""
    return {name: value for name, value in flat_whole(pairs).items() if name not in _LATER or value != _LATER[name]}


def flat_whole(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """:func:`flat` with every setting."""
    content = dict(pairs)
    parts = dict(content.pop("step_parts", ()))
    return content | parts


def tuples(content: Mapping[str, Any]) -> dict[str, Any]:
    """Lists as the tuples that they were before JSON."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in content.items()}


def _typed(record: Any) -> set[str]:
    return {field.name for field in fields(record)} - {"step_parts"}


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

    weight: Annotated[Share, Field(description="λ: 0 leaves the base ranking, 1 filters fully")] = 1.0
    mode: Annotated[FilterMode, Field(description="sides that count; one alone is an ablation of the paper")] = "both"


@dataclass(frozen=True)
class Reflection:
    """CoRR: a language model inspects the candidates and rewrites the query (section 3).

    ``pseudo-feedback`` is the paper's ablation without a language model: the mean vector of
    the best ``images`` takes the place of the rewritten query.
    """

    rounds: Annotated[int, Field(ge=1, le=10, description="T: rounds of looking and rewriting")] = 2
    images: Annotated[int, Field(ge=1, le=20, description="K: candidates shown to the model as images")] = 5
    captions: Annotated[int, Field(ge=0, le=50, description="N: candidates shown to the model as captions")] = 10
    fusion: Annotated[Fusion, Field(description="how a new query joins the old")] = "slerp"
    history_weight: Annotated[Share, Field(description="α: 1 keeps the old query, 0 takes the new one")] = 0.8
    show_query: Annotated[bool, Field(description="whether the model sees the query before")] = False
    reasoning: Annotated[Reasoning, Field(description="how the model reasons in a round")] = "steps"
    stop: Annotated[StopRule, Field(description="when the rounds end early")] = "never"


@dataclass(frozen=True)
class MethodSettings(StepParts):
    """How a session searches. Defaults: CIRCLED's released weights (paper eq. 9 gives none)."""

    base: Annotated[Base, Field(description="how the image and text of one turn become a vector")] = "cirevl"
    alpha: Annotated[Weight, Field(description="α of eq. 9: the picked images")] = 0.08
    beta: Annotated[Weight, Field(description="β of eq. 9: the mean of the images not picked")] = 0.29
    gamma: Annotated[Weight, Field(description="γ of eq. 9: the text of this turn")] = 0.44
    feedback_depth: Annotated[int, Field(ge=1, le=1000, description="K of eq. 9: results that count as seen")] = 10
    exclude: Annotated[Exclude, Field(description="references that are left out of the results")] = "reference"
    text_weight: Annotated[Share, Field(description="of the base slerp: 1 is the text alone, 0 the image")] = 0.8
    history: Annotated[History, Field(description="how the turns become one query: eq. 9, or a mean")] = "feedback"
    decay: Annotated[Share, Field(description="a of the weighted history: weight of each earlier turn")] = 0.8
    reflection: Reflection | None = None
    soft_filter: SoftFilter | None = None
    step_parts: Parts = ()         # settings of further kinds of steps, by name


def method_to_dict(method: MethodSettings, *, whole: bool = False) -> dict[str, Any]:
    """Plain types, for JSON; every step is a key of its own. Without ``whole`` some settings at their defaults are left
    out (:func:`cir_core.types.parts.flat`)."""
    return asdict(method, dict_factory=flat_whole if whole else flat)
