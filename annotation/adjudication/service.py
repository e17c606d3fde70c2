"""Adjudication: one person decides the items that, by the study's rule, need a decision.

Blind first: adjudicators answer an item before they see anything of what others answered to it. Before that, neither
the queue nor the item says more than that the item needs a decision: no reason, no answers and no decision, and the
order of the queue follows nothing. Then they compare, and confirm their answer or change it.

Adjudicators see no names, and nothing that is hidden from annotators. Annotators are letters, shuffled per item, and
cases have their own numbers: the order of a study's source may follow its hidden categories.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from random import Random
from threading import Lock
from typing import Any

from cachetools import LRUCache, cached

from annotation.adjudication.needs import cases, discussed_by_judges, needs_of, why
from annotation.records import (
    Decision,
    FirstAnswer,
    Item,
    Judgement,
    Message,
    Speaker,
    Study,
    StudyImage,
    Why,
    name_key,
    same_person,
)
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
    why: Why | None           # None before the adjudicator's own answer, and where nothing but a decision is left
    answered: bool            # by the adjudicator
    decided: bool


@dataclass(frozen=True)
class CaseList:
    study: Study
    cases: tuple[QueuedCase, ...]      # by number
    counts: Mapping[str, int]          # "open", "decided", and the answered of the open ones by why


@dataclass(frozen=True)
class NamelessJudgement:
    label: str                         # "Judge A"
    answer: Mapping[str, Any]          # as the adjudicator sees the item
    told: str                          # the same in words
    seconds: float


@dataclass(frozen=True)
class Said:
    """A message in a discussion. ``label``: "You", "Adjudicator" or "Judge A"."""

    label: str
    text: str
    at: datetime


@dataclass(frozen=True)
class OpenCase:
    """One item. Before the adjudicator's own answer (``first`` None) there is nothing of what others answered."""

    study: Study
    item: Item
    number: int
    extra: Mapping[str, Any]           # how the item is shown to this adjudicator
    images: Mapping[str, StudyImage]   # of the study, by token
    decided: bool                      # by anybody
    first: Mapping[str, Any] | None    # the adjudicator's own answer, in the form in which it is given
    why: Why | None = None             # None: nothing to decide
    judgements: tuple[NamelessJudgement, ...] = ()
    decision: Decision | None = None   # its answer as ``first``
    own: bool = False                  # the adjudicator has judged the item too
    messages: tuple[Said, ...] = ()
    discussed: bool = False            # whether adjudicators of the study discuss items


