"""The settings drawer: checked values to a changed view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args, get_type_hints

from cir_core.encoders.base import composes
from cir_core.errors import EncoderUnavailable, SearchError
from cir_core.methods.declared import find_method
from cir_core.support.texts import quoted
from cir_core.types.methods import FilterMode, Fusion, Reflection, SoftFilter
from cir_core.types.records import MethodSettings
from web.search.actions.parts import WALL, Data, fraction_of, fresh, number_of, propose, text_of
from web.search.view import UiState
from web.services import Services

MAX_K = 200
CUSTOM = "custom"
EXCLUDES: tuple[str, ...] = get_args(get_type_hints(MethodSettings)["exclude"])
FUSIONS: tuple[str, ...] = get_args(Fusion)
MODES: tuple[str, ...] = get_args(FilterMode)


def apply_settings(services: Services, view: UiState, data: Data) -> UiState:
    """A session keeps its method, so a change of it begins a new one and says so."""
    service = services.search
    name = text_of(data, "method") or CUSTOM
    base = view.method if name == CUSTOM else find_method(name, services.methods).settings
    exclude: Any = _one_of(EXCLUDES, text_of(data, "exclude") or view.method.exclude)
    method = replace(with_details(base, data), exclude=exclude)
    gallery = text_of(data, "gallery") or view.gallery
    if method.base == "joint" and not composes(service.searcher(gallery).encoder):
        raise EncoderUnavailable(cannot_compose(service.searcher(gallery).encoder.name))
    k = min(MAX_K, max(1, int(number_of(data, "k")))) if "k" in data else view.k
    changed = replace(view, gallery=gallery, method=method, k=k)
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


def cannot_compose(encoder: str) -> str:
    return (f"The encoder {encoder!r} cannot compose image and text; index a gallery with one that "
            "does (docs/galleries.md).")


def with_details(method: MethodSettings, data: Data) -> MethodSettings:
    """``method`` with those details of ``data`` that apply to it; what is not said stays."""
    changes: dict[str, Any] = {}
    if method.history == "feedback":
        changes |= {key: fraction_of(data, key, 2) for key in ("alpha", "beta", "gamma") if key in data}
    if method.history == "weighted" and "decay" in data:
        changes["decay"] = fraction_of(data, "decay")
    if method.base == "slerp" and "text_weight" in data:
        changes["text_weight"] = fraction_of(data, "text_weight")
    if method.soft_filter is not None:
        changes["soft_filter"] = _soft_filter(method.soft_filter, data)
    if method.reflection is not None:
        changes["reflection"] = _reflection(method.reflection, data)
    return replace(method, **changes)


def _soft_filter(before: SoftFilter, data: Data) -> SoftFilter:
    mode: Any = _one_of(MODES, text_of(data, "mode") or before.mode)
    return SoftFilter(fraction_of(data, "weight") if "weight" in data else before.weight, mode)


def _reflection(before: Reflection, data: Data) -> Reflection:
    fusion: Any = _one_of(FUSIONS, text_of(data, "fusion") or before.fusion)
    return replace(
        before, fusion=fusion,
        rounds=_whole(data, "rounds", before.rounds, 1, 10), images=_whole(data, "images", before.images, 1, 20),
        captions=_whole(data, "captions", before.captions, 0, 50),
        history_weight=fraction_of(data, "history_weight") if "history_weight" in data else before.history_weight,
    )


def _whole(data: Data, key: str, before: int, least: int, most: int) -> int:
    if key not in data:
        return before
    value = number_of(data, key)
    if value != int(value) or not least <= value <= most:
        raise SearchError(f"{key} is {value:g}; it must be a whole number from {least} to {most}.")
    return int(value)


def _one_of(allowed: Sequence[str], value: str) -> str:
    if value not in allowed:
        raise SearchError(f"{quoted(value)} is not one of {', '.join(allowed)}.")
    return value
