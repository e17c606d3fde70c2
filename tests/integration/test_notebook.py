"""The notebook in the docs prints what it shows."""

from __future__ import annotations

import base64
import json
import runpy
from pathlib import Path

import pandas as pd
import pytest

from cir_core.settings import get_settings

ROOT = Path(__file__).parents[2]


def test_the_notebook_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = json.loads((ROOT / "docs/how-to/studies/python.ipynb").read_text("utf-8"))
    monkeypatch.setenv("CIRQUE_HOME", str(tmp_path))
    get_settings.cache_clear()
    run = runpy.run_path(str(ROOT / ".ci" / "notebook.py"))["run"]
    with pd.option_context("display.width", 80, "display.max_columns", 20):    # which the notebook changes
        made = run(shown, tmp_path)
    assert [cell.get("outputs") for cell in made["cells"]] == [cell.get("outputs") for cell in shown["cells"]]
    [figure] = [cell["attachments"]["kappa.png"]["image/png"] for cell in made["cells"] if "attachments" in cell]
    assert base64.b64decode(figure).startswith(b"\x89PNG")
