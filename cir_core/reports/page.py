"""A report as one HTML page that needs no network: sections of headlines, figures and tables."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from cir_core.reports.cells import LONGEST, PROSE, for_readers, reading, rests_on, shown
from cir_core.reports.records import Figure, Headline, ReportTable, Section
from cir_core.support.texts import counted

_ASSETS = Path(__file__).resolve().parents[2] / "assets" / "report"
_SIDES_PX, _CELL_PX, _PLAIN_PX, _LETTER_PX = 110, 48, 20, 7    # of a heatmap that can be read on a phone, scrolling
_BESIDE_PX = 220     # of other figures, beside their names
_SHORT = 28          # characters of a text that is not broken
_MANY_ROWS = 12      # from here on a table's title says how many there are


def html_page(subject: str, title: str, facts: str, sections: Sequence[Section]) -> str:
    """One page with its figures, its style and plotly inside; the same arguments give the same text.

    Nothing in it may fetch anything, and no script runs but its own: its policy says so.

    Args:
        subject: what the report is of, such as a study's name; its headline.
        title: the kind of report.
        facts: one line under the headline.
    """
    drawn = any(section.figures for section in sections)
    scripts = {"script": _asset("report.js"), **({"plotly": _plotly()} if drawn else {})}
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts.values())
    return _fill({
        "subject": subject, "title": title, "facts": facts, "drawn": drawn,
        "sections": [_page_section(section) for section in sections],
        # Plotly styles what it draws.
        "policy": f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
                  "base-uri 'none'; form-action 'none'",
    }, {"style": _asset("report.css"), **scripts})


def remark(one: Headline) -> str:
    """What stands beside a headline."""
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
    table = for_readers(table)
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
    card: dict[str, Any] = {"label": one.label, "value": shown(value, one.kind), "remark": remark(one), "interval": "",
                            "rests": f"{'from' if one.kind == 'count' else 'n ='} {rests_on(one)}"}
    if value is None or low is None or high is None:
        return card
    least, most = (0, 1) if one.kind == "share" else (min(0, int(low // 1)), max(1, -int(-high // 1)))

    def place(at: float) -> float:
        return round(100 * (min(max(at, least), most) - least) / (most - least), 2)

    return card | {"interval": f"{shown(low, one.kind)} to {shown(high, one.kind)}", "at": place(value),
                   "left": place(low), "width": round(place(high) - place(low), 2)}


def _least(figure: Figure) -> int:
    """Pixels below which a figure cannot be read, so that it scrolls: a heatmap, and one with long names beside it."""
    axis = figure.spec["layout"]["yaxis"]
    lying = figure.spec["data"][0]["y"] if axis.get("type") == "category" else ()
    names: Sequence[str] = axis.get("ticktext", lying)
    if all(trace["type"] != "heatmap" for trace in figure.spec["data"]):
        longest = max(map(len, names), default=0)
        return _BESIDE_PX + _LETTER_PX * longest if longest > LONGEST else 0
    cell = _CELL_PX if any(trace.get("mode") == "text" for trace in figure.spec["data"]) else _PLAIN_PX
    return _SIDES_PX + cell * len(names) + _LETTER_PX * max(map(len, names))


def _in_script(spec: Mapping[str, Any]) -> Any:
    from markupsafe import Markup

    return Markup(json.dumps(spec, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"))


def _fill(texts: Mapping[str, Any], own: Mapping[str, str]) -> str:
    """``texts`` are escaped; ``own`` are cirque's and plotly's, and are not."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return page.from_string(_asset("report.html")).render(**texts, **{name: Markup(text) for name, text in own.items()})


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
