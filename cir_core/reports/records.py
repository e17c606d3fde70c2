"""Records of report sections, with headlines, figures and tables, common to the screen and files. Columns of a
report's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol


@dataclass(frozen=True)
class Estimate:
    """A statistic with its 95 % interval. ``n``: units it rests on (items, questions, sets; the field that holds it
    says which). ``p``: of a correlation or test; of a share of answers two-sided against one half."""

    value: float | None
    n: int
    low: float | None = None       # None as well where no interval was asked for
    high: float | None = None
    reason: str = ""               # why there is no value, or no interval; or what was left out to get one
    p: float | None = None
    count: int | None = None       # of a share: how many of ``n``


ColumnKind = Literal["text", "code", "count", "number", "score", "share", "percent", "points", "difference", "p"]


@dataclass(frozen=True)
class ReportColumn:
    """``kind`` is the format of a cell: "text", "code" (an identifier, in CSV and JSON alone), "count", "number" (three
    decimals in prose), "score" (two), "share" (81.1 %), "percent" (a share as 81.12), "points" (a difference of shares
    as +1.12), "difference" (of numbers: +0.112), "p". Differences whose interval excludes zero have a star."""

    key: str
    name: str
    kind: ColumnKind


@dataclass(frozen=True)
class ReportTable:
    """A table of texts, numbers and None. Files have unrounded numbers."""

    key: str                       # file name without suffix: "pairwise-kappa"
    title: str
    columns: tuple[ReportColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""                 # below the table
    empty: str = ""                # text if there are no rows


@dataclass(frozen=True)
class Figure:
    """``spec``: ``{"data", "layout"}`` of plotly, plain JSON, without a theme, which the renderer adds. ``cells``: link
    targets by "row,column" of a heatmap."""

    key: str
    title: str
    alt: str                       # text alternative
    spec: Mapping[str, Any] = field(repr=False)
    cells: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    note: str = ""                 # below the figure


@dataclass(frozen=True)
class Headline:
    """A key number. If its ``value`` is None, ``note`` has the reason."""

    label: str
    estimate: Estimate
    kind: Literal["number", "share", "count"]
    unit: str = ""                 # what ``estimate.n`` counts: "items"
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A section of a report."""

    key: str
    title: str
    intro: str                     # two or three sentences on the numbers and their reading
    headlines: tuple[Headline, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[ReportTable, ...] = ()


text = partial(ReportColumn, kind="text")
code = partial(ReportColumn, kind="code")
count = partial(ReportColumn, kind="count")
share = partial(ReportColumn, kind="share")
number = partial(ReportColumn, kind="number")
percent = partial(ReportColumn, kind="percent")


class Ranged(Protocol):
    """A value with the bounds of its interval; None where there are none."""

    @property
    def value(self) -> float | None: ...

    @property
    def low(self) -> float | None: ...

    @property
    def high(self) -> float | None: ...


def p_value(key: str = "p", name: str = "p") -> ReportColumn:
    return ReportColumn(key, name, "p")


def ranged(key: str, name: str, kind: ColumnKind = "number") -> tuple[ReportColumn, ...]:
    """A value, and the bounds of its interval, which readers see in one column."""
    return (ReportColumn(key, name, kind), ReportColumn(f"{key}_low", f"{name} low", kind),
            ReportColumn(f"{key}_high", f"{name} high", kind))


def cells(one: Ranged | None) -> tuple[float | None, float | None, float | None]:
    """The cells of :func:`ranged`."""
    return (None, None, None) if one is None else (one.value, one.low, one.high)
