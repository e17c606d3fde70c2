"""Figures as image files."""

import io
import re

import pytest
from PIL import Image

from cir_core.reports import figures
from cir_core.reports.drawing import IMAGE_FORMS, Style, image_files, width_of
from cir_core.reports.figures import MatrixCell
from cir_core.reports.paper import figure_files
from cir_core.reports.records import Estimate


def matrix_of(people):
    cells = {(a, b): MatrixCell(None if a == 0 else 0.5, (), "n = 6") for a in range(people) for b in range(a)}
    return figures.matrix("m", "M", "", [f"P{n}" for n in range(people)], cells, scale="κ")


SOME = Estimate(0.5, 9, 0.4, 0.7)
EVERY = {
    "matrix": matrix_of(3),
    "dots": figures.dots("d", "D", "", ["a<b & $x$", "b"], [figures.Series(name, (SOME, Estimate(None, 0)))
                                                        for name in ("one", "two")], axis="κ", share=True, at=0.5),
    "bars": figures.bars("b", "B", "", ["1", "2"], [3, 0], axis="sessions", across="turns"),
    "rows": figures.rows("r", "R", "", ["a long name of a bar that is folded", "b"], [3, 5], axis="queries"),
    "lines": figures.lines("l", "L", "", {"a": [(1, 2.0), (10, 1.0)], "b": [(1, 1.0)]}, across="x", axis="y", at=0.5),
    "dendrogram": figures.dendrogram("t", "T", "", ["a", "b"], [((0, 0), (0.4, 0), (0.4, 1), (0, 1))] * 2, axis="1"),
    "curves": figures.curves("c", "C", "", {"a": [(0, SOME), (1, SOME)]}, across="λ", axis="R@10", at=1),
}


@pytest.mark.parametrize("kind", EVERY)
def test_every_kind_of_figure_is_drawn_alike_each_time_without_dates(kind):
    found = image_files(EVERY[kind])
    assert list(found) == list(IMAGE_FORMS) and found["svg"] == image_files(EVERY[kind], forms=("svg",))["svg"]
    assert found["svg"].startswith(b"<?xml") and b"<dc:date>" not in found["svg"]
    assert found["pdf"].startswith(b"%PDF") and b"CreationDate" not in found["pdf"] and b"/Type3" not in found["pdf"]
    assert Image.open(io.BytesIO(found["png"])).width == 975       # 3.25 in at 300 dpi


def test_a_figure_is_as_wide_as_asked_and_a_large_matrix_as_the_page():
    svg = image_files(EVERY["rows"], Style("page", "serif"), ("svg",))["svg"].decode()
    assert re.search(r'<svg [^>]*width="486pt"', svg)              # 6.75 in of 72 pt
    # Of eleven people, ten are in the rows of a triangle.
    assert [width_of(matrix_of(people), Style()) for people in (11, 12)] == ["column", "page"]


def test_lines_differ_without_colours():
    svg = image_files(EVERY["lines"], forms=("svg",))["svg"].decode()
    assert len(set(re.findall(r"stroke-dasharray: ([\d., ]+)", svg))) >= 2     # the second line, and the wished for


def test_files_are_named_by_key_whatever_is_in_it():
    odd = figures.bars("targets-a/../b", "B", "", ["1"], [3], axis="a", across="b")
    assert sorted(figure_files([odd], None)) == ["figures/targets-a-b.json"]
    assert sorted(figure_files([odd])) == [f"figures/targets-a-b.{form}" for form in ("json", "pdf", "png", "svg")]
