"""Requests and dialogues that somebody wrote: a TOML file whose format ``docs/how-to/evaluate/requests.md`` describes.

An entry says which images it can be asked about and what must hold of a result, both in the attributes of the sample's
ground truth. :mod:`cir_core.sample.evaluate_requests` asks it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cir_core.errors import DatasetError, SearchError
from cir_core.garments.lexicon import BY_KEY
from cir_core.sample.request_set import Pool
from cir_core.sample.requests import Attributes, Wants
from cir_core.support.texts import clean_text, quoted
from cir_core.support.toml_files import load_toml

EXPECTED = ("choices", "said")   # texts to choose from; that, or a note of what was not understood
OTHER = "other"                  # the act that wants images which are not shown yet
REFERENCES = 3
_AS_REFERENCE = "@"
Said = Mapping[str, str]   # attribute group -> "red", "red|blue", "!red", "@"


@dataclass(frozen=True)
class WrittenTurn:
    """``wants``: all that must hold after it. ``shows``: after an ``act`` such as "undo", the turn whose hits are on
    the screen again, 0 for none."""

    text: str
    wants: Said
    expect: str = ""
    act: str = ""
    shows: int | None = None


@dataclass(frozen=True)
class WrittenEntry:
    """A request, which has one turn, or a dialogue. ``reference`` is the condition on its first reference; ``where``
    names it in messages: "request 3 ("in red")"."""

    name: str
    reference: Said
    turns: tuple[WrittenTurn, ...]
    where: str
    is_dialogue: bool = False


@dataclass(frozen=True)
class WrittenSet:
    """What a file asks. ``digest``: 16 hex digits of it."""

    file: str
    entries: tuple[WrittenEntry, ...]

    def first(self, limit: int | None) -> WrittenSet:
        """At most ``limit`` of the requests and of the dialogues."""
        kinds = ([one for one in self.entries if one.is_dialogue is kind][:limit] for kind in (False, True))
        return WrittenSet(self.file, tuple(one for some in kinds for one in some))

    @property
    def requests(self) -> int:
        return sum(not one.is_dialogue for one in self.entries)

    @property
    def digest(self) -> str:
        asked = json.dumps([asdict(one) for one in self.entries], sort_keys=True)
        return hashlib.sha256(asked.encode()).hexdigest()[:16]


def read_request_file(path: Path) -> WrittenSet:
    """The requests and dialogues of the file ``path``. Raises ``DatasetError`` with the file, the entry and what to do
    about it."""
    try:
        content = load_toml(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        reason = "it is not text in UTF-8" if isinstance(error, UnicodeDecodeError) else \
            error.strerror or str(error) if isinstance(error, OSError) else str(error)
        raise DatasetError(f"{path} cannot be read: {reason}. The format is in "
                           "docs/how-to/evaluate/requests.md.") from error
    try:
        _only(content, {"request", "dialogue"}, "the file")
        entries = (*_entries(content, "request", _request), *_entries(content, "dialogue", _dialogue))
        if not entries:
            raise _Problem("the file", "has no [[request]] and no [[dialogue]]", "Add one")
    except _Problem as problem:
        raise DatasetError(f"{path}: {problem}. The format is in docs/how-to/evaluate/requests.md.") from None
    return WrittenSet(path.name, entries)


def wanted(said: Said, reference: Attributes) -> Wants:
    """The values that satisfy ``said`` where the first reference is ``reference``."""
    return {group: _values(group, value, reference) for group, value in said.items()}


def drawn(asked: WrittenSet, pool: Pool, most: int, seed: int) -> tuple[list[tuple[WrittenEntry, str]], list[str]]:
    """For each entry at most ``most`` images that meet its condition, and for which every turn has an answer in
    ``pool``; others for another ``seed``. Then the entries that have none, with the reason. Raises ``DatasetError`` if
    no entry has any."""
    found = [(entry, image_id) for entry in asked.entries for image_id in _references(entry, pool, most, seed)]
    there = {entry.where for entry, _ in found}
    without = [f"{entry.where}: {_why_none(entry, pool)}" for entry in asked.entries if entry.where not in there]
    if not found:
        raise DatasetError(f"{asked.file} matches no image of the gallery. {without[0]}. Ask for less there.")
    return found, without


def _references(entry: WrittenEntry, pool: Pool, most: int, seed: int) -> list[str]:
    fits = pool.satisfying(wanted(entry.reference, {}))
    order = [image_id for image_id, fitting in zip(pool.ids, fits, strict=True) if fitting]
    random.Random(f"{seed}/{entry.where}").shuffle(order)
    able = (image_id for image_id in order if _first_without(entry, image_id, pool) is None)
    return list(itertools.islice(able, most))


def _first_without(entry: WrittenEntry, image_id: str, pool: Pool) -> int | None:
    """The first turn that nothing satisfies, beginning with ``image_id``."""
    return next((number for number, turn in enumerate(entry.turns, start=1) if turn.wants
                 and not pool.satisfying(wanted(turn.wants, pool.truth[image_id]), (image_id,)).any()), None)


def _why_none(entry: WrittenEntry, pool: Pool) -> str:
    fits = pool.satisfying(wanted(entry.reference, {}))
    if not fits.any():
        return "no image is as its `reference`"
    turn = max(_first_without(entry, image_id, pool) or 0 for image_id, fitting in zip(pool.ids, fits, strict=True)
               if fitting)
    return f"no image has what {f'turn {turn}' if entry.is_dialogue else 'it'} wants"


class _Problem(Exception):
    def __init__(self, where: str, what: str, todo: str) -> None:
        super().__init__(f"{where} {what}. {todo}")


def _entries(content: Mapping[str, Any], kind: str, read: Any) -> Iterator[WrittenEntry]:
    listed = content.get(kind, [])
    if not _are_tables(listed):
        raise _Problem("the file", f"has a `{kind}` that is not a list of tables", f"Begin each with [[{kind}]]")
    for number, entry in enumerate(listed, start=1):
        yield read(entry, f"{kind} {number}")


def _request(entry: Mapping[str, Any], where: str) -> WrittenEntry:
    if isinstance(text := entry.get("text"), str):
        where += f" ({quoted(text)})"
    _only(entry, {"class", "reference", "text", "wants", "expect"}, where)
    turn = _turn({key: entry[key] for key in ("text", "wants", "expect") if key in entry}, where, 1)
    return WrittenEntry(_text(entry, "class", where), _said(entry, "reference", where), (turn,), where)


def _dialogue(entry: Mapping[str, Any], where: str) -> WrittenEntry:
    _only(entry, {"class", "reference", "turn"}, where)
    turns = entry.get("turn", [])
    if not turns or not _are_tables(turns):
        raise _Problem(where, "has no turns", "Write each as [[dialogue.turn]]")
    name = _text(entry, "class", where) if "class" in entry else "dialogue"
    read = tuple(_turn(turn, f"{where}, turn {number}", number) for number, turn in enumerate(turns, start=1))
    return WrittenEntry(name, _said(entry, "reference", where), read, where, is_dialogue=True)


def _turn(entry: Mapping[str, Any], where: str, number: int) -> WrittenTurn:
    _only(entry, {"text", "wants", "expect", "act", "shows"}, where)
    text = _text(entry, "text", where)
    try:
        clean_text(text)
    except SearchError as error:
        raise _Problem(where, "has a `text` that cannot be searched for", str(error).rstrip(".")) from None
    wants, shows = _said(entry, "wants", where, as_reference=True), entry.get("shows")
    act, expect = (_text(entry, key, where) if key in entry else "" for key in ("act", "expect"))
    if expect and expect not in EXPECTED:
        raise _Problem(where, f"has expect = {quoted(expect)}", f"Write one of {', '.join(EXPECTED)}")
    if act and act != OTHER:
        if type(shows) is not int or not 0 <= shows < number:
            raise _Problem(where, f"has no earlier turn that act = {quoted(act)} goes back to",
                           f"Add shows = 0 (before any turn) to {number - 1}")
    elif shows is not None:
        raise _Problem(where, "has `shows` without an act that goes back", 'Add one, such as act = "undo"')
    if not (wants or expect or shows is not None):
        raise _Problem(where, "says nothing of its answer", "Add `wants`, or `expect` for a vague one")
    return WrittenTurn(text, wants, expect, act, shows)


def _said(entry: Mapping[str, Any], key: str, where: str, *, as_reference: bool = False) -> dict[str, str]:
    said = entry.get(key, {})
    if not isinstance(said, dict):
        raise _Problem(where, f"has a `{key}` that is not a table", f'Write it as {key} = {{colour = "red"}}')
    for group, value in said.items():
        if group not in BY_KEY:
            raise _Problem(where, f"has `{key}` of {quoted(group)}", f"The attributes are {', '.join(BY_KEY)}")
        values = str(value).removeprefix("!").split("|") if isinstance(value, str) else [""]
        known = (*BY_KEY[group].keys, *([_AS_REFERENCE] if as_reference else []))
        if unknown := [one for one in values if one not in known]:
            raise _Problem(where, f"has {group} = {quoted(value)} in `{key}`, but no {group} is {quoted(unknown[0])}",
                           f"There are {', '.join(known)}")
        if not as_reference and not _values(group, value, {}):
            raise _Problem(where, f"leaves no {group} in `{key}`", "Name fewer after the !")
    return said


def _values(group: str, value: str, reference: Attributes) -> frozenset[str]:
    named = value.removeprefix("!").split("|")
    values = frozenset(reference[group] if one == _AS_REFERENCE else one for one in named)
    return frozenset(BY_KEY[group].keys) - values if value.startswith("!") else values


def _text(entry: Mapping[str, Any], key: str, where: str) -> str:
    if not isinstance(value := entry.get(key), str) or not value.strip():
        raise _Problem(where, f"has no `{key}`", f'Add {key} = "…"')
    return value.strip()


def _only(entry: Mapping[str, Any], keys: set[str], where: str) -> None:
    if unknown := sorted(entry.keys() - keys):
        raise _Problem(where, f"has the key {quoted(unknown[0])}", f"There are {', '.join(sorted(keys))}")


def _are_tables(listed: object) -> bool:
    return isinstance(listed, Sequence) and all(isinstance(one, dict) for one in listed)
