"""The displayed turn: as stored, or with unsaved changes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cir_core.errors import CirqueError
from cir_core.sessions.service import LoadedTurn, SearchService
from cir_core.types.composition import Adjustment
from cir_core.types.records import Hit, Turn
from web.http.public_errors import public_message
from web.search.presenters.steps import unmoved
from web.search.view import UiState

DEEP = 1000  # how far down the ranks are looked at to say what moved


@dataclass(frozen=True)
class ShownTurn:
    """``shown`` is ``stored`` after the changes of the view. ``then`` and ``now`` are the
    rankings without and with a step where the person asked what it moved."""

    stored: Turn
    shown: Turn
    then: tuple[Hit, ...] = ()
    now: tuple[Hit, ...] = ()
    problem: str = ""


def shown_turn(service: SearchService, loaded: LoadedTurn, view: UiState) -> ShownTurn:
    """Apply the changes without a language model. If that is impossible, for example because the gallery has changed,
    ``problem`` says so."""
    turn = loaded.turn
    adjustment = view.adjustment if turn.turn_id == view.turn_id else Adjustment()
    result = ShownTurn(turn, turn)
    try:
        compared = unmoved(turn, adjustment) if view.moves else None
        found = None
        if adjustment or compared is not None:
            found = service.adjust(loaded, adjustment, view.k if compared is None else DEEP)
        if found is not None and adjustment:
            result = replace(result, shown=replace(
                turn, hits=found.hits[: view.k], vector=found.vector, target_rank=found.target_rank,
                notes=found.notes, composition=found.composition, caption=found.caption, merged_text=found.merged_text,
            ))
        if found is not None and compared is not None:
            result = replace(result, then=service.adjust(loaded, compared, DEEP).hits, now=found.hits)
    except CirqueError as error:
        result = replace(result, problem=public_message(error))
    return result
