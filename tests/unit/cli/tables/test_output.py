"""Tables of reports on the terminal and as files."""

import csv
import io
import json
import re

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from cir_core.errors import SettingsError
from cir_core.reports.cells import reading
from cir_core.reports.formats import FORMS
from cir_core.reports.records import ReportTable, Section, count, ranged, text
from cli.tables import fitted_tables, output
from cli.tables.output import TablesOption, give

HOSTILE = "=cmd()|'100%_{a}"
TABLE = ReportTable("recall", "Recall", (text("system", "system"), *ranged("r", "R@1", "percent")),
                    ((HOSTILE, 1 / 3, 0.25, 0.5), ("mine", None, None, None)), "A note.")


@pytest.fixture
def printed(monkeypatch):
    file = io.StringIO()
    for module in (fitted_tables, output):
        monkeypatch.setattr(module, "out", Console(file=file, width=100, highlight=False, markup=False))
    return file


def rows(path):
    return list(csv.reader(io.StringIO(path.read_text("utf-8-sig"))))


def test_what_is_printed_is_rounded_and_what_is_written_is_not(printed, tmp_path):
    give(["Facts", TABLE], tmp_path)
    assert printed.getvalue().startswith("Facts\n\nRecall\n") and "33.33 [25.0, 50.0]" in printed.getvalue()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([
        *(f"recall.{form}" for form in FORMS), "preamble.tex", "report.tex"])
    assert rows(tmp_path / "recall.csv") == [
        ["system", "r", "r_low", "r_high"], [f"'{HOSTILE}", str(1 / 3), "0.25", "0.5"], ["mine", "", "", ""]]
    assert r"=cmd()\textbar{}'100\%\_\{a\} & 33.33 & {[}25.0, 50.0{]}" in (tmp_path / "recall.tex").read_text("utf-8")
    assert json.loads((tmp_path / "recall.json").read_text("utf-8"))["rows"][0]["system"] == HOSTILE


def test_tables_that_cannot_be_written_cost_nothing_else(printed, tmp_path):
    (tmp_path / "recall.csv").mkdir()
    between = []
    with pytest.raises(SettingsError, match="--tables"):
        give([TABLE], tmp_path, between=lambda: between.append(printed.getvalue()))
    assert "33.33" in between[0]


def test_nothing_is_printed_beside_json(printed, tmp_path):
    give([Section("one", "One", "", tables=(TABLE,))], tmp_path, quiet=True)
    assert printed.getvalue() == "" and (tmp_path / "recall.csv").exists()


@pytest.mark.parametrize("keys", [("a", "a"), ("a", "A"), ("a/b", "a b"), ("../a", "a"), ("…", ""), ("x" * 300,) * 2])
def test_every_table_has_a_file_of_its_own_in_the_folder(keys, printed, tmp_path):
    give([ReportTable(key, "", (text("n", "n"),), ((str(place),),)) for place, key in enumerate(keys)], tmp_path / "t")
    assert sorted(rows(path)[1] for path in (tmp_path / "t").glob("*.csv")) == [["0"], ["1"]]
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


def test_systems_with_names_of_bounds_and_of_each_other(printed, tmp_path):
    names = ("slerp", "slerp_low", "slerp_high", "slerp")
    table = ReportTable("t", "", tuple(column for name in names for column in ranged(name, name, "percent")),
                        (tuple(n / 100 for place in range(4) for n in (10 * place, 10 * place - 1, 10 * place + 1)),))
    assert reading(table).rows == ((
        "0.00 [−1.0, 1.0]", "10.00 [9.0, 11.0]", "20.00 [19.0, 21.0]", "30.00 [29.0, 31.0]"),)
    give([table], tmp_path)
    head = rows(tmp_path / "t.csv")[0]
    assert len({name.lower() for name in head}) == 12 == len(json.loads((tmp_path / "t.json").read_text())["rows"][0])
    assert "30.00 & {[}29.0, 31.0{]}" in (tmp_path / "t.tex").read_text("utf-8")


@pytest.mark.parametrize("kind,value,low,high,shown", [
    ("percent", 0.5278, 0.5, 0.5556, "52.78 [50.0, 55.6]"), ("points", 0.0125, 0.001, 0.02, "+1.25 [+0.1, +2.0]*"),
    ("points", -0.0125, -0.02, -0.001, "−1.25 [−2.0, −0.1]*"), ("points", 0.0, -0.01, 0.01, "+0.00 [−1.0, +1.0]"),
    ("difference", 0.0125, -0.001, 0.02, "+0.013 [−0.001, +0.020]"), ("percent", 0.5, None, None, "50.00"),
])
def test_percent_and_differences(kind, value, low, high, shown):
    assert reading(ReportTable("t", "", ranged("x", "x", kind), ((value, low, high),))).rows == ((shown,),)


def test_long_lists_end_with_the_number_of_rows_left(printed):
    give([ReportTable("t", "", (text("a", "a"), count("n", "n")), tuple(("x", n) for n in range(7)))], most=5)
    assert len(re.findall(r"x +\d", printed.getvalue())) == 5 and "2 more rows" in printed.getvalue()


def test_a_folder_that_cannot_be_one_is_refused_before_any_work(tmp_path):
    app, worked = typer.Typer(), []

    @app.command()
    def work(tables: TablesOption = None) -> None:
        worked.append(tables)

    (tmp_path / "file").write_text("mine")
    for name in ("file", "file/below"):
        refused = CliRunner().invoke(app, ["--tables", str(tmp_path / name)])
        assert isinstance(refused.exception, SettingsError) and "--tables" in str(refused.exception)
    assert not worked and (tmp_path / "file").read_text() == "mine"
    assert CliRunner().invoke(app, ["--tables", str(tmp_path / "new")]).exit_code == 0 and worked == [tmp_path / "new"]
    # Without a table, as of a dry run, no folder is left, and folders above it are not made either.
    for name in ("new", "new/below/it"):
        assert CliRunner().invoke(app, ["--tables", str(tmp_path / name)]).exit_code == 0
        give(["Nothing to do"], tmp_path / name, quiet=True)
        assert not (tmp_path / "new").exists()
    give([ReportTable("t", "", (text("a", "a"),), (("x",),))], tmp_path / "new" / "below", quiet=True)
    assert (tmp_path / "new" / "below" / "t.csv").is_file()