@dataclass(frozen=True)
class Decided:
    """Result of a decision. ``overtook``: another one was saved since this page was loaded; it is the previous
    revision."""

    decision: Decision                 # its answer as the adjudicator gave it
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

    def cases(self, study_name: str, adjudicator: str) -> CaseList:
        """The queue of a study. Raises ``UnknownStudy``."""
        study = self._study(study_name)
        fixed = self._fixed(study)
        decisions = self._store.decisions(study.study_id)
        answered = {one.item_id for one in self._store.first_answers(study.study_id, adjudicator)} | {
            one.item_id for one in decisions if same_person(one.adjudicator, adjudicator)}
        found = cases(fixed.items.values(), self._store.judgements(study.study_id), decisions, study,
                      self._kinds[study.kind])
        queue = tuple(sorted((QueuedCase(
            it.item_id, fixed.numbers[it.item_id], it.why if it.item_id in answered else None,
            it.item_id in answered, it.decided) for it in found), key=lambda case: case.number))
        waiting = [case for case in queue if not case.decided]
        counts = Counter[str](case.why for case in waiting if case.why is not None)
        return CaseList(study, queue, {"open": len(waiting), "decided": len(queue) - len(waiting), **counts})

    def case(self, study_name: str, item_id: str, adjudicator: str) -> OpenCase:
        """One item. Raises ``UnknownStudy``, ``UnknownItem``."""
        study = self._study(study_name)
        fixed, kind = self._fixed(study), self._kinds[study.kind]
        item = _item(fixed, item_id)
        extra = _extra(kind, study, item_id, adjudicator)
        decision = self._decision(study, item_id)
        blind = OpenCase(study, item, fixed.numbers[item_id], extra, fixed.images, decision is not None, None)
        if (first := self._own_answer(study, item_id, adjudicator, decision)) is None:
            return blind
        judgements, needs = self._store.item_judgements(study.study_id, item_id), needs_of(study, kind)

        def shown(answer: Mapping[str, Any]) -> Mapping[str, Any]:
            return kind.denormalize(answer, extra=extra)

        return replace(
            blind, first=shown(first), why=why([it.answer for it in judgements], study, kind, needs),
            judgements=tuple(NamelessJudgement(label, shown(it.answer), kind.told(it.answer, item, study, extra=extra),
                                               it.seconds) for label, it in nameless(study, item_id, judgements)),
            decision=None if decision is None else replace(decision, answer=shown(decision.answer)),
            own=any(same_person(one.annotator, adjudicator) for one in judgements),
            messages=self._said(study, item_id, judgements, adjudicator), discussed=needs.discussion != "none")

    def answer(self, study_name: str, item_id: str, adjudicator: str, answer: object) -> FirstAnswer:
        """Save the adjudicator's own answer. The first one stays, whatever comes later: returns it.

        Raises ``IncompleteJudgement``, ``UnknownItem``.
        """
        input_limits.checked_answer(answer)
        study = self._study(study_name)
        item, kind = _item(self._fixed(study), item_id), self._kinds[study.kind]
        normalized = kind.normalize(answer, item, study, extra=_extra(kind, study, item_id, adjudicator))
        return self._store.answer_first(FirstAnswer(
            study.study_id, item_id, adjudicator, normalized.answer, self._clock()))

    def decide(
        self, study_name: str, item_id: str, adjudicator: str, answer: object, reason: object, token: object, *,
        seen_revision: object = None,
    ) -> Decided:
        """Save a decision, in time independent of the queue.

        A decision may be revised, also after the study was closed. Idempotent by ``token``.
        ``seen_revision``: of the decision that the page has shown, 0 for none.

        Raises ``IncompleteJudgement`` for an answer without a verdict or reason, ``StudyError`` for a
        malformed token or revision, or an item without judgements. Without an own answer before, the decision is
        one, too.
        """
        input_limits.checked_answer(answer)
        checked, seen = input_limits.checked_token(token), input_limits.checked_revision(seen_revision)
        study = self._study(study_name)
        item, kind = _item(self._fixed(study), item_id), self._kinds[study.kind]
        extra = _extra(kind, study, item_id, adjudicator)
        normalized = kind.normalize(answer, item, study, extra=extra)
        if normalized.unsure:
            raise IncompleteJudgement("An adjudicator's answer decides the item: it cannot be unsure.")
        checked_reason = _reason(reason)
        if not self._store.item_judgements(study.study_id, item_id):
            raise StudyError("Nobody has judged this item yet, so there is nothing to adjudicate.")
        at = self._clock()
        if self._first(study, item_id, adjudicator) is None:
            self._store.answer_first(FirstAnswer(study.study_id, item_id, adjudicator, normalized.answer, at))
        decision = self._store.decide(Decision(
            new_id(), study.study_id, item_id, adjudicator, 0, checked, normalized.answer, checked_reason, at))
        new = decision.token == checked
        shown = replace(decision, answer=kind.denormalize(decision.answer, extra=extra))
        return Decided(shown, new and seen is not None and seen < decision.revision - 1)

    def discussion(self, study_name: str, item_id: str, viewer: str, role: Speaker) -> tuple[Said, ...]:
        """The discussion on an item. A judge has one once an adjudicator has begun it, on an item that they have
        judged, if the study's rule includes judges; else, and for an adjudicator without an own answer, it is
        empty."""
        study = self._study(study_name)
        _item(self._fixed(study), item_id)
        judgements = self._store.item_judgements(study.study_id, item_id)
        if not self._takes_part(study, item_id, judgements, viewer, role):
            return ()
        return self._said(study, item_id, judgements, viewer)

    def discussed(self, study_name: str, judge: str) -> frozenset[str]:
        """Ids of the items whose discussion is open to a judge."""
        study = self._study(study_name)
        if not discussed_by_judges(study, self._kinds[study.kind]):
            return frozenset()
        begun = {one.item_id for one in self._store.messages(study.study_id)}
        return frozenset(item for item in begun if any(
            same_person(one.annotator, judge) for one in self._store.item_judgements(study.study_id, item)))

    def say(
        self, study_name: str, item_id: str, author: str, role: Speaker, text: object, token: object,
    ) -> tuple[Said, ...]:
        """Add to the discussion on an item, once for each token; returns the whole. Raises ``StudyError`` for who does
        not take part in it, and ``IncompleteJudgement`` for an empty or too long text."""
        checked = input_limits.checked_token(token)
        words = _text(text, "message", "Write something first.")
        study = self._study(study_name)
        _item(self._fixed(study), item_id)
        judgements = self._store.item_judgements(study.study_id, item_id)
        if not self._takes_part(study, item_id, judgements, author, role):
            raise StudyError("There is no discussion on this item that you take part in." if role == "judge" else
                             "Answer the item yourself first: a discussion comes after that. The study’s settings say "
                             "whether items are discussed.")
        self._store.say(Message(new_id(), study.study_id, item_id, author, role, checked, words, self._clock()))
        return self._said(study, item_id, judgements, author)

    def _takes_part(
        self, study: Study, item_id: str, judgements: Sequence[Judgement], person: str, role: Speaker,
    ) -> bool:
        kind = self._kinds[study.kind]
        if role == "adjudicator":
            return needs_of(study, kind).discussion != "none" and self._own_answer(
                study, item_id, person, self._decision(study, item_id)) is not None
        own = any(same_person(it.annotator, person) for it in judgements)
        return own and discussed_by_judges(study, kind) and bool(self._store.messages(study.study_id, item_id))

    def _study(self, name: str) -> Study:
        return self._store.study(input_limits.checked_study(name))

    def _first(self, study: Study, item_id: str, adjudicator: str) -> FirstAnswer | None:
        return next(iter(self._store.first_answers(study.study_id, adjudicator, item_id)), None)

    def _decision(self, study: Study, item_id: str) -> Decision | None:
        return next((it for it in self._store.decisions(study.study_id) if it.item_id == item_id), None)

    def _own_answer(
        self, study: Study, item_id: str, adjudicator: str, decision: Decision | None,
    ) -> Mapping[str, Any] | None:
        """The adjudicator's first answer. Earlier versions did not store one: then the adjudicator's own decision."""
        if (first := self._first(study, item_id, adjudicator)) is not None:
            return first.answer
        if decision is None or not same_person(decision.adjudicator, adjudicator):
            return None
        return decision.answer

    def _said(
        self, study: Study, item_id: str, judgements: Sequence[Judgement], viewer: str,
    ) -> tuple[Said, ...]:
        labels = {name_key(it.annotator): label for label, it in nameless(study, item_id, judgements)}

        def label(one: Message) -> str:
            if same_person(one.author, viewer):
                return "You"
            return labels.get(name_key(one.author), "Judge") if one.role == "judge" else "Adjudicator"

        return tuple(Said(label(one), one.text, one.created_at)
                     for one in self._store.messages(study.study_id, item_id))

    def _read(self, study: Study) -> _Fixed:
        items = {item.item_id: item for item in self._store.items(study.study_id)}
        order = sorted(items, key=lambda item_id: _shuffle_key(study, item_id))
        return _Fixed(items, {item_id: number for number, item_id in enumerate(order, 1)},
                      self._store.images(study.study_id))


