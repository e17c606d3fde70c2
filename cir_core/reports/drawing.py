"""Figures as image files, for papers: SVG, PDF and PNG.

The specification of a :class:`~cir_core.reports.records.Figure` is drawn by Matplotlib, without a browser. It is the
same one that plotly draws on pages, so a figure is described once. Drawn is what :mod:`cir_core.reports.figures` and
the reports use of plotly: heatmaps, points, lines and bars with their intervals, texts, lines across.

The same figure gives the same bytes: files have no dates and no random ids. Series differ in marker, dash or hatch as
well as in colour, so that they can be told apart in greyscale.
"""

from __future__ import annotations

import html
import io
import textwrap
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cir_core.reports.records import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

ImageForm = Literal["svg", "pdf", "png"]
IMAGE_FORMS: tuple[ImageForm, ...] = ("svg", "pdf", "png")
Width = Literal["column", "page"]
Font = Literal["sans", "serif"]
_INCHES: Mapping[Width, float] = {"column": 3.25, "page": 6.75}
_MOST_IN_COLUMN = 10     # names of a matrix; with more, it is as wide as the page
_FONTS: Mapping[Font, str] = {"sans": "DejaVu Sans", "serif": "STIXGeneral"}    # both come with Matplotlib
_POINTS = 7.5            # of text
_PER_PIXEL = 0.5 / 72    # inches of a figure with a row for each name, whose height is in pixels
_DPI = 300
_RATIO = 0.68            # height of other figures by their width
_LETTERS = 12            # of names side by side, in an inch of a figure
_MARK, _LETTER = 0.42, 0.065     # inches of a legend: of a mark with its space, and of a letter
_FOLDED = 24             # letters of a line of a name
_MARKERS = {"circle": "o", "diamond": "D", "square": "s", "triangle-up": "^", "cross": "P", "x": "X"}
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)), (0, (3, 1)), (0, (8, 2)))
_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++")
_GREY, _FAINT = "#808080", "#d9d9d9"
_METADATA: Mapping[ImageForm, Mapping[str, None]] = {
    "svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}
_ONE_AT_A_TIME = threading.Lock()    # Matplotlib's settings are global


@dataclass(frozen=True)
class Style:
    """``width``: that of a column (3.25 in) or a page (6.75 in). Figures with many names are as wide as the page."""

    width: Width = "column"
    font: Font = "sans"


def width_of(figure: Figure, style: Style) -> Width:
    """Of the drawn figure."""
    heat = next((one for one in figure.spec["data"] if one["type"] == "heatmap"), None)
    return "page" if heat is not None and len(heat["x"]) > _MOST_IN_COLUMN else style.width


def image_files(figure: Figure, style: Style = Style(), forms: Iterable[ImageForm] = IMAGE_FORMS) -> dict[str, bytes]:
    """The figure as files by form. Characters that no installed font has are drawn as boxes."""
    import warnings

    import matplotlib

    with _ONE_AT_A_TIME, matplotlib.rc_context(_settings(style, _texts(figure.spec))), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*[Gg]lyph")
        canvas = _canvas(figure, style)
        for _ in range(2):                  # rows of long names are placed by the second pass
            canvas.draw_without_rendering()
        canvas.set_layout_engine("none")    # found once for all forms
        return {form: _saved(canvas, form) for form in forms}


def _saved(canvas: Canvas, form: ImageForm) -> bytes:
    """Without ``savefig``, which draws everything twice."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    file, metadata = io.BytesIO(), dict(_METADATA[form])
    canvas.dpi = _DPI if form == "png" else 72
    if form == "png":
        FigureCanvasAgg(canvas).print_png(file, metadata=metadata)
    elif form == "pdf":
        FigureCanvasPdf(canvas).print_pdf(file, metadata=metadata)
    else:
        FigureCanvasSVG(canvas).print_svg(file, metadata=metadata)
    return file.getvalue()


def _settings(style: Style, texts: str) -> dict[str, Any]:
    first = _FONTS[style.font]
    return {
        "font.family": [first, *_further_fonts(first, texts)], "font.size": _POINTS,
        "mathtext.fontset": "stix" if style.font == "serif" else "dejavusans",
        "axes.linewidth": 0.6, "axes.edgecolor": _GREY, "axes.spines.top": False, "axes.spines.right": False,
        "axes.axisbelow": True, "grid.color": _FAINT, "grid.linewidth": 0.4, "hatch.linewidth": 0.5,
        "xtick.major.width": 0.5, "ytick.major.width": 0.5, "xtick.major.size": 2.5, "ytick.major.size": 2.5,
        "xtick.color": _GREY, "ytick.color": _GREY, "xtick.labelcolor": "black", "ytick.labelcolor": "black",
        "legend.frameon": False, "text.parse_math": False, "axes.unicode_minus": True,
        # Letters as outlines in SVG look alike everywhere; TrueType in PDF, since publishers refuse type 3.
        "svg.fonttype": "path", "svg.hashsalt": "cirque", "pdf.fonttype": 42, "pdf.compression": 6,
    }


def _further_fonts(first: str, texts: str) -> list[str]:
    """Installed fonts for characters that ``first`` does not have, Noto's before others."""
    from matplotlib import font_manager
    from matplotlib.ft2font import FT2Font

    def has(path: str) -> set[int]:
        return set(FT2Font(path).get_charmap())

    missing = {ord(one) for one in texts if one.isprintable()}
    missing -= has(font_manager.findfont(first))
    if not missing:
        return []
    found = []
    fonts = {one.name: one.fname for one in sorted(font_manager.fontManager.ttflist, key=lambda one: one.fname)
             if one.style == "normal" and one.weight in (400, "regular", "normal", "book")}
    for name in sorted(fonts, key=lambda name: (name != _FONTS["sans"], not name.startswith("Noto Sans"),
                                                not name.startswith("Noto"), name)):
        if missing and missing & (there := has(fonts[name])):
            found.append(name)
            missing -= there
    return found


def _texts(value: Any) -> str:
    """All characters of a specification."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "".join(sorted(set("".join(_texts(one) for key, one in value.items() if not key.startswith("hover")))))
    if isinstance(value, Sequence):
        return "".join(sorted(set("".join(map(_texts, value)))))
    return ""


def _canvas(figure: Figure, style: Style) -> Canvas:
    from matplotlib.figure import Figure as Canvas

    data, layout = figure.spec["data"], figure.spec["layout"]
    width = _INCHES[width_of(figure, style)]
    heat = any(one["type"] == "heatmap" for one in data)
    across, down = layout["xaxis"], layout["yaxis"]
    listed = "ticktext" in down or down.get("type") == "category"
    height = width * (0.9 if heat else _RATIO if width < 5 else 0.45)
    if listed and not heat:
        height = max(0.8, 0.35 + layout["height"] * _PER_PIXEL)
    canvas = Canvas(figsize=(width, height), dpi=_DPI, layout="constrained")
    axes = canvas.add_subplot()
    _prepare(axes, across, down)
    bars = [one for one in data if one["type"] == "bar"]
    lines = [one for one in data if one["type"] == "scatter" and "text" not in str(one.get("mode"))]
    for trace in data:
        if trace["type"] == "heatmap":
            _heatmap(canvas, axes, trace)
        elif trace["type"] == "bar":
            _bars(axes, trace, bars.index(trace))
        elif "text" in trace["mode"]:
            _written(axes, trace, len(data[0]["x"]) if heat else 0, width)
        else:
            _points(axes, trace, lines.index(trace), heat=heat)
    for shape in layout.get("shapes", ()):
        if shape["xref"] == "x":
            axes.axvline(shape["x0"], color=_GREY, linewidth=0.8, linestyle=":", zorder=0.9)
        else:
            axes.axhline(shape["y0"], color=_GREY, linewidth=0.8, linestyle=":", zorder=0.9)
    _finish(axes, across, down, width)
    if layout.get("showlegend"):
        names = axes.get_legend_handles_labels()[1]
        inches = sum(_MARK + len(name) * _LETTER for name in names)
        canvas.legend(loc="outside upper left", ncols=len(names) if inches <= width else 2 if width < 5 else 4,
                      handlelength=2.2, columnspacing=1.2)
    return canvas


def _prepare(axes: Axes, across: Mapping[str, Any], down: Mapping[str, Any]) -> None:
    """What must be known before anything is drawn."""
    if across.get("type") == "log":
        axes.set_xscale("log")
    for spec, axis in ((across, axes.xaxis), (down, axes.yaxis)):
        axis.grid(bool(spec.get("showgrid", True)) and spec.get("type") != "category")


def _finish(axes: Axes, across: Mapping[str, Any], down: Mapping[str, Any], width: float) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator

    if across.get("visible") is False:
        axes.set_axis_off()
        axes.margins(0.1)
    for name, spec, axis in (("x", across, axes.xaxis), ("y", down, axes.yaxis)):
        axis.set_label_text(_plain(spec.get("title", {}).get("text", "")))
        limits = axes.set_xlim if name == "x" else axes.set_ylim
        if "tickvals" in spec:
            inside = [at for at in spec["tickvals"] if spec.get("type") != "log" or _within(axes, at)]
            axis.set_ticks(inside)
            axis.set_ticklabels([_folded(text) for text in spec["ticktext"]] if "ticktext" in spec
                                else [f"{at:g}" for at in inside])
            if spec.get("type") == "log":
                axis.set_minor_locator(NullLocator())
                axis.set_minor_formatter(NullFormatter())
        elif spec.get("type") != "category" and spec.get("type") != "log":
            axis.set_major_locator(MaxNLocator(nbins=6, integer=_counts(spec)))
        if spec.get("tickformat", "").endswith("%"):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{round(100 * value, 3):g} %".replace("-", "−")))
        if "range" in spec:
            limits(*spec["range"])
        elif spec.get("rangemode") == "tozero":
            limits(0)
        if spec.get("ticks") == "":
            axis.set_tick_params(length=0)
    if down.get("autorange") == "reversed":
        axes.invert_yaxis()
    names = [_plain(one) for one in across.get("ticktext", ())] or [
        one.get_text() for one in axes.get_xticklabels() if across.get("type") == "category"]
    if max((len(name) for name in names), default=0) * len(names) > _LETTERS * width:
        axes.tick_params(axis="x", labelrotation=90)


def _within(axes: Axes, at: float) -> bool:
    low, high = axes.get_xlim()
    return low <= at <= high


def _counts(spec: Mapping[str, Any]) -> bool:
    """Whether the axis is one of whole numbers."""
    return spec.get("rangemode") == "tozero" and spec.get("nticks") is not None


def _heatmap(canvas: Canvas, axes: Axes, trace: Mapping[str, Any]) -> None:
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap

    values = np.array([[np.nan if cell is None else cell for cell in row] for row in trace["z"]], dtype=float)
    scale = [(0, "#e6e6e6"), (1, "#e6e6e6")] if trace.get("showscale") is False else trace["colorscale"]
    colours = "cividis" if scale == "Cividis" else LinearSegmentedColormap.from_list("", scale)
    mesh = axes.pcolormesh(
        trace["x"], trace["y"], np.ma.masked_invalid(values), cmap=colours,
        vmin=trace["zmin"], vmax=trace["zmax"], edgecolors="white", linewidth=0.8, shading="nearest")
    axes.set_aspect("equal")
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    if trace.get("showscale", True):
        bar = canvas.colorbar(mesh, ax=axes, fraction=0.05, pad=0.02, label=_plain(trace["colorbar"]["title"]["text"]))
        bar.outline.set_visible(False)
        if bar.solids is not None:      # or lines show between the colours
            bar.solids.set_edgecolor("face")


def _bars(axes: Axes, trace: Mapping[str, Any], number: int) -> None:
    lying = trace.get("orientation") == "h"
    names, lengths = (trace["y"], trace["x"]) if lying else (trace["x"], trace["y"])
    names = [_folded(one) if isinstance(one, str) else one for one in names]
    start = {"left" if lying else "bottom": trace["base"]} if "base" in trace else {}
    drawn = (axes.barh if lying else axes.bar)(
        names, lengths, trace.get("width", 0.8), **start, color=trace["marker"]["color"], alpha=trace.get("opacity"),
        label=_plain(trace.get("name", "")), hatch=_HATCHES[number % len(_HATCHES)], edgecolor="white", linewidth=0.3)
    if "text" in trace:
        axes.bar_label(drawn, [_plain(one) for one in trace["text"]], padding=2, fontsize=_POINTS - 1.5)
        if lying:
            axes.margins(x=0.28)
        else:
            axes.margins(y=0.22)


def _points(axes: Axes, trace: Mapping[str, Any], number: int, *, heat: bool) -> None:
    if heat:
        axes.scatter(trace["x"], trace["y"], s=trace["marker"]["size"], c=trace["marker"]["color"], zorder=3)
        return
    marker = trace.get("marker", {})
    bars: Mapping[str, Any] = {f"{name[-1]}err": [trace[name]["arrayminus"], trace[name]["array"]]
                               for name in ("error_x", "error_y") if name in trace}
    colour = marker.get("color") or trace.get("line", {}).get("color")
    xs, ys = ([float("nan") if at is None else at for at in trace[name]] for name in ("x", "y"))
    axes.errorbar(
        xs, ys, **bars, label=_plain(trace.get("name", "")), color=colour, ecolor=colour,
        marker=_MARKERS[marker.get("symbol", "circle")] if "markers" in trace["mode"] else "",
        markersize=4.2, elinewidth=0.9, capsize=1.8,
        capthick=0.9, markeredgecolor="white", markeredgewidth=0.3,
        linewidth=1.1, linestyle=_DASHES[number % len(_DASHES)] if "lines" in trace["mode"] else "none")


def _written(axes: Axes, trace: Mapping[str, Any], cells: int, width: float) -> None:
    """Texts: in the cells of a heatmap with ``cells`` columns, smaller than a cell; else in their own sizes."""
    font = trace["textfont"]
    sizes, colours = font["size"], font.get("color", "black")
    for place, text in enumerate(trace["text"]):
        size = sizes[place] if isinstance(sizes, Sequence) else sizes
        points = min(_POINTS - 1, 72 * 0.62 * width / cells / 2.6) if cells else size * 0.62 * width / 6.75
        axes.text(trace["x"][place], trace["y"][place], _plain(text), ha="center", va="center", fontsize=points,
                  color=colours if isinstance(colours, str) else colours[place], linespacing=1.05)


def _plain(text: str) -> str:
    """What plotly shows of a text."""
    return html.unescape(text.replace("<br>", "\n"))


def _folded(text: str) -> str:
    return "\n".join(line for part in _plain(text).split("\n") for line in textwrap.wrap(part, _FOLDED) or [""])
