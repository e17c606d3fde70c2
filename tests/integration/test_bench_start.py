"""The benchmark of starts runs, on a small scale, and its table has every line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.start import Size, run


@pytest.mark.extended
def test_the_table_of_a_tiny_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, Size(stored=40, pairs=1, demo=False))
    said = capsys.readouterr().out
    for label in ("first start, cirque serve", "restart, 40 judgements stored"):
        line = next(line for line in said.splitlines() if line.startswith(label))
        ours, bare, ratio = (float(number) for number in re.findall(r"\d+\.\d+", line)[:3])
        assert ours > 0 and bare > 0 and abs(ratio - ours / bare) < 0.01
