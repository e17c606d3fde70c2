"""Endpoints for the quality of preference studies: answers, exclusion rules, methods."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter

from annotation.kinds.preference.exclusion import Rules, parse_rules, rules_of
from annotation.kinds.preference.method_results import method_results
from annotation.kinds.preference.review import review
from annotation.kinds.table import KINDS
from annotation.records import Study
from annotation.studies import input_limits
from cir_core.errors import StudyError
from web.http.json_api import Fields, get_endpoint, json_routes, post_endpoint
from web.http.visitor import Visitor, check
from web.services import Services
from web.studies import quality_json as present

_MOST_RULES = 20


def quality_routes(services: Services) -> APIRouter:
    """``/studies/quality`` and ``/studies/methods?study=[&rules=irrelevant,failed-checks=2]``: with the study's own
    rules by default (``none``: all answers count). ``POST /studies/rules {study, rules}`` stores rules with the
    study, which exports apply."""
    store = services.study_store

    def quality(visitor: Visitor, query: Mapping[str, str]) -> object:
        study = _reading(visitor, query)
        found = review(store, study, _rules(query))
        return present.quality(found, rules_of(study.settings))

    def methods(visitor: Visitor, query: Mapping[str, str]) -> object:
        study = _reading(visitor, query)
        found = review(store, study, _rules(query))
        return present.methods(*method_results(store.items(study.study_id), found.removed.kept))

    def rules(visitor: Visitor, sent: Fields) -> object:
        check(visitor, "manage")
        study = _preference(store.study(input_limits.checked_study(sent["study"])))
        given = sent["rules"]
        if not isinstance(given, list) or len(given) > _MOST_RULES or not all(isinstance(one, str) for one in given):
            raise StudyError("“rules” must be a list of texts, such as failed-checks=2.")
        kept = parse_rules(given)
        store.change_settings(study.study_id, {**study.settings, "exclude": kept.as_settings()}, by=visitor.name)
        return {"rules": present.typed(kept)}

    def _reading(visitor: Visitor, query: Mapping[str, str]) -> Study:
        check(visitor, "manage", "results")
        return _preference(store.study(input_limits.checked_study(query.get("study", ""))))

    gets = {"/quality": get_endpoint(quality, slow=True), "/methods": get_endpoint(methods, slow=True)}
    return json_routes("/studies", gets, {"/rules": post_endpoint(rules, ("study", "rules"))})


def _rules(query: Mapping[str, str]) -> Rules | None:
    """The requested rules; None for the study's own."""
    text = query.get("rules")
    return None if text is None else parse_rules([part for part in text.split(",") if part.strip()])


def _preference(study: Study) -> Study:
    if not KINDS[study.kind].has_sets:
        raise StudyError(f"{study.name} is a {study.kind} study: it has no ratings of sets.")
    return study