def nameless(
    study: Study, item_id: str, judgements: Sequence[Judgement],
) -> tuple[tuple[str, Judgement], ...]:
    """Judgements of one item by "Judge A", "Judge B", …, in an order shuffled per item, so that letters cannot be
    linked across cases."""
    drawn = sorted(judgements, key=lambda it: _shuffle_key(study, f"{item_id}/{name_key(it.annotator)}"))
    return tuple((f"Judge {_letters(place)}", it) for place, it in enumerate(drawn))


def _extra(kind: StudyKind, study: Study, item_id: str, adjudicator: str) -> Mapping[str, Any]:
    """How an adjudicator sees an item: always the same way, whatever judges saw."""
    return kind.dealt_extra(Random(_shuffle_key(study, f"{item_id}/adjudicator/{name_key(adjudicator)}")), {}, {})


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
    text = _text(reason, "reason", "Give a short reason; it is kept with the decision.")
    if len(text) < SHORTEST_REASON:
        raise IncompleteJudgement("Give a short reason; it is kept with the decision.")
    return text


def _text(given: object, what: str, none: str) -> str:
    text = tidy(input_limits.checked_text(given, what)).strip() if isinstance(given, str) else ""
    if not text:
        raise IncompleteJudgement(none)
    if len(text) > LONGEST_REASON:
        raise IncompleteJudgement(f"The {what} has {len(text):,} characters; the limit is {LONGEST_REASON:,}. "
                                  "Shorten it; nothing has been stored yet.")
    return text
