"""Run the cells of a notebook and keep what they print: ``python .ci/notebook.py FILE``.

Each runs where the ones before have left off, in an empty folder that is also the home folder. Images that Markdown
cells show (attachments) are those files that the cells have written.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
import tempfile
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any


def run(notebook: dict[str, Any], folder: Path) -> dict[str, Any]:
    """``notebook``, of nbformat 4, with the output of now. Only what is printed is an output here."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = []
    with chdir(folder):
        for number, cell in enumerate(notebook["cells"]):
            if cell["cell_type"] == "code":
                printed = io.StringIO()
                with redirect_stdout(printed):
                    exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
                lines = printed.getvalue().splitlines(keepends=True)
                outputs = [{"name": "stdout", "output_type": "stream", "text": lines}] if lines else []
                cell = {**cell, "outputs": outputs}
            elif "attachments" in cell:
                cell = {**cell, "attachments": {
                    name: {"image/png": base64.b64encode((folder / name).read_bytes()).decode()}
                    for name in cell["attachments"]}}
            cells.append(cell)
    return {**notebook, "cells": cells}


def main() -> None:
    path = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CIRQUE_HOME"] = folder
        made = run(json.loads(path.read_text("utf-8")), Path(folder))
    path.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
