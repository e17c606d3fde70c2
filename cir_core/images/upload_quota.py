"""Daily upload quotas per person: images, and bytes.

Days are UTC. Counts are stored in a journal in the home folder, one file a day, so that they survive a
restart and all processes on one home count together: each reads what the others have added when an upload
begins or ends, once a second at most. If the journal cannot be written, this process counts in memory only.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cir_core.errors import QuotaExceeded

_log = logging.getLogger("cirque.storage")
_LOOK_EVERY = 1.0   # seconds
_AFTER = "You can upload again from 0:00 UTC. If you need more before then, ask the operator of this cirque to raise"


def _now() -> datetime:
    return datetime.now(UTC)


class UploadQuota:
    """At most ``pictures`` and ``megabytes`` (of 2**20 bytes) per person and day; 0: no limit. Thread-safe."""

    def __init__(
        self, folder: Path, *, pictures: int = 0, megabytes: int = 0, now: Callable[[], datetime] = _now,
    ) -> None:
        self._folder, self._most_pictures, self._most_bytes = folder, pictures, megabytes * 2**20
        self._now, self._process = now, secrets.token_hex(8)
        self._lock = threading.Lock()      # of the counts; never held during file access: the event loop takes it
        self._reading = threading.Lock()   # of the journal's state
        self._day = ""
        self._read, self._looked = 0, -_LOOK_EVERY
        self._pictures: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()
        self._unwritten: Counter[str] = Counter()   # bytes of uploads in progress
        self._failed = False

    @classmethod
    def unlimited(cls) -> UploadQuota:
        """A quota without limits, which touches no file."""
        return cls(Path())

    def check(self, person: str) -> None:
        """Raises ``QuotaExceeded`` if no more bytes are allowed. Reads files, so call it in a thread."""
        if not self._most_bytes:
            return
        self._look()
        with self._lock:
            if self._bytes[person] >= self._most_bytes:
                raise self._too_many_bytes()

    def add_bytes(self, person: str, count: int) -> None:
        """Count bytes as they arrive. Raises ``QuotaExceeded`` once over the limit. Called for every chunk of an upload
        on the event loop, so it touches no file. Counts of other processes are read by the other methods."""
        if not self._most_bytes:
            return
        with self._lock:
            self._bytes[person] += count
            self._unwritten[person] += count
            if self._bytes[person] > self._most_bytes:
                raise self._too_many_bytes()

    def end_bytes(self, person: str) -> None:
        """Write this person's counted upload bytes to the journal, whether or not the upload completed."""
        with self._lock:
            if person not in self._unwritten:
                return
        self._look()   # first: on a new day, unwritten bytes count for that day
        with self._lock:
            count = self._unwritten.pop(person, 0)
        if count:
            self._write(person, 0, count)

    def add_picture(self, person: str) -> None:
        """Count an image before it is decoded and stored. A known image counts too: it was decoded all the same,
        and the sender must not learn that somebody else has sent it before. Raises ``QuotaExceeded``."""
        if not self._most_pictures:
            return
        self._look()
        with self._lock:
            self._check_pictures(person)
            self._pictures[person] += 1
        self._write(person, 1, 0)

    def check_pictures(self, person: str) -> None:
        """Raises ``QuotaExceeded`` if no more images are allowed. Reads files, so call it in a thread."""
        if not self._most_pictures:
            return
        self._look()
        with self._lock:
            self._check_pictures(person)

    def _check_pictures(self, person: str) -> None:
        if self._pictures[person] >= self._most_pictures:
            raise self._exceeded(f"{self._most_pictures:,} images", "CIRQUE_UPLOADS_PER_DAY")

    def _too_many_bytes(self) -> QuotaExceeded:
        return self._exceeded(f"{self._most_bytes // 2**20:,} MB", "CIRQUE_UPLOAD_MB_PER_DAY")

    def _exceeded(self, what: str, setting: str) -> QuotaExceeded:
        now = self._now()
        midnight = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
        problem = f"You have uploaded {what} today, which is the daily limit. {_AFTER} {setting}."
        return QuotaExceeded(problem, max(1, round((midnight - now).total_seconds())))

    def _look(self) -> None:
        """Start a new day if it has come, and read what other processes have added. Threads take turns at the
        files; counting alone does not wait for them."""
        with self._reading:
            day = self._now().strftime("%Y-%m-%d")
            if day != self._day:
                with self._lock:
                    self._day, self._read, self._looked = day, 0, -_LOOK_EVERY
                    self._pictures.clear()
                    self._bytes = self._unwritten.copy()
                self._remove_others()
            if time.monotonic() - self._looked < _LOOK_EVERY:
                return
            self._looked = time.monotonic()
            try:
                with self._path.open("rb") as journal:
                    journal.seek(self._read)
                    content = journal.read()
            except OSError:
                return
            whole = content[:content.rfind(b"\n") + 1]
            self._read += len(whole)
            with self._lock:
                for line in whole.splitlines():
                    self._count(line)

    def _count(self, line: bytes) -> None:
        try:
            process, person, pictures, size = json.loads(line)
            if process != self._process:
                self._pictures[str(person)] += int(pictures)
                self._bytes[str(person)] += int(size)
        except (ValueError, TypeError, RecursionError):   # cut off by a crash, or somebody edited the file
            pass

    def _write(self, person: str, pictures: int, size: int) -> None:
        line = json.dumps([self._process, person, pictures, size]).encode() + b"\n"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            journal = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(journal, line)   # one write, so that lines of several processes do not mix
            finally:
                os.close(journal)
        except OSError as error:
            if not self._failed:
                _log.warning("Uploads are counted in memory only: %s cannot be written (%s).", self._folder,
                             error.strerror or error)
            self._failed = True

    @property
    def _path(self) -> Path:
        return self._folder / f"{self._day}.jsonl"

    def _remove_others(self) -> None:
        for path in self._folder.glob("????-??-??.jsonl"):
            if path != self._path:
                with contextlib.suppress(OSError):   # deleted by another process, or the folder is read-only
                    path.unlink()
