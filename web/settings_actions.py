"""The settings drawer: checked values to a changed view."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args, get_type_hints

from cir_core.errors import SearchError
from cir_core.service import SearchService
from cir_core.types import MethodSettings
from web.action_parts import WALL, Data, fresh, propose, text_of
from web.view import View

MAX_K = 200
_HINTS = get_type_hints(MethodSettings)
BASES: tuple[str, ...] = get_args(_HINTS["base"])
EXCLUDES: tuple[str, ...] = get_args(_HINTS["exclude"])



def apply_settings(service: SearchService, view: View, data: Data) -> View:
    """A session keeps its method, so a change of it begins a new one and says so."""
    method = MethodSettings(
        base=_one_of(BASES, text_of(data, "base")),  # type: ignore[arg-type]
        alpha=_weight(data, "alpha"), beta=_weight(data, "beta"), gamma=_weight(data, "gamma"),
        feedback_depth=view.method.feedback_depth,
        exclude=_one_of(EXCLUDES, text_of(data, "exclude")),  # type: ignore[arg-type]
    )
    gallery = text_of(data, "gallery") or view.gallery
    k = min(MAX_K, max(1, int(_number(data, "k"))))
    changed = replace(view, gallery=gallery, method=method, k=k)
    if gallery != view.gallery:
        service.searcher(gallery)
        return replace(propose(service, fresh(changed)), notice=f"Searching “{gallery}” now.")
    if method == view.method or view.session_id is None:
        return changed
    return replace(
        fresh(changed), wall=view.wall or tuple(service.random_images(gallery, WALL)),
        notice="A session keeps its method, so the next search starts a new one. "
               "The one before is under “Sessions”.",
    )


def _one_of(allowed: Sequence[str], value: str) -> str:
    if value not in allowed:
        raise SearchError(f"{value!r} is not one of {', '.join(allowed)}.")
    return value


def _number(data: Data, key: str) -> float:
    try:
        value = float(data.get(key, "nan"))
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise SearchError(f"{key} must be a number.")
    return value


def _weight(data: Data, key: str) -> float:
    value = _number(data, key)
    if not 0 <= value <= 2:
        raise SearchError(f"{key} is {value:g}; it goes from 0 to 2.")
    return value
