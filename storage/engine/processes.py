"""The servers that share a home folder: each holds a lock on a small file there for as long as it runs."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cir_core.gallery.paths import try_lock
from cir_core.types.records import new_id

_log = logging.getLogger("cirque.server")
_LONGEST = 200    # characters of what a file says


class ServingProcesses:
    """``sqlite``: whether the database is a file, which all of them must be able to lock."""

    def __init__(self, home: Path, *, sqlite: bool) -> None:
        self._folder, self._sqlite = home / "serving", sqlite
        self._own = f"{new_id(12)}.lock"

    @contextmanager
    def serving(self, address: str) -> Iterator[None]:
        """Be listed as a server at ``address``, and log which others there are. A home that cannot be written is served
        all the same."""
        with contextlib.ExitStack() as stack:
            try:
                self._folder.mkdir(mode=0o700, exist_ok=True)
                path = self._folder / self._own
                part = path.with_suffix(".part")    # others remove what nobody has locked
                stack.callback(path.unlink, missing_ok=True)
                file = stack.enter_context(part.open("w", encoding="utf-8"))
                try_lock(file)
                file.write(f"process {os.getpid()} at {address}")
                file.flush()
                part.replace(path)
            except OSError as error:
                _log.warning("Other servers on this home folder cannot tell that this one runs: %s.", error.strerror)
            if others := self.others():
                _log.warning("%s", self.advice(others))
            yield

    def others(self) -> list[str]:
        """Other processes that serve from the home folder, such as "process 12 at localhost:7861". Files of
        processes that have ended are removed."""
        found = []
        try:
            paths = sorted(path for path in self._folder.glob("*.lock") if path.name != self._own)
        except OSError:
            return []
        for path in paths:
            with contextlib.suppress(OSError, UnicodeDecodeError), path.open("r+", encoding="utf-8") as file:
                if try_lock(file):
                    path.unlink(missing_ok=True)    # nobody holds it
                else:
                    file.seek(0)
                    found.append(file.read(_LONGEST))
        return found

    def advice(self, others: list[str]) -> str:
        """One sentence or two for an administrator, "" without others."""
        if not others:
            return ""
        safe = ("That is safe on one machine, for a database file that is not on a network drive; with many people at "
                "work use PostgreSQL." if self._sqlite else "That is safe.")
        return (f"This home folder is also served by {', '.join(others)}. {safe} If you did not mean to, stop one of "
                "them.")
