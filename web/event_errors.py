"""Gradio's events: an error that nobody foresaw goes into the log, and a sentence with its id to the page."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gradio as gr
from gradio.context import LocalContext

from web.request_ids import go_on_with, id_of, request_id, unexpected

_log = logging.getLogger("cirque.events")


def say_unexpected(demo: gr.Blocks) -> None:
    """For every event of ``demo``. Gradio would send the text of such an error, and print it past the log."""
    for event in demo.fns.values():
        if event.fn is not None:
            event.fn = _told(event.fn)


def _told(fn: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.isgeneratorfunction(fn):
        @functools.wraps(fn)
        def steps(*given: Any, **named: Any) -> Any:
            with _for_its_request():
                return (yield from fn(*given, **named))

        return steps
    if inspect.iscoroutinefunction(fn):
        @functools.wraps(fn)
        async def later(*given: Any, **named: Any) -> Any:
            with _for_its_request():
                return await fn(*given, **named)

        return later

    @functools.wraps(fn)
    def at_once(*given: Any, **named: Any) -> Any:
        with _for_its_request():
            return fn(*given, **named)

    return at_once


@contextmanager
def _for_its_request() -> Iterator[None]:
    """An event is worked on later than it was asked for, and elsewhere."""
    identity = id_of(LocalContext.request.get(None)) or request_id()
    go_on_with(identity)
    try:
        yield
    except (gr.Error, StopIteration):
        raise
    except Exception as error:
        go_on_with(identity)   # a later step of a generator may be in another thread
        _log.error("An event of request %s ended in an error that nobody foresaw.", identity, exc_info=True)
        raise gr.Error(unexpected(identity), print_exception=False, title="That did not work") from error
