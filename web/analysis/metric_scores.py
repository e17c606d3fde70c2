"""Endpoints for scores of studies: of sets by metrics (upload, or compute with a method), of sessions by language
models (upload); list, remove. Background jobs that compute scores: one at a time, at most one per study."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime

from cachetools import FIFOCache
from fastapi import APIRouter

from annotation.kinds.preference.metric_scoring import CIRQRS, checked_name, method_scores, relevance_scores
from annotation.kinds.table import KINDS
from annotation.records import MetricScores, Study, name_key
from annotation.records.studies import NAME_LIMIT
from annotation.studies import input_limits
from cir_core.errors import RelevanceUnavailable, StudyError
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.methods.declared import find_method
from cir_core.relevance.configured import configured_scorer, problem_of
from web.analysis import report_json as present
from web.analysis.report_cache import ReportCache
from web.http.background import SCORES, BackgroundPool
from web.http.json_api import Fields, get_endpoint, json_routes, post_endpoint
from web.http.long_actions import LiveWatch, Progress, Runs
from web.http.visitor import Visitor, check
from web.services import Services

_log = logging.getLogger("cirque.analysis")
_KEPT = 100   # runs that are over and can still be asked for


Tell = Callable[[str, int, int], None]
"""What is being done, and how many of how many queries are."""
Compute = Callable[[LiveWatch, Tell], None]


@dataclass(frozen=True)
class Computation:
    """A requested computation. ``key``: equal for equal scores; ``name``: for display; ``text``: the first step."""

    key: Hashable
    name: str
    text: str
    work: Compute


class ScoreRuns:
    """Queue of score jobs. ``runs`` lets the page stop a running or waiting job."""

    def __init__(self, runs: Runs, threads: BackgroundPool = SCORES) -> None:
        self._runs, self._threads = runs, threads
        self._lock = threading.Lock()
        self._at_work: dict[str, tuple[LiveWatch, Computation]] = {}   # by study
        self._ended: FIFOCache[str, Progress] = FIFOCache(_KEPT)

    def begin(self, study_id: str, wanted: Computation) -> str:
        """Start or queue a job and return its run id; an equal job is reused.

        Raises ``StudyError`` while the study has another job, or if no job can be started.
        """
        with self._lock:
            self._forget_finished(study_id)
            if study_id in self._at_work:
                watch, there = self._at_work[study_id]
                if there.key == wanted.key:
                    return watch.state.run_id
                raise StudyError(f"“{there.name}” is being computed for this study ({_how_far(watch.state)}). "
                                 "Wait until it is done, or stop it and start again.")
            watch = LiveWatch("Waiting for another study's computation" if self._threads.busy else wanted.text)
            self._at_work[study_id] = watch, wanted
        stoppable = ExitStack()
        stoppable.enter_context(self._runs.of(watch))
        try:
            self._threads.submit(lambda: self._run(study_id, watch, wanted, stoppable))
        except RuntimeError as error:
            watch.stop()   # a pool that finds no thread for it may find one later
            problem = f"No computation can be started now ({error}). Try again later."
            stoppable.close()
            watch.change(finished=True, problem=problem)
            raise StudyError(problem) from error
        return watch.state.run_id

    def state(self, run_id: str) -> Progress | None:
        """``done`` of ``total`` queries. ``problem``: why it ended without scores."""
        with self._lock:
            at_work = (watch.state for watch, _ in self._at_work.values() if watch.state.run_id == run_id)
            return next(at_work, None) or self._ended.get(run_id)

    def _run(self, study_id: str, watch: LiveWatch, wanted: Computation, stoppable: ExitStack) -> None:
        def compute() -> str:
            with stoppable:
                if watch.stopped:
                    return "It was stopped before it started."
                watch.change(text=wanted.text)
                wanted.work(watch, lambda text, done, total: watch.change(text=text, done=done, total=total))
                return ""

        try:
            watch.run(compute, _log, "Scores could not be computed")
        finally:
            with self._lock:
                self._forget_finished(study_id)

    def _forget_finished(self, study_id: str) -> None:
        """Of those that are finished only the last ones are kept. Called with the lock."""
        if study_id in self._at_work and (state := self._at_work[study_id][0].state).finished:
            del self._at_work[study_id]
            self._ended[state.run_id] = state


def _how_far(state: Progress) -> str:
    return f"{state.done:,} of {state.total:,} queries" if state.total else state.text[:1].lower() + state.text[1:]


_MOST_BYTES = 8 * 2**20
_TOO_LARGE = ("This file is larger than 8 MB. Remove columns that are not scores, or add it with the command: "
              "cirque report scores STUDY --add FILE")
_LONGEST_NAME = 200


def scores_routes(services: Services, analyses: ReportCache) -> APIRouter:
    """``/analysis/scores…``. Reading requires the permission to see results, changes that to manage studies."""
    store = services.study_store
    runs = ScoreRuns(services.runs)

    def choices(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "results")
        study = _preference(store.study(input_limits.checked_study(query.get("study", ""))))
        galleries = [{"name": one.name, "size": one.size} for one in services.search.galleries()
                     if one.status == "complete"]
        methods = [{"name": one.name, "title": one.title} for one in services.methods.values()]
        return {"galleries": galleries, "methods": methods, "gallery": study.source.get("gallery"),
                "name_limit": NAME_LIMIT, "cirqrs": {"problem": problem_of(services.settings)}}

    def add(visitor: Visitor, sent: Fields) -> object:
        study = _managing(visitor, sent)
        content, items = _text(sent, "content", _MOST_BYTES), store.items(study.study_id)
        name = _text(sent, "name", _LONGEST_NAME)
        read = KINDS[study.kind].read_scores
        found = read(study, content, items, name) if read else ()
        for one in found:
            _keep(study, one, visitor)
        return {"added": [one.name for one in found], "scores": present.scores(store.scores(study.study_id))}

    def compute(visitor: Visitor, sent: Fields) -> object:
        study = _preference(_managing(visitor, sent))
        method = None if "metric" in sent else find_method(_text(sent, "method", _LONGEST_NAME), services.methods)
        gallery = services.search.gallery(_text(sent, "gallery", _LONGEST_NAME)).name
        if method is None:
            return {"run": runs.begin(study.study_id, _by_cirqrs(study, gallery, sent, visitor))}
        name = checked_name(_text(sent, "name", _LONGEST_NAME) or f"{method.name} in {gallery}")

        def work(watch: LiveWatch, tell: Tell) -> None:
            searcher = services.search.searcher(gallery)
            tell(method.title, 0, 0)
            # As evaluation does it: the built-in rules, so that nothing is sent or paid for by surprise.
            _keep(study, method_scores(
                store.items(study.study_id), searcher.gallery, searcher.encoder,
                BuiltinLanguageModel(searcher.encoder), method, name=name, otherwise=services.settings.domain,
                progress=tell, watch=watch), visitor)

        key = (method.name, gallery, name_key(name))
        return {"run": runs.begin(study.study_id, Computation(key, name, f"Opening the gallery {gallery}", work))}

    def _by_cirqrs(study: Study, gallery: str, sent: Fields, visitor: Visitor) -> Computation:
        if sent["metric"] != "cirqrs" or sent.get("method"):
            raise StudyError("Scores are computed by a method, or by the metric “cirqrs”.")
        if problem := problem_of(services.settings):
            raise RelevanceUnavailable(problem)
        name = checked_name(_text(sent, "name", _LONGEST_NAME) or CIRQRS)

        def work(watch: LiveWatch, tell: Tell) -> None:
            tell("Opening the relevance model", 0, 0)
            scorer = configured_scorer(services.search.gallery(gallery), services.settings)
            _keep(study, relevance_scores(store.items(study.study_id), scorer, name=name, progress=tell, watch=watch),
                  visitor)

        return Computation(("metric cirqrs", gallery, name_key(name)), name, f"Opening the gallery {gallery}", work)

    def run(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "results")
        state = runs.state(query.get("id", ""))
        if state is None:
            raise StudyError("Unknown computation: the server was restarted, or it ended long ago. "
                             "Check whether its scores exist; otherwise start again.")
        return {"text": state.text, "done": state.done, "total": state.total, "finished": state.finished,
                "problem": state.problem}

    def drop(visitor: Visitor, sent: Fields) -> object:
        study = _managing(visitor, sent)
        store.drop_scores(study.study_id, _text(sent, "name", _LONGEST_NAME), by=visitor.name)
        analyses.changed(study.study_id)
        return {"scores": present.scores(store.scores(study.study_id))}

    def _managing(visitor: Visitor, sent: Fields) -> Study:
        check(visitor, "manage")
        study = store.study(input_limits.checked_study(sent["study"]))
        if KINDS[study.kind].read_scores is None:
            raise StudyError(f"{study.name} is {study.called}: it has no sets or sessions that could be scored.")
        return study

    def _keep(study: Study, scores: MetricScores, visitor: Visitor) -> None:
        store.save_scores(study.study_id, scores, visitor.name, datetime.now(UTC))
        analyses.changed(study.study_id)

    return json_routes("/analysis/scores", {"/choices": get_endpoint(choices, slow=True), "/run": get_endpoint(run)}, {
        "/compute": post_endpoint(compute, ("study", "gallery"), ("method", "metric", "name"), slow=True),
        "/drop": post_endpoint(drop, ("study", "name"), slow=True),
        "": post_endpoint(add, ("study", "content"), ("name",), slow=True, most_bytes=_MOST_BYTES, too_long=_TOO_LARGE),
    })


def _text(sent: Fields, name: str, most: int) -> str:
    value = sent.get(name, "")
    if not isinstance(value, str) or len(value) > most:
        raise StudyError(f"“{name}” must be a text of at most {most:,} characters.")
    return value


def _preference(study: Study) -> Study:
    if not KINDS[study.kind].has_sets:
        raise StudyError(f"{study.name} is {study.called}: it has no sets that a metric could score.")
    return study
