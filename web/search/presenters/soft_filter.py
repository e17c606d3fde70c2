"""SoFT's chips, λ and mode: how they show, and what a person may make of them. What a soft filter moved in the
ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cir_core.errors import SearchError
from cir_core.methods.soft_filter import MODES, checked_constraints, texts_from_attributes
from cir_core.support.texts import quoted
from cir_core.types.composition import Adjustment, Composition, Constraints
from cir_core.types.methods import SoftFilter
from cir_core.types.records import Hit, Turn
from web.search.inputs import Data, fraction_of
from web.search.presenters.results import Captions, picture
from web.search.presenters.step import Change, Dict, StepPresenter

ROWS = (
    ("keep", "Keep", "a", "what to keep from the reference", "for example: short sleeves"),
    ("add", "Add", "a", "what to add", "for example: red"),
    ("remove", "Remove", "a", "what to remove from the reference", "for example: blue"),
    ("prescriptive", "Must show", "t", "a caption of the wanted image", "for example: a red dress"),
    ("proscriptive", "Must not show", "t", "a caption of an unwanted image", "for example: a blue dress"),
)


def soft_filter(shown: Turn) -> Dict | None:
    """Chips, λ and mode of a turn that is filtered."""
    made = shown.composition
    if made is None or made.soft_filter is None:
        return None
    constraints = made.constraints or Constraints()
    rows = [
        {"side": side, "title": title, "kind": "attributes" if kind == "a" else "texts", "hint": hint,
         "example": example, "chips": list(getattr(constraints, side))}
        for side, title, kind, hint, example in ROWS
    ]
    return {
        "rows": rows, "weight": f"{made.soft_filter.weight:.2f}", "mode": made.soft_filter.mode,
        "modes": list(MODES.items()), "edited": constraints.edited,
        "empty": not any(row["chips"] for row in rows),
    }


class SoftFilterPresenter(StepPresenter):
    template = "search/parts/filter.html"

    @property
    def actions(self) -> Mapping[str, Change]:
        return {"filter": _add}

    def panel(self, stored: Turn, shown: Turn, gallery: str, version: str) -> Dict | None:
        return soft_filter(shown)

    def offer(self, shown: Turn) -> Dict | None:
        made = shown.composition
        if made is None or made.soft_filter is not None or made.part("guidance") is not None:   # one step may rank
            return None
        return {"act": "filter", "text": "Add a soft filter",
                "title": "Say what must and what must not be there (SoFT), on this turn"}

    def change(self, made: Composition, before: Adjustment, data: Data) -> Adjustment:
        """Takes ``constraints`` (all sides of them), ``weight`` and ``mode``."""
        return _filtered(made, before, data) if {"constraints", "weight", "mode"} & data.keys() else before

    def changed(self, adjustment: Adjustment) -> list[str]:
        said = {"constraints": adjustment.constraints, "filter": adjustment.soft_filter}
        return [name for name, change in said.items() if change is not None]

    def without(self, made: Composition, adjustment: Adjustment) -> Adjustment | None:
        filtered = (adjustment.soft_filter or adjustment.constraints or made.soft_filter) is not None
        return replace(adjustment, soft_filter=SoftFilter(0.0)) if filtered else None


def _add(made: Composition, before: Adjustment, data: Data) -> Adjustment:
    """Filter a turn whose method does not: nothing must and nothing must not be there, so far."""
    if made.soft_filter is not None:
        return before
    return replace(before, constraints=Constraints(edited=True), soft_filter=SoftFilter())


def _filtered(made: Composition, before: Adjustment, data: Data) -> Adjustment:
    old = before.soft_filter or made.soft_filter or SoftFilter()
    mode = data.get("mode", old.mode)
    if mode not in MODES:
        raise SearchError(f"{quoted(mode)} is not a filter mode. There are: {', '.join(MODES)}.")
    soft_filter = SoftFilter(fraction_of(data, "weight") if "weight" in data else old.weight, mode)
    constraints = before.constraints
    if "constraints" in data:
        constraints = checked_constraints(_constraints(data["constraints"]))
        if data.get("edited") == "attributes":
            constraints = checked_constraints(texts_from_attributes(constraints))
        if made.constraints is not None and replace(constraints, edited=made.constraints.edited) == made.constraints:
            constraints = None
    as_stored = soft_filter == made.soft_filter
    return replace(before, constraints=constraints, soft_filter=None if as_stored else soft_filter)


def _constraints(value: object) -> Constraints:
    sides = value if isinstance(value, dict) else {}
    texts: dict[str, Sequence[str]] = {side: sides.get(side, []) for side, *_ in ROWS}
    if not all(isinstance(side, list) and all(isinstance(text, str) for text in side) for side in texts.values()):
        raise SearchError("The page is out of date. Reload it.")
    keep, add, remove, prescriptive, proscriptive = (tuple(texts[side]) for side, *_ in ROWS)
    return Constraints(keep, add, remove, prescriptive, proscriptive)


TOP = 20        # a result that leaves these is worth a mention
MOST_GONE = 12


def moves(then: Sequence[Hit], now: Sequence[Hit], shown: int, gallery: str, version: str, captions: Captions) -> Dict:
    """What a filter did to the ranking: ``then`` is without it, both as far down as was looked."""
    before = {hit.image_id: hit.rank for hit in then}
    after = {hit.image_id: hit.rank for hit in now}
    gone = [
        picture(gallery, hit.image_id, version, captions(hit.image_id))
        | {"then": hit.rank, "now": f"{after[hit.image_id]}" if hit.image_id in after else f"beyond {len(now)}"}
        for hit in then[:TOP] if hit.image_id not in after or after[hit.image_id] > TOP
    ]
    return {
        "tiles": {hit.image_id: _move(hit.rank, before.get(hit.image_id), shown) for hit in now[:shown]},
        "gone": gone[:MOST_GONE], "more": max(0, len(gone) - MOST_GONE), "top": min(TOP, len(then)),
    }


def _move(rank: int, was: int | None, shown: int) -> Dict:
    """``was`` is the rank without the filter, None when it was further down than was looked."""
    if was == rank:
        return {"kind": "same", "text": "=", "title": f"rank {rank} without the filter too"}
    if was is None or was > shown:
        title = f"rank {was} without the filter" if was else "far down without the filter"
        return {"kind": "new", "text": "new", "title": title}
    up = was > rank
    return {"kind": "up" if up else "down", "text": f"{'↑' if up else '↓'}{abs(was - rank)}",
            "title": f"rank {was} without the filter"}
