"""The API endpoints as MCP tools: JSON Schemas of input and output, and dispatch.

Built from the functions' signatures and docstrings, so a new endpoint is a tool at once. A tool calls the function in
this process as the user of its own HTTP request: without a Gradio session, and without a request to the server itself,
whose address could only be taken from a client's header.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

import gradio as gr
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from gradio.context import LocalContext
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from starlette.requests import Request

from cir_core.errors import CirqueError
from cir_core.support.texts import shortened
from web.http.visitor import require
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
