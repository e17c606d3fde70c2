"""Tables of figures lose nothing to the width of the console."""

import io

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli import console

CELL = "87.78 (85.7–89.9)"


@pytest.mark.parametrize("terminal", [False, True])
def test_no_figure_is_cut(monkeypatch, terminal):
    stream = io.StringIO()
    monkeypatch.setattr(console, "out", Console(file=stream, width=60, force_terminal=terminal, no_color=True))
    table = Table("method", *(f"R@{k}" for k in (1, 5, 10, 50)), box=None)
    table.add_row("CIReVL", CELL, CELL, CELL, CELL)
    console.print_figures(table)
    printed = Text.from_ansi(stream.getvalue()).plain
    assert "…" not in printed
    if terminal:  # folded into the width
        assert max(map(len, printed.splitlines())) <= 60
        assert printed.count("87.78") == printed.count("85.7") == 4
    else:  # one line a row, whatever its length
        assert printed.count(CELL) == 4 and len(printed.splitlines()) == 2
