"""Every address that an app answers, also those of routers and apps inside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from starlette.routing import Mount


@dataclass(frozen=True)
class Address:
    path: str                  # with places: /media/{name}
    methods: tuple[str, ...]
    app: str                   # the class of the app it belongs to

    def filled(self, value: str = "x") -> str:
        """With ``value`` in every place."""
        first, *rest = self.path.split("{")
        return first + "".join(value + piece.partition("}")[2] for piece in rest)


def addresses(app: Any, below: str = "") -> Iterator[Address]:
    """Raises for a route that is of no kind known here: then this is to be taught it."""
    for route in app.routes:
        if isinstance(route, Mount):
            yield from addresses(route.app, below + route.path)
            continue
        included = getattr(route, "effective_candidates", None)
        for one in included() if included is not None else (route,):
            yield from _one(one, below, type(app).__name__)


def _one(route: Any, below: str, app: str) -> Iterator[Address]:
    nested = getattr(route, "effective_candidates", None)
    if nested is not None:
        for one in nested():
            yield from _one(one, below, app)
        return
    inner = getattr(route, "starlette_route", None) or route
    path, methods = getattr(inner, "path", None), getattr(inner, "methods", None)
    path = getattr(route, "path", None) or path
    methods = methods or getattr(route, "methods", None)
    assert path and methods, f"a route of an unknown kind: {route!r}"
    yield Address(below + path, tuple(sorted(methods)), app)
