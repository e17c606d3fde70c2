"""Gradio events of the search screen: unpack, act, draw."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import gradio as gr

from cir_core.errors import CirqueError, SearchError
from cir_core.settings import Settings
from cir_core.support.process import cores
from web.http.pages import SEARCH
from web.http.public_errors import public_message
from web.http.visitor import require, visitor_of
from web.search.actions.base import FOLLOW, LONG, arrive, begin, followed, perform, resume
from web.search.actions.parts import settle
from web.search.actions.sessions import LISTED, Asked, asked
from web.search.actions.settings import preferred_of
from web.search.inputs import text_of
from web.search.screen import PANELS, Screen
from web.search.thumbs import judge_of
from web.search.view import UiState
from web.services import Services
from web.ui.static_files import in_module

# Events that may run the encoder share one queue. Most of a slow search is waiting for a
# language model, so there is room for more of them than there are cores.
WAITING = 16
ENCODER: dict[str, Any] = {"concurrency_id": "encoder", "concurrency_limit": WAITING}


def at_once(settings: Settings) -> int:
    """How many searches of programs run at a time. The built-in rules wait for nobody: more threads than cores would
    only take turns, and slow down who saves meanwhile."""
    return WAITING if settings.llm_base_url.strip() else 2 * cores()


def wire_screen(
    demo: gr.Blocks, services: Services, screen: Screen, view_state: gr.State, tab: gr.JSON,
    bus: gr.HTML, outputs: Sequence[gr.components.Component],
) -> None:
    """``bus`` is the panel that carries the page's actions."""
    def draw(view: UiState, *, sessions: Asked | None = None) -> list[Any]:
        drawn, panels = screen.draw(view, sessions=sessions)
        return [drawn, *(panels.get(name, gr.skip()) for name in PANELS)]

    def on_load(view: UiState, tab: object, request: gr.Request) -> list[Any]:
        tab = tab if isinstance(tab, dict) else {}
        view = replace(view, person=_searcher(request), judge=judge_of(visitor_of(request), tab.get("who")),
                       preferred=preferred_of(services, tab.get("method")))
        try:
            view = arrive(services, view, _address(request), tab)
        except CirqueError as error:
            return draw(replace(view, problem=public_message(error), loaded=True))
        drawn = draw(view)
        if (run := services.runs.find(view.running)) is not None:   # it is under way, not what it will replace
            drawn[1 + PANELS.index("results")] = screen.draw_progress(view, run.watch.progress)
        return drawn

    def on_act(view: UiState, event: gr.EventData, request: gr.Request) -> Iterator[list[Any]]:
        data = event._data if isinstance(event._data, dict) else {}
        view = replace(view, person=_searcher(request), judge=judge_of(visitor_of(request), data.get("who")))
        name = str(data.get("do", ""))
        if data.get("shown_beat") != str(view.beat):  # the page missed a drawing
            view = replace(view, drawn={})
        elif name in (*LONG, FOLLOW):  # it may show progress in place of results
            view = replace(view, drawn={**view.drawn, "results": None})
        try:
            if not view.loaded:  # the server was restarted under an open page
                view = resume(services, view, _address(request), data)
            view = replace(settle(services.search, view) if view.early else view, running="")
            if name in (*LONG, FOLLOW):
                view = yield from on_long(name, view, data)
            else:
                view = perform(services, view, name, data)
            yield draw(view, sessions=asked(data) if name == "sessions" or name in LISTED else None)
        except CirqueError as error:
            yield draw(replace(view, problem=public_message(error), notice=""))
            raise as_error(error) from error

    def on_long(name: str, view: UiState, data: dict[str, Any]) -> Generator[list[Any], None, UiState]:
        run_id = text_of(data, "run")
        if name == FOLLOW:
            run = services.runs.find(run_id)
            if run is None:
                raise SearchError("That search has expired. Search again.")
        else:
            watch, job = begin(services, view, name, data)
            run = services.runs.begin(job, watch, run_id)
        running, told = run.follow(), view.session_id or ""
        while True:
            try:
                progress = next(running)
            except StopIteration as over:
                done: UiState = over.value
                return followed(view, done) if name == FOLLOW else done
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


def _address(request: gr.Request) -> dict[str, str]:
    """What the page's URL names, which Gradio sends with every event."""
    return {name: str(value)[:200] for name, value in request.query_params.items()}


def as_error(error: CirqueError) -> gr.Error:
    """Toast with the error message, escaped: toasts are HTML and messages quote ids."""
    return gr.Error(escape(public_message(error), quote=False), print_exception=False, title="That did not work",
                    duration=5)
