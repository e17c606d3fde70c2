"""Each column takes its own cell from what a row is made of."""

from annotation.tables import Column, Table
from tests.fakes.preferences import a_study


def test_a_row_has_the_study_and_a_cell_for_each_column():
    study = a_study()
    columns = (Column("a", "text", "first", lambda row: row["x"]), Column("b", "integer", "second", len))
    table = Table.of(study, columns, [{"x": "one"}, {"x": None, "y": 1}])
    assert [column.name for column in table.columns] == ["study", "a", "b"]
    assert table.rows == ((study.name, "one", 1), (study.name, None, 2))
    assert Table.of(study, columns, ()).rows == ()
