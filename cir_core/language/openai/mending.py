"""Mend nearly valid JSON, so that a model is not asked again for a comma.

The library json-repair reads trailing and missing commas, single quotes, comments, texts with quotation marks in them
and missing brackets. It would also close a text that was cut off in the middle of a word; here the unfinished value is
dropped instead, because "a red dre" is no answer.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import json_repair

CUT_OFF = "the language model's answer was cut off; what it had not finished is left out"
_LONGEST = 20_000     # characters that are mended
_STARTS = 5           # opening braces tried: prose may have some, too
_DEEPEST = 20         # opened brackets at a time: no answer has that many


@dataclass(frozen=True)
class Mended:
    """``cut_off``: the text ended before its object did, and perhaps lost a value."""

    content: dict[str, Any]
    cut_off: bool


def mended(text: str, fields: Collection[str]) -> Mended | None:
    """The first JSON object of ``text`` with one of the ``fields``; None if there is none that can be mended."""
    start = text.find("{")
    for _ in range(_STARTS):
        if start < 0:
            return None
        found = _mended(text[start:])
        if found is not None and not found.content.keys().isdisjoint(fields):
            return found
        start = text.find("{", start + 1)
    return None


def _mended(whole: str) -> Mended | None:
    """The object that begins ``whole``."""
    if len(whole) > _LONGEST:
        return None
    seen = _scan(whole)
    if seen.deepest > _DEEPEST or (seen.cut_off and '"' not in whole):   # where texts end shows only in double quotes
        return None
    kept = whole[:seen.opened_at] if seen.opened_at is not None else whole
    if seen.cut_off:
        kept = _without_half(kept)
    try:
        found = json_repair.loads(kept)
    except (ValueError, RecursionError):
        return None
    return Mended(found, seen.cut_off) if isinstance(found, dict) else None


@dataclass(frozen=True)
class _Scan:
    cut_off: bool               # brackets are open at the end
    opened_at: int | None       # where a text begins that does not end
    deepest: int


def _scan(text: str) -> _Scan:
    """Brackets and texts of ``text`` up to the end of its first object."""
    depth = deepest = 0
    opened_at: int | None = None
    escaped = False
    for position, sign in enumerate(text):
        if opened_at is not None:
            if escaped:
                escaped = False
            elif sign == "\\":
                escaped = True
            elif sign == '"':
                opened_at = None
        elif sign == '"':
            opened_at = position
        elif sign in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in "}]":
            depth -= 1
            if depth == 0:
                return _Scan(False, None, deepest)
    return _Scan(True, opened_at, deepest)


def _without_half(text: str) -> str:
    """``text`` without a number or word that may go on, and without a key that has no value."""
    kept = text.rstrip()
    while kept and (kept[-1].isalnum() or kept[-1] in ".+-"):
        kept = kept[:-1]
    kept = kept.rstrip()
    if kept.endswith(":"):
        kept = kept[:-1].rstrip().removesuffix('"')
        kept = kept[:kept.rfind('"') + 1].removesuffix('"')
    return kept
