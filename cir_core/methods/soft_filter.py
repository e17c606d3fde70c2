"""SoFT: soft filtering by prescriptive and proscriptive constraints. SoFT's language model request, and validation
of user edits to its answer.

    s_SoFT  = s · (r + 1 − p) / 2                     (eq. 1)
    s_final = (1 − λ) · s + λ · s_SoFT                (eq. 2)

s is the score of any base method, r and p an image's cosine with the prescriptive and the
proscriptive text. Ablations: reward only, s · r; penalty only, s · (1 − p). The whole
gallery is rescored; nothing is rescaled or cut off.

Where s is negative the product would invert the filter, a reward lowering the score.
Such images keep their score: the multiplied part is max(s, 0).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from cir_core.encoders.base import Encoder
from cir_core.errors import ImageUnreadable, LanguageModelError, SearchError
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import ConstraintsTask, Domain, Task
from cir_core.methods.observer import StageTimer
from cir_core.methods.parameters import Label, declare
from cir_core.methods.references import Reference
from cir_core.methods.step import Ledger, Notes, Scores, Step, StepTurn
from cir_core.support.texts import clean_text, quoted
from cir_core.types.composition import Adjustment, Composition, Constraints
from cir_core.types.methods import FilterMode, SoftFilter
from cir_core.types.records import Matrix, Vector
from cir_core.types.vectors import TextEncoder

MOST = 12  # chips per side; more would average each other out


def ask_constraints(
    language: LanguageModel, reference: Reference, caption: str, text: str, domain: Domain, stages: StageTimer
) -> tuple[Constraints, tuple[str, ...]]:
    """Constraints and notes. If the model fails they are empty, as in SoFT, with a note."""
    try:
        with stages("constraints"):
            answer = language.complete(ConstraintsTask(reference.picture, caption, text, domain), stages.watch)
    except (LanguageModelError, ImageUnreadable) as error:
        return Constraints(), (f"there are no constraints to filter by: {error}",)
    return Constraints(
        answer.keep[:MOST], answer.add[:MOST], answer.remove[:MOST],
        _side(answer.prescriptive), _side(answer.proscriptive),
    ), answer.notes


def checked_constraints(constraints: Constraints) -> Constraints:
    """User-edited chips: cleaned, without duplicates. Raises ``SearchError``."""
    sides = {}
    for name in ("keep", "add", "remove", "prescriptive", "proscriptive"):
        texts = [clean_text(text, required=False) for text in getattr(constraints, name)]
        sides[name] = tuple(dict.fromkeys(text for text in texts if text))
        if len(sides[name]) > MOST:
            raise SearchError(f"There are {len(sides[name])} texts under “{name}”; the limit is {MOST}.")
    return replace(constraints, edited=True, **sides)


def checked_soft_filter(soft_filter: SoftFilter) -> SoftFilter:
    """λ as a float, whatever number type it was: protocol cards distinguish 1 from 1.0.

    Raises ``SearchError`` for an invalid λ or mode.
    """
    if not 0 <= soft_filter.weight <= 1:
        raise SearchError(f"The weight λ of the filter is {soft_filter.weight}; choose one between 0 and 1.")
    if soft_filter.mode not in get_args(FilterMode):
        modes = ", ".join(get_args(FilterMode))
        raise SearchError(f"The filter has no mode {quoted(soft_filter.mode)}. Choose one of: {modes}.")
    return replace(soft_filter, weight=float(soft_filter.weight))


def texts_from_attributes(constraints: Constraints) -> Constraints:
    """The same attributes with texts generated from them: kept and added attributes are required,
    removed ones excluded. So an edited chip changes the ranking without a language model."""
    return replace(
        constraints,
        prescriptive=_side(", ".join(dict.fromkeys((*constraints.keep, *constraints.add)))),
        proscriptive=_side(", ".join(dict.fromkeys(constraints.remove))),
    )


def _side(text: str) -> tuple[str, ...]:
    return (text.strip(),) if text.strip() else ()


REWARD, PENALTY = "reward", "penalty"
MODES = {"both": "Both", "reward": "Reward only", "penalty": "Penalty only"}


class SoftFilterStep(Step[SoftFilter]):
    name, label, title, bare = "soft_filter", "SoFT", "Soft filter (SoFT)", True
    settings = SoftFilter
    parameters = declare(SoftFilter, Label("weight", "strictness", "λ", "lambda", step=0.05),
                         Label("mode", "Use", choices=MODES))

    @property
    def keeps(self) -> Mapping[str, type[Any]]:
        return {"constraints": Constraints, self.name: SoftFilter}

    def figure(self, settings: SoftFilter) -> str:
        return f"λ {settings.weight:g}"

    def summary(self, settings: SoftFilter) -> tuple[str, str]:
        return "Filter", f"{self.label}, {self.figure(settings)}, {MODES[settings.mode].lower()}"

    def trace(self, composition: Composition) -> list[tuple[str, str]]:
        constraints = composition.constraints or Constraints()
        sides = (("Must show", constraints.prescriptive), ("Must not show", constraints.proscriptive))
        return [(title, " · ".join(texts)) for title, texts in sides if texts]

    def tasks(self, settings: SoftFilter, domain: Domain) -> tuple[Task[Any], ...]:
        return (ConstraintsTask(domain=domain),)

    def ask(self, settings: SoftFilter, turn: StepTurn) -> tuple[Mapping[str, Any], Notes]:
        """Not with the rounds of reflection: stopping those leaves the filter."""
        if turn.constraints is not None:
            return {"constraints": turn.constraints, self.name: settings}, ()
        constraints, notes = ask_constraints(
            turn.language, turn.reference, turn.caption_shown, turn.text, turn.domain, turn.stages)
        return {"constraints": constraints, self.name: settings}, notes

    def score(
        self, query: Vector, composition: Composition, encoder: TextEncoder, stages: StageTimer
    ) -> SoftScore | None:
        if composition.soft_filter is None:
            return None
        with stages("encode constraints"):
            return soft_score(query, composition.constraints or Constraints(), composition.soft_filter, encoder)

    def adjust(
        self, composition: Composition, notes: Notes, adjustment: Adjustment, encoder: Encoder, stages: StageTimer
    ) -> tuple[Composition, Notes]:
        """Chips on a turn that has no filter filter it."""
        constraints, soft_filter = composition.constraints, composition.soft_filter
        if adjustment.soft_filter is not None:
            soft_filter = checked_soft_filter(adjustment.soft_filter)
        if adjustment.constraints is not None:
            constraints, soft_filter = checked_constraints(adjustment.constraints), soft_filter or SoftFilter()
            if not (constraints.prescriptive or constraints.proscriptive):  # attributes alone rank nothing
                notes = (*notes, "there is no text left to filter by")
        return replace(composition, constraints=constraints, soft_filter=soft_filter), notes


@dataclass(frozen=True)
class SoftScore:
    """Eq. 1 and 2 over the products of the gallery with three vectors, ``[3, dim]``: the
    query, the mean of the prescriptive texts' unit vectors, and of the proscriptive ones.

    The mean is not normalised again, so a product with it is the mean similarity; a side
    without texts is a zero vector and so a similarity of 0.
    """

    vectors: Matrix
    soft_filter: SoftFilter

    def combine(self, products: Scores) -> Scores:
        """``[n, 3]`` products to ``[n]`` scores, in their precision."""
        base, reward, penalty = products[..., 0], products[..., 1], products[..., 2]
        return np.where(base < 0, base, base * self._factor(reward, penalty))

    def error(self, errors: npt.NDArray[np.float64], sizes: npt.NDArray[np.float64]) -> float:
        """A bound on the error of :meth:`combine` given one on each column, ``[3]``, and the
        largest absolute value each can have, ``[3]``."""
        weight = abs(self.soft_filter.weight)
        largest = max(1.0, abs(1 - self.soft_filter.weight)) + weight * (sizes[1] + sizes[2])
        propagated = largest * errors[0] + sizes[0] * weight * (errors[1] + errors[2])
        rounding = 2.0**-20 * sizes[0] * largest  # of the arithmetic in combine itself
        return float(propagated + rounding)

    def ledgers(self, parts: Sequence[Ledger], products: Scores) -> list[Ledger]:
        return [self.ledger(one, *map(float, row)) for one, row in zip(parts, products, strict=True)]

    def ledger(self, parts: Ledger | Sequence[tuple[str, float]], reward: float, penalty: float) -> Ledger:
        """The base score's ``parts`` and what the filter made of them; adds up to the score. ``reward`` and ``penalty``
        are the similarities with what must and what must not be there."""
        base = sum(value for _, value in parts)
        mode, weight = self.soft_filter.mode, self.soft_filter.weight
        if base < 0:
            return (*parts, (REWARD, 0.0), (PENALTY, 0.0))
        share = {"both": 1 - weight / 2, "reward": 1 - weight, "penalty": 1.0}[mode]
        half = 0.5 if mode == "both" else 1.0
        added = half * weight * base * reward if mode != "penalty" else 0.0
        taken = -half * weight * base * penalty if mode != "reward" else 0.0
        return (*((name, value * share) for name, value in parts), (REWARD, added), (PENALTY, taken))

    def _factor(self, reward: Scores, penalty: Scores) -> Scores:
        weight = self.soft_filter.weight
        if self.soft_filter.mode == "reward":
            return (1 - weight) + weight * reward
        if self.soft_filter.mode == "penalty":
            return 1 - weight * penalty
        return (1 - weight / 2) + (weight / 2) * (reward - penalty)


def soft_score(query: Vector, constraints: Constraints, soft_filter: SoftFilter, encoder: TextEncoder) -> SoftScore:
    """Encode the constraints and combine them with ``query`` ``[dim]``."""
    if soft_filter.mode == "reward" and not constraints.prescriptive:
        # Without anything to reward, s · r would tie the whole gallery.
        soft_filter = replace(soft_filter, weight=0.0)
    sides = (constraints.prescriptive, constraints.proscriptive)
    encoded = encoder.encode_texts([*sides[0], *sides[1]]) if any(sides) else np.empty((0, len(query)), np.float32)
    cut = len(sides[0])
    rows = [query, *(_mean(side, len(query)) for side in (encoded[:cut], encoded[cut:]))]
    return SoftScore(np.stack(rows).astype(np.float32), soft_filter)


def _mean(vectors: Matrix, dim: int) -> Vector:
    return vectors.mean(axis=0) if len(vectors) else np.zeros(dim, dtype=np.float32)
