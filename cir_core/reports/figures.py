"""Figures as specifications of plotly: plain JSON, without a theme.

Colours are readable for colour-blind people: cividis in heatmaps, or from brown over white to purple where a value in
the middle means nothing, with the value in each cell too, and those of Okabe and Ito elsewhere, with a marker shape of
its own for each series. Grid lines are a translucent grey, text has no
colour: both work on light and on dark paper.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from cir_core.reports.cells import NONE, axis_names, shown
from cir_core.reports.records import Estimate, Figure

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "x")
_GRID = "rgba(128,128,128,0.25)"
GRID_LINE = "rgba(128,128,128,0.8)"
_UNDEFINED = "rgba(128,128,128,0.22)"
_MUTED = "#808080"
DIVERGING = ("#7f3b08", "#b35806", "#e08214", "#fdb863", "#fee0b6", "#f7f7f7", "#d8daeb", "#b2abd2", "#8073ac",
             "#542788", "#2d004b")      # ColorBrewer's PuOr
_LIKERT = ("#b35806", "#fdb863", "#d9d9d9", "#b2abd2", "#542788")    # of the same, with a middle that shows on white
_READABLE = 14    # people in a matrix; beyond, cells are too small for a text


@dataclass(frozen=True)
class MatrixCell:
    """``hover``: lines shown for it. ``opens``: what a click opens, if anything."""

    value: float | None
    hover: tuple[str, ...]
    under: str = ""                # a second line in the cell, such as "n = 6"
    opens: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Series:
    name: str
    estimates: tuple[Estimate, ...]   # one for each label


def matrix(
    key: str, title: str, alt: str, names: Sequence[str], cells: Mapping[tuple[int, int], MatrixCell], *, scale: str,
    under: str = "", bounds: tuple[float, float] = (0, 1), diverging: bool = False,
) -> Figure:
    """A heatmap over ``names`` x ``names``.

    Cells that are not there stay empty, and rows and columns without any are left out: of one triangle, the first and
    the last. Cells without a value are grey with a dash. Of many names cells have no text, and a dot stands for what
    would stand under the value: the note says so.

    Args:
        scale: what the colours are of.
        under: what it means that a cell has a second line: "pairs with few items".
        bounds: values of the outermost colours.
        diverging: whether the middle between them means nothing, such as chance agreement.
    """
    down, right = (sorted({place[axis] for place in cells}) for axis in (0, 1))
    cells = {(down.index(row), right.index(column)): cell for (row, column), cell in cells.items()}
    there = [[cells.get((row, column)) for column in range(len(right))] for row in range(len(down))]
    values = [[_number(cell.value) if cell else None for cell in row] for row in there]
    gaps = [[1 if cell and _number(cell.value) is None else None for cell in row] for row in there]
    common: dict[str, Any] = {
        "type": "heatmap", "x": list(range(len(right))), "y": list(range(len(down))), "xgap": 2, "ygap": 2,
        "hoverongaps": False, "zmin": bounds[0], "zmax": bounds[1],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "hovertext": [[_lines(cell.hover) if cell else "" for cell in row] for row in there],
    }
    readable = len(names) <= _READABLE
    labels, note = axis_names(names)
    if not readable:
        note = f"{_unwritten(cells, under)} {note}".rstrip()
    colours = _stops(DIVERGING) if diverging else "Cividis"

    def axis(places: Sequence[int]) -> dict[str, Any]:
        return {"tickmode": "array", "tickvals": list(range(len(places))),
                "ticktext": [plain(labels[place]) for place in places],
                "showgrid": False, "zeroline": False, "automargin": True, "ticks": ""}

    return Figure(key, title, alt, {
        "data": [
            common | {"z": values, "colorscale": colours,
                      "colorbar": {"title": {"text": scale}, "thickness": 12, "outlinewidth": 0}},
            common | {"z": gaps, "colorscale": [[0, _UNDEFINED], [1, _UNDEFINED]], "showscale": False},
            (_cell_texts if readable else _cell_dots)(cells, bounds, diverging=diverging),
        ],
        "layout": {
            "height": 180 + (34 if readable else 16) * len(down), "margin": {"l": 8, "r": 8, "t": 12, "b": 8},
            "showlegend": False, "xaxis": axis(right) | {"range": [-0.5, len(right) - 0.5]},
            "yaxis": axis(down) | {"range": [len(down) - 0.5, -0.5]},
        },
    }, {f"{row},{column}": dict(cell.opens) for (row, column), cell in sorted(cells.items()) if cell.opens}, note)


def dots(
    key: str, title: str, alt: str, labels: Sequence[str], series: Sequence[Series], *, axis: str,
    share: bool = False, at: float | None = None, bounds: tuple[float, float] | None = None,
) -> Figure:
    """Values with their intervals, a line for each label (a forest plot). A label without any value gets a dash.
    ``at``: where a line stands for no effect. ``share``: percent, from 0 to 1."""
    kind = "share" if share else "number"
    ticks = [plain(label) + ("" if any(one.estimates[place].value is not None for one in series) else f"  {NONE}")
             for place, label in enumerate(labels)]
    data = []
    for number, one in enumerate(series):
        places = [place for place, estimate in enumerate(one.estimates) if _number(estimate.value) is not None]
        there = [one.estimates[place] for place in places]
        colour = OKABE_ITO[number % len(OKABE_ITO)]
        shift = (number - (len(series) - 1) / 2) * min(0.22, 0.7 / len(series))
        data.append({
            "type": "scatter", "mode": "markers", "name": plain(one.name), "x": [each.value for each in there],
            "y": [place + shift for place in places],
            "error_x": {"type": "data", "symmetric": False,
                        "array": [interval_arm(each.high, each.value) for each in there],
                        "arrayminus": [interval_arm(each.value, each.low) for each in there], "color": colour,
                        "thickness": 1.8, "width": 4},
            "marker": {"color": colour, "symbol": SHAPES[number % len(SHAPES)], "size": 9},
            "hovertext": [_lines(_described(labels[place], one, place, kind)) for place in places],
            "hovertemplate": "%{hovertext}<extra></extra>",
        })
    shapes = [] if at is None else [{"type": "line", "xref": "x", "yref": "paper", "x0": at, "x1": at, "y0": 0, "y1": 1,
                                     "layer": "below", "line": {"color": GRID_LINE, "width": 1, "dash": "dot"}}]
    across: dict[str, Any] = axis_of(axis) | ({"tickformat": ".0%"} if share else {})
    if limits := bounds or ((-0.02, 1.02) if share else None):
        across["range"] = list(limits)
    return Figure(key, title, alt, {"data": data, "layout": {
        "height": 110 + (30 + 14 * (len(series) - 1)) * max(len(labels), 1), "shapes": shapes,
        "margin": {"l": 8, "r": 16, "t": 34 if len(series) > 1 else 12, "b": 8}, "xaxis": across,
        "yaxis": {"tickmode": "array", "tickvals": list(range(len(labels))), "ticktext": ticks, "automargin": True,
                  "range": [len(labels) - 0.5, -0.5], "showgrid": False, "zeroline": False, "ticks": ""},
        "showlegend": len(series) > 1,
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom"},
    }})


def bars(
    key: str, title: str, alt: str, labels: Sequence[str], counts: Sequence[int], *, axis: str, across: str,
) -> Figure:
    """Counts, each written over its bar with its share of all."""
    texts = _counts(counts, "<br>")
    return Figure(key, title, alt, {"data": [{
        "type": "bar", "x": [plain(label) for label in labels], "y": list(counts), "text": texts,
        "textposition": "outside", "cliponaxis": False, "marker": {"color": OKABE_ITO[0]}, "width": 0.6,
        "hovertemplate": "%{x}: %{text}<extra></extra>",
    }], "layout": {
        "height": 300, "margin": {"l": 8, "r": 8, "t": 40, "b": 8},
        "xaxis": {"type": "category", "title": {"text": across}, "showgrid": False, "automargin": True},
        "yaxis": axis_of(axis) | {"rangemode": "tozero"},
    }})


def likert(
    key: str, title: str, alt: str, labels: Sequence[str], counts: Sequence[Sequence[int]], levels: Sequence[str],
    down: str = "",
) -> Figure:
    """A bar for each label, divided by the shares of ``levels``; ``counts``: [labels, levels]. Labels without an answer
    have no bar. ``down``: what the labels are values of."""
    totals = [sum(of) for of in counts]
    shares = [[count / total if total else 0.0 for count in of] for of, total in zip(counts, totals, strict=True)]
    names = [plain(f"{label} (n\u00a0=\u00a0{total:,})") for label, total in zip(labels, totals, strict=True)]
    return Figure(key, title, alt, {"data": [{
        "type": "bar", "orientation": "h", "name": plain(level), "x": [of[place] for of in shares], "y": names,
        "base": [sum(of[:place]) for of in shares], "width": 0.7,
        "marker": {"color": _LIKERT[place * (len(_LIKERT) - 1) // max(1, len(levels) - 1)]},
        "customdata": [of[place] for of in counts],
        "hovertemplate": f"%{{y}}, {plain(level)}: %{{x:.1%}} (%{{customdata}})<extra></extra>",
    } for place, level in enumerate(levels)], "layout": {
        "height": 110 + 40 * len(labels), "margin": {"l": 8, "r": 24, "t": 40, "b": 8}, "barmode": "overlay",
        "showlegend": True, "legend": {"orientation": "h", "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        "xaxis": axis_of("share of rated sets") | {"range": [0, 1], "tickformat": ".0%"},
        "yaxis": {"type": "category", "autorange": "reversed", "showgrid": False, "automargin": True, "ticks": "",
                  "title": {"text": plain(down), "standoff": 10}},
    }})


def rows(key: str, title: str, alt: str, labels: Sequence[str], counts: Sequence[int], *, axis: str) -> Figure:
    """Counts as bars that lie, with room for long labels; beside each its share of all."""
    return Figure(key, title, alt, {"data": [{
        "type": "bar", "orientation": "h", "x": list(counts), "y": [plain(label) for label in labels],
        "text": _counts(counts, " · "), "textposition": "outside", "cliponaxis": False,
        "marker": {"color": OKABE_ITO[0]}, "width": 0.6, "hovertemplate": "%{y}: %{text}<extra></extra>",
    }], "layout": {
        "height": 70 + 40 * len(labels), "margin": {"l": 8, "r": 96, "t": 8, "b": 8},
        "xaxis": axis_of(axis) | {"rangemode": "tozero", "nticks": 5},
        "yaxis": {"type": "category", "autorange": "reversed", "showgrid": False, "automargin": True, "ticks": ""},
    }})


def _counts(counts: Sequence[int], between: str) -> list[str]:
    total = sum(counts)
    return [f"{shown(one, 'count')}{between}{shown(one / total, 'share')}" if total else "0" for one in counts]


def lines(
    key: str, title: str, alt: str, series: Mapping[str, Sequence[tuple[float, float]]], *, across: str, axis: str,
    at: float | None = None, log: bool = True, upright: float | None = None,
) -> Figure:
    """Lines of (x, y). ``at``: the y that is wished for; ``upright``: an x that is marked. ``log``: whether x is on a
    logarithmic scale."""
    data: list[dict[str, Any]] = [{
        "type": "scatter", "mode": "lines+markers", "name": plain(name), "x": [x for x, _ in points],
        "y": [y for _, y in points], "line": {"color": OKABE_ITO[number % len(OKABE_ITO)]},
        "marker": {"symbol": SHAPES[number % len(SHAPES)], "size": 7},
    } for number, (name, points) in enumerate(series.items())]
    shapes = [] if at is None else [{"type": "line", "xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": at, "y1": at,
                                     "layer": "below", "line": {"color": GRID_LINE, "width": 1, "dash": "dot"}}]
    if upright is not None:
        shapes.append({"type": "line", "xref": "x", "yref": "paper", "x0": upright, "x1": upright, "y0": 0, "y1": 1,
                       "layer": "below", "line": {"color": GRID_LINE, "width": 1, "dash": "dot"}})
    scale = {"type": "log", "tickmode": "array", "tickvals": [0.5, 1, 2, 5, 10, 20, 50, 100]} if log else {}
    return Figure(key, title, alt, {"data": data, "layout": {
        "height": 320, "margin": {"l": 8, "r": 16, "t": 34, "b": 8}, "shapes": shapes, "xaxis": axis_of(across) | scale,
        "yaxis": axis_of(axis) | {"rangemode": "tozero"}, "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom"},
    }})


def dendrogram(
    key: str, title: str, alt: str, names: Sequence[str], brackets: Sequence[Sequence[tuple[float, float]]], *,
    axis: str,
) -> Figure:
    """A tree that lies: ``names`` from the top as leaves, and for each join its points (height, place of a leaf)."""
    points = [point for bracket in brackets for point in (*bracket, (None, None))][:-1]
    return Figure(key, title, alt, {"data": [{
        "type": "scatter", "mode": "lines", "name": "", "x": [height for height, _ in points],
        "y": [place for _, place in points], "line": {"color": OKABE_ITO[0], "width": 1.6}, "hoverinfo": "skip",
    }], "layout": {
        "height": 90 + 26 * max(len(names), 1), "margin": {"l": 8, "r": 16, "t": 12, "b": 8}, "showlegend": False,
        "xaxis": axis_of(axis) | {"rangemode": "tozero"},
        "yaxis": {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": [plain(one) for one in names],
                  "automargin": True, "range": [len(names) - 0.5, -0.5], "showgrid": False, "zeroline": False,
                  "ticks": ""},
    }})


def axis_of(title: str) -> dict[str, Any]:
    return {"title": {"text": title}, "gridcolor": _GRID, "zerolinecolor": _GRID, "automargin": True}


def _described(label: str, series: Series, place: int, kind: str) -> tuple[str, ...]:
    estimate = series.estimates[place]
    named = f"{label}, {series.name}" if series.name else label
    return (named, shown_estimate(estimate, kind), f"n = {shown(estimate.n, 'count')}")


def shown_estimate(estimate: Estimate, kind: str = "share") -> str:
    """"48.2 % [43.1 %, 53.3 %]"."""
    interval = "" if estimate.low is None else f" [{shown(estimate.low, kind)}, {shown(estimate.high, kind)}]"
    return f"{shown(estimate.value, kind)}{interval}"


def _stops(colours: Sequence[str]) -> list[list[Any]]:
    """As plotly has a scale of colours."""
    return [[place / (len(colours) - 1), colour] for place, colour in enumerate(colours)]


def _cell_texts(
    cells: Mapping[tuple[int, int], MatrixCell], bounds: tuple[float, float], *, diverging: bool,
) -> dict[str, Any]:
    """A trace of its own: texts of a heatmap all have one colour, or one that plotly finds, which is too pale."""
    found = sorted(cells.items())
    return {
        "type": "scatter", "mode": "text", "hoverinfo": "skip", "showlegend": False,
        "x": [column for (_, column), _ in found], "y": [row for (row, _), _ in found],
        "text": [_cell_text(cell) for _, cell in found],
        "textfont": {"size": 12, "color": [_text_colour(_number(cell.value), bounds, diverging=diverging)
                                           for _, cell in found]},
    }


def _cell_dots(
    cells: Mapping[tuple[int, int], MatrixCell], bounds: tuple[float, float], *, diverging: bool,
) -> dict[str, Any]:
    found = [(place, cell) for place, cell in sorted(cells.items()) if cell.under]
    return {
        "type": "scatter", "mode": "markers", "hoverinfo": "skip", "showlegend": False,
        "x": [column for (_, column), _ in found], "y": [row for (row, _), _ in found],
        "marker": {"symbol": "circle", "size": 4, "color": [
            _text_colour(_number(cell.value), bounds, diverging=diverging) for _, cell in found]},
    }


def _unwritten(cells: Mapping[tuple[int, int], MatrixCell], under: str) -> str:
    said = "Too many cells for labels: values and numbers are in the table."
    return f"{said} A dot marks {under}." if under and any(cell.under for cell in cells.values()) else said


def _cell_text(cell: MatrixCell) -> str:
    value = _number(cell.value)
    text = NONE if value is None else shown(round(value, 2), "number")[:-1]
    return f"{text}<br>{plain(cell.under)}" if cell.under and value is not None else text


def _text_colour(value: float | None, bounds: tuple[float, float], *, diverging: bool) -> str:
    """White on dark cells, black on light ones: a contrast of 4.5 to 1 or more with each."""
    if value is None:
        return _MUTED
    place = (value - bounds[0]) / (bounds[1] - bounds[0])
    dark = not 0.112 < place < 0.808 if diverging else place < 0.475
    return "#ffffff" if dark else "#000000"


def interval_arm(high: float | None, low: float | None) -> float:
    return 0.0 if high is None or low is None else max(high - low, 0.0)


def _number(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else float(value)


def _lines(texts: Sequence[str]) -> str:
    return "<br>".join(plain(text) for text in texts if text)


def plain(text: str) -> str:
    """As plotly shows it literally: what it takes for markup is escaped, and it knows no entity for quotes."""
    return html.escape(text, quote=False)


Points = Sequence[tuple[float, Estimate]]


def curves(
    key: str, title: str, alt: str, series: Mapping[str, Points], *, across: str, axis: str,
    at: float | None = None, whole: bool = False, note: str = "", share: bool = True,
) -> Figure:
    """Shares (or, without ``share``, numbers from 0) over a number, each with its interval as an error bar. Points
    without a value are left out.

    Args:
        series: name to points, in the order of their x; several are drawn a little apart.
        at: an x that is marked by a line.
        whole: x are whole numbers, all of which get a tick.
    """
    every = sorted({x for points in series.values() for x, _ in points})
    apart = 0.012 * (every[-1] - every[0]) if len(every) > 1 else 0.0
    data: list[dict[str, Any]] = []
    for number, (name, points) in enumerate(series.items()):
        there = [(x, one) for x, one in points if one.value is not None]
        colour = OKABE_ITO[number % len(OKABE_ITO)]
        shift = (number - (len(series) - 1) / 2) * apart
        data.append({
            "type": "scatter", "mode": "lines+markers", "name": plain(name), "x": [x + shift for x, _ in there],
            "y": [one.value for _, one in there], "line": {"color": colour, "width": 1.6},
            "marker": {"color": colour, "symbol": SHAPES[number % len(SHAPES)], "size": 8},
            "error_y": {"type": "data", "symmetric": False, "color": colour, "thickness": 1.2, "width": 3,
                        "array": [interval_arm(one.high, one.value) for _, one in there],
                        "arrayminus": [interval_arm(one.value, one.low) for _, one in there]},
            "hovertext": [f"{plain(name)}<br>{plain(across)} {x:g}<br>"
                          f"{shown_estimate(one, 'share' if share else 'number')}" for x, one in there],
            "hovertemplate": "%{hovertext}<extra></extra>",
        })
    shapes = [] if at is None else [{"type": "line", "xref": "x", "yref": "paper", "x0": at, "x1": at, "y0": 0, "y1": 1,
                                     "layer": "below", "line": {"color": GRID_LINE, "width": 1, "dash": "dot"}}]
    below = axis_of(across) | ({"tickmode": "array", "tickvals": every} if whole else {})
    return Figure(key, title, alt, {"data": data, "layout": {
        "height": 360, "margin": {"l": 8, "r": 16, "t": 34, "b": 8}, "shapes": shapes, "xaxis": below,
        "yaxis": axis_of(axis) | ({"tickformat": ".3~%"} if share else {"rangemode": "tozero"}),
        "showlegend": len(series) > 1,
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom"},
    }}, note=note)
