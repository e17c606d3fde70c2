"""Query parameters of the benchmarks screen: all of them are in its address."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cir_core.construct.browse.query import SHOWN, SORTS, SessionQuery
from cir_core.construct.filtering.stages import FilterSettings
from cir_core.errors import DatasetError
from cir_core.evaluation.metrics.consistency import EPSILON, TAU
from cir_core.support.texts import quoted

PAGE = 20
_MOST_ON_A_PAGE = 100
_LONGEST_TEXT = 200
LARGEST_EPSILON, LARGEST_TAU = 1_000_000, 2.0


def read_settings(query: Mapping[str, str]) -> FilterSettings:
    """``epsilon`` and ``tau``. Raises ``DatasetError``."""
    return FilterSettings(whole(query, "epsilon", EPSILON, LARGEST_EPSILON), _tau(query.get("tau", str(TAU))))


def read_query(query: Mapping[str, str]) -> SessionQuery:
    """Raises ``DatasetError`` for what is out of range."""
    return SessionQuery(
        read_settings(query), query.get("subset", "")[:_LONGEST_TEXT], _one_of(query, "show", SHOWN, "all"),
        query.get("q", "")[:_LONGEST_TEXT], _one_of(query, "sort", SORTS, "constructed"),
        _one_of(query, "order", ("up", "down"), "up") == "down",
        whole(query, "offset", 0, 10_000_000), max(1, whole(query, "limit", PAGE, _MOST_ON_A_PAGE)))


def whole(query: Mapping[str, str], name: str, usual: int, most: int) -> int:
    """A whole number from 0. Raises ``DatasetError``."""
    text = query.get(name, str(usual)).strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 9) or int(text) > most:
        raise DatasetError(f"“{name}” must be a whole number from 0 to {most:,}, not {quoted(text)}.")
    return int(text)


def _tau(text: str) -> float:
    try:
        tau = float(text)
    except ValueError:
        tau = -1.0
    if not 0 <= tau <= LARGEST_TAU:     # nan is outside too
        raise DatasetError(f"“tau” must be a number from 0 to {LARGEST_TAU:g}, not {quoted(text)}.")
    return tau


def _one_of(query: Mapping[str, str], name: str, choices: Collection[str], usual: str) -> str:
    text = query.get(name, usual)
    if text not in choices:
        raise DatasetError(f"“{name}” must be one of {', '.join(choices)}, not {quoted(text)}.")
    return text
