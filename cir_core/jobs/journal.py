"""Journal of a long job: one line for each finished work item, on disk before it counts as finished.

    DIR/journal.jsonl   the card, then a line for each item, failure, or spending of an unfinished one

A kill at any moment loses the items in flight, whose answers are in the language model's cache.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from cir_core.errors import DatasetError, GalleryError
from cir_core.gallery.paths import locked
from cir_core.support.json_lines import Lines, read_heading, whole_lines
from cir_core.types.composition import Usage

FORMAT = 1
_BEGINNING = frozenset({"lock", "journal.jsonl", "protocol.json", "run.json"})


@dataclass(frozen=True)
class JobCard:
    """Everything that the results of a folder depend on. ``kept``: what they are, in words."""

    kept: ClassVar[str]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class ItemResult:
    """What was made of the work item with this number (of a query in a benchmark, or of a session in a sample), or why
    nothing was. ``cold``: it began before the first item of its run had succeeded, so it may have loaded models."""

    item: int
    result: Mapping[str, Any] | None
    failure: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0
    cold: bool = False


class JobProgress:
    """What the lines of a journal add up to. ``offsets``: number of each item that is over to its line. ``cold``,
    ``warm``: seconds of the items that may have loaded models, and of all others."""

    def __init__(self) -> None:
        self.offsets: dict[int, int] = {}       # the results stay on disk
        self.failed: set[int] = set()
        self.usage = Usage()
        self.cold, self.warm = array("d"), array("d")

    @property
    def items(self) -> int:
        """Lines of items: one that was tried again counts twice."""
        return len(self.cold) + len(self.warm)

    def left(self, wanted: Iterable[int]) -> list[int]:
        """Those of ``wanted`` that are not over."""
        return [item for item in wanted if item not in self.offsets]

    def add(self, offset: int, line: Mapping[str, Any]) -> None:
        self.usage += _usage(line)
        if "at" not in line:
            return
        self.offsets[line["at"]] = offset       # of several, the last counts: a failure may be tried again
        # Journals of earlier versions do not say which items were cold; the first of all was.
        (self.cold if line.get("cold", not self.items) else self.warm).append(line["seconds"])
        (self.failed.add if "failure" in line else self.failed.discard)(line["at"])


class JobJournal:
    """One process at a time; :meth:`put` and :meth:`spend` from one thread."""

    def __init__(self, path: Path, card: JobCard) -> None:
        """Continue the journal of ``card`` at ``path``, or start one. Raises ``DatasetError`` for another card's."""
        check_card(path, card)
        self.card = read_card(path) or json.loads(json.dumps(card.as_json()))
        self._lines = Lines(path, {"format": FORMAT, "card": self.card})
        self.progress = JobProgress()
        for offset, line in self._lines:
            self.progress.add(offset, line)

    def put(self, finished: ItemResult) -> None:
        """Once this returns, the item survives a killed process."""
        line: dict[str, Any] = {"at": finished.item, **_spent(finished.usage, finished.seconds)}
        line |= {"cold": True} if finished.cold else {}
        line |= {"failure": finished.failure} if finished.result is None else {"result": finished.result}
        self.progress.add(self._lines.append(line), line)

    def spend(self, usage: Usage) -> None:
        """Count what an item cost that was not finished."""
        if usage != Usage():
            line = _spent(usage, 0.0)
            self.progress.add(self._lines.append(line), line)

    def read(self, item: int) -> ItemResult:
        line = self._lines.read(self.progress.offsets[item])
        return ItemResult(item, line.get("result"), line.get("failure", ""), _usage(line), line["seconds"],
                          line.get("cold", False))

    def results(self, items: Iterable[int]) -> Iterator[ItemResult]:
        """Of those of ``items`` that are over, in their order."""
        return (self.read(item) for item in items if item in self.progress.offsets)

    def close(self) -> None:
        self._lines.close()


