"""Training and gold while people work: what somebody in training is told, and what follows from a low score.

An ordinary item costs as many statements as a gold item, so that nobody can tell them apart by time. In a study without
training and gold it costs none, and where nothing follows from a low score hardly any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from threading import Lock
from typing import Any

from cachetools import LRUCache

from annotation.quality.care import RIGHT, Consequence, after_gold, after_training, care_of
from annotation.quality.dealing import with_gold
from annotation.records import Feedback, GoldAnswer, GoldRole, Item, Reassign, Study, StudyEvent, Workspace, name_key
from annotation.studies.kinds import StudyKind
from annotation.studies.store import StudyStore
from cir_core.errors import GateStands
from cir_core.types.records import new_id

_KNOWN = 8192   # people whose training is known to be over


class Control:
    """Thread-safe."""

    def __init__(self, store: StudyStore, clock: Callable[[], datetime]) -> None:
        self._store, self._clock = store, clock
        self._trained: LRUCache[tuple[str, str], bool] = LRUCache(_KNOWN)
        self._lock = Lock()

    def reassign(self, kind: StudyKind) -> Reassign:
        """The kind's policy, with gold items for who gets work."""
        return with_gold(kind.reassign, kind.dealt_extra)

    def placed(self, workspace: Workspace, annotator: str) -> Workspace:
        """With the place of an item of training in the training."""
        if workspace.dealt != "training" or workspace.item is None:
            return workspace
        training = self._training(workspace.study, annotator)
        answered = sum(one.answer is not None for one in training)
        ids = [one.item_id for one in training]
        here = ids.index(workspace.item.item_id) if workspace.judgement is not None else answered
        return replace(workspace, training=(here + 1, len(training)))

    def check_trained(self, study: Study, annotator: str, dealt: GoldRole | None) -> None:
        """Raises ``GateStands`` for an answer to another item before the end of the training."""
        if dealt == "training" or not study.settings.get("care"):
            return
        person = study.study_id, name_key(annotator)
        with self._lock:
            if person in self._trained:
                return
        if any(one.answer is None for one in self._training(study, annotator)):
            raise GateStands("The examples come first: go to the first open one. Nothing was saved yet.")
        with self._lock:
            self._trained[person] = True

    def may_have_more(self, study: Study, annotator: str) -> bool:
        """False for whom the study has ended."""
        return not study.settings.get("care") or not any(
            event.ends_study for event in self._events(study, annotator))

    def after_save(
        self, study: Study, kind: StudyKind, annotator: str, item: Item, dealt: GoldRole | None,
        extra: Mapping[str, Any], answer: Mapping[str, Any], token: str,
    ) -> tuple[Feedback | None, bool]:
        """What to say of an answer to an item that was ``dealt``, and whether the person's work has changed. What
        follows from an answer follows once for each ``token``, also where the first call was cut off."""
        if dealt is None and not study.settings.get("care"):
            return None, False
        study = self._store.study(study.study_id)   # the settings as they are now
        care = care_of(study.settings)
        if dealt != "training" and care.below == "nothing":
            return None, False
        answers, events = self._store.gold_answers(study.study_id, annotator), self._events(study, annotator)
        if dealt != "training":
            found = after_gold(care, answers, kind.score, events)
            return None, dealt == "gold" and self._act(study, annotator, found, dealt, token, events)
        found = after_training(care, answers, kind.score, events)
        gold = next(one for one in self._store.gold(study.study_id) if one.item_id == item.item_id)
        feedback = Feedback(kind.score(answer, gold.answer) >= RIGHT, kind.told(gold.answer, item, study, extra=extra),
                            gold.note, found.words)
        return feedback, self._act(study, annotator, found, dealt, token, events)

    def _act(
        self, study: Study, annotator: str, found: Consequence, of: GoldRole, token: str, events: Sequence[StudyEvent],
    ) -> bool:
        if found.act == "nothing":
            return False
        if any(event.token == token for event in events):
            return True
        if found.act == "end":
            self._store.end_work(study.study_id, annotator)
        else:
            self._store.train_again(study.study_id, annotator)
            with self._lock:
                self._trained.pop((study.study_id, name_key(annotator)), None)
        self._store.note(StudyEvent(
            new_id(), study.study_id, annotator, "care", token, {"of": of, "act": found.act}, self._clock()))
        return True

    def _training(self, study: Study, annotator: str) -> list[GoldAnswer]:
        return [one for one in self._store.gold_answers(study.study_id, annotator) if one.role == "training"]

    def _events(self, study: Study, annotator: str) -> list[StudyEvent]:
        return list(self._store.events(study.study_id, annotator, "care"))
