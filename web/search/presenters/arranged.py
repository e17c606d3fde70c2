"""How the results of a turn are laid out: as a list, perhaps with near-duplicates folded, or as a map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cir_core.errors import CirqueError, EncoderMismatch
from cir_core.index.near_duplicates import folded_page
from cir_core.search.projection import MAPPED, Projections
from cir_core.sessions.service import SearchService
from cir_core.types.composition import Adjustment
from cir_core.types.records import Hit, SearchSession, Turn
from web.http.public_errors import public_message
from web.search.presenters.adjusted_turn import ShownTurn
from web.search.view import UiState

Dict = dict[str, Any]
Tiles = Callable[[Sequence[Hit]], list[Dict]]


def arranged(service: SearchService, maps: Projections, session: SearchSession, seen: ShownTurn, view: UiState,
             tiles: Tiles) -> Dict:
    """``tiles`` in their order, each with ``similar``, the tiles folded ``under`` it; on a map with the place ``x`` and
    ``y``, in percent. ``problem`` says why there is neither."""
    turn = seen.shown
    try:
        if view.layout == "map" and turn.hits:
            return _mapped(service, maps, session, seen, view, tiles)
        if view.fold and turn.hits:
            return _folded(service, session, seen, view, tiles)
        problem = ""
    except CirqueError as error:
        problem = public_message(error)
    return {"tiles": tiles(turn.hits), "map": False, "folded": None, "problem": problem}


def _folded(service: SearchService, session: SearchSession, seen: ShownTurn, view: UiState, tiles: Tiles) -> Dict:
    features_of = service.searcher(session.gallery).features_of
    page = folded_page(lambda k: _ranked(service, session, seen, view, k), features_of, len(seen.shown.hits),
                       view.fold_at)
    all_tiles = iter(tiles([hit for one in page for hit in (one.hit, *one.similar)]))
    shown = [next(all_tiles) | {"similar": [next(all_tiles) | {"under": one.hit.rank} for _ in one.similar]}
             for one in page]
    return {"tiles": shown, "map": False, "folded": sum(len(one.similar) for one in page), "problem": ""}


def _mapped(service: SearchService, maps: Projections, session: SearchSession, seen: ShownTurn, view: UiState,
            tiles: Tiles) -> Dict:
    searcher = service.searcher(session.gallery)
    hits = _ranked(service, session, seen, view, MAPPED)
    places = maps.of(searcher.gallery.digest, [hit.image_id for hit in hits], searcher.features_of)
    shown = [tile | {"x": round(100 * float(x), 2), "y": round(100 * float(y), 2)}
             for tile, (x, y) in zip(tiles(hits), places, strict=True)]
    return {"tiles": shown, "map": True, "folded": None, "problem": ""}


def _ranked(service: SearchService, session: SearchSession, seen: ShownTurn, view: UiState, k: int) -> Sequence[Hit]:
    """The best ``k``, as far as they are known: the ranking goes on below the stored results."""
    turn: Turn = seen.shown
    _check_vectors(service, session)
    if turn.composition is None or len(turn.hits) >= k:
        return turn.hits[:k]
    adjustment = view.adjustment if turn.turn_id == view.turn_id and not seen.problem else Adjustment()
    return service.adjusted(session.session_id, turn.turn_id, adjustment, k).hits


def _check_vectors(service: SearchService, session: SearchSession) -> None:
    if session.protocol.gallery_digest != service.gallery(session.gallery).digest:
        raise EncoderMismatch("The gallery has changed since this session began, so its results can be shown as a "
                              "plain list only.")

