"""The folder of a public demo: empty at the start, and nothing in it is kept for more than a day."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cir_core.errors import CirqueError, SettingsError
from cir_core.gallery.paths import try_lock
from cir_core.settings import Settings
from web.services import Services

_log = logging.getLogger("cirque.server")
KEPT = timedelta(days=1)
_EVERY = 600.0   # seconds between looks
_LOCK = "lock"


@contextmanager
def own_folder(settings: Settings) -> Iterator[None]:
    """``settings.data``, empty and for this process alone, while a public demo is served from it. Does nothing
    otherwise. Raises ``SettingsError``."""
    if not settings.public_demo:
        yield
        return
    folder = settings.data
    try:
        if folder.is_symlink():
            raise SettingsError(f"{folder} is a link. A public demo empties this folder at each start: remove the "
                                "link, or set CIRQUE_HOME to another folder.")
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (folder / _LOCK).open("a+")
    except OSError as error:
        raise _not_writable(folder, error) from error
    with lock:
        if not try_lock(lock):
            raise SettingsError(f"Another process serves a public demo from {folder}. Stop it, or give this one "
                                "its own CIRQUE_HOME.")
        try:
            _empty(folder)
        except OSError as error:
            raise _not_writable(folder, error) from error
        yield


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != _LOCK:
            entry.unlink()


def _not_writable(folder: Path, error: OSError) -> SettingsError:
    return SettingsError(f"{folder} cannot be emptied: {error.strerror}. Make CIRQUE_HOME writable, or point it at "
                         "another folder.")


class DemoSweep:
    """Removes, in a thread of its own, what is older than a day."""

    def __init__(self, services: Services) -> None:
        self._services, self._over = services, threading.Event()

    def start(self) -> None:
        if self._services.settings.public_demo:
            threading.Thread(target=self._run, name="cirque-sweep", daemon=True).start()

    def stop(self) -> None:
        self._over.set()

    def _run(self) -> None:
        while not self._over.wait(_EVERY):
            try:
                self.sweep(datetime.now(UTC))
            except (CirqueError, OSError) as error:   # looked at again in ten minutes
                _log.warning("What visitors left a day ago cannot be removed yet (%s: %s).", type(error).__name__,
                             error)

    def sweep(self, now: datetime) -> None:
        """Remove what is a day old at ``now``. Raises ``StorageError`` and ``OSError``."""
        before = now - KEPT
        self._services.forget_before(before)
        for path in self._services.settings.uploads.glob("*"):
            if path.stat().st_mtime < before.timestamp():
                path.unlink(missing_ok=True)
