"""A report as files: Markdown, one HTML page that needs no network, JSON, and every table and figure by itself.

Nothing is computed here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from annotation.analysis.records import AnyReport, Headline, Section
from annotation.analysis.rendering.report_parts import selected
from annotation.kinds.reports import WholeReport
from cir_core.reports.cells import shown, shown_interval
from cir_core.reports.formats import FORMS, markdown_grid, markdown_table, markdown_text, table_file
from cir_core.reports.page import html_page, remark

ReportForm = Literal["md", "html", "json"]
REPORT_FORMS: tuple[ReportForm, ...] = ("md", "html", "json")
_HEADLINES = ("Number", "Value", "95 % interval", "n", "Of", "Remark")


def markdown(report: AnyReport, sections: Sequence[Section]) -> str:
    """The report with all tables. Figures are named: Markdown cannot hold them."""
    parts = [f"# {markdown_text(report.about.study)}: {report.title.lower()}", markdown_text(_facts(report))]
    for section in sections:
        parts += [f"## {markdown_text(section.title)}", markdown_text(section.intro)]
        if section.headlines:
            parts.append(markdown_grid(_HEADLINES, [_headline_row(one) for one in section.headlines],
                                       [False, True, True, True, False, False]))
        parts += [f"*Figure {figure.key}, in report.html: {markdown_text(figure.title)}.* "
                  + markdown_text(f"{figure.alt} {figure.note}") for figure in section.figures]
        parts += [markdown_table(table).rstrip("\n") for table in section.tables]
    return "\n\n".join(parts) + "\n"


def html(report: AnyReport, sections: Sequence[Section]) -> str:
    """The report as one page; see :func:`cir_core.reports.page.html_page`."""
    return html_page(report.about.study, report.title, _facts(report), sections)


def report_file(whole: WholeReport, form: ReportForm) -> bytes:
    """The report in one form. JSON is what ``cirque report --json`` prints."""
    if form == "json":
        return (_json(whole.json, indent=1) + "\n").encode()
    return (markdown if form == "md" else html)(whole.report, whole.sections).encode()


def report_files(whole: WholeReport) -> Mapping[str, bytes]:
    """Files by path: the report in every form, each table in each form, each figure as plotly has it."""
    found = {f"report.{form}": report_file(whole, form) for form in REPORT_FORMS}
    for section in whole.sections:
        for table in section.tables:
            found |= {f"tables/{table.key}.{form}": table_file(table, form) for form in FORMS}
        found |= {f"figures/{figure.key}.json": (_json(figure.spec) + "\n").encode() for figure in section.figures}
    return found


def _facts(report: AnyReport) -> str:
    about, chosen = report.about, selected(report)
    parts = [*([f"selected: {chosen}"] if chosen else ()), about.protocol,
             f"{about.answered:,} of {about.planned:,} planned answers",
             "takes answers" if about.accepting else "closed"]
    if about.latest:
        parts.append(f"latest answer {about.latest[:16].replace('T', ' ')}")
    if version := about.versions.get("cirque"):
        parts.append(f"cirque {version}")
    return " · ".join(parts)


def _headline_row(one: Headline) -> list[str]:
    estimate = one.estimate
    return [one.label, shown(estimate.value, one.kind), shown_interval(estimate.low, estimate.high, one.kind),
            shown(estimate.n, "count"), one.unit, remark(one)]


def _json(value: Mapping[str, Any], indent: int | None = None) -> str:
    separators = None if indent else (",", ":")
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
