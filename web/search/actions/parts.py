"""What the actions of the search screen share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cir_core.encoders.base import composes
from cir_core.errors import SearchError
from cir_core.sessions.service import SearchService
from cir_core.types.composition import Adjustment
from cir_core.types.records import MethodSettings, SearchSession, Turn
from web.http.long_actions import LiveWatch
from web.search.inputs import Data, text_of
from web.search.view import UiState
from web.services import Services

WALL = 24

Action = Callable[[SearchService, UiState, Data], UiState]
Begin = Callable[[Services, UiState, Data], tuple[LiveWatch, Callable[[], UiState]]]


def propose(service: SearchService, view: UiState) -> UiState:
    """A reference to start from, and the method that new sessions begin with unless another one was chosen.
    ``view.early``: nothing waits for the encoder."""
    view = view if view.early else settle(service, view)
    wall = tuple(service.random_images(view.gallery, WALL + 1))
    if not wall:
        return replace(view, wall=(), reference_id=None, further=())
    return replace(view, wall=wall[1:] or wall, reference_id=wall[0], further=())


def settle(service: SearchService, view: UiState) -> UiState:
    """``view`` with what depends on the gallery's encoder."""
    if not view.method_chosen:
        view = replace(view, method=_begins_with(service, view))
    return replace(view, early=False)


def _begins_with(service: SearchService, view: UiState) -> MethodSettings:
    """The person's default; without one, or where it is no use for the gallery, the gallery's usual method."""
    searcher = service.searcher(view.gallery)
    usual, mine = searcher.usual, view.preferred
    if mine is None or (mine.base == "joint" and not composes(searcher.encoder)) or (
            usual.reason and searcher.needs_caption(mine)):
        return replace(usual.settings, exclude=view.method.exclude)
    return mine


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
    service.check_image(view.gallery, image_id)
    return replace(view, reference_id=image_id, further=())


def session_of(service: SearchService, view: UiState) -> SearchSession:
    if view.session_id is None:
        raise SearchError("There is no session yet. Choose a reference, describe what should be different, and search.")
    return service.session(view.session_id)
