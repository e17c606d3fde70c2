"""The constructions in one folder, each in a folder of its own: ``CIRQUE_HOME/benchmarks/NAME``. Of two kinds:
multi-turn sessions (CIRCLED), and queries with all their targets (SoFT, stage 1).

Everything is read defensively: a person or another process may write, damage or remove any of it at any time. Symbolic
links are not followed.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from cir_core.construct.targets.files import PROVENANCE
from cir_core.datasets.readers.circled_raw import RawFile, open_raw, text_in
from cir_core.errors import CirqueError, DatasetError, UnknownBenchmark
from cir_core.gallery.paths import try_lock
from cir_core.jobs.job import RUN_FILE, RunRecord, read_run
from cir_core.jobs.journal import is_half_made, read_card
from cir_core.support.files import open_regular
from cir_core.support.texts import quoted

NAME_LIMIT = 80
_CARD_BYTES = 2**20
_BYTES = 200    # of a name: file systems take 255
MOST_BYTES = 2**30
"""Larger constructions are not read: their sessions would fill the memory."""
_FORBIDDEN = frozenset('/\\:*?"<>|%\0')

Kind = Literal["sessions", "targets"]
State = Literal["running", "stopped", "finished", "unreadable"]


@dataclass(frozen=True)
class ConstructionFolder:
    """``card``: the protocol card. ``raws``: the raw files of sessions, ``provenance``: the files of queries with
    targets; () before the construction has ended. ``changed``: seconds since 1970. ``problem``: why it cannot be
    read."""

    name: str
    path: Path
    state: State
    card: Mapping[str, Any]
    run: RunRecord | None = None
    raws: Sequence[RawFile] = ()
    changed: float = 0.0
    problem: str = ""
    kind: Kind = "sessions"
    provenance: Sequence[Path] = ()

    @property
    def journal(self) -> Path:
        return self.path / "journal.jsonl"

    @property
    def gallery(self) -> str:
        return text_in(self.card, "gallery")

    def encoder(self, part: str) -> str:
        """``part`` of the encoder that searched: "spec" or "revision"."""
        return text_in(self.card, "encoders", "search", part) or text_in(self.card, "encoder", part)

    @property
    def stamp(self) -> tuple[tuple[str, int, int], ...]:
        """Changes with the files that sessions or queries are read from."""
        files = [raw.path for raw in self.raws] or self.provenance or [self.journal]
        return tuple((path.name, *_size_and_time(path)) for path in files)


def list_constructions(root: Path) -> list[ConstructionFolder]:
    """All in ``root``, the last changed first; those that cannot be read have a ``problem``."""
    try:
        names = sorted(entry.name for entry in root.iterdir() if entry.is_symlink() or entry.is_dir())
    except OSError:
        return []
    found = []
    for name in names:
        try:
            found.append(open_construction(root, name))
        except UnknownBenchmark:
            continue    # nothing of ours, or removed in the meantime
        except DatasetError as error:
            found.append(ConstructionFolder(name, root / name, "unreadable", {}, problem=str(error)))
    return sorted(found, key=lambda one: -one.changed)


def open_construction(root: Path, name: str) -> ConstructionFolder:
    """The construction ``name`` in ``root``. Raises ``UnknownBenchmark``; ``DatasetError`` if it cannot be read."""
    folder = folder_of(root, name)
    if folder.is_symlink():
        raise DatasetError(f"{quoted(name)} is a symbolic link, which is not followed. Move the folder itself there.")
    journal, card_at = folder / "journal.jsonl", folder / "protocol.json"
    try:
        raws_at, paths = _files(folder, "raw", "*.json")
        kind: Kind = "sessions"
        if not paths:
            targets_at, found = _files(folder, PROVENANCE, "*.jsonl")
            if found:
                raws_at, paths, kind = targets_at, found, "targets"
        ours = (raws_at, journal, *paths, *((card_at,) if kind == "targets" else ()))
        links = [path.name for path in ours if path.is_symlink()]
        others = [path.name for path in (*paths, journal, card_at, folder / RUN_FILE)
                  if path.exists() and not path.is_file()]
        known = bool(paths) or (journal.is_file() and journal.stat().st_size > 0)
        size = sum(path.stat().st_size for path in (paths or [journal])) if known else 0
        changed = max((path.stat().st_mtime for path in (*paths, journal) if path.exists()), default=0.0)
    except OSError as error:
        raise DatasetError(f"{quoted(name)} cannot be read: {error.strerror}. Reload the page.") from error
    if links:
        raise DatasetError(f"{quoted(name)} contains a symbolic link ({links[0]}), which is not followed. Put the file "
                           "itself there.")
    if others:
        raise DatasetError(f"{quoted(name)} contains {others[0]}, which is not a regular file but a folder, a pipe or "
                           "a device. Remove it, or put the file itself there.")
    if not known:
        if is_half_made(folder) and not is_locked(folder):
            raise DatasetError(f"The construction of {quoted(name)} ended before anything was saved: the disk may "
                               "have been full. Construct it again under this name, or remove what is left: cirque "
                               f"construct remove {quoted(name)}")
        raise UnknownBenchmark(_unknown(name))
    if size > MOST_BYTES:
        raise DatasetError(f"{quoted(name)} has {size / 2**30:.1f} GB; at most {MOST_BYTES >> 30} GB can be shown. Use "
                           "the command line: cirque construct filter and describe.")
    try:
        raws = tuple(_head(path, *_size_and_time(path)) for path in paths) if kind == "sessions" else ()
        card = read_card(journal, _CARD_BYTES) or _card_of(raws) or (_card_beside(card_at) if kind == "targets" else {})
    except CirqueError as error:
        message = str(error).replace(f"{folder}{os.sep}", f"{quoted(name)}: ").replace(str(folder), quoted(name))
        raise DatasetError(message) from error
    except (OSError, ValueError, RecursionError) as error:
        raise DatasetError(f"{quoted(name)} cannot be read; a file may have been removed. Reload the page.") from error
    if not paths and "sources" in card:
        raise DatasetError(f"{quoted(name)} contains rewritten texts of cirque construct single-target, which this "
                           "page does not show. Open the folder of cirque construct multi-target they were made from.")
    if not paths and "candidates" in card:
        kind = "targets"
    run = read_run(folder)
    if is_locked(folder):
        state: State = "running"
    else:
        state = "finished" if paths and (run is None or run.complete or not journal.is_file()) else "stopped"
    over = state == "finished"
    return ConstructionFolder(name, folder, state, card, run, raws if over else (), changed, kind=kind,
                              provenance=tuple(paths) if over and kind == "targets" else ())


def remove_construction(root: Path, name: str) -> Path:
    """Delete the folder of the construction ``name`` in ``root``; it is returned. Raises ``UnknownBenchmark``;
    ``DatasetError`` while a process constructs in it, or if it holds something else."""
    folder = folder_of(root, name)
    if folder.is_symlink() or not folder.is_dir():
        raise UnknownBenchmark(_unknown(name))
    if is_locked(folder):
        raise DatasetError(f"Another process constructs in {folder}. Wait until it is done, or stop it, and remove it "
                           "then.")
    ours = (folder / "journal.jsonl", folder / "protocol.json", folder / "raw", folder / PROVENANCE)
    if not is_half_made(folder) and not any(path.exists() for path in ours):
        raise DatasetError(f"{folder} contains no construction, and was not removed.")
    try:
        (folder / "journal.jsonl").unlink(missing_ok=True)      # first: what is left without it is not taken for one
        shutil.rmtree(folder)
    except OSError as error:
        raise DatasetError(f"{folder} cannot be removed: {error.strerror or error}.") from error
    return folder


def folder_of(root: Path, name: str) -> Path:
    """The folder called ``name``, whether it exists or not. Raises ``UnknownBenchmark`` for what is no name."""
    problem = name_problem(name)
    if problem:
        raise UnknownBenchmark(_unknown(name))
    return root / name


def name_problem(name: str) -> str:
    """Why ``name`` cannot be that of a folder on every system; "" if it can."""
    if not name.strip():
        return "Give the benchmark a name."
    too_long = len(name) > NAME_LIMIT or len(name.encode("utf-8", "surrogatepass")) > _BYTES
    if too_long or name != name.strip() or name.startswith(".") or name.endswith("."):
        return f"A name has at most {NAME_LIMIT} characters, {_BYTES} bytes in UTF-8, and no dot or space at its ends."
    if any(letter in _FORBIDDEN or not letter.isprintable() for letter in name):
        return 'A name cannot have any of / \\ : * ? " < > | % or line breaks.'
    return ""


def is_locked(folder: Path) -> bool:
    """Whether a process constructs in ``folder``."""
    path = folder / "lock"
    try:
        if path.is_symlink() or not path.is_file():
            return False
        with path.open("r+b") as file:
            return not try_lock(file)
    except OSError:
        return False


@lru_cache(maxsize=512)
def _head(path: Path, size: int, time: int) -> RawFile:
    """``size`` and ``time`` tell versions of the file apart."""
    return open_raw(path, to_results=True)


def _files(folder: Path, name: str, pattern: str) -> tuple[Path, list[Path]]:
    """The folder ``name`` in ``folder``, and its files."""
    inside = folder / name
    return inside, sorted(path for path in inside.glob(pattern) if not path.name.startswith("."))


def _card_beside(path: Path) -> Mapping[str, Any]:
    """Of files that were copied without their journal."""
    try:
        with open_regular(path) as file:
            found = json.loads(file.read(_CARD_BYTES)) if path.stat().st_size <= _CARD_BYTES else None
    except FileNotFoundError:
        return {}
    return found if isinstance(found, dict) else {}


def _card_of(raws: Sequence[RawFile]) -> Mapping[str, Any]:
    found = raws[0].head.get("config") if raws else None
    return found if isinstance(found, dict) else {}


def _unknown(name: str) -> str:
    return f"There is no benchmark {quoted(name)} on this server. It may have been renamed or removed."


def _size_and_time(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
