"""Annotation service for studies of every kind: workspace, saving, drafts, more work."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from cachetools import LRUCache, TTLCache, cached

from annotation.quality.agreement import disputed
from annotation.records import (
    AnswerContext,
    Assignment,
    Draft,
    EventKind,
    GoldRole,
    Item,
    Judgement,
    Saved,
    Seat,
    Study,
    StudyEvent,
    Workspace,
    decided,
    name_key,
    same_person,
)
from annotation.studies import input_limits
from annotation.studies.control import Control
from annotation.studies.creation import is_archived, is_imported
from annotation.studies.kinds import NormalizedAnswer, StudyKind
from annotation.studies.overview import WorkProgress, progress_of
from annotation.studies.store import StudyStore
from cir_core.errors import NotJoined, StorageError, StudyClosed, StudyError, UnknownStudy
from cir_core.types.records import new_id

_ITEMS_CACHED = 8192      # cached current items, without their hidden part
_NAMES_CACHED = 4096
_NAMES_TTL = 1.0       # seconds: a name may move to another study after a rename or removal
AHEAD, MOST_AHEAD = 2, 20   # next items of a workspace: unless asked for, and at most
_FINISH = "finish"      # shorter than any client's token, so it cannot collide; each person finishes once


@dataclass(frozen=True)
class MyStudy:
    """A study in one person's list. Before joining, ``total`` is an estimate."""

    study: Study
    joined: bool
    done: int
    total: int