@contextmanager
def lock_folder(folder: Path, doing: str) -> Iterator[Path]:
    """The journal's path, while no other process has it. What is left of a beginning that failed is removed before;
    if this one fails before there is anything to go on with, a folder that it made is removed. Raises ``DatasetError``
    if another process has it."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(folder))
            except GalleryError as error:
                is_new = False
                raise DatasetError(f"Another process {doing} in {folder}. Wait until it is done, or stop it: what it "
                                   "has finished is kept.") from error
            if is_half_made(folder):
                remove_half_made(folder, but="lock")
            yield folder / "journal.jsonl"
    except BaseException:
        if is_new and is_half_made(folder):
            with suppress(OSError):
                remove_half_made(folder)
        raise


def is_half_made(folder: Path) -> bool:
    """Whether ``folder`` is empty, or has only what a beginning writes before there is anything to go on with: the disk
    was full, or the process was killed. Then nothing is lost if it is begun again, or removed."""
    try:
        names = {path.name for path in folder.iterdir() if not _is_part(path)}
        if not names <= _BEGINNING or any((folder / name).is_symlink() or not (folder / name).is_file()
                                          for name in names):
            return False
        if "journal.jsonl" not in names or (folder / "journal.jsonl").stat().st_size == 0:
            return True
        if "run.json" in names or read_heading(folder / "journal.jsonl") is None:
            return False
        lines = whole_lines(folder / "journal.jsonl")
        next(lines)
        return next(lines, None) is None
    except OSError:
        return False


def remove_half_made(folder: Path, *, but: str = "") -> None:
    """Remove a folder that :func:`is_half_made`; ``but``: a file that stays, with the folder. Raises ``OSError``."""
    for path in list(folder.iterdir()):
        if path.name != but:
            path.unlink(missing_ok=True)
    if not but:
        folder.rmdir()


def _is_part(path: Path) -> bool:
    """Of a file that was being written (:func:`cir_core.support.files.write_atomically`)."""
    return path.name.startswith(".") and path.name.endswith(".part") and path.is_file() and not path.is_symlink()


def as_bytes(content: Any) -> bytes:
    """``content`` as a JSON file."""
    return json.dumps(content, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def read_progress(path: Path) -> JobProgress:
    """Of the journal at ``path``, which another process may be writing; empty if there is none."""
    progress, lines = JobProgress(), whole_lines(path)
    next(lines, None)
    for offset, _, line in lines:
        progress.add(offset, line)
    return progress


def check_card(path: Path, card: JobCard, *, resume: bool = True) -> None:
    """Raises ``DatasetError`` if the journal at ``path`` has results of other settings, or any without ``resume``."""
    known = read_card(path)
    if known is None or is_half_made(path.parent):
        return
    if not resume:
        raise DatasetError(f"{path.parent} contains {card.kept} already. Add --resume to continue, or name another "
                           "folder with --out.")
    if changed := _changed_settings(known, json.loads(json.dumps(card.as_json()))):
        raise DatasetError(f"The {card.kept} in {path.parent} were begun with other settings: {'; '.join(changed)}. "
                           "Give the same ones to continue, or choose another folder with --out.")


def read_card(path: Path, most: int | None = None) -> dict[str, Any] | None:
    """The card of the journal at ``path``; None if there is none. ``most``: bytes of its line. Raises ``DatasetError``
    for a journal that cannot be read: it may have cost money, so it is not overwritten."""
    heading = read_heading(path, most)
    if heading is None and (not path.exists() or path.stat().st_size == 0):
        return None
    if heading is None or heading.get("format") != FORMAT or not isinstance(heading.get("card"), dict):
        raise DatasetError(f"{path} is damaged or of another version of cirque. Move it away to keep it, or name "
                           "another folder with --out.")
    card: dict[str, Any] = heading["card"]
    return card


def _changed_settings(before: dict[str, Any], now: dict[str, Any], under: str = "") -> list[str]:
    """"key was a, is b" for each leaf of two cards that differs, except the version of cirque."""
    found = []
    for key in dict.fromkeys((*before, *now)):
        if key in ("version", "method"):    # the method follows from the settings
            continue
        old, new, name = before.get(key), now.get(key), f"{under}{key}".replace("_", " ")
        if isinstance(old, dict) and isinstance(new, dict):
            found += _changed_settings(old, new, f"{under}{key}.")
        elif old != new:
            found.append(f"{name} was {old}, is {new}")
    return found


def _spent(usage: Usage, seconds: float) -> dict[str, Any]:
    return {"usage": {key: value for key, value in asdict(usage).items() if value}, "seconds": round(seconds, 3)}


def _usage(line: Mapping[str, Any]) -> Usage:
    known = {one.name for one in fields(Usage)}
    given: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value
                             for key, value in line.get("usage", {}).items() if key in known}
    return Usage(**given)
