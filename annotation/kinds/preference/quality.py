"""Quality measures of the answers to a preference study. For exclusion see
:mod:`annotation.quality.rules`.

Undefined numbers are None: unmeasured seconds, unrecorded sides, marks and checks, agreement without a shared
question.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import fmean, median
from types import MappingProxyType

from annotation.analysis.records import Estimate
from annotation.analysis.statistics.shares import share
from annotation.kinds.preference.answers import contradicts
from annotation.quality.care import RIGHT
from annotation.quality.rules import flagged as flagged
from annotation.records import Assignment, Judgement, Seat, StudyEvent, name_key


@dataclass(frozen=True)
class PersonQuality:
    annotator: str
    answers: int
    checks: int | None               # answers to checks
    failed_checks: int | None        # wrong ones among them
    median_seconds: float | None     # per question
    longest_run: int                 # questions in a row with the same two ratings, in shown order
    run_share: float | None          # of the answers
    contradictions: int              # the preferred set is rated lower
    contradictable: int              # answers with a preference and two different ratings
    first_side: Estimate                  # preferences for the set shown first
    agreement: float | None          # mean share of other people with the same preference, over shared questions
    shared: int                      # questions also answered by others
    flagged: int | None              # results flagged as irrelevant, to image or text
    outcomes: tuple[float, ...] = ()   # scores of gold items, oldest first

    @property
    def contradiction_rate(self) -> float | None:
        return self.contradictions / self.contradictable if self.contradictable else None

    @property
    def gold(self) -> float | None:
        """Mean score of gold items."""
        return fmean(self.outcomes) if self.outcomes else None

    @property
    def one_side(self) -> float | None:
        """Share of preferences for the more frequent side; None if sides are unknown."""
        value = self.first_side.value
        return None if value is None else max(value, 1 - value)


@dataclass(frozen=True)
class SideBias:
    """Position bias: preferences for the set shown first, and for stored set 1, without ties.

    With equal ratings, only the position differs for the person. In a study with balanced sides the stored sets
    are a control: their shares should be even.
    """

    first: Estimate
    first_when_equal: Estimate
    stored: Estimate
    stored_when_equal: Estimate


def people_quality(
    seats: Iterable[Seat], assignments: Iterable[Assignment], judgements: Sequence[Judgement],
    events: Iterable[StudyEvent] = (), outcomes: Mapping[str, Sequence[float]] = MappingProxyType({}),
) -> list[PersonQuality]:
    """Quality of each person with a seat, by seat. ``judgements``: current ones; ``outcomes`` by key of a name. A gold
    item that is answered wrongly counts as a check, too."""
    positions = {(name_key(one.annotator), one.item_id): one.position
                 for one in assignments if one.annotator is not None}
    given: dict[str, list[Judgement]] = defaultdict(list)
    by_item: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        given[name_key(judgement.annotator)].append(judgement)
        by_item[judgement.item_id].append(judgement)
    checks: dict[str, list[bool]] = defaultdict(list)
    for event in events:
        if event.kind == "check":
            checks[name_key(event.annotator)].append(bool(event.payload.get("right")))
    people = []
    for seat in sorted(seats, key=lambda seat: seat.number):
        if seat.annotator is not None:
            person = name_key(seat.annotator)
            # Last: answers without an assignment.
            mine = sorted(given[person], key=lambda one: positions.get((person, one.item_id), len(positions)))
            gold = outcomes.get(person, ())
            found = _person(seat.annotator, mine, by_item, [*checks[person], *(one >= RIGHT for one in gold)])
            people.append(replace(found, outcomes=tuple(gold)))
    return people


def side_bias(judgements: Iterable[Judgement]) -> SideBias:
    decided = [judgement for judgement in judgements if judgement.answer["preferred"] != 0]
    equal = [judgement for judgement in decided if len(set(judgement.answer["ratings"])) == 1]
    return SideBias(_first_side(decided), _first_side(equal), _stored_one(decided), _stored_one(equal))


def _person(
    annotator: str, judgements: Sequence[Judgement], by_item: Mapping[str, Sequence[Judgement]], checks: Sequence[bool],
) -> PersonQuality:
    answers = [judgement.answer for judgement in judgements]
    measured = [judgement.seconds for judgement in judgements if judgement.seconds > 0]
    runs = [len(list(same)) for _, same in groupby(_shown_ratings(judgement) for judgement in judgements)]
    same = [_same_preference(judgement, others) for judgement in judgements
            if len(others := by_item[judgement.item_id]) > 1]
    # Imported answers have no checks.
    unseen = not checks and bool(judgements) and all(judgement.extra.get("imported") for judgement in judgements)
    marked = [flags for answer in answers if (flags := flagged(answer)) is not None]
    return PersonQuality(
        annotator, len(answers), None if unseen else len(checks), None if unseen else checks.count(False),
        median(measured) if measured else None, max(runs, default=0), max(runs) / len(answers) if answers else None,
        sum(contradicts(answer["ratings"], answer["preferred"]) for answer in answers),
        sum(answer["preferred"] != 0 and len(set(answer["ratings"])) > 1 for answer in answers),
        _first_side([judgement for judgement in judgements if judgement.answer["preferred"] != 0]),
        fmean(same) if same else None, len(same), sum(marked) if marked or not answers else None)


def _shown_ratings(judgement: Judgement) -> tuple[int, ...]:
    """Ratings in shown order, or in stored order if not recorded."""
    ratings = judgement.answer["ratings"]
    return tuple(reversed(ratings)) if judgement.answer["first"] == 2 else tuple(ratings)


def _same_preference(judgement: Judgement, all_of_item: Sequence[Judgement]) -> float:
    others = [one for one in all_of_item if one.judgement_id != judgement.judgement_id]
    return fmean(one.answer["preferred"] == judgement.answer["preferred"] for one in others)


def _first_side(decided: Sequence[Judgement]) -> Estimate:
    known = [judgement.answer for judgement in decided if judgement.answer["first"] is not None]
    return share(sum(answer["preferred"] == answer["first"] for answer in known), len(known))


def _stored_one(decided: Sequence[Judgement]) -> Estimate:
    return share(sum(judgement.answer["preferred"] == 1 for judgement in decided), len(decided))