class StudyService:
    """Thread-safe service. All methods raise ``CirqueError``."""

    def __init__(
        self, store: StudyStore, kinds: Mapping[str, StudyKind],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC), *,
        is_given: Callable[[str, str], bool] = lambda study_id, annotator: True,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        """``is_given``: whether a study, by its id, is for a person who has no seat in it. Others have not heard of
        it. ``timer``: seconds, by which the id of a name is looked up again."""
        self._store, self._kinds, self._clock, self._is_given = store, kinds, clock, is_given
        self._control = Control(store, clock)
        # Caches of immutable data, for saves. Whether the item is this person's, and the study open, is checked by
        # the store each time.
        self._id_of = cached(TTLCache(_NAMES_CACHED, _NAMES_TTL, timer), lock=threading.Lock())(self._find)
        self._items: LRUCache[
            tuple[str, str, str], tuple[Study, Item, Mapping[str, Any], GoldRole | None]] = LRUCache(_ITEMS_CACHED)
        self._items_lock = threading.Lock()

    def assigned_studies(self, annotator: str) -> list[MyStudy]:
        """Open studies, and closed ones in which the person has a seat, newest first. Without imported ones, in
        which there is nothing to judge."""
        found = []
        for study in self._store.studies():
            if study.kind not in self._kinds or is_imported(study) or is_archived(study):
                continue
            seats = self._store.seats(study.study_id)
            if any(same_person(seat.annotator, annotator) for seat in seats):
                states = [a.state for a in self._store.overview(study.study_id, annotator) if a.state != "handed_on"]
                found.append(MyStudy(study, True, sum(s != "open" for s in states), len(states)))
            elif study.accepting and self._is_given(study.study_id, annotator):
                found.append(MyStudy(study, False, 0, self._estimated_total(study, seats)))
        return found

    def page(self, study: str) -> Mapping[str, Any]:
        """Data of a study for its screen, besides items."""
        found = self._store.study(input_limits.checked_study(study))
        return self._kind(found).page(found)

    def workspace(
        self, study: str, annotator: str, *, item_id: str | None = None, position: int | None = None,
        ahead: int = AHEAD,
    ) -> Workspace:
        """The workspace with the requested item, else the first open one, and as many of the next ones as ``ahead``. In
        a kind with a flow, ``survey`` has the step before the item. This takes no seat: a person who has not joined
        gets an empty workspace.

        Raises ``StudyClosed`` for a closed study in which the person has no seat, ``UnknownItem`` for an item that is
        not theirs.
        """
        if item_id is not None:
            input_limits.checked_item(item_id)
        study_id = self._study_id(study)
        try:
            workspace = self._store.workspace(study_id, annotator, item_id=item_id, position=position, ahead=ahead,
                                              at=self._clock())
        except NotJoined:
            return self._not_joined(study_id, annotator)
        return self._completed(annotator, workspace)

    def join(self, study: str, annotator: str, *, item_id: str | None = None, ahead: int = AHEAD) -> Workspace:
        """Take a seat, unless the person has one; returns the :meth:`workspace`. A seat whose items were all reassigned
        gets a share of the open work. Raises ``StudyClosed``, ``UnknownItem``."""
        if item_id is not None:
            input_limits.checked_item(item_id)
        study_id, now = self._study_id(study), self._clock()
        known = self._store.is_member(study_id, annotator)
        if not known:
            self._check_given(study_id, annotator)
        found = self._store.study(study_id)
        reassign = self._control.reassign(self._kind(found))
        self._store.join(study_id, annotator, now, reassign, () if known else self.first_items(found))
        workspace = self._store.workspace(study_id, annotator, item_id=item_id, ahead=ahead, at=now)
        if not workspace.total and workspace.study.accepting and self._control.may_have_more(
                workspace.study, annotator) and self._store.take_more(
                study_id, annotator, now, reassign, self.first_items(found)):
            workspace = self._store.workspace(study_id, annotator, item_id=item_id, ahead=ahead)
        return self._completed(annotator, workspace)

    def save(
        self, study: str, annotator: str, item_id: str, answer: object, token: str, *, seconds: float = 0.0,
        seen_revision: int | None = None, stay: bool = False, ahead: int = AHEAD,
    ) -> tuple[Saved, Workspace]:
        """Save an answer: on disk when this returns. The returned workspace has the next open item, or with
        ``stay`` the same one. Idempotent by ``token``.

        Raises ``IncompleteJudgement``, ``UnknownItem``, ``StudyClosed``, ``GateStands``, ``UsedToken``.
        """
        input_limits.checked_answer(answer)
        input_limits.checked_token(token)
        study_id, known, item, extra, dealt = self._item_of(study, annotator, item_id)
        kind = self._kind(known)
        flow = kind.flow
        self._control.check_trained(known, annotator, dealt)

        def admit(context: AnswerContext) -> tuple[Mapping[str, Any], bool]:
            assert flow is not None, "called only with a flow"
            flow.admit(context, annotator, token)
            normalized = kind.normalize(answer, item, context.study, extra=context.extra)   # their current state
            return normalized.answer, normalized.unsure

        normalized = NormalizedAnswer({}) if flow else kind.normalize(answer, item, known, extra=extra)
        judgement = Judgement(
            new_id(), study_id, item.item_id, annotator, 0, token, known.protocol, normalized.answer,
            input_limits.checked_seconds(seconds), self._clock())
        saved = self._store.save(
            judgement, unsure=normalized.unsure, seen_revision=input_limits.checked_revision(seen_revision),
            sticky_fields=kind.sticky_fields, admit=admit if flow else None)
        feedback, moved = self._control.after_save(
            known, kind, annotator, item, dealt, extra, saved.judgement.answer, token)
        saved = replace(saved, feedback=feedback)
        if moved:   # the first open item now: what follows may be gone, or come behind the training
            return saved, self._completed(annotator, self._store.workspace(study_id, annotator, ahead=ahead))
        workspace = (self._store.workspace(study_id, annotator, item_id=item.item_id, ahead=ahead) if stay
                     else self._store.workspace(study_id, annotator, after=item.item_id, ahead=ahead))
        return saved, self._completed(annotator, workspace)

    def pass_gate(
        self, study: str, annotator: str, kind: object, token: str, *, number: int | None = None,
        attempt: int | None = None, answer: object = None, ahead: int = AHEAD,
    ) -> tuple[bool, Workspace]:
        """Record the answer to the current survey step; returns whether it was passed, and the workspace. Wrong
        answers are recorded too. Idempotent by ``token``.

        Raises ``IncompleteJudgement`` for a missing answer, and if another step is due now; ``NotJoined``.
        """
        checked = input_limits.checked_gate(kind)
        input_limits.checked_token(token)
        study_id = self._study_id(study)
        workspace = self._store.workspace(study_id, annotator, at=self._clock())
        flow = self._kind(workspace.study).flow
        if flow is None:
            raise StudyError(f"{workspace.study.name} has no steps between the items. Reload the page.")
        result = flow.pass_gate(workspace, annotator, checked, token, number=number, attempt=attempt, answer=answer)
        self._note(workspace.study, annotator, result.kind, token, result.payload)
        return result.passed, self._completed(annotator, self._store.workspace(study_id, annotator, ahead=ahead))

    def save_draft(self, study: str, annotator: str, item_id: str, answer: object, *, seconds: float = 0.0) -> None:
        """Save a draft, replacing the person's draft of the item."""
        input_limits.checked_answer(answer)
        study_id, known, item, extra, _ = self._item_of(study, annotator, item_id)
        kind = self._kind(known)
        draft = Draft(item.item_id, annotator, kind.draft(answer, item, known, extra=extra),
                      input_limits.checked_seconds(seconds), self._clock())
        self._store.save_draft(study_id, draft, sticky_fields=kind.sticky_fields)

    def drop_draft(self, study: str, annotator: str, item_id: str) -> None:
        """Discard a draft; a saved answer stays. Raises ``UnknownItem``."""
        study_id, _, item, _, _ = self._item_of(study, annotator, item_id)
        self._store.drop_draft(study_id, item.item_id, annotator)

    def more(self, study: str, annotator: str, *, ahead: int = AHEAD) -> tuple[int, Workspace]:
        """Take over others' open work; returns the number of items, and the workspace. Raises ``NotJoined``."""
        study_id = self._study_id(study)
        found = self._store.study(study_id)
        added = self._store.take_more(
            study_id, annotator, self._clock(), self._control.reassign(self._kind(found)), self.first_items(found),
        ) if self._control.may_have_more(found, annotator) else 0
        return added, self.workspace(study_id, annotator, ahead=ahead)

    def first_items(self, study: Study) -> Sequence[str]:
        """Ids of the items with which new work begins, where the plan's order depends on what others have answered.
        What an adjudicator has decided is no longer disputed."""
        if study.plan.order != "disputed":
            return ()
        settled = decided(self._store.decisions(study.study_id))
        open_items = [one for one in self._store.judgements(study.study_id) if one.item_id not in settled]
        return disputed(open_items, self._kind(study).score)

    def has_ended(self, study: Study, annotator: str) -> bool:
        """Whether the study has ended for this person below the mark of its training or gold items."""
        return not self._control.may_have_more(study, annotator)

    def overview(self, study: str, annotator: str) -> Sequence[Assignment]:
        """The person's assignments in order, without reassigned ones."""
        mine = self._store.overview(self._study_id(study), annotator)
        return [assignment for assignment in mine if assignment.state != "handed_on"]

    def begun(self, study: str, annotator: str) -> frozenset[str]:
        """Ids of the items with a draft that differs from the person's saved answer."""
        found = set()
        for draft, answer in self._store.drafts(self._study_id(study), annotator):
            study_id, known, item, extra, _ = self._item_of(study, annotator, draft.item_id)
            kind = self._kind(known)
            if kind.flow is not None:
                extra = self._store.workspace(study_id, annotator, item_id=draft.item_id).extra   # uncached
            saved = kind.draft(kind.denormalize(answer, extra=extra) if answer else {}, item, known, extra=extra)
            if any(_trimmed(draft.answer.get(name)) != _trimmed(value)
                   for name, value in saved.items() if name not in kind.sticky_fields):
                found.add(draft.item_id)
        return frozenset(found)

    def progress(self, study: str, annotator: str) -> tuple[Workspace, WorkProgress]:
        """The workspace and progress; zero before joining."""
        workspace = self.workspace(study, annotator)
        return workspace, progress_of(workspace) if workspace.joined else WorkProgress(0, 0, 0, None, None)

    def _study_id(self, study: str) -> str:
        return self._id_of(input_limits.checked_study(study))

    def _find(self, name: str) -> str:
        found = self._store.study(name)
        self._kind(found)
        if is_imported(found):
            raise StudyError(f"{found.name} was imported with its answers, so there is nothing to judge in it. "
                             "Its results and exports are on the page Studies.")
        return found.study_id

    def _not_joined(self, study_id: str, annotator: str) -> Workspace:
        self._check_given(study_id, annotator)
        study = self._store.study(study_id)
        if not study.accepting:
            raise StudyClosed(f"{study.name} is closed and accepts no more judgements.")
        total = self._estimated_total(study, self._store.seats(study_id))
        return Workspace(study, 0, total, 0, 0, None, None, None, None, (), {}, (), joined=False)

    def _check_given(self, study_id: str, annotator: str) -> None:
        """Raises ``UnknownStudy``, as for a study that is not there."""
        if not self._is_given(study_id, annotator):
            raise UnknownStudy("No such study is open to you. Choose one from the list of studies.")

    def _estimated_total(self, study: Study, seats: Sequence[Seat]) -> int:
        return self._store.counts(study.study_id)["assignments"] // max(1, len(seats))

    def _item_of(
        self, study: str, annotator: str, item_id: str,
    ) -> tuple[str, Study, Item, Mapping[str, Any], GoldRole | None]:
        """The study's id, the study, the person's item, and of their assignment the extra and what it was dealt as."""
        study_id = self._study_id(study)
        who = (study_id, name_key(annotator), input_limits.checked_item(item_id))
        with self._items_lock:
            found = self._items.get(who)
        if found is None:
            workspace = self._remember(annotator, self._store.workspace(study_id, annotator, item_id=item_id))
            assert workspace.item is not None, "the store returns the requested item, or raises"
            found = workspace.study, workspace.item, workspace.extra, workspace.dealt
        return study_id, *found

    def _remember(self, annotator: str, workspace: Workspace) -> Workspace:
        study, who = workspace.study, name_key(annotator)
        known = [] if workspace.item is None else [(workspace.item, workspace.extra, workspace.dealt)]
        known += [(item, of.extra, of.dealt) for item, of in zip(workspace.ahead, workspace.upcoming, strict=True)]
        with self._items_lock:
            for item, extra, dealt in known:
                self._items[study.study_id, who, item.item_id] = study, replace(item, hidden={}), extra, dealt
        return workspace

    def _completed(self, annotator: str, workspace: Workspace) -> Workspace:
        """Cache the workspace's items; add the place in the training, and the survey position in a kind with a flow."""
        workspace = self._control.placed(self._remember(annotator, workspace), annotator)
        flow = self._kind(workspace.study).flow
        if flow is None:
            return workspace
        study = workspace.study
        survey = flow.position(
            workspace, annotator, self._store.overview(study.study_id, annotator),
            lambda: self._store.counts(study.study_id)["assignments"] // max(1, study.plan.seats))
        if survey.gate and survey.gate["kind"] == "finished" and not _has_finished(workspace):
            with suppress(StorageError):   # a workspace can be read on a full disk; recorded next time
                self._note(study, annotator, "finish", _FINISH, {"code": survey.gate["code"]})
        return replace(workspace, survey=survey)

    def _note(self, study: Study, annotator: str, kind: EventKind, token: str, payload: Mapping[str, Any]) -> None:
        self._store.note(StudyEvent(new_id(), study.study_id, annotator, kind, token, dict(payload), self._clock()))

    def _kind(self, study: Study) -> StudyKind:
        if study.kind not in self._kinds:
            raise StudyError(f"{study.name} is {study.called}, which this screen does not support.")
        return self._kinds[study.kind]


def _trimmed(value: object) -> object:
    return value.rstrip() if isinstance(value, str) else value


def _has_finished(workspace: Workspace) -> bool:
    return any(event.kind == "finish" for event in workspace.events)
