"""Curves with their intervals, as specifications of plotly (:mod:`cir_core.reports.figures`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cir_core.reports.figures import GRID_LINE, OKABE_ITO, SHAPES, axis_of, interval_arm, plain, shown_estimate
from cir_core.reports.records import Estimate, Figure

Points = Sequence[tuple[float, Estimate]]


def curves(
    key: str, title: str, alt: str, series: Mapping[str, Points], *, across: str, axis: str,
    at: float | None = None, whole: bool = False, note: str = "",
) -> Figure:
    """Shares over a number, each with its interval as an error bar. Points without a value are left out.

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
            "hovertext": [f"{plain(name)}<br>{plain(across)} {x:g}<br>{shown_estimate(one)}" for x, one in there],
            "hovertemplate": "%{hovertext}<extra></extra>",
        })
    shapes = [] if at is None else [{"type": "line", "xref": "x", "yref": "paper", "x0": at, "x1": at, "y0": 0, "y1": 1,
                                     "layer": "below", "line": {"color": GRID_LINE, "width": 1, "dash": "dot"}}]
    below = axis_of(across) | ({"tickmode": "array", "tickvals": every} if whole else {})
    return Figure(key, title, alt, {"data": data, "layout": {
        "height": 360, "margin": {"l": 8, "r": 16, "t": 34, "b": 8}, "shapes": shapes, "xaxis": below,
        "yaxis": axis_of(axis) | {"tickformat": ".3~%"}, "showlegend": len(series) > 1,
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom"},
    }}, note=note)
