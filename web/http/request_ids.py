"""Every request has an id: in its log lines, in a header of the answer, in the sentence of an unexpected error."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

from asgi_correlation_id import CorrelationIdMiddleware, correlation_id
from starlette.types import ASGIApp

T = TypeVar("T")
HEADER = "X-Request-ID"
_FORM = re.compile(r"[A-Za-z0-9._-]{8,64}")   # of one that is taken over


def with_request_ids(app: ASGIApp) -> ASGIApp:
    """Middleware behind ``Forwarded``, which lets through the id that a trusted proxy sends, so that its log and
    cirque's can be laid side by side, and drops others."""
    # As a transformer: what a validator refuses is logged every time.
    return CorrelationIdMiddleware(app, HEADER, generator=_new, validator=None,
                                   transformer=lambda sent: sent if _FORM.fullmatch(sent) else _new())


def request_id() -> str:
    """Of the request that is worked on here; empty outside of any."""
    return correlation_id.get() or ""


def go_on_with(found: str) -> None:
    """What follows belongs to this request, though it is done later and elsewhere."""
    correlation_id.set(found)


def carried(work: Callable[..., T]) -> Callable[..., T]:
    """``work``, to be done in another thread for this request."""
    return partial(copy_context().run, work)


def unexpected(found: str) -> str:
    """What is said of an error that nobody foresaw: nothing of what is inside."""
    return ("Something went wrong on the server. What was saved before is safe. Try again; if it happens "
            f"again, quote {found or 'the time'} when you report it.")


def id_of(request: Any) -> str:
    """The id of a Starlette request, or of one of Gradio's; empty without one."""
    inner = getattr(request, "request", None) or request
    return str(getattr(inner, "headers", {}).get(HEADER, ""))


def _new() -> str:
    return secrets.token_hex(8)
