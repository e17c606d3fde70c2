"""Columns of a report's tables."""

from __future__ import annotations

from typing import Literal

from cir_core.reports.records import ReportColumn


def text(key: str, name: str) -> ReportColumn:
    return ReportColumn(key, name, "text")


def count(key: str, name: str) -> ReportColumn:
    return ReportColumn(key, name, "count")


def share(key: str, name: str) -> ReportColumn:
    return ReportColumn(key, name, "share")


def number(key: str, name: str) -> ReportColumn:
    return ReportColumn(key, name, "number")


def p_value(key: str = "p", name: str = "p") -> ReportColumn:
    return ReportColumn(key, name, "p")


def ranged(key: str, name: str, kind: Literal["number", "share"] = "number") -> tuple[ReportColumn, ...]:
    """A value, and the bounds of its interval, which readers see in one column."""
    return (ReportColumn(key, name, kind), ReportColumn(f"{key}_low", f"{name} low", kind),
            ReportColumn(f"{key}_high", f"{name} high", kind))
