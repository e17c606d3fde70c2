"""What the actions of the search screen share."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from cir_core.errors import SearchError
from cir_core.sessions.service import SearchService
from cir_core.support.texts import quoted
from cir_core.types.composition import Adjustment
from cir_core.types.records import SearchSession, Turn
from web.http.long_actions import LiveWatch
from web.search.view import UiState
from web.services import Services

WALL = 24

Data = Mapping[str, Any]
Action = Callable[[SearchService, UiState, Data], UiState]
Begin = Callable[[Services, UiState, Data], tuple[LiveWatch, Callable[[], UiState]]]


def text_of(data: Data, key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def number_of(data: Data, key: str) -> float:
    """Raises ``SearchError`` for anything that is no finite number."""
    try:
        value = float(data.get(key, "nan"))
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise SearchError(f"{key} must be a number.")
    return value


def fraction_of(data: Data, key: str, most: float = 1, least: float = 0) -> float:
    """A number from ``least`` to ``most``."""
    value = number_of(data, key)
    if not least <= value <= most:
        raise SearchError(f"{key} is {value:g}; it goes from {least:g} to {most:g}.")
    return value


def whole_of(data: Data, key: str, least: float, most: float) -> int:
    """A whole number from ``least`` to ``most``."""
    value = number_of(data, key)
    if value != int(value) or not least <= value <= most:
        raise SearchError(f"{key} is {value:g}; it is a whole number from {least} to {most}.")
    return int(value)


def one_of(allowed: Collection[str], value: str) -> str:
    """``value``, which is one of ``allowed``."""
    if value not in allowed:
        raise SearchError(f"{quoted(value)} is not one of {', '.join(allowed)}.")
    return value


def propose(service: SearchService, view: UiState) -> UiState:
    """A reference to start from, and the gallery's usual method unless another one was chosen."""
    if not view.method_chosen:
        view = replace(view, method=replace(service.usual(view.gallery).settings, exclude=view.method.exclude))
    wall = tuple(service.random_images(view.gallery, WALL + 1))
    if not wall:
        return replace(view, wall=(), reference_id=None, further=())
    return replace(view, wall=wall[1:] or wall, reference_id=wall[0], further=())


def fresh(view: UiState) -> UiState:
    """The same person, gallery and method, nothing searched yet."""
    return replace(view, session_id=None, turn_id=None, branch_id=None, compare=None, comparison_id=None,
                   adjustment=Adjustment(), undo=(), problem="", notice="")


def shown(view: UiState, turn: Turn) -> UiState:
    """The same person looking at ``turn`` as it was stored."""
    return replace(view, turn_id=turn.turn_id, branch_id=turn.branch_id, compare=None, comparison_id=None,
                   adjustment=Adjustment(), undo=())


def leave(view: UiState, turn: Turn) -> UiState:
    """:func:`shown`, saying so where changes to the turn before are given up for it."""
    if view.adjustment and turn.turn_id != view.turn_id:
        view = replace(view, notice="Your changes to the previous turn were discarded.")
    elif turn.turn_id == view.turn_id:
        return replace(view, compare=None, comparison_id=None)
    return shown(view, turn)


def starting(service: SearchService, view: UiState, data: Data) -> UiState:
    """``view`` with the reference that a search names: the result that is selected in the page, without the pictures
    that were added to another one."""
    image_id = text_of(data, "reference")
    if not image_id or image_id == view.reference_id:
        return view
    service.image_path(view.gallery, image_id)
    return replace(view, reference_id=image_id, further=())


def session_of(service: SearchService, view: UiState) -> SearchSession:
    if view.session_id is None:
        raise SearchError("There is no session yet. Choose a reference, describe what should be different, and search.")
    return service.session(view.session_id)
