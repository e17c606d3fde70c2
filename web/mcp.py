"""The API endpoints as an MCP server (Model Context Protocol), for the setting ``CIRQUE_MCP``. The API endpoints as
MCP tools: JSON Schemas of input and output, and dispatch.

Streamable HTTP at ``/gradio_api/mcp/`` without sessions: every request is authenticated by its cookie. The older SSE
transport is at ``/gradio_api/mcp/sse``; each posted message is authenticated by itself, and a stream accepts messages
of its own user only.

AuthMiddleware, body limits and shutdown draining apply to these URLs as to all others.

Built from the functions' signatures and docstrings, so a new endpoint is a tool at once. A tool calls the function in
this process as the user of its own HTTP request: without a Gradio session, and without a request to the server itself,
whose address could only be taken from a client's header.
"""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_type_hints

import gradio as gr
import orjson
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import FastAPI
from gradio.context import LocalContext
from mcp import types
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from cir_core.errors import CirqueError
from cir_core.support.texts import shortened
from cir_core.version import __version__
from web.http.json_api import reply
from web.http.public_errors import public_message
from web.http.request_fields import MOST_AT_WORK, is_json
from web.http.request_ids import go_on_with, id_of, request_id, unexpected
from web.http.visitor import require, visitor_of
from web.limits.url_downloads import ImageFetcher, check_upload, is_remote
from web.middleware.gradio_errors import Screens
from web.search.events import ENCODER

Check = Callable[[str, Mapping[str, Any]], None]   # of a person's name and the arguments; raises CirqueError

_PARAMETER = re.compile(r"(\w+): (.*)")


class BadArguments(CirqueError):
    """Arguments that violate a tool's input schema."""


@dataclass(frozen=True)
class Docstring:
    """Sections of a Google-style docstring, each on one line."""

    description: str
    parameters: Mapping[str, str]
    returns: str


