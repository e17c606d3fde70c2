"""Baseline of ``benchmarks.start``: a Gradio app with one event that does nothing.

    python -m benchmarks.bare_start PORT
"""

from __future__ import annotations

import os
import sys


def main(port: int) -> None:
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    import gradio as gr

    with gr.Blocks(analytics_enabled=False) as demo:
        said = gr.Textbox()
        gr.Button().click(lambda text: text, said, said)
    demo.launch(server_name="127.0.0.1", server_port=port, quiet=True, ssr_mode=False)


if __name__ == "__main__":
    main(int(sys.argv[1]))
