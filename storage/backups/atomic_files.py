"""Atomic creation of files that other programs write: whole or not at all, and never in place of another.

What cirque writes itself, and replaces, goes through :mod:`cir_core.support.files`.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from cir_core.errors import StorageError
from cir_core.gallery.paths import try_lock
from cir_core.support.files import sync_folder

_PREFIX, _LOCK, _HELD = "cirque-unfinished-", "lock", "held"


@contextmanager
def in_the_making(target: Path) -> Iterator[Path]:
    """A path on ``target``'s disk. What is written there becomes ``target`` when the block ends; if it raises, nothing
    stays. The path lies in a folder of its own, so what a program puts beside its file goes with it.

    What others left beside ``target`` who were killed is removed first. Raises OSError, and StorageError where
    ``target`` is taken by then.
    """
    clear_abandoned(target.parent)
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=target.parent))   # its owner's alone
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        lock = stack.enter_context((folder / _LOCK).open("w", encoding="ascii"))
        if try_lock(lock):   # without locks nobody can tell that it is abandoned, so nobody clears it
            lock.write(_HELD)
            lock.flush()
        yield folder / target.name
        _place(folder / target.name, target)


def check_free(target: Path) -> None:
    if os.path.lexists(target):
        raise StorageError(f"{target} already exists, and backups are never overwritten. Choose another file.")


def clear_abandoned(folder: Path) -> None:
    """Remove what was in the making when its process was killed: a lock ends with who held it."""
    for lock in sorted(folder.glob(f"{_PREFIX}*/{_LOCK}")):
        with suppress(OSError):   # somebody else's, or gone meanwhile
            if _is_abandoned(lock):
                shutil.rmtree(lock.parent, ignore_errors=True)


def _is_abandoned(lock: Path) -> bool:
    folder = lock.parent.lstat()
    if not stat.S_ISDIR(folder.st_mode) or (os.name == "posix" and folder.st_uid != os.geteuid()):
        return False
    with lock.open("r+", encoding="ascii") as file:
        if not try_lock(file):
            return False
        file.seek(0)
        return file.read() == _HELD   # else its owner is just about to lock it


def _place(made: Path, target: Path) -> None:
    try:
        os.link(made, target)   # unlike renaming it replaces no file that came meanwhile
    except OSError:
        check_free(target)
        made.rename(target)     # a file system without links
    sync_folder(target.parent)
