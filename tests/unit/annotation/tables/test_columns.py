"""Rows that do not fit their columns are found where the table is made."""

import pytest

from annotation.tables.columns import Column, Table
from tests.fakes.preferences import a_study

COLUMNS = (Column("a", "text", "first"), Column("b", "integer", "second"))


def test_each_row_has_a_cell_for_each_column():
    assert Table(a_study(), COLUMNS, (("x", 1), (None, None))).rows[1] == (None, None)
    for row in (("x",), ("x", 1, 2)):
        with pytest.raises(ValueError, match=f"row 1 has {len(row)} cells for 2 columns"):
            Table(a_study(), COLUMNS, (("x", 1), row))
