"""Garments of the sample, drawn once for all tests and runs: kept in ``.make/drawn`` under a digest of the code that
draws; tests get copies. This starts no process; :mod:`tests.fakes.drawn` also indexes them."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from cir_core.sample.atelier.build import AtelierPaths, build_atelier

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".make" / "drawn"


def sample(folder: Path, **options: Any) -> AtelierPaths:
    """As ``build_atelier`` with these options."""
    key = hashlib.sha256(repr(sorted(options.items())).encode()).hexdigest()[:12]
    kept = KEPT / digest("cir_core/sample/atelier", "cir_core/garments", "requirements.lock") / key
    copy_of(kept, folder, lambda: build_atelier(kept, **options))
    return AtelierPaths(folder)


def copy_of(kept: Path, folder: Path, make: Callable[[], object]) -> None:
    with _alone(kept):
        finished = kept / "finished"
        if not finished.exists():
            shutil.rmtree(kept, ignore_errors=True)
            make()
            finished.touch()
    shutil.copytree(kept, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("finished", "cirque.db*"))


@contextmanager
def _alone(kept: Path) -> Iterator[None]:
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@cache
def digest(*names: str) -> str:
    found = hashlib.sha256()
    for path in _files(ROOT / name for name in names):
        found.update(f"{path.relative_to(ROOT)} {path.stat().st_size}\n".encode() + path.read_bytes())
    return found.hexdigest()[:16]


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        yield from [path] if path.is_file() else sorted(
            one for one in path.rglob("*") if one.is_file() and "__pycache__" not in one.parts)
