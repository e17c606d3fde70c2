"""What was understood of a turn: requests and what stays, as chips that can be dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cir_core.errors import SearchError
from cir_core.methods.guidance import UNWANTED, Aspect, Unclear
from cir_core.types.composition import Adjustment, Composition
from cir_core.types.records import Turn
from web.search.inputs import Data
from web.search.presenters.step import Change, Dict, StepPresenter


class GuidancePresenter(StepPresenter):
    template = "search/parts/guidance.html"

    @property
    def actions(self) -> Mapping[str, Change]:
        return {"drop_aspect": _drop}

    def panel(self, stored: Turn, shown: Turn, gallery: str, version: str) -> Dict | None:
        aspects = _aspects(shown.composition)
        unclear = shown.composition.part("unclear") if shown.composition else None
        if not _aspects(stored.composition) and unclear is None:
            return None
        unclear = unclear or Unclear()
        return {"asked": [_chip(one, shown.number) for one in aspects if one.turn and not one.marked],
                "marked": [_chip(one, shown.number) for one in aspects if one.marked],
                "kept": [_chip(one, shown.number) for one in aspects if not one.turn],
                "unused": list(unclear.words), "choices": list(unclear.choices)}

    def changed(self, adjustment: Adjustment) -> list[str]:
        return [*super().changed(adjustment), *(["requests"] if adjustment.part("aspects") is not None else [])]


def _chip(one: Aspect, number: int) -> Dict:
    when = f"turn {one.turn}" if one.turn != number else "this turn"
    if not one.turn:
        title = f"{one.name}, as in the reference"
    elif one.marked:
        title = f"{one.name.removesuffix(UNWANTED)}: what the images marked “{one.marked} like this” for {when} share"
    else:
        title = f"{one.name}, asked in {when}" if one.turn != number else f"{one.name}, asked now"
    return {"name": one.name, "label": one.label, "earlier": one.turn not in (0, number), "title": title}


def _aspects(made: Composition | None) -> Sequence[Aspect]:
    return (made.part("aspects") or ()) if made else ()


def _drop(made: Composition, before: Adjustment, data: Data) -> Adjustment:
    """Rank without one aspect."""
    changed = before.part("aspects")
    now = _aspects(made) if changed is None else changed
    left = tuple(one for one in now if one.name != data.get("aspect"))
    if len(left) == len(now):
        raise SearchError("The page is out of date. Reload it.")
    return before.with_parts({"aspects": left})
