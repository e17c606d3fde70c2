"""Changing a finished turn without a language model: chips, λ, rounds; and marking results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cir_core.errors import SearchError, Stopped, UnknownSession
from cir_core.sessions.service import SearchService
from cir_core.types.composition import Adjustment, Composition, Marks
from web.http.long_actions import LiveWatch
from web.search.actions.parts import Action, session_of, shown
from web.search.inputs import Data, text_of
from web.search.presenters.step import Change
from web.search.presenters.steps import presenters
from web.search.view import UiState
from web.services import Services

MOST_MARKS = 50
UNDO_KEPT = 50


def marks_of(data: Data, *references: str | None) -> Marks:
    """The marks a page sends along with a search, without the references. Raises ``SearchError`` for what are none."""
    more, less = (tuple(one for one in _ids(data.get(side), side) if one not in references)
                  for side in ("more", "less"))
    return Marks(more, less)


def listed_ids(value: object, name: str) -> tuple[str, ...]:
    """``value`` as a list of image ids; () for none. Raises ``SearchError``."""
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise SearchError(f"“{name}” must be a list of image ids.")
    return tuple(value)


def _ids(value: object, name: str) -> tuple[str, ...]:
    ids = tuple(dict.fromkeys(listed_ids(value, name)))
    if len(ids) > MOST_MARKS:
        raise SearchError(f"{len(ids)} images are marked “{name} like this”; the limit is {MOST_MARKS}.")
    return ids


def adjust(service: SearchService, view: UiState, data: Data) -> UiState:
    """Take over what the page says has changed, each step what is its own. The parts of one gesture, such
    as a slider being dragged, say ``going_on``: they are undone together."""
    made = _made(service, view)
    adjustment = view.adjustment
    for presenter in presenters():
        adjustment = presenter.change(made, adjustment, data)
    return _changed(view, adjustment, going_on=data.get("going_on") is True)


def begin_reword(services: Services, view: UiState, data: Data) -> tuple[LiveWatch, Callable[[], UiState]]:
    """Another ``caption`` of the reference, or another ``query``, of the shown turn: a language model reads it, then
    the turn is ranked again."""
    session_id, turn_id = session_of(services.search, view).session_id, view.turn_id or ""
    given = {name: text_of(data, name) for name in ("caption", "query") if name in data}
    watch = LiveWatch(" ".join(given.values()))

    def job() -> UiState:
        adjustment = view.adjustment
        try:
            for name, text in given.items():
                adjustment = services.search.reword(session_id, turn_id, adjustment, **{name: text}, watch=watch)
        except Stopped:
            return replace(view, notice="Stopped. The text is as it was.")
        return _changed(view, adjustment)

    return watch, job


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
    """The view of the turn that :func:`keep` makes, and where it is; unchanged and "" if nothing is to be kept."""
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


def _action(change: Change) -> Action:
    return lambda service, view, data: _changed(view, change(_made(service, view), view.adjustment, data))


ADJUSTING: dict[str, Action] = {
    "adjust": adjust, **{name: _action(change) for one in presenters() for name, change in one.actions.items()},
    "undo": undo, "reset": reset, "keep": keep, "moves": show_moves,
}
