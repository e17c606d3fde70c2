"""JSON endpoints of cirque's own pages: JSON in, JSON out, errors as one sentence. Names of downloaded files."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Awaitable, Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

import orjson
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from annotation.records import same_person
from cir_core.errors import (
    AccessError,
    CirqueError,
    GateStands,
    IncompleteJudgement,
    IndexUnavailable,
    NeedsConfirmation,
    SignInFailed,
    StorageError,
    StudyClosed,
    TryLater,
    UnknownBenchmark,
    UnknownItem,
    UnknownScores,
    UnknownStudy,
    UsedToken,
)
from cir_core.support.texts import shortened
from web.http.background import BENCHMARKS, REPORTS
from web.http.pages import path_of
from web.http.public_errors import public_message, retry_after, status_of
from web.http.request_fields import MOST_AT_WORK, TooLarge, json_object
from web.http.request_ids import carried
from web.http.visitor import Visitor, visitor_of
from web.limits.rates import ConcurrencyLimit, ConcurrencyLimits

Fields = dict[str, Any]
Endpoint = Callable[[Request], Awaitable[Response]]

_TOO_LONG = ("This is too long to keep: more than a megabyte. Shorten the note; what you wrote stays on the page until "
             "then.")
_OPENER = "X-Cirque-Person"   # a name, with % where HTTP needs it
_FRESH = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_KINDS: tuple[tuple[type[CirqueError], int, str], ...] = (
    (NeedsConfirmation, 422, "confirm"), (IncompleteJudgement, 422, "incomplete"), (GateStands, 409, "gate"),
    (UnknownItem, 404, "not-yours"), (UnknownStudy, 404, "unknown"), (UnknownScores, 404, "unknown"),
    (UnknownBenchmark, 404, "unknown"),
    (StudyClosed, 409, "closed"), (UsedToken, 409, "token"),
    (TryLater, 503, "busy"), (SignInFailed, 401, "signed-out"), (AccessError, 403, "forbidden"),
    (StorageError, 503, "storage"), (IndexUnavailable, 503, "other"), (CirqueError, 400, "other"),
)
# Of their own, so that a save never waits behind a search; few, because one writes at a time.
_threads = ThreadPoolExecutor(max_workers=12, thread_name_prefix="cirque-study")
_shares = ConcurrencyLimits()
_OF_A_PERSON, _OF_A_STUDY = 3, 8   # threads at a time: a row that somebody holds must not keep all of them
_SEARCHES = 2
_PAGE_THREADS, _PAGE_THREADS_OF_A_PERSON = 3, 2
_pages: dict[str, ThreadPoolExecutor] = {}   # for slow calls, by page: what holds up one page holds up no other
_STILL_THERE_EVERY = 1.0   # seconds
_READ_SECONDS, _DEFERRED_SECONDS = 60.0, 600.0
_TAKES_LONG = ("This takes longer than usual, so the page no longer waits for it. Reload it in a few minutes; "
               "if it happens again, the server's files or its database may be hard to reach.")


def reply(payload: object, status: int = 200) -> Response:
    """``payload`` as an uncacheable JSON response."""
    try:
        content = orjson.dumps(payload)
    except TypeError:   # from a damaged file: half a Unicode pair, or a number of more than 64 bits
        content = orjson.dumps(_writable(payload))
    return Response(content, status, _FRESH, "application/json")


def _writable(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case int() if abs(value) >= 2**63:
            return str(value)
        case dict():
            return {_writable(key): _writable(one) for key, one in value.items()}
        case list() | tuple():
            return [_writable(one) for one in value]
    return value


def refused(error: CirqueError) -> Response:
    """``{"problem": sentence, "kind"}`` with the HTTP status of the error."""
    status, kind = next((status, kind) for of, status, kind in _KINDS if isinstance(error, of))
    answer = reply({"problem": public_message(error), "kind": kind}, status_of(error, status))
    answer.headers.update(retry_after(error))
    return answer


@dataclass(frozen=True)
class Deferred:
    """A result computed in the background pool, so that nothing else waits for it. ``work`` changes nothing but the
    action log. It is skipped if the caller has gone, and abandoned at shutdown. ``limited``: what a person may have
    under way twice at a time; "" without a limit."""

    work: Callable[[], object]
    limited: str = ""

    def shares(self, person: str) -> list[ConcurrencyLimit]:
        return [ConcurrencyLimit(self.limited, person, 2)] if self.limited else []


def get_endpoint(work: Callable[[Visitor, Mapping[str, str]], object], *, slow: bool = False) -> Endpoint:
    """A GET endpoint. ``work`` receives the visitor and the query, in a thread. ``slow`` marks reads of a whole study,
    which do not delay saves. ``work`` may return a :class:`Deferred`."""

    async def endpoint(request: Request) -> Response:
        return await _answer(request, lambda visitor: work(visitor, request.query_params),
                             request.query_params.get("study"), slow)

    return endpoint


def post_endpoint(
    work: Callable[[Visitor, Fields], object], required: Collection[str], optional: Collection[str] = (), *,
    slow: bool = False, searches: bool = False, most_bytes: int = MOST_AT_WORK, too_long: str = _TOO_LONG,
) -> Endpoint:
    """A POST endpoint. ``work`` receives the visitor and the fields of the JSON object, in a thread.

    The body must be declared as JSON, which forms on other sites cannot do. ``too_long``: message for bodies larger
    than ``most_bytes``. ``searches``: it may take long; one call of a person runs at a time, and leaves threads to
    others.
    """

    async def endpoint(request: Request) -> Response:
        try:
            fields = checked_fields(await json_object(request, most_bytes), required, optional)
        except TooLarge:
            return refused(IncompleteJudgement(too_long))
        except CirqueError as error:
            return refused(error)
        return await _answer(request, lambda visitor: work(visitor, fields), fields.get("study"), slow, searches)

    return endpoint


def json_routes(under: str, gets: Mapping[str, Endpoint], posts: Mapping[str, Endpoint]) -> APIRouter:
    """Endpoints by their path below ``under``."""
    routes = APIRouter()
    for verb, endpoints in (("GET", gets), ("POST", posts)):
        for path, endpoint in endpoints.items():
            routes.add_route(under + path, endpoint, [verb], include_in_schema=False)
    return routes


def check_opener(visitor: Visitor, opener: object) -> None:
    """Reject a request from a page opened by another user of the same browser.

    ``opener`` is the name of the user whom the page was opened for; None from scripts that do not send it. Raises
    ``AccessError``.
    """
    if opener is not None and (not isinstance(opener, str) or not same_person(opener, visitor.name)):
        raise AccessError(f"This page was opened by {shortened(opener, 80)}, but you are now signed in as "
                          f"{visitor.name}. Nothing was saved. Reload the page to continue with your own work, "
                          "or sign in as before.")


async def in_thread(work: Callable[[], Any], *, page: str | None = None) -> Any:
    """Run ``work`` in the thread pool of these endpoints, or in that of slow calls of ``page``."""
    threads = _threads if page is None else _threads_of(page)
    return await asyncio.get_running_loop().run_in_executor(threads, carried(work))


def _threads_of(page: str) -> ThreadPoolExecutor:
    if page not in _pages:   # on the event loop alone
        _pages[page] = ThreadPoolExecutor(_PAGE_THREADS, thread_name_prefix=f"cirque-{page}")
    return _pages[page]


async def in_shared_thread(work: Callable[[], Any], person: str, study: object) -> Any:
    """Run work on a study as ``in_thread`` does, within the limits per person and study. ``StorageError``: timeout."""
    shares = [ConcurrencyLimit("person", person, _OF_A_PERSON)]
    if isinstance(study, str) and study:
        shares.append(ConcurrencyLimit("study", study, _OF_A_STUDY))
    async with _shares.within(*shares):
        return await in_thread(work)


def finish() -> None:
    """Wait at shutdown for running calls, so that everything is saved."""
    for threads in (_threads, *_pages.values()):
        threads.shutdown()


async def in_search_thread(work: Callable[[], Any], person: str, page: str) -> Any:
    """Run work that searches, one call of a person at a time, and of all people fewer than there are threads. Raises
    ``StorageError`` on timeout."""
    async with _shares.within(ConcurrencyLimit("search", person, 1), ConcurrencyLimit("searches", "", _SEARCHES)):
        return await in_thread(work, page=page)


async def _in_page_thread(work: Callable[[], Any], person: str, page: str) -> Any:
    """Run a slow call, of which a person leaves threads to others. Raises ``StorageError`` on timeout."""
    async with _shares.within(ConcurrencyLimit(page, person, _PAGE_THREADS_OF_A_PERSON)):
        return await in_thread(work, page=page)


async def _answer(
    request: Request, work: Callable[[Visitor], object], study: object, slow: bool = False, searches: bool = False,
) -> Response:
    page = path_of(request.scope).strip("/").partition("/")[0]
    try:
        visitor = visitor_of(request)
    except AccessError as error:
        return reply({"problem": public_message(error), "kind": "signed-out"}, 401)
    try:
        check_opener(visitor, unquote(opener) if (opener := request.headers.get(_OPENER)) else None)
    except AccessError as error:
        return refused(error)

    def answer() -> Response | Deferred:
        return _answered(lambda: work(visitor))

    try:
        if slow and request.method == "GET":   # a call that changes something is waited for until it is over
            found = await asyncio.wait_for(asyncio.shield(_in_page_thread(answer, visitor.name, page)), _READ_SECONDS)
        else:
            found = await (in_search_thread(answer, visitor.name, page) if searches else
                           _in_page_thread(answer, visitor.name, page) if slow else
                           in_shared_thread(answer, visitor.name, study))
        if isinstance(found, Deferred):
            async with _shares.within(*found.shares(visitor.name)):
                return await _waited_for(request, found.work, page)
    except TimeoutError:
        return refused(TryLater(_TAKES_LONG))
    except StorageError as error:
        return refused(error)
    return found


async def _waited_for(request: Request, work: Callable[[], object], page: str) -> Response:
    """Raises ``TimeoutError``."""
    pool = BENCHMARKS if page == "benchmarks" else REPORTS
    answer = asyncio.wrap_future(pool.submit(lambda: _answered(work)))
    until = asyncio.get_running_loop().time() + _DEFERRED_SECONDS
    while not answer.done():
        await asyncio.wait([answer], timeout=_STILL_THERE_EVERY)
        if not answer.done() and await request.is_disconnected():
            answer.cancel()   # what has begun goes on: others may wait for it
            return Response(status_code=499)
        if not answer.done() and asyncio.get_running_loop().time() > until:
            answer.cancel()
            raise TimeoutError
    found = await answer
    assert isinstance(found, Response), "what comes later is not put off again"
    return found


def _answered(work: Callable[[], object]) -> Response | Deferred:
    try:
        found = work()
        return found if isinstance(found, Response | Deferred) else reply(found)
    except CirqueError as error:
        return refused(error)


def checked_fields(found: Fields, required: Collection[str], optional: Collection[str] = ()) -> Fields:
    """``found``, which has all ``required`` fields and none that is unknown. Raises ``CirqueError``."""
    if missing := [name for name in required if name not in found]:
        raise CirqueError(f"Missing in this call: {', '.join(missing)}. Reload the page.")
    if unknown := sorted(found.keys() - {*required, *optional}):
        known = ", ".join([*required, *optional])
        raise CirqueError(f"Unknown in this call: {shortened(', '.join(unknown), 200)}. It takes {known}.")
    return found


_LONGEST_NAME = 80


def file_stem(name: str, longest: int = _LONGEST_NAME) -> str:
    """A study's name as a file name that is valid on every system."""
    shown = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in unicodedata.normalize("NFC", name))
    plain = " ".join(re.sub(r'[<>:"/\\|?*%]', " ", shown).split())
    return plain[:longest].strip(" .") or "study"


def disposition(name: str) -> str:
    """Content-Disposition for a download (RFC 6266), with an ASCII fallback."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = " ".join(re.sub(r"[^\w .()-]", "", plain).split()) or "study"
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
