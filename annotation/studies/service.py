"""A person's work in studies: their item, saving, drafts, going on. For every kind of study."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from cachetools import LRUCache, TTLCache, cached

from annotation.records import (
    AnswerContext,
    Assignment,
    Draft,
    EventKind,
    Item,
    Judgement,
    Saved,
    Seat,
    Study,
    StudyEvent,
    Workspace,
    name_key,
    same_person,
)
from annotation.studies import input_limits
from annotation.studies.imports import is_imported
from annotation.studies.kinds import NormalizedAnswer, StudyKind
from annotation.studies.progress import WorkProgress, progress_of
from annotation.studies.store import StudyStore
from cir_core.errors import NotJoined, StorageError, StudyClosed, StudyError
from cir_core.types.ids import new_id

_ITEMS_KEPT = 8192      # items that somebody has before them, without their hidden part
_NAMES_KEPT = 4096
_NAMES_HOLD = 1.0       # seconds: another study may get a name, when its own has another or is removed
_FINISH = "finish"      # shorter than any client's token, so it is nobody's; and each person finishes once


@dataclass(frozen=True)
class MyStudy:
    """A study in one person's list. ``total`` is about what a seat gets while they have not joined."""

    study: Study
    joined: bool
    done: int
    total: int


class StudyService:
    """Safe for use by many threads. Every method raises ``CirqueError`` with a sentence."""

    def __init__(
        self, store: StudyStore, kinds: Mapping[str, StudyKind],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store, self._kinds, self._clock = store, kinds, clock
        # What never changes is not read again for every save: whose item it is and whether answers
        # are still taken, the store decides anew each time.
        self._id_of = cached(TTLCache(_NAMES_KEPT, _NAMES_HOLD), lock=threading.Lock())(self._find)
        self._items: LRUCache[tuple[str, str, str], tuple[Study, Item, Mapping[str, Any]]] = LRUCache(_ITEMS_KEPT)
        self._items_lock = threading.Lock()

    def mine(self, annotator: str) -> list[MyStudy]:
        """Open studies, and closed ones the person has a seat in, the latest first. Imported ones are left
        out: there is nothing to judge in them."""
        found = []
        for study in self._store.studies():
            if study.kind not in self._kinds or is_imported(study):
                continue
            seats = self._store.seats(study.study_id)
            if any(same_person(seat.annotator, annotator) for seat in seats):
                states = [a.state for a in self._store.overview(study.study_id, annotator) if a.state != "handed_on"]
                found.append(MyStudy(study, True, sum(s != "open" for s in states), len(states)))
            elif study.accepting:
                found.append(MyStudy(study, False, 0, self._each(study, seats)))
        return found

    def page(self, study: str) -> Mapping[str, Any]:
        """What a screen needs to know of a study beyond its items."""
        found = self._store.study(input_limits.checked_study(study))
        return self._kind(found).page(found)

    def workspace(
        self, study: str, annotator: str, *, item_id: str | None = None, position: int | None = None,
    ) -> Workspace:
        """The item asked for, else the first open one. In a kind with a flow the desk says in ``stand`` what
        comes before the item. Looking takes no seat: somebody who has not joined gets a desk that says so, with
        nothing on it.

        Raises ``StudyClosed`` for a closed study the person has no seat in, ``UnknownItem`` for an
        item that is not theirs.
        """
        if item_id is not None:
            input_limits.checked_item(item_id)
        study_id = self._study_id(study)
        try:
            workspace = self._store.workspace(study_id, annotator, item_id=item_id, position=position, at=self._clock())
        except NotJoined:
            return self._not_joined(study_id)
        return self._seen(annotator, workspace)

    def join(self, study: str, annotator: str, *, item_id: str | None = None) -> Workspace:
        """Take a seat, unless the person has one, and the desk as :meth:`workspace` gives it. Who finds all of it
        taken over by others gets a share of what is open.

        Raises ``StudyClosed``, ``UnknownItem``.
        """
        if item_id is not None:
            input_limits.checked_item(item_id)
        study_id, now = self._study_id(study), self._clock()
        reassign = self._kind(self._store.study(study_id)).reassign
        self._store.join(study_id, annotator, now, reassign)
        workspace = self._store.workspace(study_id, annotator, item_id=item_id, at=now)
        if not workspace.total and workspace.study.accepting and self._store.take_more(study_id, annotator, now,
                                                                                       reassign):
            workspace = self._store.workspace(study_id, annotator, item_id=item_id)
        return self._seen(annotator, workspace)

    def save(
        self, study: str, annotator: str, item_id: str, answer: object, token: str, *, seconds: float = 0.0,
        seen_revision: int | None = None, stay: bool = False,
    ) -> tuple[Saved, Workspace]:
        """Keep an answer: on disk when this returns. The desk has the next open item, or with ``stay``
        the same one. A call that is repeated with its token changes nothing.

        Raises ``IncompleteJudgement``, ``UnknownItem``, ``StudyClosed``, ``GateStands``, ``UsedToken``.
        """
        input_limits.checked_answer(answer)
        input_limits.checked_token(token)
        study_id, kept, item, extra = self._before(study, annotator, item_id)
        kind = self._kind(kept)
        flow = kind.flow

        def admit(standing: AnswerContext) -> tuple[Mapping[str, Any], bool]:
            assert flow is not None, "asked only then"
            flow.admit(standing, annotator, token)
            normalized = kind.normalize(answer, item, standing.study, extra=standing.extra)   # as they are now
            return normalized.answer, normalized.unsure

        normalized = NormalizedAnswer({}) if flow else kind.normalize(answer, item, kept, extra=extra)
        judgement = Judgement(
            new_id(), study_id, item.item_id, annotator, 0, token, kept.protocol, normalized.answer,
            input_limits.checked_seconds(seconds), self._clock(),
        )
        saved = self._store.save(
            judgement, unsure=normalized.unsure, seen_revision=input_limits.checked_revision(seen_revision),
            sticky_fields=kind.sticky_fields, admit=admit if flow else None)
        workspace = (self._store.workspace(study_id, annotator, item_id=item.item_id) if stay
                else self._store.workspace(study_id, annotator, after=item.item_id))
        return saved, self._seen(annotator, workspace)

    def pass_gate(
        self, study: str, annotator: str, kind: object, token: str, *, number: int | None = None,
        attempt: int | None = None, answer: object = None,
    ) -> tuple[bool, Workspace]:
        """Note what somebody answered to the gate before them: whether they go on, and the desk. A wrong
        answer is noted too. A call that is repeated with its token changes nothing.

        Raises ``IncompleteJudgement`` for a missing answer, and where something else stands there now;
        ``NotJoined``.
        """
        checked = input_limits.checked_gate(kind)
        input_limits.checked_token(token)
        study_id = self._study_id(study)
        workspace = self._store.workspace(study_id, annotator, at=self._clock())
        flow = self._kind(workspace.study).flow
        if flow is None:
            raise StudyError(f"In {workspace.study.name} nothing stands between the items. Reload the page.")
        passage = flow.pass_gate(workspace, annotator, checked, token, number=number, attempt=attempt, answer=answer)
        self._note(workspace.study, annotator, passage.kind, token, passage.payload)
        return passage.passed, self._seen(annotator, self._store.workspace(study_id, annotator))

    def save_draft(self, study: str, annotator: str, item_id: str, answer: object, *, seconds: float = 0.0) -> None:
        """Keep what somebody has begun to answer. Replaces their draft of the item."""
        input_limits.checked_answer(answer)
        study_id, kept, item, extra = self._before(study, annotator, item_id)
        kind = self._kind(kept)
        draft = Draft(item.item_id, annotator, kind.draft(answer, item, kept, extra=extra),
                      input_limits.checked_seconds(seconds), self._clock())
        self._store.save_draft(study_id, draft, sticky_fields=kind.sticky_fields)

    def drop_draft(self, study: str, annotator: str, item_id: str) -> None:
        """Discard what somebody has begun. What they saved stays. Raises ``UnknownItem``."""
        study_id, _, item, _ = self._before(study, annotator, item_id)
        self._store.drop_draft(study_id, item.item_id, annotator)

    def more(self, study: str, annotator: str) -> tuple[int, Workspace]:
        """Take over others' open work; how many items, and the desk. Raises ``NotJoined``."""
        study_id = self._study_id(study)
        reassign = self._kind(self._store.study(study_id)).reassign
        added = self._store.take_more(study_id, annotator, self._clock(), reassign)
        return added, self.workspace(study_id, annotator)

    def overview(self, study: str, annotator: str) -> Sequence[Assignment]:
        """The person's items in their order, those left out that somebody else has taken over."""
        mine = self._store.overview(self._study_id(study), annotator)
        return [assignment for assignment in mine if assignment.state != "handed_on"]

    def begun(self, study: str, annotator: str) -> frozenset[str]:
        """Ids of the items at which a draft of the person says anything that their answer does not."""
        found = set()
        for draft, answer in self._store.drafts(self._study_id(study), annotator):
            study_id, kept, item, extra = self._before(study, annotator, draft.item_id)
            kind = self._kind(kept)
            if kind.flow is not None:
                extra = self._store.workspace(study_id, annotator, item_id=draft.item_id).extra   # as it is now
            saved = kind.draft(kind.denormalize(answer, extra=extra) if answer else {}, item, kept, extra=extra)
            if any(_trimmed(draft.answer.get(name)) != _trimmed(value)
                   for name, value in saved.items() if name not in kind.sticky_fields):
                found.add(draft.item_id)
        return frozenset(found)

    def progress(self, study: str, annotator: str) -> tuple[Workspace, WorkProgress]:
        """How far the person is: nowhere, who has not joined."""
        workspace = self.workspace(study, annotator)
        return workspace, progress_of(workspace) if workspace.joined else WorkProgress(0, 0, 0, None, None)

    def _study_id(self, study: str) -> str:
        return self._id_of(input_limits.checked_study(study))

    def _find(self, name: str) -> str:
        found = self._store.study(name)
        self._kind(found)
        if is_imported(found):
            raise StudyError(f"{found.name} was imported with its answers, and there is nothing to judge in it. "
                             "Its results and exports are on the page Studies.")
        return found.study_id

    def _not_joined(self, study_id: str) -> Workspace:
        study = self._store.study(study_id)
        if not study.accepting:
            raise StudyClosed(f"{study.name} is closed: no more judgements are taken.")
        return Workspace(study, 0, self._each(study, self._store.seats(study_id)), 0, 0, None, None, None, None, (),
                         {}, (),
                    joined=False)

    def _each(self, study: Study, seats: Sequence[Seat]) -> int:
        """About how many items somebody gets."""
        return self._store.counts(study.study_id)["assignments"] // max(1, len(seats))

    def _before(self, study: str, annotator: str, item_id: str) -> tuple[str, Study, Item, Mapping[str, Any]]:
        """The study's id, the study, the item that this person has before them, their assignment's extra."""
        study_id = self._study_id(study)
        who = (study_id, name_key(annotator), input_limits.checked_item(item_id))
        with self._items_lock:
            found = self._items.get(who)
        if found is None:
            workspace = self._remember(annotator, self._store.workspace(study_id, annotator, item_id=item_id))
            assert workspace.item is not None, "the store gives the item it is asked for, or raises"
            found = workspace.study, workspace.item, workspace.extra
        return study_id, *found

    def _remember(self, annotator: str, workspace: Workspace) -> Workspace:
        extras = {} if workspace.item is None else {workspace.item.item_id: workspace.extra}
        if self._kind(workspace.study).flow is None:   # of what comes next the desk has no extra, and none is needed
            extras |= {item.item_id: {} for item in workspace.ahead}
        with self._items_lock:
            for item in (workspace.item, *workspace.ahead):
                if item is not None and item.item_id in extras:
                    self._items[workspace.study.study_id, name_key(annotator), item.item_id] = (
                        workspace.study, replace(item, hidden={}), extras[item.item_id])
        return workspace

    def _seen(self, annotator: str, workspace: Workspace) -> Workspace:
        """The desk as its person gets it: remembered, and in a kind with a flow with where they stand."""
        self._remember(annotator, workspace)
        flow = self._kind(workspace.study).flow
        if flow is None:
            return workspace
        study = workspace.study
        survey = flow.position(
            workspace, annotator, self._store.overview(study.study_id, annotator),
            lambda: self._store.counts(study.study_id)["assignments"] // max(1, study.plan.seats))
        if survey.gate and survey.gate["kind"] == "finished" and not _has_finished(workspace):
            with suppress(StorageError):   # a desk can be looked at on a full disk; it is noted next time
                self._note(study, annotator, "finish", _FINISH, {"code": survey.gate["code"]})
        return replace(workspace, survey=survey)

    def _note(self, study: Study, annotator: str, kind: EventKind, token: str, payload: Mapping[str, Any]) -> None:
        self._store.note(StudyEvent(new_id(), study.study_id, annotator, kind, token, dict(payload), self._clock()))

    def _kind(self, study: Study) -> StudyKind:
        if study.kind not in self._kinds:
            raise StudyError(f"{study.name} is a {study.kind} study, which this screen cannot show.")
        return self._kinds[study.kind]


def _trimmed(value: object) -> object:
    return value.rstrip() if isinstance(value, str) else value


def _has_finished(workspace: Workspace) -> bool:
    return any(event.kind == "finish" for event in workspace.events)
