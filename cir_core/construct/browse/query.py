"""Which sessions of a construction are looked at, in which order, and the waterfall of its filters. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from cir_core.construct.browse.sessions import BrowsedSession, BrowsedSessions
from cir_core.construct.filtering.stages import STAGES, Dropped, FilterSettings
from cir_core.construct.judging.scores import DIMENSIONS, JudgedSession

SHOWN = ("all", "kept", *STAGES)
SORTS = ("constructed", "turns", "rank", "regression", "similarity", *DIMENSIONS)
Judged = Mapping[int, JudgedSession]
"""Scores by the session's number."""


class _Numbered(Protocol):
    @property
    def number(self) -> int: ...


_Thing = TypeVar("_Thing", bound=_Numbered)


@dataclass(frozen=True)
class SessionQuery:
    """``subset``: "" for all. ``show``: one of :data:`SHOWN`; ``sort`` of :data:`SORTS`. ``text``: words that all occur
    in a session's texts or ids."""

    settings: FilterSettings = FilterSettings()
    subset: str = ""
    show: str = "all"
    text: str = ""
    sort: str = "constructed"
    descending: bool = False
    offset: int = 0
    limit: int = 20


@dataclass(frozen=True)
class Stage:
    """``removed`` by this stage, ``left`` after it."""

    name: str
    removed: int
    left: int


@dataclass(frozen=True)
class SessionPage:
    """``total`` sessions match; ``shown`` are those of the page, each with why it is dropped. ``waterfall`` is of the
    subset, ``means`` of the judged sessions that match: dimension to mean, with their number ``judged``."""

    total: int
    sessions: int
    shown: Sequence[tuple[BrowsedSession, Dropped | None]]
    waterfall: Sequence[Stage]
    judged: int
    means: Mapping[str, float]


def find_sessions(found: BrowsedSessions, query: SessionQuery, judged: Judged) -> SessionPage:
    """The page of ``query``."""
    verdicts = found.verdicts(query.settings)
    members = [one for one in found.sessions if not query.subset or one.subset == query.subset]
    removed: Counter[str] = Counter(verdict.stage for one in members if (verdict := verdicts[one.number]) is not None)
    matching = [one for one in members if _is_shown(verdicts[one.number], query.show)]
    if terms := query.text.casefold().split():
        matching = [one for one in matching if all(term in one.words for term in terms)]
    scored = [judged[one.number] for one in matching if one.number in judged]
    if query.sort != "constructed" or query.descending:
        matching = in_order(matching, _key(query.sort, judged), descending=query.descending)
    page = matching[query.offset:query.offset + query.limit]
    means = {name: float(np.mean([one.scores[name] for one in scored])) for name in DIMENSIONS} if scored else {}
    return SessionPage(len(matching), len(members), [(one, verdicts[one.number]) for one in page],
                       _waterfall(len(members), removed), len(scored), means)


def _waterfall(sessions: int, removed: Mapping[str, int]) -> list[Stage]:
    stages, left = [], sessions
    for name in STAGES:
        left -= removed.get(name, 0)
        stages.append(Stage(name, removed.get(name, 0), left))
    return stages


def _is_shown(verdict: Dropped | None, show: str) -> bool:
    return show == "all" or (verdict is None if show == "kept" else verdict is not None and verdict.stage == show)


Key = Callable[[BrowsedSession], float | None]


def _key(sort: str, judged: Judged) -> Key:
    keys: dict[str, Key] = {
        "constructed": lambda one: one.number, "turns": lambda one: len(one.result.turns),
        "rank": lambda one: one.ranks[-1] if one.ranks else None,
        "regression": lambda one: one.setback if len(one.ranks) > 1 else None,
        "similarity": lambda one: one.similarity,
    }
    if sort in keys:
        return keys[sort]
    return lambda one: judged[one.number].scores[sort] if one.number in judged else None


def in_order(things: Sequence[_Thing], key: Callable[[_Thing], float | None], *, descending: bool) -> list[_Thing]:
    """By ``key``; those without a value last, and of equal ones the first first."""
    valued = [(value, one) for one in things if (value := key(one)) is not None]
    ordered = sorted(valued, key=lambda pair: (-pair[0] if descending else pair[0], pair[1].number))
    return [one for _, one in ordered] + [one for one in things if key(one) is None]
