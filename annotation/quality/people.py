"""How people answered, for kinds of study without a review of their own; and what the study's rules leave of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean, median
from typing import Any, Protocol, TypeVar, cast

from annotation.quality.care import RIGHT, outcomes_of
from annotation.quality.rules import Removed, Rules, apply_rules, rules_of
from annotation.records import Assignment, GoldAnswer, Judgement, Seat, Study, name_key


@dataclass(frozen=True)
class PersonCare:
    annotator: str
    answers: int
    median_seconds: float | None
    longest_run: int                 # items in a row that were answered by pressing the same
    contradictions: int
    contradictable: int              # answers that can contradict themselves
    outcomes: tuple[float, ...]      # scores of gold items, oldest first

    one_side = None                  # there are no sides

    @property
    def checks(self) -> int | None:
        """Gold items are the checks."""
        return len(self.outcomes) if self.outcomes else None

    @property
    def failed_checks(self) -> int | None:
        return sum(one < RIGHT for one in self.outcomes) if self.outcomes else None

    @property
    def contradiction_rate(self) -> float | None:
        return self.contradictions / self.contradictable if self.contradictable else None

    @property
    def gold(self) -> float | None:
        """Mean score of gold items."""
        return fmean(self.outcomes) if self.outcomes else None


class Answers(Protocol):
    """Of :class:`annotation.studies.kinds.StudyKind`."""

    def pattern(self, answer: Mapping[str, Any]) -> object: ...
    def contradicts(self, answer: Mapping[str, Any], study: Study) -> bool | None: ...
    def score(self, answer: Mapping[str, Any], expected: Mapping[str, Any]) -> float: ...


class Source(Protocol):
    """Of :class:`annotation.studies.store.StudyStore`."""

    def seats(self, study_id: str) -> Sequence[Seat]: ...
    def assignments(self, study_id: str) -> Sequence[Assignment]: ...
    def judgements(self, study_id: str, *, history: bool = False) -> Sequence[Judgement]: ...
    def gold_answers(self, study_id: str, annotator: str | None = None) -> Sequence[GoldAnswer]: ...


_Store = TypeVar("_Store", bound=Source)


@dataclass(frozen=True)
class CareReview:
    """``judgements``: current ones; ``people`` by seat; ``removed``: excluded by ``rules``."""

    study: Study
    judgements: tuple[Judgement, ...]
    people: tuple[PersonCare, ...]
    rules: Rules
    removed: Removed


def care_review(store: Source, study: Study, kind: Answers, rules: Rules | None = None) -> CareReview:
    """``rules``: instead of those in the study's settings. Raises ``StudyError`` for unknown rules in them."""
    judgements = tuple(store.judgements(study.study_id))
    outcomes = outcomes_of(store.gold_answers(study.study_id), kind.score)
    positions = {(name_key(one.annotator), one.item_id): one.position
                 for one in store.assignments(study.study_id) if one.annotator is not None}
    given: dict[str, list[Judgement]] = {}
    for judgement in judgements:
        given.setdefault(name_key(judgement.annotator), []).append(judgement)
    people = []
    for seat in sorted(store.seats(study.study_id), key=lambda one: one.number):
        if seat.annotator is None:
            continue
        person = name_key(seat.annotator)
        mine = sorted(given.get(person, ()), key=lambda one: positions.get((person, one.item_id), len(positions)))
        people.append(_person(seat.annotator, mine, outcomes.get(person, ()), study, kind))
    rules = rules_of(study.settings) if rules is None else rules
    return CareReview(study, judgements, tuple(people), rules, apply_rules(rules, judgements, people))


def _person(
    annotator: str, judgements: Sequence[Judgement], outcomes: Sequence[float], study: Study, kind: Answers,
) -> PersonCare:
    measured = [judgement.seconds for judgement in judgements if judgement.seconds > 0]
    runs = [len(list(same)) for _, same in groupby(kind.pattern(judgement.answer) for judgement in judgements)]
    doubts = [doubt for judgement in judgements if (doubt := kind.contradicts(judgement.answer, study)) is not None]
    return PersonCare(annotator, len(judgements), median(measured) if measured else None, max(runs, default=0),
                      sum(doubts), len(doubts), tuple(outcomes))


class _Kept:
    """A store whose judgements of one study are those that its rules leave."""

    def __init__(self, store: Any, study: Study, keep: Callable[[Sequence[Judgement]], Sequence[Judgement]]) -> None:
        self._store, self._study, self._keep = store, study, keep

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def judgements(self, study_id: str, *, history: bool = False) -> Sequence[Judgement]:
        found = self._store.judgements(study_id, history=history)
        return self._keep(found) if study_id == self._study.study_id else found


def counted(store: _Store, study: Study, kind: Answers) -> _Store:
    """``store``, without the answers that the study's rules exclude, for results, reports and exports."""
    if not rules_of(study.settings).set:
        return store
    excluded = set(care_review(store, study, kind).removed.excluded)
    gone = {(one.item_id, name_key(one.annotator)) for one in store.judgements(study.study_id)
            if one.judgement_id in excluded}
    return cast("_Store", _Kept(store, study, lambda found: tuple(
        one for one in found if (one.item_id, name_key(one.annotator)) not in gone)))
