"""The calls for programs as tools of an MCP server (Model Context Protocol), for the setting ``CIRQUE_MCP``.

Streamable HTTP at ``/gradio_api/mcp/`` without sessions: every request is authenticated by its cookie. The older SSE
transport is at ``/gradio_api/mcp/sse``; each posted message is authenticated by itself, and a stream accepts messages
of its own user only.

AuthMiddleware, body limits and shutdown draining apply to these URLs as to all others.

A tool does its call (``web.http.calls``) in this process as the user of its own HTTP request: without a Gradio session,
and without a request to the server itself, whose address could only be taken from a client's header.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import orjson
from fastapi import FastAPI
from mcp import types
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from cir_core.errors import CirqueError
from cir_core.support.texts import shortened
from cir_core.version import __version__
from web.http.calls import BadArguments, Call, Caller, untitled
from web.http.json_api import reply
from web.http.public_errors import public_message
from web.http.request_fields import MOST_AT_WORK, is_json
from web.http.request_ids import go_on_with, id_of, request_id, unexpected
from web.http.visitor import visitor_of

Handler = Callable[[Scope, Receive, Send], Awaitable[None]]

_log = logging.getLogger("cirque.events")
_AT = "/gradio_api/mcp"
_INSTRUCTIONS = """\
cirque searches a gallery of images with a reference image and a text that says what should be different, and lets \
people judge the results in studies. The tools act as the person who is signed in; what they save in a study counts \
as that person's judgement. Addresses of pictures are relative to the root of this server and are fetched with the \
same headers."""
_ONLY_BY = "This address takes MCP requests by {}. Give it to an MCP client; docs/reference/api.md says how."
_ONLY_JSON = "Send this as JSON, with Content-Type: application/json."


class McpServer:
    """MCP server over calls."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._server: Server[Any, Any] = Server("cirque", __version__, _INSTRUCTIONS)
        # One JSON answer instead of a stream: the library ends its streams as soon as a stop of the server begins, and
        # a request is waited for.
        self._manager = StreamableHTTPSessionManager(self._server, json_response=True, stateless=True,
                                                     max_request_body_size=MOST_AT_WORK)
        self._sse = SseServerTransport(f"{_AT}/messages/", max_request_body_size=MOST_AT_WORK)
        self._server.list_tools()(self._list)  # type: ignore[no-untyped-call, unused-ignore]
        # Arguments are checked by the caller, with sentences of its own: the library's quote all that was sent.
        self._server.call_tool(validate_input=False)(self._call)

    def attach(self, app: FastAPI) -> None:
        """Mount the server on ``app``. Call before anything is mounted at the app's root."""
        post = _Endpoint(self._manager.handle_request)
        app.router.routes += [
            *(Route(_AT + path, post, methods=["GET", "POST", "DELETE"]) for path in ("", "/", "/http", "/http/")),
            Route(f"{_AT}/sse", _Endpoint(self._stream, "GET"), methods=["GET"]),
            Route(f"{_AT}/messages/", _Endpoint(self._message), methods=["POST"]),
        ]
        others = app.router.lifespan_context

        @asynccontextmanager
        async def lifespan(app: Any) -> AsyncIterator[Any]:
            async with self._manager.run(), others(app) as state:
                yield state

        app.router.lifespan_context = lifespan

    async def _list(self) -> list[types.Tool]:
        return [_tool(call) for call in self._caller.calls.values()]

    async def _call(self, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        """Result of a tool; errors become tool errors, which models can read and act on."""
        request = self._server.request_context.request
        go_on_with(id_of(request))
        try:
            call = self._caller.calls.get(name)
            if call is None:
                raise BadArguments(f"There is no tool “{shortened(name)}” here. There are: "
                                   f"{', '.join(self._caller.calls)}.")
            answer = await self._caller.answer(call, visitor_of(request), arguments)
        except CirqueError as error:
            return _failed(public_message(error))
        except Exception:
            _log.error("The tool of request %s ended in an unexpected error.", request_id(), exc_info=True)
            return _failed(unexpected(request_id()))
        return types.CallToolResult(content=[_text(orjson.dumps(answer).decode())], structuredContent=answer)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._sse.connect_sse(_owned(scope), receive, send) as (reading, writing):
            await self._server.run(reading, writing, self._server.create_initialization_options())

    async def _message(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._sse.handle_post_message(_owned(scope), receive, send)


class _Endpoint:
    """ASGI app around ``handler`` for one method. POST bodies must be declared as JSON."""

    def __init__(self, handler: Handler, method: str = "POST") -> None:
        self._handler, self._method = handler, method

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != self._method:
            refused = reply({"problem": _ONLY_BY.format(self._method), "kind": "other"}, 405)
            refused.headers["Allow"] = self._method
            await refused(scope, receive, send)
        elif self._method == "POST" and not is_json(Request(scope)):
            await reply({"problem": _ONLY_JSON, "kind": "other"}, 400)(scope, receive, send)
        else:
            await self._handler(scope, receive, send)


def _tool(call: Call) -> types.Tool:
    return types.Tool(
        name=call.name, description=f"{call.doc.description} Returns: {call.doc.returns}",
        inputSchema=untitled(call.arguments.model_json_schema()),
        outputSchema=untitled(call.answer.json_schema(mode="serialization")),
        annotations=types.ToolAnnotations(destructiveHint=False, openWorldHint=False))


def _owned(scope: Scope) -> Scope:
    """``scope`` with its visitor as the session owner known to the library."""
    name = visitor_of(Request(scope)).name
    return {**scope, "user": AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))}


def _failed(sentence: str) -> types.CallToolResult:
    return types.CallToolResult(content=[_text(sentence)], isError=True)


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)
