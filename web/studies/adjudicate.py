"""JSON endpoints of the adjudication screen, without names or hidden data."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter

from annotation.adjudication.needs import SETTING, Needs, needs_from, needs_of
from annotation.adjudication.service import Adjudication, OpenCase
from annotation.kinds.table import KINDS
from annotation.records import Decision, Study, same_person
from annotation.studies.input_limits import checked_study
from web.http.json_api import Fields, get_endpoint, json_routes, post_endpoint
from web.http.visitor import Visitor, check
from web.services import Services
from web.studies import annotate_json as present

Json = dict[str, object]


def adjudicate_routes(services: Services) -> APIRouter:
    """``/adjudicate/…``, for adjudicators."""
    store = services.study_store
    adjudication = Adjudication(store, {name: kind.answers for name, kind in KINDS.items()})

    def studies(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "adjudicate")
        found = [it for it in store.studies() if not rule_of(it).none]
        counts = [store.counts(it.study_id) for it in found]
        return {"studies": [{"name": it.name, "accepting": it.accepting, "done": of["done"],
                             "decisions": of["decisions"]} for it, of in zip(found, counts, strict=True)]}

    def queue(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "adjudicate")
        found = adjudication.cases(query.get("study", ""), visitor.name)
        return {"cases": [{"item": it.item_id, "number": it.number, "why": it.why, "answered": it.answered,
                           "decided": it.decided} for it in found.cases], "counts": dict(found.counts),
                "kind": found.study.kind}

    def case(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "adjudicate")
        return case_json(adjudication.case(query.get("study", ""), query.get("item", ""), visitor.name), visitor.name)

    def answer(visitor: Visitor, sent: Fields) -> object:
        """The whole case, as it is seen from now on."""
        check(visitor, "adjudicate")
        adjudication.answer(sent["study"], sent["item"], visitor.name, sent["answer"])
        return case_json(adjudication.case(sent["study"], sent["item"], visitor.name), visitor.name)

    def decide(visitor: Visitor, sent: Fields) -> object:
        check(visitor, "adjudicate")
        decided = adjudication.decide(
            sent["study"], sent["item"], visitor.name, sent["answer"], sent["reason"], sent["token"],
            seen_revision=sent.get("seen_revision"))
        return {"decision": decision_json(decided.decision, visitor.name), "overtook": decided.overtook}

    def say(visitor: Visitor, sent: Fields) -> object:
        check(visitor, "adjudicate")
        return {"messages": present.messages(adjudication.say(
            sent["study"], sent["item"], visitor.name, "adjudicator", sent["text"], sent["token"]))}

    def needs(visitor: Visitor, sent: Fields) -> object:
        check(visitor, "manage")
        study = store.study(checked_study(sent["study"]))
        kept = needs_from(sent["needs"]).as_settings()
        store.change_settings(study.study_id, {SETTING: kept}, by=visitor.name)
        return {"needs": kept}

    posts = {
        "/answer": post_endpoint(answer, ("study", "item", "answer"), slow=True),
        "/decide": post_endpoint(decide, ("study", "item", "answer", "reason", "token"), ("seen_revision",), slow=True),
        "/say": post_endpoint(say, ("study", "item", "text", "token"), slow=True),
        "/needs": post_endpoint(needs, ("study", "needs"))}
    gets = {"/studies": studies, "/queue": queue, "/case": case}
    return json_routes("/adjudicate", {path: get_endpoint(work, slow=True) for path, work in gets.items()}, posts)


def rule_of(study: Study) -> Needs:
    return needs_of(study, KINDS[study.kind].answers)


def case_json(found: OpenCase, adjudicator: str) -> Json:
    """A case as JSON; judges are letters. Before the adjudicator's own answer the item alone."""
    item: Json = {"item": present.case(found.study, found.item, found.images, found.extra), "number": found.number,
                  "decided": found.decided}
    if found.first is None:
        return {**item, "first": None}
    return {
        **item, "first": found.first, "why": found.why,
        "judgements": [{"label": it.label, "answer": it.answer, "told": it.told, "seconds": round(it.seconds, 1)}
                       for it in found.judgements],
        "judged_by_you": found.own,
        "decision": None if found.decision is None else decision_json(found.decision, adjudicator),
        "discussed": found.discussed, "messages": present.messages(found.messages),
    }


def decision_json(decision: Decision, adjudicator: str) -> Json:
    return {"answer": decision.answer, "reason": decision.reason, "revision": decision.revision,
            "by_you": same_person(decision.adjudicator, adjudicator)}
