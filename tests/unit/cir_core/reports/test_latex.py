"""Tables as LaTeX: what is escaped, what stands where, and whether it fits."""

import re

import pytest

from cir_core.reports.latex_tables import COLUMN, PAGE, latex_table
from cir_core.reports.latex_text import latex_text, longest_word, width
from cir_core.reports.paper import document, preamble
from cir_core.reports.records import ReportColumn, ReportTable, Section, count, number, ranged, share, text


def table_of(columns, *rows, **more):
    return ReportTable(**{"key": "t", "title": "T", "columns": tuple(columns), "rows": rows} | more)


def lines_of(table):
    return [line.strip() for line in latex_table(table).splitlines()]


def test_hyphens_of_options_are_no_dash():
    assert latex_text("a-b --out – ---") == r"a-b \mbox{-}-out -- \mbox{-}\mbox{-}-"


def test_all_that_is_special_is_escaped_and_latin_letters_stay():
    assert latex_text("\\ { } $ & # _ % ~ ^ < > |") == (
        r"\textbackslash{} \{ \} \$ \& \# \_ \% \textasciitilde{} \textasciicircum{} \textless{} \textgreater{} "
        r"\textbar{}")
    assert latex_text("Hanna Müller\nŁódź\x00") == "Hanna Müller Łódź"


@pytest.mark.parametrize(("said", "written"), [
    ("κ ≈ 0.5 ± 1", r"$\kappa$ $\approx$ 0.5 $\pm$ 1"), ("e\u0301", "é"), ("ệ", r"\^{\d{e}}"),
    ("Ada 東京", r"Ada \cirquescript{cjk}{東京}{U+6771 U+4EAC}"), ("☃", r"\cirquescript{other}{☃}{U+2603}"),
    ("Ян", r"\cirquescript{cyrillic}{Ян}{U+042F U+043D}"), ("한", r"\cirquescript{hangul}{한}{U+D55C}"),
])
def test_what_is_not_latin_is_written_for_every_engine(said, written):
    assert latex_text(said) == written


def test_long_names_may_break_where_asked():
    assert latex_text("A_B/c", breakable=True) == r"A\_\allowbreak{}B/\allowbreak{}c"
    assert longest_word("AA_B") == pytest.approx(width("AA_"))


def test_widths_are_those_of_the_font():
    # Latin Modern Roman at 8 pt: a digit 4.25 pt, a point 2.37, an m 7.09; a CJK letter is an em of 8.5.
    assert width("3.50m") == pytest.approx(3 * 4.25 + 2.37 + 7.09)
    assert width("東京") == pytest.approx(17) and width("é") == width("e")


def test_numbers_stand_by_their_point_and_intervals_beside_their_value():
    table = table_of([text("who", "Who"), *ranged("k", "κ"), share("v", "Valid"), count("n", "n")],
                     ("[50%] R&D_#1", -0.5, -0.6, 0.1, 0.25, 1200), ("b", None, None, None, None, 3), note="α ≥ 0")
    assert lines_of(table) == [
        "% Needs preamble.tex.", r"\begin{table}[!htbp]", r"\caption{T}", r"\label{tab:t}", r"\begin{cirquetable}",
        r"\begin{tabular}{@{}lS[table-format=-1.3]@{\hspace{3pt}}rS[table-format=2.1]S[table-format=4.0]@{}}",
        r"\toprule", r"Who & \multicolumn{2}{c}{{$\kappa$ {[}95 \%{]}}} & {\cirquehead{c}{Valid \\ (\%)}} & {n} \\",
        r"\midrule", r"{[}50\%{]} R\&D\_\#1 & -0.500 & {[}$-$0.600, 0.100{]} & 25.0 & 1200 \\",
        r"b & {--} &  & {--} & 3 \\", r"\bottomrule", r"\end{tabular}", r"\begin{tablenotes}",
        r"\item[] $\alpha$ $\ge$ 0", r"\end{tablenotes}", r"\end{cirquetable}", r"\end{table}"]


