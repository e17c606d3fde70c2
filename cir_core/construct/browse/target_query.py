"""Which queries with targets are looked at, in which order, and what a threshold makes of all of them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cir_core.construct.browse.query import PageQuery
from cir_core.construct.browse.targets import BrowsedQuery
from cir_core.construct.targets.settings import LEAST_TARGETS, THRESHOLD

TARGETS_SHOWN = ("all", "with", "without", "several", "lost")
"""All queries; those with targets, without; with three targets and more; those whose original target is none."""
TARGET_SORTS = ("constructed", "targets", "lowest", "original")
"""As constructed, by the number of targets, the lowest confidence of a target, the original target's confidence."""


@dataclass(frozen=True)
class TargetQuery(PageQuery):
    """``show``: one of :data:`TARGETS_SHOWN`; ``sort`` of :data:`TARGET_SORTS`."""

    threshold: float = THRESHOLD


@dataclass(frozen=True)
class TargetSummary:
    """Of all queries of a subset. ``kept`` have a target, ``rewritable`` three or more; ``without_original``: kept, but
    the data set's own target is none. ``by_targets``: number of targets to number of queries, from 0."""

    queries: int
    by_targets: Mapping[int, int]
    without_original: int

    @property
    def kept(self) -> int:
        return self.queries - self.by_targets.get(0, 0)

    @property
    def targets(self) -> int:
        return sum(number * count for number, count in self.by_targets.items())

    @property
    def mean(self) -> float | None:
        """Of the queries with targets, as SoFT counts them; None if there are none."""
        return self.targets / self.kept if self.kept else None

    @property
    def rewritable(self) -> int:
        return sum(count for number, count in self.by_targets.items() if number >= LEAST_TARGETS)


@dataclass(frozen=True)
class TargetPage:
    """``total`` queries match; ``shown`` are those of the page. ``most``: scored candidates of a query, at most: the
    end of the axis of histograms at all thresholds."""

    total: int
    summary: TargetSummary
    shown: Sequence[BrowsedQuery]
    most: int


def find_queries(queries: Sequence[BrowsedQuery], query: TargetQuery) -> TargetPage:
    """The page of ``query``."""
    members, matching = query.select(queries, lambda one: _is_shown(one, query), _key(query))
    return TargetPage(len(matching), summary_of(members, query.threshold),
                      query.page(matching),
                      max((len(one.confidences) for one in members), default=0))


def summary_of(queries: Sequence[BrowsedQuery], threshold: float) -> TargetSummary:
    numbers = Counter(one.targets(threshold) for one in queries)
    return TargetSummary(len(queries), dict(sorted(numbers.items())),
                         sum(one.loses_original(threshold) for one in queries))


def _is_shown(one: BrowsedQuery, query: TargetQuery) -> bool:
    if query.show == "all":
        return True
    if query.show == "lost":
        return one.loses_original(query.threshold)
    number = one.targets(query.threshold)
    return number == 0 if query.show == "without" else number >= (LEAST_TARGETS if query.show == "several" else 1)


def _key(query: TargetQuery) -> Callable[[BrowsedQuery], float | None]:
    keys: dict[str, Callable[[BrowsedQuery], float | None]] = {
        "constructed": lambda one: one.number, "targets": lambda one: one.targets(query.threshold),
        "lowest": lambda one: one.lowest(query.threshold), "original": lambda one: one.original,
    }
    return keys[query.sort]
