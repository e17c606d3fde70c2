"""What the annotation screen asks for and tells, as JSON."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter

from annotation.records import same_person
from cir_core.errors import AccessError, StudyError
from web import study_present as present
from web.json_calls import Fields, asked, told
from web.services import Services
from web.study_images import study_image
from web.visitor import Visitor


def study_routes(services: Services) -> APIRouter:
    """``/study/…``: the visitor's own work. Plain routes: this is what people wait for all day."""
    studies = services.studies

    def mine(visitor: Visitor, query: Mapping[str, str]) -> object:
        return present.mine(studies.mine(visitor.name))

    def rubric(visitor: Visitor, query: Mapping[str, str]) -> object:
        return dict(studies.page(query.get("study", "")))

    def at(visitor: Visitor, query: Mapping[str, str]) -> object:
        return present.desk(studies.desk(
            query.get("study", ""), visitor.name, item_id=query.get("item"), position=_position(query.get("position"))))

    def overview(visitor: Visitor, query: Mapping[str, str]) -> object:
        return present.overview(studies.overview(query.get("study", ""), visitor.name))

    def save(visitor: Visitor, sent: Fields) -> object:
        _check_opener(visitor, sent)
        then = sent.get("then", "next")
        if then not in ("next", "stay"):
            raise StudyError("“then” is “next” or “stay”.")
        saved, desk = studies.save(
            sent["study"], visitor.name, sent["item"], sent["answer"], sent["token"], seconds=sent.get("seconds", 0),
            seen_revision=sent.get("seen_revision"), stay=then == "stay",
        )
        return {"saved": present.saved(saved), "desk": present.desk(desk)}

    def gate(visitor: Visitor, sent: Fields) -> object:
        _check_opener(visitor, sent)
        passed, desk = studies.pass_gate(
            sent["study"], visitor.name, sent["kind"], sent["token"], number=sent.get("number"),
            attempt=sent.get("attempt"), answer=sent.get("answer"),
        )
        return {"passed": passed, "desk": present.desk(desk)}

    def draft(visitor: Visitor, sent: Fields) -> object:
        """Without an answer the draft is discarded."""
        _check_opener(visitor, sent)
        if sent["answer"] is None:
            studies.drop_draft(sent["study"], visitor.name, sent["item"])
            return {"kept": False}
        studies.keep_draft(sent["study"], visitor.name, sent["item"], sent["answer"], seconds=sent.get("seconds", 0))
        return {"kept": True}

    def more(visitor: Visitor, sent: Fields) -> object:
        added, desk = studies.more(sent["study"], visitor.name)
        return {"added": added, "desk": present.desk(desk)}

    answer = ("study", "item", "answer")
    routes = APIRouter()
    for path, endpoint, verb in (
        ("/study/mine", asked(mine), "GET"),
        ("/study/rubric", asked(rubric), "GET"),
        ("/study/at", asked(at), "GET"),
        ("/study/overview", asked(overview), "GET"),
        ("/study/save", told(save, (*answer, "token"), ("seconds", "seen_revision", "then", "by")), "POST"),
        ("/study/gate", told(gate, ("study", "kind", "token"), ("number", "attempt", "answer", "by")), "POST"),
        ("/study/draft", told(draft, answer, ("seconds", "by")), "POST"),
        ("/study/more", told(more, ("study",)), "POST"),
        ("/study/image/{study_id}/{name}", study_image(services.settings.home), "GET"),
    ):
        routes.add_route(path, endpoint, [verb], include_in_schema=False)
    return routes


def _check_opener(visitor: Visitor, sent: Fields) -> None:
    """Two people may use one browser: what one of them has begun is never kept as the other's.

    ``by`` is the name of the person whom the page was opened for. Raises ``AccessError``.
    """
    by = sent.get("by")
    if by is not None and (not isinstance(by, str) or not same_person(by, visitor.name)):
        raise AccessError(f"This page was opened by {str(by)[:80]}, and you are signed in as {visitor.name} now. "
                          "Nothing was saved. Reload the page to go on with your own work, or sign in as before.")


def _position(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise StudyError("A position is a whole number from 0.")
    return int(text)
