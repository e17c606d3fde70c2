"""SoFT's language model request, and validation of user edits to its answer."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from cir_core.errors import ImageUnreadable, LanguageModelError, SearchError
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import ConstraintsTask, Domain
from cir_core.methods.observer import StageTimer
from cir_core.methods.references import Reference
from cir_core.support.texts import clean_text, quoted
from cir_core.types.composition import Constraints
from cir_core.types.methods import FilterMode, SoftFilter

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
