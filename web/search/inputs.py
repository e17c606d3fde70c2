"""What the search screen sends with an action, read and checked."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from cir_core.errors import SearchError
from cir_core.support.texts import quoted

Data = Mapping[str, Any]


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
