"""Search method settings as plain records, as in protocol cards and TOML files. Records in which kinds of steps keep
something, each under a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Annotated, Any, Literal, Self, cast

from pydantic import Field

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
