"""The displayed turn: as stored, or with unsaved changes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cir_core.errors import CirqueError
from cir_core.search.searcher import TurnResult
from cir_core.sessions.service import SearchService
from cir_core.types.composition import Adjustment
from cir_core.types.records import Hit, SearchSession, SoftFilter, Turn
from web.http.public_errors import public_message
from web.search.view import UiState

DEEP = 1000  # how far down the ranks are looked at to say what moved


@dataclass(frozen=True)
class ShownTurn:
    """``shown`` is ``stored`` with the view's changes applied. ``then`` and ``now`` are the rankings without and with
    the filter, if rank changes are shown."""

    stored: Turn
    shown: Turn
    then: tuple[Hit, ...] = ()
    now: tuple[Hit, ...] = ()
    problem: str = ""


def shown_turn(service: SearchService, session: SearchSession, turn: Turn, view: UiState) -> ShownTurn:
    """Apply the changes without a language model. If that is impossible, for example because the gallery has changed,
    ``problem`` says so."""
    adjustment = view.adjustment if turn.turn_id == view.turn_id else Adjustment()

    def adjusted(change: Adjustment, k: int) -> TurnResult:
        return service.adjusted(session.session_id, turn.turn_id, change, k)

    result = ShownTurn(turn, turn)
    try:
        compared = view.moves and _filtered(turn, adjustment)
        found = adjusted(adjustment, DEEP if compared else view.k) if adjustment or compared else None
        if found is not None and adjustment:
            result = replace(result, shown=replace(
                turn, hits=found.hits[: view.k], vector=found.vector, target_rank=found.target_rank,
                notes=found.notes, composition=found.composition,
            ))
        if found is not None and compared:
            unfiltered = adjusted(replace(adjustment, soft_filter=SoftFilter(0.0)), DEEP)
            result = replace(result, then=unfiltered.hits, now=found.hits)
    except CirqueError as error:
        result = replace(result, problem=public_message(error))
    return result


def _filtered(turn: Turn, adjustment: Adjustment) -> bool:
    if turn.composition is None:
        return False
    return (adjustment.soft_filter or adjustment.constraints or turn.composition.soft_filter) is not None
