"""JSON endpoints of the annotation screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter

from annotation.adjudication.service import Adjudication
from annotation.kinds.table import KINDS
from annotation.records import Workspace
from annotation.studies.guidelines import study_nodes
from annotation.studies.input_limits import checked_ahead
from annotation.studies.service import AHEAD, MOST_AHEAD
from cir_core.errors import StudyError
from web.http.json_api import Endpoint, Fields, check_opener, get_endpoint, json_routes, post_endpoint
from web.http.visitor import Visitor
from web.services import Services
from web.studies import annotate_json as present
from web.studies.images import address, study_image


def study_routes(services: Services) -> APIRouter:
    """``/study/…``: the visitor's own work. Plain routes, as this path must be fast."""
    return json_routes("/study", *study_endpoints(services))


def study_endpoints(services: Services) -> tuple[dict[str, Endpoint], dict[str, Endpoint]]:
    """The endpoints of GET and of POST, by path."""
    studies = services.studies
    adjudication = Adjudication(services.study_store, {name: kind.answers for name, kind in KINDS.items()})

    def mine(visitor: Visitor, query: Mapping[str, str]) -> object:
        return present.mine(studies.assigned_studies(visitor.name))

    def rubric(visitor: Visitor, query: Mapping[str, str]) -> object:
        name = _study(visitor, query)
        page = studies.page(name)
        own = study_nodes(services.study_store.study(name), lambda study, token: address(study, token, "l"))
        return {**page, "own_guidelines": own}

    def at(visitor: Visitor, query: Mapping[str, str]) -> object:
        position = _whole(query, "position", "A position").get("position")
        return _desk(visitor, studies.workspace(
            _study(visitor, query), visitor.name, item_id=query.get("item"), position=position,
            ahead=_ahead(_whole(query, "ahead"))), query)

    def overview(visitor: Visitor, query: Mapping[str, str]) -> object:
        study = _study(visitor, query)
        talks = frozenset[str]() if visitor.study else adjudication.discussed(study, visitor.name)
        return present.overview(studies.overview(study, visitor.name), studies.begun(study, visitor.name), talks)

    def discussion(visitor: Visitor, query: Mapping[str, str]) -> object:
        """Of an item that the visitor has answered; empty for others."""
        return {"messages": present.messages(adjudication.discussion(
            query.get("study", ""), query.get("item", ""), visitor.name, "judge"))}

    def say(visitor: Visitor, sent: Fields) -> object:
        return {"messages": present.messages(adjudication.say(
            sent["study"], sent["item"], visitor.name, "judge", sent["text"], sent["token"]))}

    def join(visitor: Visitor, sent: Fields) -> object:
        check_opener(visitor, sent.get("by"))
        workspace = studies.join(_study(visitor, sent), visitor.name, ahead=_ahead(sent))
        return _desk(visitor, workspace, sent)

    def save(visitor: Visitor, sent: Fields) -> object:
        check_opener(visitor, sent.get("by"))
        then = sent.get("then", "next")
        if then not in ("next", "stay"):
            raise StudyError("“then” must be “next” or “stay”.")
        saved, workspace = studies.save(
            _study(visitor, sent), visitor.name, sent["item"], sent["answer"], sent["token"],
            seconds=sent.get("seconds", 0), seen_revision=sent.get("seen_revision"), stay=then == "stay",
            ahead=_ahead(sent),
        )
        if not saved.repeated:
            services.meter.judged(saved.judgement.protocol)
        return {"saved": present.saved(saved), "desk": _desk(visitor, workspace, sent)}

    def gate(visitor: Visitor, sent: Fields) -> object:
        check_opener(visitor, sent.get("by"))
        passed, workspace = studies.pass_gate(
            _study(visitor, sent), visitor.name, sent["kind"], sent["token"], number=sent.get("number"),
            attempt=sent.get("attempt"), answer=sent.get("answer"), ahead=_ahead(sent),
        )
        return {"passed": passed, "desk": _desk(visitor, workspace, sent)}

    def draft(visitor: Visitor, sent: Fields) -> object:
        """Save a draft; discard it if it has no answer."""
        check_opener(visitor, sent.get("by"))
        if sent["answer"] is None:
            studies.drop_draft(_study(visitor, sent), visitor.name, sent["item"])
            return {"kept": False}
        studies.save_draft(_study(visitor, sent), visitor.name, sent["item"], sent["answer"],
                           seconds=sent.get("seconds", 0))
        return {"kept": True}

    def more(visitor: Visitor, sent: Fields) -> object:
        added, workspace = studies.more(_study(visitor, sent), visitor.name, ahead=_ahead(sent))
        return {"added": added, "desk": _desk(visitor, workspace, sent)}

    answer = ("study", "item", "answer")
    gets = {"/mine": get_endpoint(mine), "/rubric": get_endpoint(rubric), "/at": get_endpoint(at),
            "/overview": get_endpoint(overview), "/discussion": get_endpoint(discussion),
            "/image/{study_id}/{name}": study_image(services.settings, services.study_members)}
    return gets, {
        "/join": post_endpoint(join, ("study",), ("by", "ahead")),
        "/more": post_endpoint(more, ("study",), ("ahead",)),
        "/save": post_endpoint(save, (*answer, "token"), ("seconds", "seen_revision", "then", "by", "ahead")),
        "/gate": post_endpoint(gate, ("study", "kind", "token"), ("number", "attempt", "answer", "by", "ahead")),
        "/draft": post_endpoint(draft, answer, ("seconds", "by")),
        "/say": post_endpoint(say, ("study", "item", "text", "token")),
    }


def _study(visitor: Visitor, given: Mapping[str, Any]) -> Any:
    """The study that is asked for. A participant's link leads into one: whatever a call names, it is that one."""
    return visitor.study or given.get("study", "")


def _ahead(given: Mapping[str, Any]) -> int:
    """How many of the next items are asked for."""
    return checked_ahead(given.get("ahead", AHEAD), MOST_AHEAD)


def _desk(visitor: Visitor, workspace: Workspace, asked: Mapping[str, Any]) -> dict[str, Any]:
    """``asked``: the fields of the call. One that says how many of the next items it wants gets them whole."""
    found = present.workspace(workspace, whole="ahead" in asked)
    if visitor.study:
        found["study"]["name"] = visitor.title
        found["study"].pop("discussed", None)
    return found


def _whole(query: Mapping[str, str], name: str, what: str = "“ahead”") -> dict[str, int]:
    """The field ``name`` of a query as a whole number, if it is there."""
    text = query.get(name)
    if text is None:
        return {}
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise StudyError(f"{what} must be a whole number from 0.")
    return {name: int(text)}
