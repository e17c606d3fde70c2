"""Cache of live study reports, shared by all readers and refreshed while a study runs. Adaptive polling interval for
live reports: the more a report costs, the less often it is refreshed."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Literal

import orjson
from cachetools import LRUCache

from annotation.analysis.records import MetricScores, StudyAnswers
from annotation.analysis.selection import choices
from annotation.kinds.models.kept import models_stamp
from annotation.kinds.reports import compose, load_answers
from annotation.kinds.table import KINDS
from annotation.kinds.validity.report.disputes import disputed
from annotation.kinds.validity.report.records import Disputed
from annotation.records import Study, StudyImage, name_key, same_person
from annotation.records.studies import SCORED
from annotation.studies.store import StudyStore
from cir_core.errors import StudyError, UnknownStudy
from web.analysis import report_json as present
from web.analysis.query import ReportParams
from web.analysis.report_json import Report, StudySnapshot
from web.limits.single_flight import LatestVersionCache, SingleFlightCache

OFTEN, RARELY = 2.0, 60.0   # seconds between two looks: never less, never more
_TIMES = 5                  # what was spent on the last news, before news are looked for again
Work = Literal["reading", "making"]


@dataclass
class _Spent:
    """Costs in seconds. ``since`` the last change: reading the study plus its slowest report; ``before``: the same for
    the change before."""

    since: dict[Work, float] = field(default_factory=dict)
    before: float = 0.0
    under_way: dict[object, float] = field(default_factory=dict)   # when it began

    def together(self) -> float:
        return sum(self.since.values())


class PollingInterval:
    """Thread-safe polling interval per study.

    While people answer, every poll finds changes, so the study is read and its reports are computed again. Spacing
    polls at several times this cost leaves capacity for other requests.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._spent: defaultdict[str, _Spent] = defaultdict(_Spent)
        self._lock = threading.Lock()

    def seconds(self, study_id: str) -> float:
        """Validity of a poll in seconds, from its start."""
        with self._lock:
            spent, now = self._spent[study_id], self._clock()
            longest = max((now - began for began in spent.under_way.values()), default=0.0)
            cost = max(spent.before, spent.together(), longest)
        return min(max(OFTEN, _TIMES * cost), RARELY)

    def news(self, study_id: str) -> None:
        """Record that a poll found changes and start a new cost record."""
        with self._lock:
            spent = self._spent[study_id]
            spent.before, spent.since = spent.together(), {}

    @contextmanager
    def spending(self, study_id: str, work: Work) -> Iterator[None]:
        me, began = object(), self._clock()
        with self._lock:
            spent = self._spent[study_id]
            spent.under_way[me] = began
        try:
            yield
        finally:
            with self._lock:
                del spent.under_way[me]
                spent.since[work] = max(spent.since.get(work, 0.0), self._clock() - began)


_KEPT_REPORTS, _KEPT_STUDIES, _KEPT_NAMES = 24, 3, 500
_LARGE = 10_000   # items and answers: a study with more is not read at once


@dataclass(frozen=True)
class _Read:
    answers: StudyAnswers
    scores: tuple[MetricScores, ...]


@dataclass(frozen=True)
class CachedReport(Report):
    """A report with its serialised JSON."""

    @cached_property
    def _json(self) -> bytes:
        """JSON bytes, serialised once for all readers."""
        return orjson.dumps(present.report(self))

    def json_for(self, person: str) -> bytes:
        """The JSON response for ``person``."""
        mine = any(same_person(one, person) for one in self.judges)
        return b'{"you_judge":%s,' % (b"true" if mine else b"false") + self._json[1:]


