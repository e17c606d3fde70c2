"""The settings drawer: checked values to a changed view. How the results are laid out: a list or a map,
near-duplicates folded or not. Nothing is searched anew."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args, get_type_hints

from cir_core.encoders.base import composes
from cir_core.errors import EncoderUnavailable, MethodError, RelevanceUnavailable
from cir_core.index.near_duplicates import check_fold
from cir_core.methods.declared import find_method, settings_from
from cir_core.methods.relevance import needs_relevance
from cir_core.methods.steps import sections
from cir_core.relevance.configured import problem_of
from cir_core.sessions.service import SearchService
from cir_core.types.records import MethodSettings
from web.search.actions.parts import WALL, Action, fresh, propose
from web.search.inputs import Data, changes_of, number_of, one_of, text_of
from web.search.presenters.methods import method_title
from web.search.view import UiState
from web.services import Services

MAX_K = 200
CUSTOM = "custom"
EXCLUDES: tuple[str, ...] = get_args(get_type_hints(MethodSettings)["exclude"])


def apply_settings(services: Services, view: UiState, data: Data) -> UiState:
    """A session keeps its method, so a change of it begins a new one and says so."""
    service = services.search
    method = _method_of(services, view, data)
    exclude = method.exclude
    gallery = text_of(data, "gallery") or view.gallery
    chosen = view.method_chosen or replace(method, exclude=view.method.exclude) != view.method
    if not chosen and gallery != view.gallery:
        method = replace(service.usual(gallery).settings, exclude=exclude)
    _check_usable(services, method, gallery)
    k = min(MAX_K, max(1, int(number_of(data, "k")))) if "k" in data else view.k
    changed = replace(view, gallery=gallery, method=method, method_chosen=chosen, k=k)
    if gallery != view.gallery:
        service.searcher(gallery)
        return replace(propose(service, fresh(changed)), notice=f"Searching “{gallery}” now.")
    if method == view.method or view.session_id is None:
        later = view.turn_id is not None and k != view.k
        return replace(changed, notice=f"The next search shows {k} images." if later else "")
    return replace(
        fresh(changed), wall=view.wall or tuple(service.random_images(gallery, WALL)),
        notice="A session keeps its method, so the next search starts a new one. "
               "The previous one is under “Sessions”.",
    )


def prefer(services: Services, view: UiState, data: Data) -> UiState:
    """What the form says becomes what new sessions of this browser begin with; with ``off`` it is the usual method
    again. The page keeps it (``UiState.preferred``)."""
    if data.get("off") is True:
        view = replace(view, preferred=None, notice="New sessions begin with each gallery's usual method again.")
        return propose(services.search, replace(view, method_chosen=False)) if view.session_id is None else view
    method = _method_of(services, view, data)
    _check_usable(services, method, view.gallery)
    title = method_title(method, services.methods)
    view = replace(view, preferred=method, notice=f"New sessions in this browser begin with {title}.")
    return view if view.session_id else replace(view, method=method, method_chosen=False)


def preferred_of(services: Services, content: object) -> MethodSettings | None:
    """What a browser kept of :func:`prefer`; None for what is no method here, such as one of another version."""
    try:
        method = settings_from(content, "the default method") if content else None
    except MethodError:
        return None
    return None if method and needs_relevance(method) and problem_of(services.settings) else method


def _method_of(services: Services, view: UiState, data: Data) -> MethodSettings:
    name = text_of(data, "method") or CUSTOM
    base = view.method if name == CUSTOM else find_method(name, services.methods).settings
    exclude: Any = one_of(EXCLUDES, text_of(data, "exclude") or view.method.exclude)
    return replace(with_details(base, data), exclude=exclude)


def _check_usable(services: Services, method: MethodSettings, gallery: str) -> None:
    encoder = services.search.searcher(gallery).encoder
    if method.base == "joint" and not composes(encoder):
        raise EncoderUnavailable(cannot_compose(encoder.name))
    if needs_relevance(method) and (reason := problem_of(services.settings)):
        raise RelevanceUnavailable(reason)


def cannot_compose(encoder: str) -> str:
    return (f"The encoder {encoder!r} cannot compose image and text; index a gallery with one that "
            "does (docs/how-to/composing-encoders.md).")


def with_details(method: MethodSettings, data: Data) -> MethodSettings:
    """``method`` with those details of ``data`` that apply to it; what is not said stays."""
    for section in sections():
        record = method.part(section.step) if section.step else method
        if not record or (section.value and getattr(method, section.field) != section.value):
            continue
        changed = replace(record, **changes_of(section, data))
        method = method.with_parts({section.step: changed}) if section.step else changed
    return method


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
