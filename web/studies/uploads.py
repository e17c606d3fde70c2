"""Files of studies that are being made: streamed to a folder of their own, bounded, removed when they are abandoned."""

from __future__ import annotations

import re
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from starlette.concurrency import run_in_threadpool

from annotation.records import same_person
from annotation.sources.tables.files import MOST_BYTES as MOST_TABLE
from cir_core.errors import StorageError, StudyError, nothing_saved
from cir_core.support.files import why_not_written
from cir_core.support.texts import counted, printable, quoted, shortened
from web.http.request_fields import TooLarge

MOST_FILES = 2000        # of a draft; more are packed into a ZIP
MOST_DRAFTS = 5          # of a person; a sixth takes the place of the one that was left first
ABANDONED = 24 * 3600.0  # seconds without any change
_ID = re.compile(r"[0-9a-f]{32}")
_BUFFER = 2**20
PARTS = ("table", "pictures", "guidelines", "judgements")
_OWNER = "owner.txt"
_NOT_IN_NAMES = frozenset(":\n\t")


@dataclass(frozen=True)
class Draft:
    """What was uploaded for one study."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def pictures(self) -> Path:
        return self.folder / "pictures"

    @property
    def guidelines(self) -> Path:
        return self.folder / "guidelines"

    @property
    def scratch(self) -> Path:
        """A home for what is derived from the files."""
        return self.folder / ".scratch"

    def files(self, part: str) -> list[tuple[str, int]]:
        """Names and bytes of what is there."""
        below = self.folder / part
        return sorted((path.relative_to(below).as_posix(), path.stat().st_size) for path in _files(below))

    def table(self) -> Path:
        """Raises ``StudyError`` without one."""
        found = next(_files(self.folder / "table"), None)
        if found is None:
            raise StudyError("There is no table yet. Choose its file first.")
        return found


class Drafts:
    """The drafts below ``folder``, which all processes share. Methods raise ``StudyError`` for a draft that is not
    there, or another person's; ``StorageError`` for a disk that takes nothing."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self.folder, self._most = folder, most_bytes

    def begin(self, person: str) -> Draft:
        self.sweep()
        own = sorted((one for one in self._all() if _is_of(one, person)), key=_changed)
        for left in own[:max(0, len(own) - MOST_DRAFTS + 1)]:
            shutil.rmtree(left.folder, ignore_errors=True)
        draft = Draft(self.folder / secrets.token_hex(16))
        try:
            draft.folder.mkdir(parents=True, mode=0o700)
            (draft.folder / _OWNER).write_text(person, "utf-8")
        except OSError as error:
            raise _not_written(error) from error
        return draft

    def find(self, name: object, person: str) -> Draft:
        draft = Draft(self.folder / str(name))
        if not (isinstance(name, str) and _ID.fullmatch(name) and _is_of(draft, person)):
            raise StudyError("The files of this study are no longer on the server: they are removed a day after the "
                             "last change. Choose them again; what you have entered stays on the page.")
        return draft

    def remove(self, draft: Draft, part: str, name: str = "") -> None:
        """Remove a file, or with no name all files of the part."""
        if name:
            with suppress(OSError):   # no file of that name
                (draft.folder / _part(part) / _checked_name(name)).unlink()
        else:
            shutil.rmtree(draft.folder / _part(part), ignore_errors=True)

    def discard(self, draft: Draft) -> None:
        shutil.rmtree(draft.folder, ignore_errors=True)

    def sweep(self) -> None:
        """Remove what nobody has changed for a day."""
        for draft in self._all():
            if _changed(draft) < time.time() - ABANDONED:
                shutil.rmtree(draft.folder, ignore_errors=True)

    async def receive(self, draft: Draft, part: str, name: str, body: AsyncIterator[bytes]) -> None:
        """Store a file. A table replaces an earlier one. Raises ``TooLarge``; then, and if the sender goes away,
        nothing of it is kept."""
        target = draft.folder / _part(part) / _checked_name(name)
        left = await run_in_threadpool(self._room, draft, part, target)
        arriving = draft.folder / f".{secrets.token_hex(8)}"
        try:
            await _write(arriving, body, left)
            await run_in_threadpool(_take, arriving, target, alone=part == "table")
        except OSError as error:
            raise _not_written(error) from error
        finally:
            with suppress(OSError):
                arriving.unlink(missing_ok=True)

    def _room(self, draft: Draft, part: str, target: Path) -> int:
        """Bytes that a file may have. Raises ``StudyError`` for one too many."""
        sizes = [path.stat().st_size for each in PARTS if not each == part == "table"
                 for path in _files(draft.folder / each) if path != target]
        if len(sizes) > MOST_FILES:
            raise StudyError(f"There are {counted(MOST_FILES, 'file')} already. Put the pictures into a ZIP.")
        with suppress(OSError):
            (draft.folder / _OWNER).touch()   # not abandoned
        left = self._most - sum(sizes)
        if left <= 0:
            raise _too_large(self._most)
        return min(left, MOST_TABLE) if part == "table" else left

    def _all(self) -> list[Draft]:
        with suppress(OSError):
            return [Draft(path) for path in self.folder.iterdir() if _ID.fullmatch(path.name)]
        return []


async def _write(path: Path, body: AsyncIterator[bytes], most: int) -> None:
    came, waiting = 0, bytearray()
    with path.open("xb") as file:
        async for piece in body:
            came += len(piece)
            if came > most:
                raise _too_large(most)
            waiting += piece
            if len(waiting) >= _BUFFER:
                await run_in_threadpool(file.write, bytes(waiting))
                waiting.clear()
        await run_in_threadpool(file.write, bytes(waiting))


def _take(arrived: Path, target: Path, *, alone: bool) -> None:
    if alone:
        shutil.rmtree(target.parent, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    arrived.replace(target)


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"This is too large: {most // 2**20:,} MB are left. Leave pictures out that the table does not "
                    "name, make them smaller, or create the study from the command line (cirque study create).")


def _part(part: str) -> str:
    if part not in PARTS:
        raise StudyError(f"“part” must be one of {', '.join(PARTS)}, not {quoted(part)}.")
    return part


def _checked_name(name: str) -> PurePosixPath:
    """The name of a file, below folders where a folder was chosen. It leads nowhere else."""
    parts = [part for part in name.replace("\\", "/").split("/") if part.strip() not in ("", ".", "..")]
    if not 0 < len(parts) <= 12 or any(len(part.encode("utf-8", "replace")) > 200 or part != printable(part)
                                       or part.startswith(".") or not _NOT_IN_NAMES.isdisjoint(part)
                                       for part in parts):
        raise StudyError(f"{quoted(shortened(name, 80))} cannot be the name of a file here. Rename it.")
    return PurePosixPath(*parts)


def _files(folder: Path) -> Iterator[Path]:
    """Of a part: what is derived or on its way lies elsewhere."""
    for path in folder.rglob("*"):
        if path.is_file():
            yield path


def _is_of(draft: Draft, person: str) -> bool:
    try:
        return same_person((draft.folder / _OWNER).read_text("utf-8"), person)
    except (OSError, ValueError):
        return False


def _changed(draft: Draft) -> float:
    try:
        return (draft.folder / _OWNER).stat().st_mtime
    except OSError:
        return 0.0


def _not_written(error: OSError) -> StorageError:
    return StorageError(f"The file cannot be stored: {error.strerror or error}. Free some space, or make CIRQUE_HOME "
                        "writable.", nothing_saved(why_not_written(error)))
