"""A report as files: Markdown, one HTML page that needs no network, JSON, and every table and figure by itself.

Nothing is computed here. Styles and scripts are read from the installed packages, once.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from annotation.analysis.compose import WholeReport
from annotation.analysis.records import (
    Figure,
    Headline,
    PreferenceReport,
    ReportTable,
    Section,
    ValidityReport,
)
from annotation.analysis.rendering.formats import (
    FORMS,
    PROSE,
    markdown_grid,
    markdown_table,
    markdown_text,
    reading,
    rests_on,
    shown,
    shown_interval,
    table_file,
)
from annotation.analysis.rendering.report_parts import selected
from cir_core.support.texts import counted

Report = ValidityReport | PreferenceReport
ReportForm = Literal["md", "html", "json"]
REPORT_FORMS: tuple[ReportForm, ...] = ("md", "html", "json")
_ASSETS = Path(__file__).resolve().parents[3] / "assets" / "report"
_HEADLINES = ("Number", "Value", "95 % interval", "n", "Of", "Remark")
_SIDES_PX, _CELL_PX, _PLAIN_PX, _LETTER_PX = 110, 48, 20, 7    # of a heatmap that can be read on a phone, scrolling
_SHORT = 28          # characters of a text that is not broken
_MANY_ROWS = 12      # from here on a table's title says how many there are


def markdown(report: Report, sections: Sequence[Section]) -> str:
    """The report with all tables. Figures are named: Markdown cannot hold them."""
    parts = [f"# {markdown_text(report.about.study)}: {_title(report).lower()}", markdown_text(_facts(report))]
    for section in sections:
        parts += [f"## {markdown_text(section.title)}", markdown_text(section.intro)]
        if section.headlines:
            parts.append(markdown_grid(_HEADLINES, [_headline_row(one) for one in section.headlines],
                                       [False, True, True, True, False, False]))
        parts += [f"*Figure {figure.key}, in report.html: {markdown_text(figure.title)}.* "
                  + markdown_text(f"{figure.alt} {figure.note}") for figure in section.figures]
        parts += [markdown_table(table).rstrip("\n") for table in section.tables]
    return "\n\n".join(parts) + "\n"


def html(report: Report, sections: Sequence[Section]) -> str:
    """One page with its figures, its style and plotly inside. Nothing in it may fetch anything, and no script runs but
    its own: its policy says so."""
    drawn = any(section.figures for section in sections)
    scripts = {"script": _asset("report.js"), **({"plotly": _plotly()} if drawn else {})}
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts.values())
    return _fill({
        "about": report.about, "title": _title(report), "facts": _facts(report), "drawn": drawn,
        "sections": [_page_section(section) for section in sections],
        # Plotly styles what it draws.
        "policy": f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
                  "base-uri 'none'; form-action 'none'",
    }, {"style": _asset("report.css"), **scripts})


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


def _title(report: Report) -> str:
    return "Agreement report" if isinstance(report, ValidityReport) else "Preference report"


def _facts(report: Report) -> str:
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
            shown(estimate.n, "count"), one.unit, _remark(one)]


def _remark(one: Headline) -> str:
    return "; ".join(dict.fromkeys(text for text in (one.note, one.estimate.reason) if text))


def _page_section(section: Section) -> dict[str, Any]:
    return {
        "key": section.key, "title": section.title, "intro": section.intro,
        "headlines": [_card(one) for one in section.headlines],
        "figures": [{"key": one.key, "title": one.title, "alt": one.alt, "height": one.spec["layout"]["height"],
                     "least": _least(one), "spec": _in_script(one.spec), "note": one.note} for one in section.figures],
        "tables": [_page_table(one) for one in section.tables],
    }


def _page_table(table: ReportTable) -> dict[str, Any]:
    read = reading(table)

    def width(place: int) -> str:
        if read.right[place]:
            return "num"
        if max((len(row[place]) for row in read.rows), default=0) <= _SHORT:
            return "short"
        return "long" if read.keys[place] in PROSE else "name"

    columns = [{"name": name, "width": width(place)} for place, name in enumerate(read.names)]
    return {"key": table.key, "title": table.title, "columns": columns, "rows": read.rows, "note": table.note,
            "empty": table.empty, "many": counted(len(read.rows), "row") if len(read.rows) >= _MANY_ROWS else ""}


def _card(one: Headline) -> dict[str, Any]:
    """With the interval's place on a scale from 0 to 1, or on the whole numbers around it."""
    value, low, high = one.estimate.value, one.estimate.low, one.estimate.high
    card: dict[str, Any] = {"label": one.label, "value": shown(value, one.kind), "remark": _remark(one), "interval": "",
                            "rests": f"{'from' if one.kind == 'count' else 'n ='} {rests_on(one)}"}
    if value is None or low is None or high is None:
        return card
    least, most = (0, 1) if one.kind == "share" else (min(0, int(low // 1)), max(1, -int(-high // 1)))

    def place(at: float) -> float:
        return round(100 * (min(max(at, least), most) - least) / (most - least), 2)

    return card | {"interval": f"{shown(low, one.kind)} to {shown(high, one.kind)}", "at": place(value),
                   "left": place(low), "width": round(place(high) - place(low), 2)}


def _least(figure: Figure) -> int:
    """Pixels below which a heatmap cannot be read, so that it scrolls."""
    if all(trace["type"] != "heatmap" for trace in figure.spec["data"]):
        return 0
    names: list[str] = figure.spec["layout"]["yaxis"]["ticktext"]
    cell = _CELL_PX if any(trace.get("mode") == "text" for trace in figure.spec["data"]) else _PLAIN_PX
    return _SIDES_PX + cell * len(names) + _LETTER_PX * max(map(len, names))


def _in_script(spec: Mapping[str, Any]) -> Any:
    from markupsafe import Markup

    return Markup(_json(spec).replace("<", "\\u003c"))


def _json(value: Mapping[str, Any], indent: int | None = None) -> str:
    separators = None if indent else (",", ":")
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)


def _fill(texts: Mapping[str, Any], own: Mapping[str, str]) -> str:
    """``texts`` are escaped; ``own`` are cirque's and plotly's, and are not."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return page.from_string(_asset("report.html")).render(
        **texts, **{name: Markup(text) for name, text in own.items()})


@lru_cache
def _asset(name: str) -> str:
    return (_ASSETS / name).read_text("utf-8")


@lru_cache(maxsize=1)
def _plotly() -> str:
    """The script of the installed package. Its hash is over line ends as a browser reads them."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_text("utf-8").replace("\r\n", "\n")


@lru_cache(maxsize=4)
def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
