"""Cells of tables by row, in bounded memory: Parquet by row group and batch, Arrow files mapped into memory."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, BinaryIO, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

_BATCH = 16             # rows with images: each may have megabytes
_KEPT = 3               # batches: threads that read ahead do not ask in order
_MANY = 8192            # rows without images


class Rows(Protocol):
    """Thread-safe. Raises ``pa.ArrowException`` and ``OSError`` for a damaged file."""

    @property
    def schema(self) -> pa.Schema: ...
    @property
    def count(self) -> int: ...
    @property
    def problem(self) -> str:
        """Why it has fewer rows than it should; "" if it has not."""

    def texts(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """All rows of small columns, in order."""

    def cell(self, column: str, row: int) -> Any: ...
    def close(self) -> None: ...


class ParquetRows:
    problem = ""

    def __init__(self, file: str | BinaryIO) -> None:
        # Without it, the columns of whole row groups would be read ahead into memory.
        self._file = pq.ParquetFile(file, pre_buffer=False, buffer_size=2**20)
        metadata = self._file.metadata
        self.schema, self.count = self._file.schema_arrow, metadata.num_rows
        ends = list(accumulate(metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)))
        self._starts = [0, *ends]
        self._lock = threading.Lock()
        self._reading: tuple[str, int, Iterator[pa.RecordBatch], int] | None = None    # column, group, rest, next row
        self._kept: deque[tuple[str, int, pa.RecordBatch]] = deque(maxlen=_KEPT)

    def texts(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with self._lock:
            yield from self._file.iter_batches(_MANY, columns=list(columns))

    def cell(self, column: str, row: int) -> Any:
        with self._lock:
            for of, start, batch in self._kept:
                if of == column and start <= row < start + batch.num_rows:
                    return batch.column(0)[row - start].as_py()
            group = bisect_right(self._starts, row) - 1
            reading = self._reading
            if reading is None or reading[:2] != (column, group) or reading[3] > row:
                batches = self._file.iter_batches(_BATCH, row_groups=[group], columns=[column])
                reading = column, group, batches, self._starts[group]
            *_, rest, at = reading
            self._reading = None    # what stops half-way is begun anew
            for batch in rest:
                start, at = at, at + batch.num_rows
                if row < at:
                    self._reading = column, group, rest, at
                    self._kept.append((column, start, batch))
                    return batch.column(0)[row - start].as_py()
            raise pa.ArrowInvalid("the row group ends before its last row")

    def close(self) -> None:
        self._file.close(force=True)


class ArrowRows:
    """A file of the streaming form, as ``save_to_disk`` of Hugging Face writes it, or of the form with a footer."""

    def __init__(self, path: str) -> None:
        self._mapped, self.problem = pa.memory_map(path), ""
        batches: list[pa.RecordBatch] = []
        if self._mapped.read(6) == b"ARROW1":
            footed = pa.ipc.open_file(self._mapped)
            self.schema = footed.schema
            batches = [_valid(footed.get_batch(number)) for number in range(footed.num_record_batches)]
        else:
            self._mapped.seek(0)
            stream = pa.ipc.open_stream(self._mapped)
            self.schema = stream.schema
            try:
                for batch in stream:
                    batches.append(_valid(batch))    # those before an error count
            except (pa.ArrowException, OSError) as error:
                self.problem = f"is damaged or cut off ({_first_line(error)}); what comes before is used."
        self._batches = batches
        self._starts = [0, *accumulate(batch.num_rows for batch in batches)]
        self.count = self._starts[-1]

    def texts(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return (batch.select(list(columns)) for batch in self._batches)

    def cell(self, column: str, row: int) -> Any:
        place = bisect_right(self._starts, row) - 1
        return self._batches[place].column(column)[row - self._starts[place]].as_py()

    def close(self) -> None:
        self._batches = []
        self._mapped.close()


def _valid(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Else a damaged offset would lead out of the file, and end the process."""
    batch.validate(full=True)
    return batch


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
