"""A disk that is full when a test says so: a small file system in memory where one may be mounted, else a limit on
the size of files, under which a process that is running cannot make any of them longer."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import psutil

_MEGABYTES = 64


class Disk(Protocol):
    """``folder`` lies on it. ``why``: what a browser is told when it is full."""

    folder: Path
    why: str

    def fill(self, process: int) -> None: ...

    def free(self, process: int) -> None: ...


class MountedDisk:
    why = "the disk is full"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / "ballast"

    def fill(self, process: int) -> None:
        with self._ballast.open("wb", buffering=0) as file:
            for size in (2**20, 2**12, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    pass

    def free(self, process: int) -> None:
        self._ballast.unlink()


class LimitedDisk:
    """Every file that the server writes is as long as it may be."""

    why = "the disk reported an error"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._before = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)

    def fill(self, process: int) -> None:
        self._before = psutil.Process(process).rlimit(psutil.RLIMIT_FSIZE)
        psutil.Process(process).rlimit(psutil.RLIMIT_FSIZE, (0, self._before[1]))

    def free(self, process: int) -> None:
        psutil.Process(process).rlimit(psutil.RLIMIT_FSIZE, self._before)


@contextmanager
def small_disk(folder: Path, megabytes: int = _MEGABYTES) -> Iterator[Disk]:
    """A disk at ``folder``."""
    folder.mkdir()
    options = f"size={megabytes}m,mode=0700"
    mounted = os.geteuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True).returncode == 0
    try:
        yield MountedDisk(folder) if mounted else LimitedDisk(folder)
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
