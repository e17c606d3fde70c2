"""A report's tables and figures as the files of a paper: every table and figure by itself, the preamble that they
need, and one LaTeX document that includes all of them and compiles as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cir_core.reports.cells import rests_on, shown, shown_interval
from cir_core.reports.drawing import Style, image_files, width_of
from cir_core.reports.formats import FORMS, table_file
from cir_core.reports.gathered import drawn
from cir_core.reports.latex_tables import MOST_ROWS, latex_table
from cir_core.reports.latex_text import latex_text
from cir_core.reports.records import Figure, Headline, ReportTable, Section, text
from cir_core.support.files import write_atomically
from cir_core.support.texts import counted

_PREAMBLE = Path(__file__).resolve().parents[2] / "assets" / "report" / "preamble.tex"
_NO_NAME = re.compile(r"[^A-Za-z0-9]+")
FIGURES, TABLES = "figures", "tables"


def paper_files(
    sections: Sequence[Section], title: str, facts: str, style: Style | None = Style(),
) -> dict[str, bytes]:
    """Files by path: ``tables/KEY.csv`` and so on, ``figures/KEY.svg`` and so on, ``preamble.tex``, ``report.tex``.

    Args:
        title, facts: of the document.
        style: of images; None: figures only as the JSON that plotly reads, and not in the document.
    """
    found = figure_files((figure for section in sections for figure in section.figures), style)
    for section in sections:
        for table in section.tables:
            found |= {f"{TABLES}/{table.key}.{form}": table_file(table, form) for form in FORMS}
    return found | {"preamble.tex": preamble(), "report.tex": document(sections, title, facts, style).encode()}


def write_figures(folder: Path, sections: Iterable[Section]) -> tuple[Path, ...]:
    """Write the figures of a page to a folder beside it. Raises ``OSError``."""
    sections = tuple(sections)
    drawn(sections)
    files = figure_files((figure for section in sections for figure in section.figures), folder=folder.name)
    paths = {folder.parent / name: content for name, content in files.items()}
    for path, content in paths.items():
        write_atomically(path, content)
    return tuple(paths)


def figure_files(figures: Iterable[Figure], style: Style | None = Style(), folder: str = FIGURES) -> dict[str, bytes]:
    """Each figure as SVG, PDF, PNG, and as the JSON that plotly reads; without a style as JSON alone."""
    found = {}
    for figure in figures:
        path = f"{folder}/{_file_name(figure)}"
        found[f"{path}.json"] = (_json(figure.spec) + "\n").encode()
        if style is not None:
            found |= {f"{path}.{form}": content for form, content in image_files(figure, style).items()}
    return found


def preamble() -> bytes:
    """What tables and figures need in the preamble of a LaTeX document."""
    return _PREAMBLE.read_bytes()


def document(
    sections: Sequence[Section], title: str, facts: str, style: Style | None = Style(), *, tables: str = f"{TABLES}/",
) -> str:
    """``report.tex``: all tables with rows, of the folder ``tables``, and all figures."""
    return "\n".join([*opening(title, facts), *body(sections, style, tables=tables), r"\end{document}", ""])


def opening(title: str, facts: str) -> list[str]:
    """Lines of a document up to its first section."""
    return [
        "% Compile with pdflatex, xelatex or lualatex, in this folder.", r"\documentclass{article}",
        r"\usepackage{lmodern}", r"\input{preamble}", r"\emergencystretch=3em",
        rf"\title{{{latex_text(title, breakable=True)}}}", r"\author{}", r"\date{}", r"\begin{document}",
        *([r"\maketitle", rf"\noindent {latex_text(facts, breakable=True)}"] if title else []), "",
    ]


def body(
    sections: Sequence[Section], style: Style | None = Style(), *, tables: str = f"{TABLES}/", heading: str = "section",
) -> list[str]:
    """Lines of a document: sections under a ``heading``, their figures, and their tables with rows."""
    lines: list[str] = []
    for section in sections:
        if section.title:
            lines += [rf"\{heading}{{{latex_text(section.title, breakable=True)}}}",
                      latex_text(section.intro, breakable=True), ""]
        if section.headlines:
            lines += [latex_table(_headlines(section))]
        for figure in section.figures if style is not None else ():
            lines += _figure(figure, style)
        for table in section.tables:
            if not table.rows:
                continue
            lines += [rf"\input{{{tables}{table.key}}}" if len(table.rows) <= MOST_ROWS else
                      f"{latex_text(table.title, breakable=True)}: {counted(len(table.rows), 'row')}, in "
                      rf"\texttt{{{latex_text(f'{tables}{table.key}.csv', breakable=True)}}}.", ""]
        lines += [r"\FloatBarrier", ""]
    return lines


def _figure(figure: Figure, style: Style | None) -> list[str]:
    environment = "figure*" if width_of(figure, style or Style()) == "page" else "figure"
    caption = f"{figure.title}. {figure.note}".rstrip()
    return [rf"\begin{{{environment}}}[!htbp]", rf"  \cirqueimage{{{FIGURES}/{_file_name(figure)}.pdf}}",
            rf"  \caption{{{latex_text(caption, breakable=True)}}}", rf"  \label{{fig:{figure.key}}}",
            rf"\end{{{environment}}}", ""]


def _headlines(section: Section) -> ReportTable:
    columns = (text("label", "Number"), text("shown", "Value"), text("interval", "95 % interval"), text("n", "n"),
               text("note", "Remark"))
    return ReportTable(f"headlines-{section.key}", section.title, columns, tuple(map(_headline, section.headlines)))


def _headline(one: Headline) -> tuple[str, ...]:
    estimate = one.estimate
    remark = "; ".join(dict.fromkeys(said for said in (one.note, estimate.reason) if said))
    return (one.label, shown(estimate.value, one.kind), shown_interval(estimate.low, estimate.high, one.kind),
            rests_on(one), remark)


def _file_name(figure: Figure) -> str:
    """Keys may have names of files or systems in them."""
    return _NO_NAME.sub("-", figure.key).strip("-")[:80] or "figure"


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
