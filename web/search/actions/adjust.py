"""Changing a finished turn without a language model: chips, λ, rounds; and marking results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from cir_core.errors import SearchError, UnknownSession
from cir_core.methods.constraints import checked_constraints, texts_from_attributes
from cir_core.sessions.service import SearchService
from cir_core.support.texts import clean_text, quoted
from cir_core.types.composition import Adjustment, Composition, Constraints, Marks
from cir_core.types.methods import FilterMode, SoftFilter
from web.search.actions.parts import Action, Data, fraction_of, session_of, shown
from web.search.view import UiState

MODES: tuple[FilterMode, ...] = get_args(FilterMode)
SIDES = ("keep", "add", "remove", "prescriptive", "proscriptive")
MOST_MARKS = 50
UNDO_KEPT = 50


def marks_of(data: Data) -> Marks:
    """The marks a page sends along with a search. Raises ``SearchError`` for what are none."""
    return Marks(_ids(data.get("more"), "more"), _ids(data.get("less"), "less"))


def _ids(value: object, name: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise SearchError(f"“{name}” must be a list of image ids.")
    ids = tuple(dict.fromkeys(value))
    if len(ids) > MOST_MARKS:
        raise SearchError(f"{len(ids)} images are marked “{name} like this”; the limit is {MOST_MARKS}.")
    return ids


def adjust(service: SearchService, view: UiState, data: Data) -> UiState:
    """Take over what the page says has changed: ``constraints`` (all sides of them), ``weight``,
    ``mode``, ``rounds``, ``rewritten``. The parts of one gesture, such as a slider being
    dragged, say ``going_on``: they are undone together.
    """
    made = _made(service, view)
    adjustment = view.adjustment
    if "constraints" in data or "weight" in data or "mode" in data:
        adjustment = _filtered(made, adjustment, data)
    if "rounds" in data:
        adjustment = _reflected(made, adjustment, data)
    return _changed(view, adjustment, going_on=data.get("going_on") is True)


def add_filter(service: SearchService, view: UiState, data: Data) -> UiState:
    """Filter a turn whose method does not: nothing must and nothing must not be there, so far."""
    made = _made(service, view)
    if made.soft_filter is not None:
        return view
    return _changed(view, replace(view.adjustment, constraints=Constraints(edited=True), soft_filter=SoftFilter()))


def undo(service: SearchService, view: UiState, data: Data) -> UiState:
    if not view.undo:
        return replace(view, notice="There is nothing to undo on this turn.")
    return replace(view, adjustment=view.undo[-1], undo=view.undo[:-1])


def reset(service: SearchService, view: UiState, data: Data) -> UiState:
    """The turn as it was stored; what was changed can still be had back by undoing."""
    return _changed(view, Adjustment())


def keep(service: SearchService, view: UiState, data: Data) -> UiState:
    """The adjusted turn becomes a turn of its own, on a new branch."""
    view, place = kept(service, view)
    if not place:
        return view
    return replace(view, notice=f"Kept as {place}. The original turn is unchanged.")


def kept(service: SearchService, view: UiState) -> tuple[UiState, str]:
    """The view of the turn that :func:`keep` makes, and where it is; unchanged and "" if there
    is nothing to keep."""
    if view.session_id is None or view.turn_id is None or not view.adjustment:
        return view, ""
    turn = service.save_adjusted(view.session_id, view.turn_id, view.adjustment, view.k)
    branch = next(b for b in service.session(view.session_id).branches if b.branch_id == turn.branch_id)
    return shown(view, turn), f"turn {turn.number} on {branch.name or f'Branch {branch.number}'}"


def show_moves(service: SearchService, view: UiState, data: Data) -> UiState:
    return replace(view, moves=data.get("on") is True)


def _made(service: SearchService, view: UiState) -> Composition:
    turn = session_of(service, view).turn(view.turn_id or "")
    if turn is None:
        raise UnknownSession("That turn is not part of this session. Reload the page.")
    if turn.composition is None:
        raise SearchError("This turn was made by an earlier version and lacks the data needed to change it. "
                          "Search again to get one that can be changed.")
    return turn.composition


def _changed(view: UiState, adjustment: Adjustment, *, going_on: bool = False) -> UiState:
    if adjustment == view.adjustment:
        return view
    steps = view.undo if going_on and view.undo else (*view.undo, view.adjustment)[-UNDO_KEPT:]
    return replace(view, adjustment=adjustment, undo=steps)


def _filtered(made: Composition, before: Adjustment, data: Data) -> Adjustment:
    old = before.soft_filter or made.soft_filter or SoftFilter()
    mode = data.get("mode", old.mode)
    if mode not in MODES:
        raise SearchError(f"{quoted(mode)} is not a filter mode. Choose one of: {', '.join(MODES)}.")
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
    texts: dict[str, Sequence[str]] = {side: sides.get(side, []) for side in SIDES}
    if not all(isinstance(side, list) and all(isinstance(text, str) for text in side) for side in texts.values()):
        raise SearchError("The page is out of date. Reload it.")
    keep, add, remove, prescriptive, proscriptive = (tuple(texts[side]) for side in SIDES)
    return Constraints(keep, add, remove, prescriptive, proscriptive)


def _reflected(made: Composition, before: Adjustment, data: Data) -> Adjustment:
    count = data["rounds"]
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= len(made.rounds):
        raise SearchError("The page is out of date. Reload it.")
    rewritten = None
    if count and isinstance(data.get("rewritten"), str):
        rewritten = clean_text(data["rewritten"], required=False) or None
        if rewritten == made.rounds[count - 1].query:
            rewritten = None
    return replace(before, rounds=None if count == len(made.rounds) else count, rewritten=rewritten)


ADJUSTING: dict[str, Action] = {
    "adjust": adjust, "filter": add_filter, "undo": undo, "reset": reset, "keep": keep, "moves": show_moves,
}
