"""Calls for programs. Each is one function of the visitor and its arguments; its plain route, its named Gradio call and
its MCP tool are made from its signature and docstring, and do the same by :class:`Caller`.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, get_type_hints

import gradio as gr
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model

from annotation.accounts.roles import Capability
from cir_core.errors import CirqueError
from cir_core.support.texts import shortened
from web.http.public_errors import public_message
from web.http.visitor import Visitor, check, require
from web.limits.gradio_limits import TooManyRequests
from web.limits.url_downloads import ImageFetcher, check_upload, is_remote

Given = Mapping[str, Any]
Check = Callable[[Visitor, Given], None]                                   # raises CirqueError
Place = Callable[[Callable[[], Any], Visitor, Given], Awaitable[Any]]      # runs the work in a thread

_PARAMETER = re.compile(r"(\w+): (.*)")
_EACH, _IN_ALL, _AGAIN = 1000, 5000, 10   # calls accepted and not answered; seconds


class BadArguments(CirqueError):
    """Arguments that violate a call's schema."""


@dataclass(frozen=True)
class Docstring:
    """Sections of a Google-style docstring, each on one line."""

    description: str
    parameters: Mapping[str, str]
    returns: str


@dataclass(frozen=True, eq=False)
class Call:
    """``work`` takes the visitor first, then the arguments; ``place`` is where it runs. ``image``: the parameter that
    takes a picture, if any; ``early``: what is checked before that is fetched and before it waits for its place."""

    work: Callable[..., Any]
    needs: Capability
    place: Place
    image: str = ""
    early: Check | None = None

    @property
    def name(self) -> str:
        return self.work.__name__

    @cached_property
    def parameters(self) -> list[inspect.Parameter]:
        return list(inspect.signature(self.work).parameters.values())[1:]

    @cached_property
    def doc(self) -> Docstring:
        return docstring_of(self.work)

    @cached_property
    def arguments(self) -> type[BaseModel]:
        hints = get_type_hints(self.work)
        fields: dict[str, Any] = {one.name: (hints[one.name], Field(
            ... if one.default is one.empty else one.default, description=self.doc.parameters.get(one.name, "")))
            for one in self.parameters}
        return create_model(self.name, __config__=ConfigDict(extra="forbid"), **fields)

    @cached_property
    def answer(self) -> TypeAdapter[Any]:
        return TypeAdapter(get_type_hints(self.work)["return"])

    def checked(self, given: Given) -> dict[str, Any]:
        """All arguments with defaults applied. Raises ``BadArguments``."""
        try:
            found = self.arguments.model_validate(given)
        except ValidationError as error:
            raise BadArguments(_sentence(self.name, error)) from None
        return {name: getattr(found, name) for name in self.arguments.model_fields}


class Caller:
    """Does calls for visitors, within limits. For one event loop."""

    def __init__(self, calls: Sequence[Call], images: ImageFetcher) -> None:
        self.calls = {call.name: call for call in calls}
        self._images, self._under_way = images, Counter[str]()

    async def answer(self, call: Call, visitor: Visitor, given: Given) -> dict[str, Any]:
        """What ``call`` comes to with the arguments of its schema. Raises ``CirqueError``."""
        check(visitor, call.needs)
        arguments, fetched = call.checked(given), None
        with self._room(visitor.name):
            try:
                if call.early is not None:
                    await run_sync(partial(call.early, visitor, arguments))
                if image := arguments.get(call.image):
                    if is_remote(image):
                        image = fetched = str(await self._images.fetch_image(image, visitor.name))
                    else:
                        await run_sync(check_upload, image)
                    arguments[call.image] = image
                return dict(await call.place(partial(call.work, visitor, **arguments), visitor, arguments))
            finally:
                if fetched is not None:
                    await self._images.discard(Path(fetched))

    @contextmanager
    def _room(self, person: str) -> Iterator[None]:
        if self._under_way[person] >= _EACH:
            raise TooManyRequests(f"{_EACH:,} of your calls are waiting or running. Wait for their results before you "
                                  "make more.", _AGAIN)
        if self._under_way.total() >= _IN_ALL:
            raise TooManyRequests(f"{_IN_ALL:,} calls of all people are waiting or running. Call again in {_AGAIN} s.",
                                  _AGAIN)
        self._under_way[person] += 1
        try:
            yield
        finally:
            self._under_way[person] -= 1
            if not self._under_way[person]:
                del self._under_way[person]


def threads(most: int) -> Place:
    """Room for ``most`` at a time; the others wait in order, without a thread."""
    limit = CapacityLimiter(most)

    async def place(work: Callable[[], Any], visitor: Visitor, given: Given) -> Any:
        return await run_sync(work, limiter=limit)

    return place


def name_call(call: Call, inputs: list[Any], **event: Any) -> None:
    """Register ``call`` as a named call of Gradio, with a component for each argument. Inside a ``gr.Blocks``. Its
    arguments come as Gradio has them, and an image as the path of an upload."""
    names = [one.name for one in call.parameters]

    async def named(request: gr.Request, *values: Any) -> Any:
        try:
            visitor, given = require(request, call.needs), dict(zip(names, values, strict=True))
            return await call.place(partial(call.work, visitor, **given), visitor, given)
        except CirqueError as error:
            raise gr.Error(public_message(error), print_exception=False) from error

    # By these Gradio knows what to hand over, and tells clients how the arguments are called.
    hints = get_type_hints(call.work)
    asked = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=gr.Request)
    named.__signature__ = inspect.Signature([asked, *call.parameters])  # type: ignore[attr-defined]
    named.__annotations__ = {"request": gr.Request, **{name: hints[name] for name in (*names, "return")}}
    named.__name__, named.__doc__ = call.name, call.work.__doc__
    gr.Button(visible=False).click(named, inputs, gr.JSON(visible=False), api_name=call.name, **event)


def docstring_of(function: Any) -> Docstring:
    """The parsed docstring of ``function``."""
    text = inspect.getdoc(function) or ""
    rest, _, returns = text.partition("\nReturns:\n")
    description, _, listed = rest.partition("\nArgs:\n")
    parameters: dict[str, str] = {}
    name = ""
    for line in map(str.strip, inspect.cleandoc(listed).splitlines()):
        begins = _PARAMETER.fullmatch(line)
        if begins and begins[1] in inspect.signature(function).parameters:
            name, line = begins[1], begins[2]
        parameters[name] = f"{parameters.get(name, '')} {line}".strip()
    return Docstring(" ".join(description.split()), parameters, " ".join(returns.split()))


def untitled(schema: Any) -> Any:
    """``schema`` without the titles that pydantic derives from names."""
    if isinstance(schema, dict):
        return {key: untitled(value) for key, value in schema.items()
                if not (key == "title" and isinstance(value, str))}
    return [untitled(one) for one in schema] if isinstance(schema, list) else schema


def _sentence(call: str, error: ValidationError) -> str:
    """Message for the first validation error, without the sent value."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    first = found[0]
    where = shortened(str(first["loc"][0]))
    if first["type"] == "missing":
        return f"“{where}” is missing. The call {call} requires it."
    if first["type"] == "extra_forbidden":
        return f"The call {call} takes no “{where}”. Look at its input schema."
    reasons = dict.fromkeys(one["msg"] for one in found if one["loc"][0] == first["loc"][0])   # one for each type
    return f"“{where}” does not fit the call {call}: {shortened('; '.join(reasons), 200)}. Look at its input schema."
