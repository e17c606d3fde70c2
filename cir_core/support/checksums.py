"""Checksums of what is stored, so that damage is named and never becomes a number.

CRC-32 of zlib: it finds every burst of up to 32 bits and misses other damage once in four billion times. It is no
protection against people who may write the files. On one core it reads 2.2 GB a second, SHA-256 1.3, BLAKE2b 0.5.
"""

from __future__ import annotations

import errno
import json
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cir_core.support.process import cores

Sums = npt.NDArray[np.uint32]
Rows = npt.NDArray[np.int64]
Content = bytes | memoryview
NO_ROWS: Rows = np.empty(0, dtype=np.int64)

_BLOCK_BYTES = 2**16    # zlib lets other threads run, and a call costs nothing beside the reading
_READ_BYTES = 2**22
_KEY = b',"crc":"'
_TAIL = len(_KEY) + 8 + len(b'"}')


@dataclass(frozen=True, eq=False)
class RowSums:
    """Of an array of rows of ``row_bytes``: ``blocks`` of each ``block`` rows, which are quick to verify, and ``rows``
    of each row, which tell what a damaged block has lost."""

    row_bytes: int
    block: int
    blocks: Sums
    rows: Sums

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of(cls, array: npt.NDArray[Any]) -> RowSums:
        """Of ``array`` ``[n, ...]``, in memory or mapped."""
        sums = SumsOfRows(array[0].nbytes if len(array) else 1)
        for start in range(0, len(array), 1024):
            sums.add(array[start:start + 1024])
        return sums.found()

    def damaged(self, path: Path) -> Rows:
        """The rows of the file at ``path`` that are not what they were, in ascending order: changed, cut off, or on a
        part of the disk that cannot be read. Raises ``OSError`` for a file that cannot be opened, or read for another
        reason."""
        path.stat()
        step = max(1, _READ_BYTES // (self.block * self.row_bytes))

        def damaged_from(first: int) -> Rows:
            with path.open("rb", buffering=0) as file:
                return self._damaged_in(file, first, min(first + step, len(self.blocks)))

        with ThreadPoolExecutor(min(8, cores())) as pool:
            found = list(pool.map(damaged_from, range(0, len(self.blocks), step)))
        return np.concatenate(found) if found else NO_ROWS

    def differ(self, rows: Rows, content: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """``[n]``: which of ``rows``, whose content is ``content`` ``[n, ...]``, are not what they were."""
        read = (zlib.crc32(row.tobytes()) for row in content)
        differs: npt.NDArray[np.bool_] = np.fromiter(read, dtype=np.uint32, count=len(rows)) != self.rows[rows]
        return differs

    def as_json(self) -> dict[str, Any]:
        return {"row_bytes": self.row_bytes, "block": self.block, "blocks": _hex(self.blocks), "rows": _hex(self.rows)}

    @classmethod
    def from_json(cls, content: Any) -> RowSums:
        """Raises ``ValueError``, ``KeyError`` or ``TypeError`` for what :meth:`as_json` did not write."""
        sums = cls(int(content["row_bytes"]), int(content["block"]), _unhex(content["blocks"]), _unhex(content["rows"]))
        if sums.row_bytes < 1 or sums.block < 1 or len(sums.blocks) != -(-len(sums.rows) // sums.block):
            raise ValueError("the checksums do not belong together")
        return sums

    def _damaged_in(self, file: FileIO, first: int, end: int) -> Rows:
        """Of blocks ``first`` to ``end``. Reads rather than maps: a page that the disk cannot read ends the process."""
        start, stop = first * self.block, min(end * self.block, len(self.rows))
        read = _read_at(file, start * self.row_bytes, (stop - start) * self.row_bytes)
        if read is None:
            if end - first == 1:
                return np.arange(start, stop, dtype=np.int64)
            return np.concatenate([self._damaged_in(file, one, one + 1) for one in range(first, end)])
        content, damaged = memoryview(read), list[int]()
        for block in range(first, end):
            at = (block - first) * self.block
            rows = range(at, min(at + self.block, stop - start))
            if zlib.crc32(content[at * self.row_bytes:rows.stop * self.row_bytes]) != self.blocks[block]:
                damaged += [start + row for row in rows
                            if zlib.crc32(self._row(content, row)) != self.rows[start + row]
                            or (row + 1) * self.row_bytes > len(content)]
        return np.array(damaged, dtype=np.int64)

    def _row(self, content: memoryview, row: int) -> memoryview:
        return content[row * self.row_bytes:(row + 1) * self.row_bytes]


class SumsOfRows:
    """Adds up :class:`RowSums` of rows of ``row_bytes`` as they are written."""

    def __init__(self, row_bytes: int) -> None:
        self._row_bytes, self._block = row_bytes, _block_of(row_bytes)
        self._rows: list[int] = []
        self._blocks: list[int] = []

    def add(self, array: npt.NDArray[Any]) -> None:
        """The next rows, ``[n, ...]``."""
        content = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else memoryview(b"")
        for start in range(0, len(content), self._row_bytes):
            row = content[start:start + self._row_bytes]
            if len(self._rows) % self._block == 0:
                self._blocks.append(0)
            self._rows.append(zlib.crc32(row))
            self._blocks[-1] = zlib.crc32(row, self._blocks[-1])

    def found(self) -> RowSums:
        return RowSums(self._row_bytes, self._block, np.array(self._blocks, dtype=np.uint32),
                       np.array(self._rows, dtype=np.uint32))


def sum_of(content: Content) -> str:
    """Eight hex digits."""
    return f"{zlib.crc32(content):08x}"


def sum_of_file(path: Path) -> str:
    """:func:`sum_of` what is in ``path``. Raises ``OSError``."""
    found = 0
    with path.open("rb") as file:
        while content := file.read(_READ_BYTES):
            found = zlib.crc32(content, found)
    return f"{found:08x}"


def signed(content: Mapping[str, Any]) -> bytes:
    """``content``, which is not empty and has no key ``crc``, as one line of JSON that ends with its own checksum."""
    body = json.dumps(content, separators=(",", ":")).encode()[:-1]
    return b'%s%s%s"}' % (body, _KEY, sum_of(body).encode())


def is_signed(line: bytes) -> bool:
    """Whether ``line`` ends with its checksum, right or wrong."""
    tail = line.rstrip()[-_TAIL:]
    return tail.startswith(_KEY) and tail.endswith(b'"}')


def unsigned(line: bytes, *, must: bool = True) -> Any:
    """The content of a line of :func:`signed`, or of any other JSON unless it ``must`` be signed. Raises ``ValueError``
    for a line that was changed."""
    line = line.rstrip()
    ours = is_signed(line)
    if must and not ours:
        raise ValueError("its checksum is missing")
    if ours and line[-_TAIL + len(_KEY):-2] != sum_of(line[:-_TAIL]).encode():
        raise ValueError("it does not match its checksum")
    content = json.loads(line)
    if isinstance(content, dict):
        content.pop("crc", None)    # also of a line that another program wrote in its own way
    return content


def parts_of(path: Path, row_bytes: int, rows: int) -> Iterator[tuple[int, bytes]]:
    """The first of some whole rows, and their content, for as many of the ``rows`` of the file at ``path`` as are
    there and can be read; without the blocks that :meth:`RowSums.damaged` takes for unreadable. Raises ``OSError`` as
    that does."""
    block = _block_of(row_bytes)
    step = max(1, _READ_BYTES // (block * row_bytes)) * block
    with path.open("rb", buffering=0) as file:
        for start in range(0, rows, step):
            end = min(start + step, rows)
            whole = _read_at(file, start * row_bytes, (end - start) * row_bytes)
            parts = [(start, whole)] if whole is not None else (
                (first, _read_at(file, first * row_bytes, min(block, end - first) * row_bytes))
                for first in range(start, end, block))
            for first, content in parts:
                if content is not None:
                    yield first, content[:len(content) // row_bytes * row_bytes]


def means_damage(error: OSError) -> bool:
    """Whether what was stored is gone: there is no such file, or the disk cannot read it. Other errors (too many open
    files, no permission) tell nothing of it."""
    return error.errno in (None, errno.EIO, errno.ENOENT, errno.ENOTDIR, errno.EISDIR)


def _read_at(file: FileIO, offset: int, size: int) -> bytes | None:
    """``size`` bytes of an unbuffered file, fewer only at its end; None if the disk cannot read them. Raises
    ``OSError`` for anything else."""
    parts = []
    try:
        file.seek(offset)
        while size > 0 and (part := file.read(size)):
            parts.append(part)
            size -= len(part)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return None
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _block_of(row_bytes: int) -> int:
    return max(1, _BLOCK_BYTES // row_bytes)


def _hex(sums: Sums) -> str:
    return sums.astype(">u4").tobytes().hex()


def _unhex(text: str) -> Sums:
    return np.frombuffer(bytes.fromhex(text), dtype=">u4").astype(np.uint32)
