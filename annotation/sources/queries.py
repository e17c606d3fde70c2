"""A query that people can judge, whatever file or session it came from."""

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
"""Image id to its file; None where it is not at hand."""

SHORTCUT = "shortcut_solvable"
UNKNOWN = "unknown"
LISTED = 20   # faults shown to a person; a broken export has the same one on every line


@dataclass(frozen=True)
class StudyQuery:
    """``panel``: what retrievers found with both inputs, in the order of retrieval, as CIRCUS's annotators were shown
    it. ``in_turn``: the same and more, the retrievers' results in turn, of which the panel of an item is made
    (:mod:`annotation.sources.panels`); empty where no more than ``panel`` is known."""

    key: str                       # "cirr::5": data set and line, or the source's own; unique in a study
    dataset: str
    query_idx: int                 # place in the source, from 0
    query_id: str | None
    hidden_category: str           # the audit's label; "unknown" where there was none
    text: str
    reference_id: str
    target_id: str                 # the one that is shown
    target_ids: tuple[str, ...]
    panel: tuple[str, ...] = ()
    trace: Mapping[str, Any] = field(default_factory=dict, repr=False)   # CIRCUS's trace fields, as given
    caption_mode: CaptionMode | None = None                              # None: the source does not say
    in_turn: tuple[str, ...] = ()

    @property
    def stratum(self) -> str:
        return f"{self.dataset}::{self.hidden_category}"


@dataclass(frozen=True)
class QuerySource:
    """``source`` says where the queries are from, in plain JSON without paths of this machine."""

    queries: Sequence[StudyQuery]
    find_picture: FindPicture = field(repr=False)
    source: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def refuse(faults: ValidationIssues, what: str, *, listed: int = LISTED) -> None:
    """Raises ``DatasetError`` with the number of faults and the first of them, if there is one."""
    if not faults.count:
        return
    shown = faults.found[:listed]
    lines = "\n".join(f"  {fault}" for fault in shown)
    more = f"\n  and {faults.count - len(shown):,} more" if faults.count > len(shown) else ""
    number = "One fault" if faults.count == 1 else f"{faults.count:,} faults"
    raise DatasetError(f"{number} in {what}; nothing was made or changed.\n{lines}{more}")


def mode_of(cards: Any) -> CaptionMode | None:
    """The caption mode that all run cards of an audit name; None where they are no cards or name several."""
    named = {str(card.get("caption_mode")) if isinstance(card, Mapping) else None
             for card in (cards if isinstance(cards, list) else ())}
    return next((mode for mode in get_args(CaptionMode) if named == {mode}), None)


class Keys:
    """Notices a query that occurs twice."""

    def __init__(self, path: Path, faults: ValidationIssues) -> None:
        self._path, self._faults = path, faults
        self._seen: dict[str, str] = {}

    def new(self, key: str, where: str) -> bool:
        if (first := self._seen.setdefault(key, where)) == where:
            return True
        self._faults.add(self._path, where, f"the query {quoted(key)} stands in {first} too", "Keep one of the two")
        return False


def of_categories(queries: Iterable[StudyQuery], categories: Collection[str], *, free_only: bool) -> list[StudyQuery]:
    """The queries of these hidden categories; of none named, all, or with ``free_only`` those that
    no retriever solves by a shortcut.

    Raises ``StudyError`` for a category that no query has, with those there are.
    """
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
