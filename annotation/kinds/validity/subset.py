"""Counts of the validated subset, as in CIRCUS's Table 2.

``validated_solved`` are valid queries that need both inputs (``composition_required``), ``validated_unsolved`` valid
ones that no retriever solved (``unresolved``). Queries of another or unknown category count as "other", so that the
columns always add up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation.kinds.validity.labels import FinalLabel
from annotation.kinds.validity.rubric import INVALID_REASONS_DIFFER, INVALID_UNSPECIFIED, UNLABELLED, Rubric
from annotation.records import Item, category_of, dataset_of

TOTAL = "Total"
SOLVED, UNSOLVED = "composition_required", "unresolved"


@dataclass(frozen=True)
class SubsetRow:
    """Counts of one data set. "Audited" are all its items in the study, judged or not.

    ``primary`` has every category of the rubric, INVALID_REASONS_DIFFER and INVALID_UNSPECIFIED, including zeros: with
    ``unlabelled`` and ``undecided`` they add up to ``audited``. ``flags`` counts each flag that is set, so that an item
    may count several times; ``reasons`` likewise. ``reasons_differ`` has, for each flag that needs a reason, the items
    whose annotators agree on the flag but on no reason.
    """

    dataset: str
    audited_required: int
    validated_solved: int
    audited_unresolved: int
    validated_unsolved: int
    audited_other: int
    validated_other: int
    unlabelled: int          # without votes
    undecided: int           # a tie
    adjudicated: int         # decided by an adjudicator
    primary: Mapping[str, int]
    flags: Mapping[str, int]
    reasons: Mapping[str, int]
    reasons_differ: Mapping[str, int]

    @property
    def audited(self) -> int:
        return self.audited_required + self.audited_unresolved + self.audited_other

    @property
    def validated(self) -> int:
        """Table 2's "total validated"."""
        return self.validated_solved + self.validated_unsolved + self.validated_other


@dataclass(frozen=True)
class Subset:
    rows: tuple[SubsetRow, ...]   # by data set, in order of first occurrence
    total: SubsetRow


def count_subset(items: Iterable[Item], labels: Mapping[str, FinalLabel], *, rubric: Rubric) -> Subset:
    """Table 2 of ``labels`` (:func:`annotation.kinds.validity.labels.final_labels`), which must have every item."""
    items = list(items)
    of: dict[str, list[Item]] = {}
    for item in items:
        of.setdefault(dataset_of(item), []).append(item)
    return Subset(tuple(_row(name, found, labels, rubric) for name, found in of.items()),
                  _row(TOTAL, items, labels, rubric))


def _row(name: str, items: Sequence[Item], labels: Mapping[str, FinalLabel], rubric: Rubric) -> SubsetRow:
    audited: Counter[str] = Counter()
    validated: Counter[str] = Counter()
    for item in items:
        category = category_of(item)
        part = category if category in (SOLVED, UNSOLVED) else "other"
        audited[part] += 1
        validated[part] += labels[item.item_id].validated is True
    found = [labels[item.item_id] for item in items]
    primary = Counter(label.primary for label in found)
    flags = Counter(flag for label in found for flag in label.flags)
    reasons = Counter(reason for label in found for reason in label.reasons)
    differ = Counter(flag for label in found for flag in label.reasons_differ)
    codes = [flag.code for flag in rubric.flags]
    return SubsetRow(
        name, audited[SOLVED], validated[SOLVED], audited[UNSOLVED], validated[UNSOLVED], audited["other"],
        validated["other"], primary[UNLABELLED] - (ties := sum(label.by == "undecided" for label in found)), ties,
        sum(label.by == "adjudicated" for label in found),
        {code: primary[code] for code in (rubric.valid.code, *codes, INVALID_REASONS_DIFFER, INVALID_UNSPECIFIED)},
        {code: flags[code] for code in codes},
        {reason.code: reasons[reason.code] for flag in rubric.flags for reason in flag.reasons},
        {flag.code: differ[flag.code] for flag in rubric.flags if flag.reasons})
