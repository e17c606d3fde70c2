"""Endpoints for the quality of studies: answers, exclusion rules, gold; methods of preference studies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any

from fastapi import APIRouter

from annotation.kinds.preference.method_results import method_results
from annotation.kinds.preference.quality import PersonQuality
from annotation.kinds.preference.review import Review, review
from annotation.kinds.table import KINDS
from annotation.quality.care import Care, care_of
from annotation.quality.people import CareReview, PersonCare, care_review
from annotation.quality.rules import Removal, Rules, parse_rules, rules_of, shown
from annotation.records import Study, name_key
from annotation.studies import input_limits
from annotation.studies.gold import make_gold
from cir_core.errors import StudyError
from web.http.json_api import Fields, get_endpoint, json_routes, post_endpoint
from web.http.visitor import Visitor, check
from web.services import Services

Json = dict[str, Any]
_MOST_RULES = 20


def quality_routes(services: Services) -> APIRouter:
    """``/studies/quality`` and ``/studies/methods?study=[&rules=irrelevant,failed-checks=2]``: with the study's own
    rules by default (``none``: all answers count). ``POST /studies/rules {study, rules}`` stores rules with the
    study, which exports apply. ``POST /studies/gold {study, training, most, care, person}`` makes
    gold."""
    store = services.study_store

    def quality(visitor: Visitor, query: Mapping[str, str]) -> object:
        study = _reading(visitor, query)
        kind = KINDS[study.kind]
        found = (review(store, study, _rules(query)) if kind.has_sets
                 else care_review(store, study, kind.answers, _rules(query)))
        gold = Counter(one.role for one in store.gold(study.study_id))
        known = {one.item_id for one in store.gold(study.study_id)}
        ended = sorted({event.annotator for event in store.events(study.study_id, kind="care")
                        if event.ends_study})
        return {**_quality(found, rules_of(study.settings)), "care": care_of(study.settings).as_settings(),
                "gold": {"gold": gold["gold"], "training": gold["training"], "ended": ended, "ready": sum(
                    one.item_id not in known for one in store.decisions(study.study_id))}}

    def gold(visitor: Visitor, sent: Fields) -> object:
        check(visitor, "manage")
        study = store.study(input_limits.checked_study(sent["study"]))
        given = sent.get("care") or {}
        if not isinstance(given, Mapping) or not given.keys() <= {field.name for field in fields(Care)}:
            raise StudyError("“care” is an object with the settings of training and gold.")
        care = replace(care_of(study.settings), **given)
        if sent.get("most") == 0:   # the settings alone
            store.change_settings(study.study_id, {"care": care.as_settings()}, by=visitor.name)
            return {"gold": 0, "training": 0, "dealt": 0}
        return asdict(make_gold(store, study, KINDS[study.kind].answers.dealt_extra, by=visitor.name, care=care,
                                training=_count(sent.get("training")) or 0, most=_count(sent.get("most")),
                                person=sent.get("person") if isinstance(sent.get("person"), str) else None))

    def methods(visitor: Visitor, query: Mapping[str, str]) -> object:
        study = _preference(_reading(visitor, query))
        found = review(store, study, _rules(query))
        rows, pairs = method_results(store.items(study.study_id), found.removed.kept)
        return {"methods": [asdict(row) for row in rows], "pairs": [asdict(pair) for pair in pairs]}

    def rules(visitor: Visitor, sent: Fields) -> object:
        check(visitor, "manage")
        study = store.study(input_limits.checked_study(sent["study"]))
        given = sent["rules"]
        if not isinstance(given, list) or len(given) > _MOST_RULES or not all(isinstance(one, str) for one in given):
            raise StudyError("“rules” must be a list of texts, such as failed-checks=2.")
        kept = parse_rules(given)
        store.change_settings(study.study_id, {"exclude": kept.as_settings()}, by=visitor.name)
        return {"rules": _typed(kept)}

    def _reading(visitor: Visitor, query: Mapping[str, str]) -> Study:
        check(visitor, "manage", "results")
        return store.study(input_limits.checked_study(query.get("study", "")))

    gets = {"/quality": get_endpoint(quality, slow=True), "/methods": get_endpoint(methods, slow=True)}
    return json_routes("/studies", gets, {
        "/rules": post_endpoint(rules, ("study", "rules")),
        "/gold": post_endpoint(gold, ("study",), ("training", "most", "care", "person"), slow=True)})


def _count(value: object) -> Any:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise StudyError("A number of items is a whole number.")
    return value


def _rules(query: Mapping[str, str]) -> Rules | None:
    """The requested rules; None for the study's own."""
    text = query.get("rules")
    return None if text is None else parse_rules([part for part in text.split(",") if part.strip()])


def _preference(study: Study) -> Study:
    if not KINDS[study.kind].has_sets:
        raise StudyError(f"{study.name} is {study.called}: it has no ratings of sets.")
    return study


def _quality(found: Review | CareReview, kept: Rules) -> Json:
    """People by name, side bias of a preference study, what each rule excludes alone and all together. ``kept``: the
    study's own."""
    removed = found.removed
    sides = {} if isinstance(found, CareReview) else {name: asdict(each) for name, each in (
        ("first", found.bias.first), ("first_when_equal", found.bias.first_when_equal),
        ("stored", found.bias.stored), ("stored_when_equal", found.bias.stored_when_equal))}
    return {
        "people": [_person(one, found) for one in found.people], "sides": sides,
        "rules": _typed(found.rules), "kept_rules": _typed(kept),
        "removed": [{"rule": shown(name), **_removal(one)} for name, one in removed.by_rule.items()],
        "together": _removal(removed.together), "answers": len(found.judgements), "left": len(removed.kept),
    }


def _typed(rules: Rules) -> list[str]:
    """Rules in the syntax of :func:`annotation.quality.rules.parse_rules`."""
    return [shown(name) if value is True else f"{shown(name)}={value}" for name, value in rules.as_settings().items()]


def _person(one: PersonQuality | PersonCare, found: Review | CareReview) -> Json:
    mine = [judgement.judgement_id for judgement in found.judgements
            if name_key(judgement.annotator) == name_key(one.annotator)]
    return {
        "name": one.annotator, "answers": one.answers, "checks": one.checks, "failed_checks": one.failed_checks,
        "median_seconds": one.median_seconds, "longest_run": one.longest_run, "contradictions": one.contradictions,
        "contradictable": one.contradictable, "outcomes": list(one.outcomes), "gold": one.gold,
        **({} if isinstance(one, PersonCare) else {
            "first_side": asdict(one.first_side), "agreement": one.agreement, "shared": one.shared,
            "flagged": one.flagged}),
        "left": len(mine) - sum(judgement_id in found.removed.excluded for judgement_id in mine),
    }


def _removal(one: Removal) -> Json:
    """What a rule removes; ``answers`` is null if its data was not recorded."""
    return {"answers": len(one.judgements) if one.recorded else None, "people": list(one.people)}
