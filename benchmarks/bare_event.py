"""Baseline of ``benchmarks.studies``: a Gradio app whose one event commits one row.

    python -m benchmarks.bare_event FOLDER

One connection shared under a lock: no thread waits in SQLite's busy handler, which makes it the
fastest plain way to commit from Gradio's threads. Durability is that of cirque's own database.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import threading
from pathlib import Path
from typing import Any


def main(folder: Path) -> None:
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    import gradio as gr

    rows = sqlite3.connect(folder / "bare.db", check_same_thread=False, isolation_level=None)
    rows.execute("PRAGMA journal_mode = WAL")
    rows.execute("PRAGMA synchronous = FULL")
    rows.execute("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, study, item, answer, token, seconds)")
    turn = threading.Lock()

    def save(study: str, item: str, answer: dict[str, Any], token: str, seconds: float) -> dict[str, Any]:
        row = (study, item, json.dumps(answer), token, seconds)
        with turn:
            return {"row": rows.execute(
                "INSERT INTO rows (study, item, answer, token, seconds) VALUES (?, ?, ?, ?, ?)", row).lastrowid}

    with gr.Blocks(analytics_enabled=False) as demo:
        inputs = [gr.Textbox(), gr.Textbox(), gr.JSON(), gr.Textbox(), gr.Number()]
        gr.Button().click(save, inputs, gr.JSON(), api_name="save", queue=False)
        gr.Button().click(save, inputs, gr.JSON(), api_name="save_queued", concurrency_limit=16)
    demo.launch(server_name="127.0.0.1", prevent_thread_lock=True, quiet=True, ssr_mode=False)
    print(f"bare event is at {demo.local_url}", flush=True)
    demo.block_thread()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
