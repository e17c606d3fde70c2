"""Gradio events of the search screen: unpack, act, draw."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import gradio as gr

from cir_core.errors import CirqueError
from web.http.long_actions import follow
from web.http.pages import SEARCH
from web.http.public_errors import public_message
from web.http.visitor import require
from web.search.actions.base import LONG, arrive, begin, perform, resume
from web.search.actions.sessions import LISTED, Asked, asked
from web.search.actions.settings import preferred_of
from web.search.screen import PANELS, Screen
from web.search.view import UiState
from web.services import Services
from web.ui.static_files import in_module

# Events that may run the encoder share one queue. Most of a slow search is waiting for a
# language model, so there is room for more of them than there are cores.
ENCODER: dict[str, Any] = {"concurrency_id": "encoder", "concurrency_limit": 16}


def wire_screen(
    demo: gr.Blocks, services: Services, screen: Screen, view_state: gr.State, tab: gr.JSON,
    bus: gr.HTML, outputs: Sequence[gr.components.Component],
) -> None:
    """``bus`` is the panel that carries the page's actions."""
    service = services.search

    def draw(view: UiState, *, sessions: Asked | None = None) -> list[Any]:
        drawn, panels = screen.draw(view, sessions=sessions)
        return [drawn, *(panels.get(name, gr.skip()) for name in PANELS)]

    def on_load(view: UiState, tab: object, request: gr.Request) -> list[Any]:
        wanted, tab = _session_asked(request), tab if isinstance(tab, dict) else {}
        mine = tab.get("sessions")
        view = replace(view, person=_searcher(request), preferred=preferred_of(services, tab.get("method")))
        try:
            return draw(arrive(service, view, wanted, mine if isinstance(mine, list) else [], tab.get("left")))
        except CirqueError as error:
            return draw(replace(view, problem=public_message(error), loaded=True))

    def on_act(view: UiState, event: gr.EventData, request: gr.Request) -> Iterator[list[Any]]:
        data = event._data if isinstance(event._data, dict) else {}
        view = replace(view, person=_searcher(request))
        name = str(data.get("do", ""))
        if data.get("shown_beat") != str(view.beat):  # the page missed a drawing
            view = replace(view, drawn={})
        elif name in LONG:  # it may show progress in place of results
            view = replace(view, drawn={**view.drawn, "results": None})
        try:
            if not view.loaded:  # the server was restarted under an open page
                view = resume(service, view, _session_asked(request), data)
            if name in LONG:
                view = yield from on_long(name, view, data)
            else:
                view = perform(services, view, name, data)
            yield draw(view, sessions=asked(data) if name == "sessions" or name in LISTED else None)
        except CirqueError as error:
            yield draw(replace(view, problem=public_message(error), notice=""))
            raise as_error(error) from error

    def on_long(name: str, view: UiState, data: dict[str, Any]) -> Generator[list[Any], None, UiState]:
        watch, job = begin(services, view, name, data)
        running = follow(job, watch, services.runs)
        told = view.session_id or ""
        while True:
            try:
                progress = next(running)
            except StopIteration as over:
                done: UiState = over.value
                return done
            panels = {"results": screen.draw_progress(view, progress)}
            if progress.session_id and progress.session_id != told:
                told = progress.session_id
                panels["state"] = screen.draw_state(replace(view, session_id=told))
            yield [gr.skip(), *(panels.get(name, gr.skip()) for name in PANELS)]

    # Nothing is asked for before the page's own script is there to see it drawn.
    read_tab = f"async (view) => [view, await {in_module(SEARCH.script, 'screen.opened()')}]"
    demo.load(on_load, [view_state, tab], outputs, js=read_tab, show_progress="hidden",
              api_visibility="private", **ENCODER)
    # "multiple": the page itself sends one action at a time, and may send the next one when this
    # one is drawn, a moment before Gradio counts it as over ("once" would swallow that one).
    acted = bus.act(on_act, [view_state], outputs, show_progress="hidden", api_visibility="private",
                    trigger_mode="multiple", **ENCODER)
    acted.failure(None, js=f"() => {{ {in_module(SEARCH.script, 'screen.done()')}; }}")


def _searcher(request: gr.Request) -> str:
    """The account that searches; "" where there are none. Visitors who may not search see no panel, not even an error:
    panels name galleries."""
    try:
        visitor = require(request, "search")
    except CirqueError as error:
        raise as_error(error) from error
    return "" if visitor.open or visitor.demo else visitor.name


def _session_asked(request: gr.Request) -> str:
    """Session id in the page's URL, which Gradio sends with every event."""
    return str(request.query_params.get("session", ""))[:64]


def as_error(error: CirqueError) -> gr.Error:
    """Toast with the error message, escaped: toasts are HTML and messages quote ids."""
    return gr.Error(escape(public_message(error), quote=False), print_exception=False, title="That did not work",
                    duration=5)
