"""Pages and endpoints of participants who come by a study's link, ``/take/TOKEN``: no account, no password.

Everything of a participant is below the link, and so is the cookie: browsers send it nowhere else. Pages are plain HTML
without Gradio, whose page would describe all other screens.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson
from anyio.to_thread import run_sync
from cachetools import TTLCache
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from annotation.records import Participant
from annotation.recruitment.ids import MOST_ID, Arrival, NoId, arrival
from annotation.recruitment.service import Door, RecruitmentService, UnknownLink, ending_of
from annotation.recruitment.trial import end_test, is_test
from cir_core.errors import CirqueError, StorageError, StudyClosed, StudyError
from web.http.json_api import Endpoint, in_thread, refused, reply
from web.http.public_errors import public_message, retry_after
from web.http.request_fields import form
from web.http.visitor import Visitor
from web.middleware.auth import PARTICIPANT, Cookies, cookie_of
from web.services import Services
from web.studies.annotate import study_endpoints
from web.ui.languages import ENGLISH, language_of, translated
from web.ui.static_files import FRESH, OWN_PAGE, asset_url, own_file, page

_T = TypeVar("_T")
_LINK = "/take/{token}"
_COOKIE_SECONDS = 180 * 86400
_KNOWN, _KNOWN_SECONDS = 10_000, 3.0   # who a cookie is of: a page with thirty pictures asks the store once
_AGAIN = "Open the link of the study again, from the site that you came from. Your answers so far are saved."
_WORK_POLICY = ("default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
                "connect-src 'self'; form-action 'self'; base-uri 'none'")


@dataclass(frozen=True)
class _Known:
    visitor: Visitor
    name: str          # of the study, which participants do not read


def participant_routes(services: Services, cookies: Cookies = Cookies()) -> APIRouter:
    """``/take/{token}`` and what is below."""
    routes = APIRouter(prefix=_LINK, include_in_schema=False)
    recruitment: RecruitmentService = services.recruitment
    known: TTLCache[tuple[str, str], _Known] = TTLCache(_KNOWN, _KNOWN_SECONDS)
    lock = threading.Lock()

    def cookie(request: Request) -> str:
        return request.cookies.get(cookie_of(request.scope, PARTICIPANT, _below(request)), "")

    def who_is(request: Request) -> _Known | None:
        """The participant of a call's cookie."""
        token, value = request.path_params["token"], cookie(request)
        with lock:
            found = known.get((token, value))
        if found is None and value:
            door = recruitment.door(token)
            who = recruitment.by_cookie(door, value)
            if who is None or who.state not in ("in", "expired", "finished", "ended"):
                return None
            found = _Known(Visitor(who.annotator, "annotator", frozenset({"annotate"}), open=False,
                                   study=door.study.study_id, title=door.title), door.study.name)
            with lock:
                known[token, value] = found
        return found

    def page_of(request: Request, who: Callable[[Door], Participant | None],
                does: Callable[[Door, Participant], Response]) -> Response:
        """The page for the participant whom ``who`` finds, with a cookie; else one that asks for the id."""
        try:
            door = recruitment.door(request.path_params["token"])
        except UnknownLink as error:
            return _notice(ENGLISH, "This link does not work", public_message(error), 404)
        except CirqueError as error:
            return _failed(ENGLISH, error)
        language = language_of(door.study)
        try:
            participant = who(door)
            answer = _ask_for_id(door) if participant is None else does(door, participant)
        except NoId as error:
            return _ask_for_id(door, public_message(error))
        except StudyClosed:
            return _notice(language, "Not open at the moment", "This study does not accept new participants at the "
                           "moment. If you have begun, your answers are saved: open the same link again later, or "
                           "write to the people who run it.", 409)
        except CirqueError as error:
            return _failed(language, error)
        if participant is not None:
            cookies.set(answer, request.scope, recruitment.cookie(door, participant), _COOKIE_SECONDS, PARTICIPANT,
                        _below(request))
        return answer

    def arriving(request: Request) -> Callable[[Door], Participant | None]:
        def find(door: Door) -> Participant | None:
            come: Arrival | None = arrival(request.query_params.multi_items(), door.settings.parameter)
            return recruitment.by_cookie(door, cookie(request)) if come is None else recruitment.arrive(door, come)
        return find

    def standing(request: Request, door: Door, who: Participant) -> Response:
        if who.state == "expired":
            who = recruitment.enter(door, who)
        if who.state == "in":
            return _to(request, "work")
        if who.state == "new":
            return _gate(door)
        return ended(door, who)

    def ended(door: Door, who: Participant) -> Response:
        test = is_test(door.study)
        if test:
            end_test(services.study_store, services.settings.home, door.study)
        return _end(door, who, test=test)

    @routes.get("")
    async def come(request: Request) -> Response:
        return await _in_thread(lambda: page_of(request, arriving(request),
                                                lambda door, who: standing(request, door, who)))

    @routes.post("")
    async def agree(request: Request) -> Response:
        """Consent and screening questions, by form."""
        try:
            fields = await form(request)
        except CirqueError as unreadable:
            problem = unreadable
            return await _in_thread(lambda: page_of(
                request, arriving(request), lambda door, who: _failed(language_of(door.study), problem)))

        def answer(door: Door, who: Participant) -> Response:
            given = {one.key: fields.get(f"q.{one.key}", "") for one in door.settings.questions}
            try:
                return standing(request, door, recruitment.agree(door, who, given, agreed=fields.get("agree") == "yes"))
            except (StudyClosed, StorageError):
                raise
            except StudyError as error:
                return _gate(door, public_message(error), given, agreed=fields.get("agree") == "yes")

        return await _in_thread(lambda: page_of(request, arriving(request), answer))

    @routes.get("/work")
    async def work(request: Request) -> Response:
        def show(door: Door, who: Participant) -> Response:
            if who.state != "in":
                return _to(request, "")
            return HTMLResponse(
                page("pages/take_work.html", **_speaking(language_of(door.study)), title=door.title,
                     script=asset_url("js/take/main.js"), sheet=asset_url("css/app.css"),
                     reset=asset_url("css/take.css")),
                headers={**FRESH, "Content-Security-Policy": _WORK_POLICY, "Referrer-Policy": "same-origin"})

        return await _in_thread(lambda: page_of(
            request, lambda door: recruitment.by_cookie(door, cookie(request)), show))

    @routes.post("/finish")
    async def finish(request: Request) -> Response:
        def end(door: Door, who: Participant) -> Response:
            try:
                done = recruitment.finish(door, who)
            except (StudyClosed, StorageError):
                raise
            except StudyError as error:
                return _notice(language_of(door.study), "Not finished yet", public_message(error), 409, "work")
            return ended(door, done) if is_test(door.study) else _to(request, "")

        return await _in_thread(lambda: page_of(
            request, lambda door: recruitment.by_cookie(door, cookie(request)), end))

    def for_participant(endpoint: Endpoint) -> Endpoint:
        """``endpoint`` as the participant of the cookie, in the one study of the link."""
        async def call(request: Request) -> Response:
            try:
                found = await in_thread(lambda: who_is(request))
            except CirqueError as error:
                return refused(error)
            if found is None:
                return reply({"problem": _AGAIN, "kind": "forbidden"}, 403)
            request.scope["state"] = {**request.scope.get("state", {}), "visitor": found.visitor}
            return _renamed(await endpoint(request), found)

        return call

    async def me(request: Request) -> Response:
        visitor: Visitor = request.state.visitor
        return JSONResponse({"name": visitor.name, "role": "participant", "open": False, "demo": False, "may": [],
                             "pages": [], "participant": True, "study": visitor.title}, headers=FRESH)

    gets, posts = study_endpoints(services)
    routes.add_route(f"{_LINK}/me", for_participant(me), ["GET"], include_in_schema=False)
    for path in ("/rubric", "/at", "/overview", "/image/{study_id}/{name}"):
        routes.add_route(f"{_LINK}/study{path}", for_participant(gets[path]), ["GET"], include_in_schema=False)
    for path in ("/save", "/gate", "/draft"):   # not join: a seat is taken under the quotas
        routes.add_route(f"{_LINK}/study{path}", for_participant(posts[path]), ["POST"], include_in_schema=False)
    routes.add_route(_LINK + "/own/{version}/{path:path}", own_file, ["GET"], include_in_schema=False)
    return routes


