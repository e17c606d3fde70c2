"""Records of queries to judge, common to all sources. Reproducible stratified sampling."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.records import CaptionMode
from cir_core.errors import DatasetError, StudyError
from cir_core.support.texts import quoted

Picture = Path | Callable[[], Path | bytes]
FindPicture = Callable[[str], Picture | None]
"""Image id to its file, or None if missing."""

SHORTCUT = "shortcut_solvable"
UNKNOWN = "unknown"
LISTED = 20   # maximum of listed faults; a broken export has the same one on every line


@dataclass(frozen=True)
class StudyQuery:
    """A query. ``panel``: results of the retrievers with both inputs, in order of retrieval, as shown to CIRCUS's
    annotators. ``in_turn``: the retrievers' results interleaved and deeper, from which an item's panel is filled
    (:mod:`annotation.sources.pictures`); empty if only ``panel`` is known."""

    key: str                       # "cirr::5": data set and line, or defined by the source; unique in a study
    dataset: str
    query_idx: int                 # index in the source, from 0
    query_id: str | None
    hidden_category: str           # the audit's label; "unknown" without one
    text: str
    reference_id: str
    target_id: str                 # the one that is shown
    target_ids: tuple[str, ...]
    panel: tuple[str, ...] = ()
    trace: Mapping[str, Any] = field(default_factory=dict, repr=False)   # CIRCUS's trace fields, as given
    caption_mode: CaptionMode | None = None                              # None: unknown
    in_turn: tuple[str, ...] = ()

    @property
    def stratum(self) -> str:
        return f"{self.dataset}::{self.hidden_category}"


@dataclass(frozen=True)
class QuerySource:
    """Queries of a source. ``source`` describes it in plain JSON, without local paths."""

    queries: Sequence[StudyQuery]
    find_picture: FindPicture = field(repr=False)
    source: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def refuse(faults: ValidationIssues, what: str, *, listed: int = LISTED) -> None:
    """Raises ``DatasetError`` with the number of faults and the first of them, if there are any."""
    if not faults.count:
        return
    shown = faults.found[:listed]
    lines = "\n".join(f"  {fault}" for fault in shown)
    more = f"\n  and {faults.count - len(shown):,} more" if faults.count > len(shown) else ""
    number = "One fault" if faults.count == 1 else f"{faults.count:,} faults"
    raise DatasetError(f"{number} in {what}; nothing was created or changed.\n{lines}{more}")


def mode_of(cards: Any) -> CaptionMode | None:
    """The common caption mode of an audit's run cards; None if missing or different."""
    named = {str(card.get("caption_mode")) if isinstance(card, Mapping) else None
             for card in (cards if isinstance(cards, list) else ())}
    return next((mode for mode in get_args(CaptionMode) if named == {mode}), None)


class Keys:
    """Detects duplicate queries."""

    def __init__(self, path: Path, faults: ValidationIssues) -> None:
        self._path, self._faults = path, faults
        self._seen: dict[str, str] = {}

    def new(self, key: str, where: str) -> bool:
        if (first := self._seen.setdefault(key, where)) == where:
            return True
        self._faults.add(self._path, where, f"the query {quoted(key)} is also in {first}", "Keep one of the two")
        return False


def of_categories(queries: Iterable[StudyQuery], categories: Collection[str], *, free_only: bool) -> list[StudyQuery]:
    """Filter queries by hidden category; without categories, all queries, or with ``free_only`` the shortcut-free ones.
    Raises ``StudyError`` for a category without queries, with a list of the categories."""
    found = list(queries)
    counts = Counter(query.hidden_category for query in found)
    there = ", ".join(f"{name} ({count:,})" for name, count in sorted(counts.items())) or "no query at all"
    if unknown := sorted(set(categories) - set(counts)):
        raise StudyError(f"No query has the category {quoted(unknown[0])}. There are: {there}.")
    kept = [query for query in found if (query.hidden_category in categories if categories
                                         else not free_only or query.hidden_category != SHORTCUT)]
    if not kept:
        raise StudyError(f"No query is left to judge. There are: {there}. Name categories with --category.")
    return kept


Stratify = Literal["hidden_category", "dataset", "none"]
_One = TypeVar("_One")


def sample(queries: Sequence[StudyQuery], size: int | None, stratify: Stratify, seed: int) -> list[StudyQuery]:
    """Sample ``size`` queries, in source order; None: all.

    Strata get equal numbers where possible, not in proportion, as in CIRCUS (1,000 queries that need
    composition and 1,000 that no retriever solves). With "hidden_category" a stratum is a category of one
    data set. Raises ``StudyError`` if there are too few queries.
    """
    if size is None:
        return list(queries)
    if not 0 < size <= len(queries):
        raise StudyError(f"Cannot sample {size:,} of {len(queries):,} queries. Choose 1 to {len(queries):,}.")
    stratum: Callable[[StudyQuery], str] = {
        "hidden_category": lambda query: query.stratum, "dataset": lambda query: query.dataset,
        "none": lambda query: "",
    }[stratify]
    return spread(queries, size, stratum=stratum, key=lambda query: query.key, seed=seed, purpose="sample")


def spread(
    things: Sequence[_One], size: int, *, stratum: Callable[[_One], str], key: Callable[[_One], str], seed: int,
    purpose: str,
) -> list[_One]:
    """Sample ``size`` of ``things``, in their order, with equal numbers per stratum where possible.

    The sample depends only on seed, purpose and keys, not on the order of the source; within a stratum, a
    larger sample contains the smaller one.
    """
    def drawn(thing: _One) -> bytes:
        return hashlib.sha256(f"{seed}\n{purpose}\n{key(thing)}".encode()).digest()

    strata: dict[str, list[_One]] = {}
    for thing in sorted(things, key=drawn):
        strata.setdefault(stratum(thing), []).append(thing)
    quota = quotas({name: len(of) for name, of in strata.items()}, size)
    taken = {key(thing) for name, of in strata.items() for thing in of[:quota[name]]}
    return [thing for thing in things if key(thing) in taken]


def quotas(available: dict[str, int], size: int) -> dict[str, int]:
    """Sample size per stratum: equal, except that the shortfall of small strata goes to the others, and remainders to
    the larger ones. The sum is ``size``, or all available."""
    quota: dict[str, int] = {}
    left = min(size, sum(available.values()))
    # Smallest first, so that its shortfall is known before the others are allocated.
    for number, name in enumerate(sorted(available, key=lambda name: (available[name], name))):
        quota[name] = min(available[name], left // (len(available) - number))
        left -= quota[name]
    return quota
