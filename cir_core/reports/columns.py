"""Columns of a report's tables."""

from __future__ import annotations

from functools import partial
from typing import Protocol

from cir_core.reports.records import ColumnKind, ReportColumn

text = partial(ReportColumn, kind="text")
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