class ReportCache:
    """Thread-safe cache of reports of the studies in ``store``.

    Entries are keyed by the stamp read before the study itself: a report may be newer than its stamp, never older. One
    copy of each study is kept, and no report of an older stamp.
    """

    def __init__(self, store: StudyStore, home: Path | None = None, *, clock: Callable[[], float] = monotonic) -> None:
        """``home``: where answers of language models are; None: without them."""
        self._store, self._home = store, home
        self._pace = PollingInterval(clock)
        self._numbers = count(1)
        self._ids: LRUCache[str, str] = LRUCache(_KEPT_NAMES)
        self._last: LRUCache[str, StudySnapshot] = LRUCache(_KEPT_NAMES)
        self._lock = Lock()
        self._looks: SingleFlightCache[str, StudySnapshot] = SingleFlightCache(_KEPT_NAMES, lasts=self._pace.seconds,
                                                                               clock=clock)
        self._studies: LatestVersionCache[str, _Read] = LatestVersionCache(_KEPT_STUDIES)
        self._images: SingleFlightCache[str, Mapping[str, StudyImage]] = SingleFlightCache(_KEPT_STUDIES)
        self._made: SingleFlightCache[tuple[str, str, ReportParams], CachedReport] = SingleFlightCache(_KEPT_REPORTS)
        self._disputed: SingleFlightCache[tuple[object, ...], tuple[Disputed, ...]] = SingleFlightCache(_KEPT_REPORTS)

    def looked(self, name: str) -> StudySnapshot:
        """The study by its name or id, with its stamp. Raises ``UnknownStudy``."""
        with self._lock:
            known = self._ids.get(name)
        if known is not None:
            try:
                looked = self._look(known)
            except UnknownStudy:
                looked = None
            if looked is not None and (name == known or name_key(name) == name_key(looked.study.name)):
                return looked
        study_id = self._store.study(name).study_id
        with self._lock:
            self._ids[name] = study_id
        return self._look(study_id)

    def changed(self, study_id: str) -> None:
        """Something of the study has just changed: it is looked at again, however short ago that was."""
        self._looks.drop(lambda key: key == study_id)

    def made(self, name: str, asked: ReportParams) -> CachedReport:
        """Return the report, computing it if necessary. Raises ``StudyError`` if the study lacks the requested data."""
        looked = self.looked(name)
        return self._made.get((looked.study.study_id, looked.stamp, asked), lambda: self._make(looked, asked))

    def at_once(self, name: str, asked: ReportParams) -> bool:
        """Whether :meth:`made` returns without bootstrap draws and without reading a large study."""
        looked = self.looked(name)
        if self._made.has((looked.study.study_id, looked.stamp, asked)):
            return True
        return not asked.options.draws and self._is_near(looked)

    def is_near(self, name: str) -> bool:
        """Whether the study's answers are cached, or few."""
        return self._is_near(self.looked(name))

    def disputed(
        self, name: str, asked: ReportParams, a: int | None, b: int | None, key: str,
    ) -> tuple[StudySnapshot, tuple[Disputed, ...]]:
        """Disputed items of the study. Raises ``StudyError``, also for kinds of study without disputes."""
        looked = self.looked(name)
        if not KINDS[looked.study.kind].leaves_unsure:
            raise StudyError(f"{looked.study.name} is a {looked.study.kind} study. Disputed items are listed of "
                             "validity studies.")
        options = asked.options
        of = (looked.study.study_id, looked.stamp, asked.selection, options.hide_names, a, b, key)
        found = self._disputed.get(of, lambda: tuple(disputed(
            self._read(looked).answers, asked.selection, options, a=a, b=b, key=key)))
        return looked, found

    def images(self, study_id: str) -> Mapping[str, StudyImage]:
        return self._images.get(study_id, lambda: self._store.images(study_id))

    def _look(self, study_id: str) -> StudySnapshot:
        return self._looks.get(study_id, lambda: self._look_now(study_id))

    def _look_now(self, study_id: str) -> StudySnapshot:
        stamp = self._store.stamp(study_id) + (models_stamp(self._home, study_id) if self._home else "")
        with self._lock:
            last = self._last.get(study_id)
        if last is not None and last.stamp == stamp:
            return last
        counts = self._store.counts(study_id)
        looked = StudySnapshot(self._store.study(study_id), stamp, next(self._numbers),
                        counts["items"] + counts["done"] > _LARGE)
        self._pace.news(study_id)
        # Nobody asks for an older stamp any more.
        self._made.drop(lambda key: key[0] == study_id and key[1] != stamp)
        self._disputed.drop(lambda key: key[0] == study_id and key[1] != stamp)
        with self._lock:
            self._last[study_id] = looked
        return looked

    def _is_near(self, looked: StudySnapshot) -> bool:
        return not looked.large or self._studies.has(looked.study.study_id, looked.number)

    def _read(self, looked: StudySnapshot) -> _Read:
        return self._studies.get(looked.study.study_id, looked.number, lambda: self._read_now(looked.study))

    def _read_now(self, study: Study) -> _Read:
        with self._pace.spending(study.study_id, "reading"):
            scores = tuple(self._store.scores(study.study_id)) if study.kind in SCORED else ()
            return _Read(load_answers(self._store, study, self._home), scores)

    def _make(self, looked: StudySnapshot, asked: ReportParams) -> CachedReport:
        read = self._read(looked)
        with self._pace.spending(looked.study.study_id, "making"):
            whole = compose(read.answers, asked.selection, asked.options, rules=asked.rules, scores=read.scores,
                            ks=asked.ks, width=asked.plan)
            return CachedReport(
                looked, whole, choices(read.answers, hide_names=asked.options.hide_names),
                tuple(replace(one, scores={}) for one in read.scores),
                tuple(seat.annotator for seat in read.answers.seats if seat.annotator))
