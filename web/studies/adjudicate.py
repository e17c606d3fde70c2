"""JSON endpoints of the adjudication screen, without names or hidden data."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter

from annotation.kinds.table import KINDS
from annotation.kinds.validity.adjudication import Adjudication, OpenCase
from annotation.records import Decision, same_person
from web.http.json_api import Fields, get_endpoint, json_routes, post_endpoint
from web.http.visitor import Visitor, check
from web.services import Services
from web.studies import annotate_json as present

Json = dict[str, object]


def adjudicate_routes(services: Services) -> APIRouter:
    """``/adjudicate/…``, for adjudicators."""
    store = services.study_store
    adjudication = Adjudication(store, {name: kind.answers for name, kind in KINDS.items() if kind.has_adjudication})

    def studies(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "adjudicate")
        found = [it for it in store.studies() if KINDS[it.kind].has_adjudication]
        counts = [store.counts(it.study_id) for it in found]
        return {"studies": [{"name": it.name, "accepting": it.accepting, "done": of["done"],
                             "decisions": of["decisions"]} for it, of in zip(found, counts, strict=True)]}

    def queue(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "adjudicate")
        found = adjudication.cases(query.get("study", ""))
        return {"cases": [{"item": it.item_id, "number": it.number, "why": it.why, "decided": it.decided}
                          for it in found.cases], "counts": dict(found.counts)}

    def case(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "adjudicate")
        return case_json(adjudication.case(query.get("study", ""), query.get("item", ""), visitor.name), visitor.name)

    def decide(visitor: Visitor, sent: Fields) -> object:
        check(visitor, "adjudicate")
        decided = adjudication.decide(
            sent["study"], sent["item"], visitor.name, sent["answer"], sent["reason"], sent["token"],
            seen_revision=sent.get("seen_revision"))
        return {"decision": decision_json(decided.decision, visitor.name), "overtook": decided.overtook}

    deciding = post_endpoint(decide, ("study", "item", "answer", "reason", "token"), ("seen_revision",), slow=True)
    gets = {"/studies": studies, "/queue": queue, "/case": case}
    return json_routes("/adjudicate", {path: get_endpoint(work, slow=True) for path, work in gets.items()},
                       {"/decide": deciding})


def case_json(found: OpenCase, adjudicator: str) -> Json:
    """A case as JSON; judges are letters."""
    return {
        "item": present.item(found.item, None, found.images), "number": found.number, "why": found.why,
        "judgements": [{"label": it.label, "answer": it.answer, "seconds": round(it.seconds, 1)}
                       for it in found.judgements],
        "judged_by_you": found.own,
        "decision": None if found.decision is None else decision_json(found.decision, adjudicator),
    }


def decision_json(decision: Decision, adjudicator: str) -> Json:
    return {"answer": decision.answer, "reason": decision.reason, "revision": decision.revision,
            "by_you": same_person(decision.adjudicator, adjudicator)}
