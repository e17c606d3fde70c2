"""The benchmark of agreement runs, on a small scale, and what it compares is equal."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.agreement import Size, run


@pytest.mark.extended
def test_the_table_of_a_tiny_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, Size(small=(3, 10), large=(4, 40), draws=20, looped=2, repeats=1))
    said = capsys.readouterr().out
    assert "3 people, 10 items" in said
    assert "4 people, 40 items" in said
    assert said.count("bar 1,000 ms") == 1
    assert "20 draws of 4 people, 40 items: valid or not, flags and signatures, 6 pairs" in said
    assert "ratio of the draws" in said
    assert "ratio of the draws" in said
    assert float(said.split("the same draws differ by ")[1].split()[0]) < 1e-12
