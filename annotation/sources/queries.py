"""Records of queries to judge, common to all sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.records import CaptionMode
from cir_core.errors import DatasetError, StudyError
from cir_core.support.texts import quoted

FindPicture = Callable[[str], Path | None]
"""Image id to its file, or None if missing."""

SHORTCUT = "shortcut_solvable"
UNKNOWN = "unknown"
LISTED = 20   # maximum of listed faults; a broken export has the same one on every line


@dataclass(frozen=True)
class StudyQuery:
    """A query. ``panel``: results of the retrievers with both inputs, in order of retrieval, as shown to CIRCUS's
    annotators. ``in_turn``: the retrievers' results interleaved and deeper, from which an item's panel is filled
    (:mod:`annotation.sources.panels`); empty if only ``panel`` is known."""

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
