"""All screens in one ``gr.Blocks``."""

from __future__ import annotations

import gradio as gr

from web.search_tab import build_search_tab
from web.services import Services


def build_demo(services: Services) -> gr.Blocks:
    """The app's pages over ``services``. No model is loaded here."""
    with gr.Blocks(title="cirque", analytics_enabled=False, fill_width=True) as demo:
        build_search_tab(demo, services)
    return demo
