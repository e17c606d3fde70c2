"""Gradio API middleware: size limits and per-user session isolation. Replacement of image URLs in Gradio calls by
fetched files, before Gradio sees the call."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cir_core.errors import AccessError, CirqueError, QuotaExceeded, TryLater
from cir_core.images.upload_quota import UploadQuota
from web.http.json_api import reply
from web.http.pages import path_of, plain
from web.http.public_errors import public_message, retry_after, status_of
from web.http.request_fields import MOST_AT_WORK, TooLarge, Unreadable, says_more_than, whole_body
from web.http.request_ids import request_id
from web.http.visitor import Visitor, check
from web.limits.url_downloads import ImageFetcher, ImageRefused, check_upload, is_remote
from web.middleware.gradio_connections import GradioConnections

_LONG = 1000   # characters of a path; paths of uploads have about 200


async def with_local_images(body: Any, visitor: Visitor, images: ImageFetcher) -> Path | None:
    """``body`` with its image URL replaced by the path of the fetched file. None without a URL.

    Raises ``AccessError`` for visitors who may not search, ``ImageRefused``, and ``TryLater``.
    """
    files = _files_in(body)
    remote = [file for file in files if is_remote(file["path"])]
    for file in files:
        if not is_remote(file["path"]) and (len(file["path"]) > _LONG or "\0" in file["path"]):
            await run_in_threadpool(check_upload, file["path"])
    if not remote:
        return None
    check(visitor, "search")
    if len(remote) > 1:
        raise ImageRefused("a call can have only one image by URL.")
    [file] = remote
    path = await images.fetch_image(file["path"], visitor.name)
    file["path"] = str(path)
    file.pop("url", None)
    return path


def _files_in(body: Any) -> list[dict[str, Any]]:
    """Objects that Gradio treats as files, anywhere in ``body``, which may be nested deeply."""
    found: list[dict[str, Any]] = []
    left = [body]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            meta = value.get("meta")
            if (isinstance(meta, dict) and meta.get("_type") == "gradio.FileData"
                    and isinstance(value.get("path"), str)):
                found.append(value)
            left.extend(value.values())
        elif isinstance(value, list):
            left.extend(value)
    return found


_log = logging.getLogger("cirque.events")
_MOST_LISTS = 30_000      # and objects: Gradio takes a second for 200,000, in which nothing else is done
_AROUND_A_FILE = 2**20    # bytes of a form beside its file
_GONE = "Unknown session or event: it may have ended or belong to another user. Reload the page, or call again."


class GradioCalls:
    """ASGI middleware inside AuthMiddleware. ``admit`` raises ``CirqueError`` for calls that are not begun. Besides
    those with the numbers that ``only`` gives there are none."""

    def __init__(self, app: ASGIApp, max_upload_mb: int, quota: UploadQuota | None = None,
                 sessions: GradioConnections | None = None, images: ImageFetcher | None = None,
                 admit: Callable[[Visitor, Mapping[str, Any]], None] | None = None,
                 only: Collection[int] | None = None) -> None:
        self._app, self._max_upload_mb, self._quota = app, max_upload_mb, quota or UploadQuota.unlimited()
        self._sessions = sessions or GradioConnections()
        self._images = images or ImageFetcher(max_upload_mb, self._quota)
        self._admit, self._only = admit, only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        visitor = scope.get("state", {}).get("visitor")
        if scope["type"] != "http" or visitor is None:
            await self._app(scope, receive, send)
            return
        match plain(path_of(scope)).split("/"):
            case ["", "gradio_api", "upload", *_]:
                await self._upload(visitor.name, scope, receive, send)
            case ["", "gradio_api", *rest] if scope["method"] in ("GET", "HEAD", "OPTIONS"):
                await self._follow(rest, visitor.name, scope, receive, send)
            case ["", "gradio_api", *rest]:
                await self._call(rest, visitor, scope, receive, send)
            case _:
                await self._app(scope, receive, send)

    async def _call(self, path: list[str], visitor: Visitor, scope: Scope, receive: Receive, send: Send) -> None:
        person, image = visitor.name, None
        try:
            body = await whole_body(Request(scope, receive), MOST_AT_WORK)
            if body.count(b"[") + body.count(b"{") > _MOST_LISTS:
                raise TooLarge(f"This call has more than {_MOST_LISTS:,} lists and objects. Send less.")
            sent = _read(body)
        except Unreadable as error:
            await _refusal(public_message(error), 413 if isinstance(error, TooLarge) else 422)(scope, receive, send)
            return
        if self._only is not None and not (isinstance(sent, dict) and _number_in(sent, self._only)):
            await _refusal("There is no such call here.", 404)(scope, receive, send)
            return
        begins, queued, own_session = path[0] in ("call", "queue"), False, False

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.body" and (event := _event_in(message.get("body", b""))):
                self._sessions.began(person, event, own_session=own_session)
            await send(message)

        try:
            with ExitStack() as until_answered:
                if isinstance(sent, dict):
                    if path[0] == "cancel" and not self._sessions.has(person, str(sent.get("event_id"))):
                        await _refusal(_GONE, 404)(scope, receive, send)
                        return
                    try:
                        if self._admit is not None:
                            self._admit(visitor, sent)
                        if begins:
                            self._sessions.check_room(person)
                        if path[0] in ("call", "run", "api", "queue"):
                            image = await with_local_images(sent, visitor, self._images)
                        session = self._session_of(path[0], person, sent.get("session_hash"), until_answered)
                    except CirqueError as error:
                        refused = 403 if isinstance(error, AccessError) else status_of(error, 422)
                        await _refusal(public_message(error), refused, retry_after(error))(scope, receive, send)
                        return
                    own_session = session is None
                    if image is not None or session != sent.get("session_hash"):
                        hashed = {"session_hash": session} if session != sent.get("session_hash") else {}
                        body = json.dumps({**sent, **hashed}).encode()
                        _set_length(scope, len(body))
                queued = begins
                await self._app(scope, _again(body, receive), noting if begins else send)
        finally:
            if image is not None and not queued:   # else it is still needed, and Gradio removes it after a day
                await self._images.discard(image)

    def _session_of(self, call: str, person: str, given: Any, until_answered: ExitStack) -> Any:
        """Gradio's session name of a call; None if Gradio names the session after the event."""
        if isinstance(given, str) and call == "cancel":
            return self._sessions.of(person, given)
        if isinstance(given, str) and call != "call":
            return self._sessions.used(person, given)
        if given is None and call in ("run", "api"):
            return until_answered.enter_context(self._sessions.for_one_call())
        # Results of one session lie in one queue, and whoever asks for one of them by its event is sent all. So that
        # "call" may be called side by side each has a session of its own; none of ours knows of the one before.
        return None if isinstance(given, str) else given

    async def _follow(self, path: list[str], person: str, scope: Scope, receive: Receive, send: Send) -> None:
        following: AbstractContextManager[None] = nullcontext()
        match path:
            case ["call", _, *_, event] if not self._sessions.has(person, event):
                await _refusal(_GONE, 404)(scope, receive, send)
                return
            case ["call", _, *_, event]:
                following = self._sessions.fetched(event)
            case ["heartbeat", session, *_]:
                root = scope["path"].removesuffix("/").removesuffix(session)
                scope["path"] = root + self._sessions.of(person, session)
                scope["raw_path"] = quote(scope["path"]).encode()
                following = self._sessions.opened(person, session)
            case ["queue", "data", *_]:
                query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
                if "session_hash" in query:
                    query["session_hash"] = self._sessions.of(person, query["session_hash"])
                    scope["query_string"] = urlencode(query).encode()
        try:
            with following:
                await self._app(scope, receive, send)
        except RuntimeError as error:
            if not isinstance(error.__cause__, HTTPException):
                raise
            # The stream says already that it has nothing of this session; Gradio then says so a second time.
            _log.info("Request %s asked for the stream of an unknown session.", request_id())
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _upload(self, person: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Enforce upload limits: Gradio limits each file, but neither their number nor a person's daily total."""
        most, came = self._max_upload_mb * 2**20 + _AROUND_A_FILE, 0
        refusal = _refusal(f"The upload is larger than {self._max_upload_mb} MB. Make it smaller.", 413)
        if says_more_than(Request(scope), most):
            await refusal(scope, receive, send)
            return
        try:
            await run_in_threadpool(self._quota.check, person)
        except QuotaExceeded as error:
            await _try_later(error)(scope, receive, send)
            return

        async def counting() -> Message:
            nonlocal came, refusal
            message = await receive()
            came += (size := len(message.get("body", b"")))
            try:
                self._quota.add_bytes(person, size)
            except QuotaExceeded as error:
                refusal, came = _try_later(error), most + 1
            if came > most:
                raise MultiPartException("too large")   # after which Gradio removes what it has got
            return message

        async def answering(message: Message) -> None:
            if came <= most:
                await send(message)

        try:
            await self._app(scope, counting, answering)
        finally:
            await run_in_threadpool(self._quota.end_bytes, person)
        if came > most:
            await refusal(scope, receive, send)


def _read(body: bytes) -> Any:
    """The body as Gradio will parse it; None if empty. Raises ``Unreadable``."""
    try:
        return json.loads(body) if body else None
    except (ValueError, RecursionError):
        raise Unreadable("This call cannot be read (its body). Check it against docs/reference/api.md, or reload the "
                         "page.") from None


def _event_in(answer: bytes) -> str:
    try:
        found = orjson.loads(answer)
    except orjson.JSONDecodeError:
        return ""
    return str(found.get("event_id", "")) if isinstance(found, dict) else ""


def _again(body: bytes, receive: Receive) -> Receive:
    """``receive`` that replays the ``body`` already read from it."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return first.pop() if first else await receive()

    return received


def _set_length(scope: Scope, length: int) -> None:
    kept = [(name, value) for name, value in scope["headers"] if name not in (b"content-length", b"transfer-encoding")]
    scope["headers"] = [*kept, (b"content-length", str(length).encode())]


def _refusal(problem: str, status: int, headers: Mapping[str, str] = MappingProxyType({})) -> Response:
    """JSON refusal; ``error`` is the field that Gradio's pages show."""
    refused = reply({"problem": problem, "kind": "other", "error": problem}, status)
    refused.headers.update(headers)
    return refused


def _try_later(error: TryLater) -> Response:
    return _refusal(public_message(error), status_of(error, 429), retry_after(error))


def _number_in(sent: Mapping[str, Any], only: Collection[int]) -> bool:
    number = sent.get("fn_index")
    return isinstance(number, int) and number in only
