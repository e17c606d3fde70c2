"""The reports that pages look at: each is made once for all who ask for the same, and follows a running study."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import orjson

from annotation.analysis.disputes import disputed
from annotation.analysis.loading import load_answers
from annotation.analysis.records import (
    Disputed,
    MetricScores,
    PreferenceReport,
    Section,
    StudyAnswers,
    ValidityReport,
)
from annotation.analysis.selection import Choices, choices
from annotation.latest import Latest
from annotation.records import Study, StudyImage, name_key
from annotation.store import StudyStore
from cir_core.errors import StudyError, UnknownStudy
from web import analysis_present as present
from web.analysis_cache import Shared
from web.analysis_query import Asked

ASKED_EVERY = 2.0   # seconds: a study is looked at no more often, however many follow it
_KEPT_REPORTS, _KEPT_STUDIES, _KEPT_NAMES = 24, 3, 500


@dataclass(frozen=True)
class Looked:
    """A study as it was when its stamp was asked for, or later."""

    study: Study
    stamp: str


@dataclass(frozen=True)
class Made:
    """A report with all that is shown beside it."""

    looked: Looked
    asked: Asked
    report: ValidityReport | PreferenceReport
    sections: tuple[Section, ...]
    choices: Choices
    scores: tuple[MetricScores, ...]

    @cached_property
    def as_json(self) -> bytes:
        """What the page gets, written once for all who look at it."""
        return orjson.dumps(present.report(self))


class Analyses:
    """Reports of the studies in ``store``, for many threads.

    What is made of a study is kept under the stamp that was there before it was read, so that nothing newer is ever
    missed: a report may know more than its stamp says, never less.
    """

    def __init__(self, store: StudyStore, **clock: Callable[[], float]) -> None:
        self._store = store
        self._ids: Latest[str, str] = Latest(_KEPT_NAMES)
        self._last: Latest[str, Looked] = Latest(_KEPT_NAMES)
        self._looks: Shared[str, Looked] = Shared(_KEPT_NAMES, lasts=ASKED_EVERY, **clock)
        self._answers: Shared[tuple[str, str], StudyAnswers] = Shared(_KEPT_STUDIES)
        self._images: Shared[str, Mapping[str, StudyImage]] = Shared(_KEPT_STUDIES)
        self._made: Shared[tuple[str, str, Asked], Made] = Shared(_KEPT_REPORTS)
        self._disputed: Shared[tuple[object, ...], tuple[Disputed, ...]] = Shared(_KEPT_REPORTS)

    def looked(self, name: str) -> Looked:
        """The study by its name or id, with its stamp. Raises ``UnknownStudy``."""
        known = self._ids.get(name)
        if known is not None:
            try:
                looked = self._look(known)
            except UnknownStudy:
                looked = None
            if looked is not None and (
                name == known or name_key(name) == name_key(looked.study.name)):
                return looked
        return self._look(self._ids.put(name, self._store.study(name).study_id))

    def changed(self, study_id: str) -> None:
        """Something of the study has just changed: it is looked at again, however short ago that was."""
        self._looks.forget(study_id)

    def made(self, name: str, asked: Asked) -> Made:
        """Raises ``StudyError`` for what the study does not have."""
        looked = self.looked(name)
        return self._made.get((looked.study.study_id, looked.stamp, asked), lambda: self._make(looked, asked))

    def at_once(self, name: str, asked: Asked) -> bool:
        """Whether :meth:`made` needs no draws any more, or none at all."""
        if not asked.options.draws:
            return True
        looked = self.looked(name)
        return self._made.has((looked.study.study_id, looked.stamp, asked))

    def disputed(
        self, name: str, asked: Asked, a: int | None, b: int | None, key: str,
    ) -> tuple[Looked, tuple[Disputed, ...]]:
        """Raises ``StudyError``, also for a study in which nothing can be disputed."""
        looked = self.looked(name)
        if looked.study.kind != "validity":
            raise StudyError(f"{looked.study.name} is a {looked.study.kind} study. Only verdicts of validity studies "
                             "are disputed.")
        options = asked.options
        of = (looked.study.study_id, looked.stamp, asked.selection, options.hide_names, a, b, key)
        found = self._disputed.get(of, lambda: tuple(disputed(
            self._read(looked), asked.selection, options, a=a, b=b, key=key)))
        return looked, found

    def images(self, study_id: str) -> Mapping[str, StudyImage]:
        return self._images.get(study_id, lambda: self._store.images(study_id))

    def _look(self, study_id: str) -> Looked:
        return self._looks.get(study_id, lambda: self._look_now(study_id))

    def _look_now(self, study_id: str) -> Looked:
        stamp, last = self._store.stamp(study_id), self._last.get(study_id)
        if last is not None and last.stamp == stamp:
            return last
        return self._last.put(study_id, Looked(self._store.study(study_id), stamp))

    def _read(self, looked: Looked) -> StudyAnswers:
        study = looked.study
        return self._answers.get((study.study_id, looked.stamp), lambda: load_answers(self._store, study))

    def _make(self, looked: Looked, asked: Asked) -> Made:
        answers = self._read(looked)
        scores = tuple(self._store.scores(looked.study.study_id)) if looked.study.kind == "preference" else ()
        there = choices(answers, hide_names=asked.options.hide_names)
        making = _validity if looked.study.kind == "validity" else _preference
        report, sections = making(answers, asked, scores)
        return Made(looked, asked, report, sections, there, scores)


def _validity(
    answers: StudyAnswers, asked: Asked, scores: tuple[MetricScores, ...],
) -> tuple[ValidityReport, tuple[Section, ...]]:
    from annotation.analysis.precision import kappa_precision
    from annotation.analysis.validity_report import validity_report
    from annotation.analysis.validity_sections import validity_sections

    report = validity_report(answers, asked.selection, asked.options)
    plan = () if _unplanned(asked) else kappa_precision(answers, asked.plan or 0, asked.options, asked.selection)
    return report, tuple(validity_sections(report, plan))


def _preference(
    answers: StudyAnswers, asked: Asked, scores: tuple[MetricScores, ...],
) -> tuple[PreferenceReport, tuple[Section, ...]]:
    from annotation.analysis.precision import rate_precision
    from annotation.analysis.preference_report import preference_report
    from annotation.analysis.preference_sections import preference_sections

    report = preference_report(answers, asked.selection, asked.options, rules=asked.rules, scores=scores, ks=asked.ks)
    plan = () if _unplanned(asked) else rate_precision(
        answers, asked.plan or 0, asked.options, asked.selection, rules=asked.rules, scores=scores,
        metric=f"recall@{asked.ks[0]}")
    return report, tuple(preference_sections(report, plan))


def _unplanned(asked: Asked) -> bool:
    """Planning draws: without draws there is none."""
    return asked.plan is None or not asked.options.draws
