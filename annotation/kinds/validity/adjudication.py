"""Adjudication: one person decides the items on which annotators disagree or were unsure.

Adjudicators see no names, and nothing that is hidden from annotators. Annotators are letters,
shuffled per item, and cases have their own numbers: the order of a study's source may follow its
hidden categories.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from cachetools import LRUCache, cached

from annotation.kinds.validity.labels import WHYS, Why, queue
from annotation.kinds.validity.rubric import load_rubric
from annotation.records import Decision, Item, Judgement, Study, StudyImage, name_key, same_person
from annotation.studies import input_limits
from annotation.studies.kinds import StudyKind
from annotation.studies.store import StudyStore
from cir_core.errors import IncompleteJudgement, StudyError, UnknownItem
from cir_core.support.texts import tidy
from cir_core.types.records import new_id

SHORTEST_REASON = 3
LONGEST_REASON = 4000
_CACHED_STUDIES = 2   # studies whose immutable items and images are cached


@dataclass(frozen=True)
class QueuedCase:
    item_id: str
    number: int               # from 1; independent of the order in the source
    why: Why
    decided: bool


@dataclass(frozen=True)
class CaseList:
    study: Study
    cases: tuple[QueuedCase, ...]      # most urgent first
    counts: Mapping[str, int]          # "open", "decided", and open ones by why


@dataclass(frozen=True)
class NamelessJudgement:
    label: str                         # "Judge A"
    answer: Mapping[str, Any]
    seconds: float


@dataclass(frozen=True)
class OpenCase:
    """One item with all its judgements."""

    study: Study
    item: Item
    number: int
    why: Why | None                    # None: nothing to decide
    judgements: tuple[NamelessJudgement, ...]
    decision: Decision | None
    own: bool                          # the adjudicator has judged the item too
    images: Mapping[str, StudyImage]   # of the study, by token


@dataclass(frozen=True)
class Decided:
    """Result of a decision. ``overtook``: another one was saved since this page was loaded; it is the previous
    revision."""

    decision: Decision
    overtook: bool


@dataclass(frozen=True)
class _Fixed:
    items: Mapping[str, Item]
    numbers: Mapping[str, int]
    images: Mapping[str, StudyImage]


class Adjudication:
    """Adjudication service. ``kinds`` by ``Study.kind``."""

    def __init__(
        self, store: StudyStore, kinds: Mapping[str, StudyKind],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store, self._kinds, self._clock = store, kinds, clock
        self._fixed = cached(LRUCache(_CACHED_STUDIES), lambda study: study.study_id, lock=Lock())(self._read)

    def cases(self, study_name: str) -> CaseList:
        """The queue of a study. Raises ``UnknownStudy``."""
        study = self._study(study_name)
        cases = self._queue(study)
        waiting = [case for case in cases if not case.decided]
        counts = Counter[str](case.why for case in waiting)
        return CaseList(study, cases, {"open": len(waiting), "decided": len(cases) - len(waiting), **counts})

    def case(self, study_name: str, item_id: str, adjudicator: str) -> OpenCase:
        """One item. Raises ``UnknownStudy``, ``UnknownItem``."""
        study = self._study(study_name)
        fixed = self._fixed(study)
        item = _item(fixed, item_id)
        judgements = self._store.item_judgements(study.study_id, item_id)
        decision = self._decision(study, item_id)
        found = queue([item], judgements, rubric=load_rubric(study.protocol))
        return OpenCase(
            study, item, fixed.numbers[item_id], found[0].why if found else None, nameless(study, item_id, judgements),
            decision, any(same_person(one.annotator, adjudicator) for one in judgements), fixed.images)

    def decide(
        self, study_name: str, item_id: str, adjudicator: str, answer: object, reason: object, token: object, *,
        seen_revision: object = None,
    ) -> Decided:
        """Save a decision, in time independent of the queue.

        A decision may be revised, also after the study was closed. Idempotent by ``token``.
        ``seen_revision``: of the decision that the page has shown, 0 for none.

        Raises ``IncompleteJudgement`` for an answer without a verdict or reason, ``StudyError`` for a
        malformed token or revision, or an item without judgements.
        """
        input_limits.checked_answer(answer)
        checked, seen = input_limits.checked_token(token), input_limits.checked_revision(seen_revision)
        study = self._study(study_name)
        item = _item(self._fixed(study), item_id)
        normalized = self._kinds[study.kind].normalize(answer, item, study)
        if normalized.unsure:
            raise IncompleteJudgement("An adjudicator's answer decides the item: it cannot be unsure.")
        checked_reason = _reason(reason)
        if not self._store.item_judgements(study.study_id, item_id):
            raise StudyError("Nobody has judged this item yet, so there is nothing to adjudicate.")
        decision = self._store.decide(Decision(
            new_id(), study.study_id, item_id, adjudicator, 0, checked, normalized.answer, checked_reason,
            self._clock()))
        new = decision.token == checked
        return Decided(decision, new and seen is not None and seen < decision.revision - 1)

    def _study(self, name: str) -> Study:
        study = self._store.study(input_limits.checked_study(name))
        if study.kind not in self._kinds:
            raise StudyError(f"{study.name} is {study.called}, which has nothing to adjudicate.")
        return study

    def _queue(self, study: Study) -> tuple[QueuedCase, ...]:
        fixed = self._fixed(study)
        found = queue(
            fixed.items.values(), self._store.judgements(study.study_id), self._store.decisions(study.study_id),
            rubric=load_rubric(study.protocol))
        # A decided case keeps its position, so that "next" continues from there.
        return tuple(sorted(
            (QueuedCase(it.item_id, fixed.numbers[it.item_id], it.why, it.decided) for it in found),
            key=lambda case: (WHYS.index(case.why), case.number)))

    def _decision(self, study: Study, item_id: str) -> Decision | None:
        return next((it for it in self._store.decisions(study.study_id) if it.item_id == item_id), None)

    def _read(self, study: Study) -> _Fixed:
        items = {item.item_id: item for item in self._store.items(study.study_id)}
        order = sorted(items, key=lambda item_id: _shuffle_key(study, item_id))
        return _Fixed(items, {item_id: number for number, item_id in enumerate(order, 1)},
                      self._store.images(study.study_id))


def nameless(study: Study, item_id: str, judgements: Sequence[Judgement]) -> tuple[NamelessJudgement, ...]:
    """Judgements of one item as "Judge A", "Judge B", …, in an order shuffled per item, so that letters cannot be
    linked across cases."""
    drawn = sorted(judgements, key=lambda it: _shuffle_key(study, f"{item_id}/{name_key(it.annotator)}"))
    return tuple(NamelessJudgement(f"Judge {_letters(place)}", it.answer, it.seconds) for place, it in enumerate(drawn))


def _shuffle_key(study: Study, what: str) -> bytes:
    return hashlib.sha256(f"{study.study_id}/{study.plan.seed}/{what}".encode()).digest()


def _letters(place: int) -> str:
    letters = ""
    while place >= 0:
        place, letter = divmod(place, 26)
        letters, place = chr(ord("A") + letter) + letters, place - 1
    return letters


def _item(fixed: _Fixed, item_id: str) -> Item:
    if (item := fixed.items.get(input_limits.checked_item(item_id))) is None:
        raise UnknownItem("There is no such item in this study. Open the queue again and choose a case there.")
    return item


def _reason(reason: object) -> str:
    text = tidy(input_limits.checked_text(reason, "reason")).strip() if isinstance(reason, str) else ""
    if len(text) < SHORTEST_REASON:
        raise IncompleteJudgement("Say in a few words why: the reason is kept with the decision.")
    if len(text) > LONGEST_REASON:
        raise IncompleteJudgement(f"The reason has {len(text):,} characters; the limit is {LONGEST_REASON:,}. "
                                  "Shorten it; nothing has been stored yet.")
    return text
