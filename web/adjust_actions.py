"""Changing a finished turn without a language model: chips, λ, rounds; and marking results."""

from __future__ import annotations

from cir_core.composition import Marks
from cir_core.service import SearchService
from web.action_parts import Action, Data, shown
from web.view import View


def marks_of(data: Data) -> Marks:
    """The marks a page sends along with a search. Raises ``SearchError`` for what are none."""
    more, less = data.get("more"), data.get("less")
    return Marks(tuple(more or ()), tuple(less or ()))


def keep(service: SearchService, view: View, data: Data) -> View:
    """The adjusted turn becomes a turn of its own, on a new branch."""
    if view.session_id is None or view.turn_id is None or not view.adjustment:
        return view
    return shown(view, service.keep_adjusted(view.session_id, view.turn_id, view.adjustment, view.k))


ADJUSTING: dict[str, Action] = {"keep": keep}
