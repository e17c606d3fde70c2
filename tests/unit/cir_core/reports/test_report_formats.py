"""Cells as they are read, and tables as CSV, JSON, Markdown and LaTeX."""

import csv
import io
import json

import plotly.graph_objects as go
import pytest

from annotation.analysis.records import Estimate, Headline, ReportColumn, ReportTable
from cir_core.reports.cells import reading, rests_on, shown, shown_interval
from cir_core.reports.figures import curves
from cir_core.reports.formats import FORMS, markdown_text, table_file

COLUMNS = (ReportColumn("person", "Person", "text"), ReportColumn("n", "n", "count"),
           ReportColumn("kappa", "κ", "number"), ReportColumn("share", "Valid", "share"), ReportColumn("p", "p", "p"),
           ReportColumn("reason", "Remark", "text"))


def table_of(*rows, **changes):
    return ReportTable(**({"key": "pairs", "title": "κ of people", "columns": COLUMNS, "rows": rows} | changes))


@pytest.mark.parametrize(("cell", "kind", "text"), [
    (0.45649, "number", "0.456"), (-0.45649, "number", "−0.456"),
    (-0.0001, "number", "0.000"), (0.0, "number", "0.000"),
    (0.8107, "share", "81.1 %"), (1.0, "share", "100.0 %"), (0.0, "share", "0.0 %"),
    (0.0004, "share", "< 0.1 %"), (0.9996, "share", "> 99.9 %"), (0.9994, "share", "99.9 %"),
    (0.00099, "p", "< 0.001"), (0.001, "p", "0.001"), (1.0, "p", "1.000"),
    (3050, "count", "3,050"), (0, "count", "0"), (2.5, "count", "2.5"),
    (None, "number", "–"), (float("nan"), "number", "–"), (float("inf"), "share", "–"), (None, "text", "–"),
    ("A+B", "text", "A+B"), ("", "text", ""), (True, "text", "yes"),
])
def test_a_cell_as_in_prose(cell, kind, text):
    assert shown(cell, kind) == text


def test_an_interval_in_words_needs_both_ends():
    assert shown_interval(-0.1, 0.5, "number") == "[−0.100, 0.500]"
    assert shown_interval(None, 0.5, "number") == ""


@pytest.mark.parametrize(("n", "unit", "text"), [
    (1, "pairs", "1 pair"), (0, "pairs", "0 pairs"), (1200, "rated sets", "1,200 rated sets"), (1, "", "1")])
def test_what_a_number_rests_on_is_counted(n, unit, text):
    assert rests_on(Headline("x", Estimate(0.5, n), "number", unit)) == text


def test_csv_is_unrounded_and_no_formula():
    content = table_file(table_of(("=cmd()", 3, -1 / 3, None, float("nan"), "a;b, \"c\"")), "csv")
    assert content.startswith(b"\xef\xbb\xbf")
    names, row = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    assert names == ["person", "n", "kappa", "share", "p", "reason"]
    assert row == ["'=cmd()", "3", repr(-1 / 3), "", "", 'a;b, "c"']


def test_json_has_rows_by_key_and_null_for_what_is_not_there():
    found = json.loads(table_file(table_of(("ann", 3, 1 / 3, None, float("nan"), ""), note="n"), "json"))
    assert found["rows"] == [{"person": "ann", "n": 3, "kappa": 1 / 3, "share": None, "p": None, "reason": ""}]
    assert (found["key"], found["note"], found["columns"][2]) == (
        "pairs", "n", {"key": "kappa", "name": "κ", "kind": "number"})


def test_markdown_keeps_every_text_in_its_cell():
    text = table_file(table_of(("a|b\n<script>_x_", 3, 0.5, 0.25, 0.0001, "")), "md").decode()
    assert text.splitlines() == [
        "**κ of people**", "",
        "| Person | n | κ | Valid | p |",       # a column of remarks without a remark is left out
        "| --- | ---: | ---: | ---: | ---: |",
        r"| a\|b \<script\>\_x\_ | 3 | 0.500 | 25.0 % | \< 0.001 |",
    ]
    assert markdown_text("INVALID_TEXT_QUERY a*b $x$ [l](u) & `c`") == (
        r"INVALID_TEXT_QUERY a\*b \$x\$ \[l\](u) \& \`c\`")


def test_an_interval_is_read_beside_its_value_and_kept_apart_in_files():
    columns = tuple(ReportColumn(key, name, "share") for key, name in (
        ("rate", "Rate"), ("rate_low", "Rate low"), ("rate_high", "Rate high"), ("bare", "Bare"),
        ("bare_low", "Bare low"), ("bare_high", "Bare high")))
    table = table_of((0.5, 0.4, 0.6, 0.25, None, None), (None,) * 6, columns=columns)
    read = reading(table)
    assert read.names == ("Rate [95 %]", "Bare") and read.right == (True, True)
    assert read.rows == (("50.0 % [40.0 %, 60.0 %]", "25.0 %"), ("–", "–"))
    assert b"rate,rate_low,rate_high,bare,bare_low,bare_high" in table_file(table, "csv")
    assert rb"50.0 & {[}40.0, 60.0{]} & 25.0 \\" in table_file(table, "tex")


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_table_says_so(form):
    text = table_file(table_of(empty="Nobody has judged yet."), form).decode("utf-8-sig")
    if form == "csv":
        assert text == "person,n,kappa,share,p,reason\r\n"
    elif form == "json":
        assert json.loads(text)["rows"] == []
    else:
        assert "Nobody has judged yet." in text


# --- curves are drawn where their points are -------------------------------------------------

def test_points_with_their_intervals():
    figure = curves("k", "T", "alt", {"a<b": [(0, Estimate(0.5, 9, 0.4, 0.7)), (1, Estimate(None, 0)),
                                             (2, Estimate(0.25, 9))]}, across="λ", axis="R@10", at=2)
    [trace] = figure.spec["data"]
    assert trace["x"] == [0, 2] and trace["y"] == [0.5, 0.25] and trace["name"] == "a&lt;b"
    assert trace["error_y"]["array"] == pytest.approx([0.2, 0]) and trace["error_y"]["arrayminus"] == pytest.approx(
        [0.1, 0])
    assert trace["hovertext"][0] == "a&lt;b<br>λ 0<br>50.0 % [40.0 %, 70.0 %]"
    assert figure.spec["layout"]["shapes"][0]["x0"] == 2
    go.Figure(figure.spec)   # refuses what plotly does not know


def test_several_curves_stand_apart_and_whole_numbers_have_ticks():
    points = [(turn, Estimate(0.1 * turn, 5)) for turn in (1, 2, 3)]
    figure = curves("k", "T", "alt", {"a": points, "b": points}, across="turn", axis="Hits@10", whole=True)
    first, second = (trace["x"] for trace in figure.spec["data"])
    # 1.2 % of the range of 2, half to either side
    assert first == pytest.approx([0.988, 1.988, 2.988]) and second == pytest.approx([1.012, 2.012, 3.012])
    assert figure.spec["layout"]["xaxis"]["tickvals"] == [1, 2, 3] and figure.spec["layout"]["showlegend"]
