"""Tables as CSV, for spreadsheets, and as Parquet, for programs.

CSV is UTF-8 with a byte-order mark, without which spreadsheets take it for another encoding (Python reads it with
``encoding="utf-8-sig"``). Lists are JSON arrays, times ISO 8601 in UTC, an empty cell is a missing value. A text that
a spreadsheet would run as a formula gets an apostrophe in front; Parquet has it as it was typed.
"""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import IO, Any

from annotation.tables.columns import Table, Type
from cir_core.support.spreadsheets import csv_file

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
