"""A report as it is read: parts with headlines, figures and tables, the same on the screen and in files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Estimate:
    """A statistic with its 95 % interval. ``n``: units it rests on (items, questions, sets; the field that holds it
    says which)."""

    value: float | None
    n: int
    low: float | None = None       # None as well where no interval was asked for
    high: float | None = None
    reason: str = ""               # why there is no value, or no interval; or what was left out to get one


@dataclass(frozen=True)
class ReportColumn:
    """``kind`` decides how a cell is written: "text", "count", "number" (three decimals in prose), "share" (percent),
    "p"."""

    key: str
    name: str
    kind: Literal["text", "count", "number", "share", "p"]


@dataclass(frozen=True)
class ReportTable:
    """A cell is a text, a number or None. Files hold cells unrounded."""

    key: str                       # a file name without ending: "pairwise-kappa"
    title: str
    columns: tuple[ReportColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""                 # under the table
    empty: str = ""                # what to say where there are no rows


@dataclass(frozen=True)
class Figure:
    """``spec``: ``{"data", "layout"}`` of plotly, plain JSON, without a theme: whoever draws it brings colours of
    text and paper. ``cells``: what a click on a cell opens, by "row,column" of a heatmap."""

    key: str
    title: str
    alt: str                       # what it shows, for who cannot see it
    spec: Mapping[str, Any] = field(repr=False)
    cells: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    note: str = ""                 # under the figure


@dataclass(frozen=True)
class Headline:
    """One number that a reader looks for first. ``value`` is None where there is none; ``note`` then says why."""

    label: str
    estimate: Estimate
    kind: Literal["number", "share", "count"]
    unit: str = ""                 # what ``estimate.n`` counts: "items"
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A part of a report, the same on the screen and in files."""

    key: str
    title: str
    intro: str                     # how the numbers are made and read, in two or three sentences
    headlines: tuple[Headline, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[ReportTable, ...] = ()
