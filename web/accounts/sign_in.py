"""Sign-in, sign-out and joining by invitation: plain HTML pages without Gradio."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from annotation.accounts.account_names import MAX_NAME
from annotation.accounts.roles import SAYS, may
from cir_core.errors import AccessError, CirqueError, SignInFailed, TooManyTries
from web.http.pages import after_sign_in, pages_for
from web.http.public_errors import public_message
from web.http.request_fields import Unreadable, form, is_json, json_object
from web.http.visitor import visitor_of
from web.middleware.auth import Cookies, cookie_of
from web.services import Services
from web.ui.static_files import FRESH, OWN_PAGE, notice, page

_T = TypeVar("_T")
_COOKIE_SECONDS = 400 * 86400   # the most browsers keep; when a sign-in ends, the server decides
_LEFT_HERE = ("This browser has deleted your sign-in, but the server could not end it. It cannot be used again from "
              "here. If somebody may have copied it, ask an admin to set a new password for you, which ends it.")


def sign_in_routes(services: Services, cookies: Cookies = Cookies()) -> APIRouter:
    routes = APIRouter(include_in_schema=False)
    people = services.people
    hashing = CapacityLimiter(2)   # strangers who guess must not take the threads of those who work

    async def in_thread(work: Callable[[], _T], limiter: CapacityLimiter | None = None) -> _T:
        return await run_sync(work, limiter=limiter)

    async def enter(request: Request, name: object, password: object) -> str:
        secret = await in_thread(lambda: people.sign_in(name, password, _address(request)), hashing)
        await end_sign_in(request)   # the sign-in that this browser had, if any
        return secret

    def with_cookie(answer: Response, secret: str, request: Request) -> Response:
        cookies.set(answer, request.scope, secret, _COOKIE_SECONDS)
        return answer

    async def end_sign_in(request: Request) -> None:
        if before := request.cookies.get(cookie_of(request.scope)):
            await in_thread(lambda: people.sign_out(before))

    async def onward(secret: str, wanted: str, root: str) -> Response:
        person = await in_thread(lambda: people.visitor(secret))
        target = after_sign_in(wanted, may(person.role) if person is not None else frozenset())
        return RedirectResponse(root + target, 303, headers=FRESH)

    @routes.api_route("/sign-in", methods=["GET", "HEAD"])
    async def show(request: Request, next: str = "/") -> Response:
        try:
            standing = await in_thread(lambda: people.auth_state(request.cookies.get(cookie_of(request.scope))))
        except CirqueError as error:
            return _sign_in_page(name="", problem=public_message(error), status=_status(error), headers=_wait(error))
        root = _root(request)
        if standing.open:
            return RedirectResponse(root + "/", 303, headers=FRESH)
        if standing.person is not None:
            return RedirectResponse(root + after_sign_in(next, may(standing.person.role)), 303, headers=FRESH)
        return _sign_in_page(name="", problem="")

    @routes.post("/sign-in")
    async def sign_in(request: Request, next: str = "/") -> Response:
        """Sign in by form (the sign-in page) or JSON with name and password (the dialog of other pages)."""
        if is_json(request):
            return await sign_in_here(request)
        name = ""
        try:
            fields = await form(request)
            name = fields.get("name", "")
            secret = await enter(request, name, fields.get("password", ""))
        except CirqueError as error:
            return _sign_in_page(name=name, problem=public_message(error), status=_status(error), headers=_wait(error))
        return with_cookie(await onward(secret, next, _root(request)), secret, request)

    async def sign_in_here(request: Request) -> Response:
        try:
            fields = await json_object(request)
            secret = await enter(request, fields.get("name"), fields.get("password"))
            person = await in_thread(lambda: people.visitor(secret))
        except CirqueError as error:
            return _problem(error)
        name = person.name if person is not None else ""
        return with_cookie(JSONResponse({"name": name}, headers=FRESH), secret, request)

    @routes.post("/login")
    async def login(request: Request) -> Response:
        """Sign in programs: ``gradio_client.Client(address, auth=(name, password))``."""
        try:
            fields = await form(request)
            secret = await enter(request, fields.get("username"), fields.get("password"))
        except CirqueError as error:
            return _problem(error)
        return with_cookie(JSONResponse({"success": True}, headers=FRESH), secret, request)

    @routes.post("/sign-out")
    async def sign_out(request: Request) -> Response:
        """303 to the sign-in page, or ``{"left": true}`` as JSON. Deletes the cookie even if the session cannot end."""
        root, as_json = _root(request), is_json(request)
        answer: Response
        try:
            await end_sign_in(request)
            answer = (JSONResponse({"left": True}, headers=FRESH) if as_json
                      else RedirectResponse(f"{root}/sign-in", 303, headers=FRESH))
        except CirqueError as error:
            problem = f"{_LEFT_HERE} The cause: {public_message(error)}"
            answer = (JSONResponse({"problem": problem, "kind": "left-here"}, 503, headers=FRESH) if as_json
                      else HTMLResponse(notice(problem, None, root, title="Signed out here only"), 503,
                                        headers=OWN_PAGE))
        cookies.set(answer, request.scope, "", 0)
        return answer

    @routes.api_route("/join/{secret}", methods=["GET", "HEAD"])
    async def invited(secret: str) -> Response:
        return await joining(secret)

    @routes.post("/join/{secret}")
    async def join(request: Request, secret: str) -> Response:
        name = ""
        try:
            fields = await form(request)
            name, password = fields.get("name", ""), fields.get("password", "")
            if password != fields.get("again", password):
                raise AccessError("The passwords do not match. Type both again.")
            entered = await in_thread(lambda: people.accept(secret, name, password, _address(request)), hashing)
        except CirqueError as error:
            return await joining(secret, name, public_message(error), 422 if isinstance(error, AccessError) else
                                                                                        _status(error))
        return with_cookie(await onward(entered, "", _root(request)), entered, request)

    async def joining(secret: str, name: str = "", problem: str = "", status: int = 200) -> Response:
        try:
            invitation = await in_thread(lambda: people.invitation(secret))
        except CirqueError as error:
            status = 404 if isinstance(error, AccessError) else 503
            return HTMLResponse(notice(public_message(error), None), status, headers=OWN_PAGE)
        return HTMLResponse(page("pages/join.html", role=invitation.role, says=SAYS[invitation.role],
                                 name=name[:MAX_NAME], problem=problem), status, headers=OWN_PAGE)

    return routes


def me_routes() -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.get("/me")
    async def me(request: Request) -> Response:
        """The signed-in user of a page. AuthMiddleware answers 401 without one."""
        known = visitor_of(request)
        return JSONResponse({"name": known.name, "role": known.role, "open": known.open, "demo": known.demo,
                             "may": sorted(known.may), "pages": pages_for(known.may)}, headers=FRESH)

    return routes


def _sign_in_page(*, name: str, problem: str, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return HTMLResponse(page("pages/sign_in.html", name=name[:MAX_NAME], problem=problem), status,
                        headers={**OWN_PAGE, **(headers or {})})


def _problem(error: CirqueError) -> Response:
    status = _status(error)
    kind = {401: "signed-out", 429: "signed-out", 403: "forbidden", 503: "storage"}.get(status, "other")
    return JSONResponse({"problem": public_message(error), "kind": kind}, status, headers={**FRESH, **_wait(error)})


def _status(error: CirqueError) -> int:
    if isinstance(error, TooManyTries):
        return 429
    if isinstance(error, SignInFailed):
        return 401
    if isinstance(error, Unreadable):
        return 422
    return 403 if isinstance(error, AccessError) else 503


def _wait(error: CirqueError) -> dict[str, str]:
    return {"Retry-After": str(error.seconds)} if isinstance(error, TooManyTries) else {}


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _root(request: Request) -> str:
    return str(request.scope.get("root_path", "")).rstrip("/")
