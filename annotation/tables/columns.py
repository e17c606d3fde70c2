"""Tables of exports: typed, documented columns and their rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from annotation.records import Study

Type = Literal["text", "flag", "integer", "number", "time", "texts"]
"""A cell of any type may be None. "time" is UTC, "texts" a list."""


@dataclass(frozen=True)
class Column:
    name: str
    type: Type
    meaning: str


@dataclass(frozen=True)
class Table:
    """``rows`` have a cell for each of ``columns``."""

    study: Study
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]


def in_utc(time: datetime) -> datetime:
    """Times without a zone are UTC."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
