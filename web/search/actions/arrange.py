"""How the results are laid out: a list or a map, near-duplicates folded or not. Nothing is searched anew."""

from __future__ import annotations

from dataclasses import replace

from cir_core.index.near_duplicates import check_fold
from cir_core.sessions.service import SearchService
from web.search.actions.parts import Action
from web.search.inputs import Data, number_of, one_of, text_of
from web.search.view import UiState


def set_layout(service: SearchService, view: UiState, data: Data) -> UiState:
    shown = one_of(("list", "map"), text_of(data, "as"))
    return replace(view, layout="map" if shown == "map" else "list")


def set_fold(service: SearchService, view: UiState, data: Data) -> UiState:
    """``on`` folds or unfolds; ``at`` is the cosine from which images fold."""
    if "at" in data:
        at = number_of(data, "at")
        check_fold(at)
        view = replace(view, fold_at=at)
    if "on" in data:
        view = replace(view, fold=data["on"] in (True, "true"))
    return view


ARRANGING: dict[str, Action] = {"layout": set_layout, "fold": set_fold}
