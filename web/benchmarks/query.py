"""Query parameters of the benchmarks screen: all of them are in its address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cir_core.construct.browse.query import SHOWN, SORTS, TARGET_SORTS, TARGETS_SHOWN, SessionQuery, TargetQuery
from cir_core.construct.filtering.stages import FilterSettings
from cir_core.construct.targets.settings import THRESHOLD
from cir_core.evaluation.metrics.consistency import EPSILON, TAU
from web.http.request_fields import one_of, real, whole

PAGE = 20
_MOST_ON_A_PAGE = 100
_LONGEST_TEXT = 200
LARGEST_EPSILON, LARGEST_TAU = 1_000_000, 2.0


def read_settings(query: Mapping[str, str]) -> FilterSettings:
    """``epsilon`` and ``tau``. Raises ``CirqueError``."""
    return FilterSettings(whole(query, "epsilon", EPSILON, most=LARGEST_EPSILON),
                          real(query, "tau", TAU, least=0, most=LARGEST_TAU))


def read_query(query: Mapping[str, str]) -> SessionQuery:
    """Raises ``CirqueError`` for what is out of range."""
    return SessionQuery(read_settings(query), **_page(query, SHOWN, SORTS))


def read_threshold(query: Mapping[str, str]) -> float:
    """``threshold``. Raises ``CirqueError``."""
    return real(query, "threshold", THRESHOLD, least=0, most=1)


def read_target_query(query: Mapping[str, str]) -> TargetQuery:
    """Raises ``CirqueError`` for what is out of range."""
    return TargetQuery(read_threshold(query), **_page(query, TARGETS_SHOWN, TARGET_SORTS))


def _page(query: Mapping[str, str], shown: Sequence[str], sorts: Sequence[str]) -> dict[str, Any]:
    return {"subset": query.get("subset", "")[:_LONGEST_TEXT], "show": one_of(query, "show", shown, "all"),
            "text": query.get("q", "")[:_LONGEST_TEXT], "sort": one_of(query, "sort", sorts, "constructed"),
            "descending": one_of(query, "order", ("up", "down"), "up") == "down",
            "offset": whole(query, "offset", 0, most=10_000_000),
            "limit": whole(query, "limit", PAGE, least=1, most=_MOST_ON_A_PAGE)}
