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


class FrozenDisk(Protocol):
    """``folder`` lies on it. ``thaw`` makes it writable again, for servers that still run or for the next one."""

    folder: Path
    server_may_run_on: bool

    def freeze(self) -> None: ...

    def thaw(self) -> None: ...


class FailedDisk:
    """A file system that stops writing at once, also into open files, as one does that has found an error."""

    server_may_run_on = False

    def __init__(self, folder: Path, image: Path) -> None:
        self.folder, self._image = folder, image

    def freeze(self) -> None:
        subprocess.run(["mount", "-o", "remount,abort", str(self.folder)], check=True)

    def thaw(self) -> None:
        subprocess.run(["umount", str(self.folder)], check=True)
        subprocess.run(["e2fsck", "-p", str(self._image)], capture_output=True)
        subprocess.run(["mount", "-o", "loop", str(self._image), str(self.folder)], check=True)


class ProtectedDisk:
    """Nothing can be opened for writing or made any more; what is open can be written, as of a mount that becomes
    read-only for those who come later. Without the right to mount, modes do the same."""

    server_may_run_on = True

    def __init__(self, folder: Path, *, mounts: bool) -> None:
        self.folder, self._mounts = folder, mounts

    def freeze(self) -> None:
        if self._mounts:
            subprocess.run(["mount", "--bind", str(self.folder), str(self.folder)], check=True)
            subprocess.run(["mount", "-o", "remount,bind,ro", str(self.folder)], check=True)
        else:
            self._change(0o500, 0o400)

    def thaw(self) -> None:
        if self._mounts:
            subprocess.run(["umount", "--lazy", str(self.folder)], check=True)
        else:
            self._change(0o700, 0o600)

    def _change(self, folders: int, files: int) -> None:
        for path in sorted(self.folder.rglob("*")):
            path.chmod(folders if path.is_dir() else files)
        self.folder.chmod(folders)


@contextmanager
def disk_that_fails(folder: Path) -> Iterator[FrozenDisk]:
    """Where no file system of its own may be mounted, one that is protected."""
    image = folder.with_suffix(".img")
    with image.open("wb") as file:
        file.truncate(_MEGABYTES * 2**20)
    folder.mkdir()
    made = os.geteuid() == 0 and _done("mkfs.ext4", "-q", str(image)) and _done(
        "mount", "-o", "loop", str(image), str(folder))
    try:
        yield FailedDisk(folder, image) if made else ProtectedDisk(folder, mounts=False)
    finally:
        if made:
            _done("umount", "--lazy", str(folder))


@contextmanager
def disk_that_is_protected(folder: Path) -> Iterator[FrozenDisk]:
    folder.mkdir()
    mounted = os.geteuid() == 0 and _done("mount", "-t", "tmpfs", "-o", f"size={_MEGABYTES}m,mode=0700", "tmpfs",
                                          str(folder))
    try:
        yield ProtectedDisk(folder, mounts=mounted)
    finally:
        if mounted:
            while _done("umount", "--lazy", str(folder)):
                pass


def _done(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False