@dataclass(frozen=True)
class NamedTool:
    """An endpoint with the model that validates its arguments."""

    name: str
    description: str
    arguments: type[BaseModel]
    output_schema: Mapping[str, Any]
    event: Any                          # Gradio's BlockFunction
    files: frozenset[str]               # parameters that take a file

    @property
    def input_schema(self) -> dict[str, Any]:
        return _untitled(self.arguments.model_json_schema())

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments with defaults applied. Raises ``BadArguments``."""
        try:
            found = self.arguments.model_validate(given)
        except ValidationError as error:
            raise BadArguments(_sentence(self.name, error)) from None
        return {name: getattr(found, name) for name in self.arguments.model_fields}


class ToolCaller:
    """Validates and runs tool calls of users."""

    def __init__(self, demo: Screens, images: ImageFetcher, checks: Mapping[str, Check]) -> None:
        """``checks``, by tool name: validations to run before an image is fetched."""
        self._demo, self._images, self._checks = demo, images, checks
        # Gradio has its own limit of the same size for its events: 32 searches at once, and docs/api.md says so.
        self._searching = CapacityLimiter(ENCODER["concurrency_limit"])
        self.tools = {tool.name: tool for tool in map(_tool_of, demo.fns.values()) if tool is not None}

    async def call(self, name: str, given: Mapping[str, Any], request: Request | None) -> dict[str, Any]:
        """Result of the endpoint for the visitor of ``request``.

        Raises ``CirqueError`` or ``gr.Error`` with a message, and any unexpected error.
        """
        tool = self.tools.get(name)
        if tool is None:
            raise BadArguments(f"There is no tool “{shortened(name)}” here. There are: {', '.join(self.tools)}.")
        arguments = tool.checked(given)
        fetched: list[Path] = []
        try:
            if any(arguments[name] for name in tool.files):
                visitor = require(request, "search")   # as for an upload: before anything is fetched or written
                if name in self._checks:
                    await run_sync(partial(self._checks[name], visitor.name, arguments))
                arguments = await self._with_files(tool, arguments, visitor.name, fetched)
            work = partial(tool.event.fn, **arguments, request=request)
            if inspect.iscoroutinefunction(tool.event.fn):
                return dict(await work())
            return dict(await run_sync(work, limiter=self._searching))
        finally:
            for path in fetched:
                await self._images.discard(path)

    async def _with_files(self, tool: NamedTool, arguments: dict[str, Any], person: str, fetched: list[Path],
                          ) -> dict[str, Any]:
        """``arguments`` as Gradio passes them to the function: files as paths, after Gradio's upload checks. Fetched
        files are added to ``fetched``."""
        given = dict(arguments)
        for name in tool.files:
            if image := given[name]:
                if is_remote(image):
                    fetched.append(await self._images.fetch_image(image, person))
                    image = str(fetched[-1])
                else:
                    await run_sync(check_upload, image)
                given[name] = {"path": image, "meta": {"_type": "gradio.FileData"}}
        LocalContext.blocks.set(self._demo)   # without it Gradio takes any path for an upload
        values = await self._demo.preprocess_data(tool.event, list(given.values()), None)
        return dict(zip(given, values, strict=True))


def _tool_of(event: Any) -> NamedTool | None:
    """The tool of a Gradio event; None for events of pages."""
    if event.api_visibility != "public" or event.fn is None:
        return None
    doc, hints = docstring_of(event.fn), get_type_hints(event.fn)
    taken = [one for one in inspect.signature(event.fn).parameters.values() if one.name != "request"]
    fields: dict[str, Any] = {one.name: (hints[one.name], Field(
        ... if one.default is one.empty else one.default, description=doc.parameters.get(one.name, "")))
        for one in taken}
    files = frozenset(one.name for one, component in zip(taken, event.inputs, strict=True)
                      if isinstance(component, gr.File))
    return NamedTool(
        event.api_name, f"{doc.description} Returns: {doc.returns}",
        create_model(event.api_name, __config__=ConfigDict(extra="forbid"), **fields),
        _untitled(TypeAdapter(hints["return"]).json_schema(mode="serialization")), event, files,
    )


def docstring_of(function: Any) -> Docstring:
    """The parsed docstring of ``function``."""
    text = inspect.getdoc(function) or ""
    description, _, rest = text.partition("\nArgs:\n")
    listed, _, returns = rest.partition("\nReturns:\n")
    parameters: dict[str, str] = {}
    name = ""
    for line in map(str.strip, inspect.cleandoc(listed).splitlines()):
        begins = _PARAMETER.fullmatch(line)
        if begins and begins[1] in inspect.signature(function).parameters:
            name, line = begins[1], begins[2]
        parameters[name] = f"{parameters.get(name, '')} {line}".strip()
    return Docstring(" ".join(description.split()), parameters, " ".join(returns.split()))


def _untitled(schema: Any) -> Any:
    """``schema`` without the titles that pydantic derives from names."""
    if isinstance(schema, dict):
        return {key: _untitled(value) for key, value in schema.items()
                if not (key == "title" and isinstance(value, str))}
    return [_untitled(one) for one in schema] if isinstance(schema, list) else schema


def _sentence(tool: str, error: ValidationError) -> str:
    """Message for the first validation error, without the sent value."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    first = found[0]
    where = shortened(str(first["loc"][0]))
    if first["type"] == "missing":
        return f"“{where}” is missing. The tool {tool} requires it."
    if first["type"] == "extra_forbidden":
        return f"The tool {tool} takes no “{where}”. Look at its input schema."
    reasons = dict.fromkeys(one["msg"] for one in found if one["loc"][0] == first["loc"][0])   # one for each type
    return f"“{where}” does not fit the tool {tool}: {shortened('; '.join(reasons), 200)}. Look at its input schema."


Handler = Callable[[Scope, Receive, Send], Awaitable[None]]

_log = logging.getLogger("cirque.events")
_AT = "/gradio_api/mcp"
_INSTRUCTIONS = """\
cirque searches a gallery of images with a reference image and a text that says what should be different, and lets \
people judge the results in studies. The tools act as the person who is signed in; what they save in a study counts \
as that person's judgement. Addresses of pictures are relative to the root of this server and are fetched with the \
same headers."""
_ONLY_BY = "This address takes MCP requests by {}. Give it to an MCP client; docs/api.md says how."
_ONLY_JSON = "Send this as JSON, with Content-Type: application/json."


class McpServer:
    """MCP server over the API endpoints of ``demo``."""

    def __init__(self, demo: Screens, images: ImageFetcher, checks: Mapping[str, Check] = MappingProxyType({})) -> None:
        self._caller = ToolCaller(demo, images, checks)
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
        return [
            types.Tool(name=tool.name, description=tool.description, inputSchema=tool.input_schema,
                       outputSchema=dict(tool.output_schema),
                       annotations=types.ToolAnnotations(destructiveHint=False, openWorldHint=False))
            for tool in self._caller.tools.values()
        ]

    async def _call(self, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        """Result of a tool; errors become tool errors, which models can read and act on."""
        request = self._server.request_context.request
        go_on_with(id_of(request))
        try:
            answer = await self._caller.call(name, arguments, request)
        except gr.Error as error:
            return _failed(str(error.message))
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


def _owned(scope: Scope) -> Scope:
    """``scope`` with its visitor as the session owner known to the library."""
    name = visitor_of(Request(scope)).name
    return {**scope, "user": AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))}


def _failed(sentence: str) -> types.CallToolResult:
    return types.CallToolResult(content=[_text(sentence)], isError=True)


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)