def test_remarks_are_numbered_notes_said_once():
    table = table_of([text("who", "Who"), number("k", "κ"), text("reason", "Remark")],
                     ("a", 0.5, "too few items for it"), ("b", 0.5, ""), ("c", 0.5, "too few items for it"))
    found = lines_of(table)
    assert [line for line in found if line.startswith(("a", "b ", "c"))] == [
        r"a\tnote{1} & 0.500 \\", r"b & 0.500 \\", r"c\tnote{1} & 0.500 \\"]
    assert found.count(r"\item[1] too few items for it") == 1 and "Remark" not in "".join(found)


def room_of(part):
    """Points that the texts and numbers of a part need side by side, at the least, by the width of its cells."""
    rows = [line.removesuffix(r" \\").split(" & ") for line in part.splitlines() if line.endswith(r" \\")][1:]
    return sum(max(width(row[place]) for row in rows) for place in range(len(rows[0])))


def test_a_wide_table_is_split_and_every_part_names_its_rows():
    columns = [text("who", "System"),
               *(column for at in range(12) for column in ranged(f"r{at}", f"R@{at}", "percent"))]
    rows = [(f"system {row}", *(0.1, 0.05, 0.2) * 12) for row in range(3)]
    parts = latex_table(table_of(columns, *rows)).split(r"\end{table*}")[:-1]
    # A value and its interval: 10.00 [5.0, 20.0], 21.3 + 50 pt; with 9 pt between, 4 of 12 fit beside the name.
    assert len(parts) == 3 and all("system 2 & " in part and room_of(part) < PAGE for part in parts)
    assert sum(part.count(r"\multicolumn{2}{c}") for part in parts) == 12
    assert "T (part 2 of 3)" in parts[1] and r"\label{tab:t-2}" in parts[1]


def test_a_high_table_is_split_too():
    rows = [(f"n{row}", row) for row in range(100)]
    found = latex_table(table_of([text("who", "Who"), count("n", "n")], *rows))
    assert found.count(r"\begin{table}") == 3 and len(re.findall(r"^    n\d+ & ", found, re.M)) == 100


def test_a_text_is_broken_to_the_room_that_is_left():
    found = latex_table(table_of([text("note", "To know")], ("word " * 200,)))
    [room] = re.findall(r"L\{([\d.]+)pt\}", found)
    assert COLUMN - 10 < float(room) <= PAGE


def test_an_empty_table_says_so():
    assert r"Nobody\dots{} \\" in latex_table(table_of([text("a", "A")], empty="Nobody…"))


def test_the_document_includes_every_table_but_empty_ones_and_the_longest():
    tables = (table_of([text("a", "A")], ("x",), key="one"), table_of([count("n", "n")], *[(1,)] * 401, key="long"),
              table_of([text("a", "A")], key="bare"))
    found = document([Section("s", "S & T", "≈", tables=tables)], "Title_1", "facts")
    assert r"\input{tables/one}" in found and r"\input{tables/long}" not in found and "401 rows" in found
    assert "tables/bare" not in found
    assert r"\section{S \& T}" in found and r"\title{Title\_\allowbreak{}1}" in found
    defined = re.findall(r"\\(?:newcommand|NewDocumentCommand|newenvironment) ?\{?\\?(cirque[a-z]+)",
                         preamble().decode())
    assert {"cirquetable", "cirquehead", "cirqueimage", "cirquescript"} <= set(defined)


@pytest.mark.parametrize("kind", ["text", "count", "number", "score", "share", "percent", "points", "difference", "p"])
def test_column_kinds_are_all_written(kind):
    value = "x" if kind == "text" else 0.25
    found = latex_table(table_of([text("a", "A"), ReportColumn("b", "B", kind)], ("r", value)))
    # The heading and the row; the heading "B (%)" of a share is folded into two lines.
    assert found.count(r" \\") == 2 + (kind == "share")
