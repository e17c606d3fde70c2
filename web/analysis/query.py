"""Parsing and validation of report parameters in URLs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

import orjson

from annotation.analysis.records import Options, Resample, Selection, Undefined
from annotation.quality.rules import Rules, parse_rules
from cir_core.errors import StudyError
from cir_core.support.texts import quoted, shortened
from web.http.request_fields import one_of, whole

_LONGEST_SELECT = 100_000   # characters of JSON
_MOST_CHOSEN = 500
_LONGEST_NAME = 200
_MOST_DRAWS = 10_000
_LARGEST_K = 5
_NARROWEST, _WIDEST = 0.005, 1.0
_NAMES = ("study", "select", "draws", "seed", "undefined", "resample", "names", "rules", "k", "plan")


@dataclass(frozen=True)
class ReportParams:
    """``rules`` None: the study's own rules. ``plan``: target interval width; None: no planning."""

    selection: Selection
    options: Options
    rules: Rules | None
    ks: tuple[int, ...]
    plan: float | None


def read_query(query: Mapping[str, str], more: Collection[str] = (), usual: Options = Options()) -> ReportParams:
    """``more``: names of further allowed parameters; ``usual``: defaults. Raises ``CirqueError``."""
    known = (*_NAMES, *more)
    if unknown := sorted(set(query) - set(known)):
        raise StudyError(f"Unknown in this call: {shortened(', '.join(unknown), 200)}. It takes {', '.join(known)}.")
    plan, rules = query.get("plan"), query.get("rules")
    options = Options(
        draws=whole(query, "draws", usual.draws, most=_MOST_DRAWS), seed=whole(query, "seed", usual.seed),
        undefined=cast(Undefined, one_of(query, "undefined", get_args(Undefined), usual.undefined)),
        resample=cast(Resample, one_of(query, "resample", get_args(Resample), usual.resample)),
        hide_names=one_of(query, "names", ("shown", "hidden"), "hidden" if usual.hide_names else "shown") == "hidden",
    )
    return ReportParams(
        _selection(query.get("select", "{}")), options,
        None if rules is None else parse_rules([part for part in rules.split(",") if part.strip()]),
        _cutoffs(query.get("k", str(_LARGEST_K))), _width(plan) if plan else None,
    )


def _selection(text: str) -> Selection:
    if len(text) > _LONGEST_SELECT:
        raise StudyError(f"“select” has {len(text):,} characters; the limit is {_LONGEST_SELECT:,}. Choose less.")
    try:
        given = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise StudyError("“select” is not valid JSON. Reload the page.") from None
    fields = ("datasets", "categories", "people", "block_only")
    if not isinstance(given, dict) or (unknown := sorted(given.keys() - set(fields))):
        wrong = "it is not an object" if not isinstance(given, dict) else f"it has {shortened(', '.join(unknown), 200)}"
        raise StudyError(f"“select” must be an object with {', '.join(fields)}; {wrong}. Reload the page.")
    block = given.get("block_only", False)
    if not isinstance(block, bool):
        raise StudyError("“block_only” must be true or false.")
    return Selection(
        tuple(_chosen(given, "datasets", str, "texts")), tuple(_chosen(given, "categories", str, "texts")),
        tuple(_chosen(given, "people", int, "seat numbers")), block,
    )


def _chosen(given: Mapping[str, Any], name: str, kind: type, words: str) -> list[Any]:
    """Sorted without duplicates, so that equal selections share a cache key."""
    values = given.get(name, [])
    if not isinstance(values, list) or len(values) > _MOST_CHOSEN or not all(type(one) is kind for one in values):
        raise StudyError(f"“{name}” must be a list of at most {_MOST_CHOSEN} {words}.")
    if any(isinstance(one, str) and len(one) > _LONGEST_NAME for one in values):
        raise StudyError(f"“{name}” has a text of more than {_LONGEST_NAME} characters.")
    return sorted(set(values))


def _cutoffs(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) == 1 and 1 <= int(part) <= _LARGEST_K for part in parts):
        raise StudyError(f"“k” must be whole numbers from 1 to {_LARGEST_K}, separated by commas, not "
                         f"{quoted(text)}.")
    return tuple(dict.fromkeys(int(part) for part in parts))


def _width(text: str) -> float:
    try:
        width = float(text)
    except ValueError:
        width = -1.0
    if not _NARROWEST <= width <= _WIDEST:   # nan is outside too
        raise StudyError(f"“plan” must be an interval width from {_NARROWEST} to {_WIDEST:g}, not {quoted(text)}.")
    return width
