"""The analysis screen's page. The screen itself is drawn in the browser, by ``assets/js/study``."""

from __future__ import annotations

import gradio as gr

from web.own_files import own
from web.services import Services


def build_analysis_page(demo: gr.Blocks, services: Services) -> None:
    """Adds ``/analysis``. Nothing of a study is in the page: it is asked for, as whoever is signed in."""
    with demo.route("Analysis", "/analysis", show_in_navbar=False):
        # A bare import() would start from the folder of Gradio's own script.
        script = (
            f"import(new URL('{own('js/study/analysis.js')}', document.baseURI).href)"
            ".then((screen) => screen.mount(element));"
        )
        gr.HTML(
            "", html_template="${value}", js_on_load=script, apply_default_css=False,
            elem_id="analysis-root", elem_classes="cq-panel", container=False, padding=False,
        )
