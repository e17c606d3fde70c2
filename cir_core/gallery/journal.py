"""Journal of an index run on disk: no image is encoded twice.

    work/run.json       the encoder and source of the run
    work/vectors.f32    [n, dim] float32, appended batch by batch
    work/journal.jsonl  one line for each batch, written after its vectors are on disk: of each image what it is, and
                        the checksum of its vector

A line is one whole batch, so a kill at any moment loses at most the batch in flight, and the next run forms the same
batches as an uninterrupted one: their composition can change the last bits of a vector.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cir_core.support.checksums import sum_of
from cir_core.support.files import flush_to_disk, sync_folder, write_durably
from cir_core.support.json_lines import whole_lines
from cir_core.types.records import EncoderIdentity, Matrix


@dataclass(frozen=True, slots=True)
class Record:
    """One encoded file. ``path`` is relative to the source, ``size`` in bytes."""

    path: str
    size: int
    mtime_ns: int
    sha256: str
    width: int
    height: int

    def looks_like(self, root: Path) -> bool:
        """Whether the file still has this size and time; if so, it is not read again."""
        try:
            state = (root / self.path).stat()
        except OSError:
            return False
        return (state.st_size, state.st_mtime_ns) == (self.size, self.mtime_ns)


@dataclass(frozen=True)
class IndexRun:
    encoder: EncoderIdentity
    source: str


class Journal:
    """An open journal: ``records[i]`` describes row i of the vectors, unless it is one of ``damaged``. One writer
    only."""

    def __init__(self, folder: Path, run: IndexRun) -> None:
        """Continue the run in ``folder``, or start one if its encoder or source differ."""
        self._work = _work(folder)
        before = read_run(folder)
        self.started_over = before is not None and (
            before.source != run.source
            or (before.encoder.revision, before.encoder.dim) != (run.encoder.revision, run.encoder.dim)
        )
        if before is None or self.started_over:
            shutil.rmtree(self._work, ignore_errors=True)
            self._work.mkdir(parents=True)
            write_durably(self._work / "run.json", json.dumps(asdict(run)).encode())
        self._row_bytes = 4 * run.encoder.dim
        self._vectors = (self._work / "vectors.f32").open("ab")
        self._lines = journal_path(folder).open("ab")
        self.records, sums = self._recover()
        self.damaged = self._damaged(sums)
        sync_folder(self._work)

    def append(self, records: Sequence[Record], vectors: Matrix) -> None:
        """Commit one batch: once this returns, it survives a crash."""
        rows = [vector.tobytes() for vector in np.ascontiguousarray(vectors, dtype="<f4")]
        self._vectors.write(b"".join(rows))
        flush_to_disk(self._vectors)
        line = [(*astuple(record), _checksum(record, row)) for record, row in zip(records, rows, strict=True)]
        self._lines.write(json.dumps(line).encode() + b"\n")
        flush_to_disk(self._lines)
        self.records.extend(records)

    def vectors(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """``[n, dim]`` read-only view of all committed vectors."""
        shape = (len(self.records), self._row_bytes // 4)
        if not self.records:  # an empty file cannot be mapped
            return np.empty(shape, dtype=np.float32)
        return np.memmap(self._work / "vectors.f32", dtype="<f4", mode="r", shape=shape)

    def close(self) -> None:
        self._vectors.close()
        self._lines.close()

    def discard(self) -> None:
        """Delete the journal: the run is published, or there was nothing to do."""
        self.close()
        (self._work / "run.json").unlink(missing_ok=True)  # first: the rest is ignored without it
        shutil.rmtree(self._work, ignore_errors=True)

    def _damaged(self, sums: Sequence[str]) -> frozenset[int]:
        """Rows whose vectors or records do not match their checksum, or whose vectors no encoder gives."""
        found = zip(self.records, self.vectors(), sums, strict=True)
        return frozenset(row for row, (record, vector, checksum) in enumerate(found)
                         if (checksum and _checksum(record, vector.tobytes()) != checksum)
                         or not np.isfinite(vector).all())

    def _recover(self) -> tuple[list[Record], list[str]]:
        stored = (self._work / "vectors.f32").stat().st_size // self._row_bytes
        records: list[Record] = []
        sums: list[str] = []
        end = 0
        for batch, of_batch, end_of_line in _batches(self._work / "journal.jsonl"):
            if len(records) + len(batch) > stored:
                break
            records.extend(batch)
            sums.extend(of_batch)
            end = end_of_line
        self._lines.truncate(end)
        self._vectors.truncate(len(records) * self._row_bytes)
        return records, sums


def _checksum(record: Record, vector: bytes) -> str:
    return sum_of(json.dumps(astuple(record)).encode() + vector)


def journal_path(folder: Path) -> Path:
    return _work(folder) / "journal.jsonl"


def read_run(folder: Path) -> IndexRun | None:
    """The unfinished run in a gallery's folder, if any."""
    try:
        content = json.loads((_work(folder) / "run.json").read_text(encoding="utf-8"))
        return IndexRun(EncoderIdentity(**content["encoder"]), content["source"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def read_records(folder: Path) -> list[Record]:
    """The committed records of the unfinished run."""
    return [record for batch, _, _ in _batches(journal_path(folder)) for record in batch]


def _batches(path: Path) -> list[tuple[list[Record], list[str], int]]:
    """Whole lines of a journal up to the first that is damaged, whose rows are not known: records, checksums ("" where
    an earlier version wrote none), and the offset behind the line."""
    batches, expected = [], 0
    with suppress(TypeError):   # a line of another form
        for start, end, line in whole_lines(path, list):
            if start != expected:
                break
            expected = end
            batches.append(([Record(*fields[:6]) for fields in line], [str(*fields[6:7]) for fields in line], end))
    return batches


def _work(folder: Path) -> Path:
    return folder / "work"
