"""An error inside Gradio is told from one of ours by what stands in its stack."""

from __future__ import annotations

import logging
import sysconfig
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.fakes.loops import run
from tests.fuzz.tracebacks import ROOT, is_gradios, last_traceback
from web.http.meter import Meter
from web.middleware.auth import AuthMiddleware
from web.middleware.gradio_errors import Screens
from web.middleware.headers import SecurityHeaders
from web.middleware.request_log import RequestLog
from web.middleware.shutdown import DrainMiddleware, ShutdownState
from web.ops.logging_setup import TextLines

SCOPE = {"type": "http", "method": "GET", "path": "/healthz", "headers": [], "query_string": b"",
         "client": ("127.0.0.1", 1), "server": ("localhost", 1), "scheme": "http"}
THEIRS = Router(default=0)  # type: ignore[arg-type]      # raises inside of starlette


class Nobody:
    """People of whom a library's error is all that comes."""

    cached_state = staticmethod(TypeAdapter(int).validate_python)


MIDDLEWARE: dict[str, Callable[[ASGIApp], ASGIApp]] = {
    "auth": lambda app: AuthMiddleware(app, people=Nobody()),  # type: ignore[arg-type]
    "shutdown": lambda app: DrainMiddleware(app, ShutdownState()),
    "headers": SecurityHeaders,
    "request_log": lambda app: RequestLog(app, Meter(), {}),
}


def logged(work: Awaitable[Any]) -> str:
    """What the log of the app says of the error in ``work``, the first of its chain."""
    async def done() -> None:
        await work

    try:
        run(done())
    except Exception as error:
        while error.__context__ is not None:
            error = error.__context__  # type: ignore[assignment]
        error.__cause__ = None
        trace = error.__traceback__     # from where the app's own begins: before are this file and the loop
        while trace is not None and ROOT / "web" not in Path(trace.tb_frame.f_code.co_filename).parents:
            trace = trace.tb_next
        record = logging.LogRecord("cirque", logging.ERROR, "", 0, "An error.", (), (type(error), error, trace))
        error.__traceback__ = trace
        return TextLines().format(record)
    raise AssertionError("nothing was raised")


async def nothing(*_: Any) -> Any:
    return {"type": "http.request"}


def asked(app: ASGIApp, **changes: Any) -> Awaitable[None]:
    return app({**SCOPE, **changes}, nothing, nothing)


async def ours(scope: Scope, receive: Receive, send: Send) -> None:
    await THEIRS(scope, receive, send)


@pytest.mark.parametrize("name", MIDDLEWARE)
def test_what_only_passes_a_request_on_has_no_part_in_the_error(
    name: str, caplog: pytest.LogCaptureFixture,
) -> None:
    def said(app: ASGIApp) -> str:
        stack = MIDDLEWARE[name](app)
        if name != "request_log":
            return logged(asked(stack))
        caplog.clear()      # it lets nothing out, but writes it down
        run(stack(dict(SCOPE), nothing, nothing))  # type: ignore[arg-type]
        return TextLines().format(next(record for record in caplog.records if record.exc_info))

    theirs = said(THEIRS)
    assert f"web/middleware/{name}.py" in theirs, "else this shows nothing"
    assert is_gradios(last_traceback(theirs)), last_traceback(theirs)
    through_us = last_traceback(said(ours))
    assert through_us.rpartition(" from ")[2].startswith("test_tracebacks.py:") and not is_gradios(through_us)


def test_what_passes_an_event_on_has_no_part_in_its_error() -> None:
    async def event() -> None:
        await Screens().process_api(999, [])      # it has no such event

    said = logged(event())
    assert "web/middleware/gradio_errors.py" in said and "gradio/blocks.py" in said, "else this shows nothing"
    assert is_gradios(last_traceback(said)), last_traceback(said)


def test_what_the_guard_does_itself_is_ours() -> None:
    said = logged(asked(MIDDLEWARE["auth"](THEIRS), path="/", headers=[(b"cookie", b"cirque=x")]))
    trace = last_traceback(said)
    assert " at pydantic/" in trace and " from auth.py:" in trace and not is_gradios(trace)


def test_libraries_in_a_folder_below_ours_are_not_ours() -> None:
    """``make`` installs them into .venv."""
    said = logged(asked(MIDDLEWARE["auth"](THEIRS)))
    here = said.replace(sysconfig.get_path("purelib"), f"{ROOT}/.venv/lib/python3.12/site-packages")
    assert f"{ROOT}/.venv" in here and is_gradios(last_traceback(here))


def test_no_traceback_is_none() -> None:
    assert last_traceback("2026-01-01 WARNING cirque: all is well") == "" and not is_gradios("")
