"""Mend nearly valid JSON, so that a model is not asked again for a comma.

The library json-repair reads trailing and missing commas, single quotes, comments, texts with quotation marks in them
and missing brackets. It would also close a text that was cut off in the middle of a word; here the unfinished value is
dropped instead, because "a red dre" is no answer. Where a quotation mark too many leaves open which text ends where,
its reading counts only if nothing that was written is missing in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import json_repair

_LONGEST = 20_000     # characters that are mended
_STARTS = 40          # opening braces looked at: prose may have some, too
_DEEPEST = 20         # opened brackets at a time: no answer has that many
_FIRST_KEY = re.compile(r"""\{\s*["'“”]?([\w-]+)["'“”]?\s*:""")
_GOES_ON = re.compile(r"\s*(?:[,:\]}]|\Z)")    # after a text
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Mended:
    """``cut_off``: the text ended before its object did, and perhaps lost a value."""

    content: dict[str, Any]
    cut_off: bool


def mended(text: str, fields: Collection[str]) -> Mended | None:
    """The last JSON object of ``text`` with one of the ``fields``; None if there is none that can be mended. One that
    begins with a field and cannot be mended hides those before it, which were drafts."""
    text = text.rstrip().removesuffix("```").rstrip()
    for first_key, whole, seen in reversed(list(_outermost(text))):
        found = _mended(whole, seen, fields)
        if found is not None or first_key in fields:
            return found
    return None


def _outermost(text: str) -> Iterator[tuple[str, str, Scan]]:
    """Every object that is not inside another, as its first key, its text and what a scan of it shows. What a stray
    quotation mark leaves in doubt is given as well."""
    start = text.find("{")
    for _ in range(_STARTS):
        if start < 0:
            return
        begins = _FIRST_KEY.match(text, start)
        after = start + 1
        if begins and len(text) - start <= _LONGEST:
            seen = scan(text[start:])
            if not seen.stray:
                after = start + seen.length
            yield begins[1], text[start:start + seen.length], seen
        start = text.find("{", after)


def _mended(whole: str, seen: Scan, fields: Collection[str]) -> Mended | None:
    """The object that ``whole`` is."""
    ends = whole.endswith("}")
    cut_off = seen.open > 0 and not (seen.stray and ends)
    if seen.deepest > _DEEPEST or (cut_off and (seen.stray or '"' not in whole)):   # nothing shows where texts end
        return None
    kept = whole[:seen.opened_at] if cut_off and seen.opened_at is not None else whole
    if cut_off:
        kept = _without_half(kept)
    try:
        found = json_repair.loads(kept)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or (seen.stray and not _same_words(kept, found)):
        return None
    if found.keys().isdisjoint(fields):   # some models wrap the answer in another object
        found = next(iter(found.values())) if len(found) == 1 else None
    if not isinstance(found, dict) or found.keys().isdisjoint(fields):
        return None
    last = [value for name, value in found.items() if name in fields][-1]
    return None if cut_off and last in ([], {}) and seen.open > 1 else Mended(found, cut_off)


@dataclass(frozen=True)
class Scan:
    """``open``: brackets that are open at the end. ``closes``: whether every brace is closed, whatever the other
    brackets do. ``stray``: a quotation mark stands where no text can begin or end, so that no other figure is
    certain."""

    length: int
    open: int
    opened_at: int | None       # where a text begins that does not end
    deepest: int
    stray: bool
    closes: bool


def scan(text: str) -> Scan:
    """Brackets and texts of ``text`` up to the end of its first object."""
    depth = deepest = braces = 0
    opened_at: int | None = None
    escaped = stray = comment = closes = False
    before = ""       # the last sign besides white space and comments
    for position, sign in enumerate(text):
        if opened_at is not None:
            if escaped:
                escaped = False
            elif sign == "\\":
                escaped = True
            elif sign == '"':
                opened_at = None
                stray = stray or not _GOES_ON.match(text, position + 1)
        elif comment or text.startswith("//", position):
            comment = sign != "\n"
            continue
        elif sign == '"':
            opened_at = position
            stray = stray or before not in tuple("{[,:")
        elif sign in "{[":
            depth, braces = depth + 1, braces + (sign == "{")
            deepest = max(deepest, depth)
        elif sign in "}]":
            depth, braces = depth - 1, braces - (sign == "}")
            closes = closes or braces == 0
            if depth == 0 and not (stray and text.find('"', position) > 0):
                return Scan(position + 1, 0, None, deepest, stray, closes)
        if not sign.isspace():
            before = sign
    return Scan(len(text), max(depth, 1), opened_at, deepest, stray, closes)


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


def _same_words(text: str, found: dict[str, Any]) -> bool:
    """Whether ``found`` has the words of ``text`` in their order, and no quotation mark that is not in it."""
    written = json.dumps(found, ensure_ascii=False)
    inner = written.count('\\"')
    texts = (written.count('"') - inner) // 2
    room = text.count('"') + text.count("'") - 2 * texts
    return _WORD.findall(text) == _WORD.findall(written) and (inner == 0 or inner <= room)
