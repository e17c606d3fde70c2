"""How the results of a turn are laid out: as a list, perhaps with near-duplicates folded, or as a map. The displayed
turn: as stored, or with unsaved changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cir_core.errors import CirqueError, EncoderMismatch
from cir_core.index.near_duplicates import folded_page
from cir_core.search.projection import MAPPED, Projections
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


Dict = dict[str, Any]
Tiles = Callable[[Sequence[Hit]], list[Dict]]


def arranged(service: SearchService, maps: Projections, loaded: LoadedTurn, seen: ShownTurn, view: UiState,
             tiles: Tiles) -> Dict:
    """``tiles`` in their order, each with ``similar``, the tiles folded ``under`` it; on a map with the place ``x`` and
    ``y`` and the share ``near`` of the first rank's colour, in percent. ``problem`` says why there is neither."""
    turn = seen.shown
    try:
        if view.layout == "map" and turn.hits:
            return _mapped(service, maps, loaded, seen, view, tiles)
        if view.fold and turn.hits:
            return _folded(service, loaded, seen, view, tiles)
        problem = ""
    except CirqueError as error:
        problem = public_message(error)
    return {"tiles": tiles(turn.hits), "map": False, "folded": None, "problem": problem}


def _folded(service: SearchService, loaded: LoadedTurn, seen: ShownTurn, view: UiState, tiles: Tiles) -> Dict:
    features_of = loaded.searcher.features_of
    page = folded_page(lambda k: _ranked(service, loaded, seen, view, k), features_of, len(seen.shown.hits),
                       view.fold_at)
    all_tiles = iter(tiles([hit for one in page for hit in (one.hit, *one.similar)]))
    shown = [next(all_tiles) | {"similar": [next(all_tiles) | {"under": one.hit.rank} for _ in one.similar]}
             for one in page]
    return {"tiles": shown, "map": False, "folded": sum(len(one.similar) for one in page), "problem": ""}


def _mapped(service: SearchService, maps: Projections, loaded: LoadedTurn, seen: ShownTurn, view: UiState,
            tiles: Tiles) -> Dict:
    searcher = loaded.searcher
    hits = _ranked(service, loaded, seen, view, MAPPED)
    places = maps.of(searcher.gallery.digest, [hit.image_id for hit in hits], searcher.features_of)
    last = max(hit.rank for hit in hits)
    shown = [tile | {"x": round(100 * float(x), 2), "y": round(100 * float(y), 2),
                     "near": near_the_top(tile["rank"], last)}
             for tile, (x, y) in zip(tiles(hits), places, strict=True)]
    return {"tiles": shown, "map": True, "folded": None, "problem": ""}


def near_the_top(rank: int, last: int) -> int:
    """How much of the colour of rank 1 a result at ``rank`` has on a map down to rank ``last``, in percent: equal
    steps for equal ratios of ranks, as people look at the first ones."""
    return round(100 * (1 - math.log(rank) / math.log(last))) if last > 1 else 100


def _ranked(service: SearchService, loaded: LoadedTurn, seen: ShownTurn, view: UiState, k: int) -> Sequence[Hit]:
    """The best ``k``, as far as they are known: the ranking goes on below the stored results."""
    turn: Turn = seen.shown
    _check_vectors(loaded)
    if turn.composition is None or len(turn.hits) >= k:
        return turn.hits[:k]
    adjustment = view.adjustment if turn.turn_id == view.turn_id and not seen.problem else Adjustment()
    return service.adjust(loaded, adjustment, k).hits


def _check_vectors(loaded: LoadedTurn) -> None:
    if loaded.session.protocol.gallery_digest != loaded.searcher.gallery.digest:
        raise EncoderMismatch("The gallery has changed since this session began, so its results can be shown as a "
                              "plain list only.")
