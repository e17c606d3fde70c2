"""Final labels of the items of a study. Counts of the validated subset, as in CIRCUS's Table 2.

A judgement is a vote if its ``validated`` is not null; unsure ones and those without a verdict are not.
``majority`` (CIRCUS's page): the verdict of strictly more than half of the votes. A tie is undecided, never counts as
valid, and usually needs a decision. ``single_kept`` (the code of CIRCUS's release): one annotation is kept per item,
the first vote in order of seats. With one annotator per item both rules agree. An adjudicator's decision overrides
either rule; released files have none, so parity with the release is unaffected.

``validated_solved`` are valid queries that need both inputs (``composition_required``), ``validated_unsolved`` valid
ones that no retriever solved (``unresolved``). Queries of another or unknown category count as "other", so that the
columns always add up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from annotation.kinds.validity.rubric import INVALID_REASONS_DIFFER, INVALID_UNSPECIFIED, UNLABELLED, Rubric
from annotation.records import Decision, Item, Judgement, by_item, category_of, dataset_of

LabelRule = Literal["majority", "single_kept"]
By = Literal["adjudicated", "majority", "single", "undecided", "none"]
"""Basis of a label. "undecided" is a tie, "none" an item without votes."""


@dataclass(frozen=True)
class Votes:
    valid: int = 0
    invalid: int = 0
    unlabelled: int = 0      # judgements without a verdict: unsure, or null in released files


@dataclass(frozen=True)
class FinalLabel:
    """One item's label. ``validated`` is None for "undecided" and "none"."""

    item_id: str
    validated: bool | None
    flags: tuple[str, ...]   # most severe first; () unless invalid
    reasons: tuple[str, ...]
    primary: str             # VALIDATED, the most severe flag, INVALID_REASONS_DIFFER, INVALID_UNSPECIFIED, UNLABELLED
    votes: Votes
    by: By
    reasons_differ: tuple[str, ...] = ()   # flags with reasons, but without a majority reason
    kept: str | None = None  # annotator, if it is one person's judgement: the only vote, or the kept one


def final_labels(
    items: Iterable[Item], judgements: Iterable[Judgement], decisions: Iterable[Decision] = (),
    rule: LabelRule = "majority", *, rubric: Rubric,
) -> Mapping[str, FinalLabel]:
    """Final label of each item, by item id, in the order of ``items``.

    Args:
        judgements: current ones, by item and seat, as of :meth:`StudyStore.judgements`.
        rubric: the study's, which defines the order of severity.

    Under ``majority`` an invalid item has the flags of more than half of its invalid votes, and of these the reasons
    of more than half of them; a flag without a majority reason is in ``reasons_differ``. So an item may be invalid
    without a common flag: its category is then ``INVALID_REASONS_DIFFER``, or ``INVALID_UNSPECIFIED`` if no vote has a
    flag. It needs a decision as "flags". Decisions without a verdict are ignored.
    """
    votes, decided = by_item(judgements), _verdicts(decisions)
    return {item.item_id: _label(item.item_id, votes.get(item.item_id, []), decided.get(item.item_id), rule, rubric)
            for item in items}


def _label(
    item_id: str, judged: Sequence[Judgement], decision: Decision | None, rule: LabelRule, rubric: Rubric,
) -> FinalLabel:
    voters = [judgement for judgement in judged if judgement.answer.get("validated") is not None]
    valid = sum(bool(judgement.answer["validated"]) for judgement in voters)
    counts = Votes(valid, len(voters) - valid, len(judged) - len(voters))
    kept = voters[0].annotator if voters and (rule == "single_kept" or len(voters) == 1) else None

    def label(by: By, validated: bool | None, of: Sequence[Mapping[str, Any]], kept: str | None = None) -> FinalLabel:
        flags = rubric.by_severity(_common(of, "flags")) if validated is False else ()
        reasons = tuple(code for code in sorted(_common(of, "reasons")) if _flag_of(code, rubric) in flags)
        given = {_flag_of(code, rubric) for answer in of for code in answer.get("reasons", ())}
        with_reason = {_flag_of(code, rubric) for code in reasons}
        differ = tuple(flag for flag in flags if flag in given - with_reason)
        category = rubric.category(validated, flags)
        if category == INVALID_UNSPECIFIED and any(rubric.by_severity(answer.get("flags", ())) for answer in of):
            category = INVALID_REASONS_DIFFER
        return FinalLabel(item_id, validated, flags, reasons, category, counts, by, differ, kept)

    if decision is not None:
        return label("adjudicated", bool(decision.answer["validated"]), [decision.answer])
    if not voters:
        return label("none", None, [])
    if rule == "single_kept":
        return label("single", bool(voters[0].answer["validated"]), [voters[0].answer], kept)
    if valid * 2 == len(voters):
        return label("undecided", None, [])
    validated = valid * 2 > len(voters)
    return label("majority", validated, [v.answer for v in voters if bool(v.answer["validated"]) == validated], kept)


def _common(answers: Sequence[Mapping[str, Any]], field: str) -> list[str]:
    """Values of ``field`` in more than half of the answers."""
    counts = Counter(code for answer in answers for code in set(answer.get(field, ())))
    return [code for code, count in counts.items() if count * 2 > len(answers)]


def _flag_of(reason: str, rubric: Rubric) -> str | None:
    found = rubric.reason(reason)
    return found[0].code if found else None


def _verdicts(decisions: Iterable[Decision]) -> dict[str, Decision]:
    """The latest decision with a verdict, per item."""
    latest: dict[str, Decision] = {}
    for decision in sorted(decisions, key=lambda decision: decision.revision):
        latest[decision.item_id] = decision
    return {item_id: of for item_id, of in latest.items() if of.answer.get("validated") is not None}


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
