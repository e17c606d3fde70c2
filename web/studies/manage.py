"""JSON endpoints of the studies screen, with results and exports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, cast, get_args

from fastapi import APIRouter

from annotation.kinds.table import KINDS, Export, results_of
from annotation.kinds.validity.exports.results import queue_json
from annotation.kinds.validity.labels import LabelRule
from annotation.records import AuditEvent, Study, same_person
from annotation.studies import input_limits
from annotation.studies.lifecycle import release as release_work
from annotation.studies.lifecycle import set_accepting
from annotation.studies.overview import seat_progress
from annotation.studies.planner import plan_study
from cir_core.errors import StudyError
from cir_core.support.texts import quoted
from web.http.json_api import Fields, get_endpoint, json_routes, post_endpoint
from web.http.request_fields import whole
from web.http.visitor import Visitor, check
from web.services import Services
from web.studies import manage_json as present
from web.studies.downloads import download

_PLAN = {"people": 5, "items": 500, "overlap": 1, "block": 0}
_MOST = 9_999_999


def studies_routes(services: Services) -> APIRouter:
    """``/studies/…``. Reading requires the permission to manage studies or see results, changes that to manage."""
    store = services.study_store

    def everything(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "manage", "results")
        return {"studies": [present.study(it, store.counts(it.study_id)) for it in store.studies()]}

    def one(visitor: Visitor, query: Mapping[str, str]) -> object:
        study = _reading(visitor, query)
        seats, judgements = store.seats(study.study_id), store.judgements(study.study_id)
        progress = seat_progress(study, seats, store.assignments(study.study_id), judgements, datetime.now(UTC),
                                 store.events(study.study_id, kind="finish"))
        queue = KINDS[study.kind].queue
        return {
            "study": present.study(study, store.counts(study.study_id)), "people": present.people(progress),
            "queue": queue_json(queue(store, study) if queue else ()),
            "downloads": [asdict(each) for each in KINDS[study.kind].downloads],
            "you_judge": any(same_person(seat.annotator, visitor.name) for seat in seats),
        }

    def counts(visitor: Visitor, query: Mapping[str, str]) -> object:
        study = _reading(visitor, query)
        return {"counts": dict(store.counts(study.study_id)), "accepting": study.accepting}

    def results(visitor: Visitor, query: Mapping[str, str]) -> object:
        return results_of(store, _reading(visitor, query), rule_of(query)).json

    def export(visitor: Visitor, query: Mapping[str, str]) -> object:
        study, form, table = _reading(visitor, query), query.get("form", ""), query.get("table", "judgements")
        made = download(store, study, Export(form, (table,), rule_of(query)))
        store.log_event(AuditEvent("study.exported", visitor.name, study.name, study.study_id, {"form": form}))
        return made

    def plan(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "manage", "results")
        people, items, overlap, block = (whole(query, name, usual, most=_MOST) for name, usual in _PLAN.items())
        seconds = whole(query, "seconds", 60, most=_MOST)
        return asdict(plan_study(people, items, overlap, block, seconds_per_item=seconds))

    def accept(accepting: bool) -> Any:
        def change(visitor: Visitor, sent: Fields) -> object:
            study = _managing(visitor, sent)
            changed = set_accepting(store, study, accepting, by=visitor.name)
            return {"study": present.study(changed, store.counts(study.study_id))}
        return post_endpoint(change, ("study",))

    def release(visitor: Visitor, sent: Fields) -> object:
        study = _managing(visitor, sent)
        name = sent["annotator"]
        if not isinstance(name, str) or not any(
            same_person(seat.annotator, name) for seat in store.seats(study.study_id)):
            raise StudyError("Nobody of that name has a seat in this study. Reload the page.")
        released = release_work(store, study, name, by=visitor.name)
        services.study_members.forget()
        return {"released": released.items, "block": released.block, "freed": released.freed}

    def _reading(visitor: Visitor, query: Mapping[str, str]) -> Study:
        check(visitor, "manage", "results")
        return store.study(input_limits.checked_study(query.get("study", "")))

    def _managing(visitor: Visitor, sent: Fields) -> Study:
        check(visitor, "manage")
        return store.study(input_limits.checked_study(sent["study"]))

    slow = {"/all": everything, "/one": one, "/results": results, "/ratings": results, "/targets": results,
            "/export": export, "/plan": plan}
    gets = {path: get_endpoint(work, slow=True) for path, work in slow.items()} | {"/counts": get_endpoint(counts)}
    return json_routes("/studies", gets, {"/close": accept(False), "/open": accept(True),
                                          "/release": post_endpoint(release, ("study", "annotator"))})


def rule_of(query: Mapping[str, str]) -> LabelRule:
    rule = query.get("rule") or "majority"
    if rule not in get_args(LabelRule):
        raise StudyError(f"There is no rule {quoted(rule)}. Choose one of: {', '.join(get_args(LabelRule))}.")
    return cast(LabelRule, rule)
