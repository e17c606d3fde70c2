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


STUDY = Column("study", "text", "name of the study")
DATASET = Column("dataset", "text", "data set")
QUERY_ID = Column("query_id", "text", "the query's id in the data set")
TEXT = Column("text", "text", "modification text")
REFERENCE_ID = Column("reference_id", "text", "image id of the reference")
"""What studies of both kinds say of an item."""


@dataclass(frozen=True)
class Table:
    """``rows`` have a cell for each of ``columns``; raises ``ValueError`` otherwise."""

    study: Study
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(f"row {number} has {len(row)} cells for {len(self.columns)} columns")


def filled_text(value: object) -> str | None:
    """``value`` as a text; None where it is empty."""
    return None if value in (None, "") else str(value)


def in_utc(time: datetime) -> datetime:
    """Times without a zone are UTC."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
