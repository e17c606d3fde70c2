"""The search screen: HTML panels, rendered by :mod:`web.search.screen`, wired in :mod:`web.search.events`."""

from __future__ import annotations

import gradio as gr

from web.http.pages import SEARCH
from web.search.events import wire_screen
from web.search.screen import PANELS, Screen
from web.search.view import UiState
from web.services import Services
from web.ui.static_files import in_module


def build_search_tab(demo: gr.Blocks, services: Services) -> None:
    screen = Screen(services)
    first = screen.empty()
    panels = {"state": _panel("state", first)}
    with gr.Row(elem_id="bench"):
        with gr.Column(elem_id="side", scale=0, min_width=0):
            panels["rail"] = _panel("rail", first)
        panels["top"] = _panel("top", first)   # above it, but Tab comes to the text field first
        with gr.Column(elem_id="main", min_width=0):
            panels["strip"] = _panel("strip", first)
            panels["results"] = _panel("results", first)
        with gr.Column(elem_id="aside", scale=0, min_width=0):
            panels["how"] = _panel("how", first)
    panels |= {name: _panel(name, first) for name in ("drawers", "chooser", "sessions")}
    view, tab = gr.State(UiState.first(services.settings)), gr.JSON(value={}, visible=False)
    wire_screen(demo, services, screen, view, tab, panels["state"], [view, *(panels[name] for name in PANELS)])


def _panel(name: str, first: dict[str, str]) -> gr.HTML:
    # "act" is the one event; Gradio knows it because the quoted word stands in this script.
    script = in_module(SEARCH.script, f"screen.mount(element, trigger, watch, '{name}', 'act')")
    return gr.HTML(
        first[name], html_template="${value}", js_on_load=script, apply_default_css=False,
        elem_id=name, elem_classes="cq-panel",
    )
