"""Tables as CSV, for spreadsheets, and as Parquet, for programs. Tables of exports: typed, documented columns and
their rows.

CSV is UTF-8 with a byte-order mark, without which spreadsheets take it for another encoding (Python reads it with
``encoding="utf-8-sig"``). Lists are JSON arrays, times ISO 8601 in UTC, an empty cell is a missing value. A text that
a spreadsheet would run as a formula gets an apostrophe in front; Parquet has it as it was typed.
"""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Literal

from annotation.records import Item, Judgement, Study, dataset_of
from cir_core.support.tables import csv_file

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
        Column("revision", "integer", f"number of answers by this person to the {one}; this row is the last",
               lambda row: row.judgement.revision),
        Column("protocol", "text", f"{protocol} and version", lambda row: row.judgement.protocol),
    )


_EARLIEST = (1980, 1, 1, 0, 0, 0)   # the earliest a ZIP can say; the same files give the same bytes


def table_files(form: str, tables: Mapping[str, Callable[[], Table]], wanted: Collection[str]) -> dict[str, bytes]:
    """Those of ``tables`` that are ``wanted``, as "csv" or "parquet", by file name."""
    written = to_csv if form == "csv" else to_parquet
    return {f"{name}.{form}": written(made()) for name, made in tables.items() if name in wanted}


def json_files(name: str, content: Mapping[str, Any]) -> dict[str, bytes]:
    """One file ``NAME.json``, by its name."""
    return {f"{name}.json": (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()}


def to_csv(table: Table) -> bytes:
    return csv_file([column.name for column in table.columns], table.rows)


def to_parquet(table: Table) -> bytes:
    """What each column means is in the metadata of its field, under "meaning"."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types: dict[Type, Any] = {
        "text": pa.string(), "flag": pa.bool_(), "integer": pa.int64(), "number": pa.float64(),
        "time": pa.timestamp("us", tz="UTC"), "texts": pa.list_(pa.string()),
    }
    schema = pa.schema(
        [pa.field(column.name, types[column.type], metadata={"meaning": column.meaning}) for column in table.columns],
        metadata={"study": table.study.name, "study_id": table.study.study_id, "protocol": table.study.protocol})
    columns = [pa.array([row[place] for row in table.rows], field.type) for place, field in enumerate(schema)]
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), sink, compression="zstd")
    return sink.getvalue()


def as_zip(files: Mapping[str, bytes]) -> bytes:
    """The files in one archive; the same files give the same bytes."""
    content = io.BytesIO()
    write_zip(content, files)
    return content.getvalue()


def write_zip(target: IO[bytes], files: Mapping[str, bytes | Path]) -> None:
    """:func:`as_zip` of files that may be on the disk, which are not held in memory, to ``target``."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, _EARLIEST)
            if isinstance(data, bytes):
                archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
                continue
            entry.compress_type, entry.file_size = zipfile.ZIP_DEFLATED, data.stat().st_size
            with data.open("rb") as source, archive.open(entry, "w") as part:
                shutil.copyfileobj(source, part, 2**20)
