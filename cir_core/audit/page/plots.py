"""Plots of an audit as plotly figures, in light colours that the page replaces in dark mode.

Inputs and subsets differ in colour, marker and line, so that none is distinguished by colour alone.
Labels are next to what they name; retriever names above their row, so that a narrow screen
has room for both.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

from cir_core.audit.gap import Gap, GapMeasure, GapReport
from cir_core.audit.records import VARIANTS, Detail, Variant
from cir_core.audit.summary import Summary

Figure = Mapping[str, Any]
SUBSETS = {"full": "Full", "shortcut_free": "Shortcut-free", "validated": "Validated"}
DETAILS: Mapping[Detail, str] = {
    "composition_required": "Both inputs are needed",
    "unresolved": "No retriever finds it",
    "text_only": "The text alone is enough",
    "image_only": "The image alone is enough",
    "both_unimodal": "Either alone is enough",
}
INPUT_NAMES: Mapping[Variant, str] = {"multimodal": "both", "text_only": "text", "image_only": "image"}
MEASURE_NAMES: Mapping[str, str] = {"ndcg": "nDCG", "mrr": "MRR"}
_INK, _SOFT, _LINE, _CARD = "#1f1b16", "#6a6356", "#e1dace", "#fffdf8"
_INPUTS: Mapping[Variant, tuple[str, str, str]] = {   # colour, marker, line
    "multimodal": ("#1d1a17", "circle", "solid"),
    "text_only": ("#0067a8", "square", "dash"),
    "image_only": ("#bf5200", "diamond", "dot"),
}
_OF_SUBSET = {"full": ("#5a9a8e", "circle-open"), "shortcut_free": ("#1f7a6c", "square"),
              "validated": ("#0d3b36", "diamond")}
_DETAIL_COLOURS: Mapping[Detail, str] = {
    "composition_required": "#1f7a6c", "unresolved": "#5a9a8e", "text_only": "#0067a8", "image_only": "#bf5200",
    "both_unimodal": "#7a7263",
}
DARK = {  # the same roles on dark paper
    _INK: "#ece8df", _SOFT: "#a9a396", _LINE: "#35342f", _CARD: "#1b1b19", "#1d1a17": "#f4f0e7", "#0067a8": "#5cb3ee",
    "#bf5200": "#f39a55", "#5a9a8e": "#4d9284", "#1f7a6c": "#6fcdbd", "#0d3b36": "#dcf7f1", "#7a7263": "#9b9485",
}
_LABEL_ROW, _FACET, _SUBSET_ROW = 54, 230, 22   # heights, px
_NAME = 40   # characters over a plot on a narrow screen


def label_figure(summary: Summary) -> Figure:
    """A bar for each of the five labels, with count and share at its end."""
    rows = list(DETAILS)
    shares = [summary.share(summary.details[detail]) or 0.0 for detail in rows]
    bars = {
        "type": "bar", "orientation": "h", "x": shares, "y": list(range(len(rows))), "width": 0.42,
        "marker": {"color": [_DETAIL_COLOURS[detail] for detail in rows]}, "cliponaxis": False,
        "text": [f"{summary.details[d]:,} · {percent(s)}" for d, s in zip(rows, shares, strict=True)],
        "textposition": "outside", "hoverinfo": "skip", "textfont": {"color": _INK, "size": 13},
    }
    names = [_note(0, row - 0.42, DETAILS[detail], xref="paper", xanchor="left", yanchor="middle", color=_INK, size=13)
             for row, detail in enumerate(rows)]
    layout = _layout(len(rows) * _LABEL_ROW + 16, left=2, right=112, top=10, bottom=6, annotations=names)
    layout["xaxis"] |= {"visible": False, "range": [0, max([*shares, 0.01])]}
    layout["yaxis"] |= {"visible": False, "range": [len(rows) - 0.45, -0.75]}
    return _figure([bars], layout)


def input_figure(gaps: GapReport, retriever: str, measure: GapMeasure, subsets: Sequence[str], most: float) -> Figure:
    """One retriever: the mean under each input, from the full benchmark to its cleaner parts."""
    rows = [gaps.of(retriever, subset) for subset in subsets]
    traces, ends = [], {}
    for variant in VARIANTS:
        colour, marker, dash = _INPUTS[variant]
        values = [row.means[measure][variant] if row.means else None for row in rows]
        traces.append({
            "type": "scatter", "mode": "lines+markers", "x": list(range(len(rows))), "y": values,
            "name": INPUT_NAMES[variant], "line": {"color": colour, "dash": dash, "width": 2},
            "marker": {"color": colour, "symbol": marker, "size": 9}, "connectgaps": False,
            "hovertemplate": f"{INPUT_NAMES[variant]}: %{{y:.3f}}<extra></extra>",
        })
        last = next((place for place in reversed(range(len(values))) if values[place] is not None), None)
        if last is not None:
            ends[variant] = (last, values[last] or 0.0)
    heights = _apart({variant: value for variant, (_, value) in ends.items()}, 0.095 * most)
    notes = [_note(ends[v][0], height, f"{INPUT_NAMES[v]} {ends[v][1]:.2f}", xanchor="left", xshift=9,
                   color=_INPUTS[v][0], size=12) for v, height in heights.items()]
    layout = _layout(_FACET, left=34, right=74, top=10, bottom=40, annotations=notes)
    layout["xaxis"] |= {
        "range": [-0.12, len(rows) - 1 + 0.12] if len(rows) > 1 else [-0.5, 0.5], "tickvals": list(range(len(rows))),
        "ticktext": [f"{SUBSETS[row.subset]}<br>{row.queries:,}" for row in rows], "showgrid": False,
    }
    layout["yaxis"] |= {"range": [0, most * 1.06], "nticks": 4, "tickformat": ".2~f"}
    return _figure(traces, layout)


def gap_figure(gaps: GapReport, measure: GapMeasure, subsets: Sequence[str]) -> Figure:
    """CompGap with its interval for each retriever and subset, with the mean over retrievers on top."""
    names = list(dict.fromkeys(row.retriever for row in gaps.retrievers))
    of: list[tuple[str, Mapping[str, Gap]]] = []
    if len(names) > 1:
        of.append(("Mean of the retrievers", {subset: gaps.mean(subset, measure).gap for subset in subsets}))
    of += [(name, {subset: gaps.of(name, subset).gaps[measure] for subset in subsets}) for name in names]
    block = len(subsets) + 1.9   # a line for each subset, and room for the name
    traces, notes = [], []
    for row, (name, _) in enumerate(of):
        short = name if len(name) <= _NAME else name[: _NAME - 1] + "…"   # the table has all of it
        bold = f"<b>{html.escape(short)}</b>"                             # plotly reads a few tags in texts
        notes.append(_note(0, row * block, bold, xref="paper", xanchor="left", color=_INK, size=13, bgcolor=_CARD))
    for line, subset in enumerate(subsets, 1):
        colour, marker = _OF_SUBSET[subset]
        found = [(row * block + line, each[subset]) for row, (_, each) in enumerate(of)]
        points = [(place, gap, gap.value) for place, gap in found]
        defined = [(place, gap, value) for place, gap, value in points if value is not None]
        traces.append({
            "type": "scatter", "mode": "markers", "name": SUBSETS[subset],
            "x": [value for _, _, value in defined], "y": [place for place, _, _ in defined],
            "marker": {"color": colour, "symbol": marker, "size": 10, "line": {"color": colour, "width": 2}},
            "error_x": {
                "type": "data", "symmetric": False, "color": colour, "thickness": 2, "width": 4,
                "array": [0.0 if gap.high is None else gap.high - value for _, gap, value in defined],
                "arrayminus": [0.0 if gap.low is None else value - gap.low for _, gap, value in defined],
            },
            "hovertemplate": f"{SUBSETS[subset]}: %{{x:.3f}}<extra></extra>",
        })
        for place, gap in found:
            value = "not defined" if gap.value is None else f"{gap.value:.0%}".replace("-", "−")
            notes.append(_note(1, place, f"{SUBSETS[subset]} {value}", xref="paper", xanchor="left", xshift=8,
                               color=_INK, size=12))
    bottom = len(of) * block - 0.6
    layout = _layout(round((bottom + 1) * _SUBSET_ROW) + 56, left=2, right=126, top=4, bottom=44, annotations=notes)
    layout["xaxis"] |= {"tickformat": ".0%", "nticks": 6, "zeroline": True, "zerolinecolor": _SOFT, "zerolinewidth": 1,
                        "title": {"text": f"Composition Gap, {MEASURE_NAMES[measure]}", "font": {"size": 12}}}
    layout["yaxis"] |= {"visible": False, "range": [bottom, -0.9]}
    return _figure(traces, layout)


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}%".replace("-", "−")


def _apart(values: Mapping[Variant, float], gap: float) -> dict[Variant, float]:
    """Label heights, moved up where they would overlap."""
    placed: dict[Variant, float] = {}
    height = -gap
    for variant in sorted(values, key=lambda name: values[name]):
        height = max(values[variant], height + gap)
        placed[variant] = height
    return placed


def _note(x: float, y: float, text: str, *, color: str, size: int, **more: Any) -> dict[str, Any]:
    return {"x": x, "y": y, "text": text, "showarrow": False, "align": "left", "yanchor": "middle",
            "font": {"color": color, "size": size}, **more}


def _layout(height: int, *, left: int, right: int, top: int, bottom: int, annotations: list[Any]) -> dict[str, Any]:
    axis = {"fixedrange": True, "color": _SOFT, "gridcolor": _LINE, "zeroline": False, "tickfont": {"size": 11}}
    return {
        "height": height, "margin": {"l": left, "r": right, "t": top, "b": bottom}, "annotations": annotations,
        "showlegend": False, "dragmode": False, "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, -apple-system, Segoe UI, Roboto, Liberation Sans, sans-serif", "color": _INK},
        "xaxis": dict(axis), "yaxis": dict(axis), "hoverlabel": {"font": {"size": 12}},
    }


def _figure(traces: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> Figure:
    """Checked by plotly, which refuses a misspelt attribute; as plain JSON."""
    import plotly.graph_objects as go

    figure: dict[str, Any] = json.loads(go.Figure(data=list(traces), layout=layout).to_json())
    figure["layout"].pop("template", None)  # plotly's own look, 7 kB in every figure
    return figure
