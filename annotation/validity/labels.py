"""What a study says of each item in the end, and which items an adjudicator should see.

A judgement is a vote if its ``validated`` is not null; unsure ones and those without a verdict are none.

``majority`` (CIRCUS's page): valid or not is what strictly more than half of the votes say. A tie is undecided, counts
as valid nowhere, and goes to the queue. ``single_kept`` (the code of CIRCUS's release): one annotation is kept for
each item, the first vote in order of seats. Where one person judged each item both rules agree. An adjudicator's
decision comes before either rule; released files have none, so parity with the release is not touched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from annotation.records import Decision, Item, Judgement
from annotation.validity.answers import signature
from annotation.validity.rubric import Rubric

LabelRule = Literal["majority", "single_kept"]
By = Literal["adjudicated", "majority", "single", "undecided", "none"]
"""What a label rests on. "undecided" is a tie, "none" an item that nobody has voted on."""
Why = Literal["unsure", "tie", "split", "flags"]
"""Why an item is in the queue; see :func:`queue`."""
WHYS: tuple[Why, ...] = ("unsure", "tie", "split", "flags")


@dataclass(frozen=True)
class Votes:
    valid: int = 0
    invalid: int = 0
    unlabelled: int = 0      # judgements without a verdict: unsure ones, and null ones of released files


@dataclass(frozen=True)
class FinalLabel:
    """One item's label. ``validated`` is None for "undecided" and "none"."""

    item_id: str
    validated: bool | None
    flags: tuple[str, ...]   # the most severe first; () unless it is invalid
    reasons: tuple[str, ...]
    primary: str             # VALIDATED, the most severe flag, INVALID_UNSPECIFIED or UNLABELLED
    votes: Votes
    by: By
    reasons_differ: tuple[str, ...] = ()   # those of ``flags`` for which reasons were given, but none by most
    kept: str | None = None  # whose judgement it is, where it is one person's: the only vote, or the kept one


@dataclass(frozen=True)
class Case:
    """An item for the adjudicator. ``decided``: there is a decision already."""

    item_id: str
    why: Why
    decided: bool


def final_labels(
    items: Iterable[Item], judgements: Iterable[Judgement], decisions: Iterable[Decision] = (),
    rule: LabelRule = "majority", *, rubric: Rubric,
) -> Mapping[str, FinalLabel]:
    """A label for each item, by item id, in the order of ``items``.

    Args:
        judgements: what counts now, by item and seat, as :meth:`StudyStore.judgements` gives it.
        rubric: the study's own, whose order of severity counts.

    Under ``majority`` an invalid item has the flags that more than half of its invalid votes set, and of these the
    reasons that more than half of them gave; a flag whose reasons they differ on is in ``reasons_differ``. So an item
    may be invalid without any flag all agree on; the queue has
    it as "flags". A decision that gives no verdict is passed over.
    """
    votes, decided = _by_item(judgements), _verdicts(decisions)
    return {item.item_id: _label(item.item_id, votes.get(item.item_id, []), decided.get(item.item_id), rule, rubric)
            for item in items}


def queue(
    items: Iterable[Item], judgements: Iterable[Judgement], decisions: Iterable[Decision] = (), *,
    rubric: Rubric,
) -> list[Case]:
    """Items an adjudicator should see, the most pressing first: undecided before decided ones, then by why, then in
    the order of ``items``. Each item once, under the first that holds:

    - "unsure": somebody left it to the adjudicator
    - "tie": as many votes for valid as for invalid
    - "split": votes on both sides, but more on one
    - "flags": all votes say invalid, for different flags
    """
    votes, decided = _by_item(judgements), _verdicts(decisions)
    cases = [Case(item.item_id, why, item.item_id in decided) for item in items
             if (why := _why(votes.get(item.item_id, []), rubric)) is not None]
    return sorted(cases, key=lambda case: (case.decided, WHYS.index(case.why)))


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
        settled = {_flag_of(code, rubric) for code in reasons}
        differ = tuple(flag for flag in flags if flag in given - settled)
        return FinalLabel(item_id, validated, flags, reasons, rubric.category(validated, flags), counts, by, differ,
                          kept)

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


def _why(judged: Sequence[Judgement], rubric: Rubric) -> Why | None:
    if any(judgement.answer.get("unsure") for judgement in judged):
        return "unsure"
    signatures = [found for judgement in judged if (found := signature(judgement.answer, rubric)) is not None]
    valid = signatures.count((rubric.valid.code,))
    if 0 < valid < len(signatures):
        return "tie" if valid * 2 == len(signatures) else "split"
    return "flags" if len(set(signatures)) > 1 else None


def _common(answers: Sequence[Mapping[str, Any]], field: str) -> list[str]:
    """What more than half of the answers have in ``field``."""
    counts = Counter(code for answer in answers for code in set(answer.get(field, ())))
    return [code for code, count in counts.items() if count * 2 > len(answers)]


def _flag_of(reason: str, rubric: Rubric) -> str | None:
    found = rubric.reason(reason)
    return found[0].code if found else None


def _by_item(judgements: Iterable[Judgement]) -> dict[str, list[Judgement]]:
    found: dict[str, list[Judgement]] = {}
    for judgement in judgements:
        found.setdefault(judgement.item_id, []).append(judgement)
    return found


def _verdicts(decisions: Iterable[Decision]) -> dict[str, Decision]:
    """The latest decision on each item that gives a verdict."""
    latest: dict[str, Decision] = {}
    for decision in sorted(decisions, key=lambda decision: decision.revision):
        latest[decision.item_id] = decision
    return {item_id: of for item_id, of in latest.items() if of.answer.get("validated") is not None}
