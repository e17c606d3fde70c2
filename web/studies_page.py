"""The studies screen's page. The screen itself is drawn in the browser, by ``assets/js/study``."""

from __future__ import annotations

import gradio as gr

from web.own_files import own
from web.services import Services


def build_studies_page(demo: gr.Blocks, services: Services) -> None:
    """Adds ``/studies``. Nothing of a study is in the page: it is asked for, as whoever is signed in."""
    with demo.route("Studies", "/studies", show_in_navbar=False):
        # A bare import() would start from the folder of Gradio's own script.
        script = (
            f"import(new URL('{own('js/study/studies.js')}', document.baseURI).href)"
            ".then((screen) => screen.mount(element));"
        )
        gr.HTML(
            "", html_template="${value}", js_on_load=script, apply_default_css=False,
            elem_id="studies-root", elem_classes="cq-panel", container=False, padding=False,
        )
