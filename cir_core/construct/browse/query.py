"""Which sessions, or queries with targets, of a construction are looked at, and in which order; what the filters or a
threshold make of all of them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from cir_core.construct.browse.sessions import BrowsedSession, BrowsedSessions
from cir_core.construct.browse.targets import BrowsedQuery
from cir_core.construct.filtering.stages import STAGES, Dropped, FilterSettings
from cir_core.construct.judging.scores import DIMENSIONS, JudgedSession
from cir_core.construct.targets.provenance import TargetCounts
from cir_core.construct.targets.settings import LEAST_TARGETS, THRESHOLD

SHOWN = ("all", "kept", *STAGES)
SORTS = ("constructed", "turns", "rank", "regression", "similarity", *DIMENSIONS)
TARGETS_SHOWN = ("all", "with", "without", "several", "lost")
"""All queries; those with targets, without; with three targets and more; those whose original target is none."""
TARGET_SORTS = ("constructed", "targets", "lowest", "original")
"""As constructed, by the number of targets, the lowest confidence of a target, the original target's confidence."""

Judged = Mapping[int, JudgedSession]
"""Scores by the session's number."""
_Thing = TypeVar("_Thing", BrowsedSession, BrowsedQuery)


@dataclass(frozen=True, kw_only=True)
class PageQuery:
    """``subset``: "" for all. ``text``: words that all occur in a thing's texts or ids."""

    subset: str = ""
    show: str = "all"
    text: str = ""
    sort: str = "constructed"
    descending: bool = False
    offset: int = 0
    limit: int = 20

    def select(
        self, things: Sequence[_Thing], is_shown: Callable[[_Thing], bool], key: Callable[[_Thing], float | None]
    ) -> tuple[list[_Thing], list[_Thing]]:
        """Those of the subset; and of them those that match, by ``key``: those without a value last, and of equal ones
        the first first."""
        terms = self.text.casefold().split()
        members = [one for one in things if not self.subset or one.subset == self.subset]
        matching = [one for one in members if is_shown(one) and all(term in one.words for term in terms)]
        if self.sort == "constructed" and not self.descending:
            return members, matching
        valued = [(value, one) for one in matching if (value := key(one)) is not None]
        ordered = sorted(valued, key=lambda pair: (-pair[0] if self.descending else pair[0], pair[1].number))
        return members, [one for _, one in ordered] + [one for one in matching if key(one) is None]

    def page(self, matching: Sequence[_Thing]) -> Sequence[_Thing]:
        return matching[self.offset:self.offset + self.limit]


@dataclass(frozen=True)
class SessionQuery(PageQuery):
    """``show``: one of :data:`SHOWN`; ``sort`` of :data:`SORTS`."""

    settings: FilterSettings = FilterSettings()


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
    members, matching = query.select(found.sessions, lambda one: _is_shown(verdicts[one.number], query.show),
                                     _key(query.sort, judged))
    removed: Counter[str] = Counter(verdict.stage for one in members if (verdict := verdicts[one.number]) is not None)
    scored = [judged[one.number] for one in matching if one.number in judged]
    means = {name: float(np.mean([one.scores[name] for one in scored])) for name in DIMENSIONS} if scored else {}
    return SessionPage(len(matching), len(members), [(one, verdicts[one.number]) for one in query.page(matching)],
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


@dataclass(frozen=True)
class TargetQuery(PageQuery):
    """``show``: one of :data:`TARGETS_SHOWN`; ``sort`` of :data:`TARGET_SORTS`."""

    threshold: float = THRESHOLD


@dataclass(frozen=True)
class TargetPage:
    """``total`` queries match; ``shown`` are those of the page. ``most``: scored candidates of a query, at most: the
    end of the axis of histograms at all thresholds."""

    total: int
    summary: TargetCounts
    shown: Sequence[BrowsedQuery]
    most: int


def find_queries(queries: Sequence[BrowsedQuery], query: TargetQuery) -> TargetPage:
    """The page of ``query``."""
    members, matching = query.select(queries, lambda one: _is_shown_query(one, query), _query_key(query))
    return TargetPage(len(matching), summary_of(members, query.threshold), query.page(matching),
                      max((len(one.confidences) for one in members), default=0))


def summary_of(queries: Sequence[BrowsedQuery], threshold: float) -> TargetCounts:
    return TargetCounts(len(queries), Counter(one.targets(threshold) for one in queries),
                        sum(one.loses_original(threshold) for one in queries))


def _is_shown_query(one: BrowsedQuery, query: TargetQuery) -> bool:
    if query.show == "all":
        return True
    if query.show == "lost":
        return one.loses_original(query.threshold)
    number = one.targets(query.threshold)
    return number == 0 if query.show == "without" else number >= (LEAST_TARGETS if query.show == "several" else 1)


def _query_key(query: TargetQuery) -> Callable[[BrowsedQuery], float | None]:
    keys: dict[str, Callable[[BrowsedQuery], float | None]] = {
        "constructed": lambda one: one.number, "targets": lambda one: one.targets(query.threshold),
        "lowest": lambda one: one.lowest(query.threshold), "original": lambda one: one.original,
    }
    return keys[query.sort]
