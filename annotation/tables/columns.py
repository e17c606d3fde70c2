"""Tables of exports: typed, documented columns and their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from annotation.records import Item, Judgement, Study, dataset_of

Type = Literal["text", "flag", "integer", "number", "time", "texts"]
"""A cell of any type may be None. "time" is UTC, "texts" a list."""


@dataclass(frozen=True)
class Column:
    """``value`` gives its cell of what a row is made of."""

    name: str
    type: Type
    meaning: str
    value: Callable[[Any], Any] = field(repr=False)


@dataclass(frozen=True)
class Table:
    study: Study
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, study: Study, columns: Iterable[Column], rows: Iterable[object]) -> Table:
        """One row for each of ``rows``, from which the columns take their cells, after the study's name."""
        whole = (Column("study", "text", "name of the study", lambda row: study.name), *columns)
        return cls(study, whole, tuple(tuple(column.value(row) for column in whole) for row in rows))


@dataclass(frozen=True)
class JudgementRow:
    item: Item
    judgement: Judgement

    @property
    def answer(self) -> Mapping[str, Any]:
        return self.judgement.answer


def judgement_rows(items: Iterable[Item], judgements: Iterable[Judgement]) -> list[JudgementRow]:
    """In the order of ``judgements``."""
    by_id = {item.item_id: item for item in items}
    return [JudgementRow(by_id[one.item_id], one) for one in judgements]


def filled_text(value: object) -> str | None:
    """``value`` as a text; None where it is empty."""
    return None if value in (None, "") else str(value)


def in_utc(time: datetime) -> datetime:
    """Times without a zone are UTC."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


DATASET = Column("dataset", "text", "data set", lambda row: dataset_of(row.item))
QUERY_ID = Column("query_id", "text", "the query's id in the data set",
                  lambda row: filled_text(row.item.hidden.get("query_id")))
TEXT = Column("text", "text", "modification text", lambda row: row.item.shown.get("text") or None)
REFERENCE_ID = Column("reference_id", "text", "image id of the reference",
                      lambda row: filled_text(row.item.hidden.get("reference_id")))
ANSWERED_AT = Column("answered_at", "time", "when this answer was saved", lambda row: in_utc(row.judgement.created_at))


def answered_by(verb: str, one: str, protocol: str) -> tuple[Column, Column, Column]:
    """Who answered, how often, and to which protocol: words for what people do with an item, for the item, and for the
    protocol."""
    return (
        Column("annotator", "text", f"who {verb}", lambda row: row.judgement.annotator),
        Column("revision", "integer", f"how many answers this person gave to the {one}; the last one is here",
               lambda row: row.judgement.revision),
        Column("protocol", "text", f"{protocol} and version", lambda row: row.judgement.protocol),
    )