async def _in_thread(work: Callable[[], _T]) -> _T:
    return await run_sync(work)


def _below(request: Request) -> str:
    return f"take/{request.path_params['token']}"


def _to(request: Request, where: str) -> Response:
    root = str(request.scope.get("root_path", "")).rstrip("/")
    return RedirectResponse(f"{root}/{_below(request)}{'/' if where else ''}{where}", 303, headers=FRESH)


def _renamed(answer: Response, who: _Known) -> Response:
    """A refusal names the study as participants know it."""
    if answer.status_code < 400 or who.name == who.visitor.title or who.name.encode() not in bytes(answer.body):
        return answer
    content = orjson.loads(bytes(answer.body))
    content["problem"] = str(content.get("problem", "")).replace(who.name, who.visitor.title)
    return reply(content, answer.status_code)


def _speaking(language: str) -> dict[str, Any]:
    return {"language": language, "t": lambda text: translated(language, text)}


def _html(language: str, template: str, status: int = 200, **context: Any) -> Response:
    return HTMLResponse(page(f"pages/{template}", **_speaking(language), **context), status, headers=OWN_PAGE)


def _notice(
    language: str, title: str, problem: str, status: int, back: str = "", headers: Mapping[str, str] | None = None,
) -> Response:
    answer = _html(language, "take_end.html", status, title=translated(language, title),
                   text=translated(language, problem), code="", address="", back=back, note="")
    answer.headers.update(headers or {})
    return answer


def _failed(language: str, error: CirqueError) -> Response:
    status = 503 if isinstance(error, StorageError) else 409
    return _notice(language, "Not now" if status == 503 else "This did not work", public_message(error), status,
                   headers=retry_after(error))


def _ask_for_id(door: Door, problem: str = "") -> Response:
    language = language_of(door.study)
    return _html(language, "take_id.html", 422 if problem else 200, title=door.title, most=MOST_ID,
                 problem=translated(language, problem), parameter=door.settings.parameter or "participantId")


def _gate(door: Door, problem: str = "", given: Mapping[str, str] | None = None, *, agreed: bool = False) -> Response:
    language = language_of(door.study)
    return _html(language, "take_gate.html", 422 if problem else 200, title=door.title, consent=door.settings.consent,
                 questions=door.settings.questions, given=given or {}, agreed=agreed,
                 problem=translated(language, problem))


def _end(door: Door, who: Participant, *, test: bool) -> Response:
    language = language_of(door.study)
    name, ending = ending_of(door, who)
    code = who.code or ("" if name == "complete" else ending.code)
    text = ending.text   # their own words stay as they are
    if who.state == "expired":
        text = translated(language, "You were away for too long, and your place was given to somebody else. Your "
                          "answers so far are saved.")
    elif not text:
        text = translated(language, door.settings.said(name))
    note = "This was a test run. Everything of it has been deleted." if test else ""
    return _html(language, "take_end.html", title=translated(language, "Thank you"),
                 text=text, code=code, note=translated(language, note), back="",
                 address="" if test else ending.address(who.participant_id, code))
