"""All screens in one ``gr.Blocks``."""

from __future__ import annotations

import gradio as gr

from web.http.pages import SCREENS, SEARCH, Page
from web.middleware.gradio_errors import Screens
from web.search.tab import build_search_tab
from web.services import Services
from web.studies.api import wire_study_calls
from web.ui.static_files import in_module

# Seconds: looked for so often, and removed when so old. The search call takes its image into the home folder at once.
_UPLOADS = (3600, 86400)


def build_demo(services: Services) -> Screens:
    """The app's pages over ``services``. No model is loaded here."""
    with Screens(title="cirque", analytics_enabled=False, fill_width=True, delete_cache=_UPLOADS) as demo:
        build_search_tab(demo, services)
        if services.settings.public_demo:
            return demo
        wire_study_calls(services)
        for page in SCREENS:
            if page.path != SEARCH.path:
                demo.begin_page(page.title, page.path)
                _page_root(page)
    return demo


def _page_root(page: Page) -> None:
    """An empty element for the page's script to draw into. Its content comes from authenticated calls."""
    gr.HTML(
        "", html_template="${value}", js_on_load=in_module(page.script, "screen.mount(element)"),
        apply_default_css=False, elem_id=f"{page.name}-root", elem_classes="cq-panel",
        container=False, padding=False,
    )
