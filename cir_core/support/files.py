"""Atomic and durable file writes. For files that grow: :mod:`cir_core.support.json_lines`. Assets."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO

from cir_core.types.records import new_id


def write_atomically(path: Path, content: bytes | Iterable[bytes], *, private: bool = False,
                     synced: bool = True) -> None:
    """Replace ``path`` in one step; after a crash it holds the old content or the new.

    Large content may come in chunks. ``private`` files are readable by their owner only. The
    folder is created if needed. ``synced`` False: for many files that can be made again.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{new_id(8)}.part")
    try:
        descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0),
                             0o600 if private else 0o666)
        with os.fdopen(descriptor, "wb") as file:
            file.writelines((content,) if isinstance(content, bytes) else content)
            if synced:
                flush_to_disk(file)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def shipped_folder(name: str) -> Path:
    """The folder ``name`` of ``assets``, which ships with cirque. It may be missing in a damaged install."""
    package = Path(__file__).resolve().parents[1]
    inside, beside = package / "assets" / name, package.parent / "assets" / name
    return inside if inside.is_dir() else beside


def write_durably(path: Path, content: bytes, *, private: bool = False) -> None:
    """:func:`write_atomically`, synced to disk under its new name on return."""
    write_atomically(path, content, private=private)
    sync_folder(path.parent)


def reserve(path: Path, size: int) -> None:
    """Make ``path`` a file of ``size`` bytes that the disk has room for: writing to a mapped file on a full disk would
    kill the process. What it held stays. Raises ``OSError``."""
    with path.open("ab") as file:
        if hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(file.fileno(), 0, size)
            except OSError as error:
                if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):   # not every file system can
                    raise
        file.truncate(size)


def open_regular(path: Path) -> BinaryIO:
    """Open for reading a file that somebody else may have put there. Raises ``OSError``, also for what is no regular
    file: opening a named pipe would wait for its writer, for ever."""
    _check_regular(path, path.stat())
    file = os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb")
    try:
        _check_regular(path, os.fstat(file.fileno()))    # it may be another one now
    except OSError:
        file.close()
        raise
    return file


def _check_regular(path: Path, found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file", str(path))


def bounded_lines(file: BinaryIO, most: int | None) -> Iterator[tuple[int, bytes | None]]:
    """Offset and content of each line from where ``file`` stands; None for a line of more than ``most`` bytes, which is
    passed over without being held."""
    offset = file.tell()
    while line := file.readline(-1 if most is None else most + 1):
        start, offset = offset, offset + len(line)
        if most is None or len(line) <= most:
            yield start, line
            continue
        while not line.endswith(b"\n") and (line := file.readline(2**16)):
            offset += len(line)
        yield start, None


def why_not_written(error: OSError) -> str:
    """A short reason for users who cannot fix it themselves."""
    return "the disk is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "the disk cannot be written"


def flush_to_disk(file: IO[Any]) -> None:
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make names in ``folder`` durable, where the system supports it."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
