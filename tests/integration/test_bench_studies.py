"""The benchmark of judging runs, on a small scale, and its table has every line."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.studies import Size, run


@pytest.mark.extended
def test_the_table_of_a_tiny_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size = Size(stored=(20,), people=(1, 2), seconds=0.2, slices=1)
    with ThreadPoolExecutor(1) as thread:   # browser tests before this one leave their event loop in the main one
        thread.submit(run, tmp_path, size).result()
    said = capsys.readouterr().out
    for label in ("bare event", "bare event, through Gradio's queue", "save + next, the screen's route",
                  "save + next, named call", "… and 3 pictures", "… and 3 pictures, 20 thumbnails",
                  "rating + next, the screen's route", "rating + next, named call"):
        for people in (1, 2):
            assert f" {people} {label} " in said
    assert said.count("save: target 0.8 × bare") == said.count("rating: target 0.8 × bare") == 2
    assert said.count("cycles a second") == 1    # with several people only
    assert "memory of the server" in said
