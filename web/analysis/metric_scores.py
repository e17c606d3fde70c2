"""Endpoints for scores of studies: of sets by metrics (upload, or compute with a method), of sessions by language
models (upload); list, remove."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from fastapi import APIRouter

from annotation.kinds.preference.metric_scoring import checked_name, method_scores
from annotation.kinds.preference.relevance_scoring import CIRQRS, relevance_scores
from annotation.kinds.table import KINDS
from annotation.records import MetricScores, Study, name_key
from annotation.records.scores import NAME_LIMIT
from annotation.studies import input_limits
from cir_core.errors import RelevanceUnavailable, StudyError
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.methods.declared import find_method
from cir_core.relevance.configured import configured_scorer, problem_of
from web.analysis import report_json as present
from web.analysis.report_cache import ReportCache
from web.analysis.score_jobs import Computation, ScoreRuns, Tell
from web.http.json_api import Fields, get_endpoint, json_routes, post_endpoint
from web.http.long_actions import LiveWatch
from web.http.visitor import Visitor, check
from web.services import Services

_MOST_BYTES = 8 * 2**20
_TOO_LARGE = ("This file is larger than 8 MB. Remove what is no score, or add it with the command: "
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
        found = read(content, items, name) if read else ()
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
