"""Columns of a report's tables."""

from __future__ import annotations

from functools import partial
from typing import Literal

from cir_core.reports.records import ReportColumn

text = partial(ReportColumn, kind="text")
count = partial(ReportColumn, kind="count")
share = partial(ReportColumn, kind="share")
number = partial(ReportColumn, kind="number")


def p_value(key: str = "p", name: str = "p") -> ReportColumn:
    return ReportColumn(key, name, "p")


def ranged(key: str, name: str, kind: Literal["number", "share"] = "number") -> tuple[ReportColumn, ...]:
    """A value, and the bounds of its interval, which readers see in one column."""
    return (ReportColumn(key, name, kind), ReportColumn(f"{key}_low", f"{name} low", kind),
            ReportColumn(f"{key}_high", f"{name} high", kind))
