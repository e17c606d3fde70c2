"""The presenters of the steps, in their order. A step that is not in the table shows what it declares."""

from __future__ import annotations

from cir_core.methods.steps import STEPS
from cir_core.types.composition import Adjustment
from cir_core.types.records import Turn
from web.search.presenters.guidance import GuidancePresenter
from web.search.presenters.reflection import ReflectionPresenter
from web.search.presenters.soft_filter import SoftFilterPresenter
from web.search.presenters.step import Dict, StepPresenter
from web.search.view import UiState

PRESENTERS: dict[str, type[StepPresenter]] = {
    "reflection": ReflectionPresenter, "soft_filter": SoftFilterPresenter, "guidance": GuidancePresenter,
}


def presenters() -> list[StepPresenter]:
    return [PRESENTERS.get(name, StepPresenter)(step) for name, step in STEPS.items()]


def panels(stored: Turn, shown: Turn, gallery: str, version: str) -> list[Dict]:
    """``template`` and ``content`` of every step's panel; without content there is none."""
    return [{"template": one.template, "content": one.panel(stored, shown, gallery, version)} for one in presenters()]


def offers(shown: Turn) -> list[Dict]:
    """Steps that a finished turn may have added."""
    return [offer for one in presenters() if (offer := one.offer(shown)) is not None]


def changes(view: UiState) -> Dict | None:
    """The bar of what is changed and not kept; None where there is nothing to say."""
    if not view.adjustment and not view.undo:
        return None
    what = [name for one in presenters() for name in one.changed(view.adjustment)]
    if view.adjustment.wording is not None:
        what = ["query", *(name for name in what if name != "requests")]
    return {"unkept": bool(view.adjustment), "undo": len(view.undo), "what": ", ".join(what)}


def unmoved(turn: Turn, adjustment: Adjustment) -> Adjustment | None:
    """``adjustment`` without the step whose moves can be shown; None if there is none."""
    made = turn.composition
    found = (one.without(made, adjustment) for one in presenters()) if made is not None else ()
    return next((one for one in found if one is not None), None)
