"""SoFT's chips, what the filter moved, and what a person has changed, as plain dictionaries."""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.types.composition import Adjustment, Constraints
from cir_core.types.records import Hit, Turn
from web.search.presenters.methods import MODES
from web.search.presenters.results import Captions, Dict, picture
from web.search.view import UiState

TOP = 20        # a result that leaves these is worth a mention
MOST_GONE = 12

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
        return {"kind": "same", "text": "=", "title": f"also rank {rank} without the filter"}
    if was is None or was > shown:
        title = f"rank {was} without the filter" if was else "much lower without the filter"
        return {"kind": "new", "text": "new", "title": title}
    up = was > rank
    return {"kind": "up" if up else "down", "text": f"{'↑' if up else '↓'}{abs(was - rank)}",
            "title": f"rank {was} without the filter"}


def changes(view: UiState) -> Dict | None:
    """The bar of what is changed and not kept; None where there is nothing to say."""
    if not view.adjustment and not view.undo:
        return None
    return {"unkept": bool(view.adjustment), "undo": bool(view.undo), "what": _what(view.adjustment)}


def _what(adjustment: Adjustment) -> str:
    parts = []
    if adjustment.rounds is not None or adjustment.rewritten is not None:
        parts.append("reflection")
    if adjustment.constraints is not None:
        parts.append("constraints")
    if adjustment.soft_filter is not None:
        parts.append("filter")
    return ", ".join(parts)
