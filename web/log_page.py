"""The log page: an empty root into which ``assets/js/study/log.js`` puts the screen."""

from __future__ import annotations

import gradio as gr

from web.own_files import own
from web.services import Services


def build_log_page(demo: gr.Blocks, services: Services) -> None:
    """Adds ``/log``, outside the ``with`` of ``demo``. What is in the log comes by a call that asks who is asking."""
    with demo.route("Log", "/log", show_in_navbar=False):
        # A bare import() would start from the folder of Gradio's own script.
        script = (
            f"import(new URL('{own('js/study/log.js')}', document.baseURI).href)"
            ".then((screen) => screen.mount(element));"
        )
        gr.HTML(
            "", html_template="${value}", js_on_load=script, apply_default_css=False,
            elem_id="log-root", elem_classes="cq-panel", container=False, padding=False,
        )
