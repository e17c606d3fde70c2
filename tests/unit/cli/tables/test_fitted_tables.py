"""Tables in a terminal of any width: no number is cut, no line is longer than the terminal."""

import io
import re

import pytest
from rich.console import Console

from cli.tables import fitted_tables
from cli.tables.fitted_tables import Grid, print_grid

WHY = "both raters used a single category"
ROWS = (("person one", "P1", "12", "0.456 [0.123, 0.789]", WHY),
        ("person two", "P2", "9", "−0.100 [−0.312, 0.100]", WHY),
        ("person three", "P3", "1,200", "–", ""))
GRID = Grid(("Who", "Code", "n", "κ [95 %]", "Remark"), (False, False, True, True, False), ROWS, frozenset({4}),
            frozenset({1}))


@pytest.fixture
def printed(monkeypatch):
    def of(width, grid=GRID, terminal=True):
        file = io.StringIO()
        monkeypatch.setattr(fitted_tables, "out", Console(
            file=file, width=width, force_terminal=terminal, highlight=False, no_color=True))
        print_grid(grid)
        return re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())

    return of


def test_a_wide_terminal_has_the_table_as_it_is(printed):
    assert WHY in printed(120).splitlines()[1] and "P1" in printed(120)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_narrow_one_has_remarks_below_intervals_whole_and_no_codes(printed, width):
    text = printed(width)
    assert max(map(len, text.splitlines())) <= width
    assert "[0.123, 0.789]" in text and "[−0.312, 0.100]" in text and "P1" not in text and "1,200" in text
    assert text.count("[1]") == 3 and WHY in " ".join(text.split())     # the same remark of two rows once


def test_where_no_table_fits_each_row_is_a_paragraph(printed):
    text = printed(26)
    assert max(map(len, text.splitlines())) <= 26
    assert "person two\n" in text and "n: 9" in text and "[95 %]" in text and "0.789]" in text


def test_what_is_piped_is_as_wide_as_it_is(printed):
    assert WHY in printed(40, terminal=False).splitlines()[1]
